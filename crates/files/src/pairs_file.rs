//! A file of similar pairs, with the report beside it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use simgpu::backend::Backend;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Banding, Normalise, Shingling, Unit, Weighting};
use simgpu::progress::Counts;
use simgpu::scheme::{Scheme, WeightScale};
use simgpu::search::{Search, Verification};
use simgpu_io::{
    Digest, FieldPath, Fields, InputReport, Parameters, REPORT_VERSION, Seal, SearchParameters,
    SkippedRecord, WeightsField, with_suffix,
};

/// The ending of the report beside a file of pairs: `pairs.jsonl.report.json`.
pub(crate) const REPORT: &str = ".report.json";

/// A file of pairs that [`Run::pairs`](super::Run::pairs) wrote, with the report beside it.
///
/// ```no_run
/// use std::path::Path;
/// use simgpu_files::PairsFile;
/// use simgpu_io::Inputs;
/// use simgpu::search::Dedup;
///
/// let pairs = PairsFile::open(Path::new("pairs.jsonl"))?;
/// let inputs = Inputs::find(&["corpus.jsonl".into()], None)?;
/// pairs.run(&inputs).dedup(&Dedup::new(pairs.search().clone()), Path::new("out"))?;
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug)]
pub struct PairsFile {
    pub(super) path: PathBuf,
    pub(super) report: PairsReport,
    /// Normalises documents as the search did, and signs none.
    pub(super) engine: Engine,
    pub(super) search: Search,
    pub(super) num_perm: usize,
    /// Whether digests show that the file and its report are as they were written.
    pub(super) is_sealed: bool,
}

/// What the report beside the pairs says.
#[derive(Debug, Deserialize)]
pub(super) struct PairsReport {
    simgpu_report: u32,
    command: String,
    pub(super) counts: Counts,
    pub(super) parameters: Parameters,
    complete: bool,
    /// The digest of the file of pairs; `None` in reports of older versions.
    #[serde(default)]
    output_blake3_128: Option<String>,
    #[serde(default)]
    pub(super) expected_precision: Option<f64>,
    #[serde(default)]
    pub(super) inputs: Vec<InputReport>,
    pub(super) skipped: Vec<SkippedRecord>,
}

/// The numbers of the report as they are written: `serde_json` alone may be off by the last bit.
#[derive(Deserialize)]
struct Exact<'a> {
    #[serde(borrow)]
    parameters: ExactParameters<'a>,
}

#[derive(Deserialize)]
struct ExactParameters<'a> {
    #[serde(borrow)]
    threshold: Option<&'a RawValue>,
}

/// What to do about a file that does not serve.
const AGAIN: &str = "search for pairs again, or deduplicate without `from_pairs`";

impl PairsFile {
    /// Opens a file of pairs, and checks that its report names all that a deduplication needs.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such report beside the file, if the search ended early, was one against a reference
    /// or by distance, or measured by containment; [`Error::Io`] if a file cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |problem: &str| refusal(path, problem.to_owned());
        let file = std::fs::File::open(path).map_err(Error::io("open", path))?;
        let beside = with_suffix(path, REPORT);
        let text = std::fs::read_to_string(&beside).map_err(Error::io("read", &beside))?;
        let parsed = serde_json::from_str(&text);
        let report: PairsReport = parsed.map_err(|_| {
            refused("the report beside it is not one that simgpu pairs of this version writes")
        })?;
        report.check().map_err(|problem| refused(&problem))?;
        let seal = Seal::from_json(&text);
        let digest = Digest::hash_file(&file).map_err(Error::io("read", path))?;
        let is_other = |stated: &String| *stated != digest;
        if seal == Seal::Broken || report.output_blake3_128.as_ref().is_some_and(is_other) {
            return Err(refusal_of_changed(path));
        }
        let is_sealed = seal == Seal::Intact && report.output_blake3_128.is_some();
        let exact = serde_json::from_str::<Exact<'_>>(&text).ok();
        let threshold = exact.and_then(|exact| exact.parameters.threshold?.get().parse().ok());
        let threshold: f64 = threshold.ok_or_else(|| refused("its report has no threshold"))?;
        let stated = &report.parameters;
        let scheme = Scheme::named(&stated.scheme)?
            .with_num_perm(stated.num_perm)?
            .with_seed(stated.seed);
        let search = report.search(threshold, &scheme)?;
        let shingling = report.shingling()?;
        Ok(PairsFile {
            path: path.to_owned(),
            engine: Engine::builder()
                .shingling(shingling)
                .backend(Backend::Scalar)
                .build()?,
            num_perm: scheme.num_perm(),
            search,
            report,
            is_sealed,
        })
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.report.counts.similar_pairs
    }

    /// The search that found the pairs.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// What normalises documents as the search did.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The name of the file.
    #[doc(hidden)]
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The parameters of the search for a report. Its probabilities follow from `search`.
    pub(super) fn parameters(&self) -> Parameters {
        let stated = self.report.parameters.clone();
        let search = stated.search.as_ref().map(|stored| SearchParameters {
            threshold: Some(self.search.threshold),
            recall_at_threshold: self.search.recall_at_threshold(self.num_perm),
            ..stored.clone()
        });
        Parameters { search, ..stated }
    }

    /// The fields of documents.
    pub(super) fn fields(&self) -> Fields {
        let stated = &self.report.parameters;
        let usual = Fields::for_form(self.engine.takes_tokens());
        let weighting = self.engine.shingler().shingling().weighting;
        let weights = match (&stated.weights_field, weighting) {
            (Some(path), Weighting::Given(scale)) => Some(WeightsField {
                path: FieldPath::new(path),
                scale,
            }),
            _ => None,
        };
        Fields {
            content: stated
                .content_field
                .split(", ")
                .map(FieldPath::new)
                .collect(),
            weights,
            // A field that is named must be in every record.
            id_required: stated.id_field != usual.id.to_string(),
            id: FieldPath::new(&stated.id_field),
            ..usual
        }
    }

    pub(super) fn refused(&self, problem: String) -> Error {
        refusal(&self.path, problem)
    }
}

/// The error for a file of pairs that does not serve.
fn refusal(path: &Path, problem: String) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy: AGAIN.to_owned(),
    }
}

/// The error for a file of pairs that was changed, or whose report was.
fn refusal_of_changed(path: &Path) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem:
            "the file or its report was damaged or changed: the digest in the report is another"
                .to_owned(),
        remedy: format!(
            "{AGAIN}; if you changed it on purpose, remove the fields digest and output_blake3_128 from {}",
            with_suffix(path, REPORT).display()
        ),
    }
}

impl PairsReport {
    /// Says what is missing for a deduplication.
    fn check(&self) -> std::result::Result<(), String> {
        let search = self.parameters.search.as_ref();
        let is_across = self.counts.reference.is_some();
        let problem = match search {
            _ if self.simgpu_report != REPORT_VERSION => {
                return Err(format!(
                    "its layout is version {}, but this program reads version {REPORT_VERSION}",
                    self.simgpu_report
                ));
            }
            _ if self.command != "pairs" => "it is no result of simgpu pairs",
            None => "its report does not state the search",
            Some(_) if !self.complete => "its search ended early, at `max_pairs`",
            Some(_) if is_across => {
                "its search had `against`, so that it lists no pairs within the inputs"
            }
            Some(search) if search.within.is_some() => {
                "its search was one by distance, and a deduplication goes by similarity"
            }
            Some(search) if search.measure.is_some() => {
                "its search had `measure=contained`, and a pair does not say which of both is contained in the other"
            }
            Some(_) if self.inputs.is_empty() && self.counts.documents > 0 => {
                "its report does not name the inputs: it is of signatures, or of an earlier version"
            }
            Some(_) => return Ok(()),
        };
        Err(problem.to_owned())
    }

    /// The search that was made.
    fn search(&self, threshold: f64, scheme: &Scheme) -> Result<Search> {
        let stated = self.parameters.search.as_ref();
        let banding = match stated.and_then(|stated| stated.bands.zip(stated.rows)) {
            Some((bands, rows)) => Banding::new(bands, rows, scheme.num_perm())?,
            None => Banding::for_scheme(threshold, scheme)?,
        };
        let verification = match stated.map(|stated| &*stated.verify) {
            Some("none") => Verification::None,
            Some("signature") => Verification::Signature,
            _ => Verification::Exact,
        };
        let search = Search::through_lsh(threshold, banding, verification);
        Ok(match stated.map(|stated| &*stated.candidates) {
            Some("join") => search.joined(),
            _ => search,
        })
    }

    /// A shingling with the same digests of documents: those of texts depend on units only where a text is blank.
    fn shingling(&self) -> Result<Shingling> {
        let stated = &self.parameters;
        let unit = match &*stated.unit {
            "tokens" => Unit::Tokens,
            "bytes" | "chars" => Unit::Bytes,
            _ => Unit::Words,
        };
        let weighting = match stated.weight_scale {
            Some(scale) => Weighting::Given(WeightScale::new(scale)?),
            None => Weighting::Equal,
        };
        Ok(Shingling {
            normalise: Normalise {
                lowercase: stated.lowercase,
                strip_punctuation: stated.strip_punctuation,
                keep_whitespace: stated.keep_whitespace,
            },
            weighting,
            ..Shingling::of(unit)
        })
    }
}
