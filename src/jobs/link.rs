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
                    let by_text = BySimilarity::of(pairs, candidates.floor);
                    let estimate = by_text.estimate(None);
                    if let Some(because) = estimate.unknown_because {
                        return Err(Error::CannotLearn(because));
                    }
                    Start::FirstPairs(by_text.reaching(estimate.threshold))
                }
            };
            let points = Points::learn(&levels, pairs, tables.rows(), &start, progress)?;
            let scores = points.of_pairs(&levels);
            (Scorer::Points(points), scores)
        }
        Score::Textbook => {
            let texts = FieldTexts::of_records(tables, equivalents, progress)?;
            let scores = texts.of_pairs(pairs, progress)?;
            (Scorer::Textbook(texts), scores)
        }
    };
    for (pair, score) in pairs.iter_mut().zip(scores) {
        pair.score = score;
    }
    pairs.par_sort_unstable_by(Pair::before);
    Ok(scorer)
}

/// The similarities of the candidate pairs of one file, in descending order. Nothing else shows how many pairs are of the
/// same thing, whatever their score.
struct BySimilarity {
    similarities: Vec<f64>,
    floor: f64,
}

impl BySimilarity {
    fn of(pairs: &[Pair], floor: f64) -> Self {
        let mut similarities: Vec<f64> = pairs.iter().map(|pair| pair.similarity).collect();
        similarities.par_sort_unstable_by(|a, b| b.total_cmp(a));
        BySimilarity {
            similarities,
            floor,
        }
    }

    fn estimate(&self, threshold: Option<f64>) -> Estimate {
        of_entities(&self.similarities, self.floor, threshold)
    }

    /// The number of pairs that reach a similarity.
    fn reaching(&self, similarity: f64) -> usize {
        self.similarities
            .partition_point(|known| *known >= similarity)
    }

    /// The estimate for a threshold that so many pairs reach: that of the similarity that as many pairs reach.
    fn of_number(&self, threshold: f64, pairs: usize) -> Estimate {
        let as_similar = self.similarities.get(pairs.saturating_sub(1)).copied();
        Estimate {
            threshold,
            ..self.estimate(Some(as_similar.unwrap_or(1.0)))
        }
    }
}

/// Chooses the threshold for the entities of one file.
fn estimate_entities(candidates: &Candidates, scorer: &Scorer, threshold: Option<f64>) -> Estimate {
    let pairs = &candidates.pairs;
    let by_similarity = BySimilarity::of(pairs, candidates.floor);
    let number = |threshold: f64| pairs.partition_point(|pair| pair.score >= threshold);
    match scorer {
        Scorer::Text => by_similarity.estimate(threshold),
        Scorer::Points(points) => {
            let threshold = threshold.unwrap_or_else(|| points.threshold());
            by_similarity.of_number(threshold, number(threshold))
        }
        Scorer::Textbook(_) => {
            let threshold = threshold.unwrap_or_else(|| {
                let as_many = by_similarity.reaching(by_similarity.estimate(None).threshold);
                let last = pairs.get(as_many.saturating_sub(1));
                last.map_or(0.0, |pair| pair.score)
            });
            Estimate {
                expected_precision: None,
                unknown_because: Some(
                    "in one file, nothing shows how often the score of the textbook is wrong"
                        .to_owned(),
                ),
                ..by_similarity.of_number(threshold, number(threshold))
            }
        }
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
    let partners = match scorer {
        Scorer::Points(points) => Some(points.expected),
        Scorer::Text | Scorer::Textbook(_) => None,
    };
    let estimate = of_rounds(&of_round, task.share, task.threshold, partners);
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
    let estimate = estimate_entities(candidates, scorer, threshold);
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    use super::*;

    /// Stops the search at the first advance in a stage.
    struct StopIn {
        stage: &'static str,
        now: Mutex<&'static str>,
    }

    impl Progress for StopIn {
        fn begin(&self, stage: &'static str, _: u64) {
            *self.now.lock().unwrap() = stage;
        }

        fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
            match *self.now.lock().unwrap() == self.stage {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }

    #[test]
    fn every_stage_can_be_stopped() {
        let mut table = TokenBatch::default();
        for number in 0..400_u32 {
            table.push_token(
                format!("name{} street{}", number % 200, number % 200 * 7919).as_bytes(),
            );
            table.finish_document();
        }
        for (score, stages) in [
            (Score::Text, &["count", "weigh", "compare"][..]),
            (
                Score::Points,
                &["count", "weigh", "compare", "score", "learn"],
            ),
            (Score::Textbook, &["count", "weigh", "compare", "score"]),
        ] {
            let task = Link {
                score,
                ..Link::default()
            };
            for stage in stages {
                let now = Mutex::new("");
                let outcome = link(&table, Some(&table), &task, &StopIn { stage, now });
                assert!(matches!(outcome, Err(Error::Stopped)), "{score:?} {stage}");
            }
        }
    }
}
