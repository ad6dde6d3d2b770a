//! The windows that were new so far, by the key of the anchor that they share.
//!
//! A key of 32 bits finds one run of windows, or a group of them side by side, or says that its windows are a level below,
//! in cells. Slots lie in the order of the keys' highest bits, so that a table of twice the size is written in order.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers are packed into words, with their limits checked where they are made"
)]

use crate::simd::prefetch;

/// Windows in a row with one anchor: 40 bits of the anchor, 12 of its distance from the first window, 12 of the number of
/// further windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Windows(u64);

/// The most symbols of a text.
pub(super) const MOST_SYMBOLS: usize = 1 << 40;

impl Windows {
    #[inline(always)]
    pub(super) fn new(anchor: usize, first: usize, last: usize) -> Self {
        let (before, further) = (anchor - first, last - first);
        Windows((anchor as u64) << 24 | (before as u64) << 12 | further as u64)
    }

    #[inline(always)]
    pub(super) fn anchor(self) -> usize {
        (self.0 >> 24) as usize
    }

    #[inline(always)]
    pub(super) fn first(self) -> usize {
        self.anchor() - (self.0 >> 12 & 0xFFF) as usize
    }

    #[inline(always)]
    pub(super) fn last(self) -> usize {
        self.first() + (self.0 & 0xFFF) as usize
    }
}

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// One run of windows.
    One(u32),
    Group(u32),
    /// Cells of the next level.
    Cells,
}

/// The half of a slot of an entry that leads to cells.
const CELLS: u32 = u32::MAX;

/// Marks an entry that leads to a group.
const GROUP: u32 = 1 << 31;

/// Bits of the largest table.
const MOST_BITS: u32 = 31;

/// Words of a line of the cache.
const LINE: usize = 8;

/// Runs of windows in the smallest group.
const SMALLEST_GROUP: usize = 4;

impl Found {
    #[inline(always)]
    fn of(slot: u64) -> Self {
        match slot as u32 {
            0 => Found::Nothing,
            CELLS => Found::Cells,
            entry if entry < GROUP => Found::One(entry - 1),
            entry => Found::Group(entry & !GROUP),
        }
    }

    fn slot(self, key: u32) -> u64 {
        let entry = match self {
            Found::Nothing => return 0,
            Found::One(one) => one + 1,
            Found::Group(group) => group | GROUP,
            Found::Cells => CELLS,
        };
        u64::from(key) << 32 | u64::from(entry)
    }
}

/// The windows that were new so far.
#[derive(Debug)]
pub(super) struct Known {
    slots: Vec<u64>,
    shift: u32,
    used: usize,
    ones: Vec<Windows>,
    /// Groups in lines of the cache. A group is a word of length and capacity, the context of each run of windows in half
    /// a word, and the runs.
    groups: Vec<u64>,
    /// Whether windows could not be entered any more.
    pub(super) is_full: bool,
}

impl Known {
    pub(super) fn new() -> Self {
        const BITS: u32 = 12;
        Known {
            slots: vec![0; 1 << BITS],
            shift: 32 - BITS,
            used: 0,
            ones: Vec::new(),
            groups: Vec::new(),
            is_full: false,
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.slots.capacity() + self.ones.capacity() + self.groups.capacity();
        8 * words as u64
    }

    /// The slot of a key, or the free one where it belongs.
    #[inline(always)]
    pub(super) fn slot(&self, key: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key >> self.shift) as usize & mask;
        while self.slots[at] != 0 && (self.slots[at] >> 32) as u32 != key {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline(always)]
    pub(super) fn found(&self, slot: usize) -> Found {
        Found::of(self.slots[slot])
    }

    /// What a key leads to if it is in its own slot, which others may have taken.
    #[inline(always)]
    pub(super) fn found_at_home(&self, key: u32) -> Found {
        match self.slots.get((key >> self.shift) as usize) {
            Some(slot) if (*slot >> 32) as u32 == key => Found::of(*slot),
            _ => Found::Nothing,
        }
    }

    /// Asks for the slot of a key.
    #[inline(always)]
    pub(super) fn prefetch_slot(&self, key: u32) {
        prefetch(&self.slots, (key >> self.shift) as usize);
    }

    /// Asks for what a key leads to.
    #[inline(always)]
    pub(super) fn prefetch_found(&self, key: u32) {
        match self.found_at_home(key) {
            Found::One(one) => prefetch(&self.ones, one as usize),
            Found::Group(group) => prefetch(&self.groups, group as usize * LINE),
            Found::Nothing | Found::Cells => {}
        }
    }

    #[inline(always)]
    pub(super) fn one(&self, one: u32) -> Windows {
        self.ones[one as usize]
    }

    #[inline(always)]
    pub(super) fn group_len(&self, group: u32) -> usize {
        self.groups[group as usize * LINE] as u32 as usize
    }

    #[inline(always)]
    fn capacity(&self, group: u32) -> usize {
        (self.groups[group as usize * LINE] >> 32) as usize
    }

    /// A run of windows of a group.
    #[inline(always)]
    pub(super) fn of_group(&self, group: u32, i: usize) -> Windows {
        Windows(self.groups[group as usize * LINE + 1 + self.capacity(group) / 2 + i])
    }

    /// The contexts of a group, and more up to its capacity.
    #[inline(always)]
    pub(super) fn contexts(&self, group: u32) -> &[u32] {
        let start = group as usize * LINE + 1;
        bytemuck::cast_slice(&self.groups[start..start + self.capacity(group) / 2])
    }

    /// The number of runs that a key leads to.
    pub(super) fn len(&self, found: Found) -> usize {
        match found {
            Found::Nothing | Found::Cells => 0,
            Found::One(_) => 1,
            Found::Group(group) => self.group_len(group),
        }
    }

    /// The runs that a key leads to, in the order in which they were entered.
    pub(super) fn runs(&self, found: Found) -> Vec<Windows> {
        match found {
            Found::Nothing | Found::Cells => Vec::new(),
            Found::One(one) => vec![self.one(one)],
            Found::Group(group) => (0..self.group_len(group))
                .map(|i| self.of_group(group, i))
                .collect(),
        }
    }

    /// Says that the windows of a key are in cells.
    pub(super) fn set_cells(&mut self, slot: usize) {
        self.slots[slot] |= u64::from(CELLS);
    }

    /// Enters a run of windows of a key. `contexts` are those of the one run that the key led to, if it did, and of this one.
    pub(super) fn enter(&mut self, slot: usize, key: u32, windows: Windows, contexts: [u32; 2]) {
        let most = (GROUP - 2) as usize;
        if self.ones.len() >= most || self.groups.len() / LINE >= most {
            self.is_full = true;
            return;
        }
        let found = match self.found(slot) {
            Found::Nothing => {
                self.ones.push(windows);
                Found::One(self.ones.len() as u32 - 1)
            }
            Found::One(one) => {
                let first = self.one(one);
                let group = self.add_group(SMALLEST_GROUP);
                let group = self.push(group, contexts[0], first);
                Found::Group(self.push(group, contexts[1], windows))
            }
            Found::Group(group) => Found::Group(self.push(group, contexts[1], windows)),
            Found::Cells => return,
        };
        let is_new = self.slots[slot] == 0;
        self.slots[slot] = found.slot(key);
        if is_new {
            self.used += 1;
            if self.used * 10 > self.slots.len() * 7 {
                self.grow();
            }
        }
    }

    fn add_group(&mut self, capacity: usize) -> u32 {
        let at = self.groups.len();
        let lines = (1 + capacity / 2 + capacity).div_ceil(LINE);
        self.groups.resize(at + lines * LINE, 0);
        self.groups[at] = (capacity as u64) << 32;
        (at / LINE) as u32
    }

    /// Adds to a group, and returns the group, which is a new one if it was full.
    fn push(&mut self, group: u32, context: u32, windows: Windows) -> u32 {
        let (len, capacity) = (self.group_len(group), self.capacity(group));
        if len == capacity {
            let larger = self.add_group(match capacity {
                SMALLEST_GROUP => 16,
                capacity => 2 * capacity,
            });
            for i in 0..len {
                let (context, windows) = (self.contexts(group)[i], self.of_group(group, i));
                self.push(larger, context, windows);
            }
            return self.push(larger, context, windows);
        }
        let start = group as usize * LINE;
        let of_group = &mut self.groups[start..];
        let contexts = bytemuck::cast_slice_mut::<u64, u32>(&mut of_group[1..1 + capacity / 2]);
        contexts[len] = context;
        of_group[1 + capacity / 2 + len] = windows.0;
        of_group[0] += 1;
        group
    }

    fn grow(&mut self) {
        let bits = 33 - self.shift;
        if bits > MOST_BITS {
            self.is_full = true;
            return;
        }
        let slots = std::mem::replace(&mut self.slots, vec![0; 1 << bits]);
        self.shift = 32 - bits;
        for slot in slots.into_iter().filter(|slot| *slot != 0) {
            let at = self.slot((slot >> 32) as u32);
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_found_in_order() {
        let mut known = Known::new();
        let key = |i: usize| (i as u32 % 7_001).wrapping_mul(0x9E37_79B1);
        for i in 0..30_000 {
            let slot = known.slot(key(i));
            let windows = Windows::new(i + 4_095, i + i % 4_096, i + 4_095);
            let context = i as u32 + 4_095;
            known.enter(
                slot,
                key(i),
                windows,
                [context - 7_001.min(context), context],
            );
        }
        for start in 0..7_001 {
            let found = known.found(known.slot(key(start)));
            let runs = known.runs(found);
            assert_eq!(known.len(found), runs.len());
            let entered: Vec<usize> = (start..30_000).step_by(7_001).collect();
            assert_eq!(runs.len(), entered.len());
            let Found::Group(group) = found else {
                panic!("{found:?}")
            };
            for (n, (windows, i)) in runs.into_iter().zip(entered).enumerate() {
                assert_eq!(windows.anchor(), i + 4_095);
                assert_eq!(windows.first(), i + i % 4_096);
                assert_eq!(windows.last(), i + 4_095);
                assert_eq!(known.contexts(group)[n], i as u32 + 4_095);
            }
        }
    }
}
