//! Bad input, bad arguments, bad output paths: each error names the file and the record, says what to do,
//! and leaves no output under a final name.

mod refusals;

mod arguments;
mod changed_input;
mod damage;
mod files;
mod formats;
mod long_records;
mod outputs;
mod records;
mod skipped;
