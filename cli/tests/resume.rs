//! Runs on disk that are stopped, and go on: the results are those of a run that was not stopped.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{
    Numbers, Place, SIMGPU, families, files_in, gzip, lasting_files_in, lines_of, zstd,
};
use serde_json::{Value, json};
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::progress::Progress;
use simgpu::search::{CandidateMethod, Dedup, Pairs, Search, Verification};
use simgpu_files::{Outcome, PairsOutput, Run, RunOptions};
use simgpu_io::{Inputs, KeepBy, OnBadRecord};
use simgpu_passages::{PassageAction, PassageUnits, PassagesRun};

/// So little memory that every stage is on disk.
const MEMORY: u64 = 48 << 10;

/// How many runs of a job are stopped, each once or more.
const TRIALS: u32 = 4;

/// Stops a run at one of its calls.
struct StopAt {
    calls: AtomicUsize,
    last: usize,
}

impl StopAt {
    fn new(last: usize) -> Self {
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
fn place() -> Place {
    place_of(1_500)
}

/// The same with so many groups.
fn place_of(groups: usize) -> Place {
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
    let run = Run::new(engine, &inputs)
        .memory(MEMORY)
        .held_bytes(0)
        .on_bad_record(OnBadRecord::Skip)
        .options(RunOptions {
            progress: &progress,
            overwrite: true,
            ..RunOptions::default()
        });
    let outcome = job(run, output);
    (outcome, progress.calls.into_inner())
}

fn results(place: &Place, output: &str) -> BTreeMap<String, Vec<u8>> {
    let path = place.path(output);
    if path.is_dir() {
        lasting_files_in(&path)
    } else {
        [(String::new(), place.read(output))].into()
    }
}

/// Stops runs of a job at many places, and lets each go on until it is complete.
#[track_caller]
fn stop_and_go_on(place: &Place, engine: &Engine, job: Job<'_>, seed: u64) {
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

fn search(engine: &Engine, verification: Verification) -> Search {
    let mut search = Search::new(0.7, engine.scheme()).unwrap();
    search.verification = verification;
    search
}

#[test]
fn dedup_goes_on() {
    let (place, engine) = (place(), Engine::builder().build().unwrap());
    let seeds = [
        Verification::Exact,
        Verification::Signature,
        Verification::None,
    ];
    for (seed, verification) in (1..).zip(seeds) {
        let mut task = Dedup::new(search(&engine, verification));
        if seed == 2 {
            task.clustering = Clustering::Connected;
            task.keep = KeepPolicy::Longest;
        }
        let job = |run: Run<'_>, output: &Path| match seed {
            3 => run.keep_by(KeepBy::new("score")).dedup(&task, output),
            _ => run.dedup(&task, output),
        };
        stop_and_go_on(&place, &engine, &job, seed);
    }
}

#[test]
fn pairs_go_on() {
    let (place, engine) = (place(), Engine::builder().build().unwrap());
    for (seed, verification) in (4..).zip([Verification::Exact, Verification::Signature]) {
        let task = Pairs::new(search(&engine, verification));
        let job = |run: Run<'_>, output: &Path| {
            let output = output.with_extension("jsonl");
            let found = run.pairs(&task, PairsOutput::File(&output));
            found.inspect(|_| {
                std::fs::rename(&output, output.with_extension("")).unwrap();
            })
        };
        stop_and_go_on(&place, &engine, &job, seed);
    }
}

#[test]
fn joins_go_on() {
    let (place, engine) = (place(), Engine::builder().build().unwrap());
    let mut search = search(&engine, Verification::Exact);
    search.candidates = CandidateMethod::Join;
    let mut task = Dedup::new(search);
    task.clustering = Clustering::Connected;
    let job = |run: Run<'_>, output: &Path| run.dedup(&task, output);
    stop_and_go_on(&place, &engine, &job, 6);
}

/// Starts a command and kills it after a while; returns whether it was still running.
fn is_killed(place: &Place, arguments: &str, delay: Duration) -> bool {
    let child = Command::new(SIMGPU)
        .args(arguments.split_whitespace())
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.unwrap();
    std::thread::sleep(delay);
    let _ = child.kill();
    !child.wait().unwrap().success()
}

/// Kills runs of a command into a folder at many moments, and lets each go on until it is complete.
fn kill_and_go_on(place: &Place, command: &dyn Fn(&str) -> String, trials: u32) {
    std::fs::create_dir(place.path("temporary")).unwrap();
    let start = Instant::now();
    place.run(&command("whole")).succeeded();
    let length = start.elapsed();
    let whole = results(place, "whole");
    let mut numbers = Numbers(9);
    for trial in 0..trials {
        let folder = format!("killed-{trial}");
        let mut kills = 0;
        // Later and later, since other programs may slow a run down.
        let moment = |numbers: &mut Numbers, kills: u32| {
            length.mul_f64(numbers.below(100) as f64 / 80.0 * (1.0 + f64::from(kills) / 10.0))
        };
        while is_killed(place, &command(&folder), moment(&mut numbers, kills)) {
            kills += 1;
            assert!(kills < 200, "{folder} does not end");
        }
        assert!(results(place, &folder) == whole, "{folder} differs");
        assert!(
            files_in(&place.path("temporary")).is_empty(),
            "temporary files remain"
        );
    }
}

#[test]
fn a_killed_run_goes_on() {
    let dedup = |folder: &str| {
        let options = "--memory 48KiB --hold-mib 0 --on-bad-record skip --threshold 0.7 --quiet";
        format!("dedup in {options} --temp-dir temporary --overwrite --output {folder}")
    };
    kill_and_go_on(&place(), &dedup, TRIALS);
}

/// The command of a search for passages.
const PASSAGES: &str =
    "passages in --memory 48KiB --on-bad-record skip --min-length 9 --action cut --min-left 20";

#[test]
fn a_killed_search_for_passages_goes_on() {
    let command =
        |folder: &str| format!("{PASSAGES} --quiet --temp-dir temporary --overwrite -o {folder}");
    kill_and_go_on(&place_of(250), &command, 2);
}

/// Searches for passages, and stops at the call `last` of its progress.
fn find_passages(place: &Place, output: &str, last: usize) -> (simgpu::Result<()>, usize) {
    let inputs = Inputs::find(&[place.path("in")], None).unwrap();
    let progress = StopAt::new(last);
    let units = PassageUnits {
        min_length: 9.try_into().unwrap(),
        ..PassageUnits::default()
    };
    let run = PassagesRun::new(&inputs, units)
        .action(PassageAction::Cut)
        .min_left(20.try_into().unwrap())
        .memory(MEMORY)
        .on_bad_record(OnBadRecord::Skip)
        .options(RunOptions {
            progress: &progress,
            ..RunOptions::default()
        });
    let outcome = run.run(Some(&place.path(output)));
    (outcome.map(|_| ()), progress.calls.into_inner())
}

#[test]
fn searches_for_passages_go_on() {
    let place = place_of(250);
    let (whole, calls) = find_passages(&place, "whole", usize::MAX);
    whole.unwrap();
    let whole = results(&place, "whole");
    let mut resumed = 0;
    for trial in 0..6 {
        let output = format!("stopped-{trial}");
        let mut last = (2 * trial + 1) * calls / 12;
        loop {
            match find_passages(&place, &output, last).0 {
                Ok(()) => break,
                Err(Error::Resumable { error, .. }) => {
                    assert!(matches!(*error, Error::Stopped), "{error}");
                    resumed += 1;
                }
                Err(error) => assert!(matches!(error, Error::Stopped), "{error}"),
            }
            last = last * 3 / 2 + 1;
        }
        assert!(results(&place, &output) == whole, "trial {trial} differs");
    }
    assert!(resumed >= 6, "{resumed} of {calls}");
}

#[test]
fn another_search_for_passages_does_not_go_on() {
    let place = place_of(250);
    let (whole, calls) = find_passages(&place, "whole", usize::MAX);
    whole.unwrap();
    let stopped = find_passages(&place, "out", calls * 2 / 3).0;
    assert!(
        matches!(stopped, Err(Error::Resumable { .. })),
        "{stopped:?}"
    );
    let command = format!("{PASSAGES} -o out");
    for (option, other, difference) in [
        (
            "--min-length 9",
            "--min-length 8",
            "--min-length was 9, and is 8",
        ),
        (
            "--action cut",
            "--action cut --snap lines",
            "--snap was words, and is lines",
        ),
        (
            "passages in",
            "passages in --text-field id",
            "--text-field was text, and is id",
        ),
        (
            "passages in",
            "passages in --limit 9",
            "--limit was not given, and is 9",
        ),
    ] {
        let command = command.replace(option, other);
        place.run(&command).refused(1, &[difference, "--restart"]);
    }
    let partial = place.path("out/.partial");
    let folders = std::fs::read_dir(&partial).unwrap();
    let mut folders = folders.map(|entry| entry.unwrap().path());
    let spill = folders.find(|path| path.is_dir()).unwrap();
    let files: Vec<_> = std::fs::read_dir(&spill).unwrap().collect();
    assert!(files.len() > 4);
    for name in ["checkpoint.json", "run.json", "ids-0", "log-0", "starts-0"] {
        let path = spill.join(name);
        let intact = std::fs::read(&path).unwrap();
        let mut damaged = intact.clone();
        damaged[intact.len() / 2] ^= 4;
        std::fs::write(&path, damaged).unwrap();
        let copy = place.path("copy");
        copy_folder(&place.path("out"), &copy);
        place.run(&command).refused(1, &[name, "--restart"]);
        std::fs::remove_dir_all(place.path("out")).unwrap();
        std::fs::rename(copy, place.path("out")).unwrap();
        std::fs::write(&path, &intact).unwrap();
    }
    let going_on = place.run(&format!("{command} --threads 3")).succeeded();
    let told = "going on where the run was stopped";
    assert!(going_on.stderr.contains(told), "{}", going_on.stderr);
    assert!(results(&place, "out") == results(&place, "whole"));
    let stopped = find_passages(&place, "anew", calls / 2).0;
    assert!(
        matches!(stopped, Err(Error::Resumable { .. })),
        "{stopped:?}"
    );
    let mut changed = place.read("in/d.jsonl.zst");
    changed.extend(zstd(b"{\"id\": 1, \"text\": \"another\"}\n"));
    place.write("in/d.jsonl.zst", changed);
    let command = format!("{PASSAGES} -o anew");
    let changed = "d.jsonl.zst has changed; pass --restart to discard that run";
    place.run(&command).refused(1, &[changed]);
    let anew = place.run(&format!("{command} --restart")).succeeded();
    assert!(!anew.stderr.contains("going on"), "{}", anew.stderr);
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
fn leave_stopped(place: &Place) {
    let engine = Engine::builder().build().unwrap();
    let task = Dedup::new(search(&engine, Verification::Exact));
    let inputs = Inputs::find(&[place.path("in")], None).unwrap();
    let stopped = Run::new(&engine, &inputs)
        .memory(MEMORY)
        .held_bytes(0)
        .on_bad_record(OnBadRecord::Skip)
        .options(RunOptions {
            progress: &StopAfter(2_600),
            ..RunOptions::default()
        })
        .dedup(&task, &place.path("out"));
    assert!(
        matches!(stopped, Err(Error::Resumable { .. })),
        "{stopped:?}"
    );
}

/// The command of the run that [`leave_stopped`] leaves.
const STOPPED: &str =
    "dedup in --memory 48KiB --hold-mib 0 --on-bad-record skip --threshold 0.7 --output out";

#[test]
fn another_run_does_not_go_on() {
    let place = place();
    leave_stopped(&place);
    for (options, difference) in [
        ("--threshold 0.8", "--threshold was 0.7, and is 0.8"),
        (
            "--threshold 0.7 --cluster connected",
            "--cluster was greedy, and is connected",
        ),
        (
            "--threshold 0.7 --keep-by score",
            "--keep-by was not given, and is score:desc",
        ),
        (
            "--threshold 0.7 --text-field id",
            "--text-field was text, and is id",
        ),
        (
            "--threshold 0.7 --limit 9",
            "--limit was not given, and is 9",
        ),
    ] {
        let command = STOPPED.replace("--threshold 0.7", options);
        place.run(&command).refused(1, &[difference, "--restart"]);
    }
    let fewer = STOPPED.replace("dedup in", "dedup in/a.jsonl in/b");
    place.run(&fewer).refused(1, &["it reads 3 files, not 2"]);
    let mut changed = place.read("in/d.jsonl.zst");
    changed.extend(zstd(b"{\"id\": 1, \"text\": \"another\"}\n"));
    place.write("in/d.jsonl.zst", changed);
    let error = place.run(STOPPED);
    let error = error.refused(
        1,
        &["d.jsonl.zst has changed; pass --restart to discard that run"],
    );
    // With another file, the stopped run cannot be repeated.
    assert!(
        !error.stderr.contains("repeat that run"),
        "{}",
        error.stderr
    );
    let anew = place.run(&format!("{STOPPED} --restart")).succeeded();
    assert!(!anew.stderr.contains("going on"), "{}", anew.stderr);
    place
        .run(&STOPPED.replace("--output out", "--output whole"))
        .succeeded();
    assert!(results(&place, "out") == results(&place, "whole"));
}

#[test]
fn the_command_says_that_it_goes_on() {
    let place = place();
    leave_stopped(&place);
    // What does not affect the result may change.
    let going_on = place.run(&format!("{STOPPED} --threads 5").replace("48KiB", "64KiB"));
    let going_on = going_on.succeeded();
    assert!(
        going_on
            .stderr
            .contains("going on where the run was stopped"),
        "{}",
        going_on.stderr
    );
    place
        .run(&STOPPED.replace("--output out", "--output whole"))
        .succeeded();
    assert!(results(&place, "out") == results(&place, "whole"));
}

#[test]
fn a_bad_record_of_a_stopped_run_is_still_refused() {
    let place = place();
    leave_stopped(&place);
    let strict = STOPPED.replace("skip", "fail");
    place.run(&strict).refused(1, &["in/a.jsonl", "line 2501"]);
    place.run(STOPPED).succeeded();
}

#[test]
fn damaged_files_of_a_stopped_run_are_refused() {
    let place = place();
    leave_stopped(&place);
    let partial = place.path("out/.partial");
    let folders = std::fs::read_dir(&partial).unwrap();
    let mut folders = folders.map(|entry| entry.unwrap().path());
    let spill = folders.find(|path| path.is_dir()).unwrap();
    let name = |file: &str| {
        let name = spill.file_name().unwrap().to_str().unwrap();
        format!("out/.partial/{name}/{file}")
    };
    for file in [
        "checkpoint.json",
        "run.json",
        "ids-0",
        "digests-3",
        "band-2-7",
        "log-0",
        "lengths-0",
    ] {
        let intact = place.read(&name(file));
        for at in [0, intact.len() / 2, intact.len() - 1] {
            let mut damaged = intact.clone();
            damaged[at] ^= 4;
            place.write(&name(file), damaged);
            let copy = place.path("copy");
            copy_folder(&place.path("out"), &copy);
            place.run(STOPPED).refused(1, &[file, "--restart"]);
            std::fs::remove_dir_all(place.path("out")).unwrap();
            std::fs::rename(copy, place.path("out")).unwrap();
            place.write(&name(file), &intact);
        }
    }
    place.run(STOPPED).succeeded();
}

fn copy_folder(from: &Path, to: &Path) {
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
