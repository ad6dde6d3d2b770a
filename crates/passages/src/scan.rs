//! One pass over documents in order, which finds an earlier twin of every window that has one.
//!
//! [`KnownWindows`] holds the windows that were new. A run of windows found there is compared from the anchor outwards, and a
//! match is followed along its diagonal as far as the texts agree: all windows inside are repeats, which need no anchor and
//! no entry, and the scan goes on behind them.
//!
//! **Keys with many runs become heavy.** Boilerplate that differs in a word, or a phrase shorter than a window, leads
//! thousands of distinct windows to one anchor. From 32 runs on, the windows of a key go down a level, by the
//! place of the anchor in the window, in cells of a third of the places each, down to one. All windows of a cell contain
//! one core; its hash is their key.
//!
//! **Contexts spare comparisons.** Within a group, each run has two hashes of 16 bits: of half of the symbols that a
//! window has beside the core, on the left and on the right. A window has half of them on one side, so runs that agree on
//! neither side share no window.
//!
//! *Why it is exact.* The first of all equal windows is no repeat, so it is entered, under a key that depends on the window
//! alone; when a key becomes heavy, all its windows move, and never back. Any other of them is passed over in a match, or
//! compared with all windows of its key before it is entered. Threads pass over parts of the text at the same time. So of two
//! windows, the one that is entered first may be the later one; then the earlier one meets it, and the match is turned, but the
//! earlier one is entered, too. Nothing is a repeat that was not compared symbol by symbol.
//!
//! **A match may skip ahead only from windows that are decided**: one that begins behind a gap says nothing of the gap.

use super::hash::hash;
use super::items::{Match, MatchEnd, Reach, ScanItem};
use super::known::{AnchoredWindows, KnownWindows, Rooms, SlotEntry};
use super::lengths::Lengths;
use super::text::Text;
use simgpu::simd::minima::{Anchors, MOST_WINDOWS, Region, Symbol};

/// Windows of the first block after a match, which the next match may end soon.
const FIRST_BLOCK: usize = 256;

/// Bits of a key that are its level.
const LEVEL: u32 = 15;

/// A match that begins ahead, on the diagonal of the last one.
#[derive(Clone, Copy)]
struct AheadMatch {
    matched: Match,
    /// The end of the document of the source.
    source_end: usize,
}

/// A pass over documents.
pub(super) struct Scan<'a, S> {
    pub(super) text: &'a Text<'a, S>,
    pub(super) lengths: &'a Lengths,
    anchors: Anchors<S>,
    pub(super) rooms: Rooms,
    /// In order of their first symbols, but for those of one anchor.
    pub(super) matches: Vec<Match>,
    /// Those of windows that other threads passed over before earlier ones, in no order.
    pub(super) later: Vec<Match>,
    /// Where the document ends.
    pub(super) end: usize,
    regions: Vec<Region>,
    items: Vec<ScanItem>,
    split_items: Vec<ScanItem>,
}

impl<'a, S: Symbol> Scan<'a, S> {
    pub(super) fn new(text: &'a Text<'a, S>, lengths: &'a Lengths) -> Self {
        Scan {
            text,
            lengths,
            anchors: Anchors::new(text.isa, lengths.grams),
            rooms: Rooms::default(),
            matches: Vec::new(),
            later: Vec::new(),
            end: 0,
            regions: Vec::new(),
            items: Vec::new(),
            split_items: Vec::new(),
        }
    }

    /// Bytes of memory of what it holds.
    pub(super) fn bytes(&self) -> u64 {
        let matches = self.matches.capacity() + self.later.capacity();
        (size_of::<Match>() * matches) as u64
    }

    /// Passes over a document that ends at `to`, from window `next` on. Returns the window from which on it must go on when
    /// the table is larger.
    pub(super) fn scan(
        &mut self,
        known: &KnownWindows,
        mut next: usize,
        to: usize,
    ) -> Option<usize> {
        self.end = to;
        let end = next + self.lengths.windows(to - next);
        // Blocks grow while nothing matches: what is listed of windows that a match passes over is listed in vain.
        let mut block = FIRST_BLOCK;
        let mut ahead: Option<AheadMatch> = None;
        while next < end {
            if known.is_crowded() {
                return Some(next);
            }
            let mut stop = end;
            if let Some(coming) = ahead {
                let Match { from, to, source } = coming.matched;
                // All windows before the match are decided, so it may skip to its end.
                if next >= from {
                    self.matches.push(coming.matched);
                    next = next.max(to + 1 - self.lengths.window);
                    let ended = MatchEnd {
                        here: to,
                        there: source + to - from,
                    };
                    ahead = self.follow(ended, coming.source_end);
                    block = FIRST_BLOCK;
                    continue;
                }
                stop = from;
            }
            self.list(known, next, block.min(stop - next), stop);
            let reach = self.decide_items(known, next);
            block = match reach.end {
                None => (2 * block).min(MOST_WINDOWS),
                Some(ended) => {
                    if ahead.is_none_or(|ahead| ahead.matched.from < reach.next) {
                        let source_end = self.text.document_end(ended.there - 1);
                        ahead = self.follow(ended, source_end);
                    }
                    FIRST_BLOCK
                }
            };
            next = reach.next;
        }
        None
    }

    /// Lists the items of `count` windows from `next` on, of those before `stop`, with what they lead to on its way from
    /// memory. Those of heavy keys are listed by cells.
    fn list(&mut self, known: &KnownWindows, next: usize, count: usize, stop: usize) {
        let symbols = &self.text.symbols[next..];
        let regions = &mut self.regions;
        regions.clear();
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
            ScanItem {
                level: 0,
                key: self.key(0, anchor, last),
                anchor,
                first: next + region.first,
                last,
            }
        }));
        for item in &items {
            known.prefetch_slot(item.key);
        }
        if items.len() > 3 {
            while self.list_cells(known, &mut items) {}
            for item in &items {
                known.prefetch_found(item.key);
            }
            for item in &items {
                self.prefetch_text(known, item.key);
            }
        }
        self.items = items;
    }

    /// Replaces items of heavy keys by those of their cells, and returns whether there were any.
    fn list_cells(&mut self, known: &KnownWindows, items: &mut Vec<ScanItem>) -> bool {
        let is_heavy = |item: &ScanItem| known.found_at_home(item.key) == SlotEntry::Cells;
        let Some(first) = items.iter().position(is_heavy) else {
            return false;
        };
        let mut listed = std::mem::take(&mut self.split_items);
        listed.clear();
        listed.extend_from_slice(&items[..first]);
        for item in &items[first..] {
            if known.found_at_home(item.key) != SlotEntry::Cells {
                listed.push(*item);
                continue;
            }
            for cell in self.cells(*item) {
                known.prefetch_slot(cell.key);
                listed.push(cell);
            }
        }
        self.split_items = std::mem::replace(items, listed);
        true
    }

    #[inline(always)]
    fn prefetch_text(&self, known: &KnownWindows, key: u32) {
        if let SlotEntry::One(one) = known.found_at_home(key) {
            simgpu::simd::prefetch(self.text.symbols, known.one(one).anchor());
        }
    }

    /// Decides the listed items from window `next` on, up to a match that goes on behind them.
    fn decide_items(&mut self, known: &KnownWindows, mut next: usize) -> Reach {
        let items = std::mem::take(&mut self.items);
        let listed = items.last().map_or(0, |item| item.last);
        let mut ended = None;
        for item in &items {
            // A match passed over it.
            if item.last < next {
                continue;
            }
            if known.is_crowded() {
                break;
            }
            let item = ScanItem {
                first: item.first.max(next),
                ..*item
            };
            let reach = self.decide(known, item);
            next = reach.next;
            if reach.end.is_some() && next > item.last + 1 && next >= listed {
                ended = reach.end;
                break;
            }
        }
        self.items = items;
        Reach { next, end: ended }
    }

    /// The match behind the symbols that ended a match, if the texts there agree for a window or more.
    fn follow(&self, ended: MatchEnd, source_end: usize) -> Option<AheadMatch> {
        let (from, source) = (ended.here + 1, ended.there + 1);
        let limit = (self.end.checked_sub(from)?).min(source_end.checked_sub(source)?);
        if limit < self.lengths.window {
            return None;
        }
        let len = self.text.agree_ahead(from, source, limit);
        (len >= self.lengths.window).then_some(AheadMatch {
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
    pub(super) fn key(&self, level: usize, anchor: usize, window: usize) -> u32 {
        let (from, to) = match level {
            0 => (anchor, anchor + self.lengths.grams.gram),
            _ => self.lengths.core(level, anchor, window),
        };
        // Equal windows have their anchor at the same place of the core, so it is part of the key.
        let seed = ((level as u64) << 16) + (anchor - from) as u64;
        let hash = hash(self.text.bytes(from, to), seed);
        (hash >> 32) as u32 & !LEVEL | level as u32
    }

    /// The windows of an item from `first` on that are in one cell of a level.
    #[inline(always)]
    pub(super) fn cell(&self, level: usize, item: ScanItem, first: usize) -> ScanItem {
        let last = self.lengths.last_of_cell(level, item.anchor, first);
        let last = last.min(item.last);
        ScanItem {
            level,
            key: self.key(level, item.anchor, last),
            anchor: item.anchor,
            first,
            last,
        }
    }

    /// The windows of an item by the cells of the next level.
    #[inline(always)]
    pub(super) fn cells(&self, item: ScanItem) -> impl Iterator<Item = ScanItem> {
        let mut first = item.first;
        std::iter::from_fn(move || {
            let cell = (first <= item.last).then(|| self.cell(item.level + 1, item, first))?;
            first = cell.last + 1;
            Some(cell)
        })
    }

    /// Two hashes of 16 bits of the symbols beside the core, on each side as many as any window has on one of them; 0 where
    /// the run of windows has not as many.
    #[allow(clippy::cast_possible_truncation, reason = "bits of a hash")]
    #[inline(always)]
    pub(super) fn context(&self, level: usize, windows: AnchoredWindows) -> u32 {
        let beside = self.lengths.cells[level] - 1;
        if beside == 0 {
            return 0;
        }
        let last = windows.last();
        let (from, to) = self.lengths.core(level, windows.anchor(), last);
        let left = beside.div_ceil(2);
        let right = beside - left + 1;
        let mut context = 0;
        // The lowest bit is set, since 0 says that there is no hash.
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
}
