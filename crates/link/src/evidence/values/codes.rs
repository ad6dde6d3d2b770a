//! The numbers of values.

/// The code of a value that is missing.
pub(crate) const MISSING: u32 = u32::MAX;

/// A number of values, words or records: there are fewer than 2^32 records, and no more of the others than fit in memory.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rows are numbered by 32 bits"
)]
pub(crate) fn number(count: usize) -> u32 {
    count as u32
}
