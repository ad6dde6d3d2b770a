//! Ctrl-C, SIGTERM and SIGHUP: a run ends with one line and an exit code of its own, and leaves nothing behind.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Numbers, Place, SIMGPU, families, files_in, gzip, numbered_lines};

/// How many runs of a command are stopped.
const STOPS: u32 = 20;

/// A signal, the exit code of a process that it stopped, and the word for it.
const SIGNALS: &[(&str, i32, &str)] = &[
    ("INT", 130, "Ctrl-C"),
    ("TERM", 143, "SIGTERM"),
    #[cfg(target_os = "linux")]
    ("HUP", 129, "SIGHUP"),
];

/// A corpus large enough that a run can be stopped midway, and a folder for temporary files.
fn corpus() -> Place {
    let texts = families(1_000, 4, 120);
    let place = Place::new();
    let (first, rest) = texts.split_at(2_000);
    place.write("docs/a.jsonl", numbered_lines(first, 0));
    place.write("docs/b.jsonl.gz", gzip(&numbered_lines(rest, 2_000)));
    place.write("temporary/keep", "");
    place
}

fn start(place: &Place, arguments: &str, stdin: Stdio) -> Child {
    Command::new(SIMGPU)
        .args(arguments.split_whitespace())
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("temporary"))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: &str, child: &Child) {
    let kill = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    // A run that has ended cannot be signalled any more.
    let _ = kill.unwrap();
}

/// The files of a place, without times and temporary folders that are empty.
fn contents(place: &Place) -> BTreeMap<String, Vec<u8>> {
    files_in(&place.path(""))
}

/// What a child printed, and how it ended: by its exit code, or by the signal before it could listen.
fn ending(child: Child) -> (String, i32) {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let by_signal = output.status.signal().map(|signal| 128 + signal);
    (stderr, output.status.code().or(by_signal).unwrap())
}

/// Stops runs of a command at moments spread over its duration. Each leaves the results of an earlier run, and
/// everything else, as they were.
fn stop_repeatedly(command: &str) {
    let place = corpus();
    let began = Instant::now();
    let (stderr, code) = ending(start(&place, command, Stdio::null()));
    assert_eq!(code, 0, "{stderr}");
    let mut length = began.elapsed();
    let before = contents(&place);
    let mut numbers = Numbers(7);
    let mut stopped = 0;
    while stopped < STOPS {
        let (signal, expected, word) = SIGNALS[stopped as usize % SIGNALS.len()];
        let within = numbers.below(1_000) as f64 / 1_000.0;
        let moment = length.mul_f64((f64::from(stopped) + within) / f64::from(STOPS));
        let child = start(&place, command, Stdio::null());
        std::thread::sleep(moment);
        send(signal, &child);
        let (stderr, code) = ending(child);
        if code == 0 {
            // It was over before the signal came.
            length = length.mul_f64(0.9);
        } else {
            stopped += 1;
            assert_eq!(code, expected, "{command} after {moment:?}: {stderr}");
            let line = format!("simgpu: stopped by {word} before the run was complete\n");
            // The signal may come before the program listens.
            assert!(stderr.is_empty() || stderr == line, "{command}: {stderr}");
        }
        let after = contents(&place);
        let run_record = "out/run.json";
        for (name, bytes) in &after {
            let is_same = before.get(name) == Some(bytes) || name == run_record;
            assert!(is_same, "{command} after {moment:?} left {name}");
        }
        assert_eq!(before.len(), after.len(), "{command} after {moment:?}");
    }
}

#[test]
fn a_stopped_dedup_leaves_the_earlier_result() {
    stop_repeatedly("dedup docs --output out --overwrite --quiet --verify exact --hold-mib 0");
}

#[test]
fn stopped_pairs_leave_no_temporary_file() {
    stop_repeatedly("pairs docs --output - --quiet --threshold 0.5 --verify exact");
}

#[test]
fn stopped_pairs_leave_the_earlier_file() {
    stop_repeatedly("pairs docs --output pairs.csv --overwrite --quiet --threshold 0.5");
}

#[test]
fn a_stopped_sign_leaves_the_earlier_files() {
    stop_repeatedly("sign docs --output signatures.npy --overwrite --quiet");
    stop_repeatedly("sign docs --output signatures.parquet --overwrite --quiet");
}

#[test]
fn a_stopped_plan_leaves_nothing() {
    stop_repeatedly("tune --documents 4000 --bytes 4MB");
    stop_repeatedly("tune --documents 4000 --bytes 4MB --memory 1KiB --temp-dir temporary");
}

#[test]
fn a_run_that_waits_for_stdin_stops() {
    for &(signal, expected, word) in SIGNALS {
        for command in [
            "dedup - --output out",
            "pairs - --output -",
            "sign - --output s.npy",
        ] {
            let place = corpus();
            let before = contents(&place);
            let mut child = start(&place, command, Stdio::piped());
            // Stays open, so that the run waits until it notices the signal.
            let stdin = child.stdin.take();
            std::thread::sleep(Duration::from_millis(500));
            send(signal, &child);
            let (stderr, code) = ending(child);
            drop(stdin);
            assert_eq!(code, expected, "{command}: {stderr}");
            let last = stderr.lines().last().unwrap();
            let line = format!("simgpu: stopped by {word} before the run was complete");
            assert_eq!(last, line, "{command}");
            assert_eq!(contents(&place), before, "{command}");
            assert!(!place.holds("out"), "{command}");
        }
    }
}

/// A run that a terminal and the program that started it both tell to stop.
#[test]
fn two_signals_at_once_leave_nothing_behind() {
    for pause in [0, 1, 5, 20] {
        let place = corpus();
        let before = contents(&place);
        let mut child = start(&place, "dedup - --output out", Stdio::piped());
        let stdin = child.stdin.take();
        std::thread::sleep(Duration::from_millis(500));
        send("INT", &child);
        std::thread::sleep(Duration::from_millis(pause));
        send("INT", &child);
        let (stderr, code) = ending(child);
        drop(stdin);
        assert_eq!(code, 130, "{stderr}");
        assert_eq!(contents(&place), before, "after {pause} ms: {stderr}");
        assert!(!place.holds("out"), "after {pause} ms");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_under_nohup_survives_a_hang_up() {
    let place = corpus();
    let mut child = Command::new("nohup")
        .args([SIMGPU, "dedup", "-", "--output", "out", "--quiet"])
        .current_dir(place.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    send("HUP", &child);
    stdin.write_all(&numbered_lines(["a", "b"], 0)).unwrap();
    drop(stdin);
    let (stderr, code) = ending(child);
    assert_eq!(code, 0, "{stderr}");
    assert!(place.holds("out/report.json"));
}
