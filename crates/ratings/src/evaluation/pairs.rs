//! Compares listed pairs with true ones.

use std::collections::{HashMap, HashSet};

use super::measures::Agreement;
use super::partition::{pairs_of, sum, too_many};
use simgpu::error::Result;

/// Stands for the entity of a record that has none.
pub(super) const NO_ENTITY: u32 = u32::MAX;

/// Pairs of numbers of records, each listed once. Both records are of one collection, and their order does not matter; or
/// the first is of A and the second of B, which number their records apart.
#[derive(Debug)]
pub(super) struct RecordPairs {
    has_two_sides: bool,
    pairs: Vec<[u32; 2]>,
    known: HashSet<[u32; 2]>,
}

/// What a pair is to those listed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    New,
    Repeated,
    /// A record with itself, which is not listed.
    Itself,
}

impl RecordPairs {
    pub(super) fn new(has_two_sides: bool) -> Self {
        RecordPairs {
            has_two_sides,
            pairs: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// Lists a pair.
    pub(super) fn add(&mut self, pair: [u32; 2]) -> Listed {
        if !self.has_two_sides && pair[0] == pair[1] {
            return Listed::Itself;
        }
        if !self.known.insert(self.in_order(pair)) {
            return Listed::Repeated;
        }
        self.pairs.push(pair);
        Listed::New
    }

    fn in_order(&self, [a, b]: [u32; 2]) -> [u32; 2] {
        if self.has_two_sides {
            [a, b]
        } else {
            [a.min(b), a.max(b)]
        }
    }

    fn holds(&self, pair: [u32; 2]) -> bool {
        self.known.contains(&self.in_order(pair))
    }
}

/// What is true of the records of listed pairs.
#[derive(Clone, Copy, Debug)]
pub(super) enum TruePairs<'a> {
    /// These pairs.
    Listed(&'a RecordPairs),
    /// The pairs of records of one entity: the entities of the records of the collection, or of A and of B.
    Within(&'a [Vec<u32>]),
}

/// How far listed pairs are true.
#[derive(Debug)]
pub(super) struct PairsAgreement {
    pub(super) pairs: Agreement,
    /// Listed pairs with a record that has no entity, which do not count.
    pub(super) left_out: u64,
}

impl TruePairs<'_> {
    /// Compares pairs that were found.
    pub(super) fn compare(self, found: &RecordPairs) -> Result<PairsAgreement> {
        let all = found.pairs.len();
        let counted = found.pairs.iter().filter_map(|pair| self.is_right(*pair));
        let (mut count, mut right) = (0, 0);
        for is_right in counted {
            count += 1;
            right += u64::from(is_right);
        }
        Ok(PairsAgreement {
            pairs: Agreement::new(count, self.count()?, right),
            left_out: all as u64 - count,
        })
    }

    /// Whether a pair is true; `None` if it cannot be told.
    fn is_right(self, pair: [u32; 2]) -> Option<bool> {
        match self {
            TruePairs::Listed(pairs) => Some(pairs.holds(pair)),
            TruePairs::Within(entities) => {
                let sides = [&entities[0], &entities[entities.len() - 1]];
                let entity = |side: usize| sides[side][pair[side] as usize];
                let (a, b) = (entity(0), entity(1));
                (a != NO_ENTITY && b != NO_ENTITY).then_some(a == b)
            }
        }
    }

    /// The number of true pairs.
    fn count(self) -> Result<u64> {
        match self {
            TruePairs::Listed(pairs) => Ok(pairs.pairs.len() as u64),
            TruePairs::Within([all]) => sum(members(all)
                .values()
                .map(|entity| pairs_of(entity.len() as u64))),
            TruePairs::Within(both) => {
                let (members_a, members_b) = (members(&both[0]), members(&both[1]));
                let products = members_a.iter().map(|(entity, a)| {
                    let b = members_b.get(entity).map_or(0, Vec::len) as u64;
                    (a.len() as u64).checked_mul(b).ok_or_else(too_many)
                });
                sum(products)
            }
        }
    }

    /// The first pairs found that are wrong, at most `most`.
    pub(super) fn wrong(self, found: &RecordPairs, most: usize) -> Vec<[u32; 2]> {
        let pairs = found.pairs.iter().copied();
        let wrong = pairs.filter(|pair| self.is_right(*pair) == Some(false));
        wrong.take(most).collect()
    }

    /// The first true pairs that were not found, at most `most`. Of entities, it passes over the pairs found, and no others.
    pub(super) fn missed(self, found: &RecordPairs, most: usize) -> Vec<[u32; 2]> {
        match self {
            TruePairs::Listed(pairs) => {
                let pairs = pairs.pairs.iter().copied();
                pairs
                    .filter(|pair| !found.holds(*pair))
                    .take(most)
                    .collect()
            }
            TruePairs::Within([all]) => {
                let members = members(all);
                let later = |a: u32| {
                    let entity = &members[&all[a as usize]];
                    let place = entity.partition_point(|b| *b <= a);
                    entity[place..].iter().copied()
                };
                missed_of(all, later, found, most)
            }
            TruePairs::Within(both) => {
                let members = members(&both[1]);
                let members_of_b = |a: u32| {
                    let same = members.get(&both[0][a as usize]);
                    same.into_iter().flatten().copied()
                };
                missed_of(&both[0], members_of_b, found, most)
            }
        }
    }
}

/// The first pairs that were not found of the records with an entity and their `partners`.
fn missed_of<I: Iterator<Item = u32>>(
    entities: &[u32],
    partners: impl Fn(u32) -> I,
    found: &RecordPairs,
    most: usize,
) -> Vec<[u32; 2]> {
    let records = (0..).zip(entities);
    let records = records.filter(|(_, entity)| **entity != NO_ENTITY);
    let pairs = records.flat_map(|(a, _)| partners(a).map(move |b| [a, b]));
    pairs
        .filter(|pair| !found.holds(*pair))
        .take(most)
        .collect()
}

/// The records of each entity, in order.
fn members(entities: &[u32]) -> HashMap<u32, Vec<u32>> {
    let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
    for (record, entity) in (0..).zip(entities) {
        if *entity != NO_ENTITY {
            members.entry(*entity).or_default().push(record);
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(has_two_sides: bool, pairs: &[[u32; 2]]) -> RecordPairs {
        let mut listed = RecordPairs::new(has_two_sides);
        for pair in pairs {
            listed.add(*pair);
        }
        listed
    }

    fn counts(agreement: &PairsAgreement) -> [u64; 4] {
        let Agreement {
            found,
            true_,
            right,
            ..
        } = agreement.pairs;
        [found, true_, right, agreement.left_out]
    }

    #[test]
    fn pairs_are_listed_once() {
        let mut in_one = RecordPairs::new(false);
        assert_eq!(in_one.add([1, 2]), Listed::New);
        assert_eq!(in_one.add([2, 1]), Listed::Repeated);
        assert_eq!(in_one.add([2, 2]), Listed::Itself);
        let mut across = RecordPairs::new(true);
        assert_eq!(across.add([1, 2]), Listed::New);
        assert_eq!(across.add([2, 1]), Listed::New);
        assert_eq!(across.add([2, 2]), Listed::New);
    }

    #[test]
    fn counts_are_those_of_all_pairs_of_one_collection() {
        let entities = vec![3, 3, 3, NO_ENTITY, 5, 5, NO_ENTITY, 9];
        let found = listed(false, &[[2, 1], [0, 3], [4, 7], [4, 5], [3, 6]]);
        let is_true = |a: usize, b: usize| entities[a] == entities[b] && entities[a] != NO_ENTITY;
        let all = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
        let true_pairs = all.filter(|(a, b)| is_true(*a, *b)).count() as u64;
        let all = [entities.clone()];
        let truth = TruePairs::Within(&all);
        let agreement = truth.compare(&found).unwrap();
        assert_eq!(counts(&agreement), [3, true_pairs, 2, 2]);
        assert_eq!(truth.wrong(&found, 9), [[4, 7]]);
        assert_eq!(truth.missed(&found, 9), [[0, 1], [0, 2]]);
        assert_eq!(truth.missed(&found, 1), [[0, 1]]);
    }

    #[test]
    fn counts_are_those_of_all_pairs_of_two_collections() {
        let entities = [vec![1, 1, 2, NO_ENTITY], vec![2, 1, 1, 4, NO_ENTITY]];
        let found = listed(true, &[[0, 1], [2, 0], [2, 2], [3, 4], [0, 4]]);
        let truth = TruePairs::Within(&entities);
        // Two of A and two of B in entity 1, one of each in entity 2.
        let agreement = truth.compare(&found).unwrap();
        assert_eq!(counts(&agreement), [3, 5, 2, 2]);
        assert_eq!(truth.wrong(&found, 9), [[2, 2]]);
        assert_eq!(truth.missed(&found, 9), [[0, 2], [1, 1], [1, 2]]);
        let pairs = listed(true, &[[0, 1], [1, 0]]);
        let truth = TruePairs::Listed(&pairs);
        assert_eq!(counts(&truth.compare(&found).unwrap()), [5, 2, 1, 0]);
        assert_eq!(truth.missed(&found, 9), [[1, 0]]);
    }
}
