//! `simgpu passages`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simgpu::files::RunOptions;
use simgpu::io::{FieldPath, Fields, FileFilter, Inputs, Naming};
use simgpu::passages::{Occurrences, PassageUnit, PassageUnits, PassagesOutcome, PassagesRun};

use super::execute;
use crate::arguments::{
    Caller, FormatArguments, ProcessArguments, RecordArguments, check_field, globs, modes_of_files,
    whole_number,
};
use crate::options::{Given, Mode};
use crate::outputs::ShownArguments;
use crate::streams::{is_stream, with_stdin};
use crate::terminal::Lines;
use crate::{Usage, terminal};

/// Find passages that repeat in documents
///
/// A passage is a part of a document of at least --min-length units that occurs elsewhere, in another document or the same
/// one. Finds all of them, exactly. Holds all texts in memory. Writes these files to the output folder when the run is
/// complete:
///
/// passages.jsonl: one line per passage, with its place (id, file, row, field; start and end in bytes of the text), that of
/// its source, its length in units, and whether all bytes are the same (exact), not only the units.
///
/// report.json: counts and parameters; identical in every run with the same input and options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Files, folders or globs of JSON Lines, JSON arrays, CSV, TSV, Parquet, Arrow or text, also
    /// compressed by gzip, zstd, xz or bzip2; - reads stdin
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Folder for the results
    #[arg(long, short, value_name = "DIR", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// Replace the results of an earlier run
    #[arg(long)]
    pub overwrite: bool,

    /// What is shown.
    #[command(flatten)]
    pub shown: ShownArguments,

    /// How to read the inputs.
    #[command(flatten)]
    pub format: FormatArguments,

    /// Include files and folders whose names start with a dot
    #[arg(long, help_heading = "Input")]
    pub hidden: bool,

    /// Field with the text; a.b is the field b of the object a, and a\.b the field a.b. Repeat to join
    /// several fields by line breaks; fields that are missing, null or empty are left out
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "text",
        help_heading = "Input"
    )]
    pub text_field: Vec<String>,

    /// The ids of records, and bad ones.
    #[command(flatten)]
    pub records: RecordArguments,

    /// Read only the first N records of the inputs, in order
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>, help_heading = "Input")]
    pub limit: Option<NonZeroU64>,

    /// Read only matching files of folders and globs; repeat it for more patterns; * also matches /
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub include: Vec<String>,

    /// Leave out matching files of folders and globs, even if --include matches them
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub exclude: Vec<String>,

    /// What passages are made of
    #[arg(
        long,
        value_enum,
        value_name = "UNIT",
        default_value = "words",
        help_heading = "Passages"
    )]
    pub unit: PassageUnitArgument,

    /// Least length of a passage in units [default: 50 words or tokens of code, 200 bytes, 20 characters of a line or
    /// paragraph]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroUsize>,
        help_heading = "Passages"
    )]
    pub min_length: Option<NonZeroUsize>,

    /// Which occurrences of a passage are listed
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "later",
        help_heading = "Passages"
    )]
    pub occurrences: OccurrencesArgument,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// The value of `--unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PassageUnitArgument {
    /// Unicode words; punctuation, operators and white space between them do not count
    Words,
    /// Words, numbers and single other characters of program text; white space does not count
    Code,
    /// UTF-8 bytes; nothing is left out
    Bytes,
    /// Whole lines; white space around them does not count
    Lines,
    /// Lines between blank lines; white space around them does not count
    Paragraphs,
}

/// The value of `--occurrences`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OccurrencesArgument {
    /// All but the first, which is their source
    Later,
    /// All; the source of the first is the second
    All,
}

impl Arguments {
    /// Finds the passages, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`PassagesRun::report`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<PassagesOutcome> {
        caller.given.check(self.modes())?;
        for field in &self.text_field {
            check_field("text_field", Some(field))?;
        }
        let output = match (&self.output, self.shown.dry_run) {
            (_, true) => None,
            (Some(output), false) if is_stream(output) => {
                return Err(Usage::error(
                    "passages writes several files; name an output folder",
                ));
            }
            (output, false) => output.as_deref(),
        };
        let inputs = self.find()?;
        caller.given.check(&modes_of_files(&inputs))?;
        let mut run = PassagesRun::new(&inputs, self.units())
            .occurrences(match self.occurrences {
                OccurrencesArgument::Later => Occurrences::Later,
                OccurrencesArgument::All => Occurrences::All,
            })
            .fields(self.fields())
            .on_bad_record(self.records.bad.on_bad_record.resolve())
            .unique_ids(self.records.unique_ids)
            .options(RunOptions {
                overwrite: self.overwrite,
                ..caller.options()
            });
        if let Some(limit) = self.limit {
            run = run.limit(limit);
        }
        if output.is_none() {
            run = run.temporary(std::env::temp_dir());
        }
        Ok(run.report(output)?)
    }

    /// The modes that the names of the inputs lead to.
    fn modes(&self) -> &'static [Mode] {
        let is_file = |name: &PathBuf| is_stream(name) || (name.exists() && !name.is_dir());
        match self.inputs.iter().all(is_file) {
            true => &[Mode::NamedFiles],
            false => &[],
        }
    }

    fn find(&self) -> anyhow::Result<Inputs> {
        let naming = Naming {
            hidden: self.hidden,
            filter: FileFilter {
                include: globs("include", &self.include)?,
                exclude: globs("exclude", &self.exclude)?,
            },
            takes_code: self.unit == PassageUnitArgument::Code,
            ..self.format.naming()
        };
        Ok(with_stdin(Inputs::find_with(&self.inputs, naming)?)?)
    }

    fn fields(&self) -> Fields {
        let content = self.text_field.iter();
        Fields {
            content: content.map(|field| FieldPath::new(field)).collect(),
            id: FieldPath::new(self.records.id()),
            id_required: self.records.needs_id(),
            ..Fields::default()
        }
    }

    fn units(&self) -> PassageUnits {
        let units = PassageUnits::of(match self.unit {
            PassageUnitArgument::Words => PassageUnit::Words,
            PassageUnitArgument::Code => PassageUnit::Code,
            PassageUnitArgument::Bytes => PassageUnit::Bytes,
            PassageUnitArgument::Lines => PassageUnit::Lines,
            PassageUnitArgument::Paragraphs => PassageUnit::Paragraphs,
        });
        PassageUnits {
            min_length: self.min_length.unwrap_or(units.min_length),
            ..units
        }
    }

    /// The lines of the summary.
    pub fn summary(&self, outcome: &PassagesOutcome) -> Lines {
        let counts = &outcome.report.counts;
        let mut lines = Lines::default();
        let documents = counts.records - counts.skipped;
        lines.row("documents", terminal::grouped(documents));
        lines.row("skipped", terminal::grouped(counts.skipped));
        let covered = 100.0 * counts.covered_share();
        let bytes = terminal::grouped(counts.covered_bytes);
        let of = terminal::grouped(counts.bytes);
        lines.row("repeated", format!("{covered:.1} %: {bytes} of {of} bytes"));
        let spans = terminal::counted(counts.spans, "span");
        let in_documents = terminal::counted(counts.covered_documents, "document");
        lines.row("passages", format!("{spans} in {in_documents}"));
        let pieces = terminal::counted(counts.pieces, "piece");
        lines.row(
            "sources",
            format!(
                "{pieces}, of which {} from the same document, and {} differ in bytes",
                terminal::grouped(counts.within_document),
                terminal::grouped(counts.inexact)
            ),
        );
        terminal::stage_times(&mut lines, &outcome.timings, outcome.elapsed_s);
        match (&self.output, self.shown.dry_run) {
            (Some(path), false) => lines.row("written to", path.display().to_string()),
            _ => lines.row("written", "nothing (--dry-run)"),
        }
        lines
    }
}

pub(crate) fn run(arguments: &Arguments, given: &Given, command: &[String]) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    arguments
        .shown
        .print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&arguments.summary(&outcome));
    Ok(())
}
