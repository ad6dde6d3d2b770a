//! The windows that were new so far, by the key of the anchor that they share.
//!
//! A key of 32 bits finds one run of windows, or a group of them side by side, or says that its windows are a level below,
//! in cells. Slots lie in the order of the keys' highest bits, so that a table of twice the size is written in order.
//!
//! **All threads share one table.** What is entered stays where it is, a slot is written behind what it leads to, and the
//! length of a group behind its windows. So what is read is complete, and no reader waits. One exchange of a slot, or of the
//! length of a group, makes sure that nothing was entered that was not compared. A group that moves stays locked. A table is
//! made larger only when no thread reads it: each looks, item by item, whether it must wait for that.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers are packed into words, with their limits checked where they are made"
)]

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::lengths::Lengths;
use super::words::{OnLine, Room, Words};
use simgpu::simd::prefetch;

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

/// Runs of windows of a key from which on it is heavy.
pub(super) const MOST_RUNS: usize = 32;

/// Marks the length of a group that a thread adds to, or that moved.
const LOCKED: u64 = 1 << 31;

/// How often a thread looks at a locked group before it lets others run.
const LOOKS: usize = 100;

/// Slots that a thread takes before it says so.
const UNSAID: usize = 64;

/// The windows that were new so far.
#[derive(Debug)]
pub(super) struct Known {
    slots: Box<[AtomicU64]>,
    shift: u32,
    used: OnLine<AtomicUsize>,
    /// Slots that must be free when an item is decided: what all threads may take.
    margin: usize,
    ones: Words,
    /// Groups in lines of the cache. A group is a word of length and capacity, the context of each run of windows in half
    /// a word, and the runs.
    groups: Words,
    is_shared: bool,
    is_full: AtomicBool,
}

/// What a thread has taken of a table.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    ones: Room,
    groups: Room,
    unsaid: usize,
}

impl Known {
    /// A table for windows of so many symbols, which so many threads share.
    pub(super) fn new(lengths: &Lengths, symbols: usize, threads: usize) -> Self {
        let levels = lengths.cells.len();
        // An item enters itself in cells, and makes all runs of its key move down.
        let of_item = (MOST_RUNS + 1) * lengths.grams.places * levels + UNSAID;
        let margin = (threads * of_item).min(symbols.saturating_mul(levels) + threads * UNSAID);
        // As many as there are if half of the regions are new.
        let typical = symbols / (lengths.grams.places + 1);
        let bits = usize::BITS - (2 * margin).max(typical).leading_zeros();
        let bits = bits.clamp(6, MOST_BITS);
        Known {
            slots: bytemuck::zeroed_slice_box(1 << bits),
            shift: 32 - bits,
            used: OnLine::default(),
            margin,
            ones: Words::new(GROUP as usize - 2),
            groups: Words::new((GROUP as usize - 2) * LINE),
            is_shared: threads > 1,
            is_full: AtomicBool::new(false),
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.slots.len() as u64 + self.ones.bytes() + self.groups.bytes()
    }

    /// Whether windows could not be entered any more.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Whether the table must be made larger before the next item.
    #[inline(always)]
    pub(super) fn is_crowded(&self) -> bool {
        let slots = self.slots.len();
        let free = self.margin.max(slots / 10 * 3);
        self.used.0.load(Ordering::Relaxed) > slots.saturating_sub(free)
    }

    /// The slot of a key, or the free one where it belongs, and what it leads to.
    #[inline(always)]
    pub(super) fn find(&self, key: u32) -> (usize, Found) {
        let mask = self.slots.len() - 1;
        let mut at = (key >> self.shift) as usize & mask;
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 || (slot >> 32) as u32 == key {
                return (at, Found::of(slot));
            }
            at = (at + 1) & mask;
        }
    }

    /// What a taken slot leads to.
    #[inline(always)]
    pub(super) fn found(&self, slot: usize) -> Found {
        Found::of(self.slots[slot].load(Ordering::Acquire))
    }

    /// What a key leads to if it is in its own slot, which others may have taken.
    #[inline(always)]
    pub(super) fn found_at_home(&self, key: u32) -> Found {
        let slot = self.slots.get((key >> self.shift) as usize);
        match slot.map(|slot| slot.load(Ordering::Acquire)) {
            Some(slot) if (slot >> 32) as u32 == key => Found::of(slot),
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
            Found::One(one) => prefetch(self.ones.from(one as usize), 0),
            Found::Group(group) => prefetch(self.group(group), 0),
            Found::Nothing | Found::Cells => {}
        }
    }

    #[inline(always)]
    pub(super) fn one(&self, one: u32) -> Windows {
        Windows(self.ones.from(one as usize)[0].load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn group(&self, group: u32) -> &[AtomicU64] {
        self.groups.from(group as usize * LINE)
    }

    /// A run of windows of a group.
    #[inline(always)]
    pub(super) fn of_group(&self, group: u32, i: usize) -> Windows {
        let group = self.group(group);
        Windows(group[1 + capacity(group) / 2 + i].load(Ordering::Relaxed))
    }

    /// Which of up to 64 runs of a group have contexts that agree with this one on either side; sides that are 0 agree with
    /// none.
    #[inline(always)]
    pub(super) fn agreeing(&self, group: u32, len: usize, context: u32) -> u64 {
        const LOW: u64 = 0x7FFF_7FFF_7FFF_7FFF;
        let contexts = &self.group(group)[1..1 + len.div_ceil(2)];
        let side = |side: u32| if side == 0 { 0 } else { 0x8000 };
        let sides = side(context >> 16) << 16 | side(context & 0xFFFF);
        let (sides, context) = (
            sides << 32 | sides,
            u64::from(context) << 32 | u64::from(context),
        );
        let mut mask = 0;
        for (i, two) in contexts.iter().enumerate() {
            // Four sides at a time: the highest bit of each that differs, then of those that agree.
            let differ = two.load(Ordering::Relaxed) ^ context;
            let agree = !(((differ & LOW) + LOW) | differ) & sides;
            let both = u64::from(agree as u32 != 0) | u64::from(agree >> 32 != 0) << 1;
            mask |= both << (2 * i);
        }
        mask & u64::MAX >> (64 - len)
    }

    /// The number of runs that a key leads to.
    #[inline(always)]
    pub(super) fn len(&self, found: Found) -> usize {
        match found {
            Found::Nothing | Found::Cells => 0,
            Found::One(_) => 1,
            Found::Group(group) => len(self.group(group)),
        }
    }

    /// The runs that a key leads to, in the order in which they were entered.
    pub(super) fn runs(&self, found: Found) -> Vec<Windows> {
        match found {
            Found::Nothing | Found::Cells => Vec::new(),
            Found::One(one) => vec![self.one(one)],
            Found::Group(group) => (0..self.len(found))
                .map(|i| self.of_group(group, i))
                .collect(),
        }
    }

    /// Keeps other threads from adding to a group, unless there are more runs in it by now. If another thread adds to it,
    /// waits for that. A thread that holds a group waits only for those of lower levels, so that none waits in a circle.
    pub(super) fn lock(&self, slot: usize, group: u32, len: usize) -> bool {
        if !self.is_shared {
            return true;
        }
        let words = self.group(group);
        let free = (capacity(words) as u64) << 32 | len as u64;
        let (locked, ordering) = (free | LOCKED, Ordering::Acquire);
        let exchanged = words[0].compare_exchange(free, locked, ordering, Ordering::Relaxed);
        let mut looks = 0;
        while exchanged.is_err()
            && words[0].load(Ordering::Relaxed) & LOCKED != 0
            && self.found(slot) == Found::Group(group)
            && !self.is_full()
        {
            looks += 1;
            match looks % LOOKS {
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        exchanged.is_ok()
    }

    /// Says that the windows of a group, which is locked, are in cells.
    pub(super) fn set_cells(&self, slot: usize) {
        self.slots[slot].fetch_or(u64::from(CELLS), Ordering::Release);
    }

    /// Changes a slot, unless another thread did.
    #[inline(always)]
    fn exchange(&self, slot: usize, from: u64, to: u64) -> bool {
        let slot = &self.slots[slot];
        if !self.is_shared {
            slot.store(to, Ordering::Relaxed);
            return true;
        }
        let exchanged = slot.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
        exchanged.is_ok()
    }

    /// Enters a run of windows of a new key, unless another thread takes the slot.
    #[inline(always)]
    pub(super) fn enter(&self, rooms: &mut Rooms, slot: usize, key: u32, windows: Windows) -> bool {
        let Some(one) = self.ones.take(&mut rooms.ones, 1) else {
            self.is_full.store(true, Ordering::Relaxed);
            return true;
        };
        self.ones.from(one)[0].store(windows.0, Ordering::Relaxed);
        if !self.exchange(slot, 0, Found::One(one as u32).slot(key)) {
            rooms.ones.give_back();
            return false;
        }
        rooms.unsaid += 1;
        if rooms.unsaid == UNSAID {
            self.used.0.fetch_add(UNSAID, Ordering::Relaxed);
            rooms.unsaid = 0;
        }
        true
    }

    /// Enters a run of windows beside the one of a slot, unless another thread did. The contexts are those of both.
    pub(super) fn enter_second(
        &self,
        rooms: &mut Rooms,
        (slot, key, one): (usize, u32, u32),
        windows: Windows,
        contexts: [u32; 2],
    ) -> bool {
        let added = self.add_group(rooms, SMALLEST_GROUP).and_then(|group| {
            self.push(rooms, group, contexts[0], self.one(one))?;
            self.push(rooms, group, contexts[1], windows)
        });
        let Some(group) = added else {
            self.is_full.store(true, Ordering::Relaxed);
            return true;
        };
        let [from, to] = [Found::One(one), Found::Group(group)].map(|found| found.slot(key));
        self.exchange(slot, from, to)
    }

    /// Enters a run of windows in the group of a slot, which is locked.
    pub(super) fn enter_beside(
        &self,
        rooms: &mut Rooms,
        (slot, key, group): (usize, u32, u32),
        windows: Windows,
        context: u32,
    ) {
        match self.push(rooms, group, context, windows) {
            Some(same) if same == group => {}
            Some(larger) => {
                let larger = Found::Group(larger).slot(key);
                self.slots[slot].store(larger, Ordering::Release);
            }
            None => self.is_full.store(true, Ordering::Relaxed),
        }
    }

    fn add_group(&self, rooms: &mut Rooms, capacity: usize) -> Option<u32> {
        let lines = (1 + capacity / 2 + capacity).div_ceil(LINE);
        let at = self.groups.take(&mut rooms.groups, lines * LINE)?;
        self.groups.from(at)[0].store((capacity as u64) << 32, Ordering::Relaxed);
        Some((at / LINE) as u32)
    }

    /// Adds to a group, and returns the group, which is a new one if it was full.
    fn push(&self, rooms: &mut Rooms, group: u32, context: u32, windows: Windows) -> Option<u32> {
        let words = self.group(group);
        let (len, capacity) = (len(words), capacity(words));
        if len == capacity {
            let larger = self.add_group(
                rooms,
                match capacity {
                    SMALLEST_GROUP => 16,
                    capacity => 2 * capacity,
                },
            )?;
            for i in 0..len {
                let both = words[1 + i / 2].load(Ordering::Relaxed);
                let context = (both >> (32 * (i % 2))) as u32;
                self.push(rooms, larger, context, self.of_group(group, i))?;
            }
            return self.push(rooms, larger, context, windows);
        }
        let two = &words[1 + len / 2];
        let context = u64::from(context) << (32 * (len % 2));
        two.store(two.load(Ordering::Relaxed) | context, Ordering::Relaxed);
        words[1 + capacity / 2 + len].store(windows.0, Ordering::Relaxed);
        words[0].store(
            (capacity as u64) << 32 | (len + 1) as u64,
            Ordering::Release,
        );
        Some(group)
    }

    /// Makes the table larger if it is crowded.
    pub(super) fn grow(&mut self) {
        while self.is_crowded() && !self.is_full() {
            let bits = 33 - self.shift;
            if bits > MOST_BITS {
                self.is_full.store(true, Ordering::Relaxed);
                return;
            }
            let larger = bytemuck::zeroed_slice_box(1 << bits);
            let slots = std::mem::replace(&mut self.slots, larger);
            self.shift = 32 - bits;
            for slot in slots.into_iter().map(AtomicU64::into_inner) {
                if slot != 0 {
                    let (at, _) = self.find((slot >> 32) as u32);
                    *self.slots[at].get_mut() = slot;
                }
            }
        }
    }
}

#[inline(always)]
fn len(group: &[AtomicU64]) -> usize {
    (group[0].load(Ordering::Acquire) & (LOCKED - 1)) as usize
}

#[inline(always)]
fn capacity(group: &[AtomicU64]) -> usize {
    (group[0].load(Ordering::Relaxed) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths() -> Lengths {
        Lengths::new(100.try_into().unwrap())
    }

    #[test]
    fn every_run_is_found_in_order() {
        for threads in [1, 3] {
            let mut known = Known::new(&lengths(), 10, threads);
            let mut rooms = Rooms::default();
            let key = |i: usize| (i as u32 % 7_001).wrapping_mul(0x9E37_79B1);
            for i in 0..30_000 {
                known.grow();
                let windows = Windows::new(i + 4_095, i + i % 4_096, i + 4_095);
                let context = i as u32 + 4_095;
                match known.find(key(i)) {
                    (slot, Found::Nothing) => {
                        assert!(known.enter(&mut rooms, slot, key(i), windows));
                    }
                    (slot, Found::One(one)) => {
                        let contexts = [context - 7_001, context];
                        let slot = (slot, key(i), one);
                        assert!(known.enter_second(&mut rooms, slot, windows, contexts));
                    }
                    (slot, found) => {
                        let Found::Group(group) = found else {
                            panic!("{found:?}")
                        };
                        assert!(known.lock(slot, group, known.len(found)));
                        known.enter_beside(&mut rooms, (slot, key(i), group), windows, context);
                    }
                }
            }
            for start in 0..7_001 {
                let (_, found) = known.find(key(start));
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
                    let agreeing = known.agreeing(group, known.len(found), i as u32 + 4_095);
                    assert!(agreeing & 1 << n != 0);
                }
            }
        }
    }

    #[test]
    fn contexts_agree_on_either_side() {
        let sides = [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
        let contexts = sides.into_iter().flat_map(|a| sides.map(|b| a << 16 | b));
        let contexts: Vec<u32> = contexts.collect();
        for all in contexts.chunks(5) {
            let known = Known::new(&lengths(), 10, 1);
            let mut rooms = Rooms::default();
            let group = known.add_group(&mut rooms, 16).unwrap();
            for context in all {
                known.push(&mut rooms, group, *context, Windows::default());
            }
            for asked in &contexts {
                let agrees = |a: u32, b: u32| a != 0 && a == b;
                let expected = all.iter().enumerate().fold(0, |mask, (i, other)| {
                    let either =
                        agrees(asked >> 16, other >> 16) || agrees(asked & 0xFFFF, other & 0xFFFF);
                    mask | u64::from(either) << i
                });
                assert_eq!(known.agreeing(group, all.len(), *asked), expected);
            }
        }
    }
}
