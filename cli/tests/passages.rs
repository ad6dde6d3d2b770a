//! `simgpu passages`: repeated passages of files, against a search by hand.

use serde_json::{Value, json};

use crate::support::{Place, parse_lines, zstd};

const DOCUMENTS: &str = r#"{"id": "a", "text": "One two three — four five, six."}
{"id": "b", "text": "Zero. Two three, four FIVE"}
{"id": "c", "text": "six? two three - four five, six!"}
"#;

/// Runs `passages`, which must succeed, and returns the lines.
fn passages(place: &Place, arguments: &str) -> Vec<Value> {
    let command = format!("passages {arguments} -o out --overwrite --quiet");
    place.run(&command).succeeded();
    parse_lines(&std::fs::read(place.path("out/passages.jsonl")).unwrap())
}

#[test]
fn passages_have_places_and_sources() {
    let place = Place::new();
    place.write("in.jsonl", DOCUMENTS);
    let found = passages(&place, "in.jsonl --min-length 3");
    // "three — four five" has a dash of three bytes. "two three, four" of b begins with a capital.
    let texts: Vec<Value> = DOCUMENTS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let text = |row: usize, start: &Value, end: &Value| {
        let text = texts[row]["text"].as_str().unwrap();
        let place = |of: &Value| usize::try_from(of.as_u64().unwrap()).unwrap();
        text[place(start)..place(end)].to_owned()
    };
    assert_eq!(found.len(), 1);
    let line = &found[0];
    assert_eq!(
        text(2, &line["start"], &line["end"]),
        "two three - four five, six"
    );
    assert_eq!(
        text(0, &line["source_start"], &line["source_end"]),
        "two three — four five, six"
    );
    assert_eq!(
        (
            &line["id"],
            &line["source_id"],
            &line["length"],
            &line["exact"]
        ),
        (&json!("c"), &json!("a"), &json!(5), &json!(false))
    );
    assert_eq!(
        (&line["file"], &line["row"]),
        (&json!("in.jsonl"), &json!(2))
    );
    assert_eq!(line["field"], "text");
}

#[test]
fn every_unit_and_both_occurrences_are_searched() {
    let place = Place::new();
    let text = "fn a() { b + c }\n\nlast line of it\nfn a() { b + c }\n";
    place.write("in.jsonl", format!("{}\n", json!({"text": text})));
    for (options, starts) in [
        ("--unit lines --min-length 16", vec![34]),
        ("--unit lines --min-length 17", vec![]),
        (
            "--unit lines --min-length 16 --occurrences all",
            vec![0, 34],
        ),
        ("--unit paragraphs", vec![]),
        ("--unit code --min-length 9", vec![34]),
        ("--unit code --min-length 10", vec![]),
        ("--unit bytes --min-length 17", vec![34]),
        ("--unit words --min-length 4", vec![34]),
    ] {
        let found = passages(&place, &format!("in.jsonl {options}"));
        let found: Vec<&Value> = found.iter().map(|line| &line["start"]).collect();
        assert_eq!(found, starts, "{options}");
    }
}

#[test]
fn formats_and_threads_change_nothing() {
    let place = Place::new();
    let mut documents = Vec::new();
    for i in 0..400_usize {
        let words: Vec<String> = (0..90)
            .map(|j| format!("w{}", (i / 7 + j * j) % 300))
            .collect();
        documents.push(json!({"id": i, "text": words.join(" ")}));
    }
    let lines: String = documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect();
    place.write("in.jsonl", &lines);
    place.write("in.jsonl.zst", zstd(lines.as_bytes()));
    let mut csv = "id,text\n".to_owned();
    for document in &documents {
        csv += &format!("{},{}\n", document["id"], document["text"]);
    }
    place.write("in.csv", csv);
    let of = |arguments: &str| {
        let mut found = passages(&place, arguments);
        for line in &mut found {
            line["file"] = Value::Null;
            line["source_file"] = Value::Null;
        }
        found
    };
    let first = of("in.jsonl --min-length 20 --threads 1");
    assert!(first.len() > 100);
    for arguments in ["in.jsonl --threads 3", "in.jsonl.zst", "in.csv --threads 2"] {
        assert!(
            of(&format!("{arguments} --min-length 20")) == first,
            "{arguments}"
        );
    }
}

#[test]
fn the_report_counts_what_is_covered() {
    let place = Place::new();
    place.write("in.jsonl", format!("{DOCUMENTS}{{\"id\": 1}}\n"));
    let command =
        "passages in.jsonl --min-length 3 --on-bad-record skip -o out --report json --quiet";
    let run = place.run(command).succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        run.stdout,
        std::fs::read(place.path("out/report.json")).unwrap()
    );
    let counts = &report["counts"];
    for (name, count) in [
        ("records", 4),
        ("skipped", 1),
        ("units", 17),
        ("covered_units", 5),
        ("covered_documents", 1),
        ("spans", 1),
        ("pieces", 1),
        ("inexact", 1),
        ("within_document", 0),
    ] {
        assert_eq!(counts[name], count, "{name}");
    }
    let lines = std::fs::read(place.path("out/passages.jsonl")).unwrap();
    assert_eq!(parse_lines(&lines).len(), 1);
}

#[test]
fn wrong_calls_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", DOCUMENTS);
    for (arguments, code, message) in [
        ("in.jsonl -o -", 2, "name an output folder"),
        (
            "in.jsonl -o out --unit chars",
            2,
            "possible values: words, code, bytes, lines, paragraphs",
        ),
        ("in.jsonl -o out --min-length 0", 2, "must be at least 1"),
        ("in.jsonl -o out --text-field body", 1, "there is no field"),
        ("none.jsonl -o out", 1, "none.jsonl"),
        (
            "in.jsonl -o out --hidden",
            2,
            "every input is the name of a file",
        ),
    ] {
        let run = place.run(&format!("passages {arguments}"));
        assert_eq!(run.code, Some(code), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
        assert!(!place.path("out").exists(), "{arguments}");
    }
}
