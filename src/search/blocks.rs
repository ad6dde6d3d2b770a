//! Greedy clustering of documents that come in blocks, in keep order.
//!
//! It compares a document with the kept documents before it alone. So memory holds a block at a time, and the kept
//! documents before it: hardly any if most of the documents are near-duplicates of each other.

use std::collections::HashMap;

use super::part::{Members, Observed, PartRecords, PartShape};
use crate::error::{Result, row_number};
use crate::pipeline::{ClusterTask, Clusters, KeptBefore, Member, Reference, Removal};
use crate::threads::{sort, sort_by_key};

/// The documents of earlier blocks that stay. In a block, they have the first positions.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct KeptDocuments {
    count: u32,
    /// How many were kept in each bucket: of these, only the first are held, with which later ones are compared.
    buckets: HashMap<(u32, u64), u32>,
}

/// A block of documents, the kept ones that are held included, in the order of positions.
#[derive(Debug)]
#[doc(hidden)]
pub struct Block<'a> {
    /// Their number.
    pub documents: usize,
    /// The reference among them.
    pub reference: Option<Reference>,
    /// What is known of them.
    pub records: &'a PartRecords,
}

impl KeptDocuments {
    /// The number of kept documents that are held.
    #[doc(hidden)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Clusters a block. The similarity and the ranks of `task` are not used.
    #[doc(hidden)]
    pub fn cluster(
        &self,
        block: Block<'_>,
        shape: &PartShape,
        task: &ClusterTask<'_>,
        observed: Observed<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Clusters> {
        let Block {
            documents,
            reference,
            records,
        } = block;
        let (buckets, unlisted) = match &records.members {
            Members::OfBands(members) => {
                let mut members = members.clone();
                sort(&mut members);
                let unlisted = self.unlisted(&members, task);
                (shape.buckets_of(documents, members)?, unlisted)
            }
            Members::OfPrefixes(prefixes) => {
                let prefixes = prefixes.select(documents, Some);
                (prefixes.into_buckets()?, Vec::new())
            }
        };
        let kept = KeptBefore {
            positions: self.count,
            unlisted: &unlisted,
        };
        records.compared.with_similarity(observed, |similarity| {
            let task = ClusterTask {
                similarity,
                ranks: None,
                ..*task
            };
            Clusters::greedy_after(buckets.against(reference), &task, kept, advance)
        })
    }

    /// How many more were kept in each bucket of sorted members than a document is compared with; empty if nowhere more.
    fn unlisted(&self, members: &[Member], task: &ClusterTask<'_>) -> Vec<u32> {
        let more = |kept: &u32| task.unlisted(*kept);
        if self.buckets.values().all(|kept| more(kept) == 0) {
            return Vec::new();
        }
        let buckets = members.chunk_by(|a, b| bucket(a) == bucket(b));
        let kept = buckets.map(|members| self.buckets.get(&bucket(&members[0])));
        kept.map(|kept| kept.map_or(0, more)).collect()
    }

    /// Leaves what later blocks need of the `documents` of a block: the kept ones. Returns their positions in the block,
    /// in the order of their new ones.
    #[doc(hidden)]
    pub fn keep(
        &mut self,
        documents: usize,
        records: &mut PartRecords,
        removals: &[Removal],
        task: &ClusterTask<'_>,
    ) -> Result<Vec<u32>> {
        let mut stays = vec![true; documents];
        for removal in removals {
            stays[removal.document as usize] = false;
        }
        if let Members::OfBands(members) = &mut records.members {
            sort_by_key(members, |member| member.position);
            members.retain(|member| {
                let is_before = member.position < self.count;
                stays[member.position as usize] && (is_before || self.lists(member, task))
            });
            stays.fill(false);
            for member in members {
                stays[member.position as usize] = true;
            }
        }
        let positions = (0..).zip(&stays).filter(|(_, stays)| **stays);
        let left: Vec<u32> = positions.map(|(position, _)| position).collect();
        let position_of = |old: u32| {
            let new = left.binary_search(&old).ok()?;
            u32::try_from(new).ok()
        };
        *records = records.select(left.len(), position_of)?;
        self.count = row_number(left.len())?;
        Ok(left)
    }

    /// Counts a kept document in a bucket. Returns whether it is among those that later ones are compared with.
    fn lists(&mut self, member: &Member, task: &ClusterTask<'_>) -> bool {
        let kept = self.buckets.entry(bucket(member)).or_default();
        let is_listed = task.lists(*kept as usize);
        *kept = kept.saturating_add(1);
        is_listed
    }
}

fn bucket(member: &Member) -> (u32, u64) {
    (member.band, member.key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::{Banding, Unverified};
    use crate::search::observations::Observations;
    use crate::search::parameters::Search;
    use crate::search::part::BucketsOf;
    use crate::search::verification::Verification;

    const BANDS: usize = 3;

    /// The keys that a band has.
    const KEYS: usize = 3;

    type Document = (Vec<u64>, Vec<u64>);

    fn shape() -> PartShape {
        let banding = Banding::new(BANDS, 1, BANDS).unwrap();
        PartShape {
            search: Search::through_lsh(0.5, banding, Verification::Exact),
            num_perm: BANDS,
            weighted: false,
            buckets: BucketsOf::Bands(BANDS),
        }
    }

    /// Documents with keys and sets.
    fn documents() -> impl Strategy<Value = Vec<Document>> {
        let keys = prop::collection::vec(0..KEYS as u64, BANDS);
        let set = prop::collection::vec(0..6u64, 1..6);
        prop::collection::vec((keys, set), 1..40)
    }

    fn add(records: &mut PartRecords, position: u32, document: &Document) {
        let (keys, set) = document;
        for (band, key) in (0..).zip(keys.iter().copied()) {
            records.add_member(Member {
                band,
                key,
                position,
            });
        }
        records.add_compared(position, set).unwrap();
    }

    /// The clusters of all documents at a time.
    fn whole(documents: &[Document], most: usize) -> Clusters {
        let (shape, mut records) = (shape(), PartRecords::none(&shape()));
        (0..)
            .zip(documents)
            .for_each(|(at, document)| add(&mut records, at, document));
        let observed = Observations::none(BANDS);
        let (buckets, similarity) = records.finish(documents.len(), &shape, &observed).unwrap();
        let task = ClusterTask::new(&*similarity, shape.search.threshold).bounded(most);
        Clusters::greedy(buckets, &task, &mut |_| Ok(())).unwrap()
    }

    proptest! {
        #[test]
        fn blocks_find_what_the_whole_does(
            documents in documents(),
            most in prop_oneof![1usize..4, Just(usize::MAX)],
            size in 1usize..12,
        ) {
            let (shape, observed) = (shape(), Observations::none(BANDS));
            let task = ClusterTask::new(&Unverified, shape.search.threshold).bounded(most);
            let (mut kept, mut records) = (KeptDocuments::default(), PartRecords::none(&shape));
            let mut held: Vec<u32> = Vec::new();
            let mut all = Clusters::default();
            for block in (0..).take(documents.len()).collect::<Vec<u32>>().chunks(size) {
                for document in block {
                    let position = u32::try_from(held.len()).unwrap();
                    add(&mut records, position, &documents[*document as usize]);
                    held.push(*document);
                }
                let observed = Observed::Components(&observed);
                let go_on = &mut |_| Ok(());
                let block = Block {
                    documents: held.len(),
                    reference: None,
                    records: &records,
                };
                let found = kept.cluster(block, &shape, &task, observed, go_on);
                let found = found.unwrap();
                all.add(&found, |position| held[position as usize]);
                let left = kept.keep(held.len(), &mut records, &found.removals, &task).unwrap();
                held = left.iter().map(|position| held[*position as usize]).collect();
                // Memory holds no more kept documents than later ones are compared with.
                prop_assert!(held.len() <= (BANDS * KEYS).saturating_mul(most));
                prop_assert_eq!(held.len(), kept.count() as usize);
            }
            all.removals.sort_unstable_by_key(|removal| removal.document);
            prop_assert_eq!(all, whole(&documents, most));
        }
    }
}
