//! Folders of results: rows survive writing and reading, summary and report are exact, comparisons see changes.

mod folders;

mod comparisons;

mod places;

use std::fs;

use proptest::prelude::*;
use simgpu_bench::{Absence, ErrorCell, ResultsFolder, Tables, TimedRun};

use crate::support::made_up;
use crate::support::made_up::MadeUp;

use places::{COMPARING, folder, place, table_of};

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
