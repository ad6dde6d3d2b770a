//! What is lost where passages are cut: text that stands nowhere any more, since its other places are cut, too, in parts.
//!
//! A removed unit stands if it is in a window that equals a window of kept text. [`LostUnits::count`] looks the windows up in
//! memory; `disk/lost.rs` sorts them. Which windows are kept, and which units count, is said here for both.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::cuts::Cuts;
use super::first_places::WindowSegment;
use super::twins::SearchedText;
use super::units::{PassageUnits, UnitTexts};
use simgpu::clock::in_parallel;
use simgpu::simd::minima::Symbol;

/// The units that are removed, and of them those that stand in no passage of the least length any more that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LostUnits {
    pub(crate) removed: u64,
    pub(crate) lost: u64,
}

impl LostUnits {
    /// Counts them. The first documents, which have no cuts, are a reference: it is kept.
    pub(crate) fn count<S: Symbol>(
        searched: &SearchedText<'_, S>,
        units: PassageUnits,
        texts: &UnitTexts,
        cuts: &Cuts,
    ) -> Self {
        let documents = texts.documents();
        let runs = |document: usize| documents[document]..documents[document + 1];
        // By first place: whether the window is kept whole somewhere.
        let stands: Box<[AtomicBool]> = bytemuck::zeroed_slice_box(searched.text.symbols.len());
        let keep = |document: usize| {
            for run in runs(document) {
                let windows = searched.windows(run);
                let cuts = removed_symbols(texts, cuts, document, run);
                for divided in divide_windows(windows, searched.window, &cuts) {
                    for segment in searched.twins.segments(divided.kept) {
                        let stands = &stands[segment.places()];
                        stands
                            .iter()
                            .for_each(|window| window.store(true, Ordering::Relaxed));
                    }
                }
            }
        };
        in_parallel(|| (0..texts.len()).into_par_iter().for_each(keep));
        let count = |document: usize| {
            let mut counted = LostUnits::default();
            for run in runs(document) {
                let windows = searched.windows(run);
                let starts = UnitStarts {
                    start: searched.text.document_start(run),
                    stride: units.stride(),
                };
                for cut in removed_symbols(texts, cuts, document, run) {
                    // Windows between two cuts may touch both, so each cut has a look at all that touch it.
                    let touching = (cut.start + 1).saturating_sub(searched.window)..cut.end;
                    let windows = touching.start.max(windows.start)..touching.end.min(windows.end);
                    let segments = searched.twins.segments(windows);
                    counted.add_cut(&starts, cut, standing(segments, &stands, searched.window));
                }
            }
            counted
        };
        let sum = |a: LostUnits, b: LostUnits| LostUnits {
            removed: a.removed + b.removed,
            lost: a.lost + b.lost,
        };
        let counted = (0..texts.len()).into_par_iter().map(count);
        in_parallel(|| counted.reduce(LostUnits::default, sum))
    }

    /// Counts the units of a cut. The ranges of symbols that stand elsewhere ascend, and may overlap.
    pub(super) fn add_cut(
        &mut self,
        starts: &UnitStarts,
        cut: Range<usize>,
        standing: impl Iterator<Item = Range<usize>>,
    ) {
        let all = starts.within(cut.clone());
        self.removed += all;
        self.lost += all - starts.shared(cut, standing);
    }
}

/// The symbols of the windows of which the first places stand, as ranges that ascend and may overlap.
fn standing<'a>(
    segments: impl Iterator<Item = WindowSegment> + 'a,
    all: &'a [AtomicBool],
    window: usize,
) -> impl Iterator<Item = Range<usize>> + 'a {
    segments.flat_map(move |segment| {
        let mut next = segment.first;
        let stands = |window: &AtomicBool| window.load(Ordering::Relaxed);
        let equal = all[segment.places()].chunk_by(move |a, b| stands(a) == stands(b));
        equal.filter_map(move |equal| {
            let first = next;
            next += equal.len();
            stands(&equal[0]).then(|| first..next - 1 + window)
        })
    })
}

/// Windows of a run of symbols up to the end of a cut.
pub(super) struct DividedWindows {
    /// Those behind the last cut that share no symbol with this one.
    pub(super) kept: Range<usize>,
    /// Those that share a symbol with this cut, but not with the last one.
    pub(super) touched: Range<usize>,
}

/// Divides the windows of a run of symbols by the cuts, which ascend. The last ones are those behind all cuts.
pub(super) fn divide_windows(
    windows: Range<usize>,
    window: usize,
    cuts: &[Range<usize>],
) -> impl Iterator<Item = DividedWindows> + '_ {
    let mut next = windows.start;
    cuts.iter().map(Some).chain([None]).map(move |cut| {
        let touched = match cut {
            Some(cut) => {
                let first = (cut.start + 1).saturating_sub(window);
                let first = first.clamp(next, windows.end);
                first..cut.end.clamp(first, windows.end)
            }
            None => windows.end..windows.end,
        };
        let kept = next..touched.start;
        next = touched.end;
        DividedWindows { kept, touched }
    })
}

/// Which symbols of a run begin a unit: the first, and each at a multiple of steps behind it.
pub(super) struct UnitStarts {
    pub(super) start: usize,
    pub(super) stride: usize,
}

impl UnitStarts {
    /// The number of units that begin at these symbols.
    fn within(&self, symbols: Range<usize>) -> u64 {
        let before = |symbol: usize| (symbol - self.start).div_ceil(self.stride);
        (before(symbols.end) - before(symbols.start)) as u64
    }

    /// The number of units that begin at these symbols and in one of the ranges, which ascend.
    fn shared(&self, symbols: Range<usize>, ranges: impl Iterator<Item = Range<usize>>) -> u64 {
        let mut next = symbols.start;
        let mut shared = 0;
        for range in ranges {
            let part = range.start.max(next)..range.end.min(symbols.end);
            if part.start < part.end {
                next = part.end;
                shared += self.within(part);
            }
            if next == symbols.end {
                break;
            }
        }
        shared
    }
}

/// The symbols of a run of a document that are removed, as ranges that ascend and do not touch: those that are cut, even in
/// part, or all of a document that is removed.
pub(super) fn removed_symbols(
    texts: &UnitTexts,
    cuts: &Cuts,
    document: usize,
    run: usize,
) -> Vec<Range<usize>> {
    let symbols = texts.run_symbols(run);
    let mut removed: Vec<Range<usize>> = Vec::new();
    let (document_cuts, is_removed) = (cuts.cut_out(document), cuts.is_removed(document));
    if symbols.is_empty() || document_cuts.is_empty() && !is_removed {
        return removed;
    }
    if is_removed {
        removed.push(symbols);
        return removed;
    }
    let [first, last] =
        [symbols.start, symbols.end - 1].map(|symbol| texts.bytes_of_symbol(document, symbol));
    let bytes = first.start..last.end;
    let first = document_cuts.partition_point(|[_, end]| *end as usize <= bytes.start);
    for [start, end] in &document_cuts[first..] {
        if *start as usize >= bytes.end {
            break;
        }
        let cut = texts.symbols_at(run, *start as usize..*end as usize);
        match removed.last_mut() {
            Some(last) if cut.start <= last.end => last.end = last.end.max(cut.end),
            _ if cut.is_empty() => {}
            _ => removed.push(cut),
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::search::{PassageSearch, Symbols};
    use crate::units::PassageUnit;
    use simgpu::pipeline::UnitPlaces;
    use simgpu::progress::Silent;

    /// A random number below `end`.
    fn random(state: &mut u64, end: usize) -> usize {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 33).unwrap() % end
    }

    /// The bytes of windows of `len` bytes that are kept whole somewhere, by comparing all with all; and the removed bytes.
    fn lost_by_definition(texts: &[String], cuts: &Cuts, len: usize) -> LostUnits {
        let is_removed = |document: usize, at: usize| {
            let is_in = |cut: &[u32; 2]| (cut[0] as usize..cut[1] as usize).contains(&at);
            cuts.is_removed(document) || cuts.cut_out(document).iter().any(is_in)
        };
        let mut kept: Vec<&[u8]> = Vec::new();
        for (document, text) in texts.iter().enumerate() {
            for (start, window) in text.as_bytes().windows(len).enumerate() {
                if (start..start + len).all(|at| !is_removed(document, at)) {
                    kept.push(window);
                }
            }
        }
        let mut counted = LostUnits::default();
        for (document, text) in texts.iter().enumerate() {
            let mut stands = vec![false; text.len()];
            for (start, window) in text.as_bytes().windows(len).enumerate() {
                if kept.contains(&window) {
                    stands[start..start + len].fill(true);
                }
            }
            for (at, stands) in stands.into_iter().enumerate() {
                if is_removed(document, at) {
                    counted.removed += 1;
                    counted.lost += u64::from(!stands);
                }
            }
        }
        counted
    }

    #[test]
    fn what_is_lost_is_what_stands_nowhere() {
        let mut some_are_lost = 0;
        for seed in 0..40 {
            let state = &mut { seed };
            let len = 2 + random(state, 4);
            let letters = |state: &mut u64| {
                (0..random(state, 30))
                    .map(|_| ['a', 'b', 'c'][random(state, 3)])
                    .collect()
            };
            let texts: Vec<String> = (0..6).map(|_| letters(state)).collect();
            let mut cuts = Cuts::default();
            for text in &texts {
                match random(state, 5) {
                    0 => cuts.push_dropped(),
                    1 => cuts.push([]),
                    _ => {
                        let from = random(state, text.len() + 1);
                        let to = from + random(state, text.len() - from + 1);
                        cuts.push((from < to).then_some(from..to));
                    }
                }
            }
            let units = PassageUnits {
                min_length: NonZeroUsize::new(len).unwrap(),
                ..PassageUnits::of(PassageUnit::Bytes)
            };
            let mut all = UnitTexts::default();
            for text in &texts {
                all.push(text, units, &mut UnitPlaces::default()).unwrap();
            }
            let (Symbols::Bytes(symbols), ends) = all.symbols() else {
                panic!("bytes are bytes");
            };
            let search = PassageSearch::new(units.symbols());
            let text = search.text(symbols, ends).unwrap();
            let twins = search.twins(&text, &Silent).unwrap();
            let searched = SearchedText {
                text: &text,
                window: len,
                twins: &twins,
            };
            let counted = LostUnits::count(&searched, units, &all, &cuts);
            assert_eq!(counted, lost_by_definition(&texts, &cuts, len), "{seed}");
            some_are_lost += counted.lost;
        }
        assert!(some_are_lost > 50);
    }
}
