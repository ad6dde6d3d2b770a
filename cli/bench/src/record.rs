//! Rows of the tables in a folder of results. Field names are the column names and include units.

use std::collections::HashMap;

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::case::{Case, computer};
use super::stage::Stage;

/// A row of any table.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A row of runs.csv.
    Run(TimedRun),
    /// A row of errors.csv.
    Error(ErrorCell),
    /// A row of candidates.csv.
    Candidates(CandidateCount),
    /// A row of found.csv.
    Found(PipelineResult),
    /// A row of absent.csv.
    Absence(Absence),
}

/// One timed run. Runs that differ only in `round`, `passes` and measured values are runs of one *case*.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// What it did.
    pub stage: Stage,
    /// `scalar`, `simd`, `gpu` or `hybrid`; empty for other tools and for stages without backends.
    pub backend: String,
    /// Instruction set (`portable`, `avx2`, ...) or device.
    pub hardware: String,
    /// The scheme, or another tool's name for what it computes; empty if the stage has none.
    pub scheme: String,
    /// Slots per signature; 0 if the stage has none.
    pub num_perm: u32,
    /// The input: `random hashes`, `random signatures`, `random keys`, or shingle unit, shingle size and corpus, such
    /// as `words 5 of driver-docs`.
    pub input: String,
    /// Mean shingles per document; 0 if the stage has none.
    pub shingles: u64,
    /// Documents per pass.
    pub documents: u64,
    /// Threads.
    pub threads: u32,
    /// Updates per pass: shingles x num_perm for schemes that update every slot, else 0.
    pub updates: u64,
    /// Bytes of decompressed text per pass; 0 if the stage reads none.
    pub text_bytes: u64,
    /// Number of this run among those of its case, from 1, in the order of measurement.
    pub round: u32,
    /// Passes over the documents.
    pub passes: u32,
    /// Wall-clock seconds of all passes.
    pub elapsed_s: f64,
    /// Seconds of a fixed loop of dependent instructions next to this run, which show the clock rate of the core.
    /// Empty if it did not run.
    pub reference_s: Option<f64>,
    /// Updates per second that the vector units allow (`crates/kernels/src/simd/ceiling.rs`), measured next to this run; for a GPU,
    /// the figure of its data sheet if known.
    pub ceiling_updates_per_s: Option<f64>,
    /// Checksum of the results, in hexadecimal: equal for equal results. Empty for some other tools.
    pub checksum: String,
}

/// What each trial draws anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Varied {
    /// The seed of the scheme, for one pair of sets.
    Seeds,
    /// The pair of sets, for one seed.
    Data,
}

/// Error of estimates for one kind of pair, over many trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorCell {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// As in [`TimedRun`]; empty in tables written before this column.
    #[serde(default)]
    pub backend: String,
    /// As in [`TimedRun`]; empty in tables written before this column.
    #[serde(default)]
    pub hardware: String,
    /// The scheme.
    pub scheme: String,
    /// Whether slots are independent by design, so that matches are binomial.
    pub has_independent_slots: bool,
    /// Whether the scheme mixes shingle hashes before permuting them.
    pub is_mixed: bool,
    /// Bits kept per slot; the width of a slot if all are kept.
    pub slot_bits: u32,
    /// Slots per signature.
    pub num_perm: u32,
    /// `random`, `interval`, `progression`, `zipf` or `edits`.
    pub input: String,
    /// What each trial draws anew.
    pub varied: Varied,
    /// Elements per set.
    pub set_size: u64,
    /// Mean exact Jaccard similarity over trials: the closest to the requested one that sets of this size allow.
    pub similarity: f64,
    /// Pairs of signatures.
    pub trials: u64,
    /// Mean of estimate - similarity.
    pub bias: f64,
    /// Standard error of `bias`.
    pub bias_standard_error: f64,
    /// Root mean square error.
    pub root_mean_square_error: f64,
    /// `root_mean_square_error` over that of independent permutations; empty if the latter is 0. The latter is
    /// sqrt(J (1 - J) / num_perm) for whole slots. Slots of b bits agree with probability P = J + (1 - J) / 2^b, and
    /// it is sqrt(P (1 - P) / num_perm) / (1 - 2^-b).
    pub error_ratio: Option<f64>,
    /// Lower end of a 95 % interval of `error_ratio`.
    pub error_ratio_low: Option<f64>,
    /// Upper end of a 95 % interval of `error_ratio`.
    pub error_ratio_high: Option<f64>,
    /// Share of trials whose stated 95 % interval contains the similarity.
    pub coverage: f64,
    /// The same share for binomial matches, calculated.
    pub coverage_expected: f64,
    /// Variance of the matches over that of a binomial; empty if the latter is 0.
    pub dispersion: Option<f64>,
    /// Probability that binomial matches fit at most as well as these; empty for dependent slots and too few trials.
    pub fit_p: Option<f64>,
}

/// How many pairs of one similarity become candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateCount {
    /// The scheme.
    pub scheme: String,
    /// Slots per signature.
    pub num_perm: u32,
    /// Bands.
    pub bands: u32,
    /// Slots per band.
    pub rows: u32,
    /// The exact Jaccard similarity of all pairs.
    pub similarity: f64,
    /// Number of pairs.
    pub pairs: u64,
    /// Pairs that share the key of at least one band.
    pub candidates: u64,
    /// 1 - (1 - s^rows)^bands.
    pub expected_share: f64,
    /// Lower end of the range of `candidates / pairs` that contains 95 % of the binomial.
    pub low_share: f64,
    /// Upper end of that range.
    pub high_share: f64,
}

/// What a whole pipeline found in a corpus, compared with exact search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineResult {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// Name of the corpus.
    pub corpus: String,
    /// The scheme, `exact join`, or another tool's name for what it computes.
    pub scheme: String,
    /// Slots per signature; 0 for a join.
    pub num_perm: u32,
    /// Bands; 0 for a join.
    pub bands: u32,
    /// Slots per band; 0 for a join.
    pub rows: u32,
    /// `none`, `signature` or `exact`.
    pub verification: String,
    /// Least similarity of a wanted pair.
    pub threshold: f64,
    /// Seed of the coefficients.
    pub seed: u32,
    /// Documents of the corpus.
    pub documents: u64,
    /// Pairs whose exact similarity reaches the threshold; 0 if the pipeline does not output pairs.
    pub true_pairs: u64,
    /// True pairs found.
    pub true_found: u64,
    /// Pairs found whose exact similarity is below the threshold.
    pub false_found: u64,
    /// Mean of 1 - (1 - s^rows)^bands over true pairs; 1 for a join.
    pub expected_recall: f64,
    /// Documents kept, if the pipeline removes documents.
    pub kept: Option<u64>,
    /// Documents kept by exact search and greedy removal in order, if known.
    pub kept_by_truth: Option<u64>,
    /// Seconds from the start of the search for pairs to its end, files included; empty if not measured.
    #[serde(default)]
    pub elapsed_s: Option<f64>,
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// What was not measured.
    pub what: String,
    /// The reason, and the remedy.
    pub why: String,
}

/// What all measurements of a kind of pair share, whichever backend signed: tool, scheme, bits, slots, input, what
/// varied, elements, and the similarity in hundredths.
pub(crate) type CellKind<'a> = (&'a str, &'a str, u32, u32, &'a str, Varied, u64, i64);

impl ErrorCell {
    /// The kind of pair.
    pub(crate) fn kind(&self) -> CellKind<'_> {
        // The mean similarity varies a little if data vary.
        #[allow(
            clippy::cast_possible_truncation,
            reason = "similarities are from 0 to 1"
        )]
        let similarity = (self.similarity * 100.0).round() as i64;
        (
            &self.tool,
            &self.scheme,
            self.slot_bits,
            self.num_perm,
            &self.input,
            self.varied,
            self.set_size,
            similarity,
        )
    }

    /// What computed the signatures.
    pub(crate) fn computer(&self) -> String {
        computer(&self.backend, &self.hardware)
    }
}

/// The cells of every kind of pair as the first backend measured them. Figures of schemes follow from these, since the
/// signatures of other backends are the same and would count several times.
pub(crate) fn once(cells: &[ErrorCell]) -> Vec<&ErrorCell> {
    let mut first = HashMap::new();
    let mut once = Vec::new();
    for cell in cells {
        let by = (cell.backend.as_str(), cell.hardware.as_str());
        if *first.entry(cell.kind()).or_insert(by) == by {
            once.push(cell);
        }
    }
    once
}

impl Absence {
    /// What is absent if no device is measured.
    pub(crate) const DEVICE: &str = "gpu";

    /// The absence of a device that is emulated by the CPU and that the plan does not name.
    pub(crate) fn software_device(device: &str) -> Self {
        Absence {
            what: Absence::DEVICE.to_owned(),
            why: format!("{device} is no GPU; add --backends scalar,simd,gpu,hybrid to measure it"),
        }
    }
}

impl TimedRun {
    /// A run of simgpu on one thread before its measurement, with nothing but its stage.
    pub(crate) fn unmeasured(stage: Stage) -> Self {
        TimedRun {
            tool: "simgpu".to_owned(),
            stage,
            backend: String::new(),
            hardware: String::new(),
            scheme: String::new(),
            num_perm: 0,
            input: String::new(),
            shingles: 0,
            documents: 0,
            threads: 1,
            updates: 0,
            text_bytes: 0,
            round: 0,
            passes: 0,
            elapsed_s: 0.0,
            reference_s: None,
            ceiling_updates_per_s: None,
            checksum: String::new(),
        }
    }

    /// The case of this run.
    pub fn case(&self) -> Case {
        Case {
            stage: self.stage,
            input: self.input.clone(),
            tool: self.tool.clone(),
            scheme: self.scheme.clone(),
            backend: self.backend.clone(),
            hardware: self.hardware.clone(),
            shingles: self.shingles,
            documents: self.documents,
            num_perm: self.num_perm,
            threads: self.threads,
        }
    }

    /// Seconds per pass.
    pub fn pass_s(&self) -> f64 {
        self.elapsed_s / f64::from(self.passes.max(1))
    }
}

/// Column names of a table: the field names of its rows, in order.
pub(crate) fn columns<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // The deserializer records the fields, and then fails.
    let _ = T::deserialize(Columns(&mut fields));
    fields
}

/// Records the field names of the struct that is deserialized.
struct Columns<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Columns<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("rows are structs"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom("only field names are read"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
