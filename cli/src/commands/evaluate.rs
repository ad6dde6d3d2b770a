//! `simgpu evaluate`.

use std::path::PathBuf;

use clap::Args;
use simgpu_io::{FieldPath, Inputs};
use simgpu_ratings::evaluation::{
    Agreement, EvaluationOutcome, EvaluationReport, EvaluationRun, Share, TruthFields, TruthKind,
};

use super::execute;
use crate::arguments::{Caller, FormatArguments, ProcessArguments, check_field, whole_number_or_0};
use crate::options::{Given, Mode};
use crate::outputs::{ReportArgument, ShownArguments};
use crate::streams::{is_stream, with_stdin};
use crate::terminal::{Lines, counted, grouped};
use crate::{Usage, terminal};

/// Measure how far a result of link, dedup or pairs is right
///
/// Compares the result with a truth, which is a file of pairs of ids that are the same thing, or of records with the entity
/// that each is of. Shows precision, recall and F1 of the pairs found, with 95 % confidence intervals, and the same of whole
/// entities.
///
/// Of one input, true pairs are closed: if a and b are the same, and b and c, then a and c are, too. Of two inputs, they
/// count as they are.
#[derive(Args, Debug)]
pub struct EvaluateArguments {
    /// Output folder of link or dedup, or output file of pairs; also links.jsonl, entities.jsonl, clusters.parquet or removed.jsonl
    /// alone
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// File of what is true, in any format of the inputs, also compressed; may be the input itself, if it has a field with
    /// the entity. Repeat it for the entities of B, if A and B were linked; - reads stdin
    #[arg(long, value_name = "FILE", required = true)]
    pub truth: Vec<PathBuf>,

    /// What the truth holds.
    #[command(flatten)]
    pub fields: TruthArguments,

    /// How to read the truth.
    #[command(flatten)]
    pub format: FormatArguments,

    /// Most wrong pairs, and most missed ones, in the report
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number_or_0::<usize>,
        default_value = "5",
        help_heading = "Output"
    )]
    pub examples: usize,

    /// Print the report to stdout
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub report: Option<ReportArgument>,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// The fields of the truth.
#[derive(Args, Debug)]
pub struct TruthArguments {
    /// Both fields of a pair of ids, separated by a comma; of two inputs, that of A first [default: id_a,id_b or id,kept_id, or
    /// else the first two]
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub truth_fields: Vec<String>,

    /// Field with the entity, if the truth holds records and no pairs; those without a value do not count
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub entity_field: Option<String>,

    /// Field with the id of a record, beside its entity [default: id; if there is none, all ids are FILE:ROW]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub id_field: Option<String>,
}

impl TruthArguments {
    /// The modes that the kind of truth leads to.
    fn modes(&self) -> &'static [Mode] {
        match self.entity_field {
            Some(_) => &[Mode::TruthEntities],
            None => &[Mode::TruthPairs],
        }
    }

    /// The fields to read.
    ///
    /// # Errors
    /// A usage error for a field without a name, and for another number of fields than two of a pair.
    pub fn fields(&self) -> anyhow::Result<TruthFields> {
        check_field("entity_field", self.entity_field.as_ref())?;
        for field in &self.truth_fields {
            check_field("truth_fields", Some(field))?;
        }
        if let Some(entity) = &self.entity_field {
            return Ok(TruthFields::Entity {
                id: self.id_field.as_deref().map(FieldPath::new),
                entity: FieldPath::new(entity),
            });
        }
        match &self.truth_fields[..] {
            [] => Ok(TruthFields::Pairs(None)),
            [a, b] => Ok(TruthFields::Pairs(Some(
                [a, b].map(|it| FieldPath::new(it)),
            ))),
            fields => Err(Usage::error(&format!(
                "`truth_fields` names {}, and a pair has two; give two, separated by a comma",
                counted(fields.len() as u64, "field")
            ))),
        }
    }
}

impl EvaluateArguments {
    /// Evaluates the result, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`EvaluationRun::evaluate`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<EvaluationOutcome> {
        caller.given.check(self.fields.modes())?;
        if self.report.is_none() {
            caller.given.check(&[Mode::NoReport])?;
        }
        if is_stream(&self.result) {
            return Err(Usage::error(
                "the result cannot be stdin; name its file or folder",
            ));
        }
        if self.truth.iter().filter(|name| is_stream(name)).count() > 1 {
            return Err(Usage::error(
                "`truth` is stdin twice; name a file for one of them",
            ));
        }
        let fields = self.fields.fields()?;
        let find = |name: &PathBuf| -> anyhow::Result<Inputs> {
            let inputs = Inputs::find_with(std::slice::from_ref(name), self.format.naming())?;
            Ok(with_stdin(inputs)?)
        };
        let truths = self.truth.iter().map(find);
        let truths = truths.collect::<anyhow::Result<Vec<Inputs>>>()?;
        let (first, second) = match &truths[..] {
            [first] => (first, None),
            [first, second] => (first, Some(second)),
            _ => {
                return Err(Usage::error(
                    "`truth` takes one file, or two, of A and of B; a folder or a glob can name more",
                ));
            }
        };
        let run = EvaluationRun {
            fields,
            examples: self.examples,
            truth_of_second: second,
            options: caller.options(),
            ..EvaluationRun::new(&self.result, first)
        };
        Ok(run.evaluate()?)
    }
}

/// The lines of the summary.
pub fn summary(outcome: &EvaluationOutcome) -> Lines {
    let report = &outcome.report;
    let counts = &report.counts;
    let mut lines = Lines::default();
    let result = &report.result;
    lines.row(
        "result",
        format!(
            "{} of {}, {}",
            result.file,
            result.command,
            counted(counts.result_rows, "record")
        ),
    );
    lines.row("truth", truth(report));
    left_out(&mut lines, report);
    lines.row("evaluated", counted(counts.evaluated, "record"));
    let pairs = &report.pairs;
    let found = format!("{} found ({})", grouped(pairs.found), result.pairs);
    lines.row("by pair", agreement(&found, pairs));
    shares(&mut lines, pairs, "pair");
    if let Some(entities) = &report.entities {
        let found = format!("{} of two or more records found", grouped(entities.found));
        lines.row("by entity", agreement(&found, entities));
        shares(&mut lines, entities, "entity");
    }
    if let Some(b_cubed) = &report.b_cubed {
        lines.row(
            "B-cubed",
            format!(
                "precision {} %, recall {} %, F1 {} %, means over records",
                percent(b_cubed.precision),
                percent(b_cubed.recall),
                percent(b_cubed.f1)
            ),
        );
    }
    terminal::stage_times(&mut lines, &outcome.timings, outcome.elapsed_s);
    lines
}

/// What the truth is.
fn truth(report: &EvaluationReport) -> String {
    let (rows, truth) = (report.counts.truth_rows, &report.truth);
    let files = match &truth.files[..] {
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        more => counted(more.len() as u64, "file"),
    };
    let fields = &truth.fields;
    match truth.kind {
        TruthKind::Entities => format!(
            "field {:?} of {} in {files}",
            fields[0],
            counted(rows, "record")
        ),
        _ => format!(
            "{} of {:?} and {:?} in {files}",
            counted(rows, "pair"),
            fields[0],
            fields[1]
        ),
    }
}

/// Adds lines about what does not count, and about ids that only one side has.
fn left_out(lines: &mut Lines, report: &EvaluationReport) {
    let counts = &report.counts;
    let mut row = |name, count: u64, thing: &str, what: &str| {
        if count > 0 {
            lines.row(name, format!("{} {what}", counted(count, thing)));
        }
    };
    let fate = "of the truth without an entity, left out";
    row("unlabelled", counts.unlabelled, "record", fate);
    let fate = match report.truth.kind {
        TruthKind::Entities => "of the result that the truth does not have, left out",
        _ => "of the result in no true pair, each an entity of its own",
    };
    row("not in truth", counts.not_in_truth, "id", fate);
    let fate = "of the truth that the result does not have, left out";
    let not_in_result = counts.not_in_result.unwrap_or(0);
    row("not in result", not_in_result, "id", fate);
    let fate = "found with a record without an entity, left out";
    row("pairs left out", counts.left_out_pairs, "pair", fate);
    let repeated = counts.repeated_result + counts.repeated_truth;
    let fate = "with an id or a pair of an earlier one, counted once";
    row("repeated", repeated, "record", fate);
    let itself = counts.same_id_result + counts.same_id_truth;
    row("same id", itself, "pair", "of an id with itself, ignored");
}

/// How many were found, are true, and are both.
fn agreement(found: &str, agreement: &Agreement) -> String {
    let (true_, right) = (grouped(agreement.true_), grouped(agreement.right));
    format!("{found}, {true_} true, {right} right")
}

/// Adds precision, recall and F1.
fn shares(lines: &mut Lines, agreement: &Agreement, thing: &str) {
    let of = |share: Option<Share>, none: &str| match share {
        None => format!("cannot tell: no {thing} {none}"),
        Some(Share {
            share,
            interval: (low, high),
            ..
        }) => {
            let (low, high) = (percent(low), percent(high));
            format!("{} %, 95 % interval {low} to {high}", percent(share))
        }
    };
    lines.row("precision", of(agreement.precision, "was found"));
    lines.row("recall", of(agreement.recall, "is true"));
    lines.row("F1", of(agreement.f1, "was found or is true"));
}

/// A share in percent: 0.00 and 100.00 are none and all.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let percent = match percent {
        none_or_all if share == 0.0 || share == 1.0 => none_or_all,
        between => between.clamp(0.01, 99.99),
    };
    format!("{percent:.2}")
}

pub(crate) fn run(
    arguments: &EvaluateArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    let shown = ShownArguments {
        dry_run: true,
        report: arguments.report,
    };
    shown.print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&summary(&outcome));
    Ok(())
}
