//! Matching: which candidate pairs are accepted.
//!
//! **Entities are joined by majorities**, the pairs with the highest scores first. Greedy clusters around first
//! records, as deduplication has, depend on which record comes first, and have a lower F1, each at its best threshold:
//! 0.85 instead of 0.87 on Cora by points, 0.82 instead of 0.88 on a larger form of it by texts.

mod rounds;

mod entities;

#[cfg(test)]
mod tests;

pub(crate) use self::entities::Entities;
pub(crate) use self::rounds::Rounds;
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
