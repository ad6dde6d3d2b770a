//! All pairs of documents whose exact similarity reaches a threshold, without LSH.
//!
//! The join is the prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), which misses no
//! pair. Two sets of similarity t share at least t times the elements of the larger one. With elements ordered from
//! rarest to most frequent, all other shared elements follow the first one, so the first one is among the first
//! |A| - ceil(t |A|) + 1 elements of A, and likewise of B.

use std::collections::HashMap;

use rayon::prelude::*;

use simgpu::Result;
use simgpu::documents::{Document, TextBatch};
use simgpu::pipeline::{Scratch, Shingler, Shingling};
use simgpu::scheme::Scheme;

/// Rows of two documents, `lo < hi`, and their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruePair {
    /// Earlier row.
    pub lo: u32,
    /// Later row.
    pub hi: u32,
    /// |A and B| / |A or B|.
    pub similarity: f64,
}

/// A document's set in the order of the join.
struct Ranked {
    row: u32,
    /// Ranks of the elements, ascending; rank 0 is the rarest element of all sets.
    elements: Vec<u32>,
}

/// Shingle sets of texts as sorted distinct 64-bit hashes, like those of exact verification.
///
/// # Errors
/// Those of [`Shingler::new`].
pub fn exact_sets(texts: &TextBatch, shingling: &Shingling) -> Result<Vec<Vec<u64>>> {
    let shingler = Shingler::new(shingling.clone(), &Scheme::default(), None)?;
    let set = |scratch: &mut Scratch, i: usize| {
        let mut set = Vec::new();
        shingler.exact_set(Document::Text(texts.get(i)), scratch, &mut set);
        set
    };
    let rows = (0..texts.len()).into_par_iter();
    Ok(rows.map_init(Scratch::default, set).collect())
}

/// All pairs of sets whose similarity reaches `threshold`, by ascending rows. Sets are sorted and distinct; empty sets
/// have no pairs. Time and memory grow with the number of pairs.
pub fn similar_pairs(sets: &[Vec<u64>], threshold: f64) -> Vec<TruePair> {
    let join = Join::of(rarest_first(sets), threshold);
    let numbers = (0..join.sets.len()).into_par_iter();
    let not_reached = || vec![usize::MAX; join.sets.len()];
    let pairs = numbers.map_init(not_reached, |reached, number| join.earlier(number, reached));
    let mut pairs: Vec<TruePair> = pairs.flatten_iter().collect();
    pairs.par_sort_unstable_by_key(|pair| (pair.lo, pair.hi));
    pairs
}

/// Sets by ascending size, with an inverted index of their prefixes.
struct Join {
    sets: Vec<Ranked>,
    threshold: f64,
    /// By element: the sets whose prefix contains it, ascending, and its position there.
    postings: HashMap<u32, Vec<(usize, usize)>>,
}

impl Join {
    fn of(sets: Vec<Ranked>, threshold: f64) -> Self {
        let mut postings: HashMap<u32, Vec<(usize, usize)>> = HashMap::new();
        for (number, set) in sets.iter().enumerate() {
            for (position, element) in set.prefix(threshold).iter().enumerate() {
                postings
                    .entry(*element)
                    .or_default()
                    .push((number, position));
            }
        }
        Join {
            sets,
            threshold,
            postings,
        }
    }

    /// Pairs of a set with earlier sets, which are at most as large. `reached` holds for each set the last one that
    /// reached it.
    fn earlier(&self, number: usize, reached: &mut [usize]) -> Vec<TruePair> {
        let mut pairs = Vec::new();
        let Some(set) = self.sets.get(number) else {
            return pairs;
        };
        for (position, element) in set.prefix(self.threshold).iter().enumerate() {
            let postings = self.postings.get(element).map_or(&[][..], Vec::as_slice);
            for (other, other_position) in postings.iter().take_while(|posting| posting.0 < number)
            {
                // Count once per pair, from the first shared element.
                let is_new = reached
                    .get_mut(*other)
                    .is_some_and(|last| std::mem::replace(last, number) != number);
                if let Some(other) = self.sets.get(*other).filter(|_| is_new) {
                    let shared = set.shared(position, other, *other_position, self.threshold);
                    pairs.extend(shared.and_then(|it| set.pair_with(other, it, self.threshold)));
                }
            }
        }
        pairs
    }
}

/// Non-empty sets by ascending size, with elements ranked by the number of sets that contain them.
fn rarest_first(sets: &[Vec<u64>]) -> Vec<Ranked> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for element in sets.iter().flatten() {
        *counts.entry(*element).or_default() += 1;
    }
    let mut order: Vec<(u32, u64)> = counts
        .iter()
        .map(|(element, count)| (*count, *element))
        .collect();
    order.par_sort_unstable();
    let ranks: HashMap<u64, u32> = order.iter().map(|(_, element)| *element).zip(0..).collect();
    let rank = |(row, set): (u32, &Vec<u64>)| {
        let mut elements: Vec<u32> = set.iter().filter_map(|it| ranks.get(it)).copied().collect();
        elements.sort_unstable();
        Ranked { row, elements }
    };
    let mut ranked: Vec<Ranked> = (0..).zip(sets).map(rank).collect();
    ranked.retain(|set| !set.elements.is_empty());
    ranked.sort_by_key(|set| set.elements.len());
    ranked
}

impl Ranked {
    /// The elements of which every similar set shares at least one.
    fn prefix(&self, threshold: f64) -> &[u32] {
        let len = self.elements.len();
        let end = len + 1 - least_shared(len, threshold);
        self.elements.get(..end).unwrap_or(&self.elements)
    }

    /// Number of shared elements, given that none precede the start positions; `None` if too few for the threshold.
    fn shared(
        &self,
        start: usize,
        other: &Ranked,
        other_start: usize,
        threshold: f64,
    ) -> Option<usize> {
        let total = self.elements.len() + other.elements.len();
        // shared >= t (total - shared)
        let least = least_shared(total, threshold / (1.0 + threshold));
        let (mut a, mut b) = (
            self.elements.get(start..)?,
            other.elements.get(other_start..)?,
        );
        let mut shared = 0;
        while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (a, b) {
            if shared + a.len().min(b.len()) < least {
                return None;
            }
            if first <= other_first {
                a = rest;
            }
            if other_first <= first {
                b = other_rest;
            }
            shared += usize::from(first == other_first);
        }
        (shared >= least).then_some(shared)
    }

    fn pair_with(&self, other: &Ranked, shared: usize, threshold: f64) -> Option<TruePair> {
        let union = self.elements.len() + other.elements.len() - shared;
        let similarity = shared as f64 / union as f64;
        (similarity >= threshold).then_some(TruePair {
            lo: self.row.min(other.row),
            hi: self.row.max(other.row),
            similarity,
        })
    }
}

/// Least number of elements that a set of `len` shares with a similar one. Rounding may make it one too small, which
/// only costs time.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the result lies between 1 and the number of elements"
)]
fn least_shared(len: usize, threshold: f64) -> usize {
    const SLACK: f64 = 1e-9;
    let least = (threshold * len as f64 * (1.0 - SLACK)).ceil() as usize;
    least.clamp(1, len)
}

/// Number of documents kept if each document similar to an earlier kept one is removed. Pairs are sorted by rows.
pub(super) fn kept_greedily(documents: usize, pairs: &[TruePair]) -> u64 {
    let mut is_removed = vec![false; documents];
    // Pairs of earlier documents come first, so it is known whether `lo` is kept.
    for pair in pairs {
        let (lo, hi) = (pair.lo as usize, pair.hi as usize);
        if is_removed.get(lo) == Some(&false)
            && let Some(later) = is_removed.get_mut(hi)
        {
            *later = true;
        }
    }
    is_removed.iter().filter(|is_removed| !**is_removed).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_loses_its_middle() {
        let pair = |lo, hi| TruePair {
            lo,
            hi,
            similarity: 0.9,
        };
        assert_eq!(kept_greedily(4, &[pair(0, 1), pair(1, 2)]), 3);
        assert_eq!(kept_greedily(4, &[]), 4);
    }
}
