//! Compares two partitions of the same records, by the sizes of their cells.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::measures::{Agreement, BCubed};
use simgpu::error::{Error, Result};

/// Two partitions of records, each with the entity of every record by a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partitions<'a> {
    /// The entity that was found for each record.
    pub(super) found: &'a [u32],
    /// Its true entity.
    pub(super) truth: &'a [u32],
}

/// The records that one entity found and one true entity have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    found: u32,
    truth: u32,
    records: u64,
}

/// How far two partitions agree.
#[derive(Debug)]
pub(super) struct PartitionAgreement {
    /// Of pairs within entities.
    pub(super) pairs: Agreement,
    /// Of entities of two or more records.
    pub(super) entities: Agreement,
    /// `None` without records.
    pub(super) b_cubed: Option<BCubed>,
}

/// The number of pairs of `n` things.
pub(super) fn pairs_of(n: u64) -> Result<u64> {
    u64::try_from(u128::from(n) * u128::from(n.saturating_sub(1)) / 2).map_err(|_| too_many())
}

/// The sum of counts.
pub(super) fn sum(counts: impl IntoIterator<Item = Result<u64>>) -> Result<u64> {
    let mut all = 0_u64;
    for count in counts {
        all = all.checked_add(count?).ok_or_else(too_many)?;
    }
    Ok(all)
}

/// The error of more pairs than a number holds.
pub(super) fn too_many() -> Error {
    Error::Parameter {
        name: "the number of pairs",
        value: "2^64 or more".to_owned(),
        expected: "fewer records".to_owned(),
    }
}

impl Partitions<'_> {
    /// Compares both, in time n log n, whatever the number of pairs.
    pub(super) fn compare(self) -> Result<PartitionAgreement> {
        let cells = self.cells();
        let found = sizes(&cells, |cell| cell.found);
        let truth = sizes(&cells, |cell| cell.truth);
        let pairs = |sizes: &HashMap<u32, u64>| sum(sizes.values().map(|n| pairs_of(*n)));
        let right = sum(cells.iter().map(|cell| pairs_of(cell.records)))?;
        let entities =
            |sizes: &HashMap<u32, u64>| sizes.values().filter(|records| **records > 1).count();
        let is_exact = |cell: &&Cell| {
            let size = cell.records;
            size > 1 && found[&cell.found] == size && truth[&cell.truth] == size
        };
        let exact = cells.iter().filter(is_exact).count();
        Ok(PartitionAgreement {
            pairs: Agreement::new(pairs(&found)?, pairs(&truth)?, right),
            entities: Agreement::new(
                entities(&found) as u64,
                entities(&truth) as u64,
                exact as u64,
            ),
            b_cubed: (!cells.is_empty()).then(|| {
                let mean = |size: &dyn Fn(&Cell) -> u64| {
                    let part = |cell: &Cell| {
                        let records = cell.records as f64;
                        records * records / size(cell) as f64
                    };
                    let mut parts: Vec<f64> = cells.iter().map(part).collect();
                    // The sum must not depend on how entities are numbered.
                    parts.sort_by(f64::total_cmp);
                    parts.iter().sum::<f64>() / self.found.len() as f64
                };
                BCubed::new(
                    mean(&|cell| found[&cell.found]),
                    mean(&|cell| truth[&cell.truth]),
                )
            }),
        })
    }

    /// The cells, by found and then by true entity.
    fn cells(self) -> Vec<Cell> {
        let mut records: Vec<(u32, u32)> = self
            .found
            .iter()
            .copied()
            .zip(self.truth.iter().copied())
            .collect();
        records.par_sort_unstable();
        let cells = records.chunk_by(|a, b| a == b);
        let cell = |records: &[(u32, u32)]| {
            let (found, truth) = records[0];
            Cell {
                found,
                truth,
                records: records.len() as u64,
            }
        };
        cells.map(cell).collect()
    }

    /// The first wrong pairs, at most `most`: the first record of an entity found, with the first record in it of each
    /// further true entity.
    pub(super) fn wrong(self, most: usize) -> Vec<[usize; 2]> {
        separated_pairs(self.found, self.truth, most)
    }

    /// The first missed pairs, at most `most`: the first record of a true entity, with its first record in each further
    /// entity found.
    pub(super) fn missed(self, most: usize) -> Vec<[usize; 2]> {
        separated_pairs(self.truth, self.found, most)
    }
}

fn sizes(cells: &[Cell], entity: impl Fn(&Cell) -> u32) -> HashMap<u32, u64> {
    let mut sizes = HashMap::new();
    for cell in cells {
        *sizes.entry(entity(cell)).or_default() += cell.records;
    }
    sizes
}

/// The first pairs of records that one partition unites and the other does not.
fn separated_pairs(united: &[u32], parted: &[u32], most: usize) -> Vec<[usize; 2]> {
    let mut firsts: HashMap<u32, usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut pairs = Vec::new();
    for (record, (united, parted)) in united.iter().zip(parted).enumerate() {
        if pairs.len() == most {
            break;
        }
        let first = *firsts.entry(*united).or_insert(record);
        if seen.insert((united, parted)) && first != record {
            pairs.push([first, record]);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A random number below `end`, the same in every run.
    fn random(state: &mut u64, end: u64) -> u32 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((*state >> 33) % end).unwrap()
    }

    /// All pairs within entities, one by one.
    fn pairs_within(entities: &[u32]) -> BTreeSet<(usize, usize)> {
        let n = entities.len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        pairs
            .filter(|(a, b)| entities[*a] == entities[*b])
            .collect()
    }

    fn sets(entities: &[u32]) -> BTreeSet<BTreeSet<usize>> {
        let of = |entity: &u32| {
            let records = entities.iter().enumerate();
            let same = records.filter(|(_, other)| *other == entity);
            same.map(|(record, _)| record).collect::<BTreeSet<_>>()
        };
        entities
            .iter()
            .map(of)
            .filter(|set| set.len() > 1)
            .collect()
    }

    /// The mean, over all records, of the share of its entity that it shares in the other partition.
    fn mean_share(of: &[u32], other: &[u32]) -> f64 {
        let n = of.len();
        let share = |record: usize| {
            let same = || (0..n).filter(|i| of[*i] == of[record]);
            let right = same().filter(|i| other[*i] == other[record]).count();
            right as f64 / same().count() as f64
        };
        (0..n).map(share).sum::<f64>() / n as f64
    }

    #[test]
    fn counts_are_those_of_all_pairs() {
        let mut state = 7;
        for round in 0..200_u64 {
            let n = round % 23;
            let mut entities = || {
                let most = 1 + u64::from(random(&mut state, n + 3));
                let entities = (0..n).map(|_| 5 * random(&mut state, most));
                entities.collect::<Vec<_>>()
            };
            let (found, truth) = (entities(), entities());
            let partitions = Partitions {
                found: &found,
                truth: &truth,
            };
            let agreement = partitions.compare().unwrap();
            let (in_found, in_truth) = (pairs_within(&found), pairs_within(&truth));
            let count = |set: &BTreeSet<_>| set.len() as u64;
            let right = in_found.intersection(&in_truth).count() as u64;
            let expected = Agreement::new(count(&in_found), count(&in_truth), right);
            assert_eq!(agreement.pairs, expected);
            let (in_found, in_truth) = (sets(&found), sets(&truth));
            let exact = in_found.intersection(&in_truth).count() as u64;
            let (found_sets, true_sets) = (in_found.len() as u64, in_truth.len() as u64);
            let expected = Agreement::new(found_sets, true_sets, exact);
            assert_eq!(agreement.entities, expected);
            if let Some(b_cubed) = agreement.b_cubed {
                let (precision, recall) = (mean_share(&found, &truth), mean_share(&truth, &found));
                assert!((b_cubed.precision - precision).abs() < 1e-12);
                assert!((b_cubed.recall - recall).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn examples_are_wrong_and_missed_pairs() {
        let partitions = Partitions {
            found: &[0, 0, 0, 1, 1, 2],
            truth: &[7, 8, 7, 8, 9, 7],
        };
        assert_eq!(partitions.wrong(9), [[0, 1], [3, 4]]);
        assert_eq!(partitions.missed(9), [[1, 3], [0, 5]]);
        assert_eq!(partitions.wrong(1), [[0, 1]]);
        assert!(partitions.missed(0).is_empty());
    }

    #[test]
    fn pairs_of_one_large_entity_are_counted() {
        let found = vec![3; 200_000];
        let partitions = Partitions {
            found: &found,
            truth: &found,
        };
        let pairs = partitions.compare().unwrap().pairs;
        assert_eq!((pairs.found, pairs.right), (19_999_900_000, 19_999_900_000));
        assert_eq!(pairs_of(0).unwrap(), 0);
        assert_eq!(pairs_of(1 << 32).unwrap(), (1 << 31) * ((1 << 32) - 1));
        assert!(pairs_of(u64::MAX).is_err());
        assert!(sum([Ok(u64::MAX), Ok(1)]).is_err());
    }
}
