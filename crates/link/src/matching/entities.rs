//! The entities of one file, joined by majorities.

use std::collections::HashMap;

use super::Joined;
use crate::candidates::RecordPair;
use crate::distinct::Distinct;

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
            // The first pair that joins two entities stands for them as their link.
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
