//! All pairs of documents whose exact similarity reaches a threshold, found without LSH.
//!
//! The join is the prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), which misses nothing:
//! two sets of similarity t share at least t times the elements of the larger one. With elements in one order, rarest
//! first, the first element that they share has all others behind it, so that it is among the first
//! |A| - ceil(t |A|) + 1 of A, and likewise of B.

use std::collections::HashMap;

use rayon::prelude::*;

use simgpu::Result;
use simgpu::documents::{DocumentBatch, TextBatch};
use simgpu::pipeline::{Scratch, Shingler, Shingling};
use simgpu::scheme::Scheme;

/// Two documents by their rows, `lo < hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruePair {
    /// The earlier row.
    pub lo: u32,
    /// The later row.
    pub hi: u32,
    /// |A and B| / |A or B|.
    pub similarity: f64,
}

/// A document's set in the order of the join.
struct Ranked {
    row: u32,
    /// Ascending, from the rarest element of all sets to the most frequent one.
    elements: Vec<u32>,
}

/// The shingle sets of texts, each of sorted distinct 64-bit hashes: what exact verification compares.
///
/// # Errors
/// As [`Shingler::new`].
pub fn exact_sets(texts: &TextBatch, shingling: &Shingling) -> Result<Vec<Vec<u64>>> {
    let shingler = Shingler::new(shingling.clone(), &Scheme::default(), None)?;
    let documents = DocumentBatch::Texts(texts.clone());
    let set = |scratch: &mut Scratch, i: usize| {
        let mut set = Vec::new();
        shingler.exact_set(&documents, i, scratch, &mut set);
        set
    };
    let rows = (0..texts.len()).into_par_iter();
    Ok(rows.map_init(Scratch::default, set).collect())
}

/// All pairs of sets of at least that similarity, by ascending rows. Sets are sorted and distinct; empty ones have no
/// pairs. Time and memory grow with the number of pairs.
pub fn similar_pairs(sets: &[Vec<u64>], threshold: f64) -> Vec<TruePair> {
    let join = Join::of(rarest_first(sets), threshold);
    let numbers = (0..join.sets.len()).into_par_iter();
    let not_reached = || vec![usize::MAX; join.sets.len()];
    let pairs = numbers.map_init(not_reached, |reached, number| join.earlier(number, reached));
    let mut pairs: Vec<TruePair> = pairs.flatten_iter().collect();
    pairs.par_sort_unstable_by_key(|pair| (pair.lo, pair.hi));
    pairs
}

/// Sets by ascending size, and where each element stands in their prefixes.
struct Join {
    sets: Vec<Ranked>,
    threshold: f64,
    /// For each element the sets whose prefix has it, ascending, and how many elements come before it there.
    places: HashMap<u32, Vec<(usize, usize)>>,
}

impl Join {
    fn of(sets: Vec<Ranked>, threshold: f64) -> Self {
        let mut places: HashMap<u32, Vec<(usize, usize)>> = HashMap::new();
        for (number, set) in sets.iter().enumerate() {
            for (position, element) in set.prefix(threshold).iter().enumerate() {
                places.entry(*element).or_default().push((number, position));
            }
        }
        Join {
            sets,
            threshold,
            places,
        }
    }

    /// The pairs of a set with earlier ones, which are no larger. `reached` remembers for each set from which one it
    /// was reached last.
    fn earlier(&self, number: usize, reached: &mut [usize]) -> Vec<TruePair> {
        let mut pairs = Vec::new();
        let Some(set) = self.sets.get(number) else {
            return pairs;
        };
        for (position, element) in set.prefix(self.threshold).iter().enumerate() {
            let places = self.places.get(element).map_or(&[][..], Vec::as_slice);
            for (other, other_position) in places.iter().take_while(|place| place.0 < number) {
                // Only the first element that two sets share tells how many they can share.
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

/// The sets that are not empty, by ascending size, with elements that ascend by the number of sets that hold them.
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
    /// The elements of which a similar set shares at least one.
    fn prefix(&self, threshold: f64) -> &[u32] {
        let len = self.elements.len();
        let end = len + 1 - least_shared(len, threshold);
        self.elements.get(..end).unwrap_or(&self.elements)
    }

    /// How many elements two sets share, none of them before the places given; None once it is known that they are too
    /// few for the similarity.
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

/// The least number of elements that a set of `len` shares with a similar one. Rounding may make it one too few, which
/// costs time alone.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between 1 and the number of elements"
)]
fn least_shared(len: usize, threshold: f64) -> usize {
    const SLACK: f64 = 1e-9;
    let least = (threshold * len as f64 * (1.0 - SLACK)).ceil() as usize;
    least.clamp(1, len)
}

/// How many documents stay if each goes that is similar to an earlier one that stays. Pairs are by ascending rows.
pub fn kept_greedily(documents: usize, pairs: &[TruePair]) -> u64 {
    let mut is_removed = vec![false; documents];
    // All pairs of an earlier document come before those of a later one, so that its fate is known.
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
