//! What is measured, and how long that may take.

use std::path::PathBuf;
use std::str::FromStr;

use super::throughput;
use simgpu::backend::Backend;
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// How long a measurement may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Less than 20 seconds: few lengths and sizes.
    Quick,
    /// About two minutes.
    #[default]
    Usual,
    /// As long as all cells take, with enough trials to see a hundredth.
    Full,
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// [`throughput`].
    Throughput,
    /// [`error`](super::error).
    Error,
    /// [`lsh`](super::lsh).
    Lsh,
}

/// What is measured. Where a list is empty, effort and machine decide.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How long it may take.
    pub effort: Effort,
    /// Parts; all if empty.
    pub parts: Vec<Part>,
    /// Backends; where empty `scalar` and `simd`, and `gpu` on the first device that is no software.
    pub backends: Vec<Backend>,
    /// Instructions of `simd`; where empty all that this CPU has.
    pub isas: Vec<Isa>,
    /// Schemes, by name; where empty the families and `fast`.
    pub schemes: Vec<String>,
    /// Slots of a signature.
    pub num_perms: Vec<u32>,
    /// Shingles of a document.
    pub lengths: Vec<u64>,
    /// Threads.
    pub threads: Vec<u32>,
    /// The corpus of texts; where none the example, which lies in the program.
    pub input: Option<PathBuf>,
    /// The device of `gpu` and `hybrid`.
    pub device: Option<usize>,
}

/// Schemes that are measured if none are named: every family, with its native draws.
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
    pub fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Refuses what no part can measure.
    ///
    /// # Errors
    /// As of [`Plan::schemes`], and [`Error::Parameter`] for lengths and threads out of their range.
    pub fn check(&self) -> Result<()> {
        for num_perm in self.num_perms.iter().copied().chain([DEFAULT_NUM_PERM]) {
            self.schemes(num_perm)?;
        }
        throughput::check(self)
    }

    /// The schemes, with so many slots.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for a name that is no scheme's, [`Error::Parameter`] for slots that it cannot have.
    pub fn schemes(&self, num_perm: u32) -> Result<Vec<Scheme>> {
        self.schemes_or(&SCHEMES, num_perm)
    }

    /// The schemes that are named, or else those of `unnamed`, with so many slots.
    pub(super) fn schemes_or(&self, unnamed: &[&str], num_perm: u32) -> Result<Vec<Scheme>> {
        let scheme = |name: &str| Scheme::named(name)?.with_num_perm(num_perm);
        self.scheme_names(unnamed).into_iter().map(scheme).collect()
    }

    /// The names of the same.
    pub(super) fn scheme_names<'a>(&'a self, unnamed: &[&'a str]) -> Vec<&'a str> {
        match self.schemes.as_slice() {
            [] => unnamed.to_vec(),
            named => named.iter().map(String::as_str).collect(),
        }
    }
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "throughput" => Ok(Part::Throughput),
            "error" => Ok(Part::Error),
            "lsh" => Ok(Part::Lsh),
            _ => Err(Error::UnknownName {
                what: "part",
                name: name.to_owned(),
                known: "throughput, error, lsh".to_owned(),
            }),
        }
    }
}
