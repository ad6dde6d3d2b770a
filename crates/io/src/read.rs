//! Reads files: opens and decompresses them, and cuts them into chunks. Threads take turns at each file.

mod fingerprint;

mod event;

mod options;

mod files;

mod known_fields;

mod errors;

mod streams;

mod open_file;

mod open;

mod reader;

mod documents;

pub use documents::read_documents;
pub use errors::changed;
pub use event::{Event, Position, TableForm};
pub use files::FilesReading;
pub use fingerprint::Fingerprint;
pub use options::{Columns, Reading};
pub use reader::{Reader, is_reading};

#[cfg(test)]
mod tests;
