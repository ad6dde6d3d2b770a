//! The report of a search for links: `report.json`.

use serde::Serialize;
use serde_json::Value;

use crate::contest::Contest;
use crate::evidence::EvidenceReport;
use crate::links::{LinkCounts, Nearby, ScoreBin};
use crate::points::FieldPoints;
use crate::threshold::Estimate;
use simgpu_io::{NotRead, OtherDelimiter, SkippedRecord};

/// The report of a search for links, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// The version of this layout.
    pub simgpu_report: u32,
    /// `link`.
    pub command: &'static str,
    /// The numbers of records, candidates and links.
    pub counts: LinkCounts,
    /// All parameters that affect the result.
    pub parameters: LinkParameters,
    /// How pairs were scored: `evidence`, `text`, `points` or `textbook`.
    pub score: &'static str,
    /// Why `auto` chose it, unless that is `evidence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_because: Option<String>,
    /// The least cosine of a candidate pair; absent with `evidence`, whose candidates share values or words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The threshold, and what is expected of the links.
    pub estimate: Estimate,
    /// What the search left out, and so may have missed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the levels of each field say, where the score is points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<FieldPoints>>,
    /// Whether two files share records at all, where nothing else told how many links are right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
    /// What the fields of one file say, where evidence was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceReport>,
    /// The difference between the least scores of two neighbouring bins of the histogram.
    pub bin_width: f64,
    /// The numbers of accepted pairs and of runners-up by score, as if there were no threshold.
    pub histogram: Vec<HistogramBin>,
    /// What a threshold a tenth lower would change, and one a tenth higher; with `evidence`, odds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearby: Vec<Nearby>,
    /// How many entities there are of each size, in one file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entity_sizes: Vec<EntitySizes>,
    /// Pairs next to the threshold, each as in `links.jsonl`, with the values of both records and whether it was accepted.
    pub examples: Vec<Value>,
    /// The files of the records: first those of the first collection.
    pub files: Vec<FileReport>,
}

impl LinkReport {
    /// Whether nothing shows that any two records that differ are one thing: by evidence in one file, by a contest in two.
    pub fn has_nothing_to_link(&self) -> bool {
        let verdict = self.evidence.as_ref().map(|evidence| evidence.verdict);
        let is_chance = self.contest.is_some_and(|contest| contest.is_chance);
        is_chance || self.score == "evidence" && verdict == Some("nothing to link")
    }

    /// The names of the fields that evidence used in a way, such as `strong` or `copy`.
    pub fn fields_used(&self, used: &str) -> Vec<&str> {
        let fields = self.evidence.iter().flat_map(|evidence| &evidence.fields);
        let names = fields
            .filter(|field| field.used == used)
            .filter_map(|field| self.parameters.fields.get(field.field));
        names.map(String::as_str).collect()
    }

    /// Writes the report as indented JSON with a final newline: the bytes of `report.json`.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        simgpu_io::write_json(target, self)
    }
}

/// The parameters that affect links.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkParameters {
    /// The fields that are compared.
    pub fields: Vec<String>,
    /// Their names in the second collection; `None` if they are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields_b: Option<Vec<String>>,
    /// The field of the id.
    pub id_field: String,
    /// Its name in the second collection; `None` if it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_field_b: Option<String>,
    /// How many partners a record may have; `None` with one collection.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<&'static str>,
    /// What the score of a pair shall be: `auto`, `evidence`, `text`, `points` or `textbook`.
    pub score: &'static str,
    /// The threshold that was given.
    pub threshold: Option<f64>,
    /// The share of records with a partner that was given.
    pub share: Option<f64>,
    /// The number of names that are replaced by an equal one.
    pub equivalents: u64,
}

/// A bin of the histogram.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HistogramBin {
    /// The least score of the bin.
    pub score: f64,
    /// The numbers.
    #[serde(flatten)]
    pub pairs: ScoreBin,
}

impl HistogramBin {
    pub(crate) fn new(score: f64, pairs: ScoreBin) -> Self {
        HistogramBin { score, pairs }
    }
}

/// The entities of some sizes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntitySizes {
    /// The least number of records.
    pub least: u64,
    /// The greatest one.
    pub most: u64,
    /// The number of such entities.
    pub entities: u64,
    /// Their records.
    pub records: u64,
    /// The records of the entity in `example`.
    pub example_records: u64,
    /// The first records of one of them: the one with most records that differ, and of these the first.
    pub example: Vec<EntityRecord>,
}

/// A record of an entity.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntityRecord {
    /// Its id.
    pub id: String,
    /// The values of the compared fields.
    pub values: Vec<String>,
}

/// The records of a collection.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FileReport {
    /// The names of its files.
    pub names: Vec<String>,
    /// The records read, bad ones included.
    pub records: u64,
    /// Records that repeat an earlier id.
    pub repeated_ids: u64,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The files that were read with another delimiter than the stated one, whose columns their headers lack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_delimiters: Vec<OtherDelimiter>,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}
