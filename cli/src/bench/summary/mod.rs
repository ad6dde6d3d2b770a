//! A folder as text: summary.md, section by section. The page has the same sections, with charts.
//!
//! ```text
//! table        rows and columns, and numbers in them
//! throughput   how fast the stages are
//! errors       how far estimates are off
//! found        which pairs are found
//! peers        other tools beside simgpu
//! warnings     what makes figures doubtful, and what to try
//! ```

pub mod table;

mod throughput;

mod errors;

mod found;

mod peers;

mod warnings;

use std::fmt::Write;

use serde_json::Value;

use self::table::Table;
use super::cases::cases;
use super::error;
use super::folder::Tables;

pub(super) use self::errors::{distinct, swept, usual};
pub use self::peers::{Beside, beside};
pub use self::throughput::{Base, base, growing, is_sign_at, signed_at};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the titles say what they are")]
pub enum Topic {
    Machine,
    Findings,
    Backends,
    Lengths,
    Slots,
    Threads,
    Texts,
    Stages,
    Growth,
    Dedup,
    Device,
    Errors,
    ErrorSizes,
    ErrorInputs,
    ErrorSlots,
    Bits,
    Curve,
    Found,
    Peers,
    PeersDedup,
    Warnings,
    Absent,
}

impl Topic {
    /// The heading, by which a table of summary.md can be found again.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Machine => "Machine",
            Topic::Findings => "Findings",
            Topic::Backends => "Signing by backend",
            Topic::Lengths => "Signing by length",
            Topic::Slots => "Signing by slots",
            Topic::Threads => "Threads",
            Topic::Texts => "Signing from text",
            Topic::Stages => "Stages",
            Topic::Growth => "Growth with documents",
            Topic::Dedup => "Deduplication",
            Topic::Device => "Device",
            Topic::Errors => "Estimation error",
            Topic::ErrorSizes => "Error by set size",
            Topic::ErrorInputs => "Bias by input",
            Topic::ErrorSlots => "Error by slots",
            Topic::Bits => "Packed slots",
            Topic::Curve => "S-curve",
            Topic::Found => "Recall and precision",
            Topic::Peers => "Peers",
            Topic::PeersDedup => "Peers end to end",
            Topic::Warnings => "Warnings",
            Topic::Absent => "Not measured",
        }
    }
}

impl Topic {
    /// Whether it belongs to what is read first.
    pub fn is_brief(self) -> bool {
        !matches!(
            self,
            Topic::Machine
                | Topic::Lengths
                | Topic::Slots
                | Topic::Threads
                | Topic::Growth
                | Topic::ErrorSlots
                | Topic::Bits
                | Topic::Curve
        )
    }
}

/// A table under its heading, with what has to be known to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is about.
    pub topic: Topic,
    /// What the table holds, in sentences.
    pub note: String,
    /// The table, which has rows.
    pub table: Table,
}

/// All sections for which there are rows, in the order of [`Topic`].
pub fn sections(environment: &Value, tables: &Tables) -> Vec<Section> {
    let cases = cases(&tables.runs);
    let mut sections = vec![machine(environment), findings(tables)];
    sections.extend(throughput::sections(&cases));
    sections.extend(errors::sections(tables));
    sections.extend(found::sections(tables));
    sections.extend(peers::sections(&cases, tables));
    sections.push(warnings::section(&cases));
    sections.push(absent(tables));
    sections.retain(|section| !section.table.rows.is_empty());
    sections
}

/// summary.md.
pub fn markdown(sections: &[Section]) -> String {
    let mut text = "# simgpu bench\n".to_owned();
    for Section { topic, note, table } in sections {
        let _ = write!(text, "\n## {}\n\n", topic.title());
        if !note.is_empty() {
            let _ = write!(text, "{note}\n\n");
        }
        text.push_str(&table.markdown());
    }
    text
}

/// What the errors say of schemes, a sentence each.
fn findings(tables: &Tables) -> Section {
    let mut table = Table::new(["finding"]);
    for finding in error::findings(&tables.errors) {
        let expected = match finding.is_known {
            true => ", as is expected of a scheme that does not mix",
            false => "",
        };
        table.push([format!("{finding}{expected}")]);
    }
    Section {
        topic: Topic::Findings,
        note: String::new(),
        table,
    }
}

/// environment.json as rows.
fn machine(environment: &Value) -> Section {
    let mut table = Table::new(["what", "value"]);
    for (what, value) in environment.as_object().into_iter().flatten() {
        let shown = match (what.as_str(), value) {
            // How each of them was called would fill a screen.
            ("peers", _) | (_, Value::Null) => continue,
            ("memory_bytes", Value::Number(bytes)) => {
                let gib = bytes.as_f64().unwrap_or_default() / f64::from(1 << 30);
                format!("{} GiB", table::digits(gib, 3))
            }
            ("gpus", Value::Array(gpus)) => join(gpus.iter().map(gpu), "; "),
            (_, value) => plain(value),
        };
        if !shown.is_empty() {
            table.push([what.replace("_bytes", "").replace('_', " "), shown]);
        }
    }
    Section {
        topic: Topic::Machine,
        note: String::new(),
        table,
    }
}

/// A device and its driver.
fn gpu(gpu: &Value) -> String {
    let [name, kind, api, driver] = ["name", "kind", "api", "driver"].map(|what| plain(&gpu[what]));
    format!("{name} ({kind}, {api}, {driver})")
}

/// A value as a person writes it: lists with commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => join(values.iter().map(plain), ", "),
        Value::Object(values) => join(
            values
                .iter()
                .map(|(name, value)| format!("{name} {}", plain(value))),
            " ",
        ),
        value => value.to_string(),
    }
}

fn join(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn absent(tables: &Tables) -> Section {
    let mut table = Table::new(["what", "why"]);
    for absence in &tables.absent {
        table.push([&absence.what, &absence.why]);
    }
    Section {
        topic: Topic::Absent,
        note: String::new(),
        table,
    }
}
