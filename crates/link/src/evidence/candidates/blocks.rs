//! Blocks of records that share a key, and what their bounds leave out.

use rayon::prelude::*;

/// Records of a block of which all pairs are taken, at most.
pub(super) const WHOLE: usize = 400;

/// Records of a block that is used at all, at most.
const MOST: usize = 1 << 14;

/// Of a larger block, each record has twice as many partners.
pub(super) const PARTNERS: usize = 24;

/// What the bounds leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Groups of records that share a value, a word or two values, and are not compared by it: it is too common.
    pub groups: u64,
    /// The pairs of records of these groups; a pair of several groups counts in each.
    pub pairs: u64,
    /// Records that are in such a group, and in none that is compared.
    pub records: u64,
    /// Pairs of large groups of which others were drawn in their place.
    pub not_drawn: u64,
}

/// Blocks of records that share something, one after the other.
#[derive(Debug, Default)]
pub(super) struct KeyBlocks {
    records: Vec<u32>,
    pub(super) ends: Vec<usize>,
    left_out: LeftOut,
    /// Whether each record is in a block that is left out.
    lacks: Vec<bool>,
}

impl KeyBlocks {
    /// No blocks yet, of so many records.
    pub(super) fn new(records: usize) -> Self {
        KeyBlocks {
            lacks: vec![false; records],
            ..KeyBlocks::default()
        }
    }

    pub(super) fn block(&self, block: usize) -> &[u32] {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        &self.records[start..self.ends[block]]
    }

    /// Adds the records with equal keys.
    pub(super) fn add(&mut self, mut keyed: Vec<(u64, u32)>) {
        keyed.par_sort_unstable();
        for equal in keyed.chunk_by(|a, b| a.0 == b.0) {
            let records = equal.iter().map(|(_, record)| *record);
            match equal.len() {
                0 | 1 => {}
                2..=MOST => {
                    self.records.extend(records);
                    self.ends.push(self.records.len());
                }
                _ => leave_out(&mut self.left_out, &mut self.lacks, records),
            }
        }
    }

    /// Counts the blocks that are not taken, which come last in `order`.
    pub(super) fn leave_out(&self, order: &[usize], taken: usize) -> LeftOut {
        let (taken, others) = order.split_at(taken);
        let (mut left_out, mut lacks) = (self.left_out, self.lacks.clone());
        for block in others {
            leave_out(
                &mut left_out,
                &mut lacks,
                self.block(*block).iter().copied(),
            );
        }
        for records in taken.iter().map(|block| self.block(*block)) {
            records
                .iter()
                .for_each(|record| lacks[*record as usize] = false);
            if records.len() > WHOLE {
                left_out.not_drawn += all_pairs(records.len()) - pairs_of(records.len());
            }
        }
        left_out.records = lacks.into_iter().filter(|lacks| *lacks).count() as u64;
        left_out
    }
}

/// Adds a block to what is left out.
fn leave_out(
    left_out: &mut LeftOut,
    lacks: &mut [bool],
    records: impl ExactSizeIterator<Item = u32>,
) {
    left_out.groups += 1;
    left_out.pairs = left_out.pairs.saturating_add(all_pairs(records.len()));
    records.for_each(|record| lacks[record as usize] = true);
}

/// All pairs of so many records, of which there are less than 2^32.
pub(super) fn all_pairs(records: usize) -> u64 {
    let records = records as u64;
    records * records.saturating_sub(1) / 2
}

/// The pairs that a block of so many records has.
pub(super) fn pairs_of(records: usize) -> u64 {
    match records {
        0..=WHOLE => all_pairs(records),
        _ => (records * PARTNERS) as u64,
    }
}
