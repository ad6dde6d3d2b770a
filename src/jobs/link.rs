//! Links the records of one or two files that describe the same thing (MMDS 3.8.1).

use std::collections::BTreeMap;

use super::linked::{Accepted, BINS_PER_UNIT, LinkCounts, Linked, ScoreBin};
use crate::documents::TokenBatch;
use crate::error::{Error, Result};
use crate::progress::{Progress, Timings};
use crate::records::{
    Equivalents, Lists, Matching, Pair, RoundScores, Symbols, Tables, entities, find, of_entities,
    of_rounds, rounds,
};

/// The parameters of a search for records that describe the same thing. Defaults suit most files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// How many partners a record of two files may have; default [`Matching::OneToOne`].
    pub matching: Matching,
    /// The least score of a link; `None` lets the runners-up decide.
    pub threshold: Option<f64>,
    /// The share of the records of the smaller file that have a partner; `None` estimates it.
    pub share: Option<f64>,
    /// Names that count as equal.
    pub equivalents: Equivalents,
}

impl Link {
    fn check(&self, has_two_files: bool) -> Result<()> {
        let parameter = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        match (self.threshold, self.share) {
            (Some(threshold), _) if !threshold.is_finite() => {
                parameter("`threshold`", threshold.to_string(), "a number")
            }
            (_, Some(share)) if !(share > 0.0 && share <= 1.0) => {
                parameter("`share`", share.to_string(), "a number above 0 and up to 1")
            }
            (_, Some(share)) if !has_two_files => parameter(
                "`share`",
                share.to_string(),
                "it with two files only: in one file, a record may have several partners",
            ),
            _ if !has_two_files && self.matching != Matching::default() => parameter(
                "`match`",
                self.matching.name().to_owned(),
                "it with two files only: the records of one file form entities of any size",
            ),
            _ => Ok(()),
        }
    }
}

/// Finds the records of two files, or of one, that describe the same thing.
///
/// A record is a document whose tokens are its fields, in the same order in all records; a missing value is an empty token.
///
/// ```
/// use simgpu::documents::TokenBatch;
/// use simgpu::jobs::{Link, link};
/// use simgpu::progress::Silent;
///
/// let table = |records: &[[&str; 2]]| {
///     let mut table = TokenBatch::default();
///     for record in records {
///         record.iter().for_each(|field| table.push_token(field.as_bytes()));
///         table.finish_document();
///     }
///     table
/// };
/// let a = table(&[["Bob Jones", "12 Main Street"], ["Ann Smith", "7 Hill Road"]]);
/// let b = table(&[["Ann Smyth", "7 Hill Rd"], ["Robert Jones", "12 Main St"]]);
/// let task = Link { threshold: Some(0.3), ..Link::default() };
/// let linked = link(&a, Some(&b), &task, &Silent)?;
/// let links: Vec<_> = linked.links().map(|link| (link.a, link.b)).collect();
/// assert_eq!(links, [(1, 0), (0, 1)]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for parameters out of range, and [`Error::Stopped`] if the progress stops the search.
pub fn link<'a>(
    a: &'a TokenBatch,
    b: Option<&'a TokenBatch>,
    task: &'a Link,
    progress: &dyn Progress,
) -> Result<Linked<'a>> {
    task.check(b.is_some())?;
    let tables = Tables {
        first: a,
        second: b,
    };
    if tables.rows() >= u32::MAX as usize {
        return Err(Error::TooManyDocuments);
    }
    let mut timings = Timings::default();
    let equivalents = &task.equivalents;
    let symbols = timings.time("count", 0, || {
        Symbols::count(&tables, equivalents, progress)
    })?;
    let lists = timings.time("weigh", 0, || {
        Lists::of_records(&tables, &symbols, equivalents, progress)
    })?;
    let squares = symbols.squares();
    let candidates = timings.time("compare", 0, || find(&tables, &lists, &squares, progress))?;
    let floor = candidates.floor;
    let accepted = timings.time("match", 0, || match b {
        Some(_) => match_files(&tables, &candidates.pairs, task),
        None => form_entities(tables.rows(), &candidates.pairs, (floor, task.threshold)),
    });
    let rows = tables.rows();
    Ok(Linked {
        counts: LinkCounts {
            records_a: a.len() as u64,
            records_b: b.map_or(0, TokenBatch::len) as u64,
            skipped: 0,
            empty: (0..rows).filter(|row| lists.norm(*row) == 0.0).count() as u64,
            symbols: symbols.len() as u64,
            candidate_pairs: candidates.pairs.len() as u64,
            cut_records: candidates.cut,
            crowded_records: candidates.crowded,
            links: accepted.places.len() as u64,
            entities: accepted.entities.as_deref().map_or(0, large_entities),
        },
        best: best_two(&candidates.pairs, rows),
        tables,
        equivalents,
        symbols,
        squares,
        lists,
        candidates,
        accepted,
        timings,
    })
}

/// For each row, the places of the first two pairs that have it.
fn best_two(pairs: &[Pair], rows: usize) -> Vec<[Option<u32>; 2]> {
    let mut best = vec![[None; 2]; rows];
    for (place, pair) in (0..).zip(pairs) {
        for row in pair.rows {
            let of_row: &mut [Option<u32>; 2] = &mut best[row as usize];
            if let Some(free) = of_row.iter_mut().find(|place| place.is_none()) {
                *free = Some(place);
            }
        }
    }
    best
}

/// Matches the records of two files.
fn match_files(tables: &Tables<'_>, pairs: &[Pair], task: &Link) -> Accepted {
    let found = rounds(pairs, tables.rows(), task.matching);
    let scores = found.each_ref().map(|places| {
        let scores = places.iter().map(|place| pairs[*place].score);
        scores.collect::<Vec<f64>>()
    });
    let [first, second] = [false, true].map(|side| tables.rows_of(side).len());
    let of_round = RoundScores {
        of_round: scores.each_ref().map(Vec::as_slice),
        records: match task.matching {
            Matching::OneToOne => first.min(second),
            Matching::ManyToOne | Matching::ManyToMany => first,
        },
    };
    let estimate = of_rounds(&of_round, task.share, task.threshold);
    let [first_round, ..] = found;
    let reaches = |place: &usize| pairs[*place].score >= estimate.threshold;
    let places = match task.matching {
        Matching::ManyToMany => (0..pairs.len()).take_while(reaches).collect(),
        _ => first_round.into_iter().filter(reaches).collect(),
    };
    let mut bins: BTreeMap<i64, ScoreBin> = BTreeMap::new();
    for score in &scores[0] {
        bins.entry(bin(*score)).or_default().accepted += 1;
    }
    for score in &scores[1] {
        bins.entry(bin(*score)).or_default().runners_up += 1;
    }
    Accepted {
        places,
        entities: None,
        estimate,
        bins,
    }
}

/// Forms the entities of one file.
fn form_entities(rows: usize, pairs: &[Pair], (floor, threshold): (f64, Option<f64>)) -> Accepted {
    let scores: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
    let estimate = of_entities(&scores, floor, threshold);
    let joined = entities(pairs, rows, estimate.threshold);
    let mut places: Vec<usize> = joined.iter().filter_map(|(_, place)| *place).collect();
    places.sort_unstable();
    let first: Vec<u32> = joined.into_iter().map(|(first, _)| first).collect();
    let mut bins: BTreeMap<i64, ScoreBin> = BTreeMap::new();
    for pair in pairs {
        let [a, b] = pair.rows.map(|row| first[row as usize]);
        let of_score = bins.entry(bin(pair.score)).or_default();
        match a == b {
            true => of_score.accepted += 1,
            false => of_score.runners_up += 1,
        }
    }
    Accepted {
        places,
        entities: Some(first),
        estimate,
        bins,
    }
}

/// The number of entities of two or more records.
fn large_entities(first: &[u32]) -> u64 {
    let mut sizes = vec![0_u32; first.len()];
    first.iter().for_each(|row| sizes[*row as usize] += 1);
    sizes.iter().filter(|size| **size > 1).count() as u64
}

/// The number of the bin of a score: bins begin at 0.
#[allow(
    clippy::cast_possible_truncation,
    reason = "saturates, and scores are small"
)]
fn bin(score: f64) -> i64 {
    (score * BINS_PER_UNIT).floor() as i64
}
