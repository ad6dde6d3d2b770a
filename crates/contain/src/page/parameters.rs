//! What was asked for, and the command that asks for it again.

use maud::{Markup, html};

use super::Shown;
use simgpu_page::{Choice, command, push_fields};

impl Shown<'_> {
    pub(super) fn parameters(&self) -> Markup {
        let mut choices: Vec<Choice> = Vec::new();
        let parameters = &self.report.parameters;
        choices.push(("--item-fields", parameters.item_fields.join(",")));
        if let Some(field) = &parameters.item_id_field {
            choices.push(("--item-id-field", field.clone()));
        }
        if let Some(field) = &parameters.benchmark_field {
            choices.push(("--benchmark-field", field.clone()));
        }
        choices.push(("--rule", parameters.rule.to_owned()));
        choices.push(("--size", parameters.size.to_string()));
        if let Some(threshold) = parameters.threshold {
            choices.push(("--threshold", threshold.to_string()));
        }
        if let Some(min_ngrams) = parameters.min_ngrams {
            choices.push(("--min-ngrams", min_ngrams.to_string()));
        }
        if self.report.phrases == "given" {
            choices.push(("--phrases", "PHRASES".to_owned()));
        }
        if let Some(file) = &parameters.ignore {
            choices.push(("--ignore", file.clone()));
        }
        choices.push(("--action", parameters.action.to_owned()));
        if !parameters.classes.is_empty() {
            choices.push(("--classes", parameters.classes.join(",")));
        }
        if let Some(field) = &parameters.mark_field {
            choices.push(("--mark-field", field.clone()));
        }
        if parameters.content_field != "text" {
            push_fields("--text-field", &parameters.content_field, &mut choices);
        }
        if parameters.id_field != "id" {
            choices.push(("--id-field", parameters.id_field.clone()));
        }
        if let Some(limit) = parameters.limit {
            choices.push(("--limit", limit.to_string()));
        }
        if self.report.counts.skipped > 0 || !self.report.skipped_items.is_empty() {
            choices.push(("--on-bad-record", "skip".to_owned()));
        }
        html! {
            section {
                h2 { "Parameters" }
                p.note { "To repeat the run, pass the same inputs, items and options. The command line, with its paths, is in run.json." }
                (command("contain INPUT… --against ITEMS -o DIR", &choices, &[]))
            }
        }
    }
}
