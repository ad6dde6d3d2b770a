//! Input files, and how their records are read.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit, Weighting};
use simgpu::scheme::WeightScale;
use simgpu_files::{Run, RunOptions};
use simgpu_io::{
    FieldPath, Fields, FileFilter, Format, Globs, Inputs, Naming, Quote, WeightsField,
};

use super::numbers::{delimiter, number, quote, whole_number};
use super::records::RecordArguments;
use super::signing::WeightsArgument;
use crate::options::Mode;
use crate::streams::{is_stream, with_stdin};
use crate::{Usage, usage};

/// How to read input files.
#[derive(Debug, Default, Args)]
pub struct FormatArguments {
    /// Format of the inputs; auto decides by the ending of each file name, or by the first bytes of stdin
    #[arg(long, value_enum, default_value = "auto", help_heading = "Input")]
    pub format: FormatArgument,

    /// Character between two fields of CSV or TSV [default: a comma for CSV, a tab for TSV]
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = delimiter,
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub delimiter: Option<u8>,

    /// Character around fields of CSV or TSV that hold a delimiter or a line break, or none [default: " for CSV, none for TSV]
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = quote,
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub quote: Option<Quote>,
}

impl FormatArguments {
    /// How to find the files, none of them hidden or left out.
    pub(crate) fn naming(&self) -> Naming {
        Naming {
            format: self.format.format(),
            delimiter: self.delimiter,
            quote: self.quote,
            ..Naming::default()
        }
    }
}

/// Which files and records of the inputs to read.
#[derive(Debug, Args)]
pub struct SelectionArguments {
    /// Read only the first N records of the inputs, in order
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>, help_heading = "Input")]
    pub limit: Option<NonZeroU64>,

    /// Read only matching files of folders and globs; repeat it for more patterns; * also matches /
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub include: Vec<String>,

    /// Leave out matching files of folders and globs, even if --include matches them
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub exclude: Vec<String>,
}

impl SelectionArguments {
    /// Which files of folders and globs are read.
    pub(crate) fn filter(&self) -> anyhow::Result<FileFilter> {
        Ok(FileFilter {
            include: globs("include", &self.include)?,
            exclude: globs("exclude", &self.exclude)?,
        })
    }
}

/// The input files, and the fields of a record.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// Files, folders or globs of JSON Lines, JSON arrays, CSV, TSV, Parquet, Arrow or text, also
    /// compressed by gzip, zstd, xz or bzip2; - reads stdin
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

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

    /// Field with the weights of the tokens: a list of as many numbers, from 0 on; needs --unit tokens
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub weights_field: Option<String>,

    /// Weigh each shingle by how few documents have it; the inputs are read once more, to count
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Input")]
    pub weights: Option<WeightsArgument>,

    /// Copies that stand for a weight of 1, a power of two; about 1,024 copies per document are a good choice;
    /// signatures can be compared only at equal scales [default: 16]
    #[arg(long, value_name = "Q", value_parser = number, help_heading = "Input")]
    pub weight_scale: Option<f64>,

    /// The ids of records, and bad ones.
    #[command(flatten)]
    pub records: RecordArguments,

    /// Which files and records of the inputs to read.
    #[command(flatten)]
    pub selection: SelectionArguments,
}

/// The value of `--format`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum FormatArgument {
    #[default]
    #[allow(missing_docs, reason = "the help of --format describes it")]
    Auto,
    /// JSON Lines (.jsonl, .ndjson, .jsonlines)
    Jsonl,
    /// JSON Lines, or one array of objects if the file starts with [ (.json)
    Json,
    /// Comma-separated values with a header (.csv)
    Csv,
    /// Tab-separated values with a header (.tsv)
    Tsv,
    /// Parquet (.parquet, .pq)
    Parquet,
    /// Arrow IPC files and streams, Feather (.arrow, .feather, .ipc, .arrows)
    Arrow,
    /// One document per file (.txt, .md, .html; also .py, .rs and other programs, if they are named, or with --unit code)
    Text,
}

impl FormatArgument {
    /// The format; `None` if the files decide.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            FormatArgument::Auto => None,
            FormatArgument::Jsonl => Some(Format::JsonLines),
            FormatArgument::Json => Some(Format::Json),
            FormatArgument::Csv => Some(Format::Csv),
            FormatArgument::Tsv => Some(Format::Tsv),
            FormatArgument::Parquet => Some(Format::Parquet),
            FormatArgument::Arrow => Some(Format::Arrow),
            FormatArgument::Text => Some(Format::Text),
        }
    }
}

impl InputArguments {
    /// Finds the files, whose documents `engine` shingles.
    pub(crate) fn find(&self, engine: &Engine) -> anyhow::Result<Inputs> {
        let naming = self.naming(engine)?;
        Ok(with_stdin(Inputs::find_with(&self.inputs, naming)?)?)
    }

    /// Finds the files, and accepts `/dev/null` as an input without documents.
    pub(crate) fn find_or_none(&self, engine: &Engine) -> anyhow::Result<Inputs> {
        match &*self.inputs {
            [name] if name == Path::new("/dev/null") => {
                let inputs = Inputs::find_with(&["-".into()], self.naming(engine)?)?;
                Ok(inputs.with_stream(std::io::empty()))
            }
            _ => self.find(engine),
        }
    }

    /// How to find files whose documents `engine` shingles.
    pub(super) fn naming(&self, engine: &Engine) -> anyhow::Result<Naming> {
        Ok(Naming {
            hidden: self.hidden,
            filter: self.selection.filter()?,
            takes_code: engine.shingler().shingling().unit == Unit::Code,
            ..self.format.naming()
        })
    }

    /// The modes that the names of the inputs and the fields lead to.
    pub(crate) fn modes(&self) -> Vec<Mode> {
        let mut modes = Vec::new();
        if all_files(&self.inputs) {
            modes.push(Mode::NamedFiles);
        }
        if self.weights_field.is_none() {
            modes.push(Mode::NoWeights);
        }
        modes
    }

    /// Refuses fields without a name.
    pub(crate) fn check_fields(&self) -> anyhow::Result<()> {
        // The id may be the first column of a CSV file of pandas, which has no name.
        for field in &self.text_field {
            check_field("text_field", Some(field))?;
        }
        check_field("tokens_field", self.tokens_field.as_ref())?;
        check_field("weights_field", self.weights_field.as_ref())
    }

    /// The scale of the weights, if documents have weights.
    pub(super) fn weight_scale(&self) -> anyhow::Result<Option<WeightScale>> {
        match (&self.weights_field, self.weight_scale) {
            (None, _) => Ok(None),
            (Some(_), Some(scale)) => WeightScale::new(scale).map(Some).map_err(usage),
            (Some(_), None) => Ok(Some(WeightScale::default())),
        }
    }

    /// A run of an engine over inputs.
    pub(crate) fn over<'a>(
        &self,
        engine: &'a Engine,
        inputs: &'a Inputs,
        options: RunOptions<'a>,
    ) -> Run<'a> {
        Run {
            fields: self.fields(engine.shingler().shingling()),
            on_bad_record: self.records.bad.on_bad_record.resolve(),
            unique_ids: self.records.unique_ids,
            limit: self.selection.limit,
            options,
            ..Run::new(engine, inputs)
        }
    }

    pub(super) fn fields(&self, shingling: &Shingling) -> Fields {
        let is_tokens = shingling.unit == Unit::Tokens;
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
            weights: match (&self.weights_field, shingling.weighting) {
                (Some(field), Weighting::Given(scale)) => Some(WeightsField {
                    path: FieldPath::new(field),
                    scale,
                }),
                _ => None,
            },
            id: FieldPath::new(self.records.id()),
            id_required: self.records.needs_id(),
        }
    }
}

/// Whether each of these is the name of a file, or of the stream. One that cannot be looked at is none: to read it says why.
pub(crate) fn all_files(names: &[PathBuf]) -> bool {
    let is_file =
        |name: &PathBuf| is_stream(name) || name.metadata().is_ok_and(|found| !found.is_dir());
    names.iter().all(is_file)
}

/// The patterns of the option `name`.
///
/// # Errors
/// A usage error for an invalid pattern.
pub(crate) fn globs(name: &str, patterns: &[String]) -> anyhow::Result<Globs> {
    Globs::new(patterns).map_err(|error| Usage::error(&format!("`{name}`: {error}")))
}

/// The modes that the found files lead to.
pub(crate) fn modes_of_files(inputs: &Inputs) -> Vec<Mode> {
    let mut modes = Vec::new();
    if !inputs.have_fields() {
        modes.push(Mode::TextFiles);
    }
    if inputs.names().count() + usize::from(inputs.names_stream()) == 1 {
        modes.push(Mode::OneFile);
    }
    modes
}

/// Refuses a field without a name.
pub(crate) fn check_field(name: &str, field: Option<&String>) -> anyhow::Result<()> {
    match field {
        Some(field) if field.is_empty() => Err(Usage::error(&format!(
            "`{name}` is empty; give the name of a field"
        ))),
        _ => Ok(()),
    }
}
