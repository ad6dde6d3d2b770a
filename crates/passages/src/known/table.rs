//! The table of keys, and the groups that it leads to.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::entry::{CELLS, GROUP, SlotEntry};
use super::windows::AnchoredWindows;
use crate::lengths::Lengths;
use crate::words::{GrowingWords, OnLine, ReservedWords};
use simgpu::simd::prefetch;

/// Bits of the largest table.
const MOST_BITS: u32 = 31;

/// Words of a line of the cache.
const LINE: usize = 8;

/// Runs of windows in the smallest group.
const SMALLEST_GROUP: usize = 4;

/// Runs of windows of a key from which on it is heavy.
pub(crate) const MOST_RUNS: usize = 32;

/// Marks the length of a group that a thread adds to, or that moved.
const LOCKED: u64 = 1 << 31;

/// How often a thread looks at a locked group before it lets others run.
const LOOKS: usize = 100;

/// Slots that a thread takes before it updates the shared count.
const UNREPORTED: usize = 64;

/// The windows that were new so far.
#[derive(Debug)]
pub(crate) struct KnownWindows {
    slots: Box<[AtomicU64]>,
    shift: u32,
    used: OnLine<AtomicUsize>,
    /// Slots that must be free when an item is decided: what all threads may take.
    margin: usize,
    ones: GrowingWords,
    /// Groups in lines of the cache. A group is a word of length and capacity, the context of each run of windows in half
    /// a word, and the runs.
    groups: GrowingWords,
    is_shared: bool,
    is_full: AtomicBool,
}

/// The slot of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeySlot {
    pub(crate) at: usize,
    pub(crate) key: u32,
}

/// The only run of windows of a key, and its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRun {
    pub(crate) one: u32,
    pub(crate) context: u32,
}

/// A run of windows, and hashes of the symbols beside its core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunInContext {
    pub(crate) windows: AnchoredWindows,
    pub(crate) context: u32,
}

/// What a thread has taken of a table.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    ones: ReservedWords,
    groups: ReservedWords,
    unreported: usize,
}

impl KnownWindows {
    /// A table for windows of so many symbols, which so many threads share.
    pub(crate) fn new(lengths: &Lengths, symbols: usize, threads: usize) -> Self {
        let levels = lengths.cells.len();
        // An item enters itself in cells, and makes all runs of its key move down.
        let per_item = (MOST_RUNS + 1) * lengths.grams.places * levels + UNREPORTED;
        let margin =
            (threads * per_item).min(symbols.saturating_mul(levels) + threads * UNREPORTED);
        // As many as there are if half of the regions are new.
        let typical = symbols / (lengths.grams.places + 1);
        let bits = usize::BITS - (2 * margin).max(typical).leading_zeros();
        let bits = bits.clamp(6, MOST_BITS);
        KnownWindows {
            slots: bytemuck::zeroed_slice_box(1 << bits),
            shift: 32 - bits,
            used: OnLine::default(),
            margin,
            ones: GrowingWords::new(GROUP as usize - 2),
            groups: GrowingWords::new((GROUP as usize - 2) * LINE),
            is_shared: threads > 1,
            is_full: AtomicBool::new(false),
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        8 * self.slots.len() as u64 + self.ones.bytes() + self.groups.bytes()
    }

    /// Whether windows could not be entered any more.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Whether the table must be made larger before the next item.
    #[inline(always)]
    pub(crate) fn is_crowded(&self) -> bool {
        let slots = self.slots.len();
        let free = self.margin.max(slots / 10 * 3);
        self.used.0.load(Ordering::Relaxed) > slots.saturating_sub(free)
    }

    /// The slot of a key, or the free one where it belongs, and what it leads to.
    #[inline(always)]
    pub(crate) fn find(&self, key: u32) -> (usize, SlotEntry) {
        // Linear probing: neighbours are on one line of the cache.
        let mask = self.slots.len() - 1;
        let mut at = (key >> self.shift) as usize & mask;
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 || (slot >> 32) as u32 == key {
                return (at, SlotEntry::from_slot(slot));
            }
            at = (at + 1) & mask;
        }
    }

    /// What a taken slot leads to.
    #[inline(always)]
    pub(crate) fn found(&self, slot: usize) -> SlotEntry {
        SlotEntry::from_slot(self.slots[slot].load(Ordering::Acquire))
    }

    /// What a key leads to if it is in its own slot, which others may have taken.
    #[inline(always)]
    pub(crate) fn found_at_home(&self, key: u32) -> SlotEntry {
        let slot = self.slots.get((key >> self.shift) as usize);
        match slot.map(|slot| slot.load(Ordering::Acquire)) {
            Some(slot) if (slot >> 32) as u32 == key => SlotEntry::from_slot(slot),
            _ => SlotEntry::Nothing,
        }
    }

    /// Asks for the slot of a key.
    #[inline(always)]
    pub(crate) fn prefetch_slot(&self, key: u32) {
        prefetch(&self.slots, (key >> self.shift) as usize);
    }

    /// Asks for what a key leads to.
    #[inline(always)]
    pub(crate) fn prefetch_found(&self, key: u32) {
        match self.found_at_home(key) {
            SlotEntry::One(one) => prefetch(self.ones.from(one as usize), 0),
            SlotEntry::Group(group) => prefetch(self.group(group), 0),
            SlotEntry::Nothing | SlotEntry::Cells => {}
        }
    }

    /// A run of windows that is alone with its key.
    #[inline(always)]
    pub(crate) fn one(&self, one: u32) -> AnchoredWindows {
        AnchoredWindows(self.ones.from(one as usize)[0].load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn group(&self, group: u32) -> &[AtomicU64] {
        self.groups.from(group as usize * LINE)
    }

    /// A run of windows of a group.
    #[inline(always)]
    pub(crate) fn run_of_group(&self, group: u32, i: usize) -> AnchoredWindows {
        let group = self.group(group);
        AnchoredWindows(group[1 + capacity(group) / 2 + i].load(Ordering::Relaxed))
    }

    /// Which of up to 64 runs of a group have contexts that agree with this one on either side; sides that are 0 agree with
    /// none.
    #[inline(always)]
    pub(crate) fn agreeing(&self, group: u32, len: usize, context: u32) -> u64 {
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
    pub(crate) fn len(&self, found: SlotEntry) -> usize {
        match found {
            SlotEntry::Nothing | SlotEntry::Cells => 0,
            SlotEntry::One(_) => 1,
            SlotEntry::Group(group) => len(self.group(group)),
        }
    }

    /// The runs that a key leads to, in the order in which they were entered.
    pub(crate) fn runs(&self, found: SlotEntry) -> Vec<AnchoredWindows> {
        match found {
            SlotEntry::Nothing | SlotEntry::Cells => Vec::new(),
            SlotEntry::One(one) => vec![self.one(one)],
            SlotEntry::Group(group) => (0..self.len(found))
                .map(|i| self.run_of_group(group, i))
                .collect(),
        }
    }

    /// Keeps other threads from adding to a group, unless there are more runs in it by now. If another thread adds to it,
    /// waits for that. A thread that holds a group waits only for those of lower levels, so that none waits in a circle.
    pub(crate) fn lock(&self, slot: usize, group: u32, len: usize) -> bool {
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
            && self.found(slot) == SlotEntry::Group(group)
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
    pub(crate) fn set_cells(&self, slot: usize) {
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
    pub(crate) fn enter(&self, rooms: &mut Rooms, slot: KeySlot, windows: AnchoredWindows) -> bool {
        let Some(one) = self.ones.take(&mut rooms.ones, 1) else {
            self.is_full.store(true, Ordering::Relaxed);
            return true;
        };
        self.ones.from(one)[0].store(windows.0, Ordering::Relaxed);
        if !self.exchange(slot.at, 0, SlotEntry::One(one as u32).slot(slot.key)) {
            // The word was seen by no other thread.
            rooms.ones.give_back();
            return false;
        }
        rooms.unreported += 1;
        if rooms.unreported == UNREPORTED {
            self.used.0.fetch_add(UNREPORTED, Ordering::Relaxed);
            rooms.unreported = 0;
        }
        true
    }

    /// Enters a run of windows beside the one of a slot, unless another thread did.
    pub(crate) fn enter_second(
        &self,
        rooms: &mut Rooms,
        slot: KeySlot,
        first: FirstRun,
        second: RunInContext,
    ) -> bool {
        let FirstRun { one, context } = first;
        let windows = self.one(one);
        let added = self.add_group(rooms, SMALLEST_GROUP).and_then(|group| {
            self.push(rooms, group, RunInContext { windows, context })?;
            self.push(rooms, group, second)
        });
        let Some(group) = added else {
            self.is_full.store(true, Ordering::Relaxed);
            return true;
        };
        let [from, to] =
            [SlotEntry::One(one), SlotEntry::Group(group)].map(|found| found.slot(slot.key));
        self.exchange(slot.at, from, to)
    }

    /// Enters a run of windows in the group of a slot, which is locked.
    pub(crate) fn enter_beside(
        &self,
        rooms: &mut Rooms,
        slot: KeySlot,
        group: u32,
        run: RunInContext,
    ) {
        match self.push(rooms, group, run) {
            Some(same) if same == group => {}
            Some(larger) => {
                let larger = SlotEntry::Group(larger).slot(slot.key);
                self.slots[slot.at].store(larger, Ordering::Release);
            }
            None => self.is_full.store(true, Ordering::Relaxed),
        }
    }

    pub(super) fn add_group(&self, rooms: &mut Rooms, capacity: usize) -> Option<u32> {
        let lines = (1 + capacity / 2 + capacity).div_ceil(LINE);
        let at = self.groups.take(&mut rooms.groups, lines * LINE)?;
        self.groups.from(at)[0].store((capacity as u64) << 32, Ordering::Relaxed);
        Some((at / LINE) as u32)
    }

    /// Adds to a group, and returns the group, which is a new one if it was full.
    pub(super) fn push(&self, rooms: &mut Rooms, group: u32, run: RunInContext) -> Option<u32> {
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
                let before = RunInContext {
                    windows: self.run_of_group(group, i),
                    context: (both >> (32 * (i % 2))) as u32,
                };
                self.push(rooms, larger, before)?;
            }
            return self.push(rooms, larger, run);
        }
        // Contexts of runs that are not entered yet are 0.
        let two = &words[1 + len / 2];
        let context = u64::from(run.context) << (32 * (len % 2));
        two.store(two.load(Ordering::Relaxed) | context, Ordering::Relaxed);
        words[1 + capacity / 2 + len].store(run.windows.0, Ordering::Relaxed);
        // Last, so that a reader of the length finds all windows behind it.
        words[0].store(
            (capacity as u64) << 32 | (len + 1) as u64,
            Ordering::Release,
        );
        Some(group)
    }

    /// Makes the table larger if it is crowded.
    pub(crate) fn grow(&mut self) {
        while self.is_crowded() && !self.is_full() {
            let bits = 33 - self.shift;
            if bits > MOST_BITS {
                self.is_full.store(true, Ordering::Relaxed);
                return;
            }
            // Slots are in the order of the highest bits of keys, so the new table is written in order.
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
