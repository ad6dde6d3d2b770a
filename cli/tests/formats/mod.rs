//! Formats of inputs and of the kept documents: JSON Lines, JSON arrays, CSV, Parquet, Arrow and text files, plain
//! and compressed, in folders, by globs and on stdin. Kept records are copied unchanged.

mod samples;

mod arrays;
mod compression;
mod csv;
mod documents;
mod empty;
mod fields;
mod inputs;
mod lines;
mod other_programs;
mod tables;
