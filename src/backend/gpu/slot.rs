//! The two widths of a slot.

use crate::pipeline::SlotsMut;

/// A slot of a signature: u32 or u64.
pub(super) trait Slot: bytemuck::Pod + Ord + Send + Sync {
    const GREATEST: Self;

    fn of(slot: u64) -> Self;

    fn borrow(slots: &mut [Self]) -> SlotsMut<'_>;
}

impl Slot for u32 {
    const GREATEST: u32 = u32::MAX;

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn of(slot: u64) -> u32 {
        slot as u32
    }

    fn borrow(slots: &mut [u32]) -> SlotsMut<'_> {
        SlotsMut::U32(slots)
    }
}

impl Slot for u64 {
    const GREATEST: u64 = u64::MAX;

    fn of(slot: u64) -> u64 {
        slot
    }

    fn borrow(slots: &mut [u64]) -> SlotsMut<'_> {
        SlotsMut::U64(slots)
    }
}
