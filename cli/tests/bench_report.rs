//! Folders of results: what is written is read again, what is made of it is exact, and two of them are compared.

#[path = "support/made_up.rs"]
mod made_up;

use std::fs;
use std::path::Path;

use made_up::MadeUp;
use proptest::prelude::*;
use serde_json::json;
use simgpu::Error;
use simgpu_cli::bench::compare::{Comparison, Verdict, compare};
use simgpu_cli::bench::folder::{Folder, Tables};
use simgpu_cli::bench::{ErrorCell, Record, Run, Stage};
use tempfile::TempDir;

/// A folder with these tables.
fn folder(place: &TempDir, name: &str, tables: Tables) -> Folder {
    let mut folder = Folder::create(&place.path().join(name), made_up::environment()).unwrap();
    for record in records(tables) {
        folder.add(record).unwrap();
    }
    folder
}

fn records(tables: Tables) -> Vec<Record> {
    let Tables {
        runs,
        errors,
        candidates,
        found,
        absent,
    } = tables;
    let records = runs.into_iter().map(Record::Run);
    let records = records.chain(errors.into_iter().map(Record::Error));
    let records = records.chain(candidates.into_iter().map(Record::Candidates));
    let records = records.chain(found.into_iter().map(Record::Found));
    records
        .chain(absent.into_iter().map(Record::Absence))
        .collect()
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

// What is written is read again

#[test]
fn a_folder_has_all_its_files_before_anything_is_measured() {
    let place = place();
    let made = folder(&place, "made", Tables::default());
    let mut files: Vec<String> = fs::read_dir(made.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let expected = [
        "absent.csv",
        "candidates.csv",
        "environment.json",
        "errors.csv",
        "found.csv",
        "report.html",
        "runs.csv",
        "summary.md",
    ];
    assert_eq!(files, expected);
}

#[test]
fn a_folder_with_results_is_refused() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    let error = Folder::create(made.path(), json!({})).unwrap_err();
    assert!(matches!(error, Error::Output { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("name another folder with --results"),
        "{error}"
    );
    let read = Folder::read(made.path()).unwrap();
    assert_eq!(read.tables, made.tables);
}

#[test]
fn rows_are_read_as_they_were_added_and_more_can_be_added() {
    let place = place();
    let tables = MadeUp::small().tables();
    let made = folder(&place, "made", tables.clone());
    let mut read = Folder::read(made.path()).unwrap();
    assert_eq!(
        (&read.tables, &read.environment),
        (&tables, &made_up::environment())
    );
    let more = Run {
        tool: "another tool, \"1.0\"".to_owned(),
        ..tables.runs[0].clone()
    };
    read.add(Record::Run(more.clone())).unwrap();
    let again = Folder::read(made.path()).unwrap();
    assert_eq!(again.tables.runs.last(), Some(&more));
    assert_eq!(again.tables.runs.len(), tables.runs.len() + 1);
}

#[test]
fn a_table_that_is_missing_is_empty_and_made_when_a_row_comes() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    fs::remove_file(made.path().join("errors.csv")).unwrap();
    let mut read = Folder::read(made.path()).unwrap();
    assert_eq!(read.tables.errors, []);
    let row = made.tables.errors[0].clone();
    read.add(Record::Error(row.clone())).unwrap();
    assert_eq!(Folder::read(made.path()).unwrap().tables.errors, [row]);
}

/// The error of a folder of which one file is changed.
fn broken(file: &str, change: impl Fn(String) -> String) -> String {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    let path = made.path().join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    let error = Folder::read(made.path()).unwrap_err();
    assert!(matches!(error, Error::Input { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    let error = broken("absent.csv", |text| text + "one cell\n");
    assert!(
        error.contains("absent.csv") && error.contains("line 3"),
        "{error}"
    );
    let error = broken("candidates.csv", |text| text.replacen("2000", "many", 1));
    assert!(
        error.contains("candidates.csv") && error.contains("line 2") && error.contains("README"),
        "{error}"
    );
    let error = broken("absent.csv", |text| {
        text.replacen("what,why", "what,why,who", 1)
    });
    assert!(error.contains("write them as what,why"), "{error}");
    let error = broken("environment.json", |text| text.replace('{', "["));
    assert!(error.contains("no JSON"), "{error}");
}

#[test]
fn the_readme_of_results_says_what_every_column_holds() {
    let place = place();
    let made = folder(&place, "made", Tables::default());
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("results/README.md"))
            .unwrap();
    for table in [
        "runs.csv",
        "errors.csv",
        "candidates.csv",
        "found.csv",
        "absent.csv",
    ] {
        let (_, section) = readme.split_once(&format!("## {table}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let named: Vec<&str> = rows.map(|line| line.split('`').next().unwrap()).collect();
        let header = fs::read_to_string(made.path().join(table)).unwrap();
        assert_eq!(named.join(","), header.trim_end(), "{table}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_are_a_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), file in 0..6_usize) {
        let place = place();
        let path = place.path();
        fs::write(path.join("environment.json"), "{}").unwrap();
        let files = ["runs.csv", "errors.csv", "candidates.csv", "found.csv", "absent.csv", "environment.json"];
        fs::write(path.join(files[file]), bytes).unwrap();
        let _ = Folder::read(path);
    }

    #[test]
    fn any_row_is_read_as_it_was_written(
        words in prop::collection::vec("\\PC*", 6),
        numbers in any::<(u64, u64, u32)>(),
        floats in any::<(f64, Option<f64>, f64)>(),
    ) {
        prop_assume!(!floats.0.is_nan() && !floats.2.is_nan() && floats.1.is_none_or(|float| !float.is_nan()));
        let made_up = MadeUp::small().tables();
        let run = Run {
            tool: words[0].clone(),
            scheme: words[1].clone(),
            input: words[2].clone(),
            checksum: words[3].clone(),
            documents: numbers.0,
            num_perm: numbers.2,
            elapsed_s: floats.0,
            reference_s: floats.1,
            ..made_up.runs[0].clone()
        };
        let cell = ErrorCell {
            input: words[4].clone(),
            trials: numbers.1,
            bias: floats.2,
            error_ratio: floats.1,
            ..made_up.errors[0].clone()
        };
        let place = place();
        let tables = Tables { runs: vec![run], errors: vec![cell], ..Tables::default() };
        let made = folder(&place, "made", tables.clone());
        // Whatever rows hold, something can be made of them.
        made.render().unwrap();
        prop_assert_eq!(Folder::read(made.path()).unwrap().tables, tables);
    }
}

// What is made of it is exact

#[test]
fn summary_and_report_follow_from_the_tables() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    made.render().unwrap();
    let read = |name: &str| fs::read_to_string(made.path().join(name)).unwrap();
    let (summary, report) = (read("summary.md"), read("report.html"));
    insta::assert_snapshot!("summary", summary);
    insta::assert_snapshot!("report", report.replace("><", ">\n<"));
    Folder::read(made.path()).unwrap().render().unwrap();
    assert_eq!((summary, report), (read("summary.md"), read("report.html")));
}

#[test]
fn the_report_asks_for_nothing_else() {
    let place = place();
    let made = folder(&place, "made", MadeUp::realistic().tables());
    made.render().unwrap();
    let report = fs::read_to_string(made.path().join("report.html")).unwrap();
    for other in ["<script", "http", "src=", "url(", "@import", "NaN", "inf"] {
        assert!(!report.contains(other), "{other}");
    }
}

#[test]
fn warnings_say_what_to_try() {
    let place = place();
    let mut tables = MadeUp::small().tables();
    for (i, run) in tables.runs.iter_mut().enumerate() {
        run.reference_s = Some(if i % 2 == 0 { 0.001 } else { 0.002 });
    }
    let (first, case) = (tables.runs[0].clone(), tables.runs[0].case());
    let last = tables
        .runs
        .iter_mut()
        .rfind(|run| run.case() == case)
        .unwrap();
    last.elapsed_s *= 3.0;
    tables.runs.push(Run {
        threads: 77,
        checksum: "1".to_owned(),
        ..first.clone()
    });
    tables.runs.push(Run {
        threads: 77,
        checksum: "2".to_owned(),
        ..first
    });
    let made = folder(&place, "made", tables);
    made.render().unwrap();
    let summary = fs::read_to_string(made.path().join("summary.md")).unwrap();
    let (_, warnings) = summary.split_once("## Warnings").unwrap();
    for seen in [
        "clock is unsteady",
        "far from their median: 1 ",
        "fewer than five runs: 1 ",
        "did not compute the same: 1 ",
    ] {
        assert!(warnings.contains(seen), "{seen}: {warnings}");
    }
}

#[test]
fn where_a_peer_is_faster_the_cell_says_so() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    made.render().unwrap();
    let summary = fs::read_to_string(made.path().join("summary.md")).unwrap();
    let (_, peers) = summary.split_once("## Peers\n").unwrap();
    let behind = peers
        .split("\n## ")
        .next()
        .unwrap()
        .matches("**behind**")
        .count();
    assert!(behind > 0);
    assert!(peers.contains(&format!("behind: {behind}.")), "{peers}");
}

// Two folders are compared

/// Compares made-up runs with others of which a function changed each.
fn compared(noise: f64, change: impl Fn(&mut Run)) -> Comparison {
    let place = place();
    let made_up = |seed| MadeUp {
        noise,
        seed,
        ..MadeUp::realistic()
    };
    let a = folder(&place, "a", made_up(1).tables());
    let mut tables = made_up(2).tables();
    tables.runs.iter_mut().for_each(change);
    let b = folder(
        &place,
        "b",
        Tables {
            errors: a.tables.errors.clone(),
            ..tables
        },
    );
    compare(&a, &b)
}

/// Names of the cases that are called.
fn called(comparison: &Comparison) -> Vec<String> {
    let is_called = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    let called = comparison
        .timed
        .iter()
        .filter(|timed| is_called(timed.verdict));
    called
        .map(|timed| format!("{} {}", timed.case.describe(), timed.verdict))
        .collect()
}

#[test]
fn equal_runs_are_equal() {
    for noise in [0.0, 0.01, 0.05, 0.2] {
        let comparison = compared(noise, |_| ());
        let all = comparison.timed.len();
        assert!(all > 150);
        assert!(
            comparison.count(Verdict::Equal) * 100 >= all * 98,
            "{noise}: {:?}",
            called(&comparison)
        );
        assert!(comparison.erred.iter().all(|erred| erred.is_equal));
    }
}

fn is_planted(run: &Run) -> bool {
    run.stage == Stage::Sign
        && run.scheme == "affine32"
        && run.hardware == "avx2"
        && run.tool == "simgpu"
}

#[test]
fn a_case_that_is_a_fifth_slower_is_called_by_name() {
    let comparison = compared(0.02, |run| {
        run.elapsed_s *= if is_planted(run) { 1.2 } else { 1.0 }
    });
    let expected = "sign affine32 simd avx2 on random hashes, 1000 shingles, K = 128, 4000 documents, 1 thread slower";
    assert_eq!(called(&comparison), [expected]);
    assert!(comparison.to_string().contains("; 1 slower, 0 faster"));
}

#[test]
fn a_clock_that_is_slower_slows_no_case_down() {
    let comparison = compared(0.02, |run| {
        // A device has a clock of its own.
        if !run.case().is_on_device() {
            run.elapsed_s *= 1.3;
        }
        run.reference_s = run.reference_s.map(|reference| reference * 1.3);
    });
    assert_eq!(called(&comparison), Vec::<String>::new());
    assert!(
        comparison
            .to_string()
            .contains("A fixed loop took 1.30 times as long in B;"),
        "{comparison}"
    );
}

#[test]
fn a_bad_third_of_the_rounds_is_noise() {
    let comparison = compared(0.01, |run| {
        run.elapsed_s *= if run.round <= 4 { 1.2 } else { 1.0 }
    });
    assert!(called(&comparison).is_empty(), "{:?}", called(&comparison));
}

#[test]
fn other_computations_come_first() {
    let comparison = compared(0.02, |run| {
        if is_planted(run) {
            run.checksum = "bad".to_owned();
        }
    });
    let text = comparison.to_string();
    let (before, _) = text.split_once("Rule:").unwrap();
    assert!(
        before.contains("did not compute the same in 1 cases") && before.contains("simd avx2"),
        "{before}"
    );
}

#[test]
fn a_comparison_says_all_that_differs() {
    let place = place();
    let small = MadeUp {
        schemes: vec!["affine32"],
        ..MadeUp::small()
    };
    let a = folder(&place, "a", small.tables());
    let mut tables = MadeUp { seed: 2, ..small }.tables();
    tables.errors = a.tables.errors.clone();
    tables.errors[0].bias += 1.0;
    tables.errors.remove(1);
    tables.found[0].true_found = 7;
    tables.runs.retain(|run| run.stage != Stage::Kernel);
    for run in tables.runs.iter_mut().filter(|run| is_planted(run)) {
        run.elapsed_s *= 1.2;
    }
    let b = folder(&place, "b", tables);
    let text = compare(&a, &b)
        .to_string()
        .replace(&place.path().display().to_string(), "results");
    insta::assert_snapshot!("comparison", text);
}
