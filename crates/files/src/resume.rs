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
        by_name(
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
        by_name(&PairsParameters::new(task), [compression_level])
    }
}

/// What a report says, by name, and what decides the outputs beside it.
#[doc(hidden)]
pub fn by_name<const N: usize>(reported: &impl Serialize, others: [(&str, Value); N]) -> ByName {
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
        let mut of_run = parameters;
        let indexes = self.run.indexes.iter();
        let indexes: Vec<String> = indexes
            .map(|index| index.identity())
            .collect::<Result<_>>()?;
        if !indexes.is_empty() {
            of_run.insert("against_index".to_owned(), json!(indexes.join(", ")));
        }
        let files = &self.files[indexes.len()..];
        (self.run).identity(output, search, of_run, files, self.of_reference)
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
        of_reference: usize,
    ) -> Result<RunIdentity> {
        let mut all = by_name(&self.parameters(Some(search)), []);
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
        if of_reference > 0 {
            all.insert("against".to_owned(), json!(of_reference));
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
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tests::{
        LITTLE, Place, Watched, engine, engine_of_bytes, place, skipping, task, watched_by,
    };
    use crate::{Outcome, PairsOutput, RunOptions};
    use simgpu::engine::Engine;
    use simgpu::search::Verification;
    use simgpu_io::{Inputs, OnBadRecord};

    /// A job: its results in a folder or file of this name.
    type Job<'a> = &'a dyn Fn(Run<'_>, &Path) -> Result<Outcome>;

    /// Stops runs of a job at many places, and lets each go on.
    fn stop_and_go_on(engine: &Engine, job: Job<'_>, results: &dyn Fn(&Place, &str) -> Vec<u8>) {
        let place = place();
        let inputs = place.inputs();
        let run = |name: &str, told: &Watched<'_>| {
            let run = skipping(engine, &inputs).memory(LITTLE).held_bytes(0);
            job(run.options(watched_by(told)), &place.path(name))
        };
        let told = Watched::stop_at(usize::MAX);
        run("whole", &told).unwrap();
        let calls = told.calls.into_inner();
        let whole = results(&place, "whole");
        let mut resumed = 0;
        for trial in 0..8 {
            let name = format!("stopped-{trial}");
            match run(&name, &Watched::stop_at((2 * trial + 1) * calls / 16)) {
                Err(Error::Resumable { error, .. }) => assert!(matches!(*error, Error::Stopped)),
                Err(Error::Stopped) => {}
                Err(error) => panic!("{error}"),
                // Fewer calls than before: how many there are depends on time.
                Ok(_) => continue,
            }
            let outcome = run(&name, &Watched::stop_at(usize::MAX)).unwrap();
            resumed += outcome.resumed;
            assert!(results(&place, &name) == whole, "{trial} of {calls}");
        }
        assert!(resumed > 0, "{resumed}");
    }

    #[test]
    fn a_stopped_deduplication_goes_on() {
        for (engine, verification) in [
            (engine_of_bytes(), Verification::Exact),
            (engine(), Verification::Signature),
        ] {
            let job = |run: Run<'_>, output: &Path| {
                let search = crate::tests::search(run.engine, verification);
                run.dedup(&Dedup::new(search), output)
            };
            let results =
                |place: &Place, name: &str| format!("{:?}", place.results(name)).into_bytes();
            stop_and_go_on(&engine, &job, &results);
        }
    }

    #[test]
    fn a_stopped_search_for_pairs_goes_on() {
        let job = |run: Run<'_>, output: &Path| {
            let search = crate::tests::search(run.engine, Verification::Exact);
            let output = output.with_extension("jsonl");
            run.pairs(&Pairs::new(search), PairsOutput::File(&output))
        };
        let results = |place: &Place, name: &str| {
            let texts =
                [".jsonl", ".jsonl.report.json"].map(|end| place.text(&format!("{name}{end}")));
            texts.concat().into_bytes()
        };
        stop_and_go_on(&engine(), &job, &results);
    }

    /// A run that was stopped when it had read everything.
    fn stopped(place: &Place, inputs: &Inputs) {
        let engine = engine();
        let told = Watched::at("compare", 0, &|| ());
        let stop = StopIn(&told);
        let run = skipping(&engine, inputs)
            .memory(LITTLE)
            .options(watched_by(&stop));
        let stopped = run.dedup(&task(&engine), &place.path("out"));
        assert!(
            matches!(stopped, Err(Error::Resumable { .. })),
            "{stopped:?}"
        );
    }

    /// Stops a run as soon as it compares.
    struct StopIn<'a>(&'a Watched<'a>);

    impl simgpu::progress::Progress for StopIn<'_> {
        fn begin(&self, stage: &'static str, _: u64) {
            if stage == "compare" {
                self.0.calls.store(1, std::sync::atomic::Ordering::Relaxed);
            }
        }

        fn is_stopped(&self) -> bool {
            self.0.calls.load(std::sync::atomic::Ordering::Relaxed) > 0
        }

        fn advance(&self, _: u64, _: u64, _: u64) -> std::ops::ControlFlow<()> {
            if self.is_stopped() {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        }
    }

    /// The folders of temporary files in a folder, with the files of each.
    fn left_in(folder: &Path) -> Vec<(PathBuf, Vec<PathBuf>)> {
        let paths = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap();
            entries
                .map(|entry| entry.unwrap().path())
                .collect::<Vec<_>>()
        };
        let folders = paths(folder).into_iter();
        folders
            .map(|folder| (folder.clone(), paths(&folder)))
            .collect()
    }

    #[cfg(unix)]
    #[test]
    fn what_a_complete_run_left_is_removed_and_what_a_stopped_one_left_is_kept() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let (out, temporary) = (place.path("out"), place.path("temporary"));
        std::fs::create_dir(&temporary).unwrap();
        let run = |options| {
            let run = skipping(&engine, &inputs)
                .memory(LITTLE)
                .temporary(temporary.clone());
            run.options(options).dedup(&task(&engine), &out)
        };
        let told = Watched::at("compare", 0, &|| ());
        let stop = StopIn(&told);
        let refused = || {
            let refused = run(RunOptions::default()).unwrap_err().to_string();
            assert!(refused.contains("overwrite"), "{refused}");
        };
        assert!(run(watched_by(&stop)).is_err());
        let [(folder, files)] = &left_in(&temporary)[..] else {
            panic!("one folder");
        };
        // With the times that they have.
        let copies = files.iter().map(|file| {
            let bytes = std::fs::read(file).unwrap();
            (file, bytes, file.metadata().unwrap().modified().unwrap())
        });
        let copies: Vec<_> = copies.collect();
        run(RunOptions::default()).unwrap();
        assert!(left_in(&temporary).is_empty());
        // As if the run had been killed when the results had their names.
        std::fs::create_dir(folder).unwrap();
        for (file, bytes, modified) in copies {
            std::fs::write(file, bytes).unwrap();
            let file = std::fs::File::options().append(true).open(file).unwrap();
            file.set_modified(modified).unwrap();
        }
        refused();
        assert!(left_in(&temporary).is_empty());
        // A run that would replace the results was stopped: it can be resumed.
        let told = Watched::at("compare", 0, &|| ());
        let stop = StopIn(&told);
        assert!(
            run(RunOptions {
                overwrite: true,
                ..watched_by(&stop)
            })
            .is_err()
        );
        assert_eq!(left_in(&temporary).len(), 1);
        refused();
        assert_eq!(left_in(&temporary).len(), 1);
        let outcome = run(RunOptions {
            overwrite: true,
            ..RunOptions::default()
        })
        .unwrap();
        assert_eq!(outcome.resumed, 1);
        assert!(left_in(&temporary).is_empty());
    }

    #[test]
    fn temporary_files_that_stay_are_reported() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        // A run makes no folders there.
        place.write("tmp/simgpu-spill-x/.lock", "");
        place.write("tmp/simgpu-spill-x/folder/file", "");
        let told = Watched::stop_at(usize::MAX);
        let run = skipping(&engine, &inputs).temporary(place.path("tmp"));
        let run = run.options(watched_by(&told));
        run.dedup(&task(&engine), &place.path("out")).unwrap();
        assert!(told.has("simgpu-spill-x could not be removed"));
        std::fs::remove_dir_all(place.path("tmp/simgpu-spill-x/folder")).unwrap();
        let told = Watched::stop_at(usize::MAX);
        let run = skipping(&engine, &inputs).temporary(place.path("tmp"));
        let run = run.options(watched_by(&told));
        run.dedup(&task(&engine), &place.path("again")).unwrap();
        assert!(!told.has("could not be removed"));
        assert!(left_in(&place.path("tmp")).is_empty());
    }

    #[test]
    fn another_run_is_refused_unless_it_begins_anew() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        stopped(&place, &inputs);
        let out = place.path("out");
        let mut other = task(&engine);
        other.search.threshold = 0.7;
        let run = || skipping(&engine, &inputs).memory(LITTLE);
        let refused = run().dedup(&other, &out).unwrap_err().to_string();
        assert!(
            refused.contains("`threshold` was 0.5, and is 0.7"),
            "{refused}"
        );
        let outcome = run().restart(true).dedup(&other, &out).unwrap();
        assert_eq!(outcome.resumed, 0);
    }

    #[test]
    fn a_run_that_begins_anew_reads_anew() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        stopped(&place, &inputs);
        let run = skipping(&engine, &inputs).memory(LITTLE).restart(true);
        let outcome = run.dedup(&task(&engine), &place.path("out")).unwrap();
        assert_eq!(outcome.resumed, 0);
    }

    #[test]
    fn bad_records_that_were_skipped_are_found_again() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        stopped(&place, &inputs);
        let run = skipping(&engine, &inputs).memory(LITTLE);
        let run = run.on_bad_record(OnBadRecord::Fail);
        let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
        let is_bad = |error: &Error| matches!(error, Error::BadRecord(_));
        let found = match &failed {
            Error::Resumable { error, .. } => is_bad(error),
            error => is_bad(error),
        };
        assert!(found, "{failed}");
    }
}
