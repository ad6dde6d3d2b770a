//! Shingles and schemes: what becomes a signature, and by which hash family.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::pipeline::{Normalise, Shingling, StopWords, Unit, Weighting};
use simgpu::scheme::{BaseHash, Scheme};

use super::backend::BackendArguments;
use super::numbers::{num_perm_range, whole_number, whole_number_or_0};
use crate::options::Mode;
use crate::streams::read_file;
use crate::usage;

/// The value of `--weights`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsArgument {
    /// log2(n / d) for a shingle that d of n distinct documents have; the search then compares weighted sets
    Rarity,
}

impl WeightsArgument {
    /// The weighting of shingles.
    pub fn weighting(self) -> Weighting {
        match self {
            WeightsArgument::Rarity => Weighting::Rarity,
        }
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
    pub(super) fn asks_for_signatures(&self) -> bool {
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
        let unit = unit_modes(&shingling_of(self.unit, &self.scheme()?)?.unit);
        Ok([self.machine.modes()?, unit].concat())
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
    pub(super) fn counted(&self) -> Option<Weighting> {
        self.count.then_some(Weighting::Counts)
    }

    pub(super) fn builder(&self, weighting: Weighting) -> anyhow::Result<EngineBuilder> {
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
pub(super) fn open(builder: EngineBuilder) -> anyhow::Result<Engine> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use simgpu::simd::Isa;

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
