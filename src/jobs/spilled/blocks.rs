//! A component of documents that memory does not hold, clustered greedily in blocks.
//!
//! Greedy clustering compares a document with the kept documents before it in keep order alone. So the documents come in
//! blocks, in that order, and each block is in memory together with the documents that were kept before: hardly any if
//! most of the component are near-duplicates of each other.

use std::collections::HashSet;

use super::parts::{LargeComponent, Parts};
use crate::error::Result;
use crate::pipeline::{ClusterTask, Clusters, Removal};
use crate::store::spill::Streams;

/// The distinct documents of a component, by position.
pub(crate) struct Blocks<'a> {
    parts: &'a Parts,
    component: &'a LargeComponent,
}

/// The most blocks: each has two files.
const MOST_BLOCKS: usize = 512;

/// The records of a component: the members of its buckets, and what compares its documents.
struct Records {
    members: Streams,
    /// `None` without verification.
    compared: Option<Streams>,
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
        let (block_of, blocks) = self.divide(&order)?;
        let records = self.records("block", blocks, |position| {
            Some(block_of[position as usize] as usize)
        })?;
        // The records of the documents that are kept so far.
        let mut kept_records = self.empty("kept", 1);
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
                let buckets = self
                    .parts
                    .buckets_of(universe.len(), number_of, &mut |each| {
                        kept_records.members.for_each_block(0, &mut *each)?;
                        records.members.for_each_block(block, each)
                    })?;
                let similarity =
                    self.parts
                        .similarity_of(universe.len(), number_of, &mut |each| {
                            if let Some(compared) = &kept_records.compared {
                                compared.for_each_block(0, &mut *each)?;
                            }
                            match &records.compared {
                                Some(compared) => compared.for_each_block(block, each),
                                None => Ok(()),
                            }
                        })?;
                let task = ClusterTask {
                    similarity: &*similarity,
                    ranks: None,
                    ..*task
                };
                // There are fewer documents than 2^32.
                let known = u32::try_from(kept.len()).unwrap_or(u32::MAX);
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
            self.copy(&records, block, &mut kept_records, stays)?;
        }
        all.removals
            .sort_unstable_by_key(|removal| removal.position);
        Ok(all)
    }

    fn position_of(&self, row: u32) -> Option<u32> {
        let position = self.component.rows.binary_search(&row).ok()?;
        u32::try_from(position).ok()
    }

    /// Divides documents, which are in keep order, into blocks that fit in memory: returns the block of each position,
    /// and the number of blocks.
    fn divide(&self, order: &[u32]) -> Result<(Vec<u32>, usize)> {
        let mut bytes = vec![0; self.component.rows.len()];
        let mut add = |row, more: u64| {
            if let Some(position) = self.position_of(row) {
                bytes[position as usize] += more;
            }
        };
        self.parts.members[self.component.part].for_each_block(|block| {
            let mut members = self.parts.members_in(block);
            members
                .by_ref()
                .for_each(|(row, record)| add(row, self.parts.member_bytes(record)));
            Ok(())
        })?;
        if let Some(file) = self.parts.compared.get(self.component.part) {
            file.for_each_block(|block| {
                let compared = self.parts.compared_in(block);
                compared.for_each(|(row, record)| add(row, record.len() as u64));
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

    /// No records yet, in `count` streams with this word in their names.
    fn empty(&self, word: &str, count: usize) -> Records {
        // Another component of the part may be in work at the same time.
        let first = self.component.rows.first().copied().unwrap_or_default();
        let ending = &format!("{word}-{first}");
        let compared = self.parts.compared.get(self.component.part);
        Records {
            members: Streams::dividing(&self.parts.members[self.component.part], ending, count),
            compared: compared.map(|file| Streams::dividing(file, ending, count)),
        }
    }

    /// The records of all documents, each in the stream that `stream_of` names for its position.
    fn records(
        &self,
        word: &str,
        count: usize,
        stream_of: impl Fn(u32) -> Option<usize>,
    ) -> Result<Records> {
        let mut records = self.empty(word, count);
        let stream_of = |row| stream_of(self.position_of(row)?);
        let members = &mut records.members;
        self.parts.members[self.component.part].for_each_block(|block| {
            for (row, record) in self.parts.members_in(block) {
                if let Some(stream) = stream_of(row) {
                    members.push(stream, record)?;
                }
            }
            Ok(())
        })?;
        members.flush()?;
        if let (Some(compared), Some(file)) = (
            &mut records.compared,
            self.parts.compared.get(self.component.part),
        ) {
            file.for_each_block(|block| {
                for (row, record) in self.parts.compared_in(block) {
                    if let Some(stream) = stream_of(row) {
                        compared.push(stream, record)?;
                    }
                }
                Ok(())
            })?;
            compared.flush()?;
        }
        Ok(records)
    }

    /// Copies the records of a block at the positions that `stays` accepts.
    fn copy(
        &self,
        records: &Records,
        block: usize,
        to: &mut Records,
        stays: impl Fn(&u32) -> bool,
    ) -> Result<()> {
        let stays = |row| {
            self.position_of(row)
                .is_some_and(|position| stays(&position))
        };
        records.members.for_each_block(block, |bytes| {
            let mut members = self.parts.members_in(bytes).filter(|(row, _)| stays(*row));
            members.try_for_each(|(_, record)| to.members.push(0, record))
        })?;
        to.members.flush()?;
        if let (Some(compared), Some(to)) = (&records.compared, &mut to.compared) {
            compared.for_each_block(block, |bytes| {
                let mut compared = self.parts.compared_in(bytes).filter(|(row, _)| stays(*row));
                compared.try_for_each(|(_, record)| to.push(0, record))
            })?;
            to.flush()?;
        }
        Ok(())
    }
}
