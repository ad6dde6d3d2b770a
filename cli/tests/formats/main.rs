//! Formats of inputs and of the kept documents: JSON Lines, Parquet and text files, plain, gzip and zstd, in
//! folders, by globs and on stdin. Kept records are copied unchanged.

#[path = "../support/mod.rs"]
mod support;

mod samples;

mod compression;
mod documents;
mod fields;
mod inputs;
mod lines;
mod tables;
