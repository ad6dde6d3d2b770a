//! Checksums of results.

use simgpu::scheme::Slots;
use simgpu::scheme::fmix64;

/// Checksum of a sequence of numbers.
pub(super) fn checksum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let add = |sum: u64, number: u64| fmix64(sum ^ number);
    numbers.into_iter().fold(0, add)
}

/// Checksum of a sequence of slots.
pub(super) fn checksum_of_slots(slots: Slots<'_>) -> u64 {
    match slots {
        Slots::U32(slots) => checksum(slots.iter().map(|slot| u64::from(*slot))),
        Slots::U64(slots) => checksum(slots.iter().copied()),
    }
}
