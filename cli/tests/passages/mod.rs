//! `simgpu passages`: repeated passages of files, against a search by hand.

mod reports;

mod tables;

mod disk;

use serde_json::{Value, json};

use crate::support::{Place, parse_lines};

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

/// A text without parts of its bytes.
fn without(text: &str, cuts: &Value) -> String {
    let mut left = String::new();
    let mut from = 0;
    for cut in cuts.as_array().into_iter().flatten() {
        let at = |i: usize| usize::try_from(cut[i].as_u64().unwrap()).unwrap();
        left.push_str(&text[from..at(0)]);
        from = at(1);
    }
    left + &text[from..]
}

/// The kept texts of documents by what `cuts.jsonl` says, without those that `removed.jsonl` lists.
fn kept_by_lists(place: &Place, texts: &[&str]) -> Vec<String> {
    let lines =
        |name: &str| parse_lines(&std::fs::read(place.path(&format!("out/{name}"))).unwrap());
    let (cuts, removed) = (lines("cuts.jsonl"), lines("removed.jsonl"));
    let kept = texts.iter().enumerate().filter_map(|(row, text)| {
        let is_of_row = |line: &&Value| line["row"] == row;
        if removed.iter().any(|line| line["row"] == row) {
            return None;
        }
        let cuts = cuts.iter().find(is_of_row);
        Some(without(
            text,
            cuts.map_or(&Value::Null, |line| &line["cuts"]),
        ))
    });
    kept.collect()
}

const TEXTS: [&str; 5] = [
    "Alpha one two three four five. Beta",
    "Gamma one two three four five, delta \"quoted\" line\nwith more",
    "One only: one two three four five",
    "A line that is the first\nA line that is seen again\nlast",
    "other\nA line that is seen again\n\n  A line that is the first\nend",
];

#[test]
fn records_keep_all_but_their_passages() {
    let place = Place::new();
    let records = TEXTS.iter().enumerate().map(|(i, text)| {
        // Escapes and numbers stay as they are written.
        let text = json!(text).to_string().replace('o', "\\u006f");
        format!("{{ \"id\":{i}.0 , \"n\": \"\\u00e9\", \"text\": {text}, \"z\":1e2}}\n")
    });
    place.write("in.jsonl", records.collect::<String>());
    for (options, expected) in [
        (
            "--min-length 5",
            [
                TEXTS[0],
                "Gamma , delta \"quoted\" line\nwith more",
                "One only:",
                TEXTS[3],
                "other\nend",
            ],
        ),
        (
            "--unit lines",
            [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[3], "other\nend"],
        ),
    ] {
        passages(&place, &format!("in.jsonl --action cut {options}"));
        let kept = std::fs::read_to_string(place.path("out/kept/in.jsonl")).unwrap();
        let texts: Vec<String> = parse_lines(kept.as_bytes())
            .iter()
            .map(|record| record["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(texts, kept_by_lists(&place, &TEXTS), "{options}");
        for (i, (line, text)) in kept.lines().zip(expected).enumerate() {
            let text = json!(text).to_string().replace('o', "\\u006f");
            let expected =
                format!("{{ \"id\":{i}.0 , \"n\": \"\\u00e9\", \"text\": {text}, \"z\":1e2}}");
            assert_eq!(line, expected, "{options}");
        }
    }
}

#[test]
fn every_format_loses_the_same_bytes() {
    let place = Place::new();
    let mut csv = "id,text,n\r\n".to_owned();
    let mut array = Vec::new();
    for (i, text) in TEXTS.iter().enumerate() {
        csv += &format!("{i},\"{}\",x\r\n", text.replace('"', "\"\""));
        array.push(json!({"id": i, "text": text, "n": "x"}));
        place.write(&format!("texts/{i}.txt"), text);
    }
    place.write("in.csv", &csv);
    place.write("in.json", json!(array).to_string());
    let options = "--action cut --min-length 5";
    passages(&place, &format!("in.csv {options}"));
    let left = kept_by_lists(&place, &TEXTS);
    assert_ne!(left, TEXTS);
    let mut expected = "id,text,n\r\n".to_owned();
    for (i, text) in left.iter().enumerate() {
        expected += &format!("{i},\"{}\",x\r\n", text.replace('"', "\"\""));
    }
    let kept =
        |name: &str| std::fs::read_to_string(place.path(&format!("out/kept/{name}"))).unwrap();
    assert_eq!(kept("in.csv"), expected);
    passages(&place, &format!("in.json {options}"));
    let elements: Vec<Value> = serde_json::from_str(&kept("in.json")).unwrap();
    for (element, text) in elements.iter().zip(&left) {
        assert_eq!(element["text"], **text);
        assert_eq!(element["n"], "x");
    }
    passages(&place, &format!("texts {options}"));
    for (i, text) in left.iter().enumerate() {
        assert_eq!(kept(&format!("{i}.txt")), *text);
    }
}

#[test]
fn a_dropped_document_is_the_source_of_none() {
    let place = Place::new();
    let common = "one two three four five six";
    let texts = [
        format!("{common} seven eight"),
        format!("{common} nine {common}"),
        "ten eleven twelve one two three four five thirteen".to_owned(),
        "nine one two three four five fourteen and more of other words".to_owned(),
    ];
    let records = texts
        .iter()
        .map(|text| format!("{}\n", json!({"text": text})));
    place.write("in.jsonl", records.collect::<String>());
    let found = passages(
        &place,
        "in.jsonl --min-length 6 --action drop --max-covered 0.7",
    );
    let removed = std::fs::read(place.path("out/removed.jsonl")).unwrap();
    let removed = parse_lines(&removed);
    assert_eq!(removed.len(), 1);
    assert_eq!(
        (&removed[0]["row"], &removed[0]["reason"]),
        (&json!(1), &json!("max_covered"))
    );
    // "nine one two three four five" stands before in the dropped document alone.
    assert!(found.iter().all(|line| line["row"] == 1), "{found:?}");
    let kept = std::fs::read(place.path("out/kept/in.jsonl")).unwrap();
    assert_eq!(parse_lines(&kept).len(), 3);
    let report = std::fs::read(place.path("out/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let cut = &report["counts"]["cut"];
    // Of the thirteen words, "nine" is in no kept passage of six words but "nine one two three four five".
    for (name, count) in [
        ("kept", 3),
        ("removed", 1),
        ("lost_of_units", 13),
        ("lost_units", 0),
    ] {
        assert_eq!(cut[name], count, "{name}");
    }
}

/// A line that any file of lines of a result may have, of no document that is shown.
const OTHER_LINE: &[u8] = b"{\"id\":\"other\",\"file\":\"in.jsonl\",\"row\":99}\n";

#[test]
fn lines_that_are_normalised_are_cut_as_they_are_written() {
    let place = Place::new();
    let texts = [
        "Page  12 of 30, printed\nA text.",
        "more\n  PAGE 7 of 9 printed!\nText",
    ];
    let records = texts
        .iter()
        .map(|text| format!("{}\n", json!({"text": text})));
    place.write("in.jsonl", records.collect::<String>());
    let all = "--lowercase --strip-punctuation --merge-whitespace --mask-digits";
    let other = ["page 1 of 2 printed", "page 11 of 22 printed"]
        .map(|text| format!("{}\n", json!({"text": text})));
    place.write("other.jsonl", other.concat());
    let found = passages(
        &place,
        &format!("other.jsonl in.jsonl --unit lines --min-length 10 --action cut {all}"),
    );
    let places: Vec<_> = found
        .iter()
        .map(|line| {
            (
                &line["file"],
                &line["row"],
                &line["source_row"],
                &line["exact"],
            )
        })
        .collect();
    // Two digits are not one.
    let expected = [
        (&json!("in.jsonl"), &json!(0), &json!(1), &json!(false)),
        (&json!("in.jsonl"), &json!(1), &json!(0), &json!(false)),
    ];
    assert_eq!(places, expected);
    let kept = std::fs::read(place.path("out/kept/in.jsonl")).unwrap();
    let kept: Vec<Value> = parse_lines(&kept)
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(kept, [json!("A text."), json!("more\nText")]);
    let report = std::fs::read(place.path("out/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    for name in [
        "lowercase",
        "strip_punctuation",
        "merge_whitespace",
        "mask_digits",
    ] {
        assert_eq!(report["parameters"][name], true, "{name}");
    }
}

#[test]
fn marked_records_are_the_same_but_for_one_field() {
    let place = Place::new();
    let record = |(i, text): (usize, &&str)| {
        let text = json!(text).to_string().replace('o', "\\u006f");
        format!("  {{ \"id\":{i}.0, \"text\": {text}, \"z\": {{\"p\": 1e2}} }}\t")
    };
    let records: Vec<String> = TEXTS.iter().enumerate().map(record).collect();
    place.write("in.jsonl", records.join("\r\n"));
    place.write("array.json", format!("[{}]", records.join(",\n")));
    let found = passages(
        &place,
        "in.jsonl --min-length 5 --action mark --mark-field p.q",
    );
    assert!(!found.is_empty());
    let mut expected: Vec<Vec<[usize; 2]>> = vec![Vec::new(); TEXTS.len()];
    for line in &found {
        let [row, start, end] = ["row", "start", "end"]
            .map(|name| usize::try_from(line[name].as_u64().unwrap()).unwrap());
        // One mark for pieces between which no word stands.
        match expected[row].last_mut() {
            Some(last) if TEXTS[row][last[1]..start].trim().is_empty() => last[1] = end,
            _ => expected[row].push([start, end]),
        }
    }
    let kept = std::fs::read_to_string(place.path("out/kept/in.jsonl")).unwrap();
    let mut marked = Vec::new();
    for ((line, record), marks) in kept.split_inclusive('\n').zip(&records).zip(&expected) {
        let (start, end) = record.split_at(record.len() - 3);
        let marks = json!(marks).to_string();
        let expected = format!("{start},\"p.q\":{marks}{end}");
        assert_eq!(line.trim_end_matches(['\r', '\n']), expected);
        marked.push(expected);
    }
    assert_eq!(marked.len(), TEXTS.len());
    assert!(!place.path("out/cuts.jsonl").exists() && !place.path("out/removed.jsonl").exists());
    passages(
        &place,
        "array.json --min-length 5 --action mark --mark-field p.q",
    );
    let array: Vec<Value> =
        serde_json::from_slice(&std::fs::read(place.path("out/kept/array.json")).unwrap()).unwrap();
    let lines: Vec<Value> = marked
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(array, lines);
    // Of lists, marks are tokens.
    place.write(
        "tokens.jsonl",
        "{\"tokens\":[1,2,3]}\n{\"tokens\":[9,1,2,3,1,2]}\n",
    );
    passages(
        &place,
        "tokens.jsonl --unit tokens --min-length 2 --action mark",
    );
    let kept = std::fs::read_to_string(place.path("out/kept/tokens.jsonl")).unwrap();
    let expected =
        "{\"tokens\":[1,2,3],\"passages\":[]}\n{\"tokens\":[9,1,2,3,1,2],\"passages\":[[1,6]]}\n";
    assert_eq!(kept, expected);
}

/// Documents that are already there, under other names of fields, and new ones.
fn write_sides(place: &Place) {
    let old = ["zero. one two three four", "x y one two three four x y"];
    let old = old.iter().enumerate();
    let old = old.map(|(i, text)| format!("{}\n", json!({"key": format!("k{i}"), "body": text})));
    place.write(
        "old.jsonl",
        old.collect::<String>() + "{\"key\": \"bad\"}\n",
    );
    let new = [
        "a one two three four b",
        "five six seven eight. five six seven eight",
        "c d e f",
    ];
    let new = new.iter().enumerate();
    let new = new.map(|(i, text)| format!("{}\n", json!({"id": i, "text": text})));
    place.write("new/a.jsonl", new.collect::<String>());
    place.write(
        "new/b.jsonl",
        "{\"id\": 3, \"text\": \"c d e f, one two three four\"}\n",
    );
}

#[test]
fn passages_of_a_reference_go_and_it_stays() {
    let place = Place::new();
    write_sides(&place);
    let against = "new --against old.jsonl --against-text-field body --against-id-field key --on-bad-record skip --min-length 4 --action cut";
    let found = |arguments: &str| -> Vec<(Value, Value, Value, Value)> {
        passages(&place, arguments)
            .iter()
            .map(|line| {
                (
                    line["id"].clone(),
                    line["start"].clone(),
                    line["source_in"].clone(),
                    line["source_id"].clone(),
                )
            })
            .collect()
    };
    let of = |id: u64, start: u64, side: &str, source: Value| {
        (json!(id), json!(start), json!(side), source)
    };
    let all = [
        of(0, 2, "reference", json!("k0")),
        of(1, 22, "input", json!(1)),
        of(3, 0, "input", json!(2)),
        of(3, 9, "reference", json!("k0")),
    ];
    assert_eq!(found(against), all);
    let report = std::fs::read(place.path("out/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let counts = &report["counts"];
    for (name, count) in [
        ("records", 4),
        ("skipped", 0),
        ("reference", 2),
        ("from_reference", 2),
        ("units", 26),
        ("bytes", 22 + 42 + 7 + 27),
        ("pieces", 4),
    ] {
        assert_eq!(counts[name], count, "{name}");
    }
    assert_eq!(counts["cut"]["kept"], 4);
    assert_eq!(counts["cut"]["lost_units"], 0);
    let bytes = ["kept_bytes", "cut_bytes", "removed_bytes"]
        .map(|name| counts["cut"][name].as_u64().unwrap());
    assert_eq!(json!(bytes.iter().sum::<u64>()), counts["bytes"]);
    assert_eq!(report["reference_skipped"][0]["row"], 2);
    assert_eq!(report["parameters"]["against_content_field"], "body");
    assert_eq!(report["parameters"]["against_id_field"], "key");
    assert!(!place.path("out/kept/old.jsonl").exists());
    let kept = std::fs::read_to_string(place.path("out/kept/b.jsonl")).unwrap();
    assert_eq!(kept, "{\"id\": 3, \"text\": \"\"}\n");
    let only = [all[0].clone(), all[3].clone()];
    assert_eq!(found(&format!("{against} --only-against")), only);
    for threads in ["1", "3"] {
        assert_eq!(found(&format!("{against} --threads {threads}")), all);
    }
    for (arguments, code, message) in [
        (
            "new/a.jsonl --against new",
            1,
            "it is an input and also in --against",
        ),
        ("new --only-against", 2, "add --against"),
        ("new --against-id-field key", 2, "add --against"),
        (
            "new --against old.jsonl --only-against --occurrences all",
            2,
            "omit --only-against",
        ),
        ("new --against old.jsonl", 1, "there is no field"),
        ("new --against -", 1, "cannot be a stream"),
    ] {
        let run = place.run(&format!("passages {arguments} -o other"));
        assert_eq!(run.code, Some(code), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn preferred_files_are_the_sources() {
    let place = Place::new();
    write_sides(&place);
    let found = |arguments: &str| {
        let lines = passages(&place, &format!("new --min-length 4 {arguments}"));
        lines
            .iter()
            .map(|line| (line["id"].clone(), line["source_id"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(""),
        [
            (json!(1), json!(1)),
            (json!(3), json!(2)),
            (json!(3), json!(0))
        ]
    );
    let preferred = [
        (json!(0), json!(3)),
        (json!(1), json!(1)),
        (json!(2), json!(3)),
    ];
    assert_eq!(found("--prefer-source b* --prefer-source a*"), preferred);
    let run = place
        .run("passages new --min-length 4 -o out --overwrite --prefer-source x*")
        .succeeded();
    assert!(run.stderr.contains("--prefer-source x*"), "{}", run.stderr);
}
