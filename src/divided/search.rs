//! Searches whole components.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::batch::{Bucket, Compared, Held, LinkedBatch, Memory};
use crate::engine::Engine;
use crate::error::{Conflict, Result, row_number};
use crate::pipeline::{ClusterTask, Clustering, Clusters, KeptBefore, similar_pairs};
use crate::progress::Counts;
use crate::search::{Dedup, Observations, Search, Verification};

/// What is searched for in components.
#[derive(Clone, Debug)]
pub enum ComponentTask {
    /// Documents to remove.
    Dedup(Dedup),
    /// Similar pairs.
    Pairs(Search),
}

/// A distinct document to remove, and with it those with the same units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundRemoval {
    /// The place of the first document with the same units.
    pub place: i64,
    /// The place of the document kept in its place.
    pub kept: i64,
    /// Their similarity; `None` if not computed.
    pub similarity: Option<f64>,
    /// With [`Clustering::Connected`]: the place of the next document on the way to the kept one, and the similarity of
    /// the removed document to it, if computed.
    pub via: Option<(i64, Option<f64>)>,
}

/// Two distinct similar documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundPair {
    /// The lesser place of the first documents with these units.
    pub a: i64,
    /// The greater place.
    pub b: i64,
    /// Their similarity; `None` if not computed.
    pub similarity: Option<f64>,
}

/// Bytes of components that are searched at a time: the threads of a run share their documents.
const AT_A_TIME: usize = 16 << 20;

/// Searches components one after the other, in bounded memory.
///
/// Greedy clustering compares with kept documents alone. So it takes a component that exceeds the memory in blocks,
/// together with the kept documents that later ones may be compared with: of each bucket,
/// [`max_bucket`](Dedup::max_bucket).
#[derive(Debug)]
pub struct ComponentSearch {
    task: ComponentTask,
    most_bytes: usize,
    held: Held,
    memory: Memory,
    /// The component of the last document, and the number of documents before it.
    open: Option<(i64, usize)>,
    /// What is known of the open component, if its first documents have been searched.
    before: Before,
    counts: Counts,
    observed: Observations,
    /// The documents to remove that were found since they were last taken.
    pub removals: Vec<FoundRemoval>,
    /// The pairs that were found since they were last taken.
    pub pairs: Vec<FoundPair>,
}

/// What is known of the first documents of a component.
#[derive(Debug, Default)]
struct Before {
    /// The number of kept documents that are held, before all others.
    held: usize,
    /// Their bytes.
    bytes: usize,
    /// The kept documents of each bucket.
    kept: HashMap<Bucket, u32>,
}

impl ComponentSearch {
    /// A search in about `most_bytes` of memory.
    pub fn new(task: ComponentTask, most_bytes: usize, engine: &Engine) -> Self {
        ComponentSearch {
            task,
            most_bytes,
            held: Held::default(),
            memory: Memory::default(),
            open: None,
            before: Before::default(),
            counts: Counts::default(),
            observed: Observations::none(engine.signer().num_perm()),
            removals: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Searches the next documents. A component may end in a later batch.
    ///
    /// # Errors
    /// [`Conflict::ForeignRecord`] for buckets or signatures of another length;
    /// [`Conflict::ComponentMemory`] if a component exceeds the memory that is not clustered greedily.
    pub fn add(
        &mut self,
        batch: &LinkedBatch<'_>,
        compared: &Compared<'_>,
        engine: &Engine,
    ) -> Result<()> {
        for (row, component) in batch.components.iter().enumerate() {
            match self.open {
                Some((open, _)) if open == *component => self.bound(engine)?,
                _ => {
                    if self.before.held > 0 || self.held.bytes() >= AT_A_TIME.min(self.most_bytes) {
                        self.finish(engine)?;
                    }
                    self.open = Some((*component, self.held.len()));
                }
            }
            let using = (engine, &mut self.memory);
            self.held.push(batch, row, compared, using)?;
        }
        Ok(())
    }

    /// Searches what is left.
    ///
    /// # Errors
    /// Those of the comparison of documents.
    pub fn finish(&mut self, engine: &Engine) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        let before = std::mem::take(&mut self.before);
        self.open = None;
        self.search(&held, &before, engine)?;
        Ok(())
    }

    /// The counts of compared, similar and omitted pairs, and of large buckets.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of compared candidates by equal slots, and a last number for the groups that similar pairs make; zeros
    /// without estimates. These can be added up for several searches.
    pub fn observed(&self) -> Vec<u64> {
        self.observed.counts()
    }

    fn is_full(&self) -> bool {
        self.held.bytes() >= self.most_bytes.max(2 * self.before.bytes)
    }

    /// Searches what is held of other components, and then a block of the open one, if memory is full.
    fn bound(&mut self, engine: &Engine) -> Result<()> {
        if !self.is_full() {
            return Ok(());
        }
        if let Some((component, start @ 1..)) = self.open {
            let others = self.held.take_first(start);
            self.search(&others, &Before::default(), engine)?;
            self.open = Some((component, 0));
            if !self.is_full() {
                return Ok(());
            }
        }
        let max_bucket = match &self.task {
            ComponentTask::Dedup(dedup) if dedup.clustering == Clustering::Greedy => {
                dedup.max_bucket
            }
            _ => {
                return Err(Conflict::ComponentMemory {
                    documents: self.held.len(),
                    mib: self.most_bytes >> 20,
                }
                .into());
            }
        };
        let held = std::mem::take(&mut self.held);
        let mut before = std::mem::take(&mut self.before);
        let removed = self.search(&held, &before, engine)?;
        let mut left = Held::default();
        for row in 0..held.len() {
            let mut listed = Vec::new();
            let of_row = held.buckets_of(row);
            if row < before.held {
                listed.extend_from_slice(of_row);
            } else if !removed.contains(&row) {
                for bucket in of_row {
                    let kept = before.kept.entry(*bucket).or_default();
                    if (*kept as usize) < max_bucket {
                        listed.push(*bucket);
                    }
                    *kept = kept.saturating_add(1);
                }
            }
            if !listed.is_empty() {
                left.push_row(&held, row, &listed);
            }
        }
        (before.held, before.bytes) = (left.len(), left.bytes());
        (self.held, self.before) = (left, before);
        Ok(())
    }

    /// Searches documents, the first of which may be known to be kept. Returns the rows of those to remove.
    fn search(&mut self, held: &Held, before: &Before, engine: &Engine) -> Result<HashSet<usize>> {
        match self.task.clone() {
            ComponentTask::Dedup(dedup) => {
                let removed = self.search_clusters(held, before, &dedup, engine)?;
                Ok(removed.into_iter().collect())
            }
            ComponentTask::Pairs(search) => {
                self.search_pairs(held, &search, engine)?;
                Ok(HashSet::new())
            }
        }
    }

    fn search_pairs(&mut self, held: &Held, search: &Search, engine: &Engine) -> Result<()> {
        let rows = held.rows_by_place();
        let (buckets, _) = held.buckets(&rows, search.banding.bands(), &HashMap::new())?;
        let similarity = held.similarity(&rows, (engine, search), &self.observed)?;
        let place = |position: u32| held.places[rows[position as usize]];
        let (pairs, counts) = (&mut self.pairs, &mut self.counts);
        similar_pairs(&buckets, &*similarity, search.least(), &mut |block| {
            counts.candidate_pairs += block.compared;
            counts.similar_pairs += block.pairs.len() as u64;
            pairs.extend(block.pairs.iter().map(|pair| FoundPair {
                a: place(pair.lo),
                b: place(pair.hi),
                similarity: pair.similarity,
            }));
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Clusters documents. Returns the rows of those to remove.
    fn search_clusters(
        &mut self,
        held: &Held,
        before: &Before,
        dedup: &Dedup,
        engine: &Engine,
    ) -> Result<Vec<usize>> {
        let search = &dedup.search;
        let is_greedy = dedup.clustering == Clustering::Greedy;
        let rows: Vec<usize> = match is_greedy {
            true => (0..held.len()).collect(),
            false => held.rows_by_place(),
        };
        let others = before.unlisted(dedup.max_bucket);
        let (buckets, unlisted) = held.buckets(&rows, search.banding.bands(), &others)?;
        let similarity = held.similarity(&rows, (engine, search), &self.observed)?;
        // The row of a document is its rank.
        let ranks = rows.iter().map(|row| row_number(*row));
        let ranks: Vec<u32> = ranks.collect::<Result<_>>()?;
        let task = ClusterTask {
            similarity: &*similarity,
            threshold: search.threshold,
            ranks: (!is_greedy).then_some(ranks.as_slice()),
            max_bucket: dedup.max_bucket,
        };
        let go_on = &mut |_| Ok(());
        let clusters = match dedup.clustering {
            Clustering::Greedy => {
                let kept = KeptBefore {
                    positions: row_number(before.held)?,
                    unlisted: &unlisted,
                };
                Clusters::greedy_after(buckets, &task, kept, go_on)?
            }
            Clustering::Connected => Clusters::connected(&buckets, &task, go_on)?,
        };
        drop(similarity);
        let counts = &mut self.counts;
        counts.candidate_pairs += clusters.compared;
        counts.similar_pairs += clusters.similar;
        counts.omitted_pairs += clusters.omitted.pairs;
        counts.large_buckets += clusters.omitted.buckets;
        let row = |position: u32| rows[position as usize];
        let removals = clusters.removals.iter();
        self.removals.extend(removals.map(|removal| {
            let via = removal.via;
            FoundRemoval {
                place: held.places[row(removal.position)],
                kept: held.keepers[row(removal.kept)],
                similarity: removal.similarity,
                via: via.map(|(via, similarity)| (held.keepers[row(via)], similarity)),
            }
        }));
        let removals = clusters.removals.iter();
        Ok(removals.map(|removal| row(removal.position)).collect())
    }
}

impl Before {
    /// How many more than `max_bucket` are kept in each bucket, where more are.
    fn unlisted(&self, max_bucket: usize) -> HashMap<Bucket, u32> {
        let Ok(most) = u32::try_from(max_bucket) else {
            // No bucket counts more.
            return HashMap::new();
        };
        let more = self.kept.iter().filter(|(_, kept)| **kept > most);
        more.map(|(bucket, kept)| (*bucket, kept - most)).collect()
    }
}

impl Search {
    /// The share of truly similar pairs to expect among `pairs` that runs report as similar, if they observed this
    /// ([`ComponentSearch::observed`]), and `known` pairs are of identical documents. `None` without verification, without
    /// similar pairs, and if what was observed does not tell.
    pub fn precision_of(
        &self,
        num_perm: usize,
        observed: &[u64],
        known: u64,
        pairs: u64,
    ) -> Option<f64> {
        let all = Observations::none(num_perm);
        all.add(observed);
        let is_estimated = self.verification == Verification::Signature;
        self.expected_precision(num_perm, is_estimated.then_some(&all), [known, pairs])
    }
}
