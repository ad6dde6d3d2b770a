//! The tests of the command, in one program: each further one would be linked and loaded with all of the library.

use std::fs;
use std::path::Path;

mod support;

mod bad_input;
mod bench_command_line;
mod bench_error;
mod bench_lsh;
mod bench_report;
mod command_line;
mod distances;
mod embedding;
mod formats;
#[cfg(feature = "gpu")]
mod gpu_bench;
#[cfg(feature = "gpu")]
mod gpu_command_line;
mod interrupted;
mod join;
mod keep_order;
mod laws;
mod link;
mod link_page;
mod on_disk;
mod options;
mod peers_tables;
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

/// Targets of their own: this one, and tests of facts about the whole process.
const TARGETS: [&str; 2] = ["all", "gpu_search"];

/// A file without a line above would not be compiled.
#[test]
fn every_file_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_module =
            path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
        let line = format!("mod {name};");
        assert!(
            !is_module
                || TARGETS.contains(&name)
                || include_str!("all.rs").lines().any(|of| of == line),
            "{} is part of no test target",
            path.display()
        );
    }
}
