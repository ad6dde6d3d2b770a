//! The entities of one file by text, points or the rule of the textbook.

use super::Decision;
use super::similarities::{Similarities, nearby, reaching};
use crate::agreement::Disagreement;
use crate::candidates::{Candidates, RecordPair};
use crate::distinct::Distinct;
use crate::links::{Accepted, Bins, Choice, Nearby, Scorer};
use crate::matching::Entities;
use crate::score::Score;
use crate::tables::RecordTables;
use crate::threshold::{Estimate, why_rough};
use simgpu::progress::grouped;

/// If more than this share of the pairs within entities have equal fields, nothing shows how many of them are right.
const MOST_EQUAL: f64 = 0.1;

impl Decision<'_> {
    /// Forms the entities of one file.
    pub(super) fn form_entities(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        choice: &Choice,
    ) -> Accepted {
        let Decision { tables, task, .. } = *self;
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
        let doubted = doubt_of_equal(distinct, &entities, equal_pairs)
            .or_else(|| self.doubt_of_fields(&within));
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

    /// Why these linked pairs may be of related things, if a field differs in too many of them.
    fn doubt_of_fields(&self, linked: &[&RecordPair]) -> Option<String> {
        let equivalents = &self.task.equivalents;
        let found = Disagreement::find(self.tables, self.symbols, equivalents, linked)?;
        Some(format!(
            "field {} of {} differs in {} of {} linked pairs, which may be related records, such as a household; check some of them by hand",
            found.field + 1,
            self.tables.field_count(),
            grouped(found.different as u64),
            grouped(found.compared as u64)
        ))
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

/// The numbers of pairs by score, within entities and between them.
pub(super) fn bins_of(
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
