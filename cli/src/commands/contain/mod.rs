//! `simgpu contain`.

mod benchmarks;

mod summary;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu_contain::{Class, ContainAction, ContainCounts, ContainOutcome, ContainRun, HitsFormat};
use simgpu_io::{FieldPath, Fields, Inputs, Naming};

use super::execute;
use crate::arguments::{
    Caller, FormatArguments, ProcessArguments, RecordArguments, RecordMemoryArguments,
    SelectionArguments, all_files, check_field, modes_of_files,
};
use crate::options::{Given, Mode};
use crate::outputs::{Destination, OutputArguments, temporary};
use crate::streams::with_stdin;
use crate::terminal::Lines;
use crate::{Usage, terminal};

pub use benchmarks::{ItemArguments, ItemRuleArguments, RuleArgument, rule_modes};

use summary::{asked, items, near_misses, not_asked};

/// Find benchmark questions in documents; drop those documents or cut the questions
///
/// An item is one question with its parts. It is in a document if the document asks it: the words that ask are there, and
/// enough of the question beside them. Each item in a document has the first class that holds: contaminated (the question is
/// asked), passage (a text that the item quotes, or much of the question, not asked), short (too little to decide), template
/// (what other items have, too). Writes these files to the output folder when the run is complete:
///
/// hits.jsonl, or hits.parquet (--hits-format): one line per item in a document, with the place of the document (id, file,
/// row), item, benchmark, class, the parts found, where they are in bytes of the text, the n-grams found and the rarest of them,
/// what is missing for a contaminated document, and the text.
///
/// items.jsonl: one line per item, with its class, parts and number of documents.
///
/// phrases.parquet (--rule simgpu): what documents lack of questions, for --phrases of another run.
///
/// kept/ (--action drop, cut or mark): the kept records of each input, under the same name, in the same format and compression.
///
/// removed.jsonl (--action drop), cuts.jsonl (--action cut): which documents were left out, or what was cut out of each.
///
/// ignore.txt (--suggest-ignore): phrases for --ignore.
///
/// report.html: a page that shows what was found; it needs no network.
///
/// report.json: counts and parameters; identical in every run with the same input and options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
pub struct ContainArguments {
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

    /// The ids of records, and bad ones.
    #[command(flatten)]
    pub records: RecordArguments,

    /// Which files and records of the inputs to read.
    #[command(flatten)]
    pub selection: SelectionArguments,

    /// The items.
    #[command(flatten)]
    pub items: ItemArguments,

    /// What to do with documents that hold items
    #[arg(
        long,
        value_enum,
        value_name = "ACTION",
        default_value = "report",
        help_heading = "Items"
    )]
    pub action: ContainActionArgument,

    /// With --action drop, cut or mark, the classes of the hits that are left out, cut or marked, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        value_delimiter = ',',
        default_value = "contaminated",
        help_heading = "Items"
    )]
    pub classes: Vec<ClassArgument>,

    /// With --action mark, the name of the new field, a list of pairs: where each place begins and ends
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "contained",
        help_heading = "Items"
    )]
    pub mark_field: String,

    /// Format of the list of hits
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "jsonl",
        help_heading = "Output"
    )]
    pub hits_format: HitsFormatArgument,

    /// Leave the texts found out of the hits and the page
    #[arg(long, help_heading = "Output")]
    pub no_samples: bool,

    /// Write ignore.txt: the phrases that many documents have without the item, for --ignore
    #[arg(long, help_heading = "Output")]
    pub suggest_ignore: bool,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,

    /// The memory for one record.
    #[command(flatten)]
    pub memory: RecordMemoryArguments,

    /// Folder for temporary files [default: next to the results]
    #[arg(long, value_name = "DIR", value_parser = crate::arguments::local_folder, help_heading = "Machine")]
    pub temp_dir: Option<PathBuf>,
}

/// The value of `--action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ContainActionArgument {
    /// List them
    Report,
    /// Write all records except documents of --classes
    Drop,
    /// Write the records without what was found of --classes
    Cut,
    /// Write all records, each with the places of --classes in a field (--mark-field); JSON, Parquet and Arrow
    Mark,
}

/// The value of `--hits-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HitsFormatArgument {
    /// JSON Lines: hits.jsonl
    Jsonl,
    /// Parquet: hits.parquet
    Parquet,
}

/// A value of `--classes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassArgument {
    /// The question is asked
    Contaminated,
    /// A text that an item quotes, or much of a question, not asked
    Passage,
    /// Too little to decide; for --action mark
    Short,
    /// Text shared by many items
    Template,
}

impl ContainArguments {
    /// Finds the items, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`ContainRun::run`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<ContainOutcome> {
        caller.given.check(&self.modes())?;
        for field in &self.text_field {
            check_field("text_field", Some(field))?;
        }
        let item_fields = self.items.fields()?;
        let output = match self.outputs.destination(self.output.as_ref())? {
            Destination::Path(output) => Some(output),
            Destination::Nowhere => None,
            Destination::Stdout => {
                return Err(Usage::error(
                    "contain writes several files; name an output folder",
                ));
            }
        };
        let naming = Naming {
            hidden: self.hidden,
            filter: self.selection.filter()?,
            ..self.format.naming()
        };
        let inputs = with_stdin(Inputs::find_with(&self.inputs, naming)?)?;
        caller.given.check(&modes_of_files(&inputs))?;
        // Items come in other formats than documents.
        let items =
            Inputs::find(&self.items.against, None).map_err(simgpu::error::without_piping)?;
        let run = ContainRun {
            item_fields,
            rule: self.items.decision.rule(),
            action: self.action(),
            mark_field: self.mark_field.clone(),
            hits_format: match self.hits_format {
                HitsFormatArgument::Jsonl => HitsFormat::JsonLines,
                HitsFormatArgument::Parquet => HitsFormat::Parquet,
            },
            suggest_ignore: self.suggest_ignore,
            samples: !self.no_samples,
            fields: self.fields(),
            on_bad_record: self.records.bad.on_bad_record.resolve(),
            unique_ids: self.records.unique_ids,
            limit: self.selection.limit,
            phrases: self.items.phrases.clone(),
            ignore: self.items.ignore.clone(),
            memory: self.memory.memory,
            temporary: temporary(self.temp_dir.as_deref(), output),
            options: self.outputs.options(caller),
            ..ContainRun::new(&inputs, &items)
        };
        Ok(run.run(output)?)
    }

    fn action(&self) -> ContainAction {
        let class = |class: &ClassArgument| match class {
            ClassArgument::Contaminated => Class::Contaminated,
            ClassArgument::Passage => Class::Passage,
            ClassArgument::Short => Class::Short,
            ClassArgument::Template => Class::Template,
        };
        let classes = self.classes.iter().map(class).collect();
        match self.action {
            ContainActionArgument::Report => ContainAction::Report,
            ContainActionArgument::Drop => ContainAction::Drop(classes),
            ContainActionArgument::Cut => ContainAction::Cut(classes),
            ContainActionArgument::Mark => ContainAction::Mark(classes),
        }
    }

    /// The modes that the arguments and the names of the inputs lead to.
    fn modes(&self) -> Vec<Mode> {
        let mut modes = Vec::new();
        if self.action == ContainActionArgument::Report {
            modes.push(Mode::ItemsStay);
        }
        if self.action != ContainActionArgument::Mark {
            modes.push(Mode::PassagesUnmarked);
        }
        modes.extend_from_slice(rule_modes(self.items.decision.rule));
        if all_files(&self.inputs) {
            modes.push(Mode::NamedFiles);
        }
        modes
    }

    fn fields(&self) -> Fields {
        let content = self.text_field.iter().map(|field| FieldPath::new(field));
        Fields {
            content: content.collect(),
            id: FieldPath::new(self.records.id()),
            id_required: self.records.needs_id(),
            ..Fields::default()
        }
    }

    /// The lines of the summary.
    pub fn summary(&self, outcome: &ContainOutcome) -> Lines {
        let counts = &outcome.report.counts;
        let mut lines = Lines::default();
        let documents = counts.records - counts.skipped;
        lines.row("documents", terminal::grouped(documents));
        lines.row("skipped", terminal::grouped(counts.skipped));
        lines.row("items", items(counts));
        lines.row("asked", asked(&outcome.report));
        lines.row(
            "not asked",
            format!(
                "items: {}; documents: {}",
                not_asked(&counts.found_items),
                not_asked(&counts.documents)
            ),
        );
        lines.row("near misses", near_misses(&outcome.report));
        if let (Some(kept), Some(removed)) = (counts.kept, counts.removed) {
            lines.row("kept", terminal::counted(kept, "document"));
            lines.row("removed", terminal::counted(removed, "document"));
        }
        if let Some(cut) = counts.cut.filter(|cut| cut.cuts > 0) {
            let documents = terminal::counted(cut.cut_documents, "document");
            let bytes = terminal::grouped(cut.cut_bytes);
            lines.row("cut", format!("{bytes} bytes of {documents}"));
        }
        // Rules of others excuse nothing.
        if self.items.decision.rule == RuleArgument::Simgpu {
            let excused = match outcome.report.phrases {
                "given" => format!(
                    "{} by public phrases",
                    terminal::counted(counts.excused, "hit")
                ),
                _ => "none, without --phrases".to_owned(),
            };
            lines.row("excused", excused);
        }
        let removable = &counts.removable;
        if self.action == ContainActionArgument::Report && removable.dropped > 0 {
            lines.row(
                "removable",
                format!(
                    "drop: {}, {}; cut: {}, {}",
                    terminal::counted(removable.dropped, "document"),
                    terminal::counted(removable.dropped_bytes, "byte"),
                    terminal::counted(removable.cuts, "cut"),
                    terminal::counted(removable.cut_bytes, "byte")
                ),
            );
        }
        terminal::stage_times(&mut lines, &outcome.timings, outcome.elapsed_s);
        match (&self.output, self.outputs.shown.dry_run) {
            (Some(path), false) => lines.row("written to", path.display().to_string()),
            _ => lines.row("written", "nothing (--dry-run)"),
        }
        if !self.outputs.shown.dry_run {
            lines.row("next", self.next(counts));
        }
        lines
    }

    /// What to do after the run.
    fn next(&self, counts: &ContainCounts) -> String {
        let next = if counts.documents.contaminated == 0 {
            match counts.near_misses {
                0 => "nothing to remove",
                _ => "nothing to remove; read the near misses in report.html",
            }
        } else if self.action == ContainActionArgument::Report {
            let output = self.output.as_deref().unwrap_or(Path::new("out"));
            return format!(
                "read report.html, then run the same command with --action drop -o {}-clean",
                output.components().as_path().display()
            );
        } else {
            "score models on the items that items.jsonl lists without a document"
        };
        next.to_owned()
    }
}

pub(crate) fn run(
    arguments: &ContainArguments,
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
