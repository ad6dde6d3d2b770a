//! The entities of one file by evidence.

use std::collections::HashSet;

use super::Decision;
use super::entities::{bins_of, large_entities};
use crate::candidates::Candidates;
use crate::distinct::Distinct;
use crate::evidence::{BARS, Evidence, Verdict};
use crate::links::{Accepted, Choice, Nearby, Scorer};
use crate::matching::Entities;
use crate::threshold::Estimate;

impl Decision<'_> {
    /// The entities that the evidence makes of one file.
    pub(super) fn accept_by_evidence(
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
