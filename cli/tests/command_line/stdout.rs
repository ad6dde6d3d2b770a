//! Results on stdout: kept records, the report, and runs that write nothing.

use serde_json::Value;

use crate::support::{Place, families, files_in, gzip, json_lines, parquet, strings};

#[test]
fn kept_records_go_to_stdout_in_order() {
    let place = Place::with_texts(families(20, 4, 60));
    let results = place.dedup("in.jsonl");
    let kept = results.kept("in.jsonl");
    let input = place.read("in.jsonl");
    std::fs::remove_dir_all(place.path("out")).unwrap();
    let piped = place.run_with_stdin("dedup - -o -", &input).succeeded();
    assert_eq!(piped.stdout, kept);
    assert!(
        piped.stderr.contains("written to  stdout"),
        "{}",
        piped.stderr
    );
    // Compressed input comes out plain.
    let piped = place.run_with_stdin("dedup - -o - -q", &gzip(&input));
    assert_eq!(piped.succeeded().stdout, kept);
    assert_eq!(files_in(&place.path("")).len(), 1);
}

#[test]
fn kept_records_of_several_inputs_are_one_stream() {
    let place = Place::new();
    place.write("a.jsonl", json_lines(["one", "two"]));
    place.write("b.jsonl", json_lines(["two", "three"]));
    let run = place.run("dedup a.jsonl b.jsonl -o - -q").succeeded();
    assert_eq!(run.stdout, json_lines(["one", "two", "three"]));
    place.write("c.txt", "three");
    let run = place.run("dedup a.jsonl c.txt -o -");
    run.refused(1, &["c.txt is not JSON Lines", "name an output folder"]);
    place.write("d.parquet", parquet([("text", strings(["x"]))]));
    place.run("dedup d.parquet -o -").refused(1, &["d.parquet"]);
}

#[test]
fn options_about_files_do_not_go_with_stdout() {
    let place = Place::with_texts(["a"]);
    for (options, phrase) in [
        (
            "dedup in.jsonl -o - --report json",
            "stdout and nothing else",
        ),
        (
            "pairs in.jsonl -o - --report json",
            "stdout and nothing else",
        ),
        (
            "dedup in.jsonl -o - --removed-format parquet",
            "--removed-format",
        ),
    ] {
        place.run(options).refused(2, &[phrase]);
    }
    for command in ["dedup", "pairs"] {
        let run = place.run(&format!("{command} in.jsonl -o - --compression-level 3"));
        run.refused(2, &["--compression-level is 3"]);
    }
}

#[test]
fn the_report_on_stdout_equals_its_file() {
    let place = Place::with_texts(families(20, 4, 60));
    let run = place
        .run("dedup in.jsonl -o out --report json -q")
        .succeeded();
    assert_eq!(run.stdout, place.read("out/report.json"));
    let run = place
        .run("pairs in.jsonl -o pairs.csv --report json -q")
        .succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    // The file has two digests more.
    let mut of_file: Value = serde_json::from_slice(&place.read("pairs.csv.report.json")).unwrap();
    for digest in ["output_blake3_128", "digest"] {
        assert!(of_file.as_object_mut().unwrap().remove(digest).is_some());
    }
    assert_eq!(report, of_file);
    let pairs = place.read("pairs.csv").split(|byte| *byte == b'\n').count() - 2;
    assert_eq!(report["command"], "pairs");
    assert_eq!(report["counts"]["similar_pairs"], pairs);
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::with_texts(families(20, 4, 60));
    for command in [
        "dedup in.jsonl --report json",
        "dedup in.jsonl --verify exact --report json",
        "pairs in.jsonl --report json",
    ] {
        let dry = place.run(&format!("{command} --dry-run")).succeeded();
        assert!(
            dry.stderr.contains("written  nothing (--dry-run)"),
            "{}",
            dry.stderr
        );
        assert_eq!(files_in(&place.path("")).len(), 1, "{command}");
        let output = place.run(&format!("{command} -o out.csv")).succeeded();
        assert_eq!(dry.stdout, output.stdout, "{command}");
        let _ = std::fs::remove_dir_all(place.path("out.csv"));
        for name in ["out.csv", "out.csv.report.json"] {
            let _ = std::fs::remove_file(place.path(name));
        }
    }
    place.run("dedup in.jsonl").refused(2, &["--output"]);
    place.run("pairs in.jsonl").refused(2, &["--output"]);
}

#[test]
fn a_report_beside_pairs_needs_overwrite() {
    let place = Place::with_texts(["a b", "a b"]);
    let pairs = "pairs in.jsonl -o pairs.jsonl";
    place.run(pairs).succeeded();
    let first = place.read("pairs.jsonl.report.json");
    place.run(pairs).refused(1, &["pairs.jsonl", "--overwrite"]);
    place.write("pairs.jsonl.report.json", "mine");
    place.run(&format!("{pairs} --overwrite")).succeeded();
    assert_eq!(place.read("pairs.jsonl.report.json"), first);
    // A report whose pairs are gone is left from an interrupted run.
    std::fs::remove_file(place.path("pairs.jsonl")).unwrap();
    place.run(pairs).succeeded();
    assert_eq!(place.read("pairs.jsonl.report.json"), first);
}
