//! Folders of results: rows survive writing and reading, summary and report are exact, comparisons see changes.

#[path = "support/made_up.rs"]
mod made_up;

use std::fs;
use std::path::Path;

use made_up::MadeUp;
use proptest::prelude::*;
use serde_json::json;
use simgpu::Error;
use simgpu_cli::bench::compare::{FolderComparison, Verdict, compare};
use simgpu_cli::bench::{ErrorCell, Row, Stage, TimedRun};
use simgpu_cli::bench::{ResultsFolder, Tables};
use tempfile::TempDir;

/// Creates a folder with the given tables.
fn folder(place: &TempDir, name: &str, tables: Tables) -> ResultsFolder {
    let mut folder =
        ResultsFolder::create(&place.path().join(name), made_up::environment()).unwrap();
    for row in rows(tables) {
        folder.add(row).unwrap();
    }
    folder
}

fn rows(tables: Tables) -> Vec<Row> {
    let Tables {
        runs,
        errors,
        candidates,
        found,
        absent,
    } = tables;
    let rows = runs.into_iter().map(Row::Run);
    let rows = rows.chain(errors.into_iter().map(Row::Error));
    let rows = rows.chain(candidates.into_iter().map(Row::Candidates));
    let rows = rows.chain(found.into_iter().map(Row::Found));
    rows.chain(absent.into_iter().map(Row::Absence)).collect()
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

// The screen

#[test]
fn the_screen_fits_one_screen() {
    let place = place();
    for (name, made_up) in [
        ("small", MadeUp::small()),
        ("realistic", MadeUp::realistic()),
    ] {
        let screen = folder(&place, name, made_up.tables()).screen();
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines.len() <= 40, "{} lines: {screen}", lines.len());
        // Lines with a path are as long as the path.
        let place = place.path().display().to_string();
        let is_long = |line: &&&str| line.chars().count() > 100 && !line.contains(&place);
        let long: Vec<_> = lines.iter().filter(is_long).collect();
        assert!(long.is_empty(), "{long:?}");
        for part in [
            "Fastest here",
            "Against other tools",
            "Estimation errors found",
            "Pairs found",
        ] {
            assert!(screen.contains(part), "{name}: no {part:?} in {screen}");
        }
    }
    let empty = folder(&place, "empty", Tables::default()).screen();
    assert_eq!(empty.lines().count(), 2, "{empty}");
}

// Writing and reading

#[test]
fn new_folders_have_all_their_files() {
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
fn folders_with_results_are_refused() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    let error = ResultsFolder::create(made.path(), json!({})).unwrap_err();
    assert!(matches!(error, Error::Output { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("name another folder with --results"),
        "{error}"
    );
    let read = ResultsFolder::read(made.path()).unwrap();
    assert_eq!(read.tables, made.tables);
}

#[test]
fn rows_survive_and_more_can_be_added() {
    let place = place();
    let tables = MadeUp::small().tables();
    let made = folder(&place, "made", tables.clone());
    let mut read = ResultsFolder::read(made.path()).unwrap();
    assert_eq!(
        (&read.tables, &read.environment),
        (&tables, &made_up::environment())
    );
    let more = TimedRun {
        tool: "another tool, \"1.0\"".to_owned(),
        ..tables.runs[0].clone()
    };
    read.add(Row::Run(more.clone())).unwrap();
    let reread = ResultsFolder::read(made.path()).unwrap();
    assert_eq!(reread.tables.runs.last(), Some(&more));
    assert_eq!(reread.tables.runs.len(), tables.runs.len() + 1);
}

#[test]
fn missing_tables_are_empty_until_rows_are_added() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    fs::remove_file(made.path().join("errors.csv")).unwrap();
    let mut read = ResultsFolder::read(made.path()).unwrap();
    assert_eq!(read.tables.errors, []);
    let row = made.tables.errors[0].clone();
    read.add(Row::Error(row.clone())).unwrap();
    assert_eq!(
        ResultsFolder::read(made.path()).unwrap().tables.errors,
        [row]
    );
}

/// The error of reading a folder with one changed file.
fn broken(file: &str, change: impl Fn(String) -> String) -> String {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    let path = made.path().join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    let error = ResultsFolder::read(made.path()).unwrap_err();
    assert!(matches!(error, Error::Input { .. }), "{error}");
    error.to_string()
}

#[test]
fn unreadable_rows_are_reported_with_their_lines() {
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
    assert!(error.contains("change them to what,why"), "{error}");
    let error = broken("environment.json", |text| text.replace('{', "["));
    assert!(error.contains("not valid JSON"), "{error}");
}

#[test]
fn results_readme_describes_every_column() {
    let place = place();
    let made = folder(&place, "made", Tables::default());
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/README.md"))
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
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), file in 0..6_usize) {
        let place = place();
        let path = place.path();
        fs::write(path.join("environment.json"), "{}").unwrap();
        let files = ["runs.csv", "errors.csv", "candidates.csv", "found.csv", "absent.csv", "environment.json"];
        fs::write(path.join(files[file]), bytes).unwrap();
        let _ = ResultsFolder::read(path);
    }

    #[test]
    fn any_row_survives_writing_and_reading(
        words in prop::collection::vec("\\PC*", 6),
        numbers in any::<(u64, u64, u32)>(),
        floats in any::<(f64, Option<f64>, f64)>(),
    ) {
        prop_assume!(!floats.0.is_nan() && !floats.2.is_nan() && floats.1.is_none_or(|float| !float.is_nan()));
        let made_up = MadeUp::small().tables();
        let run = TimedRun {
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
        // Any rows can be rendered.
        made.render().unwrap();
        prop_assert_eq!(ResultsFolder::read(made.path()).unwrap().tables, tables);
    }
}

// Summary and report

#[test]
fn summary_and_report_follow_from_the_tables() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    made.render().unwrap();
    let read = |name: &str| fs::read_to_string(made.path().join(name)).unwrap();
    let (summary, report) = (read("summary.md"), read("report.html"));
    insta::assert_snapshot!("summary", summary);
    insta::assert_snapshot!("report", report.replace("><", ">\n<"));
    ResultsFolder::read(made.path()).unwrap().render().unwrap();
    assert_eq!((summary, report), (read("summary.md"), read("report.html")));
}

#[test]
fn reports_load_no_other_resource() {
    let place = place();
    let made = folder(&place, "made", MadeUp::realistic().tables());
    made.render().unwrap();
    let report = fs::read_to_string(made.path().join("report.html")).unwrap();
    for other in ["<script", "http", "src=", "url(", "@import", "NaN", "inf"] {
        assert!(!report.contains(other), "{other}");
    }
}

#[test]
fn warnings_name_symptoms_and_cases() {
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
    tables.runs.push(TimedRun {
        threads: 77,
        checksum: "1".to_owned(),
        ..first.clone()
    });
    tables.runs.push(TimedRun {
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
        "computed different results: 1 ",
    ] {
        assert!(warnings.contains(seen), "{seen}: {warnings}");
    }
}

#[test]
fn cells_with_faster_peers_are_marked() {
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

// Comparison of two folders

/// Compares made-up runs with runs changed by a function.
fn compared(noise: f64, change: impl Fn(&mut TimedRun)) -> FolderComparison {
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

/// Names and verdicts of the cases with a difference.
fn differing(comparison: &FolderComparison) -> Vec<String> {
    let differs = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    let changes = comparison
        .cases
        .iter()
        .filter(|change| differs(change.verdict));
    changes
        .map(|change| format!("{} {}", change.case.describe(), change.verdict))
        .collect()
}

#[test]
fn equal_runs_are_equal() {
    for noise in [0.0, 0.01, 0.05, 0.2] {
        let comparison = compared(noise, |_| ());
        let all = comparison.cases.len();
        assert!(all > 150);
        assert!(
            comparison.count(Verdict::Equal) * 100 >= all * 98,
            "{noise}: {:?}",
            differing(&comparison)
        );
        assert!(comparison.cells.iter().all(|change| change.is_equal));
    }
}

fn is_planted(run: &TimedRun) -> bool {
    run.stage == Stage::Sign
        && run.scheme == "affine32"
        && run.hardware == "avx2"
        && run.tool == "simgpu"
}

#[test]
fn cases_slower_by_a_fifth_are_named() {
    let comparison = compared(0.02, |run| {
        run.elapsed_s *= if is_planted(run) { 1.2 } else { 1.0 }
    });
    let expected = "sign affine32 simd avx2 on random hashes, 1000 shingles, K = 128, 4000 documents, 1 thread slower";
    assert_eq!(differing(&comparison), [expected]);
    assert!(comparison.to_string().contains("; 1 slower, 0 faster"));
}

#[test]
fn slower_clocks_slow_no_case_down() {
    let comparison = compared(0.02, |run| {
        // A device has its own clock.
        if !run.case().is_on_device() {
            run.elapsed_s *= 1.3;
        }
        run.reference_s = run.reference_s.map(|reference| reference * 1.3);
    });
    assert_eq!(differing(&comparison), Vec::<String>::new());
    assert!(
        comparison
            .to_string()
            .contains("A fixed loop took 1.30 times as long in B;"),
        "{comparison}"
    );
}

#[test]
fn slow_thirds_of_the_rounds_are_noise() {
    let comparison = compared(0.01, |run| {
        run.elapsed_s *= if run.round <= 4 { 1.2 } else { 1.0 }
    });
    assert!(
        differing(&comparison).is_empty(),
        "{:?}",
        differing(&comparison)
    );
}

#[test]
fn different_checksums_come_first() {
    let comparison = compared(0.02, |run| {
        if is_planted(run) {
            run.checksum = "bad".to_owned();
        }
    });
    let text = comparison.to_string();
    let (before, _) = text.split_once("Rule:").unwrap();
    assert!(
        before.contains("computed different results in 1 cases") && before.contains("simd avx2"),
        "{before}"
    );
}

#[test]
fn comparisons_show_every_difference() {
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
