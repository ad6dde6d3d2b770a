//! `simgpu bench` from outside: what it writes, what it refuses, and what an interrupted run leaves.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Place, SIMGPU, text};
use serde_json::Value;

const FILES: [&str; 8] = [
    "environment.json",
    "runs.csv",
    "errors.csv",
    "candidates.csv",
    "found.csv",
    "absent.csv",
    "summary.md",
    "report.html",
];

/// The shortest measurement.
const LITTLE: &str = "bench --quick --input in.jsonl --schemes affine32 --backends scalar,simd --isas portable \
    --lengths 30 --num-perm 64 --threads 1";

fn place() -> Place {
    Place::with_texts((0..40).map(|i| text(i % 30, 60)))
}

fn lines(place: &Place, name: &str) -> Vec<String> {
    let text = String::from_utf8(place.read(name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn folders_can_be_rendered_again_and_compared() {
    let place = place();
    let run = place.run(&format!("{LITTLE} --results a")).succeeded();
    assert!(run.stderr.contains("written to a"), "{}", run.stderr);
    for file in FILES {
        assert!(place.holds(&format!("a/{file}")), "{file}");
    }
    // stdout has the answers, on one screen.
    let summary = place.read("a/summary.md");
    let screen = String::from_utf8(run.stdout).unwrap();
    for part in [
        "Fastest here",
        "M shingles/s",
        "Other tools: not measured",
        "Estimation errors found",
        "S-curve",
        "a/report.html",
        "a/summary.md",
    ] {
        assert!(screen.contains(part), "no {part:?} in {screen}");
    }
    let environment: Value = serde_json::from_slice(&place.read("a/environment.json")).unwrap();
    assert!(environment["cpu"].is_string() && environment["command"].is_string());
    for table in ["runs", "errors", "candidates", "found"] {
        assert!(
            lines(&place, &format!("a/{table}.csv")).len() > 1,
            "{table}"
        );
    }
    for named in ["scalar", "portable", "affine32"] {
        assert!(String::from_utf8_lossy(&summary).contains(named), "{named}");
    }

    let report = place.read("a/report.html");
    place.write("a/summary.md", "");
    std::fs::remove_file(place.path("a/report.html")).unwrap();
    place.run("bench render a").succeeded();
    assert_eq!(place.read("a/summary.md"), summary);
    assert_eq!(place.read("a/report.html"), report);

    let compared = place.run("bench compare a a").succeeded();
    let compared = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.contains("equal"), "{compared}");

    let refused = place.run(&format!("{LITTLE} --results a"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--results"), "{}", refused.stderr);
    assert_eq!(place.read("a/summary.md"), summary);
}

#[test]
fn slower_cases_are_named() {
    let place = place();
    place
        .run(&format!("{LITTLE} --parts throughput --results a"))
        .succeeded();
    for file in FILES {
        place.write(&format!("b/{file}"), place.read(&format!("a/{file}")));
    }
    let rows = lines(&place, "a/runs.csv");
    let header: Vec<&str> = rows[0].split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut slower = csv::Writer::from_path(place.path("b/runs.csv")).unwrap();
    let mut reader = csv::Reader::from_path(place.path("a/runs.csv")).unwrap();
    slower.write_record(&header).unwrap();
    for row in reader.records() {
        let mut row: Vec<String> = row.unwrap().iter().map(str::to_owned).collect();
        if row[column("stage")] == "sign" && row[column("backend")] == "scalar" {
            let elapsed_s: f64 = row[column("elapsed_s")].parse().unwrap();
            // More than the noise of a busy machine.
            row[column("elapsed_s")] = (elapsed_s * 20.0).to_string();
        }
        slower.write_record(&row).unwrap();
    }
    slower.flush().unwrap();
    let compared = place.run("bench compare a b").succeeded();
    let compared = String::from_utf8(compared.stdout).unwrap();
    let named = compared
        .lines()
        .filter(|line| line.contains("slower") && line.contains("scalar"));
    assert!(named.count() > 0, "{compared}");
}

#[test]
fn interrupted_runs_keep_their_rows() {
    let place = place();
    let mut run = Command::new(SIMGPU)
        .args(LITTLE.split_whitespace())
        .args(["--results", "a"])
        .current_dir(place.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let rows = || {
        if place.holds("a/runs.csv") {
            lines(&place, "a/runs.csv").len()
        } else {
            0
        }
    };
    while rows() < 20 {
        assert!(run.try_wait().unwrap().is_none(), "the run ended too soon");
        std::thread::sleep(Duration::from_millis(2));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(rows() >= 20);
    place.run("bench render a").succeeded();
    let summary = String::from_utf8(place.read("a/summary.md")).unwrap();
    assert!(summary.contains("affine32"), "{summary}");
}

#[test]
fn invalid_arguments_are_refused_before_writing() {
    let place = place();
    for (arguments, message) in [
        ("--quick --full", "cannot be used with"),
        ("--backends auto", "auto"),
        ("--backends cuda", "cuda"),
        ("--isas sse9", "sse9"),
        ("--isas portable --backends scalar", "--isas"),
        ("--schemes sha", "sha"),
        ("--parts speed", "speed"),
        ("--num-perm 0", "num-perm"),
        ("--threads 0", "threads"),
        (
            "--threads 1,10000",
            "--threads 10000 is more than 4 per core",
        ),
        ("--lengths 0", "lengths"),
        ("--lengths 99999999", "lengths"),
        ("--input nowhere.jsonl", "nowhere.jsonl"),
        ("compare a", "B"),
    ] {
        let run = place.run(&format!("bench {arguments}"));
        assert_ne!(run.code, Some(0), "{arguments}");
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }
    for arguments in ["compare a b", "render a"] {
        let run = place.run(&format!("bench {arguments}"));
        assert_eq!(run.code, Some(1), "{arguments}");
        assert!(run.stderr.contains('a'), "{arguments}: {}", run.stderr);
    }
    assert!(!place.holds("results") && !place.holds("a"));
}
