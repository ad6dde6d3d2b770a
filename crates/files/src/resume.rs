//! Goes on with a run that was stopped.
//!
//! Reading goes on at a chunk of a file: where chunks are cut depends on the file alone. What was in memory is made
//! again from the files: bits and components from the members of buckets, rows of files and bad records from a log.
//! Not kept: the kept records of an input that was not complete, and the pairs that were written; both are written
//! again.
//!
//! A run on disk has a name: its output, version, parameters and inputs (size and time; the checksums follow when they
//! are read again). Another run with the same output is refused and told the first difference. `on_bad_record` and
//! `unique_ids` are no part of the name, since what they refuse is found again. A run that has read for five minutes
//! goes on on disk even if memory suffices, because only there it makes checkpoints.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::Serialize;
use serde_json::{Value, json};

use super::run::Run;
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::progress::Progress;
use simgpu::search::{CandidateMethod, Dedup, Pairs, Search};
use simgpu::store::disk::is_absent;
use simgpu::store::spill::{
    Budget, InputIdentity, RunIdentity, Spill, Unfinished, remove_abandoned,
};
use simgpu_io::{DedupParameters, FieldPath, InputFile, KeepBy, PairsParameters, real_path};

/// Parameters by name.
pub(crate) type ByName = BTreeMap<String, Value>;

impl Run<'_> {
    /// The parameters of a deduplication beside those of the search, by name.
    pub(super) fn dedup_parameters(&self, task: &Dedup) -> ByName {
        let sources: Vec<&str> = self.prefer_source.patterns().collect();
        let keep_by = self.keep_by.as_ref().map(KeepBy::to_string);
        let source_field = self.source_field.as_ref().map(FieldPath::to_string);
        // The method may not be known yet; a join follows from the other parameters.
        parameters_by_name(
            &DedupParameters::new(task, CandidateMethod::Lsh),
            [
                ("keep_by", json!(keep_by)),
                ("source_field", json!(source_field)),
                ("prefer_source", json!(sources.join(", "))),
                ("action", json!(self.action.name())),
                ("removed_format", json!(self.removed_format.file_name())),
                ("no_samples", json!(!self.samples)),
                ("compression_level", json!(self.options.compression_level)),
            ],
        )
    }

    /// The same of a search for pairs.
    pub(super) fn pairs_parameters(&self, task: &Pairs) -> ByName {
        let compression_level = ("compression_level", json!(self.options.compression_level));
        parameters_by_name(&PairsParameters::new(task), [compression_level])
    }
}

/// What a report says, by name, and what decides the outputs beside it.
#[doc(hidden)]
pub fn parameters_by_name<const N: usize>(
    reported: &impl Serialize,
    others: [(&str, Value); N],
) -> ByName {
    let mut all = match serde_json::to_value(reported) {
        Ok(Value::Object(parameters)) => parameters.into_iter().collect(),
        _ => ByName::new(),
    };
    all.extend(others.map(|(name, value)| (name.to_owned(), value)));
    all
}

impl FileSource<'_> {
    /// Lets the run go on disk if it needs more memory than it may use, and makes it one that goes on after it was
    /// stopped, if it was. `output` is where the results go; `None` if they go to a stream or nowhere.
    ///
    /// `memory` is in bytes; `None` without a bound.
    ///
    /// # Errors
    /// [`Error::Output`] if a run with the same output but other parameters or inputs was stopped.
    pub(super) fn set_budget(
        &mut self,
        output: Option<&Path>,
        search: &Search,
        parameters: ByName,
        memory: Option<u64>,
    ) -> Result<()> {
        let Some(memory) = memory else {
            return Ok(());
        };
        // Saturates: a process can address no more memory.
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let output = output.filter(|_| !self.run.inputs.names_stream());
        let run = output.map(|output| self.identity(output, search, parameters));
        let run = run.transpose()?;
        let unfinished = match &run {
            None => None,
            Some(run) => unfinished(run, &self.temporary, memory, self.run.restart)?,
        };
        self.budget = Some(Budget {
            memory,
            folder: self.temporary.clone(),
            run: run.map(Arc::new),
            unfinished,
        });
        Ok(())
    }

    fn identity(&self, output: &Path, search: &Search, parameters: ByName) -> Result<RunIdentity> {
        let mut all = parameters;
        let indexes = self.run.indexes.iter();
        let indexes: Vec<String> = indexes
            .map(|index| index.identity())
            .collect::<Result<_>>()?;
        if !indexes.is_empty() {
            all.insert("against_index".to_owned(), json!(indexes.join(", ")));
        }
        let files = &self.files[indexes.len()..];
        (self.run).identity(output, search, all, files, self.reference_files)
    }
}

impl Run<'_> {
    /// What tells a run over these files, the first of which are a reference, from others.
    #[doc(hidden)]
    pub fn identity(
        &self,
        output: &Path,
        search: &Search,
        parameters: ByName,
        files: &[InputFile],
        reference_files: usize,
    ) -> Result<RunIdentity> {
        let mut all = parameters_by_name(&self.parameters(Some(search)), []);
        // They follow from the others.
        all.remove("recall_at_threshold");
        all.remove("recall_by_size_ratio");
        all.remove("input_recall_at_threshold");
        if search.candidates == CandidateMethod::Auto {
            all.insert("join_mib".to_owned(), json!(search.join_bytes >> 20));
        }
        if let Some(field) = all.remove("content_field") {
            let name = if self.fields.is_tokens {
                "tokens_field"
            } else {
                "text_field"
            };
            all.insert(name.to_owned(), field);
        }
        if reference_files > 0 {
            all.insert("against".to_owned(), json!(reference_files));
        }
        all.extend(parameters);
        identity(output, all, files)
    }
}

/// What tells a run with these results, parameters and inputs from others.
///
/// # Errors
/// [`Error::Io`] if an input is there and cannot be looked at: with another size, it would be another run.
#[doc(hidden)]
pub fn identity(output: &Path, parameters: ByName, files: &[InputFile]) -> Result<RunIdentity> {
    let inputs = files.iter().map(|file| {
        let metadata = match file.open().and_then(|file| file.metadata()) {
            Err(error) if is_absent(&error) => None,
            metadata => Some(metadata.map_err(Error::io("read", &file.named))?),
        };
        let modified = metadata
            .as_ref()
            .and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        Ok(InputIdentity {
            path: absolute(&file.named),
            bytes: metadata.map_or(0, |metadata| metadata.len()),
            modified: since.map(|since| since.as_nanos().to_string()),
        })
    });
    Ok(RunIdentity {
        output: absolute(output),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        format: RunIdentity::FORMAT,
        parameters,
        inputs: inputs.collect::<Result<_>>()?,
    })
}

/// The files of a run before it was stopped, if it was. `restart` discards them.
///
/// # Errors
/// [`Error::Output`] if a run with the same output but other parameters or inputs was stopped.
#[doc(hidden)]
pub fn unfinished(
    run: &RunIdentity,
    temporary: &Path,
    memory: usize,
    restart: bool,
) -> Result<Option<Arc<Spill>>> {
    let Some(unfinished) = Unfinished::find(temporary, &run.output)? else {
        return Ok(None);
    };
    if restart {
        unfinished.discard()?;
        return Ok(None);
    }
    match run.difference_from(&unfinished.run) {
        None => unfinished.resume(memory).map(Some),
        Some(difference) => Err(Error::Output {
            path: (&*run.output).into(),
            problem: format!(
                "another run that writes it was stopped: {}",
                difference.problem
            ),
            remedy: if difference.is_of_file {
                "pass `restart` to discard that run and begin anew"
            } else {
                "repeat that run to go on, or pass `restart` to discard it"
            }
            .to_owned(),
        }),
    }
}

/// Discards the build of an index in a folder that was stopped and could go on, or refuses to with this remedy.
///
/// # Errors
/// [`Error::Output`] if there is such a build and a remedy.
pub(crate) fn discard_build(folder: &Path, remedy: Option<&str>) -> Result<()> {
    let Some(unfinished) = Unfinished::find(folder, &absolute(folder))? else {
        return Ok(());
    };
    match remedy {
        None => unfinished.discard(),
        Some(remedy) => Err(Error::Output {
            path: folder.to_owned(),
            problem: "another build of an index there was stopped, and can go on".to_owned(),
            remedy: remedy.to_owned(),
        }),
    }
}

/// A path from the root, with links resolved. The file, and folders above it, may not exist yet.
pub(super) fn absolute(path: &Path) -> String {
    let real = real_path(path).unwrap_or_else(|_| path.to_owned());
    real.display().to_string()
}

/// Ends a run. If it is complete, removes what it left ([`remove_left`]). Otherwise says whether it can be resumed.
#[doc(hidden)]
pub fn ended<T>(
    run: Result<T>,
    temporary: &Path,
    output: Option<&Path>,
    progress: &dyn Progress,
) -> Result<T> {
    let outcome = run.map_err(|error| resumable(error, temporary, output))?;
    remove_left(temporary, progress);
    Ok(outcome)
}

/// Removes the temporary files that a run whose results are complete could not remove before, and warns of those that stay.
#[doc(hidden)]
pub fn remove_left(temporary: &Path, progress: &dyn Progress) {
    for left in remove_abandoned(temporary) {
        progress.warn(&format!(
            "the results are complete, and the temporary files in {} could not be removed; remove them",
            left.display()
        ));
    }
}

/// Says of the error that ended a run whether the run can be resumed. Removes what runs that cannot be resumed left: one whose
/// results are complete is refused before it gets to its temporary files.
#[doc(hidden)]
pub fn resumable(error: Error, temporary: &Path, output: Option<&Path>) -> Error {
    remove_abandoned(temporary);
    let found = output.and_then(|output| Unfinished::find(temporary, &absolute(output)).ok()?);
    match (found, error) {
        // Its name holds the size and time of each file, so no run goes on with another file.
        (Some(_), Error::InputChanged { path }) => Error::Input {
            path,
            problem: "changed while it was being read, so that the run cannot go on".to_owned(),
            remedy: "run again with `restart` when nothing is writing to it".to_owned(),
        },
        // A refusal to go on is no end of a run, and a damaged file stays damaged.
        (Some(_), error) if !matches!(error, Error::Output { .. } | Error::DamagedSpill { .. }) => {
            Error::Resumable {
                error: Box::new(error),
                temporary: temporary.to_owned(),
            }
        }
        (_, error) => error,
    }
}

#[cfg(test)]
mod tests;
