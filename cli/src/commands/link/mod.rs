//! `simgpu link`.

mod summary;

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use simgpu_files::RunOptions;
use simgpu_io::Inputs;
use simgpu_link::{
    ComparedField, Equivalents, IdFields, Link, LinkOutcome, LinkReport, LinkRun, Matching,
    RecordFields, Score,
};

use super::execute;
use crate::arguments::{
    Caller, FormatArguments, ProcessArguments, RecordArguments, RecordMemoryArguments, check_field,
    number,
};
use crate::options::{Given, Mode};
use crate::outputs::{ShownArguments, temporary};
use crate::streams::{is_stream, read_file, with_stdin};
use crate::terminal::Lines;
use crate::{Usage, terminal, usage};

use summary::{at, compared, decision, precision, recall};

/// Link the records of two files, or of one, that describe the same thing
///
/// Compares words and windows of three characters of the chosen fields, each weighted by its rarity. Needs no labelled
/// examples. Writes these files to the output folder when the run is complete:
///
/// links.jsonl: one line per link, with both ids, the score, the similarity of each field, the rarest words that both
/// have, and the runner-up.
///
/// entities.jsonl: one line per record, with its entity; for one input only.
///
/// report.html: the report for people, with the scores and the pairs next to the threshold.
///
/// report.json: counts, parameters, threshold and expected precision; identical in every run with the same input and
/// options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
#[command(mut_arg("unique_ids", |unique| {
    unique.help("Fail if an id is missing, or occurs twice in A or twice in B")
}))]
#[command(mut_arg("id_field", |id| {
    id.help("Field with the id, which every record must have; key=id is the field key of A and id of B [default: id; unless every record has one, all ids are FILE:ROW]")
}))]
#[command(mut_arg("delimiter", |delimiter| {
    delimiter.help("Character between two fields of CSV or TSV; if the header lacks a named field with it, and another of , ; | and tab has all, that one is used [default: a comma for CSV, a tab for TSV]")
}))]
pub struct LinkArguments {
    /// File of records: JSON Lines, a JSON array, CSV, TSV, Parquet or Arrow, also compressed; or a folder or glob of such
    /// files; - reads stdin
    #[arg(value_name = "A")]
    pub a: PathBuf,

    /// File of records to link those of A to; without it, records of A are linked to each other
    #[arg(value_name = "B")]
    pub b: Option<PathBuf>,

    /// Fields to compare, separated by commas; a.b is the field b of the object a, title=name the field title of A and name
    /// of B, first+last=name the fields first and last of A, joined by a blank, and name of B, dob:date a field whose kind is
    /// set (date, coordinates, email, phone, postcode, number, identifier, text or name); \=, \:, \+ and \, are part of a name
    #[arg(long, value_name = "FIELDS", required = true)]
    pub fields: Vec<FieldNames>,

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

    /// The ids of records, and bad ones.
    #[command(flatten)]
    pub records: RecordArguments,

    /// File of equal names: one set per line, separated by commas; each is replaced by the first
    #[arg(long, value_name = "FILE", help_heading = "Links")]
    pub equivalents: Option<PathBuf>,

    /// How pairs of records are scored
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value = "auto",
        help_heading = "Links"
    )]
    pub score: ScoreArgument,

    /// How many partners a record may have; for two inputs only [default: one-to-one]
    #[arg(
        long = "match",
        value_enum,
        value_name = "KIND",
        help_heading = "Links"
    )]
    pub matching: Option<MatchArgument>,

    /// Least score of a link: from 0 to 1 for text, up to 100 per field for textbook [default: what runners-up suggest]
    #[arg(long, short, value_name = "S", value_parser = number, allow_hyphen_values = true, help_heading = "Links")]
    pub threshold: Option<f64>,

    /// Share of the records of the smaller input that have a partner, up to 1; for two inputs only [default: estimated]
    #[arg(long, value_name = "SHARE", value_parser = number, help_heading = "Links")]
    pub share: Option<f64>,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,

    /// The memory for one record.
    #[command(flatten)]
    pub memory: RecordMemoryArguments,
}

/// Names of fields, in a list that is separated by commas.
#[derive(Clone, Debug)]
pub struct FieldNames(pub Vec<String>);

impl FromStr for FieldNames {
    type Err = Infallible;

    fn from_str(list: &str) -> Result<Self, Infallible> {
        let names = ComparedField::in_list(list).into_iter().map(str::to_owned);
        Ok(FieldNames(names.collect()))
    }
}

/// The value of `--score`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ScoreArgument {
    /// For one input evidence, if the fields give enough of it, else text; for two, points if only they tell how many of
    /// their links are right, else text
    #[default]
    Auto,
    /// Bits of evidence that all fields together give, chance and households weighed against it; for one input only
    Evidence,
    /// Cosine of the words and windows of three characters of all fields together, weighted by rarity; 0 to 1
    Text,
    /// Sum over the fields of log2(m / u), learned from the records; 1 point more doubles the odds
    Points,
    /// 100 points per field, less the square of the number of letters to insert and to delete (MMDS 3.8.2)
    Textbook,
}

/// The value of `--match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MatchArgument {
    /// One partner for each record; the best pair first
    OneToOne,
    /// One partner for each record of A; records of B may have several
    ManyToOne,
    /// Every pair that reaches the threshold
    ManyToMany,
}

impl LinkArguments {
    /// Links the records, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`LinkRun::link`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<LinkOutcome> {
        caller.given.check(self.modes())?;
        let task = self.task()?;
        let mut names = vec![&self.a];
        names.extend(&self.b);
        if names.iter().filter(|name| is_stream(name)).count() > 1 {
            return Err(Usage::error(
                "both inputs are stdin; name a file for one of them",
            ));
        }
        let inputs = names.into_iter().map(|name| self.find(name));
        let inputs = inputs.collect::<anyhow::Result<Vec<Inputs>>>()?;
        let output = match (&self.output, self.shown.dry_run) {
            (_, true) => None,
            (Some(output), false) if is_stream(output) => {
                return Err(Usage::error(
                    "link writes several files; name an output folder",
                ));
            }
            (output, false) => output.as_deref(),
        };
        let fields = RecordFields {
            id: self.id_fields()?,
            id_required: self.records.needs_id(),
            ..RecordFields::new(self.compared()?)
        };
        let run = LinkRun {
            second: inputs.get(1),
            on_bad_record: self.records.bad.on_bad_record.resolve(),
            unique_ids: self.records.unique_ids,
            memory: self.memory.memory,
            temporary: temporary(None, output),
            options: RunOptions {
                overwrite: self.overwrite,
                ..caller.options()
            },
            ..LinkRun::new(&inputs[0], fields)
        };
        Ok(run.link(&task, output)?)
    }

    /// The modes that the inputs lead to.
    pub fn modes(&self) -> &'static [Mode] {
        match self.b {
            None => &[Mode::OneInput],
            Some(_) => &[],
        }
    }

    /// The fields to compare.
    ///
    /// # Errors
    /// A usage error for a field without a name, or one that is named twice.
    pub fn compared(&self) -> anyhow::Result<Vec<ComparedField>> {
        let mut compared: Vec<ComparedField> = Vec::new();
        for text in self.fields.iter().flat_map(|names| &names.0) {
            check_field("fields", Some(text))?;
            let field: ComparedField = text.parse().map_err(usage)?;
            let is_known = |known: &ComparedField| known.a == field.a || known.b == field.b;
            if let Some(twice) = compared.iter().find(|known| is_known(known)) {
                let twice = if twice.a == field.a {
                    &field.a
                } else {
                    &field.b
                };
                let twice: Vec<String> = twice.iter().map(ToString::to_string).collect();
                let twice = twice.join("+");
                let twice = format!("`fields` names \"{twice}\" twice; name each field once");
                return Err(Usage::error(&twice));
            }
            compared.push(field);
        }
        Ok(compared)
    }

    /// The fields of the ids.
    ///
    /// # Errors
    /// A usage error for a field without a name.
    pub fn id_fields(&self) -> anyhow::Result<IdFields> {
        self.records.id().parse().map_err(usage)
    }

    fn find(&self, name: &PathBuf) -> anyhow::Result<Inputs> {
        let names = std::slice::from_ref(name);
        let inputs = Inputs::find_with(names, self.format.naming())?;
        Ok(with_stdin(inputs)?)
    }

    /// The parameters of the search.
    ///
    /// # Errors
    /// A usage error if they contradict each other, or if the file of equal names cannot be used.
    pub fn task(&self) -> anyhow::Result<Link> {
        let equivalents = match &self.equivalents {
            None => Equivalents::default(),
            Some(path) => {
                let text = read_file(path)?;
                Equivalents::parse(&text).map_err(|error| at(path, &error))?
            }
        };
        Ok(Link {
            matching: match self.matching {
                None | Some(MatchArgument::OneToOne) => Matching::OneToOne,
                Some(MatchArgument::ManyToOne) => Matching::ManyToOne,
                Some(MatchArgument::ManyToMany) => Matching::ManyToMany,
            },
            score: match self.score {
                ScoreArgument::Auto => Score::Auto,
                ScoreArgument::Evidence => Score::Evidence,
                ScoreArgument::Text => Score::Text,
                ScoreArgument::Points => Score::Points,
                ScoreArgument::Textbook => Score::Textbook,
            },
            threshold: self.threshold,
            share: self.share,
            equivalents,
            field_names: Vec::new(),
            field_kinds: Vec::new(),
        })
    }

    /// The lines of the summary.
    pub fn summary(&self, outcome: &LinkOutcome) -> Lines {
        let counts = &outcome.report.counts;
        let mut lines = Lines::default();
        let records = match self.b {
            Some(_) => format!(
                "{} and {}",
                terminal::grouped(counts.records_a),
                terminal::grouped(counts.records_b)
            ),
            None => terminal::grouped(counts.records_a),
        };
        lines.row("records", records);
        lines.row("skipped", terminal::grouped(counts.skipped));
        if counts.empty > 0 {
            let empty = terminal::grouped(counts.empty);
            lines.row("no words", format!("{empty}, never linked"));
        }
        compared(&mut lines, &outcome.report);
        decision(&mut lines, &outcome.report);
        let links = terminal::grouped(counts.links);
        lines.row(
            "links",
            match counts.equal_links {
                0 => links,
                equal => format!(
                    "{links}, of which {} between equal records",
                    terminal::grouped(equal)
                ),
            },
        );
        self.quality(&mut lines, &outcome.report);
        terminal::stage_times(&mut lines, &outcome.timings, outcome.elapsed_s);
        match (&self.output, self.shown.dry_run) {
            (Some(path), false) => lines.row("written to", path.display().to_string()),
            _ => lines.row("written", "nothing (--dry-run)"),
        }
        lines
    }

    /// Adds lines with what the links make of the records, and with the precision and recall that are expected.
    fn quality(&self, lines: &mut Lines, report: &LinkReport) {
        let estimate = &report.estimate;
        match self.b {
            None => lines.row(
                "entities",
                format!(
                    "{} of two or more records",
                    terminal::grouped(report.counts.entities)
                ),
            ),
            Some(_) => {
                let share = match estimate.share {
                    Some(share) => format!("{:.0} % estimated", 100.0 * share),
                    None => "cannot tell".to_owned(),
                };
                lines.row("with partner", share);
            }
        }
        let pairs = match self.b {
            Some(_) => "links",
            None => "pairs within entities",
        };
        lines.row("precision", precision(report, pairs));
        if let Some(recall) = recall(estimate) {
            lines.row("recall", recall);
        }
    }
}

pub(crate) fn run(
    arguments: &LinkArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    arguments
        .shown
        .print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&arguments.summary(&outcome));
    Ok(())
}
