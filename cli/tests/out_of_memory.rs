//! Commands that get too little memory from the system: one line that says what to do, and no backtrace.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "says that a test was skipped")]

use std::process::{Command, Output};

use serde_json::json;

use crate::support::{Place, SIMGPU, families, lines_of};

/// Runs the command in an address space of this many bytes; `None` if this machine cannot limit it.
fn limited(place: &Place, arguments: &str, bytes: u64) -> Option<Output> {
    let output = Command::new("prlimit")
        .args([&format!("--as={bytes}"), SIMGPU])
        .args(arguments.split_whitespace())
        .current_dir(place.path(""))
        .env("RUST_BACKTRACE", "1")
        .env("NODEVICE_SELECT", "1")
        .output();
    if output.is_err() {
        eprintln!("skipped: there is no prlimit");
    }
    output.ok()
}

#[test]
fn without_memory_a_command_says_what_to_do() {
    let place = Place::new();
    let texts = families(3_000, 3, 120);
    let lines = texts.iter().enumerate();
    let lines = lines.map(|(id, text)| json!({"id": id, "text": text}));
    place.write("in.jsonl", lines_of(lines));
    place.write(
        "in.jsonl.zst",
        zstd::encode_all(&*place.read("in.jsonl"), 3).unwrap(),
    );
    place
        .run("index build in.jsonl --index seen --quiet")
        .succeeded();
    let (mut ended, mut by_allocator) = (0, 0);
    for arguments in [
        "dedup in.jsonl -o out --overwrite --quiet --threads 4",
        "dedup in.jsonl.zst -o out --overwrite --quiet --threads 4",
        "index query in.jsonl --index seen -o hits.jsonl --overwrite --quiet",
        "passages in.jsonl -o out --overwrite --quiet --threads 4",
    ] {
        for bytes in (0..16).map(|step| (60 + 12 * step) << 20) {
            let Some(output) = limited(&place, arguments, bytes) else {
                return;
            };
            let told = String::from_utf8_lossy(&output.stderr);
            let what = format!("{arguments} in {bytes}: {told}");
            let starts = || {
                limited(&place, "--version", bytes).is_some_and(|output| output.status.success())
            };
            // In less, the system cannot load the program.
            if output.status.success() || !starts() {
                continue;
            }
            assert_eq!(output.status.code(), Some(1), "{what}");
            for phrase in ["panicked", "backtrace", "memory allocation of"] {
                assert!(!told.contains(phrase), "{what}");
            }
            ended += 1;
            if told.contains("out of memory") && !told.contains("Fatal glibc error") {
                assert!(
                    told.contains("--memory") && told.contains("ulimit -v"),
                    "{what}"
                );
                assert_eq!(told.lines().count(), 1, "{what}");
                by_allocator += 1;
            }
        }
    }
    assert!(ended > 10 && by_allocator > 3, "{by_allocator} of {ended}");
}
