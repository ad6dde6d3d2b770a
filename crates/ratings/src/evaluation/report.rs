//! The report of an evaluation.

use serde::Serialize;
use serde_json::Value;

use super::measures::{Agreement, BCubed};
use simgpu_io::write_json;

/// The result that was evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResultReport {
    /// The command that it is of: `link`, `dedup` or `pairs`.
    pub command: &'static str,
    /// The file that was read.
    pub file: String,
    /// The pairs that were evaluated, in words: `pairs within entities`, `pairs within clusters`, `links`, `listed pairs`.
    pub pairs: &'static str,
    /// The number of inputs whose records are in pairs with each other: 1 or 2.
    pub inputs: u64,
}

/// How the truth is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TruthKind {
    /// By pairs of ids.
    Pairs,
    /// By the entity of each id.
    Entities,
}

/// The truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TruthReport {
    /// Whether it is pairs or entities.
    pub kind: TruthKind,
    /// The names of its files.
    pub files: Vec<String>,
    /// The fields that were read: two of ids, or that of the entity and that of the id.
    pub fields: Vec<String>,
}

/// What was read, and what of it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EvaluationCounts {
    /// Records of the file of the result.
    pub result_rows: u64,
    /// Records of the files of the truth.
    pub truth_rows: u64,
    /// Different ids in the result.
    pub result_ids: u64,
    /// Different ids in the truth.
    pub truth_ids: u64,
    /// Different ids that count.
    pub evaluated: u64,
    /// Records of the result that repeat an earlier one: an id in the same entity, or a pair.
    pub repeated_result: u64,
    /// Records of the truth that repeat an earlier one.
    pub repeated_truth: u64,
    /// Pairs of the result of an id with itself, which do not count.
    pub same_id_result: u64,
    /// Pairs of the truth of an id with itself, which do not count.
    pub same_id_truth: u64,
    /// Records of the truth without an entity, which do not count.
    pub unlabelled: u64,
    /// Ids of the result that the truth does not have. If the truth is pairs, each is an entity of its own; else, it does not
    /// count.
    pub not_in_truth: u64,
    /// Ids of the truth that the result does not have, and that do not count; `None` if the result does not tell which
    /// records there were: then, each is one that was found in no pair.
    pub not_in_result: Option<u64>,
    /// Pairs found that do not count, since a record has no entity.
    pub left_out_pairs: u64,
}

/// Two records, by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExamplePair {
    /// The id of one record, as JSON.
    pub id_a: Value,
    /// The id of the other record.
    pub id_b: Value,
}

/// The report of an evaluation. Equal inputs and options make equal reports.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EvaluationReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `evaluate`.
    pub command: &'static str,
    /// What was evaluated.
    pub result: ResultReport,
    /// By which truth.
    pub truth: TruthReport,
    /// What was read, and what of it counts.
    pub counts: EvaluationCounts,
    /// The agreement by pair.
    pub pairs: Agreement,
    /// The agreement by entity of two or more records; `None` for pairs that form no entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Agreement>,
    /// The means over all records; `None` for pairs that form no entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_cubed: Option<BCubed>,
    /// Pairs that were found and are wrong: of entities, the first record of one that was found, and in it the first record
    /// of each further true entity.
    pub wrong: Vec<ExamplePair>,
    /// True pairs that were not found: of entities that were found, the first record of a true one, and its first record in
    /// each further entity found.
    pub missed: Vec<ExamplePair>,
}

impl EvaluationReport {
    /// Writes the report as JSON.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}
