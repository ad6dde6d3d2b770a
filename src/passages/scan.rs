//! One pass over documents in order, which finds an earlier twin of every window that has one.
//!
//! [`Known`] holds the windows that were new. A run of windows found there is compared from the anchor outwards, and a
//! match is followed along its diagonal as far as the texts agree: all windows inside are repeats, which need no anchor and
//! no entry, and the scan goes on behind them.
//!
//! **Keys with many runs become heavy.** Boilerplate that differs in a word, or a phrase shorter than a window, leads
//! thousands of distinct windows to one anchor. From [`MOST_RUNS`] runs on, the windows of a key go down a level, by the
//! place of the anchor in the window, in cells of a third of the places each, down to one. All windows of a cell contain
//! one core; its hash is their key.
//!
//! **Contexts spare comparisons.** Within a group, each run has two hashes of 16 bits: of half of the symbols that a
//! window has beside the core, on the left and on the right. A window has half of them on one side, so runs that agree on
//! neither side share no window.
//!
//! *Why it is exact.* Once a window is passed, an equal one that is no later is known under the key where any equal window
//! is looked up: new windows are entered, and those skipped were compared equal to an earlier one, of which the same is
//! true. The key depends on the window alone; when a key becomes heavy, all its windows move, and never back. Nothing is a
//! repeat that was not compared symbol by symbol.
//!
//! **A match may skip ahead only from windows that are decided**: one that begins behind a gap says nothing of the gap.

use super::hash::hash;
use super::known::{Found, Known, Windows};
use super::lengths::Lengths;
use super::text::Text;
use crate::simd::minima::{Anchors, MOST_WINDOWS, Region, Symbol};

/// Runs of windows of a key from which on it is heavy.
const MOST_RUNS: usize = 32;

/// Windows of the first block after a match, which the next match may end soon.
const FIRST_BLOCK: usize = 256;

/// Bits of a key that are its level.
const LEVEL: u32 = 15;

/// Symbols from `from` to `to` that equal as many from `source` on, which begin earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) source: usize,
}

/// Windows with one anchor, and their key on a level.
#[derive(Clone, Copy)]
struct Item {
    level: usize,
    key: u32,
    anchor: usize,
    first: usize,
    last: usize,
}

impl Item {
    fn windows(self) -> Windows {
        Windows::new(self.anchor, self.first, self.last)
    }
}

/// What is decided: all windows before `next`. If a match reaches it, it ends there and here.
#[derive(Clone, Copy)]
struct Reach {
    next: usize,
    end: Option<(usize, usize)>,
}

impl Reach {
    fn behind(last: usize) -> Self {
        Reach {
            next: last + 1,
            end: None,
        }
    }

    /// Notes a match that ends with this window, here and there.
    fn extend(&mut self, next: usize, end: (usize, usize)) {
        if next > self.next || self.end.is_none() {
            *self = Reach {
                next: next.max(self.next),
                end: Some(end),
            };
        }
    }
}

/// The windows of an item that are not known to be repeats: a hull, out of which some may be repeats.
struct Open {
    first: usize,
    end: usize,
    inside: Vec<(usize, usize)>,
}

impl Open {
    fn close(&mut self, first: usize, end: usize) {
        if first <= self.first {
            self.first = self.first.max(end);
        } else if end >= self.end {
            self.end = self.end.min(first);
        } else {
            self.inside.push((first, end));
        }
    }

    fn is_empty(&self) -> bool {
        self.first >= self.end
    }

    /// Shrinks the hull as far as what was closed inside of it allows.
    fn shrink(&mut self) {
        self.inside.sort_unstable();
        for (first, end) in &self.inside {
            if *first <= self.first {
                self.first = self.first.max(*end);
            }
        }
        for (first, end) in self.inside.iter().rev() {
            if *end >= self.end {
                self.end = self.end.min(*first);
            }
        }
    }
}

/// A match that begins ahead, on the diagonal of the last one.
#[derive(Clone, Copy)]
struct Ahead {
    matched: Match,
    /// The end of the document of the source.
    source_end: usize,
}

/// A pass over documents.
pub(super) struct Scan<'a, S> {
    text: &'a Text<'a, S>,
    lengths: &'a Lengths,
    anchors: Anchors<S>,
    pub(super) known: Known,
    /// What an earlier part of the text knows, when later windows are looked up there.
    earlier: Option<&'a Known>,
    /// In order of their first symbols, but for those of one anchor.
    pub(super) matches: Vec<Match>,
    /// The windows that were entered, unless nobody asks.
    pub(super) entered: Option<Vec<Windows>>,
    /// The number of entries.
    entries: u64,
    /// Where the document begins and ends.
    document: (usize, usize),
    regions: Vec<Region>,
    items: Vec<Item>,
    split_items: Vec<Item>,
}

impl<'a, S: Symbol> Scan<'a, S> {
    pub(super) fn new(text: &'a Text<'a, S>, lengths: &'a Lengths) -> Self {
        Scan {
            text,
            lengths,
            anchors: Anchors::new(text.isa, lengths.grams),
            known: Known::new(),
            earlier: None,
            matches: Vec::new(),
            entered: None,
            entries: 0,
            document: (0, 0),
            regions: Vec::new(),
            items: Vec::new(),
            split_items: Vec::new(),
        }
    }

    /// Passes over a document.
    pub(super) fn scan(&mut self, from: usize, to: usize) {
        let windows = self.lengths.windows(to - from);
        if windows == 0 {
            return;
        }
        self.document = (from, to);
        let end = from + windows;
        let (mut next, mut block) = (from, FIRST_BLOCK);
        let mut ahead: Option<Ahead> = None;
        while next < end {
            let mut stop = end;
            if let Some(known) = ahead {
                let Match { from, to, source } = known.matched;
                if next >= from {
                    self.matches.push(known.matched);
                    next = next.max(to + 1 - self.lengths.window);
                    ahead = self.follow((to, source + to - from), known.source_end);
                    block = FIRST_BLOCK;
                    continue;
                }
                stop = from;
            }
            self.list(next, block.min(stop - next), stop);
            let reach = self.decide_items(next);
            block = match reach.end {
                None => (2 * block).min(MOST_WINDOWS),
                Some((here, there)) => {
                    if ahead.is_none_or(|ahead| ahead.matched.from < reach.next) {
                        ahead = self.follow((here, there), self.text.document_end(there - 1));
                    }
                    FIRST_BLOCK
                }
            };
            next = reach.next;
        }
    }

    /// Lists the items of `count` windows from `next` on, of those before `stop`, with what they lead to on its way from
    /// memory. Those of heavy keys are listed by cells.
    fn list(&mut self, next: usize, count: usize, stop: usize) {
        let symbols = &self.text.symbols[next..];
        let regions = &mut self.regions;
        regions.clear();
        let window = self.lengths.window;
        let symbols = &symbols[..count + window - 1];
        self.anchors
            .regions(symbols, count, |region| regions.push(region));
        // The last region may go on in the next block.
        if next + count < stop && regions.len() > 1 {
            regions.pop();
        }
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        items.extend(self.regions.iter().map(|region| {
            let (anchor, last) = (next + region.anchor, next + region.last);
            Item {
                level: 0,
                key: self.key(0, anchor, last),
                anchor,
                first: next + region.first,
                last,
            }
        }));
        for item in &items {
            self.known.prefetch_slot(item.key);
        }
        if items.len() > 3 {
            self.list_cells(&mut items);
            for item in &items {
                self.known.prefetch_found(item.key);
            }
            for item in &items {
                self.prefetch_text(&self.known, item.key);
            }
        }
        self.items = items;
    }

    /// Replaces items of heavy keys by those of their cells.
    fn list_cells(&mut self, items: &mut Vec<Item>) {
        let mut listed = std::mem::take(&mut self.split_items);
        listed.clear();
        for item in &*items {
            if self.known.found_at_home(item.key) != Found::Cells {
                listed.push(*item);
                continue;
            }
            let mut first = item.first;
            while first <= item.last {
                let cell = self.cell(1, *item, first);
                self.known.prefetch_slot(cell.key);
                listed.push(cell);
                first = cell.last + 1;
            }
        }
        self.split_items = std::mem::replace(items, listed);
    }

    #[inline(always)]
    fn prefetch_text(&self, known: &Known, key: u32) {
        if let Found::One(one) = known.found_at_home(key) {
            crate::simd::prefetch(self.text.symbols, known.one(one).anchor());
        }
    }

    /// Decides the listed items from window `next` on, up to a match that goes on behind them.
    fn decide_items(&mut self, mut next: usize) -> Reach {
        let items = std::mem::take(&mut self.items);
        let listed = items.last().map_or(0, |item| item.last);
        let mut ended = None;
        for item in &items {
            if item.last < next {
                continue;
            }
            let entries = self.entries;
            let item = Item {
                first: item.first.max(next),
                ..*item
            };
            let reach = self.decide::<true>(item);
            if let (Some(entered), true) = (&mut self.entered, self.entries != entries) {
                entered.push(item.windows());
            }
            next = reach.next;
            if reach.end.is_some() && next > item.last + 1 && next >= listed {
                ended = reach.end;
                break;
            }
        }
        self.items = items;
        Reach { next, end: ended }
    }

    /// A match ended here and there, where the next symbols differ. Do the texts behind agree for a window or more?
    fn follow(&self, (here, there): (usize, usize), source_end: usize) -> Option<Ahead> {
        let (from, source) = (here + 1, there + 1);
        let limit = (self.document.1.checked_sub(from)?).min(source_end.checked_sub(source)?);
        if limit < self.lengths.window {
            return None;
        }
        let len = self.text.agree_ahead(from, source, limit);
        (len >= self.lengths.window).then_some(Ahead {
            matched: Match {
                from,
                to: from + len,
                source,
            },
            source_end,
        })
    }

    /// The key of the windows of a cell that contains `window`.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "bits of a hash, and levels"
    )]
    #[inline(always)]
    fn key(&self, level: usize, anchor: usize, window: usize) -> u32 {
        let (from, to) = match level {
            0 => (anchor, anchor + self.lengths.grams.gram),
            _ => self.lengths.core(level, anchor, window),
        };
        let seed = ((level as u64) << 16) + (anchor - from) as u64;
        let hash = hash(self.text.bytes(from, to), seed);
        (hash >> 32) as u32 & !LEVEL | level as u32
    }

    /// The windows of an item from `first` on that are in one cell of a level.
    #[inline(always)]
    fn cell(&self, level: usize, of: Item, first: usize) -> Item {
        let last = self.lengths.last_of_cell(level, of.anchor, first);
        let last = last.min(of.last);
        Item {
            level,
            key: self.key(level, of.anchor, last),
            anchor: of.anchor,
            first,
            last,
        }
    }

    /// Two hashes of 16 bits of the symbols beside the core, on each side as many as any window has on one of them; 0 where
    /// the run of windows has not as many.
    #[allow(clippy::cast_possible_truncation, reason = "bits of a hash")]
    #[inline(always)]
    fn context(&self, level: usize, windows: Windows) -> u32 {
        let beside = self.lengths.cells[level] - 1;
        if beside == 0 {
            return 0;
        }
        let last = windows.last();
        let (from, to) = self.lengths.core(level, windows.anchor(), last);
        let left = beside.div_ceil(2);
        let right = beside - left + 1;
        let mut context = 0;
        if from >= windows.first() + left {
            let hash = hash(self.text.bytes(from - left, from), 1);
            context |= (hash as u32 | 1) << 16;
        }
        if last + self.lengths.window >= to + right {
            let hash = hash(self.text.bytes(to, to + right), 2);
            context |= (hash as u32 | 1) & 0xFFFF;
        }
        context
    }

    /// What is asked: what this pass knows, if it enters new windows there, or what an earlier part knows.
    #[inline(always)]
    fn asked<const ENTERS: bool>(&self) -> &Known {
        match self.earlier {
            Some(earlier) if !ENTERS => earlier,
            _ => &self.known,
        }
    }

    /// Finds the windows of an item that are repeats, and enters the others.
    fn decide<const ENTERS: bool>(&mut self, item: Item) -> Reach {
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
        for windows in runs {
            self.enter_cells(Item {
                anchor: windows.anchor(),
                first: windows.first(),
                last: windows.last(),
                ..item
            });
        }
        self.enter_cells(item);
    }

    /// Enters windows of a heavy key into their cells: new ones, or, of those before, some that were between new ones.
    fn enter_cells(&mut self, item: Item) {
        let mut first = item.first;
        while first <= item.last {
            let cell = self.cell(item.level + 1, item, first);
            first = cell.last + 1;
            let slot = self.known.slot(cell.key);
            match self.known.found(slot) {
                Found::Cells => self.enter_cells(cell),
                Found::Nothing => self.enter(slot, cell),
                found => self.enter_beside(slot, found, cell),
            }
        }
    }

    fn enter(&mut self, slot: usize, item: Item) {
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

/// Windows of a batch that are looked up with all they lead to on its way from memory.
const LOOKED_UP: usize = 48;

impl<'a, S: Symbol> Scan<'a, S> {
    /// A pass that looks up windows of later documents in what an earlier part knows.
    pub(super) fn across(text: &'a Text<'a, S>, lengths: &'a Lengths, earlier: &'a Known) -> Self {
        Scan {
            earlier: Some(earlier),
            ..Scan::new(text, lengths)
        }
    }

    /// Looks up windows, in the order of the text. Most of them are new in their own part.
    pub(super) fn look_up(&mut self, entered: &[Windows]) {
        let Some(earlier) = self.earlier else {
            return;
        };
        let mut next = 0;
        for batch in entered.chunks(LOOKED_UP) {
            let items: Vec<Item> = batch.iter().map(|windows| self.item(*windows)).collect();
            for item in &items {
                earlier.prefetch_slot(item.key);
            }
            for item in &items {
                earlier.prefetch_found(item.key);
            }
            for item in &items {
                self.prefetch_text(earlier, item.key);
            }
            for item in items {
                if item.last < next {
                    continue;
                }
                if !(self.document.0..self.document.1).contains(&item.anchor) {
                    let document = self.text.document_at(item.anchor);
                    let start = self.text.document_start(document);
                    self.document = (start, self.text.ends[document]);
                }
                let first = item.first.max(next);
                next = self.decide::<false>(Item { first, ..item }).next;
            }
        }
    }

    fn item(&self, windows: Windows) -> Item {
        let (anchor, last) = (windows.anchor(), windows.last());
        Item {
            level: 0,
            key: self.key(0, anchor, last),
            anchor,
            first: windows.first(),
            last,
        }
    }
}
