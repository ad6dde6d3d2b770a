//! Links the records of one or two files that describe the same thing (MMDS 3.8.1).

use std::collections::HashSet;

use rayon::prelude::*;

use super::links::{Accepted, Bins, Choice, LinkCounts, Linked, Scorer, best_two};
use super::{
    Candidates, Disagreement, Distinct, Entities, Equivalents, Estimate, Evidence, FieldTexts,
    Files, Joined, Kind, Levels, Lists, Matching, Pair, Points, RoundScores, Rounds, Score, Start,
    Symbols, Tables, Verdict, all_pairs, find, of_entities, of_rounds, why_rough,
};
use crate::documents::TokenBatch;
use crate::error::{Error, Result};
use crate::progress::{Progress, Timings, grouped};

/// The parameters of a search for records that describe the same thing. Defaults suit most files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// How pairs are scored; default [`Score::Auto`].
    pub score: Score,
    /// How many partners a record of two files may have; default [`Matching::OneToOne`].
    pub matching: Matching,
    /// The least score of a link; `None` lets the runners-up decide.
    pub threshold: Option<f64>,
    /// The share of the records of the smaller file that have a partner; `None` estimates it.
    pub share: Option<f64>,
    /// Names that count as equal.
    pub equivalents: Equivalents,
    /// The names of the fields, for messages; empty to number them.
    pub field_names: Vec<String>,
    /// The kinds of the fields, for [`Score::Evidence`]; empty, or `None`, to find them from the values.
    pub field_kinds: Vec<Option<Kind>>,
}

/// If more than this share of the pairs within entities have equal fields, nothing shows how many of them are right.
const MOST_EQUAL: f64 = 0.1;

/// The most pairs that equal records may add to a matching of many to many.
const MOST_EQUAL_PAIRS: u64 = 1_000_000;

impl Link {
    /// Refuses parameters that contradict each other, or are out of range for so many fields.
    pub(crate) fn check(&self, fields: usize, has_two_files: bool) -> Result<()> {
        let range = self.score.range(fields);
        let parameter = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        if self.score == Score::Evidence && has_two_files {
            let expected = "it with one file only";
            return parameter("`score`", self.score.name().to_owned(), expected);
        }
        let may_be_evidence = !has_two_files
            && match self.score {
                Score::Auto => self.threshold.is_none(),
                score => score == Score::Evidence,
            };
        let kind = self.field_kinds.iter().flatten().next();
        if let Some(kind) = kind.filter(|_| !may_be_evidence) {
            let expected = "no kind but with `score=evidence` or `score=auto`, and one input: other scores compare words";
            return parameter("`fields`", format!(":{}", kind.name()), expected);
        }
        match (self.threshold, self.share) {
            (Some(threshold), _) if self.score == Score::Evidence => parameter(
                "`threshold`",
                threshold.to_string(),
                "none with `score=evidence`: what is linked follows from all pairs of two entities together",
            ),
            (Some(threshold), _) if !range.contains(&threshold) => {
                // With a threshold, which is a cosine, `auto` is `text`.
                let score = match self.score {
                    Score::Auto => Score::Text,
                    given => given,
                };
                let expected = match score {
                    Score::Points => "a number".to_owned(),
                    score => format!(
                        "a number from {} to {} with `score={}`",
                        range.start(),
                        range.end(),
                        score.name()
                    ),
                };
                parameter("`threshold`", threshold.to_string(), &expected)
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
/// use simgpu::link::{Link, link};
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
    let files = Files {
        first: a,
        second: b,
    };
    task.check(files.field_count(), b.is_some())?;
    if files.rows() >= u32::MAX as usize {
        return Err(Error::TooManyDocuments);
    }
    let mut timings = Timings::default();
    let equivalents = &task.equivalents;
    let distinct = timings.time("group", 0, || Distinct::find(&files, equivalents, progress))?;
    let tables = Tables {
        files,
        distinct: &distinct,
    };
    let symbols = timings.time("count", 0, || {
        Symbols::count(&tables, equivalents, progress)
    })?;
    let lists = timings.time("weigh", 0, || {
        Lists::of_records(&tables, None, &symbols, equivalents, progress)
    })?;
    let (evidence, choice) = timings.time("learn", 0, || choose(&tables, task, progress))?;
    let mut candidates = timings.time("compare", 0, || match &evidence {
        Some(evidence) => Ok(evidence_pairs(evidence, &lists, symbols.squares())),
        None => find(&tables, &lists, symbols.squares(), progress),
    })?;
    let scorer = timings.time("score", 0, || match evidence {
        Some(evidence) => Ok(Scorer::Evidence(Box::new(evidence))),
        None => score(&tables, &symbols, &mut candidates, task, progress),
    })?;
    let accepted = timings.time("match", 0, || match (b, &scorer) {
        (_, Scorer::Evidence(evidence)) => Ok(by_evidence(
            &tables,
            &candidates,
            (&scorer, evidence),
            (task, &choice),
        )),
        (Some(_), _) => match_files(&tables, &candidates.pairs, &scorer, task),
        (None, _) => Ok(form_entities(
            &tables,
            &symbols,
            &candidates,
            &scorer,
            (task, &choice),
        )),
    })?;
    let counts = LinkCounts {
        records_a: a.len() as u64,
        records_b: b.map_or(0, TokenBatch::len) as u64,
        skipped: 0,
        empty: (0..tables.rows())
            .filter(|row| lists.norm(*row) == 0.0)
            .count() as u64,
        equal_records: (files.rows() - distinct.len()) as u64,
        symbols: symbols.len() as u64,
        candidate_pairs: match &scorer {
            Scorer::Evidence(evidence) => evidence.candidates as u64,
            _ => candidates.pairs.len() as u64,
        },
        pairs_below_floor: candidates.below,
        cut_records: candidates.cut,
        crowded_records: candidates.crowded,
        links: accepted.joined.len() as u64,
        equal_links: accepted
            .joined
            .iter()
            .filter(|joined| joined.place.is_none())
            .count() as u64,
        entities: accepted.entities.as_deref().map_or(0, large_entities),
    };
    Ok(Linked {
        counts,
        best: best_two(&candidates.pairs, distinct.len()),
        files,
        distinct,
        equivalents,
        symbols,
        lists,
        candidates,
        accepted,
        scorer,
        choice,
        timings,
    })
}

/// Looks for evidence in one file, if that is the score or may be; the evidence, if it decides, and why.
fn choose(
    tables: &Tables<'_>,
    task: &Link,
    progress: &dyn Progress,
) -> Result<(Option<Evidence>, Choice)> {
    let mut choice = Choice {
        because: None,
        verdict: None,
    };
    match (task.score, tables.are_two(), task.threshold) {
        (Score::Auto, true, _) => {
            choice.because = Some("evidence decides in one file only".to_owned());
            return Ok((None, choice));
        }
        (Score::Auto, false, Some(_)) => {
            choice.because = Some("a threshold is given, which is a cosine".to_owned());
            return Ok((None, choice));
        }
        (Score::Auto | Score::Evidence, ..) => {}
        (Score::Text | Score::Points | Score::Textbook, ..) => return Ok((None, choice)),
    }
    let evidence = Evidence::find(tables, (&task.equivalents, &task.field_kinds), progress)?;
    let verdict = evidence.verdict(&task.field_names);
    let copies = |record: u32| tables.distinct.copies(record as usize);
    let report = evidence.report(&verdict, copies);
    let decides = match &verdict {
        Verdict::Texts(because) if task.score == Score::Auto => {
            choice.because = Some(because.clone());
            false
        }
        _ => true,
    };
    choice.verdict = Some((verdict, report));
    Ok((decides.then_some(evidence), choice))
}

/// The pairs that the evidence is of, as far as they are shown: with their scores in bits.
fn evidence_pairs(evidence: &Evidence, lists: &Lists, squares: &[f64]) -> Candidates {
    let scored = evidence.shown.par_iter().map(|pair| {
        let [a, b] = pair.records.map(|record| record as usize);
        Pair {
            rows: pair.records,
            score: pair.log_odds / std::f64::consts::LN_2,
            similarity: lists.cosine(a, b, squares),
        }
    });
    let mut pairs: Vec<Pair> = scored.collect();
    pairs.par_sort_unstable_by(Pair::before);
    Candidates {
        pairs,
        ..Candidates::default()
    }
}

/// The entities that the evidence makes of one file.
fn by_evidence(
    tables: &Tables<'_>,
    candidates: &Candidates,
    (scorer, evidence): (&Scorer, &Evidence),
    (task, choice): (&Link, &Choice),
) -> Accepted {
    let distinct = tables.distinct;
    let clusters = &evidence.clusters;
    let joining: HashSet<[u32; 2]> = clusters.joining.iter().map(|pair| pair.records).collect();
    let places = candidates.pairs.iter().enumerate();
    let links = places.filter(|(_, pair)| joining.contains(&pair.rows));
    let entities = Entities {
        first: clusters.first.clone(),
        links: links.map(|(place, _)| place).collect(),
    };
    let equal_score = |record: usize| scorer.of_equal(record, tables, &task.equivalents);
    let bins = bins_of(&candidates.pairs, &entities, distinct, scorer, equal_score);
    let mut estimate = Estimate {
        threshold: 0.0,
        expected_precision: None,
        expected_recall: None,
        precision_range: None,
        share: None,
        unknown_because: None,
    };
    match (evidence.expected.precision(), &choice.verdict) {
        (Some([least, right, most]), Some((Verdict::Links, _))) => {
            estimate.expected_precision = Some(right);
            estimate.precision_range = Some([least, most]);
        }
        (_, Some((verdict, _))) => {
            let equality = evidence.doubt_of_equality(|record| distinct.copies(record as usize));
            let sentences = [Some(verdict.because().to_owned()), equality];
            let sentences: Vec<String> = sentences.into_iter().flatten().collect();
            estimate.unknown_because = Some(sentences.join("; "));
        }
        (_, None) => {}
    }
    let joined = entities.joined(&candidates.pairs, distinct, equal_score);
    Accepted::new(joined, Some(entities.of_rows(distinct)), estimate, bins)
}

/// The numbers of pairs by score, within entities and between them.
fn bins_of(
    pairs: &[Pair],
    entities: &Entities,
    distinct: &Distinct,
    scorer: &Scorer,
    equal_score: impl Fn(usize) -> f64,
) -> Bins {
    let mut bins = Bins::of(scorer);
    for pair in pairs {
        let [a, b] = pair.rows.map(|row| row as usize);
        let of_copies = distinct.copies(a) * distinct.copies(b);
        let of_score = bins.at(pair.score);
        match entities.first[a] == entities.first[b] {
            true => of_score.accepted += of_copies,
            false => of_score.runners_up += of_copies,
        }
    }
    for record in (0..distinct.len()).filter(|record| distinct.copies(*record) > 1) {
        let copies = distinct.copies(record);
        bins.at(equal_score(record)).accepted += copies * (copies - 1) / 2;
    }
    bins
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
        Score::Auto | Score::Evidence | Score::Text => return Ok(Scorer::Text),
        Score::Points => {
            let levels = Levels::of_pairs(tables, symbols, equivalents, pairs, progress)?;
            let start = match tables.are_two() {
                true => {
                    let [mut accepted, ..] =
                        Rounds::of(pairs, tables.distinct, task.matching).places;
                    accepted.sort_unstable();
                    accepted.dedup();
                    let both = task.matching == Matching::OneToOne;
                    Start::OnePartner { accepted, both }
                }
                false => {
                    let by_text = BySimilarity::of(pairs, tables.distinct, candidates.floor);
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

/// The most pairs of copies that a pair of distinct records counts for: so one record with many copies outweighs no others.
const MOST_COPIES: u64 = 64;

/// The similarities of the candidate pairs of one file, in descending order. Nothing else shows how many pairs are of the
/// same thing, whatever their score.
struct BySimilarity {
    /// With each similarity, how many pairs of copies it counts for, each copy in one pair.
    similarities: Vec<(f64, u64)>,
    /// How many pairs equal records count for.
    equal: u64,
    floor: f64,
}

impl BySimilarity {
    fn of(pairs: &[Pair], distinct: &Distinct, floor: f64) -> Self {
        let counted = |pair: &Pair| {
            let [a, b] = pair.rows.map(|row| distinct.copies(row as usize));
            (pair.similarity, a.min(b).min(MOST_COPIES))
        };
        let mut similarities: Vec<(f64, u64)> = pairs.iter().map(counted).collect();
        similarities.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let copies = (0..distinct.len()).map(|record| distinct.copies(record));
        BySimilarity {
            similarities,
            equal: copies.map(|copies| (copies / 2).min(MOST_COPIES)).sum(),
            floor,
        }
    }

    fn estimate(&self, threshold: Option<f64>) -> Estimate {
        of_entities(&self.similarities, self.equal, self.floor, threshold)
    }

    /// The number of pairs that reach a similarity.
    fn reaching(&self, similarity: f64) -> usize {
        self.similarities
            .partition_point(|(known, _)| *known >= similarity)
    }

    /// The estimate for a threshold that so many pairs reach: that of the similarity that as many pairs reach.
    fn of_number(&self, threshold: f64, pairs: usize) -> Estimate {
        let as_similar = self.similarities.get(pairs.saturating_sub(1));
        Estimate {
            threshold,
            ..self.estimate(Some(as_similar.map_or(1.0, |(similarity, _)| *similarity)))
        }
    }
}

/// Chooses the threshold for the entities of one file.
fn estimate_entities(
    tables: &Tables<'_>,
    candidates: &Candidates,
    scorer: &Scorer,
    threshold: Option<f64>,
) -> Estimate {
    let pairs = &candidates.pairs;
    let by_similarity = BySimilarity::of(pairs, tables.distinct, candidates.floor);
    let number = |threshold: f64| pairs.partition_point(|pair| pair.score >= threshold);
    match scorer {
        Scorer::Text | Scorer::Evidence(_) => by_similarity.estimate(threshold),
        Scorer::Points(points) => {
            let threshold = threshold.unwrap_or_else(|| points.threshold());
            by_similarity.of_number(threshold, number(threshold))
        }
        Scorer::Textbook(_) => {
            let threshold = threshold.unwrap_or_else(|| {
                let as_many = by_similarity.reaching(by_similarity.estimate(None).threshold);
                let last = as_many.checked_sub(1).and_then(|place| pairs.get(place));
                // Without any, only equal records are linked.
                last.map_or(*Score::Textbook.range(tables.field_count()).end(), |pair| {
                    pair.score
                })
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

/// Matches the records of two files.
fn match_files(
    tables: &Tables<'_>,
    pairs: &[Pair],
    scorer: &Scorer,
    task: &Link,
) -> Result<Accepted> {
    let rounds = Rounds::of(pairs, tables.distinct, task.matching);
    let scores = rounds.places.each_ref().map(|places| {
        let scores = places.iter().map(|place| pairs[*place].score);
        scores.collect::<Vec<f64>>()
    });
    let first = tables.files.first.len();
    let second = tables.files.rows() - first;
    let of_round = RoundScores {
        of_round: scores.each_ref().map(Vec::as_slice),
        records: match task.matching {
            Matching::OneToOne => first.min(second),
            Matching::ManyToOne | Matching::ManyToMany => first,
        },
    };
    let partners = match scorer {
        Scorer::Points(points) => Some(points.expected),
        Scorer::Text | Scorer::Textbook(_) | Scorer::Evidence(_) => None,
    };
    let estimate = of_rounds(&of_round, task.share, task.threshold, partners);
    let reaching = pairs.partition_point(|pair| pair.score >= estimate.threshold);
    let mut joined = rounds.joined;
    match task.matching {
        Matching::ManyToMany => joined = every_pair(&pairs[..reaching], tables.distinct)?,
        _ => joined.retain(|one| one.pair.score >= estimate.threshold),
    }
    let mut bins = Bins::of(scorer);
    scores[0]
        .iter()
        .for_each(|score| bins.at(*score).accepted += 1);
    scores[1]
        .iter()
        .for_each(|score| bins.at(*score).runners_up += 1);
    Ok(Accepted::new(joined, None, estimate, bins))
}

/// All pairs of the copies of both records, unless equal records make too many: they would fill the disk, and say nothing.
fn every_pair(pairs: &[Pair], distinct: &Distinct) -> Result<Vec<Joined>> {
    let of_copies = |pair: &Pair| -> u64 {
        let copies = pair.rows.map(|record| distinct.copies(record as usize));
        copies.iter().product()
    };
    // Rows have 32 bits, so that all pairs of two files have 64.
    let equal: u64 = pairs.iter().map(of_copies).filter(|pairs| *pairs > 1).sum();
    if equal > MOST_EQUAL_PAIRS {
        return Err(Error::Parameter {
            name: "`match`",
            value: format!(
                "many-to-many, which links {} pairs of records with equal fields",
                grouped(equal)
            ),
            expected: format!(
                "one-to-one or many-to-one, or more `fields`, so that at most {} such pairs are left",
                grouped(MOST_EQUAL_PAIRS)
            ),
        });
    }
    Ok(all_pairs(pairs, distinct))
}

/// Forms the entities of one file.
fn form_entities(
    tables: &Tables<'_>,
    symbols: &Symbols,
    candidates: &Candidates,
    scorer: &Scorer,
    (task, choice): (&Link, &Choice),
) -> Accepted {
    let distinct = tables.distinct;
    let pairs = &candidates.pairs;
    let mut estimate = estimate_entities(tables, candidates, scorer, task.threshold);
    let entities = Entities::of_pairs(pairs, distinct, estimate.threshold);
    let equal_score = |record: usize| scorer.of_equal(record, tables, &task.equivalents);
    let bins = bins_of(pairs, &entities, distinct, scorer, equal_score);
    let is_within = |pair: &&Pair| {
        let [a, b] = pair.rows.map(|row| entities.first[row as usize]);
        a == b
    };
    let within: Vec<&Pair> = pairs.iter().filter(is_within).collect();
    let copies = (0..distinct.len()).map(|record| distinct.copies(record));
    let equal_pairs = copies.map(|copies| copies * (copies - 1) / 2).sum();
    let joined = entities.joined(pairs, distinct, equal_score);
    let reaching = pairs.partition_point(|pair| pair.score >= estimate.threshold);
    let rough = estimate.expected_precision.and_then(|precision| {
        let wrong = (1.0 - precision) * reaching as f64;
        why_rough(reaching, wrong, "")
    });
    let doubted = doubt_of_equal(distinct, &entities, equal_pairs).or_else(|| {
        let found = Disagreement::find(tables, symbols, &task.equivalents, &within)?;
        Some(format!(
            "field {} of {} differs in {} of {} linked pairs, which may be related records, such as a household; check some of them by hand",
            found.field + 1,
            tables.field_count(),
            grouped(found.different as u64),
            grouped(found.compared as u64)
        ))
    });
    let too_weak = choice
        .verdict
        .as_ref()
        .map(|(verdict, _)| verdict.because().to_owned());
    if let Some(because) = too_weak.or(doubted).or(rough) {
        estimate.withhold(because);
    }
    Accepted::new(joined, Some(entities.of_rows(distinct)), estimate, bins)
}

/// Why nothing shows that the pairs within entities are right, if many of them have equal fields.
fn doubt_of_equal(distinct: &Distinct, entities: &Entities, equal_pairs: u64) -> Option<String> {
    let mut sizes = vec![0_u64; distinct.len()];
    for (record, first) in entities.first.iter().enumerate() {
        sizes[*first as usize] += distinct.copies(record);
    }
    let sizes = sizes.into_iter();
    let all: u64 = sizes.map(|size| size * size.saturating_sub(1) / 2).sum();
    (equal_pairs as f64 > MOST_EQUAL * all as f64).then(|| {
        format!(
            "these fields do not tell the records apart: {} of the {} pairs within entities have equal fields",
            grouped(equal_pairs),
            grouped(all)
        )
    })
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
            (Score::Text, &["group", "count", "weigh", "compare"][..]),
            (
                Score::Points,
                &["group", "count", "weigh", "compare", "score", "learn"],
            ),
            (
                Score::Textbook,
                &["group", "count", "weigh", "compare", "score"],
            ),
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
