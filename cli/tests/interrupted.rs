//! Killed runs: a file under a final name is complete, and a rerun of the command writes the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::CommandFactory;
use serde_json::json;
use simgpu_cli::Cli;

use crate::support::{
    Numbers, Place, Results, SIMGPU, families, files_in, gzip, lasting_files_in, lines_of,
    numbered_lines, zstd,
};

/// How many runs of a command are killed.
const KILLS: u32 = 20;

/// A corpus large enough that a run can be killed midway.
fn corpus() -> Place {
    let texts = families(1_000, 4, 120);
    let place = Place::new();
    let (first, rest) = texts.split_at(1_500);
    let (second, third) = rest.split_at(1_500);
    place.write("docs/a.jsonl", numbered_lines(first, 0));
    place.write("docs/b.jsonl.gz", gzip(&numbered_lines(second, 1_500)));
    place.write("docs/c/d.jsonl.zst", zstd(&numbered_lines(third, 3_000)));
    place
}

/// Starts the program and kills it after `delay`; returns whether it was still running.
fn is_killed_after(delay: Duration, place: &Place, arguments: &str) -> bool {
    let mut child = Command::new(SIMGPU)
        .args(arguments.split_whitespace())
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
    let _ = child.kill();
    !child.wait().unwrap().success()
}

/// Kills `kills` runs, at moments spread over the duration of the command. `arguments` returns the command of
/// run `n`; `check(n)` follows each run.
///
/// The machine may be slow for one run and fast for the next. So each run that ends before it is killed shortens
/// the assumed duration.
fn kill_repeatedly(
    place: &Place,
    kills: u32,
    arguments: impl Fn(u32) -> String,
    mut check: impl FnMut(u32),
) {
    let start = Instant::now();
    place.run(&arguments(0)).succeeded();
    let mut length = start.elapsed();
    check(0);
    let mut numbers = Numbers(1);
    let mut killed = 0;
    let mut run = 0;
    while killed < kills {
        run += 1;
        let within = numbers.below(1_000) as f64 / 1_000.0;
        let moment = length.mul_f64((f64::from(killed) + within) / f64::from(kills));
        if is_killed_after(moment, place, &arguments(run)) {
            killed += 1;
        } else {
            length = length.mul_f64(0.9);
        }
        check(run);
    }
}

/// The files under final names in a folder of results.
fn final_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = if folder.exists() {
        lasting_files_in(folder)
    } else {
        BTreeMap::new()
    };
    files.retain(|name, _| !name.starts_with(".partial"));
    files
}

/// Checks that each of `removed.jsonl`, `report.json` and `kept/` is missing or whole, and that nothing is
/// missing beside a report. Returns whether there is a report.
#[track_caller]
fn is_whole_or_absent(folder: &Path, expected: &BTreeMap<String, Vec<u8>>) -> bool {
    let found = final_files(folder);
    for (name, bytes) in &found {
        assert!(
            expected.get(name) == Some(bytes),
            "{name} has the wrong contents"
        );
    }
    if folder.join("kept").exists() {
        let kept = |files: &BTreeMap<String, Vec<u8>>| {
            files
                .keys()
                .filter(|name| name.starts_with("kept/"))
                .count()
        };
        assert_eq!(kept(&found), kept(expected), "kept/ is not whole");
    }
    let is_complete = folder.join("report.json").exists();
    if is_complete {
        assert!(
            found == *expected,
            "there is a report beside incomplete results"
        );
        assert!(folder.join("run.json").exists());
    }
    is_complete
}

#[test]
fn a_killed_dedup_leaves_no_partial_file() {
    let place = corpus();
    let dedup = |folder: &str| format!("dedup docs --output {folder} --verify exact --quiet");
    place.run(&dedup("whole")).succeeded();
    let expected = final_files(&place.path("whole"));
    assert!(Results::of(&place.path("whole")).count("removed") > 500);
    let name = |run| format!("out{run}");
    kill_repeatedly(
        &place,
        KILLS,
        |run| dedup(&name(run)),
        |run| {
            let folder = place.path(&name(run));
            if is_whole_or_absent(&folder, &expected) {
                place.run(&dedup(&name(run))).refused(1, &["--overwrite"]);
            } else {
                place.run(&dedup(&name(run))).succeeded();
                assert!(!folder.join(".partial").exists());
            }
            assert!(is_whole_or_absent(&folder, &expected));
            fs::remove_dir_all(folder).unwrap();
        },
    );
}

#[test]
fn a_rerun_cleans_up_after_a_kill() {
    let place = corpus();
    let dedup = "dedup docs --output out --quiet --overwrite";
    kill_repeatedly(&place, 1, |_| dedup.to_owned(), |_| ());
    place.run(dedup).succeeded();
    let mut names: Vec<_> = fs::read_dir(place.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["docs", "out"]);
    let in_folder: Vec<_> = files_in(&place.path("out"))
        .into_keys()
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(in_folder.is_empty(), "{in_folder:?}");
}

/// For every command, the next run after a kill removes what is left, or resumes.
#[test]
fn every_command_that_writes_a_folder_recovers_from_a_kill() {
    const MOMENTS: u32 = 5;
    let place = corpus();
    let questions = families(1_000, 4, 120).into_iter().step_by(40);
    let questions = questions.map(|text| json!({"question": text}));
    place.write("items.jsonl", lines_of(questions));
    let program = Cli::command();
    let writes_folder = |command: &&clap::Command| {
        let mut arguments = command.get_arguments();
        arguments.any(|argument| {
            let names = argument.get_value_names().unwrap_or_default();
            argument.get_id() == "output" && names.iter().any(|name| name == "DIR")
        })
    };
    let mut killed = 0;
    for command in program.get_subcommands().filter(writes_folder) {
        let name = command.get_name();
        let run = match name {
            "dedup" => "dedup docs",
            "passages" => "passages docs --action cut",
            "contain" => "contain docs --against items.jsonl --action drop",
            "link" => "link docs/a.jsonl --fields text",
            other => panic!("a run of {other} is missing here"),
        };
        let start = Instant::now();
        place
            .run(&format!("{run} -o whole --overwrite --quiet"))
            .succeeded();
        let length = start.elapsed();
        let expected = lasting_files_in(&place.path("whole"));
        let again = format!("{run} -o {name} --overwrite --quiet");
        for moment in 1..MOMENTS {
            killed += u32::from(is_killed_after(length * moment / MOMENTS, &place, &again));
            place.run(&again).succeeded();
            assert!(lasting_files_in(&place.path(name)) == expected, "{name}");
        }
    }
    assert!(
        killed >= MOMENTS,
        "{killed} runs were killed before their end"
    );
}

#[test]
fn a_killed_pairs_leaves_no_partial_file() {
    let place = corpus();
    for ending in ["jsonl", "parquet"] {
        let pairs = |file: &str| format!("pairs docs --output {file} --quiet");
        let whole = format!("whole.{ending}");
        place.run(&pairs(&whole)).succeeded();
        let expected = place.read(&whole);
        let name = |run| format!("pairs{run}.{ending}");
        kill_repeatedly(
            &place,
            KILLS / 2,
            |run| pairs(&name(run)),
            |run| {
                let file = name(run);
                let has_report = place.holds(&format!("{file}.report.json"));
                if place.holds(&file) {
                    assert!(place.read(&file) == expected, "{file} is not whole");
                }
                let again = place.run(&pairs(&file));
                // The report gets its name last.
                if has_report {
                    again.refused(1, &["the file exists", "--overwrite"]);
                } else {
                    again.succeeded();
                }
                assert!(
                    place.read(&file) == expected,
                    "a rerun writes another {file}"
                );
                assert!(!place.holds(&format!("{file}.partial")));
            },
        );
    }
}

// Kills between two renames, which random moments almost never hit.

/// The entries of a folder of results, in the order in which they are renamed.
const ENTRIES: [&str; 7] = [
    "run.json",
    "kept",
    "removed.jsonl",
    "clusters.parquet",
    "samples.jsonl",
    "report.html",
    "report.json",
];

fn small_corpus() -> Place {
    Place::with_texts(families(20, 4, 60))
}

#[test]
fn dedup_recovers_from_a_kill_between_renames() {
    let place = small_corpus();
    let dedup = "dedup in.jsonl --output out --quiet";
    place.run(dedup).succeeded();
    let folder = place.path("out");
    let expected = final_files(&folder);
    for renamed in 0..ENTRIES.len() {
        fs::create_dir(folder.join(".partial")).unwrap();
        for entry in &ENTRIES[renamed..] {
            fs::rename(folder.join(entry), folder.join(".partial").join(entry)).unwrap();
        }
        assert!(!is_whole_or_absent(&folder, &expected));
        place.run(dedup).succeeded();
        assert!(
            is_whole_or_absent(&folder, &expected),
            "after {renamed} entries"
        );
        assert!(!folder.join(".partial").exists());
    }
}

#[test]
fn a_run_is_complete_after_its_last_rename() {
    let place = small_corpus();
    let dedup = "dedup in.jsonl --output out --quiet";
    place.run(dedup).succeeded();
    fs::create_dir(place.path("out/.partial")).unwrap();
    place.run(dedup).refused(1, &["--overwrite"]);
    place.run(&format!("{dedup} --overwrite")).succeeded();
    assert!(!place.holds("out/.partial"));
}

#[test]
fn dedup_recovers_from_a_killed_rerun() {
    // The first run was killed between two renames, the second after it had emptied `.partial`.
    let place = small_corpus();
    let dedup = "dedup in.jsonl --output out --quiet";
    for renamed in 1..ENTRIES.len() {
        place.run(&format!("{dedup} --overwrite")).succeeded();
        let expected = final_files(&place.path("out"));
        for entry in &ENTRIES[renamed..] {
            let path = place.path("out").join(entry);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        fs::create_dir(place.path("out/.partial")).unwrap();
        place.run(dedup).succeeded();
        assert!(is_whole_or_absent(&place.path("out"), &expected));
    }
}

#[test]
fn dedup_recovers_from_a_killed_overwrite() {
    let place = small_corpus();
    let dedup = "dedup in.jsonl --output out --quiet";
    place.run(dedup).succeeded();
    let folder = place.path("out");
    let expected = final_files(&folder);
    // Once the new results are complete, the earlier ones are removed, the report first.
    for removed in 1..=ENTRIES.len() {
        copy_folder(&folder, &place.path("earlier"));
        fs::rename(place.path("earlier"), folder.join(".partial")).unwrap();
        for entry in ENTRIES.iter().rev().take(removed) {
            let path = folder.join(entry);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        place.run(dedup).succeeded();
        assert!(
            is_whole_or_absent(&folder, &expected),
            "after {removed} entries"
        );
        assert!(!folder.join(".partial").exists());
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for (name, bytes) in files_in(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn concurrent_runs_never_report_missing_results() {
    // Many rounds, because the runs must meet between preparing the folder and renaming.
    let place = small_corpus();
    let dedup = "dedup in.jsonl --output out --quiet --overwrite";
    place
        .run("dedup in.jsonl --output whole --quiet")
        .succeeded();
    let expected = final_files(&place.path("whole"));
    for _ in 0..20 {
        let codes = std::thread::scope(|scope| {
            let runs = [0; 2].map(|_| scope.spawn(|| place.run(dedup).code));
            runs.map(|run| run.join().unwrap())
        });
        if codes == [Some(0); 2] {
            let found = final_files(&place.path("out"));
            assert!(
                found == expected,
                "both runs succeeded, but left {:?}",
                found.keys()
            );
        }
    }
}
