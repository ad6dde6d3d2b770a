//! The report of a search for items: `report.json`.

mod counts;

mod lines;

mod tally;

use serde::Serialize;

pub use self::counts::{ByClass, ContainCounts, ContainCuts, Removable};
pub(crate) use self::lines::{CutLine, FoundAt, HitEvidence, HitLine, RemovedLine, Sample};
pub(crate) use self::tally::{Counted, LeakingDocument, ReadDocument, Tally};
use crate::frequent::FrequentPhrase;
use crate::lack::Lack;
use crate::phrases::PublicPhrase;
use simgpu::error::BadRecord;
use simgpu_io::{
    InputFile, MissingIds, NotRead, Places, REPORT_VERSION, SkippedRecord, write_json,
};

/// A file with contaminated documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeakingFile {
    /// Its name.
    pub file: String,
    /// Its documents that ask an item.
    pub documents: u64,
    /// The items that they ask, each once per document.
    pub hits: u64,
}

/// An item of several records whose texts differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MergedItem {
    /// Its benchmark.
    pub benchmark: String,
    /// Its id, the first one.
    pub item: String,
    /// The ids of the records with another text.
    pub merged: Vec<String>,
}

/// Hits that lack the same single condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NearMiss {
    #[serde(skip)]
    pub(crate) lack: Lack,
    /// The condition.
    pub lacks: &'static str,
    /// The number of hits.
    pub hits: u64,
}

/// All parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContainParameters {
    /// Whose rule decides: `simgpu`, `gpt3`, `datatrove` or `s1`.
    pub rule: &'static str,
    /// Words of an n-gram.
    pub size: usize,
    /// The least share of a question's words outside the template; `None` by a rule of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The fewest n-grams of at most two questions; `None` by a rule of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ngrams: Option<usize>,
    /// The name of the file of phrases to ignore; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// What is done with documents: `report`, `drop`, `cut` or `mark`.
    pub action: &'static str,
    /// The classes of the hits that it is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<&'static str>,
    /// The field for marks; `None` unless records are marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_field: Option<String>,
    /// The fields of question, passage, options and answer; empty for one that is not read.
    pub item_fields: Vec<String>,
    /// The field of an item's id; `None` for the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id_field: Option<String>,
    /// The field of the benchmark; `None` for the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark_field: Option<String>,
    /// The field of the text, or the names of several.
    pub content_field: String,
    /// The field of the id.
    pub id_field: String,
    /// The most records read, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// What was found of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BenchmarkReport {
    /// The name.
    pub benchmark: String,
    /// Its items.
    pub items: u64,
    /// Those that cannot be found, even where a document holds all of them.
    pub undecidable_items: u64,
    /// Those found, each by the first class of its hits.
    pub found_items: ByClass,
    /// Documents with a hit, each by the first class of its hits.
    pub documents: ByClass,
    /// The items that most documents ask, and the number of these; at most ten, the first of equals.
    pub most_leaked: Vec<LeakedItem>,
}

/// An item that documents ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeakedItem {
    /// Its number.
    #[serde(skip)]
    pub(crate) number: usize,
    /// Its id.
    pub item: String,
    /// The documents that ask it.
    pub documents: u64,
}

/// The report of a search for items, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ContainReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `contain`.
    pub command: &'static str,
    /// The counts.
    pub counts: ContainCounts,
    /// The parameters.
    pub parameters: ContainParameters,
    /// How public phrases are excused: `given`, by counts that were given, or `none`: each hit is judged by its document alone.
    pub phrases: &'static str,
    /// The public phrases that this reading found, those in the most documents first; at most 20.
    pub public_phrases: Vec<PublicPhrase>,
    /// The phrases that most documents have without the item, at most 20: what to ignore.
    pub frequent_phrases: Vec<FrequentPhrase>,
    /// What was found of each benchmark, in the order of their names.
    pub benchmarks: Vec<BenchmarkReport>,
    /// The files with contaminated documents, those with most first; at most 100.
    pub leaking_files: Vec<LeakingFile>,
    /// Hits that lack one condition of a contaminated document, by the condition, the most frequent first.
    pub near_misses: Vec<NearMiss>,
    /// Items of several records whose texts differ, in their order; at most 100. All are in `items.jsonl`.
    pub merged_items: Vec<MergedItem>,
    /// The documents without an id, if some have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_ids: Option<MissingIds>,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
    /// The bad records of the items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_items: Vec<SkippedRecord>,
}

impl ContainReport {
    pub(crate) fn new(
        found: Counted,
        parameters: ContainParameters,
        phrases: FoundPhrases,
        places: &Places,
        skipped_items: Vec<SkippedRecord>,
    ) -> Self {
        let Counted {
            mut counts,
            benchmarks,
            leaking_files,
            near_misses,
            merged_items,
        } = found;
        counts.records = places.records();
        counts.skipped = places.bad_records();
        counts.repeated_ids = places.repeated_ids;
        counts.skipped_items = skipped_items.len() as u64;
        ContainReport {
            simgpu_report: REPORT_VERSION,
            command: "contain",
            missing_ids: places.missing_ids(counts.records - counts.skipped),
            empty_files: places.empty_files(),
            not_read: places.not_read.clone(),
            skipped: places.skipped_records(),
            skipped_items,
            phrases: if phrases.is_given { "given" } else { "none" },
            public_phrases: phrases.public,
            frequent_phrases: phrases.frequent,
            benchmarks,
            leaking_files,
            near_misses,
            merged_items,
            counts,
            parameters,
        }
    }

    /// Writes the report as JSON, the same bytes as in the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}

/// Phrases of a reading.
#[derive(Debug, Default)]
pub(crate) struct FoundPhrases {
    /// Whether counts were given, by which phrases are excused.
    pub(crate) is_given: bool,
    pub(crate) public: Vec<PublicPhrase>,
    pub(crate) frequent: Vec<FrequentPhrase>,
}

/// The bad records of items, for the report.
pub(crate) fn skipped_items(
    files: &[InputFile],
    bad: Vec<(usize, BadRecord)>,
) -> Vec<SkippedRecord> {
    let skipped = bad.into_iter().map(|(file, record)| {
        let file = files[file].relative.clone();
        let BadRecord {
            row, line, problem, ..
        } = record;
        SkippedRecord {
            file,
            row,
            line,
            problem,
        }
    });
    skipped.collect()
}
