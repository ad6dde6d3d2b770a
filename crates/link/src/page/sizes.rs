//! Entities of each size, with examples.

use maud::{Markup, html};

use crate::EntitySizes;
use crate::write::LinkReport;
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
                    @for of_sizes in &self.entity_sizes { (self.entities_of(of_sizes)) }
                }
            }
        }
    }

    fn entities_of(&self, of_sizes: &EntitySizes) -> Markup {
        let (least, most) = (grouped(of_sizes.least), grouped(of_sizes.most));
        let size = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let entities = match of_sizes.entities {
            1 => "1 entity".to_owned(),
            entities => format!("{} entities", grouped(entities)),
        };
        let more = of_sizes
            .example_records
            .saturating_sub(of_sizes.example.len() as u64);
        html! {
            article {
                h3 { (size) " records: " (entities) ", " (counted(of_sizes.records, "record")) }
                div.scroll { table {
                    thead { tr {
                        th { "id" }
                        @for name in &self.parameters.fields { th { bdi { (name) } } }
                    } }
                    tbody {
                        @for record in &of_sizes.example {
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
