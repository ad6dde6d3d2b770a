//! The longest record that a command reads, so that one record cannot take all memory.
//!
//! A record is in memory as a whole. A line may be of any length, and a few kilobytes of zstd may hold gigabytes, so that the
//! length of a file says nothing. A record is therefore refused while it is read, and a page of Parquet before it is decompressed.

use super::chunk::CHUNK;
use super::refusal::Refusal;
use simgpu::machine::usable_memory_bytes;

/// The share of what a command may take that a record may have, by default: the steps of a run hold up to four times its length.
const SHARE: [u64; 2] = [1, 4];

/// The share of a page of Parquet, or of a batch of Arrow, where a user sets the memory. It is in memory once, and its records
/// are taken a few at a time.
const TABLE_SHARE: [u64; 2] = [1, 2];

/// Every command reads records of up to this length: it holds several pieces of input of this size in any case.
const ALWAYS: u64 = 4 << 20;

/// Where nothing bounds the memory.
const NO_BOUND: u64 = u64::MAX;

/// Up to here, the rest of a record that is too long is read to learn its length.
pub(super) const MEASURED: u64 = 16 << 30;

/// The most bytes that a record may have, decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LongestRecord {
    /// The memory that it follows from; `None` without a bound.
    memory: Option<u64>,
    /// The share of it for a record.
    share: [u64; 2],
    /// Whether a user can raise it.
    is_option: bool,
}

impl LongestRecord {
    /// For a command whose option `memory` has this value; default what a run takes.
    #[doc(hidden)]
    pub fn within(memory: Option<u64>) -> Self {
        LongestRecord {
            memory: memory.or_else(usable_memory_bytes),
            share: SHARE,
            is_option: true,
        }
    }

    /// The same with another share of the memory for a record.
    #[doc(hidden)]
    pub fn with_share(self, share: [u64; 2]) -> Self {
        LongestRecord { share, ..self }
    }

    /// For a command without that option: records, pages and batches of up to 64 MiB.
    #[doc(hidden)]
    pub const fn fixed() -> Self {
        LongestRecord {
            memory: Some(256 << 20),
            share: SHARE,
            is_option: false,
        }
    }

    /// The most bytes of a record of a text format.
    pub(super) fn bytes(self) -> u64 {
        let [share, of] = self.share;
        self.memory
            .map_or(NO_BOUND, |memory| (memory / of * share).max(ALWAYS))
    }

    /// The size of the buffer for a record of which `len` bytes were read: not so large that a record that is too long ends in it.
    pub(super) fn room_after(self, len: usize) -> usize {
        // Saturates: no buffer is longer.
        let most = usize::try_from(self.bytes()).map_or(usize::MAX, |most| most.saturating_add(1));
        (len + CHUNK / 4).min(most).max(len + 1)
    }

    /// The most bytes of a page of a column, or of a batch.
    pub(super) fn table_bytes(self) -> u64 {
        self.for_tables().bytes()
    }

    /// The limit of a page or batch. A command without the option states one number for every format.
    fn for_tables(self) -> Self {
        if self.is_option {
            self.with_share(TABLE_SHARE)
        } else {
            self
        }
    }

    /// Whether a record of this length is longer than what is measured.
    pub(super) fn is_beyond_measure(bytes: u64) -> bool {
        bytes > MEASURED
    }

    /// The refusal of a record of at least this length. `record` names it.
    pub(super) fn refusal(self, record: &str, bytes: u64) -> Refusal {
        self.refusal_or(record, bytes, "shorten the record")
    }

    /// The refusal of a page or batch of this size. `part` names it.
    pub(super) fn table_refusal(self, part: &str, bytes: u64) -> Refusal {
        self.for_tables()
            .refusal_or(part, bytes, "write the file in smaller parts")
    }

    fn refusal_or(self, part: &str, bytes: u64, otherwise: &str) -> Refusal {
        let most = self.bytes() >> 20;
        if !self.is_option {
            let problem =
                format!("{part} is longer than the {most} MiB that this command reads at once");
            return Refusal::new(problem, otherwise);
        }
        let more = if LongestRecord::is_beyond_measure(bytes) {
            "more than "
        } else {
            ""
        };
        let takes = bytes.div_ceil(1 << 20);
        let [share, of] = self.share;
        let memory = self.memory.unwrap_or(NO_BOUND) >> 20;
        Refusal::new(
            format!(
                "{part} takes {more}{takes} MiB, and `memory` ({memory} MiB) leaves {most} MiB for one"
            ),
            format!(
                "raise `memory` to {more}{} MiB, or {otherwise}",
                (takes * of).div_ceil(share)
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn shown(refusal: Refusal) -> String {
        refusal.for_file(Path::new("in.jsonl")).to_string()
    }

    #[test]
    fn a_record_may_take_a_quarter_of_the_memory() {
        let longest = |memory| LongestRecord::within(Some(memory)).bytes();
        assert_eq!(longest(64 * MIB), 16 * MIB);
        assert_eq!(longest(MIB), 4 * MIB);
        assert_eq!(
            LongestRecord::within(Some(64 * MIB)).table_bytes(),
            32 * MIB
        );
        assert_eq!(LongestRecord::fixed().bytes(), 64 * MIB);
        assert_eq!(LongestRecord::fixed().table_bytes(), 64 * MIB);
    }

    #[test]
    fn the_memory_that_a_refusal_asks_for_is_enough() {
        for bytes in [4 * MIB + 1, 300 * MIB, 300 * MIB + 7, 5 << 30] {
            let told = shown(LongestRecord::within(Some(MIB)).refusal("line 3", bytes));
            let (_, number) = told.split_once("raise `memory` to ").unwrap();
            let number: u64 = number.split(' ').next().unwrap().parse().unwrap();
            assert!(
                LongestRecord::within(Some(number * MIB)).bytes() >= bytes,
                "{told}"
            );
        }
        let told = shown(LongestRecord::within(Some(MIB)).refusal("line 3", MEASURED + 1));
        assert!(told.contains("takes more than 16385 MiB"), "{told}");
        let told = shown(LongestRecord::fixed().refusal("line 3", 70 * MIB));
        assert!(
            told.contains("line 3 is longer than the 64 MiB that this command reads"),
            "{told}"
        );
    }
}
