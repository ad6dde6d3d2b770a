//! Reads and writes files of signatures: Parquet, or a NumPy matrix with a JSON description beside it.
//!
//! A file comes with a description of its run, so that the file and row of each document can be derived from it, even
//! if there are bad records. It states the digest of the signatures, and the file one of the description, so that damage shows, and
//! a description that belongs to another matrix.

mod format;

mod digest;

mod errors;

mod reader;

mod writer;

pub use errors::{damaged, misdescribed};
pub use format::{SignaturesFormat, description_of};
pub use reader::SignatureReader;
pub use writer::{SignatureTable, SlotWriter, write_description};
