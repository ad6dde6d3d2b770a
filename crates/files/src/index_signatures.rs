//! Builds an index of signatures that were written earlier.

use std::num::NonZeroUsize;
use std::path::Path;

use super::index::{IndexCounts, IndexOutcome};
use super::resume::{discard_build, remove_left};
use super::signatures::{SignatureFile, SignatureRun};
use simgpu::engine::Engine;
use simgpu::error::{Conflict, Error, Result};
use simgpu::pipeline::{Normalise, Shingling, Unit, Weighting};
use simgpu::progress::Timings;
use simgpu::scheme::words_v1;
use simgpu::search::{Search, Verification};
use simgpu::store::spill::{Budget, Spill};
use simgpu_index::{BulkBuild, DocumentId, Durability, Index, SignedForIndex};

impl SignatureFile {
    /// What signs texts as those of the file were signed.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that does not say all of it: one of stop words, of weights, or of another version of Unicode.
    pub fn engine(&self) -> Result<Engine> {
        let stated = &self.description.parameters;
        let refused = |problem: String| Error::Input {
            path: self.path.clone(),
            problem,
            remedy: "build the index of the documents".to_owned(),
        };
        if stated.weight_scale.is_some() || stated.weights.is_some() {
            return Err(refused(
                "its shingles have weights, and an index takes none".to_owned(),
            ));
        }
        let unit = Unit::plain(&stated.unit);
        let unit = unit.ok_or_else(|| {
            refused(format!(
                "it does not say how texts are cut to shingles of {}",
                stated.unit
            ))
        })?;
        let (major, minor, patch) = words_v1::UNICODE_VERSION;
        let own = format!("{major}.{minor}.{patch}");
        if let Some(version) = stated
            .unicode_version
            .as_ref()
            .filter(|version| **version != own)
        {
            return Err(refused(format!(
                "its words are those of Unicode {version}, and this program has {own}"
            )));
        }
        let usual = Shingling::of(unit);
        let size = match stated.size {
            None => usual.size,
            Some(size) => usize::try_from(size)
                .ok()
                .and_then(NonZeroUsize::new)
                .ok_or_else(|| refused(format!("it states shingles of {size} units")))?,
        };
        Engine::builder()
            .scheme(self.scheme().clone())
            .hash(stated.hash.parse()?)
            .shingling(Shingling {
                size,
                normalise: Normalise {
                    lowercase: stated.lowercase,
                    strip_punctuation: stated.strip_punctuation,
                    keep_whitespace: stated.keep_whitespace,
                },
                weighting: if stated.count {
                    Weighting::Counts
                } else {
                    Weighting::Equal
                },
                ..usual
            })
            .work_bytes(0)
            .build()
    }
}

impl SignatureRun<'_> {
    /// Builds an index of all signatures in a folder that does not exist or is empty, as
    /// [`Run::build_index`](super::Run::build_index) does of documents. It works in `memory` bytes, and `temporary` is the
    /// folder for temporary files. A build that is stopped is begun anew by the same call.
    ///
    /// A file of signatures has no digests of texts: a text that is in the index is found as one of similarity 1, and texts
    /// without shingles are not found.
    ///
    /// # Errors
    /// [`Conflict::ExactWithoutDocuments`] for [`Verification::Exact`]; those of [`SignatureFile::engine`], of
    /// [`Index::create`] and of reading the file; [`Error::Stopped`].
    pub fn build_index(
        self,
        folder: &Path,
        search: &Search,
        memory: usize,
        temporary: Option<&Path>,
    ) -> Result<IndexOutcome> {
        let progress = self.options.progress;
        let temporary = temporary.unwrap_or(folder);
        let outcome = self.build_in(folder, search, memory, temporary)?;
        remove_left(temporary, progress);
        Ok(outcome)
    }

    fn build_in(
        self,
        folder: &Path,
        search: &Search,
        memory: usize,
        temporary: &Path,
    ) -> Result<IndexOutcome> {
        let SignatureRun {
            signatures,
            options,
            on_known_id,
        } = self;
        if search.verification == Verification::Exact {
            return Err(Conflict::ExactWithoutDocuments.into());
        }
        discard_build(
            folder,
            Some("repeat that build to go on, or remove the folder"),
        )?;
        let index = Index::begin(folder, signatures.engine()?, search)?;
        let index = index.durability(Durability::OnSync);
        let spill = Spill::new(&Budget {
            memory,
            folder: temporary.to_owned(),
            run: None,
            unfinished: None,
        })?;
        let mut bulk = BulkBuild::new(&spill, &index, 0);
        let mut timings = Timings::default();
        let skipped = signatures.description.skipped.len() as u64;
        let bytes = signatures.bytes();
        timings.time("read", bytes, || {
            signatures.for_each_batch(options.progress, |batch, ids, places| {
                let signed = SignedForIndex::from_signatures(batch, &index);
                let mut own = Vec::with_capacity(batch.len());
                for (i, row) in (bulk.documents()..).enumerate().take(batch.len()) {
                    let id = match ids.get(i) {
                        Some(id) => id.as_str().into(),
                        None => places.id(row)?,
                    };
                    let id = DocumentId::from_json(&id);
                    own.push(id.ok_or_else(|| Error::Defect("an id is no id".to_owned()))?);
                }
                bulk.add(&signed, own.iter().enumerate())
            })
        })?;
        let (read, mut added) = (u64::from(bulk.documents()), 0);
        timings.time("write", 0, || {
            added = bulk.finish(&index, on_known_id, options.progress)?;
            index.complete()
        })?;
        let counts = IndexCounts {
            documents: read + skipped,
            skipped,
            added,
            known_ids: read - added,
            ..IndexCounts::default()
        };
        let elapsed_s = timings.complete(options.started);
        Ok(IndexOutcome {
            counts,
            timings,
            elapsed_s,
        })
    }
}
