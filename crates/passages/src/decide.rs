//! Decides which windows of an item are repeats, and enters the others.

use super::items::{Match, MatchEnd, OpenWindows, Reach, ScanItem};
use super::known::{AnchoredWindows, FirstRun, KnownWindows, MOST_RUNS, RunInContext, SlotEntry};
use super::lengths::Lengths;
use super::scan::Scan;
use simgpu::simd::minima::Symbol;

/// The first runs of windows of a key, as many as there were when the key was looked up.
#[derive(Clone, Copy)]
struct KeyRuns {
    slot: usize,
    found: SlotEntry,
    len: usize,
}

impl<S: Symbol> Scan<'_, S> {
    /// Finds the windows of an item that are repeats, and enters the others.
    pub(super) fn decide(&mut self, known: &KnownWindows, item: ScanItem) -> Reach {
        loop {
            let (slot, found) = known.find(item.key);
            match found {
                SlotEntry::Nothing => {
                    if known.enter(&mut self.rooms, item.slot(slot), item.windows()) {
                        return Reach::after(item.last);
                    }
                }
                SlotEntry::Cells => return self.decide_cells(known, item),
                SlotEntry::One(_) | SlotEntry::Group(_) => {
                    let len = known.len(found);
                    let runs = KeyRuns { slot, found, len };
                    let (mut reach, open) = self.compare(known, item, runs);
                    if open.is_empty() {
                        return reach;
                    }
                    let rest = ScanItem {
                        first: open.first,
                        last: open.end - 1,
                        ..item
                    };
                    if !self.enter_beside(known, runs, rest) {
                        // Another thread entered windows meanwhile, which this item was not compared with.
                        let retried = self.decide(known, rest);
                        if let Some(end) = retried.end {
                            reach.extend(retried.next, end);
                        }
                    }
                    return reach;
                }
            }
        }
    }

    /// Compares an item with the runs of windows of its key, the latest first, until none of its windows is open.
    fn compare(
        &mut self,
        known: &KnownWindows,
        item: ScanItem,
        runs: KeyRuns,
    ) -> (Reach, OpenWindows) {
        let KeyRuns { found, len, .. } = runs;
        let mut reach = Reach::after(item.last);
        let mut open = OpenWindows {
            first: item.first,
            end: item.last + 1,
            inside: Vec::new(),
        };
        // A mask has a bit for each of up to 64 runs, the last ones first.
        let mut base = (len - 1) / 64 * 64;
        let mut mask = self.mask(known, item, found, len - base);
        loop {
            if mask == 0 {
                if base == 0 {
                    break;
                }
                // Only where hashes collide on the last level.
                base -= 64;
                mask = u64::MAX;
            }
            let top = 63 - mask.leading_zeros() as usize;
            mask ^= 1 << top;
            let other = match found {
                SlotEntry::Group(group) => known.run_of_group(group, base + top),
                SlotEntry::One(one) => known.one(one),
                SlotEntry::Nothing | SlotEntry::Cells => break,
            };
            let Some(matched) = self.compare_with(item, other) else {
                continue;
            };
            // Another thread entered a later window first: it is the repeat, and this item is new.
            if matched.source > matched.from {
                self.later.push(matched.turned());
                continue;
            }
            // The windows of the gap before it are not decided.
            if matched.from > reach.next {
                continue;
            }
            self.matches.push(matched);
            let next = matched.to + 1 - self.lengths.window;
            let end = MatchEnd {
                here: matched.to,
                there: matched.source + matched.to - matched.from,
            };
            reach.extend(next, end);
            open.close(matched.from, next);
            if open.is_empty() {
                return (reach, open);
            }
        }
        if !open.inside.is_empty() {
            open.shrink();
        }
        (reach, open)
    }

    /// Of the last `len` runs of a key, up to 64, those that may share a window with an item.
    fn mask(&self, known: &KnownWindows, item: ScanItem, found: SlotEntry, len: usize) -> u64 {
        let SlotEntry::Group(group) = found else {
            return 1;
        };
        // A cell of one place is its core: no symbols stand beside it.
        if self.lengths.cells[item.level] == 1 {
            return u64::MAX >> (64 - len);
        }
        let context = self.context(item.level, item.windows());
        known.agreeing(group, len, context)
    }

    /// The match of an item with a run of windows, followed to its end.
    #[inline(always)]
    fn compare_with(&self, item: ScanItem, other: AnchoredWindows) -> Option<Match> {
        let Lengths { window, grams, .. } = *self.lengths;
        let (here, there) = (item.anchor, other.anchor());
        let (to_end, to_its_end) = (self.end - here, other.last() + window - there);
        let mut ahead = self.text.agree_ahead(here, there, to_end.min(to_its_end));
        // Without the whole k-gram, the keys were equal by chance.
        if ahead < grams.gram {
            return None;
        }
        // Only windows of both runs: others have anchors, and items, of their own.
        let limit = (here - item.first).min(there - other.first());
        let behind = self.text.agree_behind(here, there, limit);
        if behind + ahead < window {
            return None;
        }
        // Beyond the windows that were entered, the match goes on along its diagonal.
        if ahead == to_its_end && to_its_end < to_end {
            let limit = self.text.document_end(there) - there;
            let limit = to_end.min(limit) - ahead;
            ahead += self.text.agree_ahead(here + ahead, there + ahead, limit);
        }
        Some(Match {
            from: here - behind,
            to: here + ahead,
            source: there - behind,
        })
    }

    /// Decides the windows of a heavy key, cell by cell.
    #[inline(never)]
    fn decide_cells(&mut self, known: &KnownWindows, item: ScanItem) -> Reach {
        let mut reach = Reach::after(item.last);
        let mut first = item.first;
        while first <= item.last {
            let cell = self.cell(item.level + 1, item, first);
            let decided = self.decide(known, cell);
            first = decided.next;
            if let Some(end) = decided.end {
                reach.extend(decided.next, end);
            }
        }
        reach
    }

    /// Enters new windows beside those of the same key, which becomes heavy if they are many. Does nothing and returns `false`
    /// if there are others by now.
    fn enter_beside(&mut self, known: &KnownWindows, runs: KeyRuns, item: ScanItem) -> bool {
        let KeyRuns { slot, found, len } = runs;
        let windows = item.windows();
        let context = self.context(item.level, windows);
        let group = match found {
            SlotEntry::One(one) => {
                let first = FirstRun {
                    one,
                    context: self.context(item.level, known.one(one)),
                };
                let second = RunInContext { windows, context };
                return known.enter_second(&mut self.rooms, item.slot(slot), first, second);
            }
            SlotEntry::Group(group) => group,
            SlotEntry::Nothing | SlotEntry::Cells => return false,
        };
        if !known.lock(slot, group, len) {
            // Nothing more is entered in a full table.
            return known.is_full();
        }
        let is_last_level = self.lengths.cells[item.level] == 1;
        if is_last_level || len < MOST_RUNS {
            let run = RunInContext { windows, context };
            known.enter_beside(&mut self.rooms, item.slot(slot), group, run);
            return true;
        }
        // The key becomes heavy: all its windows go down a level, and the new ones with them.
        let runs = known.runs(found).into_iter().map(|windows| ScanItem {
            anchor: windows.anchor(),
            first: windows.first(),
            last: windows.last(),
            ..item
        });
        let items = runs.chain([item]);
        self.enter_all(known, items.flat_map(|item| self.cells(item)).collect());
        // Only now may others look there.
        known.set_cells(slot);
        true
    }

    /// Enters windows of cells, those of heavy keys into cells of the next level: new ones, or, of those before, some that
    /// were between new ones.
    fn enter_all(&mut self, known: &KnownWindows, cells: Vec<ScanItem>) {
        // All slots are asked of memory before the first one is needed.
        for cell in &cells {
            known.prefetch_slot(cell.key);
        }
        for cell in cells {
            // Again, as long as another thread changes the slot meanwhile.
            while !self.enter_cell(known, cell) {}
        }
    }

    fn enter_cell(&mut self, known: &KnownWindows, cell: ScanItem) -> bool {
        let (slot, found) = known.find(cell.key);
        match found {
            SlotEntry::Nothing => known.enter(&mut self.rooms, cell.slot(slot), cell.windows()),
            SlotEntry::Cells => {
                self.enter_all(known, self.cells(cell).collect());
                true
            }
            found => {
                let len = known.len(found);
                self.enter_beside(known, KeyRuns { slot, found, len }, cell)
            }
        }
    }
}
