//! What is lost where passages are cut: text that stands nowhere any more, since its other places are cut, too, in parts.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::choice::windows_of;
use super::classes::Segment;
use super::cuts::Cuts;
use super::search::Passages;
use super::sources::TwinRuns;
use super::text::Text;
use super::units::{PassageUnits, UnitTexts};
use simgpu::clock::in_parallel;
use simgpu::simd::minima::Symbol;

/// The passages of documents, and what is cut.
pub(crate) struct Found {
    pub(crate) passages: Passages,
    pub(crate) cuts: Cuts,
    /// The covered bytes of each document that is removed, in order.
    pub(crate) covered: Vec<usize>,
    pub(crate) lost: Lost,
}

/// The units that are removed, and of them those that stand in no passage of the least length any more that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) removed: u64,
    pub(crate) lost: u64,
}

impl Lost {
    /// Counts them. The first documents, which have no cuts, are a reference: it is kept.
    pub(crate) fn count<S: Symbol>(
        text: &Text<'_, S>,
        twins: &TwinRuns,
        units: PassageUnits,
        (texts, cuts): (&UnitTexts, &Cuts),
    ) -> Self {
        let window = units.symbols().get();
        let documents = texts.documents();
        // By first place: whether the window is kept whole somewhere.
        let stands: Box<[AtomicBool]> = bytemuck::zeroed_slice_box(text.symbols.len());
        let keep = |windows: Range<usize>| {
            for segment in Segment::all(twins, windows) {
                let stands = &stands[segment.places()];
                stands
                    .iter()
                    .for_each(|of| of.store(true, Ordering::Relaxed));
            }
        };
        let keep_of = |document: usize| {
            for run in documents[document]..documents[document + 1] {
                let windows = windows_of(text, window, run);
                let mut next = windows.start;
                for cut in removed_symbols(texts, cuts, document, run) {
                    keep(next..(cut.start + 1).saturating_sub(window));
                    next = cut.end;
                }
                keep(next..windows.end);
            }
        };
        in_parallel(|| (0..texts.len()).into_par_iter().for_each(keep_of));
        let count = |document: usize| {
            let mut counted = Lost::default();
            for run in documents[document]..documents[document + 1] {
                let windows = windows_of(text, window, run);
                for cut in removed_symbols(texts, cuts, document, run) {
                    let touching = (cut.start + 1).saturating_sub(window)..cut.end;
                    let windows = touching.start.max(windows.start)..touching.end.min(windows.end);
                    let units = Units {
                        start: text.document_start(run),
                        stride: units.stride(),
                    };
                    let all = units.within(cut.clone());
                    let segments = Segment::all(twins, windows);
                    let standing = standing(segments, &stands, window);
                    counted.removed += all;
                    counted.lost += all - units.shared(cut, standing);
                }
            }
            counted
        };
        let sum = |a: Lost, b: Lost| Lost {
            removed: a.removed + b.removed,
            lost: a.lost + b.lost,
        };
        let counted = (0..texts.len()).into_par_iter().map(count);
        in_parallel(|| counted.reduce(Lost::default, sum))
    }
}

/// The symbols of the windows of which the first places stand, as ranges that ascend and may overlap.
fn standing<'a>(
    segments: impl Iterator<Item = Segment> + 'a,
    all: &'a [AtomicBool],
    window: usize,
) -> impl Iterator<Item = Range<usize>> + 'a {
    segments.flat_map(move |segment| {
        let mut next = segment.first;
        let stands = |of: &AtomicBool| of.load(Ordering::Relaxed);
        let alike = all[segment.places()].chunk_by(move |a, b| stands(a) == stands(b));
        alike.filter_map(move |alike| {
            let first = next;
            next += alike.len();
            stands(&alike[0]).then(|| first..next - 1 + window)
        })
    })
}

/// Which symbols of a run begin a unit: the first, and each at a multiple of steps behind it.
struct Units {
    start: usize,
    stride: usize,
}

impl Units {
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
    let (cuts_of, is_removed) = (cuts.of(document), cuts.is_removed(document));
    if symbols.is_empty() || cuts_of.is_empty() && !is_removed {
        return removed;
    }
    if is_removed {
        removed.push(symbols);
        return removed;
    }
    let bytes_of = |symbol: usize| texts.bytes_of_symbol(document, symbol);
    let bytes = bytes_of(symbols.start).start..bytes_of(symbols.end - 1).end;
    let first = cuts_of.partition_point(|[_, end]| *end as usize <= bytes.start);
    for [start, end] in &cuts_of[first..] {
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
    fn by_definition(texts: &[String], cuts: &Cuts, len: usize) -> Lost {
        let is_removed = |document: usize, at: usize| {
            let is_in = |cut: &[u32; 2]| (cut[0] as usize..cut[1] as usize).contains(&at);
            cuts.is_removed(document) || cuts.of(document).iter().any(is_in)
        };
        let mut kept: Vec<&[u8]> = Vec::new();
        for (document, text) in texts.iter().enumerate() {
            for (start, window) in text.as_bytes().windows(len).enumerate() {
                if (start..start + len).all(|at| !is_removed(document, at)) {
                    kept.push(window);
                }
            }
        }
        let mut counted = Lost::default();
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
                    0 => cuts.push_removed(crate::cuts::Removal::MinLeft),
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
            let counted = Lost::count(&text, &twins, units, (&all, &cuts));
            assert_eq!(counted, by_definition(&texts, &cuts, len), "{seed}");
            some_are_lost += counted.lost;
        }
        assert!(some_are_lost > 50);
    }
}
