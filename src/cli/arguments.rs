//! Arguments that several commands share, and what they are resolved into.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu::backend::Backend;
use simgpu::io::{FieldPath, Fields, Format, Inputs, OnBadRecord, OutputFile};
use simgpu::pipeline::{
    Banding, ErrorWeights, Normalise, Search, Shingler, Shingling, Signer, Source, StopWords, Unit,
    Verification,
};
use simgpu::scheme::{BaseHash, Scheme};

use super::progress::Terminal;
use super::usage;

/// The files, and where a record holds what.
#[derive(Debug, Args)]
pub(super) struct InputArguments {
    /// Files, folders, globs, or - for stdin: JSON Lines, Parquet or text, plain, gzip or zstd
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,

    /// The format of the inputs; auto goes by their names
    #[arg(long, value_enum, default_value = "auto", help_heading = "Input")]
    format: FormatArgument,

    /// Field that holds the text; a.b reaches into objects
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "text",
        help_heading = "Input"
    )]
    text_field: String,

    /// Field that holds the array of tokens, with --unit tokens
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "tokens",
        help_heading = "Input"
    )]
    tokens_field: String,

    /// Field that holds the id, which every record must then have [default: id, if every record has
    /// one, else FILE:ROW]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    id_field: Option<String>,

    /// Fail if two documents have one id, or one has none
    #[arg(long, help_heading = "Input")]
    unique_ids: bool,

    /// What to do about a record that cannot be read
    #[arg(long, value_enum, default_value = "fail", help_heading = "Input")]
    on_bad_record: OnBadRecordArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    Auto,
    Jsonl,
    Parquet,
    Text,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnBadRecordArgument {
    /// Stop with an error
    Fail,
    /// Leave it out, count it and list it in the report
    Skip,
}

impl InputArguments {
    /// Finds the files; stdin is copied to `stdin_spool`.
    pub(super) fn find(&self, stdin_spool: &Path) -> anyhow::Result<Inputs> {
        let format = match self.format {
            FormatArgument::Auto => None,
            FormatArgument::Jsonl => Some(Format::JsonLines),
            FormatArgument::Parquet => Some(Format::Parquet),
            FormatArgument::Text => Some(Format::Text),
        };
        Ok(Inputs::find(&self.inputs, format, stdin_spool)?)
    }

    /// The inputs as they were named.
    pub(super) fn names(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn fields(&self, is_tokens: bool) -> Fields {
        let content = if is_tokens {
            &self.tokens_field
        } else {
            &self.text_field
        };
        Fields {
            content: FieldPath::new(content),
            is_tokens,
            id: FieldPath::new(self.id_field.as_deref().unwrap_or("id")),
            // Ids can be unique only if there are any.
            id_required: self.id_field.is_some() || self.unique_ids,
        }
    }
}

/// Where stdin lies while a file is written: beside it, or, for stdout, among temporary files. It goes
/// with the run; what a killed run leaves, the next one replaces.
pub(super) struct Spool {
    path: PathBuf,
    is_used: bool,
}

impl Spool {
    pub(super) fn beside(output: &Path, inputs: &[PathBuf]) -> Self {
        let path = if output.as_os_str() == "-" {
            std::env::temp_dir().join(format!("simgpu-{}.stdin", std::process::id()))
        } else {
            OutputFile::beside(output, "stdin")
        };
        Spool {
            path,
            is_used: inputs.iter().any(|input| input.as_os_str() == "-"),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.is_used {
            // What cannot be removed, the next run replaces.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// How documents become signatures.
#[derive(Debug, Args)]
pub(super) struct SignArguments {
    /// What a document is cut into
    #[arg(long, value_enum, default_value = "words", help_heading = "Shingles")]
    unit: UnitArgument,

    /// Units in a shingle [default: words 5, bytes 9, chars 9]
    #[arg(long, value_name = "N", help_heading = "Shingles")]
    size: Option<NonZeroUsize>,

    /// File of stop words, separated by white space, with --unit stopwords [default: English]
    #[arg(long, value_name = "FILE", help_heading = "Shingles")]
    stop_words: Option<PathBuf>,

    /// Lowercase the text
    #[arg(long, help_heading = "Shingles")]
    lowercase: bool,

    /// Delete punctuation
    #[arg(long, help_heading = "Shingles")]
    strip_punctuation: bool,

    /// Keep runs of white space, which otherwise become one blank
    #[arg(long, help_heading = "Shingles")]
    keep_whitespace: bool,

    /// Signature scheme: affine32, affine64, mersenne31, mersenne61, mersenne61-wide, datasketch,
    /// datasketch64, datasketch-legacy
    #[arg(
        long,
        value_name = "NAME",
        default_value = "affine32",
        help_heading = "Signatures"
    )]
    scheme: String,

    /// Base hash of a shingle: words-v1, murmur3-32, murmur3-128, sha1-32, sha1-64 [default: words-v1
    /// for words, murmur3 for the rest, or the scheme's]
    #[arg(long, value_name = "NAME", help_heading = "Signatures")]
    hash: Option<String>,

    /// Number of permutations, which is the number of slots of a signature
    #[arg(long, value_name = "K", default_value_t = simgpu::scheme::DEFAULT_NUM_PERM, value_parser = num_perm_range(), help_heading = "Signatures")]
    num_perm: u32,

    /// Seed of the permutations
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "Signatures"
    )]
    seed: u32,

    /// What computes the signatures: auto, scalar, simd; the values are the same
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "Machine"
    )]
    backend: String,

    /// Threads [default: one a core]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    threads: Option<NonZeroUsize>,

    /// MiB of text that are worked on at a time; the results are the same
    #[arg(
        long,
        value_name = "MIB",
        default_value = "16",
        help_heading = "Machine"
    )]
    batch_mib: NonZeroUsize,

    /// Say nothing but errors
    #[arg(long, short, help_heading = "Machine")]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UnitArgument {
    /// UTF-8 bytes
    Bytes,
    /// Unicode characters
    Chars,
    /// Unicode words
    Words,
    /// A stop word and the next two words
    Stopwords,
    /// The tokens that the record brings along
    Tokens,
}

/// Numbers of permutations that are accepted.
pub(super) fn num_perm_range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(simgpu::scheme::MAX_NUM_PERM))
}

/// What the arguments of signing are resolved into.
pub(super) struct Signing {
    pub(super) scheme: Scheme,
    pub(super) shingler: Shingler,
    pub(super) signer: Box<dyn Signer>,
    pub(super) threads: usize,
    pub(super) terminal: Terminal,
    batch_bytes: usize,
    is_tokens: bool,
}

impl SignArguments {
    pub(super) fn resolve(&self) -> anyhow::Result<Signing> {
        let scheme = Scheme::named(&self.scheme)
            .and_then(|scheme| scheme.with_num_perm(self.num_perm))
            .map_err(usage)?
            .with_seed(self.seed);
        let hash: Option<BaseHash> = match &self.hash {
            Some(name) => Some(name.parse().map_err(usage)?),
            None => None,
        };
        let backend: Backend = self.backend.parse().map_err(usage)?;
        let shingler = Shingler::new(self.shingling()?, &scheme, hash).map_err(usage)?;
        let available = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Signing {
            signer: backend.signer(&scheme)?,
            scheme,
            shingler,
            threads: self.threads.map_or(available, NonZeroUsize::get),
            terminal: Terminal::new(self.quiet),
            batch_bytes: self.batch_mib.get().saturating_mul(1 << 20),
            is_tokens: self.unit == UnitArgument::Tokens,
        })
    }

    fn shingling(&self) -> anyhow::Result<Shingling> {
        let conflict = |text: &str| usage(simgpu::Error::Conflict(text.to_owned()));
        if self.stop_words.is_some() && self.unit != UnitArgument::Stopwords {
            return Err(conflict("--stop-words needs --unit stopwords"));
        }
        let unit = match self.unit {
            UnitArgument::Bytes => Unit::Bytes,
            UnitArgument::Chars => Unit::Chars,
            UnitArgument::Words => Unit::Words,
            UnitArgument::Tokens => Unit::Tokens,
            UnitArgument::Stopwords => Unit::StopWords(match &self.stop_words {
                None => StopWords::english(),
                Some(path) => read_stop_words(path)?,
            }),
        };
        let mut shingling = Shingling::of(unit);
        if let Some(size) = self.size {
            if !shingling.unit.takes_size() {
                let unit = &shingling.unit;
                return Err(conflict(&format!(
                    "--unit {unit} takes no --size; leave it out"
                )));
            }
            shingling.size = size;
        }
        shingling.normalise = Normalise {
            lowercase: self.lowercase,
            strip_punctuation: self.strip_punctuation,
            keep_whitespace: self.keep_whitespace,
        };
        Ok(shingling)
    }
}

fn read_stop_words(path: &Path) -> anyhow::Result<StopWords> {
    let text = std::fs::read_to_string(path).map_err(simgpu::Error::io("read", path))?;
    let stop_words: StopWords = text.split_whitespace().collect();
    if stop_words.is_empty() {
        anyhow::bail!(
            "{} holds no stop words; list some, separated by white space",
            path.display()
        );
    }
    Ok(stop_words)
}

impl Signing {
    /// Brings files and signing together and hands them to `run`, on the threads asked for.
    pub(super) fn run<T: Send>(
        &self,
        arguments: &InputArguments,
        inputs: &Inputs,
        run: impl FnOnce(&Source<'_>) -> simgpu::Result<T> + Send,
    ) -> anyhow::Result<T> {
        let fields = arguments.fields(self.is_tokens);
        let source = Source {
            inputs,
            fields: &fields,
            on_bad_record: match arguments.on_bad_record {
                OnBadRecordArgument::Fail => OnBadRecord::Fail,
                OnBadRecordArgument::Skip => OnBadRecord::Skip,
            },
            unique_ids: arguments.unique_ids,
            batch_bytes: self.batch_bytes,
            shingler: &self.shingler,
            signer: &*self.signer,
            progress: &self.terminal,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()?;
        Ok(pool.install(|| run(&source))?)
    }
}

/// Which pairs are looked for.
#[derive(Debug, Args)]
pub(super) struct SearchArguments {
    /// The least Jaccard similarity of near-duplicates, above 0 and up to 1
    #[arg(
        long,
        short,
        value_name = "S",
        default_value_t = 0.8,
        help_heading = "Search"
    )]
    threshold: f64,

    /// Number of bands, with --rows [default: chosen for the threshold]
    #[arg(long, value_name = "B", requires = "rows", help_heading = "Search")]
    bands: Option<usize>,

    /// Slots of a band, with --bands
    #[arg(long, value_name = "R", requires = "bands", help_heading = "Search")]
    rows: Option<usize>,

    /// How candidate pairs are verified
    #[arg(long, value_enum, default_value = "signature", help_heading = "Search")]
    verify: VerifyArgument,

    /// Documents in a bucket above which it is not compared pair by pair
    #[arg(
        long,
        value_name = "N",
        default_value = "4096",
        help_heading = "Search"
    )]
    max_bucket: NonZeroUsize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VerifyArgument {
    /// Not at all: every candidate pair counts
    None,
    /// By the estimate from the signatures
    Signature,
    /// By the Jaccard similarity of the documents, which are read again
    Exact,
}

impl SearchArguments {
    pub(super) fn resolve(&self, num_perm: usize) -> anyhow::Result<Search> {
        simgpu::pipeline::check_threshold(self.threshold).map_err(usage)?;
        let banding = match (self.bands, self.rows) {
            (Some(bands), Some(rows)) => Banding::new(bands, rows, num_perm),
            _ => Banding::for_threshold(self.threshold, num_perm, ErrorWeights::VERIFIED),
        };
        Ok(Search {
            threshold: self.threshold,
            banding: banding.map_err(usage)?,
            verification: match self.verify {
                VerifyArgument::None => Verification::None,
                VerifyArgument::Signature => Verification::Signature,
                VerifyArgument::Exact => Verification::Exact,
            },
            max_bucket: self.max_bucket.get(),
        })
    }
}
