//! Tables, and lists of sentences.

use maud::{Markup, html};

use crate::summary::Topic;
use crate::summary::table::Table;

/// Longer cells may break into lines.
const LONG: usize = 30;

/// A table. Single columns and warnings become lists.
pub(super) fn draw_table(topic: Topic, table: &Table) -> Markup {
    match (topic, table.header.len()) {
        (_, 1) | (Topic::Warnings, _) => list(table),
        _ => columns(table),
    }
}

fn list(table: &Table) -> Markup {
    html! {
        ul.sentences {
            @for row in &table.rows {
                li {
                    @for (i, cell) in row.iter().enumerate() {
                        @if i == 0 { (emphasised(cell)) } @else { " " em { (emphasised(cell)) } }
                    }
                }
            }
        }
    }
}

fn columns(table: &Table) -> Markup {
    let is_number: Vec<bool> = (0..table.header.len())
        .map(|column| table.is_number(column))
        .collect();
    let class = |is_number: bool, cell: &str| match (is_number, cell.chars().count() > LONG) {
        (true, _) => Some("number"),
        (false, true) => Some("long"),
        (false, false) => None,
    };
    html! {
        div.scroll {
            table {
                thead { tr {
                    @for (name, number) in table.header.iter().zip(&is_number) {
                        th class=[number.then_some("number")] { (name) }
                    }
                } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (cell, number) in row.iter().zip(&is_number) {
                                td class=[class(*number, cell)] { (emphasised(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Bold text between double stars, as in Markdown.
fn emphasised(cell: &str) -> Markup {
    let parts: Vec<&str> = cell.split("**").collect();
    html! {
        @match parts.as_slice() {
            [before, strong, after] => { (before) strong { (strong) } (after) }
            _ => (cell),
        }
    }
}
