//! What each level of each field says for a pair.

use maud::{Markup, html};

use crate::points::{FieldPoints, LevelPoints};
use crate::report::LinkReport;

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
                    "The similarity of a field in two records adds points to the score of the pair: log2(same / different), made to rise with "
                    "the similarity. One point more doubles the odds that both records describe the same thing; points below 0 speak against it. "
                    "The shares were learned without labelled pairs."
                }
                ul.sentences {
                    li { b { "same: " } "the share of the pairs of the same thing that are on the level (m)." }
                    li { b { "different: " } "the share of the candidate pairs of different things that are on it (u)." }
                }
                div.fields { @for field in fields { (self.table_of(field)) } }
            }
        }
    }

    fn table_of(&self, field: &FieldPoints) -> Markup {
        let name = match field.field {
            Some(field) => self.parameters.fields.get(field).map_or("", String::as_str),
            None => WHOLE,
        };
        let rows = merged(&field.levels);
        // The whole record is never missing.
        let shown = |level: &LevelPoints| field.field.is_some() || level.least.is_some();
        html! {
            div.scroll { table {
                thead { tr { th { bdi { (name) } } th.number { "same" } th.number { "different" } th.number { "points" } } }
                tbody {
                    @for (i, level) in rows.iter().enumerate().filter(|(_, level)| shown(level)) {
                        tr {
                            td { (range(level, rows.get(i + 1))) }
                            td.number { (share(level.of_same)) }
                            td.number { (share(level.of_different)) }
                            td.number { strong { (points(level.points)) } }
                        }
                    }
                }
            } }
        }
    }
}

/// What the points of the similarity of all fields together are called.
pub(super) const WHOLE: &str = "whole record";

/// Points with their sign.
pub(super) fn points(points: f64) -> String {
    match format!("{points:+.2}") {
        zero if zero == "+0.00" || zero == "-0.00" => "0".to_owned(),
        signed => signed,
    }
}

/// A share, of which small ones count, too.
fn share(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
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
