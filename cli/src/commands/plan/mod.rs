//! What `simgpu tune --bytes` shows: the memory, disk space and time that a deduplication will take.

mod small_run;

mod page;

use std::num::NonZeroU64;
use std::path::PathBuf;

use crate::commands::plan::small_run::MOST_DOCUMENTS;

use clap::Args;
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::machine::usable_memory_bytes;
use simgpu::progress::Progress;
use simgpu::scheme::Scheme;
use simgpu::search::{Dedup, Search};
use simgpu::store::WorkFolder;
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

use super::sample::SampledCandidates;
use crate::arguments::{memory_size, size};
use crate::{Usage, usage};

pub use page::Plan;

use small_run::{Drawn, ID, MOST_WRITTEN, Measured, check_space, spilled_bytes, write_documents};

/// The run to plan.
#[derive(Args, Debug)]
pub struct PlanArguments {
    /// Plan a deduplication of --documents documents with this much text in all, such as 3TB: shows the memory, disk
    /// space and time that it will take, from a small run on this machine
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "documents", help_heading = "Plan")]
    pub bytes: Option<u64>,

    /// Memory of the planned run, as for `simgpu dedup` [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Plan")]
    pub memory: Option<u64>,

    /// Folder for the files of the small run [default: the system's]
    #[arg(long, value_name = "DIR", value_parser = crate::arguments::local_folder, help_heading = "Plan")]
    pub temp_dir: Option<PathBuf>,
}

/// The run to plan.
#[derive(Debug)]
pub struct PlannedRun<'a> {
    /// The number of documents to deduplicate, if known.
    pub documents: Option<NonZeroU64>,
    /// What similar documents are, and how they are found.
    pub search: Search,
    /// The scheme of the signatures.
    pub scheme: &'a Scheme,
    /// What a sample of the documents leads to expect, if there is one.
    pub sampled: Option<SampledCandidates>,
}

impl PlanArguments {
    /// Refuses what no run takes, and a plan for less than a small run writes.
    ///
    /// # Errors
    /// A usage error.
    pub fn check(&self, documents: Option<u64>) -> anyhow::Result<()> {
        match (self.bytes, documents) {
            (Some(_), Some(0)) => Err(Usage::error(
                "`documents` is 0, and a plan needs some; give the number of documents to deduplicate",
            )),
            (Some(_), Some(documents)) if documents > MOST_DOCUMENTS => {
                Err(usage(Error::TooManyDocuments))
            }
            _ => Ok(()),
        }
    }

    /// Makes the small run, and plans the large one from it. `None` if the number of documents or bytes is unknown.
    ///
    /// # Errors
    /// A usage error for too few bytes; those of writing and reading temporary files; [`Error::Stopped`].
    pub fn plan(
        &self,
        planned: PlannedRun<'_>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Option<Plan>> {
        let PlannedRun { search, scheme, .. } = planned;
        let (Some(bytes), Some(documents)) = (self.bytes, planned.documents) else {
            return Ok(None);
        };
        let documents = documents.get();
        let memory = self.memory.or_else(usable_memory_bytes);
        let engine = Engine::builder().scheme(scheme.clone()).build()?;
        let bands = search.banding.bands() as u64;
        let per_document = search.bytes_per_document(scheme.num_perm()) as u64 + ID + 8;
        let in_memory = documents * per_document;
        let is_on_disk = memory.is_some_and(|memory| in_memory > memory / 2);
        let on_disk = if is_on_disk { spilled_bytes(bands) } else { 0 };
        let Some(measured) = Measured::within(bytes, documents, on_disk) else {
            return Err(Usage::error(
                "`bytes` is so small that the run takes less than a second; run `simgpu dedup` itself, or give the size of all documents",
            ));
        };
        let folder = self.folder()?;
        check_space(folder.path(), bytes.min(MOST_WRITTEN))?;
        let input = folder.path().join("documents.jsonl");
        write_documents(&input, measured, progress)?;
        let inputs = Inputs::find(&[input], None)?;
        let drawn = Drawn(progress);
        let run = Run {
            options: RunOptions {
                progress: &drawn,
                ..RunOptions::default()
            },
            memory: Some(if is_on_disk {
                // Too little for its documents.
                measured.documents * per_document
            } else {
                u64::MAX
            }),
            ..Run::new(&engine, &inputs)
        };
        let outcome = run.dedup(&Dedup::new(search), &folder.path().join("results"));
        Ok(Some(Plan {
            documents,
            bytes,
            memory: memory.filter(|_| is_on_disk),
            in_memory,
            bands,
            measured,
            // Nothing goes on in a folder that is removed.
            outcome: outcome.map_err(|error| match error {
                Error::Resumable { error, .. } => *error,
                error => error,
            })?,
            sampled: planned.sampled,
        }))
    }

    /// A folder for the small run, removed on drop.
    fn folder(&self) -> simgpu::Result<WorkFolder> {
        match &self.temp_dir {
            Some(folder) => WorkFolder::new(folder),
            None => WorkFolder::new(&std::env::temp_dir()),
        }
    }
}
