//! What a run searches for, what it writes, and the memory and threads that it takes.

use std::num::{NonZeroU64, NonZeroUsize};

use pyo3::prelude::*;
use simgpu_cli::arguments::{
    BandingArguments, HoldArguments, ProcessArguments, RecordMemoryArguments, RunArguments,
    SearchArguments,
};
use simgpu_cli::commands::dedup::{ClusterArguments, ShortArguments};
use simgpu_cli::commands::pairs::WrittenArguments;
use simgpu_cli::commands::sample::SampleArguments;
use simgpu_cli::outputs::{OutputArguments, ShownArguments};

use super::values::{MIB, Options};
use crate::arguments::THREADS;
use crate::errors::parameter_error;

impl<'py> Options<'py> {
    pub(crate) fn run(&self) -> PyResult<RunArguments> {
        Ok(RunArguments {
            sign: self.sign()?,
            batch_mib: self.required("batch_mib", MIB)?,
            process: process(),
        })
    }

    pub(crate) fn sample(&self) -> PyResult<SampleArguments> {
        let sample = match self.value("sample")? {
            Some(_) => self.paths("sample")?,
            // The command plans a run for this number of documents, too.
            None if self.value("documents")?.is_some() => {
                let message = "documents needs a sample; pass sample, or omit documents";
                return Err(parameter_error(self.py(), message));
            }
            None => Vec::new(),
        };
        Ok(SampleArguments {
            sample,
            limit: self.required("limit", "a number of documents, at least 1")?,
            text_field: self.optional("text_field", "a name, as a str")?,
            tokens_field: self.optional("tokens_field", "a name, as a str")?,
            unit: self.optional_choice("unit")?,
            documents: self.optional("documents", "a number of documents")?,
        })
    }

    pub(crate) fn banding(&self) -> PyResult<BandingArguments> {
        Ok(BandingArguments {
            threshold: self.required("threshold", "a number above 0 and up to 1")?,
            bands: self.optional("bands", "a number of bands")?,
            rows: self.optional("rows", "a number of slots per band")?,
        })
    }

    pub(crate) fn search(&self) -> PyResult<SearchArguments> {
        Ok(SearchArguments {
            banding: self.banding()?,
            // Signatures have no such option.
            measure: self.optional_choice("measure")?,
            verify: Some(self.choice("verify")?),
            candidates: self.optional_choice("candidates")?,
            // Signatures have no shingles to join, and no such option.
            join_mib: self.optional("join_mib", MIB)?.unwrap_or(NonZeroUsize::MIN),
        })
    }

    /// How to form clusters, and which document of each to keep.
    pub(crate) fn clusters(&self) -> PyResult<ClusterArguments> {
        Ok(ClusterArguments {
            keep: self.choice("keep")?,
            cluster: self.choice("cluster")?,
            max_bucket: self.count("max_bucket")?,
        })
    }

    /// What happens to documents of few shingles.
    pub(crate) fn short(&self) -> PyResult<ShortArguments> {
        Ok(ShortArguments {
            min_shingles: self.optional("min_shingles", "a number of shingles, at least 1")?,
            drop_short: self.switch("drop_short")?,
            drop_empty: self.switch("drop_empty")?,
        })
    }

    /// Which of the similar pairs to return.
    pub(crate) fn written(&self) -> PyResult<WrittenArguments> {
        Ok(WrittenArguments {
            identical: self.choice("identical")?,
            max_pairs: self.count("max_pairs")?,
        })
    }

    /// A number of bytes, or a text as the command takes it.
    pub(crate) fn memory(&self) -> PyResult<Option<u64>> {
        const EXPECTED: &str = "a size such as \"4GiB\", or a number of bytes above 0";
        let Some(value) = self.value("memory")? else {
            return Ok(None);
        };
        if let Ok(bytes) = value.extract::<NonZeroU64>() {
            return Ok(Some(bytes.get()));
        }
        let text: String = self.required("memory", EXPECTED)?;
        let size = simgpu_cli::arguments::size(&text);
        let message = || format!("memory is {text:?}; give {EXPECTED}");
        size.map(Some)
            .map_err(|_| parameter_error(self.py(), message()))
    }

    pub(crate) fn record_memory(&self) -> PyResult<RecordMemoryArguments> {
        let memory = self.memory()?;
        Ok(RecordMemoryArguments { memory })
    }

    pub(crate) fn hold(&self) -> PyResult<HoldArguments> {
        Ok(HoldArguments {
            memory: self.memory()?,
            temp_dir: self.path("temp_dir")?,
            restart: !self.switch("resume")?,
            hold_mib: self.required("hold_mib", "a number of MiB, at least 0")?,
        })
    }

    pub(crate) fn outputs(&self) -> PyResult<OutputArguments> {
        Ok(OutputArguments {
            overwrite: self.switch("overwrite")?,
            compression_level: self.optional("compression_level", "a level, at least 0")?,
            shown: self.shown()?,
        })
    }

    /// Whether to write files. Reports are objects.
    pub(crate) fn shown(&self) -> PyResult<ShownArguments> {
        Ok(ShownArguments {
            dry_run: self.switch("dry_run")?,
            report: None,
        })
    }

    pub(crate) fn overwrite(&self) -> PyResult<bool> {
        self.switch("overwrite")
    }

    /// A number of documents or pairs, at least 1.
    pub(crate) fn count<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        self.required(name, "a number, at least 1")
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> PyResult<Option<usize>> {
        let threads: Option<NonZeroUsize> = self.optional("threads", THREADS)?;
        Ok(threads.map(NonZeroUsize::get))
    }
}

/// The threads and messages of a command: pools and warnings are those of Python.
pub(crate) fn process() -> ProcessArguments {
    ProcessArguments {
        threads: None,
        quiet: true,
    }
}
