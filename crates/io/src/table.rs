//! Parquet: opens files, and writes tables.

mod groups;

mod writer;

mod arrays;

pub use arrays::{IdColumn, f64s, strings, u64s};
pub(crate) use arrays::{signature_column, signature_field};
pub(super) use groups::{
    Groups, Unreadable, is_sound, open, open_to_copy, remedy_of_writing, system_error,
};
pub use writer::{ColumnWriter, unwritable};

#[cfg(test)]
mod tests;
