//! Compares what was found with what is true.

use super::found::{Found, FoundRecords};
use super::measures::{Agreement, BCubed};
use super::pairs::{NO_ENTITY, RecordPairs, TruePairs};
use super::partition::Partitions;
use super::truth::{TrueRecords, Truth};
use simgpu::error::{Result, row_number};
use simgpu_io::Labels;

/// What an evaluation measured.
pub(super) struct MeasuredResult {
    pub(super) evaluated: u64,
    pub(super) left_out_pairs: u64,
    pub(super) pairs: Agreement,
    pub(super) entities: Option<Agreement>,
    pub(super) b_cubed: Option<BCubed>,
    pub(super) wrong: Vec<[u32; 2]>,
    pub(super) missed: Vec<[u32; 2]>,
}

/// Compares what was found with what is true.
pub(super) fn measure(
    found: &Found,
    truth: &Truth,
    known: &[u32],
    examples: usize,
) -> Result<MeasuredResult> {
    let ids: Vec<u32> = found.ids.iter().map(Labels::len).collect();
    match &found.records {
        FoundRecords::Pairs(pairs) => measure_pairs(pairs, truth, &ids, examples),
        FoundRecords::Entities(labels) => {
            measure_entities(labels, &entities_of(truth, known[0])[0], examples)
        }
        FoundRecords::United(components) => {
            // What only the truth has was united with nothing.
            let root = |id| {
                if (id as usize) < components.len() {
                    components.root(id)
                } else {
                    id
                }
            };
            let labels: Vec<u32> = (0..ids[0]).map(root).collect();
            measure_entities(&labels, &entities_of(truth, ids[0])[0], examples)
        }
    }
}

/// The true entities of the first `ids` records of one collection.
fn entities_of(truth: &Truth, ids: u32) -> Vec<Vec<u32>> {
    match &truth.records {
        TrueRecords::United(components) => vec![(0..ids).map(|id| components.root(id)).collect()],
        TrueRecords::Entities(sides) => {
            let mut entities = sides.clone();
            entities[0].resize(ids as usize, NO_ENTITY);
            entities
        }
        TrueRecords::Pairs(_) => vec![Vec::new()],
    }
}

fn measure_entities(found: &[u32], truth: &[u32], examples: usize) -> Result<MeasuredResult> {
    let records = found.iter().zip(truth).enumerate();
    let labelled = records.filter(|(_, (_, truth))| **truth != NO_ENTITY);
    let (numbers, (found_labels, true_labels)): (Vec<usize>, (Vec<u32>, Vec<u32>)) = labelled
        .map(|(record, (found, truth))| (record, (*found, *truth)))
        .unzip();
    let partitions = Partitions {
        found: &found_labels,
        truth: &true_labels,
    };
    let agreement = partitions.compare()?;
    let named = |pairs: Vec<[usize; 2]>| {
        let pairs = pairs
            .into_iter()
            .map(|[a, b]| Ok([row_number(numbers[a])?, row_number(numbers[b])?]));
        pairs.collect::<Result<Vec<_>>>()
    };
    Ok(MeasuredResult {
        evaluated: numbers.len() as u64,
        left_out_pairs: 0,
        pairs: agreement.pairs,
        entities: Some(agreement.entities),
        b_cubed: agreement.b_cubed,
        wrong: named(partitions.wrong(examples))?,
        missed: named(partitions.missed(examples))?,
    })
}

fn measure_pairs(
    found: &RecordPairs,
    truth: &Truth,
    ids: &[u32],
    examples: usize,
) -> Result<MeasuredResult> {
    let within;
    let (evaluated, truth) = match &truth.records {
        TrueRecords::Pairs(pairs) => {
            let all = ids.iter().map(|ids| u64::from(*ids)).sum();
            (all, TruePairs::Listed(pairs))
        }
        TrueRecords::United(_) | TrueRecords::Entities(_) => {
            let mut entities = entities_of(truth, ids[0]);
            for (labels, ids) in entities.iter_mut().zip(ids) {
                labels.resize(*ids as usize, NO_ENTITY);
            }
            within = entities;
            let labelled = within
                .iter()
                .flatten()
                .filter(|entity| **entity != NO_ENTITY);
            (labelled.count() as u64, TruePairs::Within(&within))
        }
    };
    let agreement = truth.compare(found)?;
    Ok(MeasuredResult {
        evaluated,
        left_out_pairs: agreement.left_out,
        pairs: agreement.pairs,
        entities: None,
        b_cubed: None,
        wrong: truth.wrong(found, examples),
        missed: truth.missed(found, examples),
    })
}
