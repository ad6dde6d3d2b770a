//! A search for passages on disk, of texts that memory does not hold.

mod records;

mod regions;

mod map;

mod search;

mod choose;

mod sources;

mod cut_file;

mod lost;

mod run;

#[cfg(test)]
mod tests;
