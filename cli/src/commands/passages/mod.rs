//! `simgpu passages`.

mod units;

mod outputs;

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use simgpu_files::Against;
use simgpu_io::{FieldPath, Fields, Inputs, Naming};
use simgpu_passages::{PassageAction, PassagesFormat, PassagesOutcome, PassagesRun};

use super::execute;
use crate::arguments::{
    AgainstArguments, Caller, FormatArguments, ProcessArguments, RecordArguments,
    SelectionArguments, all_files, check_field, globs, memory_size, modes_of_files, whole_number,
};
use crate::options::{Given, Mode};
use crate::outputs::{Destination, OutputArguments, temporary};
use crate::streams::with_stdin;
use crate::terminal::Lines;
use crate::{Usage, terminal};

pub use outputs::{PassageActionArgument, PassagesFormatArgument};
pub use units::{
    OccurrencesArgument, PassageArguments, PassageUnitArgument, SameDocumentArgument, SnapArgument,
};

/// Find passages that repeat in documents, and cut them out
///
/// A passage is a part of a document of at least --min-length units that occurs elsewhere, in another document or the same
/// one. Finds all of them, exactly, in memory or, beyond --memory, on disk. Writes these files to the output folder when the run is
/// complete:
///
/// passages.jsonl, or passages.parquet (--passages-format): one line per passage, with its place (id, file, row, field; start and end in bytes of the text), that of
/// its source, its length in units, and whether all bytes are the same (exact), not only the units.
///
/// kept/ (--action cut, mark or drop): the kept records of each input, under the same name, in the same format and compression.
/// Only their texts change, or they get a field.
///
/// cuts.jsonl, removed.jsonl (--action cut or drop): what was cut out of each document, in bytes of its text, and which
/// documents were removed.
///
/// report.html: a page that shows what repeats and where; it needs no network.
///
/// report.json: counts and parameters; identical in every run with the same input and options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
pub struct PassagesArguments {
    /// Files, folders or globs of JSON Lines, JSON arrays, CSV, TSV, Parquet, Arrow or text, also
    /// compressed by gzip, zstd, xz or bzip2; - reads stdin
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Folder for the results
    #[arg(long, short, value_name = "DIR", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// What to write.
    #[command(flatten)]
    pub outputs: OutputArguments,

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

    /// Field with the array of tokens; needs --unit tokens [default: tokens]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub tokens_field: Option<String>,

    /// The ids of records, and bad ones.
    #[command(flatten)]
    pub records: RecordArguments,

    /// Which files and records of the inputs to read.
    #[command(flatten)]
    pub selection: SelectionArguments,

    /// What the inputs are compared with.
    #[command(flatten)]
    pub against: AgainstArguments,

    /// Read files that match GLOB before others, so that they are the sources of passages; repeat it for less preferred
    /// ones; * also matches /
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub prefer_source: Vec<String>,

    /// What passages are.
    #[command(flatten)]
    pub passages: PassageArguments,

    /// Only passages that occur in the files of --against
    #[arg(long, help_heading = "Passages")]
    pub only_against: bool,

    /// What to do with passages
    #[arg(
        long,
        value_enum,
        value_name = "ACTION",
        default_value = "report",
        help_heading = "Passages"
    )]
    pub action: PassageActionArgument,

    /// With --action mark, the name of the new field, a list of pairs: where each passage begins and ends
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "passages",
        help_heading = "Passages"
    )]
    pub mark_field: String,

    /// With --action drop, the largest share of a document's bytes that may be passages, from 0 to 1
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.8",
        help_heading = "Passages"
    )]
    pub max_covered: f64,

    /// With --action cut, what a cut is shrunk to
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "words",
        help_heading = "Passages"
    )]
    pub snap: SnapArgument,

    /// Remove documents with passages of which fewer than N units would be left
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>, help_heading = "Passages")]
    pub min_left: Option<NonZeroU64>,

    /// Format of the list of passages
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "jsonl",
        help_heading = "Output"
    )]
    pub passages_format: PassagesFormatArgument,

    /// Show no texts on the page, which then names documents alone
    #[arg(long, help_heading = "Output")]
    pub no_samples: bool,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,

    /// Memory for the texts and the search, such as 4GiB; a run that needs more spills to disk, with the same results
    /// [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    pub memory: Option<u64>,

    /// Folder for temporary files [default: next to the results]
    #[arg(long, value_name = "DIR", value_parser = crate::arguments::local_folder, help_heading = "Machine")]
    pub temp_dir: Option<PathBuf>,

    /// Start over where a run with the same output was stopped [default: resume from its last checkpoint]
    #[arg(long, help_heading = "Machine")]
    pub restart: bool,
}

impl PassagesArguments {
    /// Finds the passages, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`PassagesRun::run`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<PassagesOutcome> {
        caller.given.check(&self.modes())?;
        for field in &self.text_field {
            check_field("text_field", Some(field))?;
        }
        check_field("tokens_field", self.tokens_field.as_ref())?;
        let output = match self.outputs.destination(self.output.as_ref())? {
            Destination::Path(output) => Some(output),
            Destination::Nowhere => None,
            Destination::Stdout => {
                return Err(Usage::error(
                    "passages writes several files; name an output folder",
                ));
            }
        };
        let inputs = self.find()?;
        caller.given.check(&modes_of_files(&inputs))?;
        let references = self.against.resolve()?;
        references.check_no_index("name the files that the index was built of")?;
        let reference = references.find_with(self.naming()?)?;
        let run = PassagesRun {
            options: self.outputs.options(caller),
            prefer_source: globs("prefer_source", &self.prefer_source)?,
            against: reference.as_ref().map(|inputs| Against {
                inputs,
                fields: self.against.fields(self.fields()),
            }),
            temporary: temporary(self.temp_dir.as_deref(), output),
            ..self.run(&inputs)
        };
        Ok(run.run(output)?)
    }

    /// The run, but for its output.
    fn run<'a>(&self, inputs: &'a Inputs) -> PassagesRun<'a> {
        PassagesRun {
            occurrences: self.passages.occurrences(),
            min_count: self.passages.min_count.get(),
            only_against: self.only_against,
            other_documents: self.passages.other_documents(),
            action: match self.action {
                PassageActionArgument::Report => PassageAction::Report,
                PassageActionArgument::Cut => PassageAction::Cut,
                PassageActionArgument::Mark => PassageAction::Mark,
                PassageActionArgument::Drop => PassageAction::Drop {
                    max_covered: self.max_covered,
                },
            },
            mark_field: self.mark_field.clone(),
            snap: self.snap.snap(),
            fields: self.fields(),
            on_bad_record: self.records.bad.on_bad_record.resolve(),
            unique_ids: self.records.unique_ids,
            samples: !self.no_samples,
            format: match self.passages_format {
                PassagesFormatArgument::Jsonl => PassagesFormat::JsonLines,
                PassagesFormatArgument::Parquet => PassagesFormat::Parquet,
            },
            restart: self.restart,
            min_left: self.min_left,
            memory: self.memory,
            limit: self.selection.limit,
            ..PassagesRun::new(inputs, self.passages.units())
        }
    }

    /// The modes that the arguments and the names of the inputs lead to.
    fn modes(&self) -> Vec<Mode> {
        let mut modes = match self.action {
            PassageActionArgument::Report => vec![
                Mode::PassagesStay,
                Mode::PassagesDropNone,
                Mode::PassagesUncut,
                Mode::PassagesUnmarked,
            ],
            PassageActionArgument::Cut => {
                vec![Mode::PassagesDropNone, Mode::PassagesUnmarked]
            }
            PassageActionArgument::Mark => vec![
                Mode::PassagesRemoveNone,
                Mode::PassagesDropNone,
                Mode::PassagesUncut,
            ],
            PassageActionArgument::Drop => vec![Mode::PassagesUncut, Mode::PassagesUnmarked],
        };
        modes.extend(self.passages.modes());
        if all_files(&self.inputs) && all_files(&self.against.against) {
            modes.push(Mode::NamedFiles);
        }
        if self.against.against.is_empty() {
            modes.push(Mode::NoReference);
        }
        if self.only_against {
            modes.push(Mode::OnlyReference);
        }
        modes
    }

    fn find(&self) -> anyhow::Result<Inputs> {
        Ok(with_stdin(Inputs::find_with(
            &self.inputs,
            self.naming()?,
        )?)?)
    }

    fn naming(&self) -> anyhow::Result<Naming> {
        Ok(Naming {
            hidden: self.hidden,
            filter: self.selection.filter()?,
            takes_code: self.passages.unit == PassageUnitArgument::Code,
            ..self.format.naming()
        })
    }

    fn fields(&self) -> Fields {
        let is_tokens = self.passages.unit == PassageUnitArgument::Tokens;
        let content = if is_tokens {
            vec![FieldPath::new(
                self.tokens_field.as_deref().unwrap_or("tokens"),
            )]
        } else {
            let text_fields = self.text_field.iter();
            text_fields.map(|field| FieldPath::new(field)).collect()
        };
        Fields {
            content,
            is_tokens,
            id: FieldPath::new(self.records.id()),
            id_required: self.records.needs_id(),
            ..Fields::default()
        }
    }

    /// The lines of the summary.
    pub fn summary(&self, outcome: &PassagesOutcome) -> Lines {
        let counts = &outcome.report.counts;
        let mut lines = Lines::default();
        let documents = counts.records - counts.skipped;
        lines.row("documents", terminal::grouped(documents));
        lines.row("skipped", terminal::grouped(counts.skipped));
        if let Some(reference) = counts.reference {
            lines.row("reference", terminal::counted(reference, "document"));
        }
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
        if let Some(from) = counts.from_reference {
            let pieces = terminal::counted(from, "piece");
            lines.row("from REF", format!("{pieces} have their source there"));
        }
        if let Some(cut) = &counts.cut {
            let bytes = |bytes: u64| terminal::grouped(bytes);
            let cuts = terminal::counted(cut.cuts, "cut");
            let of = terminal::counted(cut.cut_documents, "document");
            lines.row("kept", terminal::counted(cut.kept, "document"));
            if self.action == PassageActionArgument::Cut {
                let cut_bytes = bytes(cut.cut_bytes);
                let mut line = format!("{cut_bytes} bytes by {cuts} in {of}");
                if cut.uncut_bytes > 0 {
                    let parts = match self.snap {
                        SnapArgument::Words => "words",
                        SnapArgument::Lines => "lines",
                        SnapArgument::None => "characters",
                    };
                    let uncut = bytes(cut.uncut_bytes);
                    line += &format!("; {uncut} bytes stay, as parts of {parts}");
                }
                lines.row("cut", line);
            }
            let removed = terminal::counted(cut.removed, "document");
            lines.row(
                "removed",
                format!("{removed} of {} bytes", bytes(cut.removed_bytes)),
            );
            let (lost, all) = (cut.lost_units, cut.lost_of_units);
            let share = 100.0 * lost as f64 / all.max(1) as f64;
            lines.row(
                "lost",
                format!("{share:.1} % of what was cut or removed stands in no kept passage"),
            );
        }
        terminal::stage_times(&mut lines, &outcome.timings, outcome.elapsed_s);
        match (&self.output, self.outputs.shown.dry_run) {
            (Some(path), false) => lines.row("written to", path.display().to_string()),
            _ => lines.row("written", "nothing (--dry-run)"),
        }
        lines
    }
}

pub(crate) fn run(
    arguments: &PassagesArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    arguments
        .outputs
        .shown
        .print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&arguments.summary(&outcome));
    Ok(())
}
