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
        let run = Run {
            memory: Some(LITTLE),
            held_bytes: 0,
            ..skipping(engine, &inputs)
        };
        job(
            Run {
                options: watched_by(told),
                ..run
            },
            &place.path(name),
        )
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
        let results = |place: &Place, name: &str| format!("{:?}", place.results(name)).into_bytes();
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
        let texts = [".jsonl", ".jsonl.report.json"].map(|end| place.text(&format!("{name}{end}")));
        texts.concat().into_bytes()
    };
    stop_and_go_on(&engine(), &job, &results);
}

/// A run that was stopped when it had read everything.
fn stopped(place: &Place, inputs: &Inputs) {
    let engine = engine();
    let told = Watched::at("compare", 0, &|| ());
    let stop = StopIn(&told);
    let run = Run {
        memory: Some(LITTLE),
        options: watched_by(&stop),
        ..skipping(&engine, inputs)
    };
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
        let run = Run {
            memory: Some(LITTLE),
            temporary: Some(temporary.clone()),
            ..skipping(&engine, &inputs)
        };
        Run { options, ..run }.dedup(&task(&engine), &out)
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
    let run = Run {
        temporary: Some(place.path("tmp")),
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
    run.dedup(&task(&engine), &place.path("out")).unwrap();
    assert!(told.has("simgpu-spill-x could not be removed"));
    std::fs::remove_dir_all(place.path("tmp/simgpu-spill-x/folder")).unwrap();
    let told = Watched::stop_at(usize::MAX);
    let run = Run {
        temporary: Some(place.path("tmp")),
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
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
    let run = || Run {
        memory: Some(LITTLE),
        ..skipping(&engine, &inputs)
    };
    let refused = run().dedup(&other, &out).unwrap_err().to_string();
    assert!(
        refused.contains("`threshold` was 0.5, and is 0.7"),
        "{refused}"
    );
    let restarted = Run {
        restart: true,
        ..run()
    };
    let outcome = restarted.dedup(&other, &out).unwrap();
    assert_eq!(outcome.resumed, 0);
}

#[test]
fn a_run_that_begins_anew_reads_anew() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    stopped(&place, &inputs);
    let run = Run {
        memory: Some(LITTLE),
        restart: true,
        ..skipping(&engine, &inputs)
    };
    let outcome = run.dedup(&task(&engine), &place.path("out")).unwrap();
    assert_eq!(outcome.resumed, 0);
}

#[test]
fn bad_records_that_were_skipped_are_found_again() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    stopped(&place, &inputs);
    let run = Run {
        memory: Some(LITTLE),
        on_bad_record: OnBadRecord::Fail,
        ..skipping(&engine, &inputs)
    };
    let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
    let is_bad = |error: &Error| matches!(error, Error::BadRecord(_));
    let found = match &failed {
        Error::Resumable { error, .. } => is_bad(error),
        error => is_bad(error),
    };
    assert!(found, "{failed}");
}
