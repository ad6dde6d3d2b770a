//! Entities of each size, with examples.

use maud::{Markup, html};

use crate::report::EntitySizes;
use crate::report::LinkReport;
use simgpu::progress::{counted, grouped};
use simgpu_page::short;

impl LinkReport {
    /// How many entities there are of each size, and one of each.
    pub(super) fn entities_by_size(&self) -> Markup {
        html! {
            @if !self.entity_sizes.is_empty() {
                section {
                    h2 { "Entities" }
                    p.note { "Of each size, the entity with most records that differ: do they describe one thing?" }
                    @for class in &self.entity_sizes { (self.entities_of(class)) }
                }
            }
        }
    }

    fn entities_of(&self, class: &EntitySizes) -> Markup {
        let (least, most) = (grouped(class.least), grouped(class.most));
        let size = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let entities = match class.entities {
            1 => "1 entity".to_owned(),
            entities => format!("{} entities", grouped(entities)),
        };
        let more = class
            .example_records
            .saturating_sub(class.example.len() as u64);
        html! {
            article {
                h3 { (size) " records: " (entities) ", " (counted(class.records, "record")) }
                div.scroll { table {
                    thead { tr {
                        th { "id" }
                        @for name in &self.parameters.fields { th { bdi { (name) } } }
                    } }
                    tbody {
                        @for record in &class.example {
                            tr {
                                th { bdi { (short(&record.id)) } }
                                @for value in &record.values { td.cell { bdi { (short(value)) } } }
                            }
                        }
                    }
                } }
                @if more > 0 { p.note { "And " (counted(more, "more record")) " of this entity." } }
            }
        }
    }
}
