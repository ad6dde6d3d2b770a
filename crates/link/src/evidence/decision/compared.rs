//! The pairs that are compared, and random ones from which the rates of levels are counted.

use crate::evidence::candidates::{LeftOut, find};
use crate::evidence::levels::Levels;
use crate::evidence::stated::pairs_of;
use crate::evidence::values::{Field, number};
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};
use simgpu::scheme::fmix64;

/// Random pairs from which the rates of levels are counted, at most.
const RANDOM_PAIRS: usize = 400_000;

/// The pairs that are compared, and the levels of their fields.
pub(super) struct ComparedPairs {
    /// Candidates, then each record with copies as a pair of equal ones.
    pub(super) pairs: Vec<[u32; 2]>,
    /// How many pairs each stands for, copies included.
    pub(super) weights: Vec<f64>,
    /// The same without copies, for the candidates.
    pub(super) different: Vec<f32>,
    pub(super) levels: Levels,
    pub(super) random: Vec<[u32; 2]>,
    pub(super) random_levels: Levels,
    /// The records of the largest block that was taken.
    pub(super) largest: usize,
    pub(super) left_out: LeftOut,
}

impl ComparedPairs {
    /// Finds and compares the candidate pairs. `crossed` are pairs of fields whose values may stand crosswise, and `sizes`
    /// counts the copies of each record.
    pub(super) fn new(
        used: &[Field],
        crossed: &[[usize; 2]],
        sizes: &[u32],
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("compare", 1);
        let found = find(used, sizes.len());
        advance(progress, 1, 0, 0)?;
        let mut pairs: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.records).collect();
        let different: Vec<f32> = found.pairs.iter().map(|pair| pair.weight).collect();
        let size = |record: u32| f64::from(sizes[record as usize]);
        let weights = found.pairs.iter().map(|pair| {
            let [a, b] = pair.records;
            f64::from(pair.weight) * size(a) * size(b)
        });
        let mut weights: Vec<f64> = weights.collect();
        for (record, copies) in (0..).zip(sizes).filter(|(_, copies)| **copies > 1) {
            pairs.push([record; 2]);
            weights.push(pairs_of(*copies));
        }
        let random = random_pairs(sizes.len());
        Ok(ComparedPairs {
            levels: Levels::compare(used, crossed, &pairs, progress)?,
            random_levels: Levels::compare(used, crossed, &random, progress)?,
            pairs,
            weights,
            different,
            random,
            largest: found.largest,
            left_out: found.left_out,
        })
    }
}

/// Random pairs of different records; all of them, if they are few.
fn random_pairs(records: usize) -> Vec<[u32; 2]> {
    let all = records * records.saturating_sub(1) / 2;
    if all <= RANDOM_PAIRS {
        let rows = 0..number(records);
        let pairs = rows
            .clone()
            .flat_map(|a| (a + 1..rows.end).map(move |b| [a, b]));
        return pairs.collect();
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "less than the number of records"
    )]
    let random = |seed: u64| (fmix64(seed | 1 << 50) % records as u64) as u32;
    let pairs = (0..RANDOM_PAIRS as u64).map(|seed| [random(2 * seed), random(2 * seed + 1)]);
    pairs.filter(|[a, b]| a != b).collect()
}
