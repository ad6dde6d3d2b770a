//! Whole runs: a corpus in files to the documents kept.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use xxhash_rust::xxh3::Xxh3;

use super::runner::Workload;
use super::sign::check_notices;
use crate::bench::corpus::{temporary_folder, write_texts};
use simgpu::documents::TextBatch;
use simgpu::io::{Fields, Inputs, OnBadRecord, OutputFolder};
use simgpu::jobs::{Dedup as Task, Search, Source, Verification, dedup};
use simgpu::pipeline::{Banding, Clustering, KeepPolicy, Shingler, Shingling, Signer};
use simgpu::progress::Silent;
use simgpu::scheme::Scheme;
use simgpu::{Error, Result};

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
    Part { inputs: Inputs, _folder: TempDir },
}

impl Files<'_> {
    /// Writes texts as JSON Lines, compressed by zstd.
    pub(super) fn of_texts<'t>(texts: impl Iterator<Item = &'t str>) -> Result<Self> {
        let folder = temporary_folder()?;
        let path = folder.path().join("part.jsonl.zst");
        write_texts(&path, texts)?;
        let none = Path::new("");
        Ok(Files::Part {
            inputs: Inputs::find(std::slice::from_ref(&path), None, none)?,
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
    fields: Fields,
    scheme: Scheme,
    shingler: Shingler,
    signer: Box<dyn Signer>,
    task: Task,
    output: TempDir,
}

impl<'a> Dedup<'a> {
    pub(super) fn new(
        files: Arc<Files<'a>>,
        scheme: Scheme,
        signer: Box<dyn Signer>,
    ) -> Result<Self> {
        Ok(Dedup {
            files,
            fields: Fields::default(),
            shingler: Shingler::new(Shingling::of_scheme(&scheme), &scheme, None)?,
            signer,
            task: Task {
                search: Search {
                    threshold: THRESHOLD,
                    banding: Banding::for_scheme(THRESHOLD, &scheme)?,
                    verification: Verification::Signature,
                    max_bucket: 4096,
                    held_bytes: 128 << 20,
                },
                clustering: Clustering::Greedy,
                keep: KeepPolicy::First,
            },
            scheme,
            output: temporary_folder()?,
        })
    }
}

impl Workload for Dedup<'_> {
    fn pass(&mut self) -> Result<()> {
        let source = Source {
            inputs: self.files.inputs(),
            fields: &self.fields,
            on_bad_record: OnBadRecord::Fail,
            unique_ids: false,
            batch_bytes: 16 << 20,
            shingler: &self.shingler,
            signer: &*self.signer,
            progress: &Silent,
        };
        let folder = OutputFolder::open(self.output.path(), true)?;
        dedup(&source, &self.scheme, &self.task, folder, &|_| json!({})).map(|_| ())
    }

    fn checksum(&mut self) -> Result<u64> {
        check_notices(&*self.signer)?;
        let mut hash = Xxh3::new();
        let kept = self.files.inputs().names();
        let kept = kept.map(|name| format!("kept/{name}"));
        for name in ["removed.jsonl".to_owned()].into_iter().chain(kept) {
            let path = self.output.path().join(name);
            // A file without kept documents is not written.
            if path.exists() {
                hash.update(&fs::read(&path).map_err(Error::io("read", &path))?);
            }
        }
        Ok(hash.digest())
    }
}
