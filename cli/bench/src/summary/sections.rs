//! All sections of a summary, and their text.

use std::fmt::Write;

use serde_json::Value;

use super::machine::machine;
use super::section::{Section, Topic};
use super::table::Table;
use super::{errors, found, peers, throughput, warnings};
use crate::cases::cases;
use crate::error;
use crate::tables::Tables;

/// All sections with rows, in the order of [`Topic`].
pub(crate) fn sections(environment: &Value, tables: &Tables) -> Vec<Section> {
    let cases = cases(&tables.runs);
    let mut sections = vec![machine(environment), findings(tables)];
    sections.extend(throughput::sections(&cases, tables));
    sections.extend(errors::sections(tables));
    sections.extend(found::sections(tables));
    sections.extend(peers::sections(&cases, tables));
    sections.push(warnings::section(&cases));
    sections.push(absent(tables));
    sections.retain(|section| !section.table.rows.is_empty());
    sections
}

/// Contents of summary.md.
pub(crate) fn markdown(sections: &[Section]) -> String {
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

/// Deviations of schemes, one sentence each.
fn findings(tables: &Tables) -> Section {
    let mut table = Table::new(["finding"]);
    for finding in error::findings(&tables.errors) {
        let expected = if finding.is_known {
            " (expected of a scheme that does not mix)"
        } else {
            ""
        };
        table.push([format!("{finding}{expected}")]);
    }
    Section {
        topic: Topic::Findings,
        note: String::new(),
        table,
    }
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
