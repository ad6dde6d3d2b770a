//! Candidate pairs: records that share a value, a part of one (see [`Kind::parts`](super::kinds::Kind)), or two values, in blocks from the smallest up.
//!
//! A pair is taken once: in the smallest block that both records are in. Of a block beyond [`WHOLE`] records, each record is
//! compared with [`PARTNERS`] others by random steps around a ring; such a pair stands for all pairs of the block, so it has
//! a weight. So an entity of thousands of records keeps its evidence, and pairs are linear in the records.

use rayon::prelude::*;

use super::values::{Field, MISSING, number};
use simgpu::scheme::fmix64;

/// Records of a block of which all pairs are taken, at most.
const WHOLE: usize = 400;

/// Records of a block that is used at all, at most.
const MOST: usize = 1 << 14;

/// Of a larger block, each record has twice as many partners.
const PARTNERS: usize = 24;

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
struct KeyBlocks {
    records: Vec<u32>,
    ends: Vec<usize>,
    left_out: LeftOut,
    /// Whether each record is in a block that is left out.
    lacks: Vec<bool>,
}

impl KeyBlocks {
    fn block(&self, block: usize) -> &[u32] {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        &self.records[start..self.ends[block]]
    }

    /// Adds the records with equal keys.
    fn add(&mut self, mut keyed: Vec<(u64, u32)>) {
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
    fn leave_out(&self, order: &[usize], taken: usize) -> LeftOut {
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
fn all_pairs(records: usize) -> u64 {
    let records = records as u64;
    records * records.saturating_sub(1) / 2
}

/// The pairs that a block of so many records has.
fn pairs_of(records: usize) -> u64 {
    match records {
        0..=WHOLE => all_pairs(records),
        _ => (records * PARTNERS) as u64,
    }
}

/// Finds the candidate pairs of so many records.
pub(crate) fn find(fields: &[Field], records: usize) -> CandidatePairs {
    let blocks = all_blocks(fields, records);
    let mut order: Vec<usize> = (0..blocks.ends.len()).collect();
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
    let mut blocks = KeyBlocks {
        lacks: vec![false; records],
        ..KeyBlocks::default()
    };
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evidence::kinds::Kind;
    use crate::evidence::values::{Column, Fields};

    /// Fields of random values out of so many each.
    fn fields(records: u64, values: &[u64]) -> Fields {
        let columns = (0_u64..).zip(values).map(|(field, values)| {
            let value = |row| format!("v{}", fmix64(row << 8 | field) % values);
            Column::new(
                &(0..records).map(value).collect::<Vec<_>>(),
                Some(Kind::Name),
                &|_| None,
            )
        });
        Fields::from_columns(columns)
    }

    #[test]
    fn small_blocks_give_every_pair_once() {
        let fields = fields(300, &[20, 30, 50]).used;
        let found = find(&fields, 300);
        let mut pairs: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.records).collect();
        pairs.sort_unstable();
        let shares =
            |a: usize, b: usize| fields.iter().any(|field| field.codes[a] == field.codes[b]);
        let mut expected = Vec::new();
        for a in 0..300_usize {
            let others = (a + 1..300).filter(|b| shares(a, *b));
            expected.extend(others.map(|b| [number(a), number(b)]));
        }
        assert_eq!(pairs, expected);
        assert!(found.pairs.iter().all(|pair| pair.weight == 1.0));
    }

    #[test]
    fn large_blocks_are_sampled_with_weights() {
        // Three values of two thousand records each, and words that hardly any two share.
        let fields = fields(6000, &[3, 1 << 40]).used;
        let found = find(&fields, 6000);
        let mut pairs_of_value: BTreeMap<u32, f64> = BTreeMap::new();
        for pair in &found.pairs {
            let [a, b] = pair.records.map(|record| fields[0].codes[record as usize]);
            assert_eq!(a, b);
            *pairs_of_value.entry(a).or_default() += f64::from(pair.weight);
        }
        for (value, pairs) in pairs_of_value {
            let records = f64::from(fields[0].records[value as usize]);
            let all = records * (records - 1.0) / 2.0;
            assert!((pairs / all - 1.0).abs() < 1e-3, "{pairs} {all}");
        }
        assert!(found.pairs.len() <= 6000 * PARTNERS);
        assert!(found.largest > 1900);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        // All records share a value, and three quarters of them share one of rarer values with some others.
        let records = 20_000;
        let common = vec!["common".to_owned(); records];
        let rare = (0..records).map(|row| match row % 4 {
            0 => format!("alone{row}"),
            _ => format!("v{}", row / 40),
        });
        let columns = [common, rare.collect()];
        let fields = Fields::from_columns(columns.iter().map(|column| {
            let mut column = column.clone();
            // A field of one value is not used.
            column[0] = "other".to_owned();
            Column::new(&column, None, &|_| None)
        }));
        let found = find(&fields.used, records).left_out;
        let expected = LeftOut {
            groups: 1,
            pairs: 19_999 * 19_998 / 2,
            records: records as u64 / 4 - 1,
            not_drawn: 0,
        };
        assert_eq!(found, expected);
        // Where blocks are drawn from, the others of their pairs are counted.
        let fields = self::fields(6000, &[3, 1 << 40]).used;
        let found = find(&fields, 6000);
        let all: u64 = fields[0]
            .records
            .iter()
            .map(|n| all_pairs(*n as usize))
            .sum();
        assert_eq!(found.left_out.not_drawn, all - 6000 * PARTNERS as u64);
        assert_eq!((found.left_out.groups, found.left_out.records), (0, 0));
    }

    #[test]
    fn pairs_are_bounded() {
        let fields = fields(20_000, &[60, 70, 80, 90]).used;
        let found = find(&fields, 20_000);
        let most = budget(PAIRS_PER_RECORD, 20_000) + budget(SAMPLED_PER_RECORD, 20_000);
        assert!(found.pairs.len() as u64 <= most);
        assert!(found.pairs.len() > 20_000);
    }
}
