//! Which candidate pairs are links.
//!
//! With two files, `auto` takes text where its runners-up tell how many links are right, and else points where theirs do: of
//! 24 pairs of tables, text told on long texts (Abt-Buy, DBLP-ACM, also drawn from), where points are at most 0.01 better,
//! and points alone on people, where they are 0.2 better. Of 36 pairs of tables that share no record, neither told in any, so
//! that points, which link more of these, were never taken.
//!
//! Where nothing tells, a contest shows whether the files share records at all.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::agreement::Disagreement;
use crate::candidates::{Candidates, RecordPair};
use crate::contest::{Contest, contest};
use crate::distinct::Distinct;
use crate::evidence::{BARS, Evidence, Verdict};
use crate::links::{Accepted, Bins, Choice, Nearby, Scorer};
use crate::matching::{Entities, Joined, Matching, Rounds, all_pairs};
use crate::parameters::Link;
use crate::points::{Points, SimilarityLevels, Start};
use crate::score::Score;
use crate::symbols::{Lists, Symbols};
use crate::tables::RecordTables;
use crate::textbook::FieldTexts;
use crate::threshold::{Estimate, RoundScores, estimate_entities, estimate_rounds, why_rough};
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, Timings, grouped};

/// If more than this share of the pairs within entities have equal fields, nothing shows how many of them are right.
const MOST_EQUAL: f64 = 0.1;

/// The most pairs that equal records may add to a matching of many to many.
const MOST_EQUAL_PAIRS: u64 = 1_000_000;

/// How much lower and higher a threshold is, to show how much depends on it.
const NEARBY: [f64; 2] = [-0.1, 0.1];

/// A search whose records are weighed.
#[derive(Clone, Copy)]
pub(crate) struct Decision<'a> {
    pub(crate) tables: &'a RecordTables<'a>,
    pub(crate) symbols: &'a Symbols,
    pub(crate) lists: &'a Lists,
    pub(crate) task: &'a Link,
    pub(crate) progress: &'a dyn Progress,
}

impl Decision<'_> {
    /// Decides which candidates are links. `evidence` decides in one file, if there is any; `choice` is why.
    pub(crate) fn decide(
        &self,
        evidence: Option<Evidence>,
        candidates: &mut Candidates,
        choice: &mut Choice,
        timings: &mut Timings,
    ) -> Result<(Scorer, Accepted)> {
        if let Some(evidence) = evidence {
            let scorer = Scorer::Evidence(Box::new(evidence));
            let accepted = timings.time("match", 0, || self.accept(candidates, &scorer, choice))?;
            return Ok((scorer, accepted));
        }
        let (scorer, accepted) = self.link_by_scores(candidates, choice, timings)?;
        if !self.may_be_chance(&scorer, &accepted) {
            return Ok((scorer, accepted));
        }
        let outcome = timings.time("contest", 0, || {
            contest(self.tables, self.lists, self.symbols, self.progress)
        })?;
        choice.contest = Some(outcome);
        if outcome.is_chance {
            let accepted = self.accept_equal(candidates, &scorer, outcome)?;
            Ok((scorer, accepted))
        } else {
            Ok((scorer, accepted))
        }
    }

    /// Whether the links of two files by text may be chance: nothing else tells how many are right.
    fn may_be_chance(&self, scorer: &Scorer, accepted: &Accepted) -> bool {
        let task = self.task;
        let is_given = task.threshold.is_some() || task.share.is_some();
        self.tables.has_two_files()
            && matches!(scorer, Scorer::Text)
            && accepted.estimate.expected_precision.is_none()
            && !is_given
    }

    /// Links records of two files that are equal in every field, and no others, since a contest shows nothing else.
    fn accept_equal(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        outcome: Contest,
    ) -> Result<Accepted> {
        let (tables, pairs) = (self.tables, &candidates.pairs);
        let mut accepted = match_files(tables, pairs, scorer, self.task, Some(1.0))?;
        let [larger, smaller] = if outcome.of_second {
            ["second", "first"]
        } else {
            ["first", "second"]
        };
        accepted.estimate.share = None;
        accepted.estimate.withhold(format!(
            "nothing to link: records of the {larger} file resemble each other as much as those of the {smaller} one: {} have a more similar one there, and {} in their own file; state `share` or `threshold` if you know better",
            grouped(outcome.across),
            grouped(outcome.inside),
        ));
        Ok(accepted)
    }

    /// The links by text, or by the score that is asked for; if that is `auto`, `choice` gets to know why by this one.
    fn link_by_scores(
        &self,
        candidates: &mut Candidates,
        choice: &mut Choice,
        timings: &mut Timings,
    ) -> Result<(Scorer, Accepted)> {
        let asked = self.task.score;
        let scorer = timings.time("score", 0, || self.score(asked, candidates))?;
        let accepted = timings.time("match", 0, || self.accept(candidates, &scorer, choice))?;
        let chooses =
            asked == Score::Auto && self.tables.has_two_files() && self.task.threshold.is_none();
        if !chooses || self.task.matching == Matching::ManyToMany {
            return Ok((scorer, accepted));
        }
        if accepted.estimate.expected_precision.is_some() {
            choice.because = Some(
                "how many of its links are right can be told, so points were not tried".to_owned(),
            );
            return Ok((scorer, accepted));
        }
        let (linked_by_points, because) =
            timings.time("points", 0, || self.link_by_points(candidates, choice))?;
        choice.because = Some(because);
        Ok(linked_by_points.unwrap_or((scorer, accepted)))
    }

    /// The links by points, if they tell how many are right, and why they are taken or not. Otherwise, the candidates are as
    /// they were, by text.
    fn link_by_points(
        &self,
        candidates: &mut Candidates,
        choice: &Choice,
    ) -> Result<(Option<(Scorer, Accepted)>, String)> {
        let scorer = match self.score(Score::Points, candidates) {
            Ok(scorer) => scorer,
            Err(Error::CannotLearn(because)) => {
                let because = format!("points cannot be learned: {because}");
                return Ok((None, because));
            }
            Err(error) => return Err(error),
        };
        let accepted = self.accept(candidates, &scorer, choice)?;
        if accepted.estimate.expected_precision.is_some() {
            let because = "how many of its links are right can be told, and not so by text";
            return Ok((Some((scorer, accepted)), because.to_owned()));
        }
        let pairs = &mut candidates.pairs;
        pairs
            .iter_mut()
            .for_each(|pair| pair.score = pair.similarity);
        pairs.par_sort_unstable_by(RecordPair::before);
        let because = "how many links are right can be told neither by text nor by points";
        Ok((None, because.to_owned()))
    }

    /// Which of the scored candidates are links.
    fn accept(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        choice: &Choice,
    ) -> Result<Accepted> {
        let (tables, task) = (self.tables, self.task);
        match (tables.has_two_files(), scorer) {
            (_, Scorer::Evidence(evidence)) => {
                Ok(self.accept_by_evidence(candidates, scorer, evidence, choice))
            }
            (true, _) => match_files(tables, &candidates.pairs, scorer, task, task.threshold),
            (false, _) => Ok(self.form_entities(candidates, scorer, choice)),
        }
    }

    /// Scores the candidate pairs, and brings them into the order of acceptance.
    fn score(&self, score: Score, candidates: &mut Candidates) -> Result<Scorer> {
        let (tables, equivalents) = (self.tables, &self.task.equivalents);
        let pairs = &mut candidates.pairs;
        let (scorer, scores) = match score {
            Score::Auto | Score::Evidence | Score::Text => return Ok(Scorer::Text),
            Score::Points => {
                let progress = self.progress;
                let levels =
                    SimilarityLevels::compare(tables, self.symbols, equivalents, pairs, progress)?;
                let start = self.start_of_points(pairs, candidates.floor)?;
                let points = Points::learn(&levels, pairs, tables.rows(), &start, progress)?;
                let scores = points.score_pairs(&levels);
                (Scorer::Points(points), scores)
            }
            Score::Textbook => {
                let texts = FieldTexts::from_records(tables, equivalents, self.progress)?;
                let scores = texts.score_pairs(pairs, self.progress)?;
                (Scorer::Textbook(texts), scores)
            }
        };
        for (pair, score) in pairs.iter_mut().zip(scores) {
            pair.score = score;
        }
        pairs.par_sort_unstable_by(RecordPair::before);
        Ok(scorer)
    }

    /// Pairs that are taken for the same thing at first.
    fn start_of_points(&self, pairs: &[RecordPair], floor: f64) -> Result<Start> {
        let (distinct, matching) = (self.tables.distinct, self.task.matching);
        if self.tables.has_two_files() {
            let [mut accepted, ..] = Rounds::accept(pairs, distinct, matching).places;
            accepted.sort_unstable();
            accepted.dedup();
            let both = matching == Matching::OneToOne;
            return Ok(Start::OnePartner { accepted, both });
        }
        let similarities = Similarities::new(pairs, distinct, floor);
        let estimate = similarities.estimate(None);
        match estimate.unknown_because {
            Some(because) => Err(Error::CannotLearn(because)),
            None => Ok(Start::FirstPairs(similarities.reaching(estimate.threshold))),
        }
    }
}

impl Decision<'_> {
    /// The entities that the evidence makes of one file.
    fn accept_by_evidence(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        evidence: &Evidence,
        choice: &Choice,
    ) -> Accepted {
        let (tables, distinct) = (self.tables, self.tables.distinct);
        let clusters = &evidence.clusters;
        let joining: HashSet<[u32; 2]> = clusters.joining.iter().map(|pair| pair.records).collect();
        let places = candidates.pairs.iter().enumerate();
        let links = places.filter(|(_, pair)| joining.contains(&pair.rows));
        let entities = Entities {
            first: clusters.first.clone(),
            links: links.map(|(place, _)| place).collect(),
        };
        let equivalents = &self.task.equivalents;
        let equal_score = |record: usize| scorer.score_of_copies(record, tables, equivalents);
        let bins = bins_of(&candidates.pairs, &entities, distinct, scorer, equal_score);
        let estimate = estimate_by_evidence(evidence, choice, distinct);
        let equal = (tables.files.rows() - distinct.len()) as u64;
        let nearby = BARS.iter().zip(&evidence.at_bars).map(|(bar, clusters)| {
            let entities = Entities {
                first: clusters.first.clone(),
                links: Vec::new(),
            };
            Nearby {
                threshold: bar.log2(),
                links: clusters.joining.len() as u64 + equal,
                entities: Some(large_entities(&entities.first_rows(distinct))),
                expected_precision: None,
            }
        });
        let nearby = nearby.collect();
        let joined = entities.joined(&candidates.pairs, distinct, equal_score);
        Accepted::new(joined, Some(entities.first_rows(distinct)), estimate, bins)
            .with_nearby(nearby)
    }

    /// Forms the entities of one file.
    fn form_entities(&self, candidates: &Candidates, scorer: &Scorer, choice: &Choice) -> Accepted {
        let Decision {
            tables,
            symbols,
            task,
            ..
        } = *self;
        let distinct = tables.distinct;
        let pairs = &candidates.pairs;
        let mut estimate = choose_entity_threshold(tables, candidates, scorer, task.threshold);
        let entities = Entities::form(pairs, distinct, estimate.threshold);
        let equal_score = |record: usize| scorer.score_of_copies(record, tables, &task.equivalents);
        let bins = bins_of(pairs, &entities, distinct, scorer, equal_score);
        let is_within = |pair: &&RecordPair| {
            let [a, b] = pair.rows.map(|row| entities.first[row as usize]);
            a == b
        };
        let within: Vec<&RecordPair> = pairs.iter().filter(is_within).collect();
        let copies = (0..distinct.len()).map(|record| distinct.copies(record));
        let equal_pairs = copies.map(|copies| copies * (copies - 1) / 2).sum();
        let joined = entities.joined(pairs, distinct, equal_score);
        let at = |threshold: f64| {
            let entities = Entities::form(pairs, distinct, threshold);
            let equal = (tables.files.rows() - distinct.len()) as u64;
            Nearby {
                threshold,
                links: entities.links.len() as u64 + equal,
                entities: Some(large_entities(&entities.first_rows(distinct))),
                expected_precision: None,
            }
        };
        let nearby = nearby(estimate.threshold, scorer).map(at);
        let reaching = reaching(pairs, estimate.threshold).len();
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
        Accepted::new(joined, Some(entities.first_rows(distinct)), estimate, bins)
            .with_nearby(nearby.into())
    }
}

/// What is expected of the entities that the evidence makes.
fn estimate_by_evidence(evidence: &Evidence, choice: &Choice, distinct: &Distinct) -> Estimate {
    let mut estimate = Estimate::at_threshold(0.0);
    match (evidence.expected.precision(), &choice.verdict) {
        (Some([least, right, most]), Some((Verdict::Links, _))) => {
            estimate.expected_precision = Some(right);
            estimate.precision_range = Some([least, most]);
            match evidence.recall() {
                Ok([least, right, most]) => {
                    estimate.expected_recall = Some(right);
                    estimate.recall_range = Some([least, most]);
                }
                Err(because) => estimate.recall_unknown_because = Some(because),
            }
        }
        (_, Some((verdict, _))) => {
            let equality = evidence.doubt_of_equality(|record| distinct.copies(record as usize));
            let sentences = [Some(verdict.because().to_owned()), equality];
            let sentences: Vec<String> = sentences.into_iter().flatten().collect();
            estimate.unknown_because = Some(sentences.join("; "));
        }
        (_, None) => {}
    }
    estimate
}

/// The numbers of pairs by score, within entities and between them.
fn bins_of(
    pairs: &[RecordPair],
    entities: &Entities,
    distinct: &Distinct,
    scorer: &Scorer,
    equal_score: impl Fn(usize) -> f64,
) -> Bins {
    let mut bins = Bins::new(scorer);
    for pair in pairs {
        let [a, b] = pair.rows.map(|row| row as usize);
        let copies = distinct.copies(a) * distinct.copies(b);
        let score_bin = bins.at(pair.score);
        if entities.first[a] == entities.first[b] {
            score_bin.accepted += copies
        } else {
            score_bin.runners_up += copies
        }
    }
    for record in (0..distinct.len()).filter(|record| distinct.copies(*record) > 1) {
        let copies = distinct.copies(record);
        bins.at(equal_score(record)).accepted += copies * (copies - 1) / 2;
    }
    bins
}

/// The most pairs of copies that a pair of distinct records counts for: so one record with many copies outweighs no others.
const MOST_COPIES: u64 = 64;

/// The similarities of the candidate pairs of one file, in descending order. Nothing else shows how many pairs are of the
/// same thing, whatever their score.
struct Similarities {
    /// With each similarity, how many pairs of copies it counts for, each copy in one pair.
    similarities: Vec<(f64, u64)>,
    /// How many pairs equal records count for.
    equal: u64,
    floor: f64,
}

impl Similarities {
    fn new(pairs: &[RecordPair], distinct: &Distinct, floor: f64) -> Self {
        let counted = |pair: &RecordPair| {
            let [a, b] = pair.rows.map(|row| distinct.copies(row as usize));
            (pair.similarity, a.min(b).min(MOST_COPIES))
        };
        let mut similarities: Vec<(f64, u64)> = pairs.iter().map(counted).collect();
        similarities.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let copies = (0..distinct.len()).map(|record| distinct.copies(record));
        Similarities {
            similarities,
            equal: copies.map(|copies| (copies / 2).min(MOST_COPIES)).sum(),
            floor,
        }
    }

    fn estimate(&self, threshold: Option<f64>) -> Estimate {
        estimate_entities(&self.similarities, self.equal, self.floor, threshold)
    }

    /// The number of pairs that reach a similarity.
    fn reaching(&self, similarity: f64) -> usize {
        self.similarities
            .partition_point(|(known, _)| *known >= similarity)
    }

    /// The estimate for a threshold that so many pairs reach: that of the similarity that as many pairs reach.
    fn estimate_for_count(&self, threshold: f64, pairs: usize) -> Estimate {
        let as_similar = self.similarities.get(pairs.saturating_sub(1));
        Estimate {
            threshold,
            ..self.estimate(Some(as_similar.map_or(1.0, |(similarity, _)| *similarity)))
        }
    }
}

/// Chooses the threshold for the entities of one file.
fn choose_entity_threshold(
    tables: &RecordTables<'_>,
    candidates: &Candidates,
    scorer: &Scorer,
    threshold: Option<f64>,
) -> Estimate {
    let pairs = &candidates.pairs;
    let similarities = Similarities::new(pairs, tables.distinct, candidates.floor);
    let number = |threshold: f64| pairs.partition_point(|pair| pair.score >= threshold);
    match scorer {
        Scorer::Text | Scorer::Evidence(_) => similarities.estimate(threshold),
        Scorer::Points(points) => {
            let threshold = threshold.unwrap_or_else(|| points.threshold());
            similarities.estimate_for_count(threshold, number(threshold))
        }
        Scorer::Textbook(_) => {
            let threshold = threshold.unwrap_or_else(|| {
                let as_many = similarities.reaching(similarities.estimate(None).threshold);
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
                ..similarities.estimate_for_count(threshold, number(threshold))
            }
        }
    }
}

/// Matches the records of two files; without a threshold, by the one that is expected to be the best.
fn match_files(
    tables: &RecordTables<'_>,
    pairs: &[RecordPair],
    scorer: &Scorer,
    task: &Link,
    threshold: Option<f64>,
) -> Result<Accepted> {
    let rounds = Rounds::accept(pairs, tables.distinct, task.matching);
    let scores = rounds.places.each_ref().map(|places| {
        let scores = places.iter().map(|place| pairs[*place].score);
        scores.collect::<Vec<f64>>()
    });
    let first = tables.files.first.len();
    let second = tables.files.rows() - first;
    let round_scores = RoundScores {
        rounds: scores.each_ref().map(Vec::as_slice),
        records: match task.matching {
            Matching::OneToOne => first.min(second),
            Matching::ManyToOne | Matching::ManyToMany => first,
        },
    };
    let partners = match scorer {
        Scorer::Points(points) => Some(points.expected),
        Scorer::Text | Scorer::Textbook(_) | Scorer::Evidence(_) => None,
    };
    let estimate = estimate_rounds(&round_scores, task.share, threshold, partners);
    let mut joined = rounds.joined;
    match task.matching {
        Matching::ManyToMany => {
            joined = every_pair(reaching(pairs, estimate.threshold), tables.distinct)?;
        }
        _ => joined.retain(|one| one.pair.score >= estimate.threshold),
    }
    let at = |threshold: f64| {
        let links = match task.matching {
            Matching::ManyToMany => pairs_of_copies(reaching(pairs, threshold), tables.distinct),
            _ => scores[0].partition_point(|score| *score >= threshold) as u64,
        };
        let estimate = estimate_rounds(&round_scores, task.share, Some(threshold), partners);
        Nearby {
            threshold,
            links,
            entities: None,
            expected_precision: estimate.expected_precision,
        }
    };
    let nearby = nearby(estimate.threshold, scorer).map(at);
    let mut bins = Bins::new(scorer);
    scores[0]
        .iter()
        .for_each(|score| bins.at(*score).accepted += 1);
    scores[1]
        .iter()
        .for_each(|score| bins.at(*score).runners_up += 1);
    Ok(Accepted::new(joined, None, estimate, bins).with_nearby(nearby.into()))
}

/// The pairs that reach a threshold; they are in the order of acceptance.
fn reaching(pairs: &[RecordPair], threshold: f64) -> &[RecordPair] {
    &pairs[..pairs.partition_point(|pair| pair.score >= threshold)]
}

/// The numbers of pairs of copies of pairs.
fn pairs_of_copies(pairs: &[RecordPair], distinct: &Distinct) -> u64 {
    let pairs_of_copies = |pair: &RecordPair| -> u64 {
        let copies = pair.rows.map(|record| distinct.copies(record as usize));
        copies.iter().product()
    };
    // Rows have 32 bits, so that all pairs of two files have 64.
    pairs.iter().map(pairs_of_copies).sum()
}

/// A lower threshold and a higher one.
fn nearby(threshold: f64, scorer: &Scorer) -> [f64; 2] {
    let most = match scorer {
        Scorer::Text => 1.0,
        Scorer::Points(_) | Scorer::Textbook(_) | Scorer::Evidence(_) => f64::MAX,
    };
    NEARBY.map(|part| (threshold + part * threshold.abs()).min(most))
}

/// All pairs of the copies of both records, unless equal records make too many: they would fill the disk, and say nothing.
fn every_pair(pairs: &[RecordPair], distinct: &Distinct) -> Result<Vec<Joined>> {
    let pairs_of_copies = |pair: &RecordPair| -> u64 {
        let copies = pair.rows.map(|record| distinct.copies(record as usize));
        copies.iter().product()
    };
    // Rows have 32 bits, so that all pairs of two files have 64.
    let equal: u64 = pairs
        .iter()
        .map(pairs_of_copies)
        .filter(|pairs| *pairs > 1)
        .sum();
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
pub(crate) fn large_entities(first: &[u32]) -> u64 {
    let mut sizes = vec![0_u32; first.len()];
    first.iter().for_each(|row| sizes[*row as usize] += 1);
    sizes.iter().filter(|size| **size > 1).count() as u64
}
