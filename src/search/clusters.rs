//! Clusters the documents of a part, and says which of them to remove.

use super::corpus::Corpus;
use super::deduplication::Dedup;
use super::parameters::Search;
use super::part::{Part, PartDocuments};
use super::removal::{count_clusters, count_losses};
use super::verification::Verification;
use crate::error::Result;
use crate::pipeline::{ClusterTask, Clustering, Clusters, KeepOrder, Measure, Removal, Similarity};
use crate::progress::Counts;
use crate::threads::{collect_blocks, map_blocks, sort_by_key};

/// The clusters of a part.
pub(super) struct Clustered {
    /// The documents to remove, by ascending row.
    pub(super) removed: Vec<Removal>,
    clusters: Clusters,
    verification: Verification,
}

impl Clustered {
    /// Clusters a part for `task`, by a search that names its method. `classes` are those of
    /// [`Source::classes`](super::source::Source::classes). Also returns the documents of the part, and what compared
    /// them.
    pub(super) fn of(
        part: Part<'_>,
        classes: Option<&[u64]>,
        task: &Dedup,
        search: &Search,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<(PartDocuments, Self, Box<dyn Similarity + Send>)> {
        let Part {
            documents,
            corpus,
            classes: part_classes,
            buckets,
            similarity,
            in_blocks,
        } = part;
        let size_classes = match search.measure {
            Measure::Jaccard => None,
            Measure::Contained => {
                let sizes = match &in_blocks {
                    Some(blocks) => blocks.sizes()?,
                    None => sizes(&*similarity, buckets.positions())?,
                };
                Some(classes_by_size(&corpus, &sizes))
            }
        };
        let order = KeepOrder {
            policy: task.keep,
            classes: size_classes
                .as_deref()
                .or(part_classes.as_deref())
                .or(classes),
            lengths: &corpus.lengths,
            reference: corpus.first_input(),
        };
        let groups = OrderedGroups::of(&corpus, order);
        let cluster_task = ClusterTask {
            ranks: groups.ranks.as_deref(),
            ..task.clusters_of(&*similarity, search.candidates)
        };
        let clusters = match (in_blocks, task.clustering) {
            (Some(blocks), _) => blocks.greedy(&cluster_task, advance)?,
            (None, Clustering::Greedy) => Clusters::greedy(buckets, &cluster_task, advance)?,
            (None, Clustering::Connected) => Clusters::connected(&buckets, &cluster_task, advance)?,
        };
        let clustered = Clustered {
            removed: groups.removed(&corpus, &clusters),
            clusters,
            verification: search.verification,
        };
        Ok((documents, clustered, similarity))
    }

    /// Adds what was found to the counts of a run.
    pub(super) fn count_in(&self, counts: &mut Counts) {
        counts.removed += self.removed.len() as u64;
        count_losses(counts, &self.removed);
        if let Some(equal) = &mut counts.equal_shingles {
            *equal += self.with_equal_shingles();
        }
        count_clusters(counts, &self.clusters);
    }

    /// The removed documents whose shingles are known to equal those of the kept ones, although their texts differ.
    fn with_equal_shingles(&self) -> u64 {
        if self.verification != Verification::Exact {
            return 0;
        }
        // Without an overlap, a similarity is an estimate.
        let is_equal = |removal: &&Removal| {
            !removal.is_identical && removal.similarity == Some(1.0) && removal.overlap.is_some()
        };
        let counts = map_blocks(self.removed.len(), CHUNK, |range| {
            self.removed[range].iter().filter(is_equal).count() as u64
        });
        counts.into_iter().sum()
    }
}

/// The number of distinct shingles of each of these positions.
fn sizes(similarity: &dyn Similarity, positions: &[u32]) -> Result<Vec<(u32, u32)>> {
    let with_themselves: Vec<(u32, u32)> = positions.iter().map(|at| (*at, *at)).collect();
    let compared = similarity.verify_pairs(&with_themselves)?;
    let sizes = compared.into_iter().map(|verified| {
        let overlap = verified.overlap;
        overlap.map_or(0, |overlap| overlap.shared)
    });
    Ok(positions.iter().copied().zip(sizes).collect())
}

/// The classes of documents of which those with the most shingles are kept first, by row. `sizes` has the number of distinct
/// shingles of each position that may be similar to another.
fn classes_by_size(corpus: &Corpus, sizes: &[(u32, u32)]) -> Vec<u64> {
    let mut classes = vec![u64::MAX; corpus.rows as usize];
    for (position, size) in sizes {
        classes[corpus.distinct[*position as usize] as usize] = u64::MAX - u64::from(*size);
    }
    for (row, position) in &corpus.repeats {
        classes[*row as usize] = classes[corpus.distinct[*position as usize] as usize];
    }
    classes
}

/// The document to keep among the identical documents at each position (the number of a distinct document, see
/// [`Corpus`]). And the ranks of positions: the document with the lowest rank in a cluster is kept.
struct OrderedGroups {
    /// The row of the document to keep at each position.
    keepers: Vec<u32>,
    /// The rank of each position; `None` if the rank of every position is the position itself.
    ranks: Option<Vec<u32>>,
}

impl OrderedGroups {
    fn of(corpus: &Corpus, order: KeepOrder<'_>) -> Self {
        let mut keepers = corpus.distinct.clone();
        for (row, position) in &corpus.repeats {
            let keeper = &mut keepers[*position as usize];
            if order.prefers(*row, *keeper) {
                *keeper = *row;
            }
        }
        let ranks = order.ranks(&keepers);
        OrderedGroups { keepers, ranks }
    }

    /// All removed documents, by ascending row: every document at a removed position, and every document but the
    /// keeper at a kept position. None is of a reference.
    fn removed(&self, corpus: &Corpus, clusters: &Clusters) -> Vec<Removal> {
        let removals = &clusters.removals;
        let removal_of = |position: u32| {
            let at = removals.binary_search_by_key(&position, |removal| removal.document);
            at.ok().map(|at| removals[at])
        };
        let keeper = |position: u32| self.keepers[position as usize];
        let removal_at = |(row, position, removal): (u32, u32, Option<Removal>)| match removal {
            _ if row < corpus.first_input() => None,
            Some(removal) => Some(removal.name(|_| row, keeper)),
            None if row == keeper(position) => None,
            None => Some(Removal {
                document: row,
                kept: keeper(position),
                is_identical: true,
                similarity: Some(1.0),
                overlap: None,
                via: None,
            }),
        };
        // Positions ascend here as they do there, so that little needs to be searched.
        let mut removed = collect_blocks(corpus.distinct.len(), CHUNK, |range| {
            let positions = (0..).skip(range.start).zip(&corpus.distinct[range.clone()]);
            let start =
                removals.partition_point(|removal| (removal.document as usize) < range.start);
            let mut next = removals[start..].iter().peekable();
            let distinct = positions.map(|(position, row)| {
                let removal = next.next_if(|removal| removal.document == position);
                (*row, position, removal.copied())
            });
            distinct.filter_map(removal_at).collect::<Vec<Removal>>()
        });
        removed.append(&mut collect_blocks(corpus.repeats.len(), CHUNK, |range| {
            let repeats = corpus.repeats[range].iter();
            repeats
                .filter_map(|(row, position)| removal_at((*row, *position, removal_of(*position))))
                .collect()
        }));
        sort_by_key(&mut removed, |removed| removed.document);
        removed
    }
}

/// Distinct documents that one thread looks at.
const CHUNK: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::KeepPolicy;

    /// Six documents: 0, 2 and 5 are equal, and so are 1 and 4.
    fn corpus(lengths: [u32; 6]) -> Corpus {
        Corpus {
            rows: 6,
            distinct: vec![0, 1, 3],
            repeats: vec![(2, 0), (4, 1), (5, 0)],
            lengths: lengths.to_vec(),
            ..Corpus::default()
        }
    }

    fn order<'a>(
        corpus: &'a Corpus,
        policy: KeepPolicy,
        classes: Option<&'a [u64]>,
    ) -> KeepOrder<'a> {
        KeepOrder {
            policy,
            classes,
            lengths: &corpus.lengths,
            reference: 0,
        }
    }

    #[test]
    fn the_keeper_of_equal_documents_is_the_preferred_one() {
        let corpus = corpus([9, 9, 9, 9, 9, 9]);
        let of = |classes| {
            OrderedGroups::of(&corpus, order(&corpus, KeepPolicy::First, classes)).keepers
        };
        assert_eq!(of(None), [0, 1, 3]);
        assert_eq!(of(Some(&[7, 3, 5, 0, 3, 1][..])), [5, 1, 3]);
    }

    #[test]
    fn all_but_one_document_of_a_cluster_are_removed() {
        let corpus = corpus([9, 9, 9, 9, 9, 9]);
        let groups = OrderedGroups::of(&corpus, order(&corpus, KeepPolicy::First, None));
        // Position 0 is removed for position 2; the equal documents 1 and 4 have no other.
        let clusters = Clusters {
            removals: vec![Removal {
                document: 0,
                kept: 2,
                is_identical: false,
                similarity: Some(0.5),
                overlap: None,
                via: None,
            }],
            ..Clusters::default()
        };
        let removed = groups.removed(&corpus, &clusters);
        let named = removed
            .iter()
            .map(|removed| (removed.document, removed.kept, removed.similarity));
        assert_eq!(
            named.collect::<Vec<_>>(),
            [
                (0, 3, Some(0.5)),
                (2, 3, Some(0.5)),
                (4, 1, Some(1.0)),
                (5, 3, Some(0.5)),
            ]
        );
        let identical = removed.iter().filter(|removed| removed.is_identical);
        assert_eq!(
            identical
                .map(|removed| removed.document)
                .collect::<Vec<_>>(),
            [4]
        );
    }
}
