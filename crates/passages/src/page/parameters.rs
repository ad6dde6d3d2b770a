//! What was asked for, and the command that asks for it again.

use maud::{Markup, html};

use super::PassagesPage;
use crate::PassageParameters;
use simgpu_page::{Choice, command, push_fields, push_flags};

impl PassagesPage<'_> {
    pub(super) fn parameters(&self) -> Markup {
        let mut choices = Vec::new();
        let parameters = &self.report.parameters;
        push_passages(parameters, &mut choices);
        push_action(parameters, &mut choices);
        push_inputs(parameters, &mut choices);
        if self.report.counts.skipped > 0 || !self.report.reference_skipped.is_empty() {
            choices.push(("--on-bad-record", "skip".to_owned()));
        }
        html! {
            section {
                h2 { "Parameters" }
                p.note { "To repeat the run, pass the same inputs and these options. The command line, with its paths, is in run.json." }
                (command("passages INPUT… -o DIR", &choices, &[]))
            }
        }
    }
}

/// What passages are.
fn push_passages(parameters: &PassageParameters, choices: &mut Vec<Choice>) {
    choices.push(("--unit", parameters.unit.to_owned()));
    choices.push(("--min-length", parameters.min_length.to_string()));
    // All passages of a reference alone are covered.
    if !parameters.only_against {
        choices.push(("--occurrences", parameters.occurrences.to_owned()));
        choices.push(("--same-document", parameters.same_document.to_owned()));
    }
    if parameters.min_count > 2 {
        choices.push(("--min-count", parameters.min_count.to_string()));
    }
    let is_of_lines = matches!(parameters.unit, "lines" | "paragraphs");
    push_flags(
        &[
            ("--bytes-equal", parameters.bytes_equal),
            ("--lowercase", parameters.lowercase),
            ("--strip-punctuation", parameters.strip_punctuation),
            (
                "--merge-whitespace",
                parameters.merge_whitespace && is_of_lines,
            ),
            ("--mask-digits", parameters.mask_digits),
            ("--only-against", parameters.only_against),
        ],
        choices,
    );
}

/// What is done with them.
fn push_action(parameters: &PassageParameters, choices: &mut Vec<Choice>) {
    choices.push(("--action", parameters.action.to_owned()));
    if let Some(field) = &parameters.mark_field {
        choices.push(("--mark-field", field.clone()));
    }
    if let Some(share) = parameters.max_covered {
        choices.push(("--max-covered", share.to_string()));
    }
    if let Some(snap) = parameters.snap {
        choices.push(("--snap", snap.to_owned()));
    }
    if let Some(units) = parameters.min_left {
        choices.push(("--min-left", units.to_string()));
    }
}

/// The fields of records, and which are read.
fn push_inputs(parameters: &PassageParameters, choices: &mut Vec<Choice>) {
    let (content, usual) = match parameters.unit {
        "tokens" => ("--tokens-field", "tokens"),
        _ => ("--text-field", "text"),
    };
    if parameters.content_field != usual {
        push_fields(content, &parameters.content_field, choices);
    }
    if parameters.id_field != "id" {
        choices.push(("--id-field", parameters.id_field.clone()));
    }
    if let Some(fields) = &parameters.against_content_field {
        choices.push(("--against", "REF".to_owned()));
        if *fields != parameters.content_field {
            push_fields("--against-text-field", fields, choices);
        }
    }
    if let Some(field) = &parameters.against_id_field
        && *field != parameters.id_field
    {
        choices.push(("--against-id-field", field.clone()));
    }
    for pattern in &parameters.prefer_source {
        choices.push(("--prefer-source", pattern.clone()));
    }
    if let Some(limit) = parameters.limit {
        choices.push(("--limit", limit.to_string()));
    }
}
