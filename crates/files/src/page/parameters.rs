//! What was asked for, and the command that asks for it again.

use maud::{Markup, html};

use super::ShownReport;
use simgpu_io::{DedupParameters, Parameters, SearchParameters};
use simgpu_page::{Choice, command, push_fields, push_flags, short_number};

impl ShownReport<'_> {
    pub(super) fn parameters(&self) -> Markup {
        let mut choices = self.choices();
        let stated = match &self.pairs_file() {
            None => Vec::new(),
            // The file says how its pairs were found.
            Some(pairs) => {
                let stated = choices;
                choices = vec![("--from-pairs", (*pairs).to_owned())];
                add_dedup(self.report.dedup.as_ref(), &mut choices);
                stated
                    .into_iter()
                    .filter(|choice| !choices.contains(choice))
                    .collect()
            }
        };
        let output = if self.report.pairs.is_some() {
            "FILE"
        } else {
            "DIR"
        };
        html! {
            section id="parameters" {
                h2 { "Parameters" }
                p.note { "To repeat the run, pass the same inputs and these options." @if self.is_in_memory { " They are named as those of the command." } @else if self.report.pairs.is_none() { " The command line, with its paths, is in run.json." } }
                (command(&[self.report.command, "INPUT… -o", output].join(" "), &choices, &stated))
            }
        }
    }

    /// The file of pairs that the result follows from, if it does.
    pub(super) fn pairs_file(&self) -> Option<&str> {
        self.report.dedup.as_ref()?.from_pairs.as_deref()
    }

    /// The options that lead to the result, in the words of the command.
    fn choices(&self) -> Vec<Choice> {
        let report = self.report;
        let mut choices = Vec::new();
        if let Some(search) = &report.parameters.search {
            add_search(search, &mut choices);
        }
        add_dedup(report.dedup.as_ref(), &mut choices);
        if let Some(pairs) = &report.pairs {
            choices.push(("--identical", pairs.identical.to_owned()));
            choices.push(("--max-pairs", pairs.max_pairs.to_string()));
            choices.push(("--page", String::new()));
        }
        add_shingles(&report.parameters, &mut choices);
        if report.counts.reference.is_some() {
            choices.push(("--against", "REF".to_owned()));
        }
        if report.counts.index.is_some() {
            choices.push(("--against", "INDEX".to_owned()));
        }
        add_fields(&report.parameters, &mut choices);
        if report.counts.skipped > 0 {
            choices.push(("--on-bad-record", "skip".to_owned()));
        }
        choices
    }
}

fn add_search(search: &SearchParameters, choices: &mut Vec<Choice>) {
    if let Some(threshold) = search.threshold {
        choices.push(("--threshold", threshold.to_string()));
    }
    if let Some(measure) = &search.measure {
        choices.push(("--measure", measure.clone()));
    }
    if let (Some(distance), Some(within)) = (&search.distance, search.within) {
        choices.push(("--distance", distance.clone()));
        choices.push(("--within", within.to_string()));
    }
    choices.push(("--candidates", search.candidates.clone()));
    if let (Some(bands), Some(rows)) = (search.bands, search.rows) {
        choices.push(("--bands", bands.to_string()));
        choices.push(("--rows", rows.to_string()));
    }
    // It is the default next to an index that verifies by signature.
    if search.index_verify.is_none() {
        choices.push(("--verify", search.verify.clone()));
    }
}

fn add_dedup(dedup: Option<&DedupParameters>, choices: &mut Vec<Choice>) {
    let Some(dedup) = dedup else {
        return;
    };
    choices.push(("--cluster", dedup.cluster.to_owned()));
    // What a measure keeps, no option names.
    if dedup.keep != DedupParameters::KEEPS_LARGEST {
        choices.push(("--keep", dedup.keep.to_owned()));
    }
    if let Some(keep_by) = &dedup.keep_by {
        choices.push(("--keep-by", keep_by.clone()));
    }
    if let Some(field) = &dedup.source_field {
        choices.push(("--source-field", field.clone()));
    }
    if !dedup.prefer_source.is_empty() {
        choices.push(("--prefer-source", dedup.prefer_source.join(",")));
    }
    if let Some(max_bucket) = dedup.max_bucket {
        choices.push(("--max-bucket", max_bucket.to_string()));
    }
    if let Some(min_shingles) = dedup.min_shingles {
        choices.push(("--min-shingles", min_shingles.to_string()));
    }
    let flags = [
        ("--drop-short", dedup.drop_short),
        ("--drop-empty", dedup.drop_empty),
    ];
    push_flags(&flags, choices);
}

fn add_shingles(parameters: &Parameters, choices: &mut Vec<Choice>) {
    choices.push(("--unit", parameters.unit.clone()));
    if let Some(size) = parameters.size {
        choices.push(("--size", size.to_string()));
    }
    let search = parameters.search.as_ref();
    let is_by_distance = search.is_some_and(|search| search.distance.is_some());
    let flags = [
        ("--lowercase", parameters.lowercase),
        ("--strip-punctuation", parameters.strip_punctuation),
        ("--keep-whitespace", parameters.keep_whitespace),
        // A distance counts by itself.
        ("--count", parameters.count && !is_by_distance),
    ];
    push_flags(&flags, choices);
    if let Some(weights) = &parameters.weights {
        choices.push(("--weights", weights.clone()));
    }
    if let Some(field) = &parameters.weights_field {
        choices.push(("--weights-field", field.clone()));
    }
    if let Some(scale) = parameters.weight_scale {
        choices.push(("--weight-scale", short_number(scale)));
    }
    let is_lsh = search.is_some_and(|search| search.bands.is_some());
    if is_lsh {
        choices.push(("--scheme", parameters.scheme.clone()));
        choices.push(("--hash", parameters.hash.clone()));
        choices.push(("--num-perm", parameters.num_perm.to_string()));
        choices.push(("--seed", parameters.seed.to_string()));
    }
    if let Some(limit) = parameters.limit {
        choices.push(("--limit", limit.to_string()));
    }
}

fn add_fields(parameters: &Parameters, choices: &mut Vec<Choice>) {
    let (content, usual) = match &*parameters.unit {
        "tokens" => ("--tokens-field", "tokens"),
        _ => ("--text-field", "text"),
    };
    if parameters.content_field != usual {
        push_fields(content, &parameters.content_field, choices);
    }
    // A field that is named must be in every record.
    if parameters.id_field != "id" {
        choices.push(("--id-field", parameters.id_field.clone()));
    }
    if let Some(fields) = &parameters.against_content_field
        && *fields != parameters.content_field
    {
        push_fields("--against-text-field", fields, choices);
    }
    if let Some(field) = &parameters.against_id_field
        && *field != parameters.id_field
    {
        choices.push(("--against-id-field", field.clone()));
    }
}
