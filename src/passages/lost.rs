//! What is lost where passages are cut: text that stands nowhere any more, since its other places are cut, too, in parts.

use super::choice::windows_of;
use super::classes::Segment;
use super::cuts::Cuts;
use super::search::Passages;
use super::sources::TwinRuns;
use super::text::Text;
use super::units::{PassageUnits, UnitTexts};
use crate::simd::minima::Symbol;

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
        let is_removed = removed_symbols(texts, cuts, &documents);
        let mut stands = vec![false; text.symbols.len()];
        for run in 0..text.ends.len() {
            let windows = windows_of(text, window, run);
            let mut whole = windows.start;
            let mut seen = windows.start;
            for segment in Segment::all(twins, windows.clone()) {
                for (first, place) in segment.windows() {
                    while seen < first + window {
                        if is_removed[seen] {
                            whole = seen + 1;
                        }
                        seen += 1;
                    }
                    stands[place] |= first >= whole;
                }
            }
        }
        let mut counted = Lost::default();
        for run in 0..text.ends.len() {
            let mut found = 0;
            let (start, end) = (text.document_start(run), text.ends[run]);
            let windows = windows_of(text, window, run);
            let mut segments = Segment::all(twins, windows).flat_map(Segment::windows);
            let mut next = segments.next();
            for (symbol, is_removed) in (start..end).zip(&is_removed[start..end]) {
                while let Some((first, place)) = next.filter(|(first, _)| *first <= symbol) {
                    if stands[place] {
                        found = first + window;
                    }
                    next = segments.next();
                }
                if *is_removed && (symbol - start).is_multiple_of(units.stride()) {
                    counted.removed += 1;
                    counted.lost += u64::from(found <= symbol);
                }
            }
        }
        counted
    }
}

/// Whether each symbol is removed: cut, even in part, or of a document that is removed.
pub(super) fn removed_symbols(texts: &UnitTexts, cuts: &Cuts, documents: &[usize]) -> Vec<bool> {
    let (_, ends) = texts.symbols();
    let mut is_removed = vec![false; ends.last().copied().unwrap_or(0)];
    for document in 0..cuts.len() {
        let of_document = cuts.of(document);
        let is_whole = cuts.is_removed(document);
        if of_document.is_empty() && !is_whole {
            continue;
        }
        let mut at = 0;
        for run in documents[document]..documents[document + 1] {
            let symbols = texts.run_symbols(run);
            let of_run = &mut is_removed[symbols.clone()];
            for (symbol, is_removed) in symbols.zip(of_run) {
                let bytes = texts.bytes_of_symbol(document, symbol);
                while of_document
                    .get(at)
                    .is_some_and(|cut| cut[1] as usize <= bytes.start)
                {
                    at += 1;
                }
                let cut = of_document.get(at);
                let is_cut =
                    cut.is_some_and(|cut| (cut[0] as usize) < bytes.end.max(bytes.start + 1));
                *is_removed = is_whole || is_cut;
            }
        }
    }
    is_removed
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::passages::search::{PassageSearch, Symbols};
    use crate::passages::units::PassageUnit;
    use crate::pipeline::UnitPlaces;
    use crate::progress::Silent;

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
                    0 => cuts.push_removed(crate::passages::cuts::Removal::MinLeft),
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
