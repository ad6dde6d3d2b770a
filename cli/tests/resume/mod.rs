//! Runs on disk that are stopped, and go on: the results are those of a run that was not stopped.

mod jobs;

mod passages;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use simgpu::engine::Engine;
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::search::{CandidateMethod, Dedup, Pairs, Verification};
use simgpu_files::{PairsOutput, Run};
use simgpu_io::KeepBy;

use crate::support::{Numbers, Place, SIMGPU, files_in, zstd};

use jobs::{STOPPED, TRIALS, copy_folder, leave_stopped, place, results, search, stop_and_go_on};

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
            3 => Run {
                keep_by: Some(KeepBy::new("score")),
                ..run
            }
            .dedup(&task, output),
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
