//! What to measure, and for how long.

use std::path::PathBuf;
use std::str::FromStr;

use simgpu::backend::Backend;
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// Most shingles per document: two documents fit into any memory.
const MOST_SHINGLES: u64 = 1 << 26;

/// Most threads.
const MOST_THREADS: u32 = 1 << 10;

/// Length of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Less than 20 seconds: few lengths and sizes.
    Quick,
    /// About two minutes.
    #[default]
    Usual,
    /// All cells, with enough trials to resolve one percent, however long that takes.
    Full,
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchPart {
    /// How fast every stage is.
    Throughput,
    /// How far estimates are from the exact similarity ([`error`](crate::error)).
    Error,
    /// Which pairs are found ([`lsh`](crate::lsh)).
    Lsh,
}

/// What to measure. Effort and machine fill empty lists.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Length of the measurement.
    pub effort: Effort,
    /// Parts; empty means all.
    pub parts: Vec<BenchPart>,
    /// Backends; empty means `scalar`, `simd`, and `gpu` if the first device is hardware.
    pub backends: Vec<Backend>,
    /// Instruction sets of `simd`; empty means all that this CPU supports.
    pub isas: Vec<Isa>,
    /// Scheme names; empty means [`SCHEMES`], or fewer for a short measurement.
    pub schemes: Vec<String>,
    /// Slots per signature.
    pub num_perms: Vec<u32>,
    /// Shingles per document.
    pub lengths: Vec<u64>,
    /// Numbers of threads.
    pub threads: Vec<u32>,
    /// Corpus of texts; `None` means the example built into the program.
    pub input: Option<PathBuf>,
    /// Device of `gpu` and `hybrid`, by number; `None` means the first.
    pub device: Option<usize>,
}

/// Schemes measured by default: every family, with its own coefficients.
pub const SCHEMES: [&str; 8] = [
    "affine32",
    "affine32-even",
    "mersenne31",
    "mersenne61",
    "affine64",
    "mersenne61-wide",
    "fast",
    "rensa",
];

impl Plan {
    /// Whether a part is measured.
    pub fn has(&self, part: BenchPart) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Checks what all parts need.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for an unknown scheme, [`Error::Parameter`] for a number of slots that it does not support,
    /// and for lengths and threads out of range.
    pub fn check(&self) -> Result<()> {
        for num_perm in self.num_perms.iter().copied().chain([DEFAULT_NUM_PERM]) {
            self.schemes(num_perm)?;
        }
        self.lengths_or(&[])?;
        self.threads_or(Vec::new)?;
        Ok(())
    }

    /// The schemes, each with `num_perm` slots.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for an unknown scheme, [`Error::Parameter`] for a number of slots that it does not
    /// support.
    pub(crate) fn schemes(&self, num_perm: u32) -> Result<Vec<Scheme>> {
        self.schemes_or(&SCHEMES, num_perm)
    }

    /// The named schemes, or `default`, each with `num_perm` slots.
    pub(crate) fn schemes_or(&self, default: &[&str], num_perm: u32) -> Result<Vec<Scheme>> {
        let scheme = |name: &str| Scheme::named(name)?.with_num_perm(num_perm);
        self.scheme_names(default).into_iter().map(scheme).collect()
    }

    /// The names of the named schemes, or `default`.
    pub(crate) fn scheme_names<'a>(&'a self, default: &[&'a str]) -> Vec<&'a str> {
        match self.schemes.as_slice() {
            [] => default.to_vec(),
            named => named.iter().map(String::as_str).collect(),
        }
    }

    /// The named lengths, or `default`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a length out of range.
    pub(crate) fn lengths_or(&self, default: &[u64]) -> Result<Vec<usize>> {
        let lengths = match self.lengths.as_slice() {
            [] => default,
            named => named,
        };
        let checked = lengths
            .iter()
            .map(|length| in_range("lengths", *length, MOST_SHINGLES));
        checked.collect()
    }

    /// The named numbers of threads, or `default`, ascending and distinct.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a number of threads out of range.
    pub(crate) fn threads_or(&self, default: impl FnOnce() -> Vec<u32>) -> Result<Vec<u32>> {
        let mut threads = match self.threads.as_slice() {
            [] => default(),
            named => named.to_vec(),
        };
        for threads in &threads {
            in_range("threads", u64::from(*threads), u64::from(MOST_THREADS))?;
        }
        threads.sort_unstable();
        threads.dedup();
        Ok(threads)
    }
}

fn in_range(name: &'static str, value: u64, most: u64) -> Result<usize> {
    let in_range = (1..=most).contains(&value).then_some(value);
    let fitting = in_range.and_then(|value| usize::try_from(value).ok());
    fitting.ok_or_else(|| Error::Parameter {
        name,
        value: value.to_string(),
        expected: format!("a number from 1 to {most}"),
    })
}

impl FromStr for BenchPart {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "throughput" => Ok(BenchPart::Throughput),
            "error" => Ok(BenchPart::Error),
            "lsh" => Ok(BenchPart::Lsh),
            _ => Err(Error::UnknownName {
                what: "part",
                name: name.to_owned(),
                known: "throughput, error, lsh".to_owned(),
            }),
        }
    }
}
