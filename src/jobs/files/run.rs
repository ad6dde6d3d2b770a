//! What all runs over files are told.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::outcome::warn_of_repeated_ids;
use crate::engine::Engine;
use crate::error::Result;
use crate::io::{Fields, Inputs, OnBadRecord, Parameters, SearchParameters};
use crate::jobs::search::Search;
use crate::progress::{Counts, Progress, Silent};
use crate::scheme::words_v1;

/// A run over files: first what it reads and how, then [`Run::dedup`], [`Run::pairs`] or [`Run::sign`].
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::io::Inputs;
/// use simgpu::jobs::{Dedup, Run, Search};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// # std::fs::write(folder.join("in.jsonl"), "{\"text\": \"a rose\"}\n{\"text\": \"a rose\"}\n").unwrap();
/// let engine = Engine::builder().build()?;
/// let task = Dedup::new(Search::new(0.8, engine.scheme())?);
/// let inputs = Inputs::find(&[folder.join("in.jsonl")], None)?;
/// let outcome = Run::new(&engine, &inputs).overwrite(true).dedup(&task, &folder.join("out"))?;
/// assert_eq!((outcome.report.counts.kept, outcome.report.counts.removed), (1, 1));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct Run<'a> {
    pub(super) engine: &'a Engine,
    pub(super) inputs: &'a Inputs,
    pub(super) fields: Fields,
    pub(super) on_bad_record: OnBadRecord,
    pub(super) unique_ids: bool,
    pub(super) batch_bytes: usize,
    pub(super) held_bytes: u64,
    pub(super) overwrite: bool,
    pub(super) progress: &'a dyn Progress,
    pub(super) command: Vec<String>,
    pub(super) start: Instant,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("engine", &self.engine)
            .field("inputs", &self.inputs)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// A run of an engine over inputs.
    pub fn new(engine: &'a Engine, inputs: &'a Inputs) -> Self {
        Run {
            fields: Fields::of_form(engine.takes_tokens()),
            engine,
            inputs,
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            held_bytes: 128 << 20,
            overwrite: false,
            progress: &Silent,
            command: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Where a record holds what the run needs; default `text`, or `tokens` for an engine of tokens, and `id`.
    pub fn fields(self, fields: Fields) -> Self {
        Run { fields, ..self }
    }

    /// What happens to a record that cannot be read; default: the run fails.
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        Run {
            on_bad_record,
            ..self
        }
    }

    /// Whether two documents with one id are an error.
    pub fn unique_ids(self, unique_ids: bool) -> Self {
        Run { unique_ids, ..self }
    }

    /// Bytes of text that are worked on at a time; default 16 MiB. The result is the same.
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        Run {
            batch_bytes,
            ..self
        }
    }

    /// Decompressed bytes of files up to which they stay in memory instead of being read twice; default
    /// 128 MiB. The result is the same.
    pub fn held_bytes(self, held_bytes: u64) -> Self {
        Run { held_bytes, ..self }
    }

    /// Whether the results of an earlier run are replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Run { overwrite, ..self }
    }

    /// Who follows the run, and can stop it.
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Run { progress, ..self }
    }

    /// The command line, for `run.json`.
    pub fn command(self, command: Vec<String>) -> Self {
        Run { command, ..self }
    }

    /// Refuses outputs that would take the place of an input.
    pub(super) fn check_outputs(&self, outputs: &[PathBuf]) -> Result<()> {
        self.inputs.check_spared_by(outputs)
    }

    /// Refuses a folder of results that an input lies in, or that lies in an input.
    pub(super) fn check_folder(&self, folder: &Path) -> Result<()> {
        self.inputs.check_output_outside(folder)?;
        self.check_outputs(&[folder.to_owned()])
    }

    /// Everything that decides the result.
    pub(super) fn parameters(&self, search: Option<&Search>) -> Parameters {
        let (scheme, shingler) = (self.engine.scheme(), self.engine.shingler());
        let shingling = shingler.shingling();
        let (major, minor, patch) = words_v1::UNICODE_VERSION;
        let has_words = shingling.unit.is_made_of_words();
        let size = shingling.unit.takes_size().then(|| shingling.size.get());
        Parameters {
            scheme: scheme.to_string(),
            hash: shingler.hash().to_string(),
            seed: scheme.seed(),
            num_perm: u32::try_from(scheme.num_perm()).unwrap_or(u32::MAX),
            unit: shingling.unit.to_string(),
            size: size.map(|size| size as u64),
            lowercase: shingling.normalise.lowercase,
            strip_punctuation: shingling.normalise.strip_punctuation,
            keep_whitespace: shingling.normalise.keep_whitespace,
            unicode_version: has_words.then(|| format!("{major}.{minor}.{patch}")),
            content_field: self.fields.content.to_string(),
            id_field: self.fields.id.to_string(),
            search: search.map(search_parameters),
        }
    }

    /// Warns of what is odd about the inputs.
    pub(super) fn warn_of_oddities(&self, counts: &Counts) {
        warn_of_repeated_ids(self.progress, counts.repeated_ids);
        for path in &self.inputs.repeated {
            let path = path.display();
            self.progress.warn(&format!(
                "{path} was named more than once, and is read once"
            ));
        }
    }
}

/// What a report says of a search.
pub(super) fn search_parameters(search: &Search) -> SearchParameters {
    SearchParameters {
        threshold: search.threshold,
        bands: search.banding.bands(),
        rows: search.banding.rows(),
        verify: search.verification.name().to_owned(),
        max_bucket: search.max_bucket,
        recall_at_threshold: search.recall_at_threshold(),
    }
}
