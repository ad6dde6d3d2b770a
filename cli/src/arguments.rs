//! Arguments that several commands share, and the settings they resolve to. The command line fills them through clap;
//! another front end fills their fields.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
#[cfg(feature = "gpu")]
use simgpu::backend::gpu::GpuOptions;
use simgpu::backend::{Backend, Hardware};
use simgpu::clock::Moment;
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::error::Conflict;
use simgpu::pipeline::{
    Banding, Distance, Measure, Normalise, Shingling, StopWords, Unit, Weighting, Within,
};
use simgpu::progress::Progress;
use simgpu::scheme::{BaseHash, Scheme, WeightScale};
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu::simd::Isa;
use simgpu_files::{Run, RunOptions};
use simgpu_index::{Index, IndexKind};
use simgpu_io::{
    FieldPath, Fields, FileFilter, Format, Globs, Inputs, Naming, OnBadRecord, Quote, WeightsField,
};

use crate::options::{Given, Mode};
use crate::streams::{is_stream, read_file, with_stdin};
use crate::terminal::Terminal;
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

/// What the inputs are compared with.
#[derive(Debug, Default, Args)]
pub struct AgainstArguments {
    /// File, folder or glob to compare the inputs with, in any format; repeat it for more; none of its documents is
    /// removed or written, and no two of them are compared. For dedup, also the folder of an index
    #[arg(long, value_name = "REF", help_heading = "Input")]
    pub against: Vec<PathBuf>,

    /// Field with the text in --against; repeat it to join several fields [default: that of the inputs]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub against_text_field: Vec<String>,

    /// Field with the id in --against [default: that of the inputs]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub against_id_field: Option<String>,
}

impl AgainstArguments {
    /// Tells indexes from files. Each name is looked at once: a second look may fail, or find something else, and a name that is
    /// neither would be left out.
    ///
    /// # Errors
    /// The error of a name that cannot be looked at.
    pub(crate) fn resolve(&self) -> anyhow::Result<References<'_>> {
        let mut references = References {
            arguments: self,
            indexes: Vec::new(),
            files: Vec::new(),
        };
        for name in &self.against {
            if Index::is_in(name)? {
                references.indexes.push(name.clone());
            } else {
                references.files.push(name.clone());
            }
        }
        Ok(references)
    }

    /// The fields of their records, if those of the inputs are these.
    pub(crate) fn fields(&self, mut fields: Fields) -> Fields {
        if !self.against_text_field.is_empty() {
            let text_fields = self.against_text_field.iter();
            fields.content = text_fields.map(|field| FieldPath::new(field)).collect();
        }
        if let Some(id) = &self.against_id_field {
            fields.id = FieldPath::new(id);
        }
        // Without an id, no id of the inputs would be known either.
        fields.id_required |= self.against_id_field.is_some();
        fields
    }

    /// Compares a run with what was found. `inputs` says how its own records are read.
    pub(crate) fn set<'a>(
        &self,
        run: Run<'a>,
        found: Option<&'a Inputs>,
        inputs: &InputArguments,
        engine: &Engine,
    ) -> Run<'a> {
        let Some(found) = found else {
            return run;
        };
        let fields = inputs.fields(engine.shingler().shingling());
        run.against(found, self.fields(fields))
    }
}

/// The names in `against`, by what they are.
pub(crate) struct References<'a> {
    arguments: &'a AgainstArguments,
    /// The folders of indexes.
    pub(crate) indexes: Vec<PathBuf>,
    /// Files, folders of files and globs.
    files: Vec<PathBuf>,
}

impl References<'_> {
    /// The modes that the arguments and the `inputs` lead to.
    pub(crate) fn modes(&self, inputs: &InputArguments) -> Vec<Mode> {
        let mut modes = inputs.modes();
        if self.files.is_empty() {
            modes.push(Mode::NoReference);
        }
        if self.indexes.is_empty() {
            modes.push(Mode::NoIndex);
        }
        if !are_files(&self.arguments.against) {
            modes.retain(|mode| *mode != Mode::NamedFiles);
        }
        modes
    }

    /// Refuses indexes, with what to do in place of a search.
    pub(crate) fn check_no_index(&self, remedy: &str) -> anyhow::Result<()> {
        match self.indexes.first() {
            Some(index) => Err(Usage::error(&format!(
                "`against` names the index {}, and takes files here; {remedy}",
                index.display()
            ))),
            None => Ok(()),
        }
    }

    /// Finds the files, which are read as the inputs are; `None` without any.
    pub(crate) fn find(
        &self,
        inputs: &InputArguments,
        engine: &Engine,
    ) -> anyhow::Result<Option<Inputs>> {
        self.find_with(inputs.naming(engine)?)
    }

    /// Finds the files by this naming; `None` without any.
    pub(crate) fn find_with(&self, naming: Naming) -> anyhow::Result<Option<Inputs>> {
        for field in &self.arguments.against_text_field {
            check_field("against_text_field", Some(field))?;
        }
        if self.files.is_empty() {
            return Ok(None);
        }
        Ok(Some(Inputs::find_with(&self.files, naming)?))
    }
}

/// The ids of records, and what is done with bad ones.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// Field with the id, which every record must have [default: id; unless every record has
    /// one, all ids are FILE:ROW]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub id_field: Option<String>,

    /// Fail if an id is missing or occurs twice
    #[arg(long, help_heading = "Input")]
    pub unique_ids: bool,

    /// What is done with bad ones.
    #[command(flatten)]
    pub bad: BadRecordArguments,
}

impl RecordArguments {
    /// The field of the id.
    pub fn id(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// Whether every record must have an id: also if ids must be unique.
    pub fn needs_id(&self) -> bool {
        self.id_field.is_some() || self.unique_ids
    }
}

/// What is done with bad records.
#[derive(Debug, Args)]
pub struct BadRecordArguments {
    /// Response to a record that cannot be read
    #[arg(
        long,
        value_enum,
        value_name = "ACTION",
        default_value = "fail",
        help_heading = "Input"
    )]
    pub on_bad_record: OnBadRecordArgument,
}

/// The value of `--weights`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsArgument {
    /// log2(n / d) for a shingle that d of n distinct documents have; the search then compares weighted sets
    Rarity,
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

/// A whole number from 1 on, of a type without 0.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub(crate) fn whole_number<T: FromStr>(text: &str) -> Result<T, String> {
    let is = |digit: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(digit);
    text.parse().map_err(|_| {
        let problem = if is(|digit| *digit == b'0') {
            "must be at least 1"
        } else if is(u8::is_ascii_digit) {
            "is too large"
        } else {
            "is no whole number from 1 on"
        };
        problem.to_owned()
    })
}

/// A whole number from 0 on.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub(crate) fn whole_number_or_0<T: FromStr>(text: &str) -> Result<T, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| {
        if is_number {
            "is too large".to_owned()
        } else {
            "is no whole number from 0 on".to_owned()
        }
    })
}

/// A number of bytes, with a unit or without.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub fn size(text: &str) -> Result<u64, String> {
    let size: Result<bytesize::ByteSize, _> = text.parse();
    match size {
        Ok(size) if size.as_u64() > 0 => Ok(size.as_u64()),
        Ok(_) => Err("must be more than 0".to_owned()),
        Err(_) => Err("is no size; give a number and a unit, such as 512MiB or 4GiB".to_owned()),
    }
}

/// A number of bytes of memory. A bare number is refused, since it may be meant as MiB.
///
/// # Errors
/// What is wrong, if the text is no such number or has no unit.
pub fn memory_size(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    if text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        Ok(bytes)
    } else {
        Err("has no unit; write, for example, 512MiB, or 512B for bytes".to_owned())
    }
}

/// A number.
///
/// # Errors
/// What is wrong, if the text is no number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "is no number".to_owned())
}

/// The byte that `--delimiter` names.
///
/// # Errors
/// The remedy, if the text is neither one character of ASCII nor `tab`.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "\\t" | "tab") => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("give one character of ASCII, or tab".to_owned()),
    }
}

/// What `--quote` names.
///
/// # Errors
/// The remedy, if the text is neither one character of ASCII nor `none`.
pub fn quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote::None),
        [byte] if byte.is_ascii() => Ok(Quote::Character(*byte)),
        _ => Err("give one character of ASCII, or none".to_owned()),
    }
}

/// The value of `--on-bad-record`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnBadRecordArgument {
    /// Stop with an error
    Fail,
    /// Omit and count the record; dedup also lists it in report.json
    Skip,
}

impl WeightsArgument {
    /// The weighting of shingles.
    pub fn weighting(self) -> Weighting {
        match self {
            WeightsArgument::Rarity => Weighting::Rarity,
        }
    }
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

impl OnBadRecordArgument {
    /// What a run does with a bad record.
    pub fn resolve(self) -> OnBadRecord {
        match self {
            OnBadRecordArgument::Fail => OnBadRecord::Fail,
            OnBadRecordArgument::Skip => OnBadRecord::Skip,
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
    fn naming(&self, engine: &Engine) -> anyhow::Result<Naming> {
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
        if are_files(&self.inputs) {
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
    fn weight_scale(&self) -> anyhow::Result<Option<WeightScale>> {
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
        let run = Run::new(engine, inputs).options(options);
        let run = match self.selection.limit {
            Some(limit) => run.limit(limit),
            None => run,
        };
        run.fields(self.fields(engine.shingler().shingling()))
            .on_bad_record(self.records.bad.on_bad_record.resolve())
            .unique_ids(self.records.unique_ids)
    }

    fn fields(&self, shingling: &Shingling) -> Fields {
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
pub(crate) fn are_files(names: &[PathBuf]) -> bool {
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

/// Where signatures are computed.
#[derive(Debug, Args)]
pub struct BackendArguments {
    /// Where to compute signatures: scalar, simd, gpu, hybrid (simd and gpu), or auto (gpu if the inputs are
    /// large and it measures faster, else simd); never changes a result
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "Machine"
    )]
    pub backend: String,

    /// Instruction set of simd: portable, avx2, avx512, avx512vnni, neon; never changes a result [default: the fastest
    /// that this CPU supports]
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    pub isa: Option<String>,

    /// Device of gpu and hybrid, as numbered by `simgpu devices` [default: 0]
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "N", value_parser = whole_number_or_0::<usize>, help_heading = "Machine")]
    pub device: Option<usize>,

    /// Simulate the loss of the device after N loads
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "N", hide = true)]
    pub lose_device_after: Option<u32>,
}

impl BackendArguments {
    /// The backend, and the hardware that computes shingles and signatures. With scalar, shingles use
    /// portable instructions.
    ///
    /// # Errors
    /// A usage error for unknown names.
    pub fn resolve(&self) -> anyhow::Result<(Backend, Hardware)> {
        let backend: Backend = self.backend.parse().map_err(usage)?;
        let isa = match (&self.isa, backend) {
            (Some(name), _) => Isa::named(name).map_err(usage)?,
            (None, Backend::Scalar) => Isa::named("portable")?,
            (None, _) => Isa::best(),
        };
        let hardware = Hardware {
            isa,
            #[cfg(feature = "gpu")]
            gpu: self.gpu_options(),
        };
        Ok((backend, hardware))
    }

    /// The modes that the backend leads to.
    ///
    /// # Errors
    /// A usage error for an unknown backend.
    pub fn modes(&self) -> anyhow::Result<&'static [Mode]> {
        Ok(match self.backend.parse().map_err(usage)? {
            Backend::Scalar => &[Mode::Scalar, Mode::NoDevice],
            Backend::Gpu => &[Mode::Gpu],
            Backend::Hybrid => &[],
            Backend::Simd | Backend::Auto => &[Mode::NoDevice],
        })
    }

    #[cfg(feature = "gpu")]
    fn gpu_options(&self) -> GpuOptions {
        GpuOptions {
            device: self.device,
            hooks: simgpu::backend::gpu::Hooks {
                lose_after: self.lose_device_after,
                ..Default::default()
            },
            ..GpuOptions::default()
        }
    }

    /// Whether the backend is chosen by its speed.
    fn is_auto(&self) -> bool {
        self.backend == Backend::Auto.to_string()
    }

    /// Whether --isa names an instruction set.
    pub fn names_isa(&self) -> bool {
        self.isa.is_some()
    }
}

/// How to compute signatures from documents.
#[derive(Debug, Args)]
pub struct SigningArguments {
    /// Unit to split documents into [default: words, or the scheme's]
    #[arg(long, value_enum, help_heading = "Shingles")]
    pub unit: Option<UnitArgument>,

    /// Units per shingle; a document with fewer is one shingle. Words and pieces are joined by one space, tokens so
    /// that no two lists of tokens are confused, or as the scheme's tool joins them [default: words 5, bytes 9,
    /// chars 9, pieces 5, code 5, tokens 1, or the scheme's (datatrove: tokens 5)]
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroUsize>, help_heading = "Shingles")]
    pub size: Option<NonZeroUsize>,

    /// File of stop words, separated by whitespace; needs --unit stopwords [default: English stop words]
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::AnyPath,
        help_heading = "Shingles"
    )]
    pub stop_words: Option<StopWordsArgument>,

    /// Lowercase the text before shingling; outputs keep the original
    #[arg(long, help_heading = "Shingles")]
    pub lowercase: bool,

    /// Delete punctuation before shingling, which joins what it separates: `a+b` becomes `ab`; outputs keep the original
    #[arg(long, help_heading = "Shingles")]
    pub strip_punctuation: bool,

    /// Keep runs of whitespace; by default each becomes one space before shingling
    #[arg(long, help_heading = "Shingles")]
    pub keep_whitespace: bool,

    /// Count how often a shingle occurs in a document: compare bags instead of sets
    #[arg(long, help_heading = "Shingles")]
    pub count: bool,

    /// The name of a family or preset.
    #[arg(
        long,
        value_name = "NAME",
        default_value = DEFAULT_SCHEME,
        help = scheme_help(),
        help_heading = "Signatures"
    )]
    pub scheme: String,

    /// The name of the base hash.
    #[arg(long, value_name = "NAME", help = hash_help(), help_heading = "Signatures")]
    pub hash: Option<String>,

    /// Number of permutations, one per slot of a signature [default: 128, or the scheme's]
    #[arg(long, value_name = "K", value_parser = num_perm_range(), help_heading = "Signatures")]
    pub num_perm: Option<u32>,

    /// Seed of the permutations [default: 1, or the scheme's]
    #[arg(long, value_name = "N", value_parser = whole_number_or_0::<u32>, help_heading = "Signatures")]
    pub seed: Option<u32>,

    /// Where to sign.
    #[command(flatten)]
    pub machine: BackendArguments,
}

/// The default of `--scheme`.
const DEFAULT_SCHEME: &str = "affine32";

impl SigningArguments {
    /// The scheme, with the values that are passed.
    ///
    /// # Errors
    /// A usage error for an unknown name, or a number of permutations out of range.
    pub(crate) fn scheme(&self) -> anyhow::Result<Scheme> {
        scheme_of(&self.scheme, self.num_perm, self.seed)
    }

    /// Whether signatures are asked for: an option of theirs is not at its default.
    fn asks_for_signatures(&self) -> bool {
        let default = Scheme::default();
        let num_perm = |named| named as usize != default.num_perm();
        self.scheme != DEFAULT_SCHEME
            || self.hash.is_some()
            || self.num_perm.is_some_and(num_perm)
            || self.seed.is_some_and(|seed| seed != default.seed())
            || !self.machine.is_auto()
    }

    /// The modes that backend and unit lead to.
    ///
    /// # Errors
    /// A usage error for an unknown backend or scheme.
    pub(crate) fn modes(&self) -> anyhow::Result<Vec<Mode>> {
        let of_unit = unit_modes(&shingling_of(self.unit, &self.scheme()?)?.unit);
        Ok([self.machine.modes()?, of_unit].concat())
    }
}

/// The shingling of a unit, or the scheme's, with English stop words.
pub(crate) fn shingling_of(
    unit: Option<UnitArgument>,
    scheme: &Scheme,
) -> anyhow::Result<Shingling> {
    let unit = unit.map(|unit| unit.unit(|| Ok(StopWords::english())));
    Ok(Shingling::for_scheme(scheme, unit.transpose()?))
}

/// The modes that a unit leads to.
pub fn unit_modes(unit: &Unit) -> &'static [Mode] {
    match unit {
        Unit::Tokens => &[Mode::Tokens, Mode::NoTextField, Mode::NotStopWords],
        Unit::StopWords(_) => &[Mode::NotTokens, Mode::NoWhiteSpace],
        Unit::Words | Unit::Code => &[Mode::NotTokens, Mode::NotStopWords, Mode::NoWhiteSpace],
        Unit::Bytes | Unit::Chars | Unit::Pieces => &[Mode::NotTokens, Mode::NotStopWords],
    }
}

/// Stop words: a file of them, or the words themselves, which no option of the command line can hold.
#[derive(Clone, Debug)]
pub enum StopWordsArgument {
    /// A file of words separated by whitespace.
    File(PathBuf),
    /// The words.
    Words(StopWords),
}

impl From<OsString> for StopWordsArgument {
    fn from(path: OsString) -> Self {
        StopWordsArgument::File(path.into())
    }
}

/// How to compute signatures from documents, with how much of the machine.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// How to sign.
    #[command(flatten)]
    pub sign: SigningArguments,

    /// Maximum text that waits for earlier text, in MiB, beside 1 MiB per thread; never changes a result
    #[arg(
        long,
        value_name = "MIB",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "16",
        help_heading = "Machine"
    )]
    pub batch_mib: NonZeroUsize,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// How many threads a command uses, and whether it prints messages.
#[derive(Debug, Default, Args)]
pub struct ProcessArguments {
    /// Number of threads, at most 4 per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroUsize>, help_heading = "Machine")]
    pub threads: Option<NonZeroUsize>,

    /// Print only warnings and errors
    #[arg(long, short, help_heading = "Machine")]
    pub quiet: bool,
}

/// The value of `--unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnitArgument {
    /// UTF-8 bytes; nothing is left out
    Bytes,
    /// Unicode characters; nothing is left out
    Chars,
    /// Unicode words; leaves out punctuation, operators and symbols
    Words,
    /// Each stop word with the two words after it; leaves out all other words
    Stopwords,
    /// Strings between characters other than letters, numbers and underscores; leaves out these characters
    Pieces,
    /// Words, numbers and single other characters of program text; leaves out white space, line ends and indentation
    Code,
    /// Tokens stored in the record; nothing is left out
    Tokens,
}

impl UnitArgument {
    /// The unit, with these stop words.
    pub(crate) fn unit(
        self,
        stop_words: impl FnOnce() -> anyhow::Result<StopWords>,
    ) -> anyhow::Result<Unit> {
        Ok(match self {
            UnitArgument::Bytes => Unit::Bytes,
            UnitArgument::Chars => Unit::Chars,
            UnitArgument::Words => Unit::Words,
            UnitArgument::Pieces => Unit::Pieces,
            UnitArgument::Code => Unit::Code,
            UnitArgument::Tokens => Unit::Tokens,
            UnitArgument::Stopwords => Unit::StopWords(stop_words()?),
        })
    }
}

/// Help of --scheme: families, and presets with their tools.
fn scheme_help() -> String {
    let (presets, families): (Vec<_>, Vec<_>) = Scheme::names()
        .filter_map(|name| Scheme::named(name).ok())
        .partition(|scheme| scheme.preset().is_some());
    let families: Vec<_> = families.iter().map(Scheme::to_string).collect();
    let presets = presets.iter().filter_map(Scheme::preset);
    let presets: Vec<_> = presets
        .map(|preset| format!("{} ({})", preset.name, preset.tool))
        .collect();
    format!(
        "Signature scheme: {}; or a preset with the values and defaults of another tool: {}",
        families.join(", "),
        presets.join(", ")
    )
}

/// Help of --hash.
fn hash_help() -> String {
    let names: Vec<_> = BaseHash::names().collect();
    format!(
        "Base hash of shingles: {} [default: words-v1 for words and code, murmur3 for other units, or the scheme's]",
        names.join(", ")
    )
}

/// The scheme of this name, with its defaults replaced where a value is passed.
///
/// # Errors
/// A usage error for an unknown name, or a number of permutations out of range.
pub fn scheme_of(name: &str, num_perm: Option<u32>, seed: Option<u32>) -> anyhow::Result<Scheme> {
    let mut scheme = Scheme::named(name).map_err(usage)?;
    if let Some(num_perm) = num_perm {
        scheme = scheme.with_num_perm(num_perm).map_err(usage)?;
    }
    if let Some(seed) = seed {
        scheme = scheme.with_seed(seed);
    }
    Ok(scheme)
}

/// Parser of --num-perm, with its range.
pub(crate) fn num_perm_range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(simgpu::scheme::MAX_NUM_PERM))
}

/// The most threads per core that a caller may ask for.
pub const THREADS_PER_CORE: usize = 4;

/// Settings of a run over files.
pub(crate) struct RunSettings {
    pub(crate) engine: Engine,
    /// Builds the engine again once the size of the inputs is known; `None` if the backend has a name.
    builder: Option<EngineBuilder>,
    batch_bytes: usize,
}

/// Who runs a command, and what it is told.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Receives progress, notes and warnings, and may stop the run.
    pub progress: &'a dyn Progress,
    /// The options that are given.
    pub given: &'a Given,
    /// The command line, for `run.json`; empty if there is none.
    pub command: &'a [String],
    /// When the run began.
    pub start: Moment,
}

impl<'a> Caller<'a> {
    /// The options of a run.
    pub(crate) fn options(&self) -> RunOptions<'a> {
        RunOptions {
            progress: self.progress,
            command: self.command.to_vec(),
            started: self.start,
            ..RunOptions::default()
        }
    }
}

impl std::fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller")
            .field("given", &self.given)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

impl RunArguments {
    /// The settings of a run. `distance` is that of the search, if it goes by distance.
    pub(crate) fn resolve(
        &self,
        input: &InputArguments,
        distance: Option<Distance>,
        known: Option<&Engine>,
    ) -> anyhow::Result<RunSettings> {
        let weighting = weighting([
            ("distance", distance.map(Distance::weighting)),
            ("count", self.sign.counted()),
            ("weights_field", input.weight_scale()?.map(Weighting::Given)),
            ("weights", input.weights.map(WeightsArgument::weighting)),
        ])?;
        let mut builder = self.sign.builder(weighting)?;
        if let Some(known) = known {
            let shingler = known.shingler();
            builder = builder
                .shingling(shingler.shingling().clone())
                .scheme(known.scheme().clone())
                .hash(shingler.hash());
        }
        let engine = open(builder.clone().work_bytes(0))?;
        input.check_fields()?;
        Ok(RunSettings {
            engine,
            builder: self.sign.machine.is_auto().then_some(builder),
            batch_bytes: self.batch_bytes(),
        })
    }
}

impl ProcessArguments {
    /// Number of threads. More than a few per core only cost memory and time.
    ///
    /// # Errors
    /// A usage error if there are more.
    pub fn threads(&self) -> anyhow::Result<usize> {
        let cores = cores();
        let threads = self.threads.map_or(cores, NonZeroUsize::get);
        check_threads(threads, cores)?;
        Ok(threads)
    }

    /// The terminal that prints messages.
    pub(crate) fn terminal(&self) -> Terminal {
        Terminal::new(self.quiet)
    }
}

/// How much a shingle weighs, by the one option that says so.
fn weighting<const N: usize>(options: [(&str, Option<Weighting>); N]) -> anyhow::Result<Weighting> {
    let mut named = options
        .into_iter()
        .filter_map(|(name, weighting)| Some((name, weighting?)));
    match (named.next(), named.next()) {
        (Some((first, _)), Some((second, _))) => Err(Usage::error(&format!(
            "`{first}` and `{second}` exclude each other; omit one of them"
        ))),
        (Some((_, weighting)), None) => Ok(weighting),
        (None, _) => Ok(Weighting::Equal),
    }
}

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Refuses more threads than a few per core.
pub(crate) fn check_threads(threads: usize, cores: usize) -> anyhow::Result<()> {
    let most = cores.saturating_mul(THREADS_PER_CORE);
    if threads > most {
        return Err(Usage::error(&format!(
            "`threads={threads}` is more than {THREADS_PER_CORE} per core; pass at most {most} on this machine"
        )));
    }
    Ok(())
}

impl RunSettings {
    /// Lets `auto` choose the hardware for these inputs.
    pub(crate) fn choose_hardware(&mut self, inputs: &Inputs) -> anyhow::Result<()> {
        if let Some(builder) = self.builder.take() {
            self.engine = open(match inputs.text_bytes() {
                Some(bytes) => builder.work_bytes(bytes),
                None => builder,
            })?;
        }
        Ok(())
    }

    /// A run over inputs.
    pub(crate) fn over<'a>(
        &'a self,
        arguments: &InputArguments,
        inputs: &'a Inputs,
        options: RunOptions<'a>,
    ) -> Run<'a> {
        let run = arguments.over(&self.engine, inputs, options);
        run.batch_bytes(self.batch_bytes)
    }
}

impl RunArguments {
    /// Sets what a run over inputs takes that signs nothing.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        run.batch_bytes(self.batch_bytes())
    }

    fn batch_bytes(&self) -> usize {
        self.batch_mib.get().saturating_mul(1 << 20)
    }
}

impl SigningArguments {
    /// The engine for a few texts.
    ///
    /// # Errors
    /// A usage error if arguments contradict each other or name something unknown; the errors of a file of stop
    /// words; [`simgpu::Error::Unsupported`] if this machine lacks the backend.
    pub fn resolve(&self) -> anyhow::Result<Engine> {
        let weighting = self.counted().unwrap_or_default();
        open(self.builder(weighting)?.work_bytes(0))
    }

    /// The weighting of `--count`.
    fn counted(&self) -> Option<Weighting> {
        self.count.then_some(Weighting::Counts)
    }

    fn builder(&self, weighting: Weighting) -> anyhow::Result<EngineBuilder> {
        let scheme = self.scheme()?;
        let (backend, hardware) = self.machine.resolve()?;
        let mut engine = Engine::builder()
            .shingling(self.shingling(&scheme, weighting)?)
            .scheme(scheme)
            .backend(backend)
            .hardware(hardware);
        if let Some(name) = &self.hash {
            let hash: BaseHash = name.parse().map_err(usage)?;
            engine = engine.hash(hash);
        }
        Ok(engine)
    }

    fn shingling(&self, scheme: &Scheme, weighting: Weighting) -> anyhow::Result<Shingling> {
        let stop_words = || match &self.stop_words {
            None => Ok(StopWords::english()),
            Some(StopWordsArgument::File(path)) => read_stop_words(path),
            Some(StopWordsArgument::Words(words)) => Ok(words.clone()),
        };
        let unit = self.unit.map(|unit| unit.unit(stop_words));
        let mut shingling = Shingling::for_scheme(scheme, unit.transpose()?);
        if let Some(size) = self.size {
            shingling = shingling.with_size(size).map_err(usage)?;
        }
        let default = shingling.normalise;
        shingling.normalise = Normalise {
            lowercase: self.lowercase || default.lowercase,
            strip_punctuation: self.strip_punctuation || default.strip_punctuation,
            keep_whitespace: self.keep_whitespace || default.keep_whitespace,
        };
        shingling.weighting = weighting;
        Ok(shingling)
    }
}

/// Opens an engine.
fn open(builder: EngineBuilder) -> anyhow::Result<Engine> {
    builder.build().map_err(|error| match error {
        simgpu::Error::Conflict(_) => usage(error),
        error => error.into(),
    })
}

fn read_stop_words(path: &Path) -> anyhow::Result<StopWords> {
    let text = read_file(path)?;
    let stop_words: StopWords = text.split_whitespace().collect();
    if stop_words.is_empty() {
        let problem = "contains no stop words".to_owned();
        let remedy = "list some, separated by whitespace".to_owned();
        let path = path.to_owned();
        return Err(simgpu::Error::Input {
            path,
            problem,
            remedy,
        }
        .into());
    }
    Ok(stop_words)
}

/// The default of `--threshold`.
const DEFAULT_THRESHOLD: f64 = 0.8;

/// Which pairs become candidates.
#[derive(Clone, Debug, Args)]
pub struct BandingArguments {
    /// Minimum similarity of near-duplicates, above 0 and up to 1: Jaccard, unless --measure names another
    #[arg(
        long,
        short,
        value_name = "S",
        value_parser = number,
        default_value_t = DEFAULT_THRESHOLD,
        help_heading = "Search"
    )]
    pub threshold: f64,

    /// Number of bands; needs --rows [default: chosen for the threshold, or the scheme's]
    #[arg(long, value_name = "B", requires = "rows", help_heading = "Search")]
    pub bands: Option<usize>,

    /// Slots per band; needs --bands
    #[arg(long, value_name = "R", requires = "bands", help_heading = "Search")]
    pub rows: Option<usize>,
}

impl BandingArguments {
    /// The threshold of a measure, and the banding for it.
    ///
    /// # Errors
    /// A usage error unless threshold, bands and rows fit each other and the scheme.
    pub fn resolve(&self, scheme: &Scheme, measure: Measure) -> anyhow::Result<(f64, Banding)> {
        simgpu::pipeline::check_threshold(self.threshold).map_err(usage)?;
        let banding = match requested_banding(self.bands, self.rows, scheme)? {
            Some(banding) => banding,
            None => Search::banding_for(measure, self.threshold, scheme).map_err(usage)?,
        };
        Ok((self.threshold, banding))
    }
}

/// The banding that `bands` and `rows` name.
///
/// # Errors
/// A usage error for one without the other, and for more slots than the scheme has.
pub fn requested_banding(
    bands: Option<usize>,
    rows: Option<usize>,
    scheme: &Scheme,
) -> anyhow::Result<Option<Banding>> {
    match (bands, rows) {
        (Some(bands), Some(rows)) => {
            let banding = Banding::new(bands, rows, scheme.num_perm());
            Ok(Some(banding.map_err(usage)?))
        }
        (None, None) => Ok(None),
        (Some(_), None) => Err(one_of_two("bands", "rows")),
        (None, Some(_)) => Err(one_of_two("rows", "bands")),
    }
}

/// The error of an option without another one that it needs.
fn one_of_two(given: &str, missing: &str) -> anyhow::Error {
    Usage::error(&format!(
        "`{given}` needs `{missing}`; add `{missing}`, or omit `{given}`"
    ))
}

/// Which pairs to search for.
#[derive(Clone, Debug, Args)]
pub struct SearchArguments {
    /// Which pairs become candidates.
    #[command(flatten)]
    pub banding: BandingArguments,

    /// How similar two documents are [default: jaccard]
    #[arg(long, value_enum, value_name = "MEASURE", help_heading = "Search")]
    pub measure: Option<MeasureArgument>,

    /// How to verify candidate pairs [default: exact; signature with --signatures]
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Search")]
    pub verify: Option<VerifyArgument>,

    /// How to find candidate pairs [default: auto; lsh if --bands, --scheme, --hash, --num-perm, --seed or
    /// --backend is not at its default]
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Search")]
    pub candidates: Option<CandidatesArgument>,

    /// Maximum memory for the shingles of an exact join, and for the counts of --weights rarity, in MiB; above it, join
    /// goes on on disk, and auto finds candidates through LSH
    #[arg(
        long,
        value_name = "MIB",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "2048",
        help_heading = "Search"
    )]
    pub join_mib: NonZeroUsize,
}

/// The value of `--measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeasureArgument {
    /// Share of the shingles of either document that both have
    Jaccard,
    /// Share of the shingles of the smaller document that the larger has; dedup keeps the document with the most shingles,
    /// and --threshold 1 removes only what is contained whole
    Contained,
}

/// The value of `--candidates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CandidatesArgument {
    /// Documents with a band of equal signature slots; misses some similar pairs, and needs little memory
    Lsh,
    /// Documents with a rare shingle in common (exact join); misses no similar pair
    Join,
    /// The exact join for tokens where it costs about as much as LSH, else LSH
    Auto,
}

/// The value of `--distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DistanceArgument {
    /// Places at which two lists of equal length have different tokens; lists of different lengths are never near
    Hamming,
    /// Sum, over all tokens, of the difference between their counts in the two lists
    L1,
}

/// How much to hold in memory. Separate from the search, so that help lists it with the other limits of the machine.
#[derive(Debug, Args)]
pub struct HoldArguments {
    /// Memory for what grows with the number of documents, such as 4GiB; a run that needs more goes on on disk, in
    /// --temp-dir; never changes a result [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    pub memory: Option<u64>,

    /// Folder for temporary files [default: beside the results; for results on stdout, the system's]
    #[arg(long, value_name = "DIR", help_heading = "Machine")]
    pub temp_dir: Option<PathBuf>,

    /// Begin anew where a run with the same output was stopped [default: go on from its last checkpoint]
    #[arg(long, help_heading = "Machine")]
    pub restart: bool,

    /// Maximum decompressed input to hold in memory, in MiB; larger input is read twice; never changes a
    /// result
    #[arg(
        long,
        value_name = "MIB",
        default_value = "128",
        help_heading = "Machine"
    )]
    pub hold_mib: u32,
}

/// The memory for one record, of commands that hold no more of their input or all of it.
#[derive(Clone, Copy, Debug, Args)]
pub struct RecordMemoryArguments {
    /// Memory for the record that is read, such as 4GiB: a record that takes more than a quarter is an error; never changes
    /// a result [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    pub memory: Option<u64>,
}

impl RecordMemoryArguments {
    /// Sets it for a run over documents.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        match self.memory {
            Some(memory) => run.memory(memory),
            None => run,
        }
    }
}

/// The value of `--verify`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VerifyArgument {
    /// Accept every candidate pair
    None,
    /// Estimate the similarity from the signatures
    Signature,
    /// Read the documents again and compute their Jaccard similarity
    Exact,
}

/// The options of shingles and their hashes.
pub const SHINGLE_OPTIONS: [&str; 8] = [
    "unit",
    "size",
    "stop_words",
    "lowercase",
    "strip_punctuation",
    "keep_whitespace",
    "count",
    "hash",
];

/// The further options that decide how documents are weighted and signed.
pub(crate) const SIGNATURE_OPTIONS: [&str; 6] = [
    "scheme",
    "num_perm",
    "seed",
    "weights",
    "weights_field",
    "weight_scale",
];

impl SearchArguments {
    /// The same, with what is not given as in the search of an index, for signatures of this scheme.
    pub(crate) fn with_defaults_from(&self, index: &Index, scheme: &Scheme, given: &Given) -> Self {
        let known = index.search();
        let mut search = self.clone();
        let banding = &mut search.banding;
        if !given.has_any(&["threshold"]) {
            banding.threshold = known.threshold;
        }
        let fits = banding.threshold.to_bits() == known.threshold.to_bits()
            && scheme.num_perm() == index.engine().scheme().num_perm();
        if banding.bands.is_none() && fits {
            banding.bands = Some(known.banding.bands());
            banding.rows = Some(known.banding.rows());
        }
        search.measure.get_or_insert(match known.measure {
            Measure::Jaccard => MeasureArgument::Jaccard,
            Measure::Contained => MeasureArgument::Contained,
        });
        if matches!(search.candidates, None | Some(CandidatesArgument::Auto)) {
            search.candidates = Some(match index.kind() {
                IndexKind::Lsh => CandidatesArgument::Lsh,
                IndexKind::Exact => CandidatesArgument::Join,
            });
        }
        search
    }

    /// The search. `sign` has the options of signatures; `None` if they are stored. `within` is the distance to search
    /// by, if any.
    ///
    /// # Errors
    /// A usage error for options that contradict each other.
    pub(crate) fn resolve(
        &self,
        scheme: &Scheme,
        sign: Option<&SigningArguments>,
        within: Option<Within>,
    ) -> anyhow::Result<Search> {
        let measure = match self.measure {
            Some(MeasureArgument::Contained) => Measure::Contained,
            Some(MeasureArgument::Jaccard) | None => Measure::Jaccard,
        };
        let (threshold, banding) = self.banding.resolve(scheme, measure)?;
        let candidates = match within {
            Some(_) => method_within(self.candidates)?,
            None => candidate_method(
                self.candidates,
                self.banding.bands.is_some()
                    || sign.is_none_or(SigningArguments::asks_for_signatures),
            ),
        };
        let join_bytes = self.join_mib.get().saturating_mul(1 << 20);
        let verification = match self.verify {
            Some(VerifyArgument::None) => Verification::None,
            Some(VerifyArgument::Signature) => Verification::Signature,
            Some(VerifyArgument::Exact) => Verification::Exact,
            None if sign.is_none() => Verification::Signature,
            None => Verification::Exact,
        };
        if candidates == CandidateMethod::Join && verification != Verification::Exact {
            let conflict = match within {
                Some(_) => Conflict::DistanceNotJoined,
                None => Conflict::JoinNotExact,
            };
            return Err(usage(conflict.into()));
        }
        Ok(Search {
            measure,
            within,
            candidates,
            join_bytes,
            ..Search::through_lsh(threshold, banding, verification)
        })
    }
}

/// The modes that the method leads to. `within` is the distance to search by, if any.
pub fn modes_of_method(
    named: Option<CandidatesArgument>,
    within: Option<Within>,
) -> &'static [Mode] {
    match (within, named) {
        (Some(_), _) => &[Mode::Distance, Mode::NoSimilarity, Mode::NoBuckets],
        (None, Some(CandidatesArgument::Join)) => &[Mode::Join, Mode::NoBuckets],
        (None, _) => &[],
    }
}

/// The method that finds candidates; without a name, LSH if an option asks for signatures or bands.
pub fn candidate_method(named: Option<CandidatesArgument>, asks_for_lsh: bool) -> CandidateMethod {
    match named {
        Some(CandidatesArgument::Join) => CandidateMethod::Join,
        Some(CandidatesArgument::Lsh) => CandidateMethod::Lsh,
        None if asks_for_lsh => CandidateMethod::Lsh,
        Some(CandidatesArgument::Auto) | None => CandidateMethod::Auto,
    }
}

/// The method that finds candidates within a distance: an exact join.
///
/// # Errors
/// A usage error for LSH.
pub fn method_within(named: Option<CandidatesArgument>) -> anyhow::Result<CandidateMethod> {
    match named {
        Some(CandidatesArgument::Lsh) => Err(usage(Conflict::DistanceNotJoined.into())),
        _ => Ok(CandidateMethod::Join),
    }
}

/// The modes that the method leads to, once it is known which shingles the engine makes.
///
/// # Errors
/// A usage error for a search that the engine does not support.
pub fn modes_of_search(search: &Search, engine: &Engine) -> anyhow::Result<&'static [Mode]> {
    let counts = engine.shingler().shingling().weighting == Weighting::Rarity;
    Ok(match search.method(engine).map_err(usage)? {
        CandidateMethod::Lsh if !counts => &[Mode::NoJoin],
        _ => &[],
    })
}

/// The distance to search by, and the greatest one of a pair.
///
/// # Errors
/// A usage error for one without the other.
pub fn requested_distance(
    distance: Option<DistanceArgument>,
    within: Option<u64>,
) -> anyhow::Result<Option<Within>> {
    match (distance, within) {
        (None, None) => Ok(None),
        (Some(distance), Some(most)) => Ok(Some(Within {
            distance: match distance {
                DistanceArgument::Hamming => Distance::Hamming,
                DistanceArgument::L1 => Distance::L1,
            },
            most,
        })),
        (Some(_), None) => Err(one_of_two("distance", "within")),
        (None, Some(_)) => Err(one_of_two("within", "distance")),
    }
}

impl HoldArguments {
    /// Sets how much a run holds in memory, where the rest goes, and whether it goes on with what is there.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        let run = run.held_bytes(u64::from(self.hold_mib) << 20);
        let run = run.restart(self.restart);
        let run = match self.memory {
            Some(memory) => run.memory(memory),
            None => run,
        };
        match &self.temp_dir {
            Some(folder) => run.temporary(folder.clone()),
            None => run,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        sign: SigningArguments,
    }

    #[test]
    fn isa_selects_the_instructions_of_shingling() {
        let isa_of = |options: &[&str]| {
            let command = Command::parse_from([&["simgpu"], options].concat());
            let engine = command.sign.resolve().unwrap();
            let shingler = engine.shingler();
            // Instructions change no value, so only the debug output shows them.
            let shown = format!("{shingler:?}");
            let is = |isa: &&Isa| shown.contains(&format!("{isa:?}"));
            *Isa::available().iter().find(is).unwrap()
        };
        assert_eq!(isa_of(&[]), Isa::best());
        assert_eq!(isa_of(&["--backend", "scalar"]), Isa::available()[0]);
        for isa in Isa::available() {
            assert_eq!(isa_of(&["--isa", &isa.to_string()]), *isa);
        }
    }
}
