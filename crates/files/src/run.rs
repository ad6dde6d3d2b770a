//! The options of a run over files.

mod options;

mod parameters;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use super::outcome::warn_of_repeated_ids;
use super::pairs_file::PairsFile;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::machine::usable_memory_bytes;
use simgpu::progress::Counts;
use simgpu::search::KnownIndex;
use simgpu_io::{
    Facts, FieldPath, Fields, Globs, Inputs, KeepBy, OnBadRecord, RemovedFormat, check_apart,
};

pub use options::{Action, RunOptions, check_compression_level};
pub(super) use parameters::search_parameters;

/// A run over files. Set its options, then call [`Run::dedup`], [`Run::pairs`] or [`Run::sign`].
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu_io::Inputs;
/// use simgpu::search::{Dedup, Search};
/// use simgpu_files::Run;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// # std::fs::write(folder.join("in.jsonl"), "{\"text\": \"a rose\"}\n{\"text\": \"a rose\"}\n").unwrap();
/// let engine = Engine::builder().build()?;
/// let task = Dedup::new(Search::new(0.8, engine.scheme())?);
/// let inputs = Inputs::find(&[folder.join("in.jsonl")], None)?;
/// let outcome = Run::new(&engine, &inputs).dedup(&task, &folder.join("out"))?;
/// assert_eq!((outcome.report.counts.kept, outcome.report.counts.removed), (1, 1));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct Run<'a> {
    pub(super) engine: &'a Engine,
    pub(super) inputs: &'a Inputs,
    pub(super) against: Option<(&'a Inputs, Fields)>,
    pub(super) indexes: Vec<Box<dyn KnownIndex + 'a>>,
    pub(super) adds_kept: bool,
    pub(super) options: RunOptions<'a>,
    pub(super) fields: Fields,
    pub(super) on_bad_record: OnBadRecord,
    pub(super) unique_ids: bool,
    pub(super) batch_bytes: usize,
    pub(super) held_bytes: u64,
    pub(super) memory: Option<u64>,
    pub(super) temporary: Option<PathBuf>,
    pub(super) restart: bool,
    pub(super) on_known_id: simgpu_index::OnKnownId,
    pub(super) limit: Option<NonZeroU64>,
    pub(super) keep_by: Option<KeepBy>,
    pub(super) prefer_source: Globs,
    pub(super) removed_format: RemovedFormat,
    pub(super) action: Action,
    pub(super) samples: bool,
    pub(super) page: bool,
    pub(super) source_field: Option<FieldPath>,
    pub(super) from_pairs: Option<&'a PairsFile>,
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
    /// Makes a run that processes inputs with an engine, with default options.
    pub fn new(engine: &'a Engine, inputs: &'a Inputs) -> Self {
        Run {
            fields: Fields::for_form(engine.takes_tokens()),
            engine,
            inputs,
            against: None,
            indexes: Vec::new(),
            adds_kept: false,
            options: RunOptions::default(),
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            held_bytes: 128 << 20,
            memory: None,
            temporary: None,
            restart: false,
            on_known_id: simgpu_index::OnKnownId::default(),
            limit: None,
            keep_by: None,
            prefer_source: Globs::default(),
            removed_format: RemovedFormat::default(),
            action: Action::default(),
            samples: true,
            page: false,
            source_field: None,
            from_pairs: None,
        }
    }

    /// The fields of a record. The default id field is `id`; the default content field is `text`, or `tokens`
    /// if the engine takes tokens.
    pub fn fields(self, fields: Fields) -> Self {
        Run { fields, ..self }
    }

    /// Compares the inputs with a reference. [`Run::dedup`] removes a document if it is similar to one of the reference,
    /// too; [`Run::pairs`] finds the pairs of a document of the inputs and one of the reference. No two documents of the
    /// reference are compared, none of them is removed, and none is written. Its records have these fields, but no
    /// [`Run::limit`], and no [`Run::keep_by`] or [`Run::prefer_source`]: its documents come first. [`Run::sign`] ignores
    /// it.
    pub fn against(self, reference: &'a Inputs, fields: Fields) -> Self {
        Run {
            against: Some((reference, fields)),
            ..self
        }
    }

    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        Run {
            on_bad_record,
            ..self
        }
    }

    /// Whether a repeated id is an error; default false.
    pub fn unique_ids(self, unique_ids: bool) -> Self {
        Run { unique_ids, ..self }
    }

    /// The most bytes of input that threads may read ahead of what is done in order, beside 1 MiB each; default 16 MiB.
    /// Affects memory and speed, not the result.
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        Run {
            batch_bytes,
            ..self
        }
    }

    /// The most decompressed bytes of input held in memory; a larger input is read twice. Default 128 MiB. Does
    /// not affect the result.
    pub fn held_bytes(self, held_bytes: u64) -> Self {
        Run { held_bytes, ..self }
    }

    /// Bytes of memory for what grows with the number of documents, in [`Run::dedup`] and [`Run::pairs`]; default 60 %
    /// of the memory that this process may use, or without a bound where that is unknown. A run that needs more writes
    /// to disk and goes on there. An exact join has a bound of its own
    /// ([`Search::join_bytes`](simgpu::search::Search::join_bytes)). Does not affect the result.
    ///
    /// Beside this, a run holds about 100 MiB for reading and writing, and on disk 5 bytes per document. A document is in
    /// memory as a whole while it is signed: one of more than 4 MiB takes 4 times its length, which counts here, and while
    /// it is read, few others are.
    pub fn memory(self, bytes: u64) -> Self {
        Run {
            memory: Some(bytes),
            ..self
        }
    }

    /// The folder for temporary files; default beside the results, or the folder that the output names for them.
    pub fn temporary(self, folder: PathBuf) -> Self {
        Run {
            temporary: Some(folder),
            ..self
        }
    }

    /// Whether to begin anew where a run with the same output was stopped; default false: the run goes on from the last
    /// checkpoint of that one. [`Run::dedup`] and [`Run::pairs`] make checkpoints, every two minutes or less, once they
    /// work on disk, and if the output is a folder or a file. After an error that ends such a run,
    /// [`Error::Resumable`], the same run goes on, also with another number of threads or another
    /// [`Run::memory`]. One with other inputs or options is refused.
    pub fn restart(self, restart: bool) -> Self {
        Run { restart, ..self }
    }

    /// Reads only the first `records` records of the inputs, in order, bad ones included.
    pub fn limit(self, records: NonZeroU64) -> Self {
        Run {
            limit: Some(records),
            ..self
        }
    }

    /// [`Run::dedup`] keeps the document of each cluster with the largest or smallest value of a field. A value
    /// that is absent, null or empty comes last. Ties go to the first document.
    ///
    /// All values are compared in one way: as numbers if each is a number or a string that holds one, exactly;
    /// else as instants if each is a date or a date with a time (RFC 3339; UTC without an offset); else as
    /// strings, byte by byte. While it reads, a run holds the text of each value and 8 bytes, then 8 bytes per
    /// document.
    pub fn keep_by(self, keep_by: KeepBy) -> Self {
        Run {
            keep_by: Some(keep_by),
            ..self
        }
    }

    /// [`Run::dedup`] keeps documents of files that match the first pattern rather than others, then those of
    /// files that match the second, and so on. Among documents of equal preference, [`Run::keep_by`] and
    /// [`Dedup::keep`](simgpu::search::Dedup::keep) decide. Patterns match the names of files in reports.
    pub fn prefer_source(self, prefer_source: Globs) -> Self {
        Run {
            prefer_source,
            ..self
        }
    }

    /// The format of the file of removed documents; default [`RemovedFormat::JsonLines`].
    pub fn removed_format(self, removed_format: RemovedFormat) -> Self {
        Run {
            removed_format,
            ..self
        }
    }

    /// What [`Run::dedup`] does with the documents to remove; default [`Action::Drop`].
    pub fn action(self, action: Action) -> Self {
        Run { action, ..self }
    }

    /// The field whose value is the source of a document, for the counts of [`Report::sources`](simgpu_io::Report::sources);
    /// default its file. A value that is absent, null or empty is a source of its own. A run holds 2 bytes per document.
    pub fn source_field(self, field: FieldPath) -> Self {
        Run {
            source_field: Some(field),
            ..self
        }
    }

    /// Whether [`Run::dedup`] writes `samples.jsonl`, texts of at most 2 MB in all, and shows them on its page, and whether a
    /// page of [`Run::pairs`] shows texts; default true.
    pub fn samples(self, samples: bool) -> Self {
        Run { samples, ..self }
    }

    /// Whether [`Run::pairs`] writes a page that shows the pairs beside a file of pairs; default false. Its name is that of the
    /// file with `.report.html` at the end. The files that hold the texts which it shows are read again.
    pub fn page(self, page: bool) -> Self {
        Run { page, ..self }
    }

    /// What it has in common with other runs.
    pub fn options(self, options: RunOptions<'a>) -> Self {
        Run { options, ..self }
    }

    /// Bytes of memory for what grows with the number of documents; `None` without a bound.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        self.memory.or_else(usable_memory_bytes)
    }

    /// What records hold, those of the reference or all others.
    pub(super) fn fields_of(&self, is_reference: bool) -> &Fields {
        let against = self.against.as_ref().filter(|_| is_reference);
        against.map_or(&self.fields, |(_, fields)| fields)
    }

    /// What `run.json` says of the run.
    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            command: &self.options.command,
            signer: self.from_pairs.is_none().then(|| self.engine.signer()),
            memory_bytes: self.memory_bytes(),
        }
    }

    /// Refuses an output path that is an input file, or a folder that contains an input file.
    pub(super) fn check_outputs(&self, outputs: &[PathBuf]) -> Result<()> {
        let mut inputs = self.all_inputs();
        inputs.try_for_each(|inputs| inputs.check_not_overwritten_by(outputs))
    }

    /// The inputs, and the reference.
    fn all_inputs(&self) -> impl Iterator<Item = &'a Inputs> {
        let against = self.against.as_ref().map(|(reference, _)| *reference);
        std::iter::once(self.inputs).chain(against)
    }

    /// Refuses a folder of results that contains an input, or is inside an input folder.
    pub(super) fn check_folder(&self, folder: &Path) -> Result<()> {
        let mut inputs = self.all_inputs();
        inputs.try_for_each(|inputs| inputs.check_output_outside(folder))?;
        for index in &self.indexes {
            check_apart(index.folder(), folder)?;
        }
        self.check_outputs(&[folder.to_owned()])
    }

    /// Refuses a folder for temporary files that lies in a folder of results.
    pub(super) fn check_temporary_outside(&self, results: &Path) -> Result<()> {
        let (Some(temporary), Ok(results)) = (&self.temporary, results.canonicalize()) else {
            return Ok(());
        };
        match temporary.canonicalize() {
            Ok(canonical) if canonical.starts_with(results) => Err(Error::Parameter {
                name: "`temp_dir`",
                value: format!("{:?}", temporary.display().to_string()),
                expected: "a folder outside of the output folder".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Warns of repeated ids, and of what the names of inputs lead to and the run does not read.
    pub(super) fn warn_of_oddities(&self, counts: &Counts) {
        warn_of_repeated_ids(self.options.progress, counts.repeated_ids);
        let inputs = self.all_inputs();
        inputs.for_each(|inputs| inputs.not_read().warn(self.options.progress));
    }
}

#[cfg(test)]
mod tests;
