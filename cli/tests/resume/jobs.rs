//! Runs that are stopped, and go on.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::progress::Progress;
use simgpu::search::{Dedup, Search, Verification};
use simgpu_files::{Outcome, Run, RunOptions};
use simgpu_io::{Inputs, OnBadRecord};

use crate::support::{Numbers, Place, families, gzip, lasting_files_in, lines_of, zstd};

/// So little memory that every stage is on disk.
pub(super) const MEMORY: u64 = 48 << 10;

/// How many runs of a job are stopped, each once or more.
pub(super) const TRIALS: u32 = 4;

/// Stops a run at one of its calls.
pub(super) struct StopAt {
    pub(super) calls: AtomicUsize,
    last: usize,
}

impl StopAt {
    pub(super) fn new(last: usize) -> Self {
        StopAt {
            calls: AtomicUsize::new(0),
            last,
        }
    }
}

impl Progress for StopAt {
    fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Documents in groups of edited copies, in three files of several chunks, with a few bad records.
pub(super) fn place() -> Place {
    place_of(1_500)
}

/// The same with so many groups.
pub(super) fn place_of(groups: usize) -> Place {
    let place = Place::new();
    let mut numbers = Numbers(3);
    let texts = families(groups, 4, 60);
    let mut records = texts
        .iter()
        .enumerate()
        .map(|(i, text)| json!({"id": format!("d{i}"), "text": text, "score": numbers.below(9)}));
    let mut file = |count: usize| {
        let mut lines = lines_of(records.by_ref().take(count));
        lines.extend_from_slice(b"{\"id\": 3}\n");
        lines
    };
    place.write("in/a.jsonl", file(groups * 5 / 3));
    place.write("in/b/c.jsonl.gz", gzip(&file(groups / 3)));
    place.write("in/d.jsonl.zst", zstd(&file(groups * 2)));
    place
}

/// A job to stop: its result in a folder or file of this name.
type Job<'a> = &'a dyn Fn(Run<'_>, &Path) -> simgpu::Result<Outcome>;

/// Makes one run, which stops at the call `last` of its progress.
fn run(
    place: &Place,
    engine: &Engine,
    job: Job<'_>,
    output: &Path,
    last: usize,
) -> (simgpu::Result<Outcome>, usize) {
    let inputs = Inputs::find(&[place.path("in")], None).unwrap();
    let progress = StopAt::new(last);
    let run = Run {
        memory: Some(MEMORY),
        held_bytes: 0,
        on_bad_record: OnBadRecord::Skip,
        options: RunOptions {
            progress: &progress,
            overwrite: true,
            ..RunOptions::default()
        },
        ..Run::new(engine, &inputs)
    };
    let outcome = job(run, output);
    (outcome, progress.calls.into_inner())
}

pub(super) fn results(place: &Place, output: &str) -> BTreeMap<String, Vec<u8>> {
    let path = place.path(output);
    if path.is_dir() {
        lasting_files_in(&path)
    } else {
        [(String::new(), place.read(output))].into()
    }
}

/// Stops runs of a job at many places, and lets each go on until it is complete.
#[track_caller]
pub(super) fn stop_and_go_on(place: &Place, engine: &Engine, job: Job<'_>, seed: u64) {
    let (whole, calls) = run(place, engine, job, &place.path("whole"), usize::MAX);
    whole.unwrap();
    let whole = results(place, "whole");
    let mut numbers = Numbers(seed);
    let mut resumed = 0;
    for trial in 0..TRIALS {
        let name = format!("stopped-{trial}");
        let output = place.path(&name);
        let mut last = numbers.below(calls);
        loop {
            match run(place, engine, job, &output, last).0 {
                Ok(_) => break,
                Err(Error::Resumable { error, .. }) => {
                    assert!(matches!(*error, Error::Stopped), "{error}");
                    resumed += 1;
                }
                Err(error) => assert!(matches!(error, Error::Stopped), "{error}"),
            }
            last = numbers.below(calls * 2);
        }
        let stopped = results(place, &name);
        assert!(stopped == whole, "trial {trial} differs");
        if output.is_dir() {
            let record: Value =
                serde_json::from_slice(&place.read(&format!("{name}/run.json"))).unwrap();
            assert!(record["resumed"].is_u64());
            let left = std::fs::read_dir(&output).unwrap().filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().starts_with('.')
            });
            assert_eq!(left.count(), 0, "temporary files remain");
        }
    }
    assert!(resumed >= TRIALS / 2, "{resumed} of {calls}");
}

pub(super) fn search(engine: &Engine, verification: Verification) -> Search {
    let mut search = Search::new(0.7, engine.scheme()).unwrap();
    search.verification = verification;
    search
}

/// Stops a run when it has read this many documents.
struct StopAfter(u64);

impl Progress for StopAfter {
    fn advance(&self, _: u64, documents: u64, _: u64) -> ControlFlow<()> {
        if documents >= self.0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Leaves a run of `dedup in` into `out` that was stopped after a checkpoint.
pub(super) fn leave_stopped(place: &Place) {
    let engine = Engine::builder().build().unwrap();
    let task = Dedup::new(search(&engine, Verification::Exact));
    let inputs = Inputs::find(&[place.path("in")], None).unwrap();
    let stopped = Run {
        memory: Some(MEMORY),
        held_bytes: 0,
        on_bad_record: OnBadRecord::Skip,
        options: RunOptions {
            progress: &StopAfter(2_600),
            ..RunOptions::default()
        },
        ..Run::new(&engine, &inputs)
    }
    .dedup(&task, &place.path("out"));
    assert!(
        matches!(stopped, Err(Error::Resumable { .. })),
        "{stopped:?}"
    );
}

/// The command of the run that [`leave_stopped`] leaves.
pub(super) const STOPPED: &str =
    "dedup in --memory 48KiB --hold-mib 0 --on-bad-record skip --threshold 0.7 --output out";

pub(super) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to)
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
