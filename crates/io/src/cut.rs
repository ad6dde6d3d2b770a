//! Cuts streams into chunks of whole records: lines, records of CSV, or elements of a JSON array.
//!
//! **Threads take turns at cutting, and parse at the same time.** A cutter finds where records end without parsing
//! them, so that a chunk of 1 MiB holds whole records and memory is bounded. csv-core and serde_json then parse each
//! record on its own: if cutter and parser disagreed on where a record ends, that one record would be bad, and the
//! others would keep their boundaries. One parser for the whole stream was rejected: it runs on one core.
//!
//! **A file that cannot be cut is never skipped**: a quote that does not end, or that a later line's quote ends, with
//! text behind it; a JSON array without its end; another encoding. `on_bad_record=skip` would lose the rest of the
//! file, or many lines, as one record.

mod lines;

mod csv;

mod array;

use super::chunk::Contents;
use super::refusal::Refusal;

pub(super) use array::ArrayCutter;
pub(super) use csv::{CsvCutter, delimiter_name, fitting, quoted_delimiter};
pub(super) use lines::LineCutter;

/// Finds where the records of a stream end. A reader passes the bytes of the stream in a buffer that grows;
/// [`Cutter::contents`] takes its start away.
pub(super) trait Cutter {
    /// Scans `bytes[from..]`; the bytes before were scanned by earlier calls. Returns the end of the last whole
    /// record found by this call.
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal>;

    /// Ends the stream after `bytes`, or says what is missing.
    fn end(&mut self, bytes: &[u8]) -> Result<(), Refusal>;

    /// The records of the start of the buffer, which ends with a record or with the stream; `None` if it has
    /// none.
    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal>;

    /// Forgets the bytes of a record that is too long to be kept. The next scan goes through the bytes after them. Returns the
    /// line on which the record starts.
    fn forget(&mut self, bytes: &[u8]) -> u64;
}

#[cfg(test)]
mod tests;
