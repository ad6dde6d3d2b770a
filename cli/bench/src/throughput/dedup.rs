//! Whole runs: a corpus in files to the documents kept.

use std::fs;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::runner::Workload;
use crate::corpus::{temporary_folder, write_texts};
use crate::targets::check_notices;
use simgpu::documents::TextBatch;
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingler, Shingling, Signer};
use simgpu::scheme::Scheme;
use simgpu::search::{Dedup as Task, Search};
use simgpu::store::WorkFolder;
use simgpu::{Error, Result};
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

/// The folder of results in a temporary folder, which has a file of its own.
const RESULTS: &str = "results";

/// Least similarity of near-duplicates: the default of `simgpu dedup`.
pub(super) const THRESHOLD: f64 = 0.8;

/// Texts of about `wanted_bytes` in total, from all parts of a corpus.
pub(super) fn sample(texts: &TextBatch, wanted_bytes: usize) -> TextBatch {
    let all_bytes: usize = texts.iter().map(str::len).sum();
    let step = (all_bytes / wanted_bytes).max(1);
    texts.iter().step_by(step).collect()
}

/// Files of documents.
#[derive(Debug)]
pub(super) enum Files<'a> {
    /// The files of the corpus.
    All(&'a Inputs),
    /// A file with some of its texts, in a temporary folder.
    Part { inputs: Inputs, _folder: WorkFolder },
}

impl Files<'_> {
    /// Writes texts as JSON Lines, compressed by zstd.
    pub(super) fn write_texts<'t>(texts: impl Iterator<Item = &'t str>) -> Result<Self> {
        let folder = temporary_folder()?;
        let path = folder.path().join("part.jsonl.zst");
        write_texts(&path, texts)?;
        Ok(Files::Part {
            inputs: Inputs::find(std::slice::from_ref(&path), None)?,
            _folder: folder,
        })
    }

    fn inputs(&self) -> &Inputs {
        match self {
            Files::All(inputs) => inputs,
            Files::Part { inputs, .. } => inputs,
        }
    }
}

/// Files to files without near-duplicates, with the defaults of `simgpu dedup`.
pub(super) struct Dedup<'a> {
    files: Arc<Files<'a>>,
    engine: Engine,
    task: Task,
    output: WorkFolder,
}

impl<'a> Dedup<'a> {
    pub(super) fn new(
        files: Arc<Files<'a>>,
        scheme: Scheme,
        signer: Box<dyn Signer>,
    ) -> Result<Self> {
        let shingler = Shingler::new(Shingling::of_scheme(&scheme), &scheme, None)?;
        Ok(Dedup {
            files,
            task: Task::new(Search::new(THRESHOLD, &scheme)?),
            engine: Engine::from_parts(scheme, shingler, signer)?,
            output: temporary_folder()?,
        })
    }
}

impl Workload for Dedup<'_> {
    fn pass(&mut self) -> Result<()> {
        Run {
            options: RunOptions {
                overwrite: true,
                ..RunOptions::default()
            },
            ..Run::new(&self.engine, self.files.inputs())
        }
        .dedup(&self.task, &self.output.path().join(RESULTS))
        .map(drop)
    }

    fn checksum(&mut self) -> Result<u64> {
        check_notices(self.engine.signer())?;
        let mut hash = Xxh3::new();
        let kept = self.files.inputs().names();
        let kept = kept.map(|name| format!("kept/{name}"));
        for name in ["removed.jsonl".to_owned()].into_iter().chain(kept) {
            let path = self.output.path().join(RESULTS).join(name);
            // A file without kept documents is not written.
            if path.exists() {
                hash.update(&fs::read(&path).map_err(Error::io("read", &path))?);
            }
        }
        Ok(hash.digest())
    }
}
