//! What each level of each field says for a pair.

use maud::{Markup, html};

use super::super::write::LinkReport;
use super::numbers::percent;
use crate::records::{FieldPoints, LevelPoints};

impl LinkReport {
    /// The table of points, where points are the score.
    pub(super) fn points_of_fields(&self) -> Markup {
        let Some(fields) = &self.points else {
            return html! {};
        };
        html! {
            section {
                h2 { "Points of each field" }
                p.note {
                    "How similar a field of two records is decides its level, and each level adds points to the score of the pair. "
                    "One point more makes it twice as likely that both records describe the same thing; points below 0 speak against it. "
                    "Points are log2(m / u). Both shares were learned without labelled pairs."
                }
                div.scroll { table {
                    thead { tr {
                        th { "field" } th { "similarity" }
                        th.number { "share of pairs of the same thing (m)" }
                        th.number { "share of candidate pairs of different things (u)" }
                        th.number { "points" }
                    } }
                    @for field in fields { tbody { (self.rows_of(field)) } }
                } }
            }
        }
    }

    fn rows_of(&self, field: &FieldPoints) -> Markup {
        let name = match field.field {
            Some(field) => self.parameters.fields.get(field).map_or("", String::as_str),
            None => "the whole record",
        };
        let rows = merged(&field.levels);
        html! {
            @for (i, level) in rows.iter().enumerate() {
                tr {
                    th { @if i == 0 { bdi { (name) } } }
                    td { (range(level, rows.get(i + 1))) }
                    td.number { (percent(level.of_same)) }
                    td.number { (percent(level.of_different)) }
                    td.number { strong { (format!("{:+.2}", level.points)) } }
                }
            }
        }
    }
}

/// The levels, with neighbours of equal points as one.
fn merged(levels: &[LevelPoints]) -> Vec<LevelPoints> {
    let mut rows: Vec<LevelPoints> = Vec::new();
    for level in levels {
        match rows.last_mut() {
            Some(last)
                if last.least.is_some() && level.least.is_some() && last.points == level.points =>
            {
                last.of_same += level.of_same;
                last.of_different += level.of_different;
            }
            _ => rows.push(level.clone()),
        }
    }
    rows
}

/// The similarities of a level.
fn range(level: &LevelPoints, next: Option<&LevelPoints>) -> String {
    let next = next.and_then(|next| next.least);
    match (level.least, next) {
        (None, _) => "missing in a record".to_owned(),
        (Some(least), Some(next)) => format!("{least} to below {next}"),
        (Some(least), None) if least >= 1.0 => "equal".to_owned(),
        (Some(least), None) => format!("{least} and more"),
    }
}
