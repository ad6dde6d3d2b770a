//! The tests of the command, in one program: each further one would be linked and loaded with all of the library.

mod support;

mod against;
mod against_index;
mod bad_input;
mod bench_command_line;
mod bench_error;
mod bench_lsh;
mod bench_report;
mod command_line;
mod contain;
mod contain_actions;
mod contain_page;
mod contained;
mod dedup_page;
mod distances;
mod docs;
mod embedding;
mod evaluate;
mod formats;
mod from_pairs;
#[cfg(feature = "gpu")]
mod gpu_bench;
#[cfg(feature = "gpu")]
mod gpu_command_line;
mod index;
mod index_brute_force;
mod index_build;
mod index_files;
mod index_killed;
mod index_locked;
mod interrupted;
mod join;
mod keep_order;
mod laws;
mod link;
mod link_page;
mod on_disk;
mod options;
mod out_of_memory;
mod pairs_page;
mod passages;
mod passages_on_disk;
mod passages_page;
mod peers_tables;
mod profile;
mod rarity;
mod ratings;
mod readme;
mod recall;
mod report_page;
mod resume;
mod same_content;
mod signature_files;
#[cfg(target_os = "linux")]
mod stdin_copy;
#[cfg(unix)]
mod stopped;
mod threads;
