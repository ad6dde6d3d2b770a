//! Folders of results: their tables, old and new.

use std::fs;
use std::path::Path;

use serde_json::json;
use simgpu::Error;
use simgpu_bench::compare::compare;
use simgpu_bench::{ResultsFolder, Row, Tables, TimedRun};

use super::places::{folder, place};
use crate::support::made_up;
use crate::support::made_up::MadeUp;

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
fn a_measurement_that_failed_is_replaced() {
    let place = place();
    let path = place.path().join("failed");
    let mut failed = ResultsFolder::create(&path, json!({"machine": "first"})).unwrap();
    for absence in MadeUp::small().tables().absent {
        failed.add(Row::Absence(absence)).unwrap();
    }
    let again = ResultsFolder::create(&path, json!({"machine": "second"})).unwrap();
    let read = ResultsFolder::read(&path).unwrap();
    assert_eq!(read.environment["machine"], "second");
    assert_eq!((read.tables, again.tables), Default::default());
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
