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

/// Records that those of the inputs are compared with.
#[derive(Clone, Debug)]
pub struct Against<'a> {
    /// The files.
    pub inputs: &'a Inputs,
    /// The fields of their records.
    pub fields: Fields,
}

/// A run over files, by [`Run::dedup`], [`Run::pairs`] or [`Run::sign`]. Its fields are its options: give those that are not as in
/// [`Run::new`].
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
    /// What shingles and signs the documents.
    pub engine: &'a Engine,
    /// The files that are read.
    pub inputs: &'a Inputs,
    /// A reference to compare the inputs with; default none. [`Run::dedup`] removes a document if it is similar to one of the reference,
    /// too; [`Run::pairs`] finds the pairs of a document of the inputs and one of the reference. No two documents of the
    /// reference are compared, none of them is removed, and none is written. Its records have no
    /// [`Run::limit`], and no [`Run::keep_by`] or [`Run::prefer_source`]: its documents come first. [`Run::sign`] ignores
    /// it.
    pub against: Option<Against<'a>>,
    #[doc(hidden)]
    pub indexes: Vec<Box<dyn KnownIndex + 'a>>,
    /// Whether to add the documents that [`Run::dedup`] keeps to the index of [`Run::against_index`], after the results are complete,
    /// and is done when they are on disk; default false. There must be one index, each record must have an id of its own, and the index may have
    /// none of those that are kept. If the run is interrupted in between, the same run has the same results, and adds the documents that
    /// are missing. If an input is a stream, add the kept documents with [`OnKnownId::Skip`](simgpu_index::OnKnownId::Skip) instead.
    pub adds_kept: bool,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
    /// The fields of a record. The default id field is `id`; the default content field is `text`, or `tokens`
    /// if the engine takes tokens.
    pub fields: Fields,
    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// Whether a repeated id is an error; default false.
    pub unique_ids: bool,
    /// The most bytes of input that threads may read ahead of what is done in order, beside 1 MiB each; default 16 MiB.
    /// Affects memory and speed, not the result.
    pub batch_bytes: usize,
    /// The most decompressed bytes of input held in memory; a larger input is read twice. Default 128 MiB. Does
    /// not affect the result.
    pub held_bytes: u64,
    /// Bytes of memory for what grows with the number of documents, in [`Run::dedup`] and [`Run::pairs`]; default 60 %
    /// of the memory that this process may use, or without a bound where that is unknown. A run that needs more spills
    /// to disk. An exact join has a bound of its own
    /// ([`Search::join_bytes`](simgpu::search::Search::join_bytes)). Does not affect the result.
    ///
    /// Beside this, a run holds about 100 MiB for reading and writing, and on disk 5 bytes per document. A document is in
    /// memory as a whole while it is signed: one of more than 4 MiB takes 4 times its length, which counts here, and while
    /// it is read, few others are.
    pub memory: Option<u64>,
    /// The folder for temporary files; default next to the results, or the folder that the output names for them.
    pub temporary: Option<PathBuf>,
    /// Whether to start over where a run with the same output was stopped; default false: the run resumes from the last
    /// checkpoint of that one. [`Run::dedup`] and [`Run::pairs`] make checkpoints, every two minutes or less, once they
    /// work on disk, and if the output is a folder or a file. After an error that ends such a run,
    /// [`Error::Resumable`], the same run goes on, also with another number of threads or another
    /// [`Run::memory`]. One with other inputs or options is refused.
    pub restart: bool,
    /// What [`Run::build_index`] does with a document whose id an earlier one has; default [`OnKnownId::Fail`](simgpu_index::OnKnownId::Fail).
    pub on_known_id: simgpu_index::OnKnownId,
    /// The number of records to read, the first ones of the inputs, in order, bad ones included.
    pub limit: Option<NonZeroU64>,
    /// [`Run::dedup`] keeps the document of each cluster with the largest or smallest value of a field. A value
    /// that is absent, null or empty comes last. Ties go to the first document.
    ///
    /// All values are compared in one way: as numbers if each is a number or a string that holds one, exactly;
    /// else as instants if each is a date or a date with a time (RFC 3339; UTC without an offset); else as
    /// strings, byte by byte. While it reads, a run holds the text of each value and 8 bytes, then 8 bytes per
    /// document.
    pub keep_by: Option<KeepBy>,
    /// [`Run::dedup`] keeps documents of files that match the first pattern rather than others, then those of
    /// files that match the second, and so on. Among documents of equal preference, [`Run::keep_by`] and
    /// [`Dedup::keep`](simgpu::search::Dedup::keep) decide. Patterns match the names of files in reports.
    pub prefer_source: Globs,
    /// The format of the file of removed documents; default [`RemovedFormat::JsonLines`].
    pub removed_format: RemovedFormat,
    /// What [`Run::dedup`] does with the documents to remove; default [`Action::Drop`].
    pub action: Action,
    /// Whether [`Run::dedup`] writes `samples.jsonl`, texts of at most 2 MB in all, and shows them on its page, and whether a
    /// page of [`Run::pairs`] shows texts; default true.
    pub samples: bool,
    /// Whether [`Run::pairs`] writes a page that shows the pairs beside a file of pairs; default false. Its name is that of the
    /// file with `.report.html` at the end. The files that hold the texts which it shows are read again.
    pub page: bool,
    /// The field whose value is the source of a document, for the counts of [`Report::sources`](simgpu_io::Report::sources);
    /// default its file. A value that is absent, null or empty is a source of its own. A run holds 2 bytes per document.
    pub source_field: Option<FieldPath>,
    #[doc(hidden)]
    pub from_pairs: Option<&'a PairsFile>,
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

    /// Bytes of memory for what grows with the number of documents; `None` without a bound.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        self.memory.or_else(usable_memory_bytes)
    }

    /// What records hold, those of the reference or all others.
    pub(super) fn fields_of(&self, is_reference: bool) -> &Fields {
        let against = self.against.as_ref().filter(|_| is_reference);
        against.map_or(&self.fields, |against| &against.fields)
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
        let against = self.against.as_ref().map(|against| against.inputs);
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
