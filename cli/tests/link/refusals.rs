//! Inputs and options that are refused.

use serde_json::Value;

use super::{book, ids, links, pairs, report};

#[test]
fn bad_input_is_refused() {
    let place = book();
    place.write(
        "bad.jsonl",
        "{\"id\": 1, \"name\": \"Ann\"}\n{\"id\": 2, \"name\": [1]}\n",
    );
    place.write("notes.txt", "some text");
    place.write("twice.csv", "id,name\n1,Ann\n1,Bob\n");
    place.write("double.txt", "Bill, Will\nWilliam, Bill\n");
    let output = "--output out";
    for (arguments, code, phrases) in [
        (
            "a.csv b.csv --fields title",
            1,
            &["a.csv", "no column \"title\"", "--fields"][..],
        ),
        ("a.csv b.csv --fields name,name", 2, &["--fields", "twice"]),
        ("a.csv missing.csv --fields name", 1, &["missing.csv"]),
        (
            "bad.jsonl --fields name",
            1,
            &["bad.jsonl", "row 1", "--on-bad-record skip"],
        ),
        (
            "notes.txt --fields name",
            1,
            &["notes.txt", "has no fields"],
        ),
        (
            "twice.csv --fields name --unique-ids",
            1,
            &["twice.csv", "1"],
        ),
        (
            "a.csv --fields name --share 0.5",
            2,
            &["--share", "two inputs"],
        ),
        (
            "a.csv --fields name --match many-to-many",
            2,
            &["--match", "two inputs"],
        ),
        (
            "a.csv b.csv --fields name --share 0",
            2,
            &["--share", "above 0"],
        ),
        (
            "a.csv b.csv --fields name --share 1.5",
            2,
            &["--share", "up to 1"],
        ),
        (
            "a.csv b.csv --fields name -t 2",
            2,
            &["--threshold is 2", "from 0 to 1 with --score text"],
        ),
        (
            "a.csv --fields name -t -1",
            2,
            &["--threshold is -1", "from 0 to 1"],
        ),
        (
            "a.csv --fields name -t inf --score points",
            2,
            &["--threshold"],
        ),
        (
            "a.csv b.csv --fields name,phone --score textbook -t 200.5",
            2,
            &[
                "--threshold is 200.5",
                "from 0 to 200 with --score textbook",
            ],
        ),
        (
            "a.csv b.csv --fields name --score textbook -t -0.5",
            2,
            &["--threshold is -0.5", "from 0 to 100"],
        ),
        ("- - --fields name", 2, &["stdin"]),
        ("a.csv b.csv", 2, &["--fields"]),
        (
            "a.csv b.csv --fields name --equivalents double.txt",
            2,
            &["double.txt", "line 2", "Bill"],
        ),
        (
            "a.csv b.csv --fields name --equivalents none.txt",
            1,
            &["none.txt"],
        ),
    ] {
        place
            .run(&format!("link {arguments} {output}"))
            .refused(code, phrases);
        assert!(!place.holds("out/report.json"), "{arguments}");
    }
    place
        .run(&format!("link a.csv b.csv --fields name {output} -q"))
        .succeeded();
    place
        .run(&format!("link a.csv b.csv --fields name {output}"))
        .refused(1, &["--overwrite"]);
}

#[test]
fn bad_records_are_skipped_and_counted() {
    let place = book();
    place.write(
        "bad.jsonl",
        "{\"id\": 1, \"name\": \"Bill Clark\"}\n{\"id\": 2, \"name\": [1]}\n{\"id\": 3}\n",
    );
    let options = "--fields name --on-bad-record skip --threshold 0.1";
    place
        .run(&format!("link bad.jsonl b.csv {options} -o out -q"))
        .succeeded();
    let report = report(&place);
    assert_eq!(report["counts"]["skipped"], 1);
    assert_eq!(report["counts"]["empty"], 1);
    assert_eq!(report["counts"]["records_a"], 2);
    assert_eq!(report["files"][0]["skipped"][0]["row"], 1);
    assert_eq!(ids(&links(&place)), pairs(&[("1", "c")]));
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = book();
    let run = place
        .run("link a.csv b.csv --fields name,phone --dry-run --report json")
        .succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["command"], "link");
    assert!(!place.holds("out"));
}
