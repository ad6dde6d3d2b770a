//! Widens hashes and slots to u64 and compares them.

use crate::scheme::{Hashes, Slots};

/// Describes the first slot that differs; `None` if all are equal.
pub(super) fn wrong_slot(expected: &[u64], computed: &[u64]) -> Option<String> {
    let mut slots = computed.iter().zip(expected).enumerate();
    let (k, (got, expected)) = slots.find(|(_, (got, expected))| got != expected)?;
    Some(format!("slot {k}: expected {expected}, got {got}"))
}

pub(super) fn wide_hashes(hashes: Hashes<'_>) -> Vec<u64> {
    match hashes {
        Hashes::U32(hashes) => hashes.iter().copied().map(u64::from).collect(),
        Hashes::U64(hashes) => hashes.to_vec(),
    }
}

pub(super) fn wide_slots(slots: Slots<'_>) -> Vec<u64> {
    match slots {
        Slots::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Slots::U64(slots) => slots.to_vec(),
    }
}
