//! Ratings and options that are refused.

use arrow_array::ArrayRef;
use serde_json::Value;

use super::{SMALL, small};
use crate::support::{Place, parquet, parse_lines, strings};

#[test]
fn every_record_is_counted() {
    let place = small();
    let more = format!("{SMALL}ann,A,2,9\nann,,3,9\nbob,C,none,9\n");
    place.write("more.csv", more);
    let run =
        place.run("ratings more.csv --on-bad-record skip -o n.jsonl --report json --min-support 1");
    let run = run.succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    // The file has two digests more.
    let mut of_file: Value = serde_json::from_slice(&place.read("n.jsonl.report.json")).unwrap();
    for digest in ["output_blake3_128", "digest"] {
        assert!(of_file.as_object_mut().unwrap().remove(digest).is_some());
    }
    assert_eq!(report, of_file);
    let counts = |name: &str| report["counts"][name].as_u64();
    let names = [
        "records", "ratings", "repeated", "skipped", "users", "items",
    ];
    assert_eq!(names.map(counts), [11, 8, 1, 2, 3, 3].map(Some));
    let skipped = report["skipped"].as_array().unwrap();
    let lines: Vec<_> = skipped.iter().map(|bad| bad["line"].as_u64()).collect();
    assert_eq!(lines, [Some(11), Some(12)]);
    // The later rating counts: ann no longer likes A.
    let written = parse_lines(&place.read("n.jsonl"));
    assert!(
        written
            .iter()
            .all(|row| row["id"] != "A" || row["support"] == 1)
    );
    assert_eq!(counts("results"), Some(written.len() as u64));
}

#[test]
fn bad_ratings_are_refused() {
    let place = Place::new();
    let cases = [
        ("r.csv", "ann,,4", "", "field \"item\" is missing"),
        ("r.csv", "ann,B,", "", "field \"rating\" is missing"),
        (
            "r.csv",
            "ann,B,good",
            "",
            "field \"rating\" is \"good\", not a number",
        ),
        ("r.csv", "ann,B,inf", "", "not a number"),
        (
            "r.csv",
            "ann,B,-1",
            "--as stars",
            "is -1, not a number of stars",
        ),
        ("r.csv", "ann,B", "", "field"),
        (
            "r.jsonl",
            "{\"user\": 1.5, \"item\": 1, \"rating\": 2}",
            "",
            "field \"user\" is 1.5, not",
        ),
        (
            "r.jsonl",
            "{\"user\": [1], \"item\": 1, \"rating\": 2}",
            "",
            "field \"user\"",
        ),
        ("r.jsonl", "{\"item\": 1, \"rating\": 2}", "", "\"user\""),
        ("r.jsonl", "{\"user\": 1", "", "invalid JSON"),
    ];
    for (name, bad, options, problem) in cases {
        let (header, good) = match name {
            "r.csv" => ("user,item,rating\n", "bob,A,5\n"),
            _ => ("", "{\"user\": 1, \"item\": 2, \"rating\": 5}\n"),
        };
        place.write(name, format!("{header}{good}{bad}\n{good}"));
        let line = if name == "r.csv" { "line 3" } else { "line 2" };
        let phrases = [name, line, problem, "--on-bad-record skip"];
        let run = place.run(&format!("ratings {name} -o n.jsonl {options}"));
        run.refused(1, &phrases);
        assert!(!place.holds("n.jsonl"), "{bad}");
        let skip = format!("ratings {name} -o - -q --on-bad-record skip {options}");
        place.run(&skip).succeeded();
    }
}

#[test]
fn files_without_the_fields_are_refused() {
    let place = Place::new();
    place.write("r.csv", "userId,movieId,rating\n1,2,3\n");
    let run = place.run("ratings r.csv -o -");
    run.refused(1, &["r.csv", "\"user\"", "--user-field"]);
    let run = place.run("ratings r.csv --user-field userId -o -");
    run.refused(1, &["r.csv", "\"item\"", "--item-field"]);
    let fields = "--user-field userId --item-field movieId";
    place
        .run(&format!("ratings r.csv {fields} -o - -q"))
        .succeeded();
    let run = place.run(&format!("ratings r.csv {fields} --hold-out last -o -"));
    run.refused(1, &["r.csv", "\"timestamp\"", "--time-field"]);
    place.write("r.txt", "some text");
    place
        .run("ratings r.txt -o -")
        .refused(1, &["r.txt", "a text file has no fields"]);
    let words: ArrayRef = strings(["a"]);
    place.write(
        "r.parquet",
        parquet([
            ("user", words.clone()),
            ("item", words.clone()),
            ("rating", words),
        ]),
    );
    let run = place.run("ratings r.parquet -o -");
    run.refused(1, &["r.parquet, row 0", "\"rating\"", "not a number"]);
    place.write("names.csv", "key,name\n2,two\n");
    let run = place.run(&format!("ratings r.csv {fields} --names names.csv -o -"));
    run.refused(1, &["names.csv", "\"id\"", "--name-id-field"]);
}

#[test]
fn ratings_that_cannot_be_used_are_refused() {
    let place = small();
    let run = place.run("ratings r.csv --recommend zoe -o -");
    run.refused(2, &["--recommend", "zoe", "a user who rated something"]);
    let run = place.run("ratings r.csv --hold-out last -o -");
    run.refused(2, &["--hold-out", "liked more than 10 items"]);
    place.write(
        "times.csv",
        "user,item,rating,timestamp\n1,2,3,soon\n1,3,4,2\n",
    );
    place.run("ratings times.csv -o - -q").succeeded();
    let run = place.run("ratings times.csv --time-field timestamp -o -");
    run.refused(2, &["--time-field", "timestamp", "numbers only"]);
    place.write("bad.csv", "user,item,rating\n1,,3\n");
    let run = place.run("ratings bad.csv --on-bad-record skip -o -");
    run.refused(1, &["bad.csv", "every record is bad", "--item-field"]);
}

#[test]
fn contradictory_options_are_usage_errors() {
    let place = small();
    for (options, phrases) in [
        (
            "--recommend ann --hold-out last -o -",
            ["--recommend", "--hold-out"],
        ),
        ("--neighbours 5 -o -", ["--neighbours", "--recommend"]),
        ("--hated-to 4 -o -", ["--hated-to", "liked-hated"]),
        ("--top 0 -o -", ["--top", "0"]),
        ("--min-support 0 -o -", ["--min-support", "0"]),
        ("-o out.txt", ["out.txt", ".jsonl"]),
        ("", ["--output", "ratings"]),
        ("--names - -o -", ["--names", "stdin"]),
        ("--name-field title -o -", ["--name", "--names"]),
    ] {
        place
            .run(&format!("ratings r.csv {options}"))
            .refused(2, &phrases);
    }
    let run = place.run("ratings r.csv -o r.csv --overwrite");
    assert_ne!(run.code, Some(0));
    assert_eq!(place.read("r.csv"), SMALL.as_bytes());
}

#[test]
fn an_empty_file_has_no_neighbours() {
    let place = Place::new();
    place.write("r.csv", "user,item,rating\n");
    let run = place.run("ratings r.csv -o n.parquet").succeeded();
    assert!(
        run.stderr.contains("r.csv holds no records"),
        "{}",
        run.stderr
    );
    assert!(place.holds("n.parquet"));
}
