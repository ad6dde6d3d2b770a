//! Decides which windows of an item are repeats, and enters the others.

use super::items::{Item, Match, Open, Reach};
use super::known::{Found, Known, Windows};
use super::lengths::Lengths;
use super::scan::Scan;
use crate::simd::minima::Symbol;

/// Runs of windows of a key from which on it is heavy.
const MOST_RUNS: usize = 32;

impl<S: Symbol> Scan<'_, S> {
    /// What is asked: what this pass knows, if it enters new windows there, or what an earlier part knows.
    #[inline(always)]
    fn asked<const ENTERS: bool>(&self) -> &Known {
        match self.earlier {
            Some(earlier) if !ENTERS => earlier,
            _ => &self.known,
        }
    }

    /// Finds the windows of an item that are repeats, and enters the others.
    pub(super) fn decide<const ENTERS: bool>(&mut self, item: Item) -> Reach {
        let asked = self.asked::<ENTERS>();
        let slot = asked.slot(item.key);
        let found = asked.found(slot);
        match found {
            Found::Nothing => {
                if ENTERS {
                    self.enter(slot, item);
                }
                Reach::behind(item.last)
            }
            Found::Cells => self.decide_cells::<ENTERS>(item),
            Found::One(_) | Found::Group(_) => {
                let (reach, open) = self.compare::<ENTERS>(item, found);
                if ENTERS && !open.is_empty() {
                    let rest = Item {
                        first: open.first,
                        last: open.end - 1,
                        ..item
                    };
                    self.enter_beside(slot, found, rest);
                }
                reach
            }
        }
    }

    /// Compares an item with all runs of windows of its key, the latest first, until none of its windows is open.
    fn compare<const ENTERS: bool>(&mut self, item: Item, found: Found) -> (Reach, Open) {
        let mut reach = Reach::behind(item.last);
        let mut open = Open {
            first: item.first,
            end: item.last + 1,
            inside: Vec::new(),
        };
        let len = self.asked::<ENTERS>().len(found);
        let mut base = (len - 1) / 64 * 64;
        let mut mask = self.mask::<ENTERS>(item, found, base, len);
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
            let asked = self.asked::<ENTERS>();
            let other = match found {
                Found::Group(group) => asked.of_group(group, base + top),
                Found::One(one) => asked.one(one),
                Found::Nothing | Found::Cells => break,
            };
            let Some(matched) = self.compare_with(item, other) else {
                continue;
            };
            if matched.from > reach.next {
                continue;
            }
            self.matches.push(matched);
            let next = matched.to + 1 - self.lengths.window;
            let there = matched.source + matched.to - matched.from;
            reach.extend(next, (matched.to, there));
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

    /// The runs of a key from `base` on, up to 64, that may share a window with an item.
    fn mask<const ENTERS: bool>(&self, item: Item, found: Found, base: usize, len: usize) -> u64 {
        let Found::Group(group) = found else {
            return 1;
        };
        if self.lengths.cells[item.level] == 1 {
            return u64::MAX >> (63 - (len - 1 - base));
        }
        let context = self.context(item.level, item.windows());
        let contexts = &self.asked::<ENTERS>().contexts(group)[base..len];
        agreeing(context, contexts)
    }

    /// The match of an item with a run of windows, followed to its end.
    #[inline(always)]
    fn compare_with(&self, item: Item, other: Windows) -> Option<Match> {
        let Lengths { window, grams, .. } = *self.lengths;
        let (here, there) = (item.anchor, other.anchor());
        let (to_end, to_its_end) = (self.document.1 - here, other.last() + window - there);
        let mut ahead = self.text.agree_ahead(here, there, to_end.min(to_its_end));
        if ahead < grams.gram {
            return None;
        }
        let limit = (here - item.first).min(there - other.first());
        let behind = self.text.agree_behind(here, there, limit);
        if behind + ahead < window {
            return None;
        }
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
    fn decide_cells<const ENTERS: bool>(&mut self, item: Item) -> Reach {
        let mut reach = Reach::behind(item.last);
        let mut first = item.first;
        while first <= item.last {
            let cell = self.cell(item.level + 1, item, first);
            let of_cell = self.decide::<ENTERS>(cell);
            first = of_cell.next;
            if let Some(end) = of_cell.end {
                reach.extend(of_cell.next, end);
            }
        }
        reach
    }

    /// Enters new windows beside others of the same key, which becomes heavy if they are many.
    fn enter_beside(&mut self, slot: usize, found: Found, item: Item) {
        let is_last_level = self.lengths.cells[item.level] == 1;
        if is_last_level || self.known.len(found) < MOST_RUNS {
            self.enter(slot, item);
            return;
        }
        let runs = self.known.runs(found);
        self.known.set_cells(slot);
        let runs = runs.into_iter().map(|windows| Item {
            anchor: windows.anchor(),
            first: windows.first(),
            last: windows.last(),
            ..item
        });
        let items = runs.chain([item]);
        self.enter_all(items.flat_map(|item| self.cells(item)).collect());
    }

    /// Enters windows of cells, those of heavy keys into cells of the next level: new ones, or, of those before, some that
    /// were between new ones.
    fn enter_all(&mut self, cells: Vec<Item>) {
        for cell in &cells {
            self.known.prefetch_slot(cell.key);
        }
        for cell in cells {
            let slot = self.known.slot(cell.key);
            match self.known.found(slot) {
                Found::Cells => self.enter_all(self.cells(cell).collect()),
                Found::Nothing => self.enter(slot, cell),
                found => self.enter_beside(slot, found, cell),
            }
        }
    }

    pub(super) fn enter(&mut self, slot: usize, item: Item) {
        self.entries += 1;
        let windows = item.windows();
        let context = |windows| self.context(item.level, windows);
        let contexts = match self.known.found(slot) {
            Found::One(one) => [context(self.known.one(one)), context(windows)],
            Found::Group(_) => [0, context(windows)],
            Found::Nothing | Found::Cells => [0, 0],
        };
        self.known.enter(slot, item.key, windows, contexts);
    }
}

/// Which of up to 64 contexts agree with this one on either side. Sides that are 0 agree with none.
#[inline(always)]
fn agreeing(context: u32, contexts: &[u32]) -> u64 {
    const NO_SIDE: u32 = 0x1_0000;
    let side = |side: u32| if side == 0 { NO_SIDE } else { side };
    let (left, right) = (side(context >> 16), side(context & 0xFFFF));
    let mut mask = 0;
    for (i, other) in contexts.iter().enumerate() {
        let agrees = other >> 16 == left || other & 0xFFFF == right;
        mask |= u64::from(agrees) << i;
    }
    mask
}
