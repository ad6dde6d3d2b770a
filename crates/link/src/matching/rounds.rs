//! Rounds of a matching of two files: the accepted pairs, then those that would be accepted without them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::{Joined, Matching};
use crate::candidates::RecordPair;
use crate::distinct::Distinct;

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
