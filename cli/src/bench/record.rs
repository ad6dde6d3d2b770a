//! Rows of the tables in a folder of results. Field names are the headers; units are in them.

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One row of one of the tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Of runs.csv.
    Run(Run),
    /// Of errors.csv.
    Error(ErrorCell),
    /// Of candidates.csv.
    Candidates(Candidates),
    /// Of found.csv.
    Found(Found),
    /// Of absent.csv.
    Absence(Absence),
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Shingle hashes that lie in memory become signatures.
    Sign,
    /// Texts that lie in memory become signatures.
    SignTexts,
    /// Texts become shingle hashes.
    Shingle,
    /// Signatures become band keys.
    Band,
    /// The keys of one band are sorted, and those that are shared found.
    Bucket,
    /// Candidate pairs, as many as documents, are compared by their signatures.
    Verify,
    /// Files become files without near-duplicates.
    Dedup,
    /// Shingle hashes or texts are written to a GPU.
    Upload,
    /// The kernel of a GPU runs on what it holds.
    Kernel,
    /// Signatures come back from a GPU.
    Readback,
}

/// One timed run. Runs that are alike but for `round`, `passes` and what was measured are runs of one
/// *case*.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// What was done.
    pub stage: Stage,
    /// `scalar`, `simd`, `gpu` or `hybrid`; empty where a stage has no backends, and for other tools.
    pub backend: String,
    /// The vector instructions (`portable`, `avx2`, ...) or the device that computed.
    pub hardware: String,
    /// The scheme, or a peer's name for what it computes; empty where none matters.
    pub scheme: String,
    /// Slots of a signature; 0 where none matters.
    pub num_perm: u32,
    /// What went in: `random hashes`, `random signatures`, `random keys`, or the unit and size of shingles and the
    /// corpus, such as `words 5 of driver-docs`.
    pub input: String,
    /// Shingles of a document, on average; 0 where none matters.
    pub shingles: u64,
    /// Documents of a pass.
    pub documents: u64,
    /// Threads.
    pub threads: u32,
    /// Updates of a pass: shingles x num_perm for schemes that compute each; else 0.
    pub updates: u64,
    /// Bytes of text of a pass, decompressed; 0 where none is read.
    pub text_bytes: u64,
    /// Which of the case's runs, from 1, in the order in which they were measured.
    pub round: u32,
    /// Passes over the documents in this run.
    pub passes: u32,
    /// Seconds of all passes, by the clock on the wall.
    pub elapsed_s: f64,
    /// Seconds of a fixed loop of dependent instructions that ran next to this run: how fast the clock of the core was
    /// then. Empty where none ran.
    pub reference_s: Option<f64>,
    /// Updates a second that the vector units allow (`src/simd/ceiling.rs`), measured next to this run; of a GPU, what its data
    /// sheet says, where that is known.
    pub ceiling_updates_per_s: Option<f64>,
    /// Of what came out, in hexadecimal. Cases that compute the same things have the same; other tools may have
    /// none.
    pub checksum: String,
}

/// What was drawn anew for each trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Varied {
    /// The seed of the scheme; the pair of sets stays.
    Seeds,
    /// The pair of sets; the seed stays.
    Data,
}

/// How far estimates of one kind of pair are off, over many trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorCell {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// The scheme.
    pub scheme: String,
    /// Whether slots are independent of each other by design, so that matches should be binomial.
    pub has_independent_slots: bool,
    /// Whether the scheme mixes shingle hashes before they are permuted.
    pub is_mixed: bool,
    /// Bits kept of each slot: that of the slot where all are.
    pub slot_bits: u32,
    /// Slots of a signature.
    pub num_perm: u32,
    /// `random`, `interval`, `progression`, `zipf` or `edits`.
    pub input: String,
    /// What was drawn anew for each trial.
    pub varied: Varied,
    /// Elements of each set of the pair.
    pub set_size: u64,
    /// The exact Jaccard similarity, on average over trials: the nearest to what was asked for that sets of
    /// this size can have.
    pub similarity: f64,
    /// Pairs of signatures.
    pub trials: u64,
    /// Mean of estimate - similarity.
    pub bias: f64,
    /// Standard error of `bias`.
    pub bias_standard_error: f64,
    /// Root of the mean squared error.
    pub root_mean_square_error: f64,
    /// The same over what independent permutations come to; empty where that is 0. With all bits of slots it is
    /// sqrt(J (1 - J) / num_perm). With b of them slots agree with probability P = J + (1 - J) / 2^b, and it is
    /// sqrt(P (1 - P) / num_perm) / (1 - 2^-b).
    pub error_ratio: Option<f64>,
    /// Lower end of a 95 % interval of `error_ratio`.
    pub error_ratio_low: Option<f64>,
    /// Upper end of a 95 % interval of `error_ratio`.
    pub error_ratio_high: Option<f64>,
    /// Share of trials whose stated 95 % interval held the similarity.
    pub coverage: f64,
    /// What that share is for binomial matches, by calculation.
    pub coverage_expected: f64,
    /// Variance of the matches over that of a binomial; empty where that is 0.
    pub dispersion: Option<f64>,
    /// Probability of matches that fit a binomial as badly as these or worse, where slots are independent and
    /// trials are enough to tell.
    pub fit_p: Option<f64>,
}

/// How many pairs of one similarity became candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// The scheme.
    pub scheme: String,
    /// Slots of a signature.
    pub num_perm: u32,
    /// Bands.
    pub bands: u32,
    /// Slots of a band.
    pub rows: u32,
    /// The exact Jaccard similarity of all pairs.
    pub similarity: f64,
    /// Pairs.
    pub pairs: u64,
    /// Pairs that share the key of a band.
    pub candidates: u64,
    /// 1 - (1 - s^rows)^bands.
    pub expected_share: f64,
    /// Lower end of the range of `candidates / pairs` that has 95 % of the binomial.
    pub low_share: f64,
    /// Upper end of that range.
    pub high_share: f64,
}

/// What a whole pipeline found in a corpus, of what there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// `simgpu`, or another tool with its version.
    pub tool: String,
    /// The corpus.
    pub corpus: String,
    /// The scheme, or a peer's name for what it computes.
    pub scheme: String,
    /// Slots of a signature.
    pub num_perm: u32,
    /// Bands.
    pub bands: u32,
    /// Slots of a band.
    pub rows: u32,
    /// `none`, `signature` or `exact`; for other tools what they do.
    pub verification: String,
    /// The least similarity of a pair that is looked for.
    pub threshold: f64,
    /// The seed.
    pub seed: u32,
    /// Documents.
    pub documents: u64,
    /// Pairs whose exact similarity reaches the threshold; 0 where pairs are not given out.
    pub true_pairs: u64,
    /// Those of them that were found.
    pub true_found: u64,
    /// Pairs that were given out and are below the threshold.
    pub false_found: u64,
    /// The mean over true pairs of 1 - (1 - s^rows)^bands.
    pub expected_recall: f64,
    /// Documents that were kept, where documents are removed.
    pub kept: Option<u64>,
    /// Documents that exact search and greedy removal in order keep, where that is known.
    pub kept_by_truth: Option<u64>,
}

/// What was to be measured and was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// What.
    pub what: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// What all runs of a case have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Case {
    /// As of [`Run`], and so are all others.
    pub stage: Stage,
    #[allow(missing_docs, reason = "as of Run")]
    pub input: String,
    #[allow(missing_docs, reason = "as of Run")]
    pub tool: String,
    #[allow(missing_docs, reason = "as of Run")]
    pub scheme: String,
    #[allow(missing_docs, reason = "as of Run")]
    pub backend: String,
    #[allow(missing_docs, reason = "as of Run")]
    pub hardware: String,
    #[allow(missing_docs, reason = "as of Run")]
    pub shingles: u64,
    #[allow(missing_docs, reason = "as of Run")]
    pub documents: u64,
    #[allow(missing_docs, reason = "as of Run")]
    pub num_perm: u32,
    #[allow(missing_docs, reason = "as of Run")]
    pub threads: u32,
}

impl Case {
    /// The same case wherever it is computed: what comes out is the same.
    #[must_use]
    pub fn anywhere(self) -> Case {
        Case {
            backend: String::new(),
            hardware: String::new(),
            threads: 0,
            ..self
        }
    }
}

impl Run {
    /// The case that this is a run of.
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

    /// Seconds of one pass.
    pub fn pass_s(&self) -> f64 {
        self.elapsed_s / f64::from(self.passes.max(1))
    }
}

/// The columns of a table: the names of the fields of its rows, in their order.
pub(crate) fn columns<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // To tell the fields, and nothing more, ends in an error.
    let _ = T::deserialize(Columns(&mut fields));
    fields
}

/// Asked for a struct, it takes down the names of its fields.
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
        Err(Self::Error::custom("there is nothing but the fields"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
