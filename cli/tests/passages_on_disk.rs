//! `simgpu passages` on disk: a document that memory does not hold, a full disk, and a run that turns to disk late.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use simgpu::Error;
use simgpu::progress::Progress;
use simgpu_files::RunOptions;
use simgpu_io::Inputs;
use simgpu_passages::{PassageAction, PassageUnit, PassageUnits, PassagesRun};

use crate::support::{Numbers, Place, lasting_files_in};

/// A document of so many equal letters.
fn letters(count: usize) -> String {
    format!("{}\n", json!({"id": "long", "text": "a".repeat(count)}))
}

#[test]
fn a_document_that_memory_does_not_hold_is_named() {
    let place = Place::new();
    let lines = json!({"id": 1, "text": "short"}).to_string() + "\n" + &letters(20_000_000);
    place.write("in.jsonl", lines);
    let command = "passages in.jsonl --unit bytes -o out --overwrite --quiet --action cut";
    place.run(&format!("{command} --memory 32MiB")).refused(
        1,
        &[
            "in.jsonl: the record that starts on line 2 takes 20 MiB",
            "--memory (32 MiB) leaves 12 MiB for one; raise --memory to 54 MiB, or shorten the record",
        ],
    );
    assert!(!place.holds("out/report.json"));
    place.run(&format!("{command} --memory 56MiB")).succeeded();
    let on_disk = lasting_files_in(&place.path("out"));
    place.run(command).succeeded();
    assert!(on_disk == lasting_files_in(&place.path("out")));
}

/// Random letters, of which parts repeat.
fn texts(documents: usize) -> Vec<u8> {
    let mut numbers = Numbers(5);
    let mut lines = String::new();
    let mut last = String::new();
    for id in 0..documents {
        let mut text: String = (0..1_500)
            .map(|_| char::from(b"abcdefghijklmnop"[numbers.below(16)]))
            .collect();
        if id % 5 == 4 {
            text += &last[..600];
        }
        lines += &format!("{}\n", json!({"id": id, "text": text}));
        last = text;
    }
    lines.into_bytes()
}

/// Runs a script in which `$SIMGPU` is the command and `full` a disk of 64 KiB, and returns its errors; `None` where nobody may
/// mount one.
#[cfg(target_os = "linux")]
fn with_full_disk(place: &Place, script: &str) -> Option<String> {
    std::fs::create_dir(place.path("full")).unwrap();
    let mount = "mount -t tmpfs -o size=64k none full || exit 77";
    let output = std::process::Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("{mount}; {script}"))
        .env("SIMGPU", crate::support::SIMGPU)
        .current_dir(place.path(""))
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Some(errors),
        Some(77) => None,
        _ if errors.starts_with("unshare: ") => None,
        code => panic!("{code:?}: {errors}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "says that it is skipped")]
fn a_search_on_a_full_disk_goes_on_with_more_room() {
    let place = Place::new();
    place.write("in.jsonl", texts(400));
    let command = "passages in.jsonl --unit bytes --action cut --memory 48KiB";
    place.run(&format!("{command} -o whole")).succeeded();
    let run = format!("$SIMGPU {command} --temp-dir full -o out");
    let script = format!(
        "{run}; echo code $? >&2; test -e out/report.json && exit 9; \
         mount -o remount,size=64m full && {run}; echo code $? >&2"
    );
    let Some(errors) = with_full_disk(&place, &script) else {
        eprintln!("skipped: no disk can be mounted here");
        return;
    };
    let full = errors.find("cannot write");
    let full = full.unwrap_or_else(|| panic!("{errors}"));
    let codes = ["code 1", "code 0"].map(|code| errors.find(code));
    assert!(Some(full) < codes[0] && codes[0] < codes[1], "{errors}");
    assert!(
        errors.contains("free some space, or choose another disk"),
        "{errors}"
    );
    let [whole, found] = ["whole", "out"].map(|folder| lasting_files_in(&place.path(folder)));
    assert!(whole == found);
}

/// Notes the stages of a run, and stops it at a call.
struct StoppingProgress {
    calls: AtomicUsize,
    last: usize,
    begun: Mutex<Vec<&'static str>>,
}

impl Progress for StoppingProgress {
    fn begin(&self, stage: &'static str, _: u64) {
        self.begun.lock().unwrap().push(stage);
    }

    fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Runs a search that stops at the call `last`, and returns its stages and calls.
fn search(
    place: &Place,
    output: &str,
    memory: u64,
    last: usize,
) -> (simgpu::Result<()>, Vec<&'static str>, usize) {
    let inputs = Inputs::find(&[place.path("in.jsonl")], None).unwrap();
    let progress = StoppingProgress {
        calls: AtomicUsize::new(0),
        last,
        begun: Mutex::default(),
    };
    let find = || {
        let run = PassagesRun {
            action: PassageAction::Cut,
            memory: Some(memory),
            options: RunOptions {
                progress: &progress,
                overwrite: true,
                ..RunOptions::default()
            },
            ..PassagesRun::new(&inputs, PassageUnits::of(PassageUnit::Bytes))
        };
        run.run(Some(&place.path(output)))
    };
    // A thread looks at its memory after each million symbols: several would have fewer here.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let outcome = pool.unwrap().install(find);
    let stages = progress.begun.into_inner().unwrap();
    (outcome.map(|_| ()), stages, progress.calls.into_inner())
}

#[test]
fn a_search_that_turns_to_disk_late_goes_on() {
    let place = Place::new();
    place.write("in.jsonl", texts(900));
    search(&place, "whole", 1 << 30, usize::MAX).0.unwrap();
    // The least memory that holds the texts, but not what the search enters.
    let begins_in_memory = |memory: u64| {
        let (outcome, stages, _) = search(&place, "out", memory, usize::MAX);
        outcome.unwrap();
        stages.starts_with(&["read", "compare"]).then_some(stages)
    };
    let (mut less, mut memory) = (4 << 20, 16 << 20);
    let mut stages = begins_in_memory(memory).unwrap();
    while memory - less > 2 << 10 {
        let between = less.midpoint(memory);
        match begins_in_memory(between) {
            Some(of_run) => (memory, stages) = (between, of_run),
            None => less = between,
        }
    }
    assert!(
        stages.starts_with(&["read", "compare", "read"]),
        "{stages:?}"
    );
    search(&place, "out", memory, usize::MAX).0.unwrap();
    let whole = lasting_files_in(&place.path("whole"));
    assert!(whole == lasting_files_in(&place.path("out")));
    let (_, _, calls) = search(&place, "out", memory, usize::MAX);
    let mut resumed = 0;
    for trial in 1..6 {
        let output = format!("stopped-{trial}");
        let mut last = calls * trial / 6;
        while let (Err(error), ..) = search(&place, &output, memory, last) {
            match error {
                Error::Resumable { .. } => resumed += 1,
                error => assert!(matches!(error, Error::Stopped), "{error}"),
            }
            last = last * 3 / 2 + 1;
        }
        assert!(whole == lasting_files_in(&place.path(&output)), "{trial}");
    }
    assert!(resumed > 1, "{resumed} of {calls}");
}
