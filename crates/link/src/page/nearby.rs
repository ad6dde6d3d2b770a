//! What another threshold would change.

use std::cmp::Ordering;

use maud::{Markup, html};

use crate::links::Nearby;
use crate::report::LinkReport;
use simgpu::progress::grouped;
use simgpu_page::{percent, scored};

impl LinkReport {
    /// The links at a lower threshold and at a higher one, where there are any.
    pub(super) fn other_thresholds(&self) -> Markup {
        let [lower, higher] = &self.nearby[..] else {
            return html! {};
        };
        let is_evidence = self.score == "evidence";
        let rows = [("10 % lower", lower), ("10 % higher", higher)];
        html! {
            section {
                h2 { (if is_evidence { "If pairs needed other odds" } else { "If the threshold were another" }) }
                @if is_evidence {
                    p.note { "A pair speaks for one entity if it is more likely the same thing than not: odds of 1, or 0 bits. The fewer links change, the less depends on that." }
                }
                div.scroll { table {
                    thead { tr {
                        th {}
                        th.number { (if is_evidence { "bits" } else { "threshold" }) }
                        th.number { "links" }
                        th.number { "change" }
                        @if self.has_two() { th.number { "expected to be right" } } @else { th.number { "entities" } }
                    } }
                    tbody { @for (name, nearby) in rows { (self.nearby_row(name, nearby)) } }
                } }
            }
        }
    }

    fn nearby_row(&self, name: &str, nearby: &Nearby) -> Markup {
        let links = self.counts.links;
        let change = match nearby.links.cmp(&links) {
            Ordering::Equal => "the same".to_owned(),
            Ordering::Greater => format!("{} more", grouped(nearby.links - links)),
            Ordering::Less => format!("{} fewer", grouped(links - nearby.links)),
        };
        let precision = nearby.expected_precision.map(percent);
        html! {
            tr {
                th { (name) }
                td.number { (scored(nearby.threshold)) }
                td.number { (grouped(nearby.links)) }
                td.number { (change) }
                @match nearby.entities {
                    Some(entities) => td.number { (grouped(entities)) },
                    None => td.number { (precision.unwrap_or_else(|| "cannot tell".to_owned())) },
                }
            }
        }
    }
}
