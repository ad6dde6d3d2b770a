//! A component of documents that memory does not hold, clustered greedily in blocks.
//!
//! Greedy clustering compares a document with the kept documents before it in keep order alone. So the documents come in
//! blocks, in that order, and each block is in memory together with the documents that were kept before: hardly any if
//! most of the component are near-duplicates of each other.

use std::collections::HashSet;

use super::parts::{Known, LargeComponent, Parts};
use crate::error::{Result, row_number};
use crate::pipeline::{ClusterTask, Clusters, KeptBefore, Removal};
use crate::search::verification::Verification;
use crate::store::spill::{Stored, Streams};

/// The distinct documents of a component, by position.
pub(crate) struct Blocks<'a> {
    parts: &'a Parts,
    component: &'a LargeComponent,
}

/// The most blocks: each has two files.
const MOST_BLOCKS: usize = 512;

/// What is known of the documents of a component, in blocks.
struct Divided<'a> {
    of: &'a Blocks<'a>,
    known: Known,
    /// The records of each block.
    blocks: Streams,
    /// The records of the documents that are kept so far.
    kept: Streams,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(parts: &'a Parts, component: &'a LargeComponent) -> Self {
        Blocks { parts, component }
    }

    /// What [`Clusters::greedy`] returns of the whole component. The similarity of `task` is not used.
    pub(crate) fn greedy(
        &self,
        task: &ClusterTask<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Clusters> {
        let mut order: Vec<u32> = (0..).take(self.component.rows.len()).collect();
        if let Some(ranks) = task.ranks {
            order.sort_unstable_by_key(|position| ranks[*position as usize]);
        }
        let (block_of, blocks) = self.cut(&order)?;
        let divide = |known| Divided::new(self, known, blocks, &block_of);
        let (mut members, mut compared) = (divide(Known::Members)?, divide(Known::Compared)?);
        let is_estimated = self.parts.search().verification == Verification::Signature;
        let groups = is_estimated.then(|| self.parts.open_groups(order.len()));
        let mut kept: Vec<u32> = Vec::new();
        let mut all = Clusters::default();
        let mut rest = order.as_slice();
        for block in 0..blocks {
            let is_here = |position: &&u32| block_of[**position as usize] as usize == block;
            let (here, after) = rest.split_at(rest.iter().take_while(is_here).count());
            rest = after;
            let universe = [&kept, here].concat();
            let found = {
                let mut numbers: Vec<(u32, u32)> = universe
                    .iter()
                    .zip(0..)
                    .map(|(position, number)| (*position, number))
                    .collect();
                numbers.sort_unstable();
                let number_of = |row: u32| {
                    let position = self.position_of(row)?;
                    let at = numbers.binary_search_by_key(&position, |(position, _)| *position);
                    Some(numbers[at.ok()?].1)
                };
                let read =
                    |known: &Option<Divided<'_>>,
                     each: &mut dyn FnMut(Stored<'_>) -> Result<()>| {
                        let known = known.as_ref();
                        known.map_or(Ok(()), |known| known.for_each_block(block, each))
                    };
                let (parts, documents) = (self.parts, universe.len());
                let buckets =
                    parts.buckets_of(documents, number_of, &mut |each| read(&members, each))?;
                let groups = groups.as_ref().map(|groups| (groups, &*universe));
                let similarity =
                    parts.similarity_of(documents, number_of, groups, &mut |each| {
                        read(&compared, each)
                    })?;
                let task = ClusterTask {
                    similarity: &*similarity,
                    ranks: None,
                    ..*task
                };
                let known = KeptBefore {
                    positions: row_number(kept.len())?,
                    unlisted: &[],
                };
                Clusters::greedy_after(buckets, &task, known, advance)?
            };
            all.compared += found.compared;
            all.similar += found.similar;
            all.omitted.pairs += found.omitted.pairs;
            all.omitted.buckets += found.omitted.buckets;
            let position = |number: u32| universe[number as usize];
            let removed: HashSet<u32> = found
                .removals
                .iter()
                .map(|removal| position(removal.position))
                .collect();
            all.removals
                .extend(found.removals.iter().map(|removal| Removal {
                    position: position(removal.position),
                    kept: position(removal.kept),
                    ..*removal
                }));
            let stays = |position: &u32| !removed.contains(position);
            kept.extend(here.iter().copied().filter(stays));
            for known in [&mut members, &mut compared].into_iter().flatten() {
                known.keep(block, stays)?;
            }
        }
        all.removals
            .sort_unstable_by_key(|removal| removal.position);
        Ok(all)
    }

    fn position_of(&self, row: u32) -> Option<u32> {
        let position = self.component.rows.binary_search(&row).ok()?;
        u32::try_from(position).ok()
    }

    /// Cuts documents, which are in keep order, into blocks that fit in memory: returns the block of each position, and
    /// the number of blocks.
    fn cut(&self, order: &[u32]) -> Result<(Vec<u32>, usize)> {
        let mut bytes = vec![0; self.component.rows.len()];
        for known in [Known::Members, Known::Compared] {
            let Some(file) = self.parts.file(known, self.component.part) else {
                continue;
            };
            file.for_each_block(|block| {
                for record in self.parts.records_in(known, block) {
                    let (row, record) = record?;
                    if let Some(position) = self.position_of(row) {
                        let record = record.len() as u64;
                        bytes[position as usize] += self.parts.memory_bytes(known, record);
                    }
                }
                Ok(())
            })?;
        }
        let all: u64 = bytes.iter().sum();
        let most = (self.parts.most_bytes as u64 / 2)
            .max(all / MOST_BLOCKS as u64 * 2)
            .max(1);
        let mut block_of = vec![0; self.component.rows.len()];
        let (mut block, mut in_block) = (0, 0);
        for position in order {
            let of_document = bytes[*position as usize];
            if in_block > 0 && in_block + of_document > most {
                block += 1;
                in_block = 0;
            }
            in_block += of_document;
            block_of[*position as usize] = block;
        }
        Ok((block_of, block as usize + 1))
    }
}

impl<'a> Divided<'a> {
    /// Divides the records of a component: `block_of` is the block of each position. `None` if nothing of the kind is
    /// known.
    fn new(
        of: &'a Blocks<'a>,
        known: Known,
        blocks: usize,
        block_of: &[u32],
    ) -> Result<Option<Self>> {
        let Some(file) = of.parts.file(known, of.component.part) else {
            return Ok(None);
        };
        // Another component of the part may be in work at the same time.
        let first = of.component.rows.first().copied().unwrap_or_default();
        let streams =
            |word: &str, count| Streams::dividing(file, &format!("{word}-{first}"), count);
        let (mut blocks, kept) = (streams("block", blocks), streams("kept", 1));
        file.for_each_block(|block| {
            for record in of.parts.records_in(known, block) {
                let (row, record) = record?;
                if let Some(position) = of.position_of(row) {
                    blocks.push(block_of[position as usize] as usize, record)?;
                }
            }
            Ok(())
        })?;
        blocks.flush()?;
        Ok(Some(Divided {
            of,
            known,
            blocks,
            kept,
        }))
    }

    /// Calls `each` with the records of the documents that are kept so far, and of those of a block.
    fn for_each_block(
        &self,
        block: usize,
        each: &mut dyn FnMut(Stored<'_>) -> Result<()>,
    ) -> Result<()> {
        self.kept.for_each_block(0, &mut *each)?;
        self.blocks.for_each_block(block, each)
    }

    /// Adds the records of a block at the positions that `stays` accepts to those of kept documents.
    fn keep(&mut self, block: usize, stays: impl Fn(&u32) -> bool) -> Result<()> {
        let Divided {
            of,
            known,
            blocks,
            kept,
        } = self;
        blocks.for_each_block(block, |bytes| {
            for record in of.parts.records_in(*known, bytes) {
                let (row, record) = record?;
                if of.position_of(row).is_some_and(|position| stays(&position)) {
                    kept.push(0, record)?;
                }
            }
            Ok(())
        })?;
        kept.flush()
    }
}
