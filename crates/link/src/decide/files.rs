//! The links of two files, by a matching and a threshold.

use super::similarities::{nearby, reaching};
use crate::candidates::RecordPair;
use crate::distinct::Distinct;
use crate::links::{Accepted, Bins, Nearby, Scorer};
use crate::matching::{Joined, Matching, Rounds, all_pairs};
use crate::parameters::Link;
use crate::tables::RecordTables;
use crate::threshold::{RoundScores, estimate_rounds};
use simgpu::error::{Error, Result};
use simgpu::progress::grouped;

/// The most pairs that equal records may add to a matching of many to many.
const MOST_EQUAL_PAIRS: u64 = 1_000_000;

/// Matches the records of two files; without a threshold, by the one that is expected to be the best.
pub(super) fn match_files(
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
            Matching::ManyToMany => {
                let pairs = reaching(pairs, threshold).iter();
                pairs
                    .map(|pair| pairs_of_copies(pair, tables.distinct))
                    .sum()
            }
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

/// The number of pairs of copies of a pair. Rows have 32 bits, so that all pairs of two files have 64.
fn pairs_of_copies(pair: &RecordPair, distinct: &Distinct) -> u64 {
    let copies = pair.rows.map(|record| distinct.copies(record as usize));
    copies.iter().product()
}

/// All pairs of the copies of both records, unless equal records make too many: they would fill the disk, and say nothing.
fn every_pair(pairs: &[RecordPair], distinct: &Distinct) -> Result<Vec<Joined>> {
    let equal: u64 = pairs
        .iter()
        .map(|pair| pairs_of_copies(pair, distinct))
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
