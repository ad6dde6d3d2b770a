//! The bad records of a run, and ids that name several documents.

use maud::{Markup, html};

use super::visible::name;
use simgpu::progress::{counted, grouped};

/// Bad records that are listed, at most.
const LISTED: usize = 50;

/// What pages call bad records that a run left out.
#[doc(hidden)]
pub const SKIPPED: &str = "skipped as bad";

/// The sentence about so many documents whose id names another document, too; nothing if there is none.
#[doc(hidden)]
pub fn repeated_ids(documents: u64) -> Markup {
    html! {
        @if documents > 0 {
            " " (counted(documents, "document")) @if documents == 1 { " has" } @else { " have" } " the id of an earlier one: use file and row to tell them apart."
        }
    }
}

/// A section of bad records: the file, the row and the problem of each.
#[doc(hidden)]
pub fn skipped<'a>(records: impl Iterator<Item = (&'a str, u64, &'a str)> + Clone) -> Markup {
    let all = records.clone().count();
    let more = all.saturating_sub(LISTED);
    html! {
        @if all > 0 {
            section {
                h2 { "Bad records, skipped" }
                div.scroll { table {
                    thead { tr { th { "file" } th.number { "row, from 0" } th { "problem" } } }
                    tbody {
                        @for (file, row, problem) in records.take(LISTED) {
                            tr {
                                td { (name(file)) }
                                td.number { (row) }
                                td.long { (name(problem)) }
                            }
                        }
                    }
                } }
                @if more > 0 { p.note { "And " (grouped(more as u64)) " more, in report.json." } }
            }
        }
    }
}
