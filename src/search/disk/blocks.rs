//! A component of documents that memory does not hold, clustered greedily in blocks.

use super::parts::{BEFORE_SET, Known, LargeComponent, Parts, place_of};
use crate::error::{Result, row_number};
use crate::pipeline::{ClusterTask, Clusters, Reference};
use crate::search::blocks::{Block, KeptDocuments};
use crate::search::part::{GreedyInBlocks, Observed, PartRecords};
use crate::search::verification::Verification;
use crate::store::spill::Streams;

/// The distinct documents of a component, by position.
pub(crate) struct Blocks<'a> {
    parts: &'a Parts,
    component: LargeComponent,
}

/// The most blocks: each has two files.
const MOST_BLOCKS: usize = 512;

impl<'a> Blocks<'a> {
    pub(crate) fn new(parts: &'a Parts, component: LargeComponent) -> Self {
        Blocks { parts, component }
    }
}

impl GreedyInBlocks for Blocks<'_> {
    fn greedy(
        &self,
        task: &ClusterTask<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Clusters> {
        let shape = &self.parts.shape;
        let mut order: Vec<u32> = (0..).take(self.component.rows.len()).collect();
        if let Some(ranks) = task.ranks {
            order.sort_unstable_by_key(|position| ranks[*position as usize]);
        }
        let (block_of, count) = self.cut(&order)?;
        let blocks = [Known::Members, Known::Compared]
            .map(|known| Ok((known, self.divide(known, &block_of, count)?)));
        let blocks: Vec<(Known, Option<Streams>)> = blocks.into_iter().collect::<Result<_>>()?;
        let is_estimated = shape.search.verification == Verification::Signature;
        let groups = is_estimated.then(|| self.parts.open_groups(order.len()));
        let mut kept = KeptDocuments::default();
        let mut records = PartRecords::none(shape);
        // The kept documents that are held, and those of the block, by their position in the component.
        let mut held: Vec<u32> = Vec::new();
        let mut all = Clusters::default();
        let same_block = |a: &u32, b: &u32| block_of[*a as usize] == block_of[*b as usize];
        for (number, here) in order.chunk_by(same_block).enumerate() {
            let first = held.len();
            held.extend_from_slice(here);
            // All positions are row numbers.
            row_number(held.len())?;
            let position_of = self.positions_from(first, here)?;
            self.add_block(number, &blocks, &position_of, &mut records)?;
            let observed = match &groups {
                Some(groups) => Observed::Groups(groups, held.clone()),
                None => Observed::Components(&self.parts.observed),
            };
            let block = Block {
                documents: held.len(),
                reference: self.reference_among(&held),
                records: &records,
            };
            let found = kept.cluster(block, shape, task, observed, advance)?;
            all.add(&found, |position| held[position as usize]);
            let left = kept.keep(held.len(), &mut records, &found.removals, task)?;
            held = left
                .iter()
                .map(|position| held[*position as usize])
                .collect();
        }
        all.removals
            .sort_unstable_by_key(|removal| removal.document);
        Ok(all)
    }

    fn sizes(&self) -> Result<Vec<(u32, u32)>> {
        let (mut sizes, mut set) = (Vec::new(), Vec::new());
        self.for_each_record(Known::Compared, |position, record| {
            let words = &record[BEFORE_SET..];
            set.resize(words.len() / size_of::<u64>(), 0_u64);
            bytemuck::cast_slice_mut(&mut set).copy_from_slice(words);
            set.sort_unstable();
            set.dedup();
            sizes.push((position, row_number(set.len())?));
            Ok(())
        })?;
        Ok(sizes)
    }
}

impl Blocks<'_> {
    /// The reference among documents that are given by their position in the component.
    fn reference_among(&self, held: &[u32]) -> Option<Reference> {
        let reference = self.parts.reference?;
        let is_of = |position: &&u32| self.component.rows[**position as usize] < reference;
        // There are fewer of them than rows.
        let documents = held.iter().filter(is_of).count();
        let documents = u32::try_from(documents).unwrap_or(reference);
        Some(Reference::new(documents, self.parts.pairing))
    }

    /// The position of a row among the documents `here` of a block, if it is one of them. They get the positions from
    /// `first` on.
    fn positions_from(&self, first: usize, here: &[u32]) -> Result<impl Fn(u32) -> Option<u32>> {
        let mut positions: Vec<(u32, u32)> =
            here.iter().copied().zip(row_number(first)?..).collect();
        positions.sort_unstable();
        Ok(move |row: u32| {
            let component_position = self.position_of(row)?;
            let at = positions.binary_search_by_key(&component_position, |(position, _)| *position);
            Some(positions[at.ok()?].1)
        })
    }

    /// Adds what is known of the documents of a block, given what finds the position of a row.
    fn add_block(
        &self,
        number: usize,
        blocks: &[(Known, Option<Streams>)],
        position_of: &impl Fn(u32) -> Option<u32>,
        records: &mut PartRecords,
    ) -> Result<()> {
        for (known, blocks) in blocks {
            if let Some(blocks) = blocks {
                blocks.for_each_block(number, |block| {
                    self.parts.add_records(*known, block, position_of, records)
                })?;
            }
        }
        Ok(())
    }

    fn position_of(&self, row: u32) -> Option<u32> {
        place_of(row, &self.component.rows)
    }

    /// Cuts documents, which are in keep order, into blocks that fit in memory: returns the block of each position, and
    /// the number of blocks.
    fn cut(&self, order: &[u32]) -> Result<(Vec<u32>, usize)> {
        let mut bytes = vec![0; self.component.rows.len()];
        for known in [Known::Members, Known::Compared] {
            self.for_each_record(known, |position, record| {
                let record = record.len() as u64;
                bytes[position as usize] += self.parts.memory_bytes(known, record);
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
            let document_bytes = bytes[*position as usize];
            if in_block > 0 && in_block + document_bytes > most {
                block += 1;
                in_block = 0;
            }
            in_block += document_bytes;
            block_of[*position as usize] = block;
        }
        Ok((block_of, block as usize + 1))
    }

    /// Divides the records of the component: `block_of` is the block of each position. `None` if nothing of the kind is
    /// known.
    fn divide(&self, known: Known, block_of: &[u32], count: usize) -> Result<Option<Streams>> {
        let Some(file) = self.parts.file(known, self.component.part) else {
            return Ok(None);
        };
        // Another component of the part may be in work at the same time.
        let first = self.component.rows.first().copied().unwrap_or_default();
        let mut blocks = Streams::dividing(file, &format!("block-{first}"), count);
        self.for_each_record(known, |position, record| {
            blocks.push(block_of[position as usize] as usize, record)
        })?;
        blocks.flush()?;
        Ok(Some(blocks))
    }

    /// Calls `each` with the records of the documents of the component, and the position of each.
    fn for_each_record(
        &self,
        known: Known,
        mut each: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let file = self.parts.file(known, self.component.part);
        file.map_or(Ok(()), |file| {
            file.for_each_block(|block| {
                for record in self.parts.records_in(known, block) {
                    let (row, record) = record?;
                    if let Some(position) = self.position_of(row) {
                        each(position, record)?;
                    }
                }
                Ok(())
            })
        })
    }
}
