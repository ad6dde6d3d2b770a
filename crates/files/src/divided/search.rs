//! Searches whole components.

use std::ops::ControlFlow;

use super::batch::{Compared, ConnectedBatch, Held, Memory};
use simgpu::engine::Engine;
use simgpu::error::{Conflict, Result};
use simgpu::pipeline::{
    ClusterTask, Clustering, Clusters, Measure, Pairing, Removal, Unverified, similar_pairs,
};
use simgpu::progress::Counts;
use simgpu::search::{
    Block, BucketsOf, CandidateMethod, Dedup, KeptDocuments, Observations, Observed, PartShape,
    Search, count_clusters,
};

/// What is searched for in components.
#[derive(Clone, Debug)]
pub enum ComponentTask {
    /// Documents to remove.
    Dedup(Dedup),
    /// Similar pairs.
    Pairs(Search),
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
/// together with the kept documents that later ones may be compared with.
#[derive(Debug)]
pub struct ComponentSearch {
    task: ComponentTask,
    shape: PartShape,
    most_bytes: usize,
    held: Held,
    memory: Memory,
    /// The component of the last document, and the number of documents before it.
    open: Option<(i64, usize)>,
    /// What is known of the open component, if its first documents have been searched.
    before: Before,
    counts: Counts,
    observed: Observations,
    /// The distinct documents to remove that were found since they were last taken, named by the places of the first
    /// documents with the same units. With each go those with the same units.
    pub removals: Vec<Removal<i64>>,
    /// The pairs that were found since they were last taken.
    pub pairs: Vec<FoundPair>,
}

/// What is known of the first documents of a component.
#[derive(Debug, Default)]
struct Before {
    kept: KeptDocuments,
    /// Bytes of those that are held.
    bytes: usize,
}

impl ComponentSearch {
    /// A search in about `most_bytes` of memory.
    pub fn new(task: ComponentTask, most_bytes: usize, engine: &Engine) -> Self {
        let search = match &task {
            ComponentTask::Dedup(dedup) => &dedup.search,
            ComponentTask::Pairs(search) => search,
        };
        let shape = PartShape {
            search: search.clone(),
            num_perm: engine.signer().num_perm(),
            weighted: engine.shingler().takes_weights(),
            buckets: BucketsOf::Bands(search.banding.bands()),
        };
        ComponentSearch {
            observed: Observations::none(shape.num_perm),
            held: Held::none(&shape),
            shape,
            task,
            most_bytes,
            memory: Memory::default(),
            open: None,
            before: Before::default(),
            counts: Counts::default(),
            removals: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Searches the next documents. A component may end in a later batch.
    ///
    /// # Errors
    /// [`Conflict::ForeignRecord`] for buckets or signatures of another length;
    /// [`Conflict::ContainedDivided`] for another measure than the Jaccard similarity;
    /// [`Conflict::ComponentMemory`] if a component exceeds the memory that is not clustered greedily.
    pub fn add(
        &mut self,
        batch: &ConnectedBatch<'_>,
        compared: &Compared<'_>,
        engine: &Engine,
    ) -> Result<()> {
        if self.shape.search.measure != Measure::Jaccard {
            return Err(Conflict::ContainedDivided.into());
        }
        for (row, component) in batch.components.iter().enumerate() {
            match self.open {
                Some((open, _)) if open == *component => self.bound()?,
                _ => {
                    if self.before.kept.count() > 0
                        || self.held.bytes() >= AT_A_TIME.min(self.most_bytes)
                    {
                        self.finish()?;
                    }
                    self.open = Some((*component, self.held.len()));
                }
            }
            let memory = &mut self.memory;
            self.held.push(batch, row, compared, engine, memory)?;
        }
        Ok(())
    }

    /// Searches what is left.
    ///
    /// # Errors
    /// Those of the comparison of documents.
    pub fn finish(&mut self) -> Result<()> {
        let held = self.take_held();
        let before = std::mem::take(&mut self.before);
        self.open = None;
        self.search(held, &before.kept)
    }

    fn take_held(&mut self) -> Held {
        std::mem::replace(&mut self.held, Held::none(&self.shape))
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
    fn bound(&mut self) -> Result<()> {
        if !self.is_full() {
            return Ok(());
        }
        if let Some((component, start @ 1..)) = self.open {
            let others = self.held.take_first(start)?;
            self.search(others, &KeptDocuments::default())?;
            self.open = Some((component, 0));
            if !self.is_full() {
                return Ok(());
            }
        }
        let dedup = match &self.task {
            ComponentTask::Dedup(dedup) if dedup.clustering == Clustering::Greedy => dedup.clone(),
            _ => {
                return Err(Conflict::ComponentMemory {
                    documents: self.held.len(),
                    mib: self.most_bytes >> 20,
                }
                .into());
            }
        };
        let (mut held, mut before) = (self.take_held(), std::mem::take(&mut self.before));
        let task = dedup.clusters_of(&Unverified, CandidateMethod::Lsh);
        let clusters = self.search_block(&held, &before.kept, &task)?;
        held.keep(&mut before.kept, &clusters.removals, &task)?;
        before.bytes = held.bytes();
        (self.held, self.before) = (held, before);
        Ok(())
    }

    /// Searches documents, the first of which may be known to be kept.
    fn search(&mut self, held: Held, before: &KeptDocuments) -> Result<()> {
        match self.task.clone() {
            ComponentTask::Pairs(search) => self.search_pairs(&held, &search),
            ComponentTask::Dedup(dedup) => match dedup.clustering {
                Clustering::Greedy => {
                    let task = dedup.clusters_of(&Unverified, CandidateMethod::Lsh);
                    // The kept documents of a component come first, and so does its reference.
                    let held = match before.count() {
                        0 => held.reference_first()?,
                        _ => held,
                    };
                    self.search_block(&held, before, &task)?;
                    Ok(())
                }
                Clustering::Connected => self.search_connected(&held, &dedup),
            },
        }
    }

    fn search_pairs(&mut self, held: &Held, search: &Search) -> Result<()> {
        let (held, _) = held.sort_by_place()?;
        let reference = held.reference(Pairing::Across)?;
        let Held {
            places, records, ..
        } = held;
        let (buckets, similarity) = records.finish(places.len(), &self.shape, &self.observed)?;
        let buckets = buckets.against(reference);
        let place = |position: u32| places[position as usize];
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

    fn search_connected(&mut self, held: &Held, dedup: &Dedup) -> Result<()> {
        // The number of a document is its rank.
        let (held, ranks) = held.sort_by_place()?;
        let reference = held.reference(dedup.pairing())?;
        let Held {
            places,
            keepers,
            records,
            ..
        } = held;
        let (buckets, similarity) = records.finish(places.len(), &self.shape, &self.observed)?;
        let buckets = buckets.against(reference);
        let task = ClusterTask {
            ranks: Some(&ranks),
            ..dedup.clusters_of(&*similarity, CandidateMethod::Lsh)
        };
        let clusters = Clusters::connected(&buckets, &task, &mut |_| Ok(()))?;
        self.take(&clusters, &places, &keepers);
        Ok(())
    }

    /// Clusters documents greedily, the first of which may be known to be kept.
    fn search_block(
        &mut self,
        held: &Held,
        before: &KeptDocuments,
        task: &ClusterTask<'_>,
    ) -> Result<Clusters> {
        let (shape, observed) = (&self.shape, Observed::Components(&self.observed));
        let go_on = &mut |_| Ok(());
        let reference = held.reference(Pairing::Distinct)?;
        let block = Block {
            documents: held.len(),
            reference,
            records: &held.records,
        };
        let clusters = before.cluster(block, shape, task, observed, go_on)?;
        self.take(&clusters, &held.places, &held.keepers);
        Ok(clusters)
    }

    /// Adds what was found among documents with these places and keepers.
    fn take(&mut self, clusters: &Clusters, places: &[i64], keepers: &[i64]) {
        count_clusters(&mut self.counts, clusters);
        let keeper = |position: u32| keepers[position as usize];
        let removals = clusters.removals.iter();
        let place = |position: u32| places[position as usize];
        self.removals
            .extend(removals.map(|removal| removal.name(place, keeper)));
    }
}
