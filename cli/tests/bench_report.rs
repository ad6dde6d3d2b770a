//! Folders of results: rows survive writing and reading, summary and report are exact, comparisons see changes.

use std::fs;
use std::path::Path;

use crate::support::made_up::{self, MadeUp};
use proptest::prelude::*;
use serde_json::json;
use simgpu::Error;
use simgpu_bench::compare::{FolderComparison, Verdict, compare};
use simgpu_bench::{Absence, ErrorCell, Row, Stage, TimedRun};
use simgpu_bench::{ResultsFolder, Tables};
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

/// The rows of the table under a heading of summary.md, and its header.
fn table_of<'a>(summary: &'a str, heading: &str) -> (Vec<&'a str>, Vec<Vec<&'a str>>) {
    let section = summary.split_once(&format!("## {heading}\n")).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let cells = |line: &'a str| -> Vec<&'a str> {
        let line = line.trim_matches('|').split('|');
        line.map(str::trim).collect()
    };
    let mut lines = section.lines().filter(|line| line.starts_with('|'));
    let header = cells(lines.next().unwrap());
    (header, lines.skip(1).map(cells).collect())
}

/// The sections in which a device and the CPU do the same work.
const COMPARING: [&str; 6] = [
    "Signing by backend",
    "Signing by length",
    "Signing by slots",
    "Signing from text",
    "Deduplication",
    "Error by backend",
];

#[test]
fn devices_stand_beside_the_cpu_everywhere() {
    let place = place();
    let made = folder(&place, "made", MadeUp::small().tables());
    made.render().unwrap();
    let summary = fs::read_to_string(made.path().join("summary.md")).unwrap();
    for heading in COMPARING {
        let (header, rows) = table_of(&summary, heading);
        let column = |name: &str| header.iter().position(|cell| *cell == name);
        let computed_by = column("computed by").unwrap();
        let of_scheme = |row: &&Vec<&str>| row[column("scheme").unwrap()] == "affine32";
        let rows: Vec<_> = rows.iter().filter(of_scheme).collect();
        for computer in [
            "simd avx512",
            "gpu NVIDIA H200 NVL",
            "hybrid NVIDIA H200 NVL",
        ] {
            let row = rows.iter().find(|row| row[computed_by] == computer);
            let row = row.unwrap_or_else(|| panic!("{heading}: no {computer} in {rows:?}"));
            if let Some(threads) = column("threads") {
                let expected = if computer.starts_with("simd") {
                    "1"
                } else {
                    "16"
                };
                assert_eq!(row[threads], expected, "{heading}: {computer}");
            }
            assert!(
                row.iter().filter(|cell| cell.is_empty()).count() < 3,
                "{heading}: {row:?}"
            );
        }
    }
    let (header, rows) = table_of(&summary, "Signing by backend");
    let column = |name: &str| header.iter().position(|cell| *cell == name).unwrap();
    let of_affine32 = rows.iter().filter(|row| row[0] == "affine32");
    let sums: Vec<&str> = of_affine32
        .clone()
        .map(|row| row[column("checksum")])
        .collect();
    assert!(
        sums.len() == 6 + 4 && sums.iter().all(|sum| *sum == sums[0]),
        "{sums:?}"
    );
    let errors: Vec<&str> = of_affine32.map(|row| row[column("error")]).collect();
    assert_eq!(
        errors.iter().filter(|error| error.is_empty()).count(),
        2,
        "portable, avx2"
    );
    let page = made.page();
    for heading in COMPARING {
        let anchor = heading.to_lowercase().replace(' ', "-");
        let section = page
            .split_once(&format!("<section id=\"{anchor}\">"))
            .unwrap()
            .1;
        let section = section.split("</section>").next().unwrap();
        for computer in [
            "simd avx512",
            "gpu NVIDIA H200 NVL",
            "hybrid NVIDIA H200 NVL",
        ] {
            assert!(section.contains(computer), "{heading}: {computer}");
        }
    }
    let screen = made.screen();
    let header = screen.lines().nth(1).unwrap();
    let names: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(
        names[..6],
        ["scalar", "portable", "avx2", "avx512", "gpu", "hybrid"]
    );
}

#[test]
fn the_screen_says_which_device_was_left_out() {
    let place = place();
    let why = "llvmpipe (software) is no GPU; add --backends scalar,simd,gpu,hybrid to measure it";
    let mut tables = MadeUp::small().tables();
    tables.absent = vec![Absence {
        what: "gpu".to_owned(),
        why: why.to_owned(),
    }];
    let screen = folder(&place, "without", tables).screen();
    let lines = screen.lines().filter(|line| line.contains("GPU left out"));
    assert_eq!(lines.collect::<Vec<_>>(), [format!("GPU left out: {why}")]);
}

#[test]
fn speeds_of_other_documents_are_not_compared() {
    let place = place();
    let mut tables = MadeUp::small().tables();
    // As older versions measured devices.
    for run in tables
        .runs
        .iter_mut()
        .filter(|run| run.case().is_on_device())
    {
        run.documents *= 800;
        run.checksum = "other".to_owned();
    }
    let made = folder(&place, "made", tables);
    made.render().unwrap();
    let summary = fs::read_to_string(made.path().join("summary.md")).unwrap();
    for heading in &COMPARING[..3] {
        let (_, rows) = table_of(&summary, heading);
        let on_device = rows.iter().filter(|row| row[1].contains("H200"));
        assert_eq!(on_device.count(), 0, "{heading}");
        assert!(rows.iter().any(|row| row[1] == "simd avx512"), "{heading}");
    }
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

/// Removes columns of a table.
fn without_columns(path: &Path, removed: &[&str]) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let kept: Vec<usize> = (0..header.len())
        .filter(|at| !removed.contains(&&header[*at]))
        .collect();
    assert_eq!(kept.len() + removed.len(), header.len());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(path).unwrap();
    for row in [&header].into_iter().chain(&rows) {
        writer
            .write_record(kept.iter().map(|at| &row[*at]))
            .unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn tables_of_older_versions_still_read() {
    let place = place();
    let mut tables = MadeUp::small().tables();
    // Once, no backend but the fastest of the CPU had errors.
    tables.errors.retain(|cell| cell.backend == "simd");
    let new = folder(&place, "new", tables.clone());
    let old = folder(&place, "old", tables);
    without_columns(&old.path().join("errors.csv"), &["backend", "hardware"]);
    without_columns(&old.path().join("found.csv"), &["elapsed_s"]);
    let mut old = ResultsFolder::read(old.path()).unwrap();
    assert_eq!(old.tables.errors.len(), new.tables.errors.len());
    assert!(old.tables.errors.iter().all(|cell| cell.backend.is_empty()));
    for (a, b) in [(&old, &new), (&new, &old)] {
        let comparison = compare(a, b);
        assert_eq!(comparison.only_cells, [0, 0]);
        assert!(comparison.cells.iter().all(|change| change.is_equal));
    }
    // A further row brings the columns of today.
    let row = new.tables.errors[0].clone();
    old.add(Row::Error(row.clone())).unwrap();
    let errors = ResultsFolder::read(old.path()).unwrap().tables.errors;
    assert_eq!(errors.len(), new.tables.errors.len() + 1);
    assert_eq!(
        (errors[0].backend.as_str(), errors.last()),
        ("", Some(&row))
    );
    let header = fs::read_to_string(old.path().join("errors.csv")).unwrap();
    assert!(
        header.starts_with("tool,backend,hardware,scheme,"),
        "{header}"
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

#[test]
fn no_page_states_the_optimization_of_the_command() {
    let place = place();
    let mut environment = made_up::environment();
    assert_eq!(environment["optimization"], serde_json::Value::Null);
    environment["optimization"] = "z".into();
    let made = ResultsFolder::create(&place.path().join("made"), environment).unwrap();
    let summary = fs::read_to_string(made.path().join("summary.md")).unwrap();
    assert!(!summary.contains("optimization") && !made.page().contains("optimization"));
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
            .contains("A fixed loop took 1.29 times as long in B;"),
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
fn comparisons_know_the_errors_of_devices() {
    let place = place();
    let tables = MadeUp::small().tables();
    let on_device = tables.errors.iter().filter(|cell| cell.backend == "gpu");
    let on_device = on_device.count();
    let a = folder(&place, "a", tables.clone());
    let worse = |cell: &ErrorCell| ErrorCell {
        bias: cell.bias + if cell.backend == "gpu" { 1.0 } else { 0.0 },
        ..cell.clone()
    };
    let errors = tables.errors.iter().map(worse).collect();
    let b = folder(
        &place,
        "b",
        Tables {
            errors,
            ..tables.clone()
        },
    );
    let comparison = compare(&a, &b);
    let changed = comparison.cells.iter().filter(|change| !change.is_equal);
    assert!(changed.clone().all(|change| change.cell.backend == "gpu"));
    assert_eq!(changed.count(), on_device);
    assert!(
        comparison.to_string().contains("| gpu NVIDIA H200 NVL "),
        "{comparison}"
    );
    // Not measured, they are only in one folder; the fastest of another CPU stands for that of this one.
    let mut elsewhere = tables.errors.clone();
    elsewhere.retain(|cell| cell.backend != "gpu");
    for cell in elsewhere.iter_mut().filter(|cell| cell.backend == "simd") {
        cell.hardware = "neon".to_owned();
    }
    let c = folder(
        &place,
        "c",
        Tables {
            errors: elsewhere,
            ..tables
        },
    );
    assert_eq!(compare(&a, &c).only_cells, [on_device, 0]);
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
