//! Candidate pairs: records that share a value, a part of one (see [`Kind::parts`](crate::evidence::kinds::Kind)), or two values, in blocks from the smallest up.
//!
//! A pair is taken once: in the smallest block that both records are in. Of a block beyond [`WHOLE`] records, each record is
//! compared with [`PARTNERS`] others by random steps around a ring; such a pair stands for all pairs of the block, so it has
//! a weight. So an entity of thousands of records keeps its evidence, and pairs are linear in the records.

mod blocks;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub use self::blocks::LeftOut;
use self::blocks::{KeyBlocks, PARTNERS, WHOLE, pairs_of};
use super::values::{Field, MISSING, number};
use simgpu::scheme::fmix64;

/// Pairs of all blocks, for each record, before those that are in several blocks are taken once.
const PAIRS_PER_RECORD: u64 = 600;

/// The same for blocks beyond [`WHOLE`].
const SAMPLED_PER_RECORD: u64 = 600;

/// Records up to which the pairs grow in proportion; of more, they grow with the square root.
const PROPORTIONAL: f64 = 1e4;

/// The most pairs for so many records.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bound"
)]
fn budget(per_record: u64, records: usize) -> u64 {
    let records = records as f64;
    let scale = (PROPORTIONAL / records).sqrt().min(1.0);
    (per_record as f64 * records * scale) as u64
}

/// Two records to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// The lower record first.
    pub(crate) records: [u32; 2],
    /// How many pairs it stands for.
    pub(crate) weight: f32,
}

/// The candidate pairs.
#[derive(Debug, Default)]
pub(crate) struct CandidatePairs {
    pub(crate) pairs: Vec<Candidate>,
    /// The records of the largest block that was taken.
    pub(crate) largest: usize,
    pub(crate) left_out: LeftOut,
}

/// Finds the candidate pairs of so many records.
pub(crate) fn find(fields: &[Field], records: usize) -> CandidatePairs {
    let blocks = all_blocks(fields, records);
    let mut order: Vec<usize> = (0..blocks.ends.len()).collect();
    // The smallest blocks come first: their pairs are the likeliest, and the sort keeps the order of equals.
    order.sort_by_key(|block| blocks.block(*block).len());
    let most = [PAIRS_PER_RECORD, SAMPLED_PER_RECORD].map(|pairs| budget(pairs, records));
    let mut pairs = [0; 2];
    let taken = order.iter().take_while(|block| {
        let records = blocks.block(**block).len();
        let is_sampled = usize::from(records > WHOLE);
        pairs[is_sampled] += pairs_of(records);
        pairs[is_sampled] <= most[is_sampled]
    });
    let taken = taken.count();
    let left_out = blocks.leave_out(&order, taken);
    order.truncate(taken);
    let largest = order.last().map_or(0, |block| blocks.block(*block).len());
    let places = BlockPlaces::new(&blocks, &order, records);
    const CHUNK: usize = 256;
    let parts: Vec<Vec<Candidate>> = order
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, part)| {
            let mut pairs = Vec::new();
            for (place, block) in (chunk * CHUNK..).zip(part) {
                take(blocks.block(*block), number(place), &places, &mut pairs);
            }
            pairs
        })
        .collect();
    let pairs = parts.concat();
    CandidatePairs {
        pairs,
        largest,
        left_out,
    }
}

/// The blocks of all keys: values, words, and pairs of values.
fn all_blocks(fields: &[Field], records: usize) -> KeyBlocks {
    let mut blocks = KeyBlocks::new(records);
    let rows = || (0..).take(records);
    for field in fields {
        let keyed = rows().zip(&field.codes);
        let keyed =
            keyed.filter(|(_, code)| **code != MISSING && field.records[**code as usize] > 1);
        blocks.add(keyed.map(|(row, code)| (u64::from(*code), row)).collect());
        if let Some(words) = &field.words {
            let mut keyed = Vec::new();
            for (row, code) in rows()
                .zip(&field.codes)
                .filter(|(_, code)| **code != MISSING)
            {
                let parts = words.vector(*code).iter();
                keyed.extend(parts.map(|(word, _)| (u64::from(*word), row)));
            }
            blocks.add(keyed);
        }
    }
    for (place, field) in fields.iter().enumerate() {
        for other in &fields[place + 1..] {
            let both = rows().zip(field.codes.iter().zip(&other.codes));
            let repeats =
                |field: &Field, code: u32| code != MISSING && field.records[code as usize] > 1;
            let both = both.filter(|(_, (x, y))| repeats(field, **x) && repeats(other, **y));
            blocks.add(
                both.map(|(row, (x, y))| (u64::from(*x) << 32 | u64::from(*y), row))
                    .collect(),
            );
        }
    }
    blocks
}

/// For each record, the places of its blocks in the order in which they are taken.
struct BlockPlaces {
    places: Vec<u32>,
    ends: Vec<usize>,
}

impl BlockPlaces {
    fn new(blocks: &KeyBlocks, order: &[usize], records: usize) -> Self {
        let mut ends = vec![0; records];
        for block in order {
            blocks
                .block(*block)
                .iter()
                .for_each(|record| ends[*record as usize] += 1);
        }
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut places = vec![0; total];
        for (place, block) in (0..).zip(order) {
            for record in blocks.block(*block) {
                let end = &mut ends[*record as usize];
                places[*end] = place;
                *end += 1;
            }
        }
        BlockPlaces { places, ends }
    }

    fn all(&self, record: u32) -> &[u32] {
        let record = record as usize;
        let start = if record == 0 {
            0
        } else {
            self.ends[record - 1]
        };
        &self.places[start..self.ends[record]]
    }

    /// The blocks of a record that come before the one at `place`.
    fn before(&self, record: u32, place: u32) -> &[u32] {
        let places = self.all(record);
        &places[..places.partition_point(|other| *other < place)]
    }
}

/// Whether two ascending lists have a number in common. Steps without branches: which of two numbers is the lower one cannot
/// be foreseen.
fn have_common(a: &[u32], b: &[u32]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            return true;
        }
        i += usize::from(x < y);
        j += usize::from(y < x);
    }
    false
}

/// Takes the pairs of a block that no earlier block has.
fn take(block: &[u32], place: u32, places: &BlockPlaces, pairs: &mut Vec<Candidate>) {
    let mut ring = block.to_vec();
    if ring.len() > WHOLE {
        ring.sort_unstable_by_key(|record| fmix64(u64::from(*record) | 1 << 40));
    }
    let before = ring.iter().map(|record| places.before(*record, place));
    let before: Vec<&[u32]> = before.collect();
    let mut add = |a: usize, b: usize, weight: f32| {
        if !have_common(before[a], before[b]) {
            let (a, b) = (ring[a], ring[b]);
            let records = [a.min(b), a.max(b)];
            pairs.push(Candidate { records, weight });
        }
    };
    if ring.len() <= WHOLE {
        for a in 0..ring.len() {
            (a + 1..ring.len()).for_each(|b| add(a, b, 1.0));
        }
        return;
    }
    let steps = steps(ring.len());
    #[allow(clippy::cast_possible_truncation, reason = "a weight below 2^14")]
    let weight = (ring.len() - 1) as f32 / (2 * steps.len()) as f32;
    for a in 0..ring.len() {
        for step in &steps {
            add(a, (a + step) % ring.len(), weight);
        }
    }
}

/// Random steps around a ring of so many records, each less than half of it, in ascending order.
fn steps(records: usize) -> Vec<usize> {
    let half = (records as u64 - 1) / 2;
    let mut steps = Vec::new();
    for seed in 0.. {
        let step = 1 + fmix64(seed << 20 | records as u64) % half;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "less than the records of a block"
        )]
        let step = step as usize;
        if !steps.contains(&step) {
            steps.push(step);
        }
        if steps.len() == PARTNERS {
            break;
        }
    }
    steps.sort_unstable();
    steps
}
