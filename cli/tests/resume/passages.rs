//! Searches for passages.

use simgpu::Error;
use simgpu_files::RunOptions;
use simgpu_io::{Inputs, OnBadRecord};
use simgpu_passages::{PassageAction, PassageUnits, PassagesRun};

use super::jobs::{MEMORY, StopAt, copy_folder, place_of, results};
use super::kill_and_go_on;
use crate::support::{Place, zstd};

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
    let run = PassagesRun {
        action: PassageAction::Cut,
        min_left: Some(20.try_into().unwrap()),
        memory: Some(MEMORY),
        on_bad_record: OnBadRecord::Skip,
        options: RunOptions {
            progress: &progress,
            ..RunOptions::default()
        },
        ..PassagesRun::new(&inputs, units)
    };
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
