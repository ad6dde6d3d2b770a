//! Matching: which candidate pairs are accepted.
//!
//! **Entities are joined by majorities**, the pairs with the highest scores first. Greedy clusters around first
//! records, as deduplication has, depend on which record comes first, and have a lower F1, each at its best threshold:
//! 0.85 instead of 0.87 on Cora by points, 0.82 instead of 0.88 on a larger form of it by texts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ops::Range;

use crate::candidates::RecordPair;
use crate::distinct::Distinct;

/// How many partners a record may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// One partner for each record of both files. The pair with the highest score is accepted first.
    #[default]
    OneToOne,
    /// One partner for each record of the first file, its best; records of the second file may have several.
    ManyToOne,
    /// Every pair that reaches the threshold.
    ManyToMany,
}

impl Matching {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Matching::OneToOne => "one-to-one",
            Matching::ManyToOne => "many-to-one",
            Matching::ManyToMany => "many-to-many",
        }
    }
}

/// A pair of records that is accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joined {
    /// The rows of both in their files, and their score.
    pub(crate) pair: RecordPair,
    /// The place among the candidates of the distinct records; `None` for equal records of one file.
    pub(crate) place: Option<usize>,
}

impl Joined {
    fn new(rows: [u32; 2], place: usize, pairs: &[RecordPair]) -> Self {
        Joined {
            pair: RecordPair {
                rows,
                ..pairs[place]
            },
            place: Some(place),
        }
    }
}

/// The pairs of records that are accepted in three rounds. Each round accepts what would be accepted without the pairs of the
/// rounds before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    /// The pairs of the first round.
    pub(crate) joined: Vec<Joined>,
    /// For each round, the places of the accepted pairs among the candidates, in the order of acceptance: a pair of distinct
    /// records once for each pair of their copies.
    pub(crate) places: [Vec<usize>; 3],
}

impl Rounds {
    /// Accepts candidate pairs of distinct records, which are in the order of acceptance, for all copies of both. Of pairs with
    /// equal scores, the one with the earlier row of the first file comes first, then that with the earlier row of the second
    /// one. A matching of many to many accepts all pairs, so its rounds are those of many to one.
    pub(crate) fn accept(pairs: &[RecordPair], distinct: &Distinct, matching: Matching) -> Self {
        let mut struck = vec![0_u32; pairs.len()];
        let mut rounds = Rounds::default();
        for round in 0..rounds.places.len() {
            let joined = match matching {
                Matching::OneToOne => {
                    OneToOne::new(pairs, distinct, &mut struck).accept(round == 0)
                }
                Matching::ManyToOne | Matching::ManyToMany => {
                    many_to_one(pairs, distinct, &mut struck)
                }
            };
            rounds.places[round] = joined.iter().filter_map(|joined| joined.place).collect();
            if round == 0 {
                rounds.joined = joined;
            }
        }
        rounds
    }
}

/// One round of a matching of one to one.
struct OneToOne<'a> {
    /// In the order of acceptance.
    pairs: &'a [RecordPair],
    distinct: &'a Distinct,
    /// For each pair, how many pairs of copies this round and earlier ones accepted.
    struck: &'a mut [u32],
    /// For each distinct record, how many of its rows have no partner yet: the last ones.
    free: Vec<usize>,
    joined: Vec<Joined>,
}

impl<'a> OneToOne<'a> {
    fn new(pairs: &'a [RecordPair], distinct: &'a Distinct, struck: &'a mut [u32]) -> Self {
        let copies = (0..distinct.len()).map(|record| distinct.rows(record).len());
        OneToOne {
            pairs,
            distinct,
            struck,
            free: copies.collect(),
            joined: Vec::new(),
        }
    }

    /// Accepts the pairs of the round. In later rounds, how many rows of two records may still be paired is known, but not
    /// which ones.
    fn accept(mut self, is_first: bool) -> Vec<Joined> {
        let (pairs, distinct) = (self.pairs, self.distinct);
        let has_copies = |pair: &RecordPair| {
            pair.rows
                .iter()
                .any(|row| distinct.copies(*row as usize) > 1)
        };
        let is_equal =
            |x: &RecordPair, y: &RecordPair| (x.score, x.similarity) == (y.score, y.similarity);
        let mut start = 0;
        for equal in pairs.chunk_by(is_equal) {
            let places = start..start + equal.len();
            start = places.end;
            if is_first && equal.len() > 1 && equal.iter().any(has_copies) {
                self.take_turns(places);
            } else {
                places.for_each(|place| self.accept_copies(place));
            }
        }
        self.joined
    }

    /// Accepts as many pairs of copies of two records as there can be.
    fn accept_copies(&mut self, place: usize) {
        let [a, b] = self.pairs[place].rows.map(|row| row as usize);
        // Most pairs of later rounds end here, before any look at copies.
        if self.free[a] == 0 || self.free[b] == 0 {
            return;
        }
        let [rows_a, rows_b] =
            [a, b].map(|record| self.distinct.last_rows(record, self.free[record]));
        let all = self.distinct.copies(a) * self.distinct.copies(b);
        let unstruck = all - u64::from(self.struck[place]);
        for ((x, y), _) in rows_a.iter().zip(rows_b).zip(0..unstruck) {
            self.joined.push(Joined::new([*x, *y], place, self.pairs));
            self.free[a] -= 1;
            self.free[b] -= 1;
            self.struck[place] += 1;
        }
    }

    /// The earliest row of a record that has no partner yet.
    fn next_row(&self, record: u32) -> Option<u32> {
        let free = self.free[record as usize];
        self.distinct
            .last_rows(record as usize, free)
            .first()
            .copied()
    }

    /// Accepts pairs of equal scores whose records have copies: row by row of the first file, each with the earliest row that
    /// is left to it.
    fn take_turns(&mut self, places: Range<usize>) {
        let mut partners: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
        for place in places {
            let [a, b] = self.pairs[place].rows;
            partners.entry(a).or_default().push((b, place));
        }
        let records = partners.keys();
        let mut turns: BinaryHeap<Reverse<(u32, u32)>> = records
            .filter_map(|record| Some(Reverse((self.next_row(*record)?, *record))))
            .collect();
        while let Some(Reverse((row, record))) = turns.pop() {
            let candidates = partners.get(&record).into_iter().flatten();
            let free = candidates
                .filter_map(|(other, place)| Some((self.next_row(*other)?, *other, *place)));
            let Some((other_row, other, place)) = free.min() else {
                continue;
            };
            self.joined
                .push(Joined::new([row, other_row], place, self.pairs));
            for record in [record, other] {
                self.free[record as usize] -= 1;
            }
            self.struck[place] += 1;
            // The next copy of the record has its turn when its row comes.
            turns.extend(self.next_row(record).map(|row| Reverse((row, record))));
        }
    }
}

/// One round: every copy of a record of the first file has the same partner.
fn many_to_one(pairs: &[RecordPair], distinct: &Distinct, struck: &mut [u32]) -> Vec<Joined> {
    let mut has_partner = vec![false; distinct.len()];
    let mut joined = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        let [a, b] = pair.rows.map(|row| row as usize);
        let partner = distinct.rows(b).get(struck[place] as usize);
        if let (Some(partner), false) = (partner, has_partner[a]) {
            has_partner[a] = true;
            struck[place] += 1;
            let copies = distinct.rows(a).iter();
            joined.extend(copies.map(|row| Joined::new([*row, *partner], place, pairs)));
        }
    }
    joined
}

/// All pairs of copies of the first candidate pairs.
pub(crate) fn all_pairs(pairs: &[RecordPair], distinct: &Distinct) -> Vec<Joined> {
    let mut joined = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        let [rows_a, rows_b] = pair.rows.map(|record| distinct.rows(record as usize));
        let all = rows_a.iter().flat_map(|a| rows_b.iter().map(|b| [*a, *b]));
        joined.extend(all.map(|rows| Joined::new(rows, place, pairs)));
    }
    joined
}

/// The entities of the distinct records of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entities {
    /// For each record, the first one of its entity.
    pub(crate) first: Vec<u32>,
    /// The places of the pairs that joined two entities, in the order of acceptance: one less than an entity has records.
    pub(crate) links: Vec<usize>,
}

impl Entities {
    /// Joins records, the pairs with the highest scores first: the entities of both records become one if at least half of
    /// the pairs of a record of each reach the threshold, all copies counted. So a chain of records, each similar to the
    /// next, does not grow from one thing to another; and no order of the records matters.
    pub(crate) fn form(pairs: &[RecordPair], distinct: &Distinct, threshold: f64) -> Self {
        let rows = distinct.len();
        let reaching = &pairs[..pairs.partition_point(|pair| pair.score >= threshold)];
        let mut sizes: Vec<u64> = (0..rows).map(|record| distinct.copies(record)).collect();
        // For each entity, the numbers of pairs that it has with others.
        let mut shared: Vec<HashMap<u32, u64>> = vec![HashMap::new(); rows];
        for pair in reaching {
            let [a, b] = pair.rows;
            let copies = sizes[a as usize] * sizes[b as usize];
            *shared[a as usize].entry(b).or_default() += copies;
            *shared[b as usize].entry(a).or_default() += copies;
        }
        let mut entity: Vec<u32> = (0..).take(rows).collect();
        let mut members: Vec<Vec<u32>> = entity.iter().map(|row| vec![*row]).collect();
        let mut links = Vec::new();
        for (place, pair) in reaching.iter().enumerate() {
            let [mut into, mut from] = pair.rows.map(|row| entity[row as usize]);
            if into == from {
                continue;
            }
            let reach = shared[into as usize].get(&from).copied().unwrap_or(0);
            // Rows have 32 bits, so that a product of two sizes has 64, and its half no more.
            if reach < (sizes[into as usize] * sizes[from as usize]).div_ceil(2) {
                continue;
            }
            // Members move from the smaller entity, so that each moves at most log2(n) times.
            let [size_into, size_from] = [into, from].map(|entity| members[entity as usize].len());
            if size_into < size_from {
                (into, from) = (from, into);
            }
            sizes[into as usize] += sizes[from as usize];
            for (other, pairs) in std::mem::take(&mut shared[from as usize]) {
                let shared_by_other = &mut shared[other as usize];
                shared_by_other.remove(&from);
                if other != into {
                    *shared_by_other.entry(into).or_default() += pairs;
                    *shared[into as usize].entry(other).or_default() += pairs;
                }
            }
            let moved = std::mem::take(&mut members[from as usize]);
            moved.iter().for_each(|row| entity[*row as usize] = into);
            members[into as usize].extend(moved);
            links.push(place);
        }
        let mut first: Vec<u32> = (0..).take(rows).collect();
        for rows in &members {
            let least = rows.iter().copied().min().unwrap_or(0);
            rows.iter().for_each(|row| first[*row as usize] = least);
        }
        Entities { first, links }
    }

    /// For each row, the first one of its entity.
    pub(crate) fn first_rows(&self, distinct: &Distinct) -> Vec<u32> {
        let records = (0..distinct.rows_in_all()).map(|row| distinct.record(row));
        records
            .map(|record| distinct.first_row(self.first[record] as usize))
            .collect()
    }

    /// The links, which connect each entity: the pairs that joined two entities, and for copies of a record a star around the
    /// first one. `equal` is the score of a record and its copy.
    pub(crate) fn joined(
        &self,
        pairs: &[RecordPair],
        distinct: &Distinct,
        equal: impl Fn(usize) -> f64,
    ) -> Vec<Joined> {
        let first_rows = |place: usize| {
            let rows = pairs[place].rows;
            rows.map(|record| distinct.first_row(record as usize))
        };
        let links = self.links.iter();
        let mut joined: Vec<Joined> = links
            .map(|place| Joined::new(first_rows(*place), *place, pairs))
            .collect();
        for record in (0..distinct.len()).filter(|record| distinct.copies(*record) > 1) {
            let (rows, score) = (distinct.rows(record), equal(record));
            joined.extend(rows[1..].iter().map(|row| Joined {
                pair: RecordPair {
                    rows: [rows[0], *row],
                    score,
                    similarity: 1.0,
                },
                place: None,
            }));
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use simgpu::scheme::fmix64;

    fn pair(a: u32, b: u32, score: f64) -> RecordPair {
        RecordPair {
            rows: [a, b],
            score,
            similarity: score,
        }
    }

    /// Pairs of `a` first and `b` second records, with few distinct scores, in the order of acceptance.
    fn pairs(seed: u64, a: u32, b: u32) -> Vec<RecordPair> {
        let mut pairs = Vec::new();
        for (i, row) in (0..a).enumerate() {
            for (j, other) in (a..a + b).enumerate() {
                let random = fmix64(seed << 32 | (i * 1000 + j) as u64);
                if random.is_multiple_of(3) {
                    pairs.push(pair(row, other, (random >> 20 & 7) as f64 / 8.0));
                }
            }
        }
        pairs.sort_unstable_by(RecordPair::before);
        pairs
    }

    /// One round by its definition: the best pair that may still be accepted, again and again.
    fn slow_round(
        pairs: &[RecordPair],
        struck: &BTreeSet<usize>,
        is_one_to_one: bool,
    ) -> Vec<usize> {
        let mut accepted: Vec<usize> = Vec::new();
        loop {
            let may = |place: &usize| {
                let meets = accepted.iter().any(|other| {
                    let ([a, b], [c, d]) = (pairs[*place].rows, pairs[*other].rows);
                    a == c || is_one_to_one && b == d
                });
                !meets && !struck.contains(place)
            };
            let open = (0..pairs.len()).filter(may);
            let best = open.min_by(|x, y| pairs[*x].before(&pairs[*y]));
            match best {
                Some(place) => accepted.push(place),
                None => return accepted,
            }
        }
    }

    /// Distinct records with a random number of copies each, among each other; those from `in_first` on are of a second file.
    fn copied(seed: u64, records: u32, in_first: u32, most: u64) -> Distinct {
        let copies = |record: u32| {
            let random = fmix64(seed << 32 | u64::from(record) | 1 << 31);
            (0..1 + random % most).map(move |copy| (fmix64(random + copy), record))
        };
        let rows = |records: std::ops::Range<u32>| {
            let mut rows: Vec<(u64, u32)> = records.flat_map(copies).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, record)| Some(u128::from(record)))
        };
        let mut keys: Vec<Option<u128>> = rows(0..in_first).collect();
        let first_file = keys.len();
        keys.extend(rows(in_first..records));
        Distinct::from_keys(&keys, first_file)
    }

    /// All pairs of rows, in the order of acceptance.
    fn expanded(pairs: &[RecordPair], distinct: &Distinct) -> Vec<RecordPair> {
        let joined = all_pairs(pairs, distinct);
        let mut all: Vec<RecordPair> = joined.into_iter().map(|joined| joined.pair).collect();
        all.sort_unstable_by(RecordPair::before);
        all
    }

    #[test]
    fn copies_are_matched_row_by_row() {
        let mut with_copies = 0;
        for seed in 0..200 {
            let (a, b) = (1 + u32::try_from(seed % 5).unwrap(), 4);
            let distinct = copied(seed, a + b, a, 1 + seed % 6);
            let pairs = pairs(seed, a, b);
            let all = expanded(&pairs, &distinct);
            with_copies += usize::from(all.len() > pairs.len());
            for matching in [Matching::OneToOne, Matching::ManyToOne] {
                let rounds = Rounds::accept(&pairs, &distinct, matching);
                let is_one_to_one = matching == Matching::OneToOne;
                let expected = slow_round(&all, &BTreeSet::new(), is_one_to_one);
                let expected: Vec<RecordPair> =
                    expected.into_iter().map(|place| all[place]).collect();
                let mut found: Vec<RecordPair> = rounds.joined.iter().map(|one| one.pair).collect();
                found.sort_unstable_by(RecordPair::before);
                assert_eq!(found, expected, "{seed} {matching:?}");
                // A record of many to one has as many runners-up as it has other candidates.
                let [_, second, _] = rounds.places;
                let second: Vec<f64> = second.iter().map(|place| pairs[*place].score).collect();
                let struck = expected.iter().map(|pair| {
                    let is_it = |other: &RecordPair| other.rows == pair.rows;
                    all.iter().position(is_it).unwrap()
                });
                let slow = slow_round(&all, &struck.collect(), is_one_to_one);
                let slow: Vec<f64> = slow.into_iter().map(|place| all[place].score).collect();
                assert!(second.is_sorted_by(|x, y| x >= y));
                if is_one_to_one {
                    assert_eq!(second.is_empty(), slow.is_empty(), "{seed}")
                } else {
                    assert_eq!(second, slow, "{seed}")
                }
            }
        }
        assert!(with_copies > 100, "{with_copies}");
    }

    #[test]
    fn rounds_accept_the_best_pairs_left() {
        for seed in 0..20 {
            let (a, b) = (3 + u32::try_from(seed % 7).unwrap(), 6);
            let pairs = pairs(seed, a, b);
            let distinct = copied(seed, a + b, a, 1);
            for matching in [Matching::OneToOne, Matching::ManyToOne] {
                let mut struck = BTreeSet::new();
                for round in Rounds::accept(&pairs, &distinct, matching).places {
                    let expected = slow_round(&pairs, &struck, matching == Matching::OneToOne);
                    assert_eq!(round, expected, "{seed} {matching:?}");
                    struck.extend(round);
                }
            }
        }
    }

    /// Entities by their definition: all pairs of two entities are counted at each step. Copies of a record are one
    /// from the beginning.
    fn slow_entities(
        pairs: &[RecordPair],
        distinct: &Distinct,
        threshold: f64,
    ) -> BTreeSet<BTreeSet<u32>> {
        let mut entities: Vec<BTreeSet<u32>> = (0..distinct.len())
            .map(|record| distinct.rows(record).iter().copied().collect())
            .collect();
        let row_pairs: BTreeSet<[u32; 2]> = expanded(pairs, distinct)
            .iter()
            .filter(|pair| pair.score >= threshold)
            .map(|pair| {
                [
                    pair.rows[0].min(pair.rows[1]),
                    pair.rows[0].max(pair.rows[1]),
                ]
            })
            .collect();
        for pair in pairs.iter().filter(|pair| pair.score >= threshold) {
            let [a, b] = pair.rows.map(|record| {
                let row = distinct.first_row(record as usize);
                let of_row = entities
                    .iter()
                    .position(|of_entity| of_entity.contains(&row));
                of_row.unwrap()
            });
            if a == b {
                continue;
            }
            let all = entities[a]
                .iter()
                .flat_map(|x| entities[b].iter().map(move |y| [*x, *y]));
            let reach = all
                .filter(|[x, y]| row_pairs.contains(&[*x.min(y), *x.max(y)]))
                .count();
            if 2 * reach >= entities[a].len() * entities[b].len() {
                let joined = entities[b].clone();
                entities[a].extend(joined);
                entities.remove(b);
            }
        }
        entities.into_iter().collect()
    }

    #[test]
    fn entities_are_those_of_the_definition() {
        let mut large = 0;
        for seed in 0..90 {
            let rows = 14;
            let distinct = copied(seed, rows, rows, 1 + seed % 3 * 3);
            let all = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            let mut pairs: Vec<RecordPair> = all
                .filter_map(|(a, b)| {
                    let random = fmix64(seed << 32 | u64::from(a * 100 + b));
                    let is_near = a % 4 == b % 4;
                    (is_near || random.is_multiple_of(4))
                        .then(|| pair(a, b, (random >> 20 & 7) as f64 / 8.0))
                })
                .collect();
            pairs.sort_unstable_by(RecordPair::before);
            for threshold in [0.25, 0.5] {
                let entities = Entities::form(&pairs, &distinct, threshold);
                let mut found = BTreeMap::<u32, BTreeSet<u32>>::new();
                for (record, first) in entities.first.iter().enumerate() {
                    let of_entity = found
                        .entry(distinct.first_row(*first as usize))
                        .or_default();
                    of_entity.extend(distinct.rows(record));
                }
                assert!(
                    found
                        .iter()
                        .all(|(first, rows)| rows.first() == Some(first))
                );
                let joined = entities.joined(&pairs, &distinct, |_| 1.0);
                let all_rows: usize = found.values().map(BTreeSet::len).sum();
                assert_eq!(joined.len(), all_rows - found.len());
                for one in joined {
                    let [a, b] = one.pair.rows;
                    assert!(
                        found
                            .values()
                            .any(|rows| rows.contains(&a) && rows.contains(&b))
                    );
                }
                large += found.values().filter(|rows| rows.len() > 2).count();
                let found: BTreeSet<BTreeSet<u32>> = found.into_values().collect();
                assert_eq!(found, slow_entities(&pairs, &distinct, threshold), "{seed}");
            }
        }
        assert!(large > 100, "{large}");
    }
}
