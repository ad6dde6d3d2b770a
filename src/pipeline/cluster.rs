//! Groups similar pairs and chooses the documents to remove.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::verify::{SimilarPair, SimilarPairs, Similarity};
use crate::error::Result;

/// Method of grouping similar documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clustering {
    /// Visits documents in keep order and removes each that is similar to a kept one ([`Clusters::greedy`]).
    /// Does not follow chains of pairs.
    #[default]
    Greedy,
    /// Keeps one document per connected component ([`Clusters::connected`]).
    Connected,
}

impl Clustering {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Clustering::Greedy => "greedy",
            Clustering::Connected => "connected",
        }
    }
}

/// A document to remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removal {
    /// Position of the document.
    pub position: u32,
    /// Position of the document kept in its place.
    pub kept: u32,
    /// Similarity of the two; `None` if not computed.
    pub similarity: Option<f64>,
    /// Only for [`Clusters::connected`]: its most similar neighbour, and their similarity.
    pub via: Option<(u32, Option<f64>)>,
}

/// The documents to remove. All others stay. [`similar_pairs`](super::similar_pairs) has an example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// One entry per document to remove, by ascending position.
    pub removals: Vec<Removal>,
}

impl Clusters {
    /// Visits the documents at positions `0..positions` in keep order and removes each that is similar to a
    /// kept one.
    ///
    /// [`Removal::kept`] is the most similar kept document; ties go to the first in keep order. `ranks` is the
    /// keep order by position ([`KeepPolicy::ranks`](super::KeepPolicy::ranks)); `None` is the order of
    /// positions.
    ///
    /// # Panics
    /// If a pair has a position not below `positions`, or `ranks` is shorter.
    pub fn greedy(pairs: &SimilarPairs, positions: usize, ranks: Option<&[u32]>) -> Self {
        let neighbours = Neighbours::of(&pairs.pairs, positions);
        let rank = |position: u32| ranks.map_or(position, |ranks| ranks[position as usize]);
        let mut order: Vec<u32> = neighbours.with_any().collect();
        order.sort_by_key(|position| rank(*position));
        let mut is_kept = vec![false; positions];
        let mut removals = Vec::new();
        for position in order {
            // Documents kept so far precede this one in keep order.
            let kept = neighbours
                .of_position(position)
                .filter(|(other, _)| is_kept[*other as usize])
                .max_by(|a, b| a.1.total_cmp(&b.1).then(rank(b.0).cmp(&rank(a.0))));
            match kept {
                None => is_kept[position as usize] = true,
                Some((kept, similarity)) => removals.push(Removal {
                    position,
                    kept,
                    similarity: known(similarity),
                    via: None,
                }),
            }
        }
        removals.sort_unstable_by_key(|removal| removal.position);
        Clusters { removals }
    }

    /// Keeps the first document in keep order of each connected component, and computes the similarity of the
    /// others to it. `positions` and `ranks` are those of [`Clusters::greedy`].
    ///
    /// # Errors
    /// The errors of `similarity`.
    ///
    /// # Panics
    /// If a pair has a position not below `positions`, or `ranks` is shorter.
    pub fn connected(
        pairs: &SimilarPairs,
        positions: usize,
        ranks: Option<&[u32]>,
        similarity: &dyn Similarity,
    ) -> Result<Self> {
        let components = Components::of(&pairs.pairs, positions);
        let neighbours = Neighbours::of(&pairs.pairs, positions);
        let rank = |position: u32| ranks.map_or(position, |ranks| ranks[position as usize]);
        let mut kept: Vec<u32> = (0..).take(positions).collect();
        for position in neighbours.with_any() {
            let first = &mut kept[components.root(position) as usize];
            if rank(position) < rank(*first) {
                *first = position;
            }
        }
        let mut removals: Vec<Removal> = neighbours
            .with_any()
            .map(|position| (position, kept[components.root(position) as usize]))
            .filter(|(position, kept)| position != kept)
            .map(|(position, kept)| Removal {
                position,
                kept,
                similarity: None,
                via: neighbours
                    .of_position(position)
                    .reduce(|best, next| if next.1 > best.1 { next } else { best })
                    .map(|(via, similarity)| (via, known(similarity))),
            })
            .collect();
        let to_kept: Vec<_> = removals
            .iter()
            .map(|removal| {
                let (position, kept) = (removal.position, removal.kept);
                (position.min(kept), position.max(kept))
            })
            .collect();
        let similarities = similarity.of_pairs(&to_kept)?;
        for (removal, similarity) in removals.iter_mut().zip(similarities.into_iter().flatten()) {
            removal.similarity = Some(similarity);
        }
        Ok(Clusters { removals })
    }
}

fn known(similarity: f64) -> Option<f64> {
    (!similarity.is_nan()).then_some(similarity)
}

/// Lock-free parallel union-find over positions. Compare-and-swap hooks a root to a smaller root, so the root
/// of a component is its least position in any order of unions.
struct Components {
    parents: Vec<AtomicU32>,
}

impl Components {
    fn of(pairs: &[SimilarPair], positions: usize) -> Self {
        let components = Components {
            parents: (0..).take(positions).map(AtomicU32::new).collect(),
        };
        pairs
            .par_iter()
            .for_each(|pair| components.unite(pair.lo(), pair.hi()));
        components
    }

    fn root(&self, mut position: u32) -> u32 {
        loop {
            let parent = self.parents[position as usize].load(Ordering::Relaxed);
            if parent == position {
                return position;
            }
            // Halve the path. Parents only ever become smaller.
            let above = self.parents[parent as usize].load(Ordering::Relaxed);
            let _ = self.parents[position as usize].compare_exchange_weak(
                parent,
                above,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            position = above;
        }
    }

    fn unite(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            let hooked = self.parents[high as usize].compare_exchange(
                high,
                low,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if hooked.is_ok() {
                return;
            }
        }
    }
}

/// The neighbours of each position in compressed sparse rows: each pair appears on both sides.
struct Neighbours {
    offsets: Vec<usize>,
    /// The other position and the similarity; NaN if not computed.
    entries: Vec<(u32, f64)>,
}

impl Neighbours {
    fn of(pairs: &[SimilarPair], positions: usize) -> Self {
        let mut offsets = vec![0; positions + 1];
        for pair in pairs {
            offsets[pair.lo() as usize + 1] += 1;
            offsets[pair.hi() as usize + 1] += 1;
        }
        for i in 0..positions {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut entries = vec![(0, 0.0); offsets[positions]];
        for pair in pairs {
            let similarity = pair.similarity().unwrap_or(f64::NAN);
            for (from, to) in [(pair.lo(), pair.hi()), (pair.hi(), pair.lo())] {
                entries[next[from as usize]] = (to, similarity);
                next[from as usize] += 1;
            }
        }
        Neighbours { offsets, entries }
    }

    fn of_position(&self, position: u32) -> impl Iterator<Item = (u32, f64)> {
        let position = position as usize;
        let entries = self.offsets[position]..self.offsets[position + 1];
        self.entries[entries].iter().copied()
    }

    fn with_any(&self) -> impl Iterator<Item = u32> {
        let rows = self.offsets.windows(2).zip(0..);
        rows.filter(|(row, _)| row[0] < row[1]).map(|(_, i)| i)
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::Unverified;
    use super::*;

    fn pairs(of: &[(u32, u32, f64)]) -> SimilarPairs {
        let pair = |&(lo, hi, similarity)| SimilarPair::new(lo, hi, Some(similarity));
        SimilarPairs {
            pairs: of.iter().map(pair).collect(),
            ..SimilarPairs::default()
        }
    }

    fn removed(clusters: &Clusters) -> Vec<(u32, u32)> {
        let removals = clusters.removals.iter();
        removals
            .map(|removal| (removal.position, removal.kept))
            .collect()
    }

    #[test]
    fn greedy_does_not_follow_chains() {
        let chain = pairs(&[(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)]);
        assert_eq!(
            removed(&Clusters::greedy(&chain, 5, None)),
            [(1, 0), (3, 2)]
        );
        let longest_second = [1, 0, 2, 3, 4];
        assert_eq!(
            removed(&Clusters::greedy(&chain, 5, Some(&longest_second))),
            [(0, 1), (2, 1)]
        );
    }

    #[test]
    fn greedy_names_the_most_similar_kept_document() {
        let star = pairs(&[(0, 2, 0.8), (1, 2, 0.9), (1, 3, 0.8), (0, 3, 0.8)]);
        assert_eq!(removed(&Clusters::greedy(&star, 4, None)), [(2, 1), (3, 0)]);
        let unverified = pairs(&[(0, 2, f64::NAN), (1, 2, f64::NAN)]);
        assert_eq!(removed(&Clusters::greedy(&unverified, 3, None)), [(2, 0)]);
    }

    #[test]
    fn connected_keeps_one_of_a_chain() {
        let chain = pairs(&[(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.95), (5, 6, 0.9)]);
        let clusters = Clusters::connected(&chain, 8, None, &Unverified).unwrap();
        assert_eq!(removed(&clusters), [(1, 0), (2, 0), (3, 0), (6, 5)]);
        assert_eq!(clusters.removals[1].via, Some((3, Some(0.95))));
        let ranks = [3, 2, 1, 0, 4, 6, 5, 7];
        let clusters = Clusters::connected(&chain, 8, Some(&ranks), &Unverified).unwrap();
        assert_eq!(removed(&clusters), [(0, 3), (1, 3), (2, 3), (5, 6)]);
    }

    #[test]
    fn components_do_not_depend_on_the_order_of_unions() {
        let positions = 5000u32;
        let mut edges: Vec<SimilarPair> = (1..positions)
            .filter(|i| i % 7 != 0)
            .map(|hi| SimilarPair::new(hi - 1, hi, Some(1.0)))
            .collect();
        edges.reverse();
        let components = Components::of(&edges, positions as usize);
        assert!((0..positions).all(|i| components.root(i) == i / 7 * 7));
    }
}
