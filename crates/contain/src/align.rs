//! Aligns the words of an item with those of a document.
//!
//! Runs of equal words are found as by Ratcliff and Obershelp: the longest first, then left and right of it. Runs in order
//! are one chain as long as the document does not hold many words more between two of them than the item does.

use std::ops::Range;

/// The most words that the document may hold more than the item between two runs.
const MOST_BETWEEN: isize = 12;

/// How far from a run a single equal word counts.
const NEAR: usize = 3;

/// Where each word of an item stands in a document, if it does. Ascends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    at: Vec<Option<usize>>,
}

/// A run of equal words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    item: usize,
    document: usize,
    len: usize,
}

impl Alignment {
    /// Aligns an item with a window of a document, which begins with the word `first`.
    pub(super) fn new(item: &[u32], window: &[u32], first: usize) -> Self {
        let runs = runs(item, window);
        let mut at = vec![None; item.len()];
        for run in best_chain(&runs) {
            for k in 0..run.len {
                at[run.item + k] = Some(run.document + k);
            }
        }
        let mut alignment = Alignment { at };
        alignment.add_single_words(item, window, true);
        alignment.add_single_words(item, window, false);
        let places = alignment.at.iter_mut().flatten();
        places.for_each(|at| *at += first);
        alignment
    }

    /// The alignment of words from that of the symbols that they make up, each a range of words, in order.
    pub(super) fn expand(
        &self,
        item: &[Range<usize>],
        document: &[Range<usize>],
        first: usize,
    ) -> Self {
        let words = item.last().map_or(0, |last| last.end);
        let mut at = vec![None; words];
        for (i, place) in self.pairs() {
            let pairs = item[i].clone().zip(document[place].clone());
            for (i, place) in pairs {
                at[i] = Some(first + place);
            }
        }
        Alignment { at }
    }

    /// Where a word of the item stands.
    pub(super) fn get(&self, i: usize) -> Option<usize> {
        self.at.get(i).copied().flatten()
    }

    pub(super) fn has(&self, i: usize) -> bool {
        self.get(i).is_some()
    }

    /// Words of the item and of the document that are equal, in order.
    pub(super) fn pairs(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let pairs = self.at.iter().enumerate();
        pairs.filter_map(|(i, at)| at.map(|at| (i, at)))
    }

    pub(super) fn count(&self) -> usize {
        self.pairs().count()
    }

    /// The words of the document from the first to the last.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        Some(self.pairs().next()?.1..self.pairs().next_back()?.1 + 1)
    }

    /// The share of these words that are in place; 1 of none.
    pub(super) fn share(&self, words: impl ExactSizeIterator<Item = usize>) -> f64 {
        match words.len() {
            0 => 1.0,
            all => words.filter(|i| self.has(*i)).count() as f64 / all as f64,
        }
    }

    /// The most of these words in a row that are missing.
    pub(super) fn hole(&self, words: &[usize]) -> usize {
        let (mut worst, mut run) = (0, 0);
        for i in words {
            run = if self.has(*i) { 0 } else { run + 1 };
            worst = worst.max(run);
        }
        worst
    }

    /// Adds equal words beside a run, on its diagonal or at most one off it: the search for the longest run gave them away.
    fn add_single_words(&mut self, item: &[u32], window: &[u32], up: bool) {
        let step = if up { 1isize } else { -1 };
        let mut near: Option<usize> = None;
        for k in 0..item.len() {
            let i = if up { k } else { item.len() - 1 - k };
            if self.has(i) {
                near = Some(i);
                continue;
            }
            let Some((n, from)) = near.and_then(|n| Some((n, self.get(n)?))) else {
                continue;
            };
            if i.abs_diff(n) > NEAR {
                continue;
            }
            let beyond = if up {
                (i + 1..item.len()).find_map(|k| self.get(k))
            } else {
                (0..i).rev().find_map(|k| self.get(k))
            };
            let beside = |off| (from + i).checked_add_signed(off)?.checked_sub(n);
            let mut places = [0, step, -step].into_iter().filter_map(beside);
            let place = places.find(|at| {
                let is_beyond = |a: usize, b: usize| if up { a > b } else { a < b };
                is_beyond(*at, from)
                    && window.get(*at) == Some(&item[i])
                    && beyond.is_none_or(|beyond| is_beyond(beyond, *at))
            });
            if place.is_some() {
                self.at[i] = place;
                near = Some(i);
            }
        }
    }
}

/// All runs, in order; those that touch on both sides are one.
fn runs(item: &[u32], window: &[u32]) -> Vec<Run> {
    let mut sorted: Vec<usize> = (0..window.len()).collect();
    sorted.sort_unstable_by_key(|at| (window[*at], *at));
    let places = |word: &u32| {
        let first = sorted.partition_point(|at| window[*at] < *word);
        first..sorted.partition_point(|at| window[*at] <= *word)
    };
    let mut search = LongestRun {
        places: item.iter().map(places).collect(),
        sorted,
        lengths: [vec![0; window.len() + 1], vec![0; window.len() + 1]],
    };
    let (mut open, mut found) = (vec![(0..item.len(), 0..window.len())], Vec::new());
    while let Some((items, documents)) = open.pop() {
        let run = search.find(items.clone(), documents.clone());
        if run.len == 0 {
            continue;
        }
        found.push(run);
        open.push((items.start..run.item, documents.start..run.document));
        open.push((
            run.item + run.len..items.end,
            run.document + run.len..documents.end,
        ));
    }
    found.sort_unstable();
    let mut merged: Vec<Run> = Vec::new();
    for run in found {
        match merged.last_mut() {
            Some(last)
                if last.item + last.len == run.item && last.document + last.len == run.document =>
            {
                last.len += run.len;
            }
            _ => merged.push(run),
        }
    }
    merged
}

/// Finds the longest run of equal words; of several, the first of the item, then of the document.
struct LongestRun {
    /// The places of the window, those of equal words together, ascending.
    sorted: Vec<usize>,
    /// By word of the item: which of them have it.
    places: Vec<Range<usize>>,
    /// By place in the window + 1: the length of the run that ends there, for the last word of the item and the one before.
    lengths: [Vec<usize>; 2],
}

impl LongestRun {
    fn find(&mut self, items: Range<usize>, documents: Range<usize>) -> Run {
        let mut best = Run {
            item: items.start,
            document: documents.start,
            len: 0,
        };
        let places = |i: usize| {
            let all = &self.sorted[self.places[i].clone()];
            &all[all.partition_point(|at| *at < documents.start)
                ..all.partition_point(|at| *at < documents.end)]
        };
        let [mut last, mut next] = std::mem::take(&mut self.lengths);
        for i in items.clone() {
            for at in places(i) {
                let len = last[*at] + 1;
                next[at + 1] = len;
                if len > best.len {
                    best = Run {
                        item: i + 1 - len,
                        document: at + 1 - len,
                        len,
                    };
                }
            }
            if i > items.start {
                places(i - 1).iter().for_each(|at| last[at + 1] = 0);
            }
            std::mem::swap(&mut last, &mut next);
        }
        if let Some(i) = items.last() {
            places(i).iter().for_each(|at| last[at + 1] = 0);
        }
        self.lengths = [last, next];
        best
    }
}

/// The chain with the most words.
fn best_chain(runs: &[Run]) -> Vec<Run> {
    let (mut chains, mut chain): (Vec<Vec<Run>>, Vec<Run>) = (Vec::new(), Vec::new());
    for run in runs {
        if let Some(last) = chain.last() {
            let ahead = |run: &Run| run.document.cast_signed() - run.item.cast_signed();
            let extra = ahead(run) - ahead(last);
            let shortest = run.len.min(last.len);
            if extra > MOST_BETWEEN || (shortest < 3 && extra > shortest.cast_signed()) {
                if run.len < 3 {
                    // A stray short run.
                    continue;
                }
                if last.len < 3 && chain.len() == 1 {
                    chain.clear()
                } else {
                    chains.push(std::mem::take(&mut chain))
                }
            }
        }
        chain.push(*run);
    }
    chains.push(chain);
    let words = |chain: &Vec<Run>| chain.iter().map(|run| run.len).sum::<usize>();
    // The first of the longest.
    let best = chains.into_iter().rev().max_by_key(words);
    best.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The longest run, by comparing all.
    fn longest(item: &[u32], document: &[u32], a: Range<usize>, b: Range<usize>) -> Run {
        let mut best = Run {
            item: a.start,
            document: b.start,
            len: 0,
        };
        for i in a.clone() {
            for j in b.clone() {
                let pairs = item[i..a.end].iter().zip(&document[j..b.end]);
                let len = pairs.take_while(|(x, y)| x == y).count();
                if len > best.len {
                    best = Run {
                        item: i,
                        document: j,
                        len,
                    };
                }
            }
        }
        best
    }

    fn runs_by_definition(
        item: &[u32],
        document: &[u32],
        a: Range<usize>,
        b: Range<usize>,
    ) -> Vec<Run> {
        let run = longest(item, document, a.clone(), b.clone());
        if run.len == 0 {
            return Vec::new();
        }
        let mut left = runs_by_definition(item, document, a.start..run.item, b.start..run.document);
        left.push(run);
        left.extend(runs_by_definition(
            item,
            document,
            run.item + run.len..a.end,
            run.document + run.len..b.end,
        ));
        left
    }

    fn pairs_of(runs: &[Run]) -> Vec<(usize, usize)> {
        let pairs = runs
            .iter()
            .flat_map(|run| (0..run.len).map(|k| (run.item + k, run.document + k)));
        pairs.collect()
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_definition(
            item in prop::collection::vec(0u32..5, 0..20), document in prop::collection::vec(0u32..5, 0..24),
        ) {
            let found = runs(&item, &document);
            let expected = runs_by_definition(&item, &document, 0..item.len(), 0..document.len());
            prop_assert_eq!(pairs_of(&found), pairs_of(&expected));
        }

        #[test]
        fn aligned_words_are_equal_and_in_order(
            item in prop::collection::vec(0u32..6, 0..20), document in prop::collection::vec(0u32..6, 0..30), first in 0usize..3,
        ) {
            let alignment = Alignment::new(&item, &document, first);
            let pairs: Vec<_> = alignment.pairs().collect();
            prop_assert!(pairs.iter().all(|(i, at)| item[*i] == document[*at - first]));
            prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        }
    }

    #[test]
    fn equal_texts_are_aligned_from_end_to_end() {
        let words: Vec<u32> = (0..50).collect();
        let alignment = Alignment::new(&words, &words, 0);
        assert!(alignment.pairs().eq((0..50).map(|i| (i, i))));
        assert_eq!(
            (alignment.range(), alignment.hole(&[1, 2])),
            (Some(0..50), 0)
        );
    }
}
