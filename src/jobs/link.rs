//! Links the records of one or two files that describe the same thing (MMDS 3.8.1).

use rayon::prelude::*;

use super::linked::{Accepted, Bins, LinkCounts, Linked, Scorer};
use crate::documents::TokenBatch;
use crate::error::{Error, Result};
use crate::progress::{Progress, Timings};
use crate::records::{
    Candidates, Entities, Equivalents, Estimate, FieldTexts, Levels, Lists, Matching, Pair, Points,
    RoundScores, Score, Start, Symbols, Tables, find, of_entities, of_rounds, rounds,
};

/// The parameters of a search for records that describe the same thing. Defaults suit most files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// How pairs are scored; default [`Score::Text`].
    pub score: Score,
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
/// [`Error::Parameter`] for parameters out of range, [`Error::CannotLearn`] if the records do not show what their fields
/// are worth, and [`Error::Stopped`] if the progress stops the search.
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
        Lists::of_records(&tables, None, &symbols, equivalents, progress)
    })?;
    let squares = symbols.squares();
    let mut candidates =
        timings.time("compare", 0, || find(&tables, &lists, &squares, progress))?;
    let scorer = timings.time("score", 0, || {
        score(&tables, &symbols, &mut candidates, task, progress)
    })?;
    let accepted = timings.time("match", 0, || match b {
        Some(_) => match_files(&tables, &candidates.pairs, &scorer, task),
        None => form_entities(tables.rows(), &candidates, &scorer, task.threshold),
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
        scorer,
        timings,
    })
}

/// Scores the candidate pairs, and brings them into the order of acceptance.
fn score(
    tables: &Tables<'_>,
    symbols: &Symbols,
    candidates: &mut Candidates,
    task: &Link,
    progress: &dyn Progress,
) -> Result<Scorer> {
    let equivalents = &task.equivalents;
    let pairs = &mut candidates.pairs;
    let (scorer, scores) = match task.score {
        Score::Text => return Ok(Scorer::Text),
        Score::Points => {
            let levels = Levels::of_pairs(tables, symbols, equivalents, pairs, progress)?;
            let start = match tables.second {
                Some(_) => {
                    let [accepted, ..] = rounds(pairs, tables.rows(), task.matching);
                    let both = task.matching == Matching::OneToOne;
                    Start::OnePartner { accepted, both }
                }
                None => {
                    let similarities: Vec<f64> = pairs.iter().map(|pair| pair.similarity).collect();
                    let by_text = of_entities(&similarities, (candidates.floor, 1.0), None);
                    if let Some(because) = by_text.unknown_because {
                        return Err(Error::CannotLearn(because));
                    }
                    let reaching = |pair: &Pair| pair.similarity >= by_text.threshold;
                    Start::FirstPairs(pairs.partition_point(reaching))
                }
            };
            let points = Points::learn(&levels, pairs, tables.rows(), &start)?;
            let scores = points.of_pairs(&levels);
            (Scorer::Points(points), scores)
        }
        Score::Textbook => {
            let texts = FieldTexts::of_records(tables, equivalents);
            let scores = texts.of_pairs(pairs);
            (Scorer::Textbook(texts), scores)
        }
    };
    for (pair, score) in pairs.iter_mut().zip(scores) {
        pair.score = score;
    }
    pairs.par_sort_unstable_by(Pair::before);
    Ok(scorer)
}

/// The estimate for pairs of one file that are not scored by their similarity. Nothing but the similarities shows how many
/// pairs are of the same thing, so a threshold is compared with the similarity that as many pairs reach.
fn by_number(candidates: &Candidates, scorer: &Scorer, threshold: Option<f64>) -> Estimate {
    let pairs = &candidates.pairs;
    let mut similarities: Vec<f64> = pairs.iter().map(|pair| pair.similarity).collect();
    similarities.par_sort_unstable_by(|a, b| b.total_cmp(a));
    let estimate = |threshold| of_entities(&similarities, (candidates.floor, 1.0), threshold);
    let threshold = threshold.unwrap_or_else(|| match scorer {
        Scorer::Points(points) => points.threshold(),
        Scorer::Text | Scorer::Textbook(_) => {
            let by_text = estimate(None).threshold;
            let reaching = similarities.partition_point(|similarity| *similarity >= by_text);
            let last = pairs.get(reaching.saturating_sub(1));
            last.map_or(0.0, |pair| pair.score)
        }
    });
    let reaching = pairs.partition_point(|pair| pair.score >= threshold);
    let as_similar = similarities.get(reaching.saturating_sub(1)).copied();
    let of_as_many = estimate(Some(as_similar.unwrap_or(1.0)));
    let unknown_because = match scorer {
        Scorer::Textbook(_) => Some(
            "in one file, nothing shows how often the score of the textbook is wrong".to_owned(),
        ),
        Scorer::Text | Scorer::Points(_) => of_as_many.unknown_because,
    };
    Estimate {
        threshold,
        share: None,
        expected_precision: of_as_many
            .expected_precision
            .filter(|_| unknown_because.is_none()),
        unknown_because,
    }
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
fn match_files(tables: &Tables<'_>, pairs: &[Pair], scorer: &Scorer, task: &Link) -> Accepted {
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
    let mut bins = Bins::of(scorer);
    scores[0]
        .iter()
        .for_each(|score| bins.at(*score).accepted += 1);
    scores[1]
        .iter()
        .for_each(|score| bins.at(*score).runners_up += 1);
    Accepted {
        places,
        entities: None,
        estimate,
        bins,
    }
}

/// Forms the entities of one file.
fn form_entities(
    rows: usize,
    candidates: &Candidates,
    scorer: &Scorer,
    threshold: Option<f64>,
) -> Accepted {
    let pairs = &candidates.pairs;
    let scores: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
    let estimate = match scorer {
        Scorer::Text => of_entities(&scores, (candidates.floor, 1.0), threshold),
        Scorer::Points(_) | Scorer::Textbook(_) => by_number(candidates, scorer, threshold),
    };
    let entities = Entities::of_pairs(pairs, rows, estimate.threshold);
    let mut bins = Bins::of(scorer);
    for pair in pairs {
        let [a, b] = pair.rows.map(|row| entities.first[row as usize]);
        let of_score = bins.at(pair.score);
        match a == b {
            true => of_score.accepted += 1,
            false => of_score.runners_up += 1,
        }
    }
    Accepted {
        places: entities.links,
        entities: Some(entities.first),
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
