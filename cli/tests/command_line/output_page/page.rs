//! The tables of docs/output.md.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::command_line::outputs::read_parquet;
use crate::support::{Place, edited, lines_of, text};

pub(super) type Names = BTreeSet<String>;

/// The page, read as tables of fields.
pub(super) struct Page(String);

impl Page {
    pub(super) fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/output.md");
        Page(std::fs::read_to_string(path).unwrap())
    }

    /// The rows of the table under a heading; of several, of the one after the line `label`.
    #[track_caller]
    pub(super) fn rows(&self, heading: &str, label: &str) -> Vec<&str> {
        let lines = self.0.lines().skip_while(|line| *line != heading).skip(1);
        let section = lines.take_while(|line| !line.starts_with('#'));
        let rows: Vec<&str> = section
            .skip_while(|line| !line.starts_with(label))
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .skip(2)
            .collect();
        assert!(!rows.is_empty(), "no table under {heading:?}, {label:?}");
        rows
    }

    /// The documented fields: the names in the first column.
    #[track_caller]
    pub(super) fn fields(&self, heading: &str, label: &str) -> Names {
        let rows = self.rows(heading, label).into_iter();
        rows.flat_map(|row| names_in(row.split('|').nth(1).unwrap()))
            .collect()
    }

    /// The names in the whole row of a field, without the field.
    #[track_caller]
    pub(super) fn inner(&self, heading: &str, field: &str) -> Names {
        let start = format!("| `{field}` |");
        let mut rows = self.rows(heading, "").into_iter();
        let row = rows.find(|row| row.starts_with(&start)).unwrap();
        names_in(&row[start.len()..]).collect()
    }
}

/// The names of fields in back quotes.
pub(super) fn names_in(text: &str) -> impl Iterator<Item = String> {
    let is_name = |text: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !text.is_empty() && text.chars().all(is_letter)
    };
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(is_name).map(str::to_owned)
}

pub(super) fn keys(value: &Value) -> Names {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The keys of all objects in an array.
pub(super) fn keys_of_all(values: &[Value]) -> Names {
    values.iter().flat_map(keys).collect()
}

pub(super) fn columns(place: &Place, name: &str) -> Names {
    let (table, _) = read_parquet(place, name);
    let schema = table.schema();
    schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

/// Inputs that make every field appear: duplicates, a chain, a bad record and an empty file.
pub(super) fn corpus() -> Place {
    let place = Place::new();
    let one = text(1, 100);
    let near = edited(&one, 1, 1);
    let texts = [&one, &one, &near, &text(2, 100)];
    let mut records = texts.map(|text| json!({"text": text, "score": 1}));
    // The others lack an id.
    records[0]["id"] = json!("first");
    let bad = b"{}\n".to_vec();
    place.write("docs/a.jsonl", [lines_of(records), bad].concat());
    place.write("docs/b.jsonl", "");
    place.write("docs/README.md", "what the files hold");
    place
}

pub(super) const OPTIONS: &str = "docs --on-bad-record skip --limit 100 --quiet";

pub(super) const REPORT: &str = "### report.json";

pub(super) const REMOVED: &str = "### removed.jsonl, removed.jsonl.zst or removed.parquet";

/// Parameters that are absent from reports on documents without weights, on searches by the Jaccard similarity, and without an
/// index.
const OF_WEIGHTS: [&str; 9] = [
    "measure",
    "recall_by_size_ratio",
    "index_verify",
    "input_recall_at_threshold",
    "weights",
    "weights_field",
    "weight_scale",
    "distance",
    "within",
];

/// Counts that only reports on deduplications have.
const OF_REMOVALS: [&str; 3] = ["lost_shingles", "removed_shingles", "unknown_losses"];

/// Fields of a deduplication that leaves out short documents, and its counts.
pub(super) const OF_SHORT: [&str; 3] = ["min_shingles", "drop_short", "drop_empty"];

const OF_SHORT_COUNTS: [&str; 2] = ["short", "dropped"];

/// Fields of runs against a reference, and their counts.
const OF_REFERENCES: [&str; 5] = [
    "reference_skipped",
    "against_content_field",
    "against_id_field",
    "kept_in",
    "reference",
];

pub(super) const OF_REFERENCES_COUNTS: [&str; 2] = ["reference", "removed_for_reference"];

/// Counts of runs against an index.
pub(super) const OF_INDEXES_COUNTS: [&str; 2] = ["index", "removed_for_index"];

/// Everything that a report holds is documented, and the reverse for `expected`.
pub(super) fn check_report(page: &Page, report: &Value, expected: &Names) {
    assert_eq!(&keys(report), expected);
    let mut counts = page.fields(REPORT, "`counts`:");
    if report["command"] != "dedup" {
        counts.retain(|name| !OF_REMOVALS.contains(&&**name));
    }
    counts.retain(|name| !OF_SHORT_COUNTS.contains(&&**name));
    counts.retain(|name| !OF_REFERENCES_COUNTS.contains(&&**name));
    counts.retain(|name| !OF_INDEXES_COUNTS.contains(&&**name));
    assert_eq!(keys(&report["counts"]), counts);
    let mut parameters = page.fields(REPORT, "`parameters`:");
    parameters.retain(|name| !OF_WEIGHTS.contains(&&**name));
    parameters.retain(|name| !OF_REFERENCES.contains(&&**name));
    let is_search = report["command"] != "sign";
    let written = keys(&report["parameters"]);
    if is_search {
        assert_eq!(written, parameters);
    } else {
        assert!(written.is_subset(&parameters), "{written:?}");
    }
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(keys_of_all(skipped), page.inner(REPORT, "skipped"));
}
