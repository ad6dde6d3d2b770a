//! What slots lead to.

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotEntry {
    Nothing,
    /// One run of windows.
    One(u32),
    /// A group of runs.
    Group(u32),
    /// Cells of the next level.
    Cells,
}

/// The half of a slot of an entry that leads to cells.
pub(super) const CELLS: u32 = u32::MAX;

/// Marks an entry that leads to a group.
pub(super) const GROUP: u32 = 1 << 31;

impl SlotEntry {
    /// What a slot leads to.
    #[inline(always)]
    pub(super) fn from_slot(slot: u64) -> Self {
        match slot as u32 {
            0 => SlotEntry::Nothing,
            CELLS => SlotEntry::Cells,
            entry if entry < GROUP => SlotEntry::One(entry - 1),
            entry => SlotEntry::Group(entry & !GROUP),
        }
    }

    /// The slot of a key that leads there.
    pub(super) fn slot(self, key: u32) -> u64 {
        let entry = match self {
            SlotEntry::Nothing => return 0,
            SlotEntry::One(one) => one + 1,
            SlotEntry::Group(group) => group | GROUP,
            SlotEntry::Cells => CELLS,
        };
        u64::from(key) << 32 | u64::from(entry)
    }
}
