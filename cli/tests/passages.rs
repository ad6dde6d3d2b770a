//! `simgpu passages`: repeated passages of files, against a search by hand.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
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
    let large = json!({"text": "a word ".repeat(2_000)});
    place.write("large.jsonl", format!("{large}\n"));
    place.write("code.rs", "fn main() {}");
    place.write("in.csv", "id,text\n1,a\n");
    for (arguments, code, message) in [
        ("in.jsonl -o -", 2, "name an output folder"),
        (
            "in.jsonl -o out --unit letters",
            2,
            "possible values: words, code, chars, bytes, tokens, lines, paragraphs",
        ),
        ("in.jsonl -o out --min-length 0", 2, "must be at least 1"),
        ("in.jsonl -o out --text-field body", 1, "there is no field"),
        ("none.jsonl -o out", 1, "none.jsonl"),
        ("in.jsonl -o out --snap lines", 2, "add --action cut"),
        (
            "in.jsonl -o out --action cut --max-covered .5",
            2,
            "--action drop",
        ),
        (
            "in.jsonl -o out --action drop --occurrences all",
            1,
            "--occurrences later",
        ),
        (
            "in.jsonl -o out --action drop --max-covered 2",
            2,
            "a share from 0 to 1",
        ),
        (
            "in.jsonl -o out --unit tokens --action cut",
            2,
            "lists of tokens are not cut",
        ),
        (
            "in.jsonl -o out --unit tokens",
            1,
            "there is no field \"tokens\"",
        ),
        ("in.jsonl -o out --tokens-field a", 2, "--unit tokens"),
        ("in.jsonl -o out --merge-whitespace", 2, "--unit lines"),
        (
            "in.jsonl -o out --unit bytes --lowercase",
            2,
            "bytes stay as they are",
        ),
        (
            "in.jsonl -o out --bytes-equal --lowercase",
            2,
            "without --lowercase",
        ),
        (
            "code.rs in.jsonl -o out",
            1,
            "pass --unit code, or --format text",
        ),
        ("in.jsonl -o out --mark-field x", 2, "--action mark"),
        (
            "in.jsonl -o out --action mark --min-left 2",
            2,
            "removes nothing",
        ),
        (
            "in.jsonl -o out --action mark --mark-field=",
            2,
            "the name of a field",
        ),
        (
            "in.jsonl -o out --action mark --mark-field id --min-length 3",
            1,
            "in.jsonl: row 0: there is a field \"id\" already; choose another name by --mark-field\n",
        ),
        (
            "in.csv in.jsonl -o out --action mark",
            1,
            "give records in JSON",
        ),
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
fn show_explains_removed_and_cut_documents() {
    let place = Place::new();
    place.write("in.jsonl", DOCUMENTS);
    let shown = |options: &str, id: &str| {
        let search = "passages in.jsonl --min-length 3 -o out --overwrite --quiet";
        place.run(&format!("{search} {options}")).succeeded();
        let run = place.run(&format!("show out {id}")).succeeded();
        String::from_utf8(run.stdout).unwrap()
    };
    let page = shown("--action drop --max-covered 0.5", "c");
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(
        lines,
        [
            "removed: \"c\" (in.jsonl, row 2)",
            "  because 26 of its 32 bytes are passages, a larger share than --max-covered 0.5",
            "  5 to 31 (5 units) from 4 to 32 of \"a\" (in.jsonl, row 0), not byte for byte",
        ]
    );
    let run = place.run("show out c --json").succeeded();
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    let removed = json!({"reason": "max_covered", "bytes": 32, "covered_bytes": 26});
    assert_eq!(found["documents"][0]["removed"], removed);
    assert_eq!(found["documents"][0]["pieces"][0]["source_id"], "a");
    let page = shown("--action cut --passages-format parquet", "c");
    for line in ["kept: \"c\"", "1 part cut out of it", "passages.parquet"] {
        assert!(page.contains(line), "{page}");
    }
    shown("--action cut", "c");
    for name in ["cuts.jsonl", "removed.jsonl", "passages.jsonl"] {
        let path = place.path("out").join(name);
        let whole = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let missing = place.run("show out c");
        missing.refused(1, &[name, "it is missing in the result"]);
        std::fs::write(&path, [&whole[..], OTHER_LINE].concat()).unwrap();
        let longer = place.run("show out c");
        longer.refused(1, &[name, "lines, and report.json counts"]);
        std::fs::write(&path, &whole).unwrap();
    }
    let unknown = "no document with the id \"z\" was removed or has a passage";
    place
        .run("show out z")
        .refused(1, &[unknown, "passages.jsonl"]);
}

#[test]
fn conditions_choose_passages() {
    let place = Place::new();
    let texts = [
        "a b c d. a b, c d",
        "x a b c d y",
        "e f g h i",
        "e f g h j",
        "k l m n o. k l m n o",
    ];
    let records = texts
        .iter()
        .map(|text| format!("{}\n", json!({"text": text})));
    place.write("in.jsonl", records.collect::<String>());
    for (options, expected) in [
        ("", vec![(0, 9), (1, 2), (3, 0), (4, 11)]),
        ("--min-count 3", vec![(0, 9), (1, 2)]),
        ("--same-document keep", vec![(1, 2), (3, 0)]),
        ("--bytes-equal", vec![(1, 2), (3, 0), (4, 11)]),
        ("--bytes-equal --min-count 3", vec![]),
    ] {
        let found = passages(&place, &format!("in.jsonl --min-length 4 {options}"));
        let places: Vec<(u64, u64)> = found
            .iter()
            .map(|line| {
                (
                    line["row"].as_u64().unwrap(),
                    line["start"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(places, expected, "{options}");
    }
}

#[test]
fn tokens_are_counted_not_bytes() {
    let place = Place::new();
    let lists = [
        json!([7, 7, 1, 2, 3, 4, 5]),
        json!(["x", "", "1", "2", "3", "4", "y", "2", "3", "4"]),
        json!([3, 4]),
        json!([9, 7, 1, 2, 3, 4, 5]),
    ];
    let records = lists.iter().map(|list| {
        format!(
            "{}
",
            json!({"tokens": list})
        )
    });
    let records: String = records.collect();
    place.write("in.jsonl", &records);
    // Each window of three that stands before, by hand.
    let flat: Vec<Vec<String>> = lists
        .iter()
        .map(|list| {
            let text = |token: &Value| {
                token
                    .as_str()
                    .map_or_else(|| token.to_string(), str::to_owned)
            };
            list.as_array().unwrap().iter().map(text).collect()
        })
        .collect();
    let mut seen: Vec<&[String]> = Vec::new();
    let mut covered = Vec::new();
    for (row, list) in flat.iter().enumerate() {
        let mut of_list = vec![false; list.len()];
        for (start, window) in list.windows(3).enumerate() {
            if seen.contains(&window) {
                of_list[start..start + 3].fill(true);
            }
            seen.push(window);
        }
        covered.extend(
            (0..list.len())
                .filter(|at| of_list[*at])
                .map(|at| (row, at)),
        );
    }
    let found = passages(&place, "in.jsonl --unit tokens --min-length 3");
    let number = |line: &Value, name: &str| usize::try_from(line[name].as_u64().unwrap()).unwrap();
    let mut listed = Vec::new();
    for line in &found {
        let [row, start, end] = ["row", "start", "end"].map(|name| number(line, name));
        let [of, from, to] =
            ["source_row", "source_start", "source_end"].map(|name| number(line, name));
        assert_eq!(flat[row][start..end], flat[of][from..to]);
        assert_eq!(
            (&line["exact"], &line["field"]),
            (&json!(true), &json!("tokens"))
        );
        assert_eq!(line["length"], end - start);
        listed.extend((start..end).map(|at| (row, at)));
    }
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed, covered);
    passages(
        &place,
        "in.jsonl --unit tokens --min-length 3 --action drop",
    );
    let kept = std::fs::read_to_string(place.path("out/kept/in.jsonl")).unwrap();
    let first_three: String = records
        .lines()
        .take(3)
        .map(|line| {
            format!(
                "{line}
"
            )
        })
        .collect();
    assert_eq!(kept, first_three);
}

#[test]
fn programs_are_searched_by_code_or_as_text() {
    let place = Place::new();
    place.write("a.rs", "a + b > c + d");
    place.write("b.rs", "a - b < c - d");
    for (arguments, found) in [
        ("a.rs b.rs --unit code --min-length 4", 0),
        ("a.rs b.rs --format text --min-length 4", 1),
        ("a.rs b.rs --unit chars --min-length 4", 0),
    ] {
        assert_eq!(passages(&place, arguments).len(), found, "{arguments}");
    }
}

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

/// A table of the texts, and what is not a text.
fn table(texts: ArrayRef) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter(0..TEXTS.len() as i64));
    let others: ArrayRef = Arc::new(StringArray::from_iter([
        Some("a"),
        None,
        Some("c"),
        Some(""),
        Some("\u{e9}"),
    ]));
    RecordBatch::try_from_iter([("id", ids), ("text", texts), ("n", others)]).unwrap()
}

fn write_arrow(place: &Place, name: &str, rows: &RecordBatch) {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &rows.schema()).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap();
    drop(writer);
    place.write(name, bytes);
}

#[test]
fn tables_differ_in_their_texts_alone() {
    let place = Place::new();
    let rows = table(Arc::new(LargeStringArray::from_iter_values(TEXTS)));
    write_arrow(&place, "in.arrow", &rows);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    place.write("in.parquet", bytes);
    let file = |name: &str| std::fs::File::open(place.path(&format!("out/kept/{name}"))).unwrap();
    for name in ["in.arrow", "in.parquet"] {
        passages(&place, &format!("{name} --action cut --min-length 5"));
        let expected = kept_by_lists(&place, &TEXTS);
        assert_ne!(expected, TEXTS);
        let kept = match name {
            "in.arrow" => FileReader::try_new(file(name), None)
                .unwrap()
                .next()
                .unwrap()
                .unwrap(),
            _ => ParquetRecordBatchReaderBuilder::try_new(file(name))
                .unwrap()
                .build()
                .unwrap()
                .next()
                .unwrap()
                .unwrap(),
        };
        assert_eq!(kept.schema().fields(), rows.schema().fields(), "{name}");
        assert_eq!(
            (kept.column(0), kept.column(2)),
            (rows.column(0), rows.column(2)),
            "{name}"
        );
        let texts: Vec<&str> = kept.column(1).as_string::<i64>().iter().flatten().collect();
        assert_eq!(texts, expected, "{name}");
    }
}

/// A table of nested texts of two fields, in views.
fn nested() -> RecordBatch {
    let halves = |half: usize| -> ArrayRef {
        let texts = TEXTS.iter().map(|text| {
            let middle = text.find(' ').map_or(0, |at| at + 1);
            Some(
                if half == 0 {
                    &text[..middle]
                } else {
                    &text[middle..]
                }
                .trim(),
            )
        });
        Arc::new(texts.collect::<StringViewArray>())
    };
    let fields = ["a", "b"].map(|name| Field::new(name, DataType::Utf8View, true));
    let columns = vec![halves(0), halves(1)];
    let outer = StructArray::try_new(fields.to_vec().into(), columns, None).unwrap();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter(0..TEXTS.len() as i64));
    RecordBatch::try_from_iter([("id", ids), ("of", Arc::new(outer) as ArrayRef)]).unwrap()
}

fn write_parquet(place: &Place, name: &str, rows: &RecordBatch) {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    place.write(name, bytes);
}

fn rows_of(place: &Place, name: &str) -> RecordBatch {
    let file = std::fs::File::open(place.path(name)).unwrap();
    let batch = if name.ends_with("arrow") {
        FileReader::try_new(file, None).unwrap().next()
    } else {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        reader.build().unwrap().next()
    };
    batch.unwrap().unwrap()
}

#[test]
fn marked_tables_have_one_more_column() {
    let place = Place::new();
    let plain = table(Arc::new(StringViewArray::from_iter_values(TEXTS)));
    for (rows, fields) in [
        (plain, ""),
        (nested(), "--text-field of.a --text-field of.b"),
    ] {
        write_arrow(&place, "in.arrow", &rows);
        write_parquet(&place, "in.parquet", &rows);
        for name in ["in.arrow", "in.parquet"] {
            let run = format!("{name} --min-length 5 --action mark --mark-field p.q {fields}");
            let found = passages(&place, &run);
            assert!(!found.is_empty());
            let kept = rows_of(&place, &format!("out/kept/{name}"));
            let (last, before) = kept.columns().split_last().unwrap();
            assert_eq!(before, rows.columns(), "{name}");
            let schema = kept.schema();
            assert_eq!(schema.fields()[..before.len()], rows.schema().fields()[..]);
            assert_eq!(schema.field(before.len()).name(), "p.q");
            let mut covered: Vec<Vec<bool>> = vec![vec![false; 200]; TEXTS.len()];
            for line in &found {
                let [row, start, end] = ["row", "start", "end"]
                    .map(|name| usize::try_from(line[name].as_u64().unwrap()).unwrap());
                covered[row][start..end].fill(true);
            }
            let marks = last.as_list::<i32>();
            for (row, covered) in covered.iter().enumerate() {
                let of_row = marks.value(row);
                let sides = of_row.as_struct();
                let side = |at: usize| sides.column(at).as_primitive::<UInt32Type>().values();
                let mut marked = vec![false; 200];
                for (start, end) in side(0).iter().zip(side(1)) {
                    marked[*start as usize..*end as usize].fill(true);
                }
                let both = covered.iter().zip(&marked);
                // A mark goes on over a blank between two pieces.
                assert!(both.clone().all(|(covered, marked)| !covered || *marked));
                let more = both.filter(|(covered, marked)| **marked && !**covered);
                assert!(more.count() <= found.len(), "{name} {row}");
            }
            let run = format!("passages {name} --action mark --mark-field id {fields} -o other");
            place.run(&run).refused(
                1,
                &[name, "there is a column \"id\" already", "--mark-field"],
            );
        }
    }
    place.write("in.csv", "id,text\n1,a\n");
    place
        .run("passages in.csv --action mark -o other")
        .refused(1, &["in.csv", "JSON, Parquet or Arrow"]);
}

#[test]
fn nested_texts_of_tables_are_cut_in_each_field() {
    let place = Place::new();
    let rows = nested();
    write_arrow(&place, "in.arrow", &rows);
    write_parquet(&place, "in.parquet", &rows);
    let lines: String = (0..rows.num_rows())
        .map(|row| {
            let outer = rows.column(1).as_struct();
            let text = |at: usize| outer.column(at).as_string_view().value(row).to_owned();
            format!(
                "{}\n",
                json!({"id": row, "of": {"a": text(0), "b": text(1)}})
            )
        })
        .collect();
    place.write("in.jsonl", lines);
    let fields = "--min-length 5 --action cut --text-field of.a --text-field of.b";
    passages(&place, &format!("in.jsonl {fields}"));
    let expected = parse_lines(&place.read("out/kept/in.jsonl"));
    for name in ["in.arrow", "in.parquet"] {
        passages(&place, &format!("{name} {fields}"));
        let kept = rows_of(&place, &format!("out/kept/{name}"));
        assert_eq!(kept.schema().fields(), rows.schema().fields(), "{name}");
        let outer = kept.column(1).as_struct();
        for (row, expected) in expected.iter().enumerate() {
            for (at, field) in ["a", "b"].iter().enumerate() {
                let text = outer.column(at).as_string_view().value(row);
                assert_eq!(expected["of"][field], text, "{name}");
            }
        }
    }
}

#[test]
fn a_table_of_passages_has_all_fields() {
    let place = Place::new();
    write_sides(&place);
    for options in [
        "",
        "--against old.jsonl --against-text-field body --against-id-field key --on-bad-record skip",
    ] {
        let run = format!("new --min-length 4 {options}");
        let lines = passages(&place, &run);
        let command = format!("passages {run} --passages-format parquet -o out --overwrite -q");
        place.run(&command).succeeded();
        assert!(!place.holds("out/passages.jsonl"));
        let rows = rows_of(&place, "out/passages.parquet");
        assert_eq!(rows.num_rows(), lines.len());
        let schema = rows.schema();
        for (row, line) in lines.iter().enumerate() {
            assert_eq!(line.as_object().unwrap().len(), schema.fields().len());
            for (field, column) in schema.fields().iter().zip(rows.columns()) {
                let expected = &line[field.name()];
                match column.data_type() {
                    DataType::UInt64 => {
                        assert_eq!(*expected, column.as_primitive::<UInt64Type>().value(row));
                    }
                    DataType::Int64 => {
                        assert_eq!(*expected, column.as_primitive::<Int64Type>().value(row));
                    }
                    DataType::Boolean => assert_eq!(*expected, column.as_boolean().value(row)),
                    _ => {
                        let text = column.as_string::<i32>().value(row);
                        let number = expected.as_u64().map(|number| number.to_string());
                        assert_eq!(number.as_deref().or(expected.as_str()), Some(text));
                    }
                }
            }
        }
    }
}

#[test]
fn texts_with_a_dictionary_are_refused_before_anything_is_written() {
    let place = Place::new();
    let texts: DictionaryArray<Int32Type> = TEXTS.into_iter().collect();
    write_arrow(&place, "in.arrow", &table(Arc::new(texts)));
    let run = place.run("passages in.arrow --action cut --min-length 5 -o out");
    assert_eq!(run.code, Some(1));
    let message = "cannot be cut; write the column as strings without a dictionary";
    assert!(
        run.stderr.contains(message) && run.stderr.contains("in.arrow"),
        "{}",
        run.stderr
    );
    assert!(!place.path("out").exists());
    // Without passages it is refused, too, and without cuts it is read.
    let run = place.run("passages in.arrow --action cut --min-length 50 -o out");
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert!(!passages(&place, "in.arrow --min-length 5").is_empty());
}

/// Documents of sentences that repeat, some of them whole, with short periods, and letters of several bytes.
fn patchwork(documents: usize) -> Vec<String> {
    let mut state = 11_u64;
    let mut random = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..documents {
        let mut text = String::new();
        for _ in 0..random(9) {
            match random(8) {
                0 if !texts.is_empty() => text += &texts[random(texts.len())].clone(),
                1 => text += &"na ".repeat(random(90)),
                kind => {
                    let first = if kind < 6 {
                        random(40)
                    } else {
                        random(100_000)
                    };
                    for word in 0..6 + first % 9 {
                        let ending = ["", "é", ","][(first + word) % 3];
                        text += &format!("w{}{ending} ", first * (word + 1) % 997);
                    }
                    text += ["\n", ". ", "\n\n"][first % 3];
                }
            }
        }
        texts.push(text.chars().take(3_000).collect());
    }
    texts
}

/// All files of a folder but `run.json`, and the stages of the run that were on disk.
fn outputs(folder: &std::path::Path) -> (Vec<(String, Vec<u8>)>, usize) {
    let mut files = Vec::new();
    let kept = folder.join("kept");
    for folder in [folder, &*kept] {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_file() && name != "run.json" {
                files.push((name, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    let run = std::fs::read(folder.join("run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let stages = run["stages"].as_array().unwrap();
    let on_disk = stages.iter().filter(|stage| stage["on_disk"].is_object());
    (files, on_disk.count())
}

/// Checks that a command writes the same on disk as in memory.
fn compare_on_disk(place: &Place, command: &str, trial: usize) {
    passages(place, command);
    let (expected, on_disk) = outputs(&place.path("out"));
    assert_eq!(on_disk, 0, "{command}");
    let memory = ["1KB", "100KB"][trial % 2];
    let limits = format!("--memory {memory} --threads {}", 1 + trial % 3);
    passages(place, &format!("{command} {limits}"));
    let (found, on_disk) = outputs(&place.path("out"));
    assert!(on_disk > 0, "{command}");
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&found), names(&expected), "{command}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found == expected, "{command} {limits}: {}", found.0);
    }
}

#[test]
fn conditions_on_disk_choose_the_same() {
    let place = Place::new();
    let (mut texts, mut tokens) = ([String::new(), String::new()], String::new());
    for (i, text) in patchwork(200).iter().enumerate() {
        texts[i / 120] += &format!("{}\n", json!({"id": i, "text": text}));
        let words: Vec<&str> = text.split(' ').collect();
        tokens += &format!("{}\n", json!({"id": i, "tokens": words}));
    }
    place.write("in.jsonl", &texts[0]);
    place.write("old.jsonl", texts[1].clone() + "{\"id\": 1}\n");
    place.write("lists.jsonl", &tokens);
    let against = "in.jsonl --against old.jsonl --on-bad-record skip";
    let both = "in.jsonl old.jsonl --on-bad-record skip";
    let tokens = "lists.jsonl --unit tokens --min-length 9";
    for (trial, command) in [
        format!("{against} --min-length 9 --action cut"),
        format!("{against} --unit bytes --min-length 40 --only-against --action drop"),
        format!("{against} --unit lines --same-document keep --action mark"),
        format!("{against} --min-length 9 --min-left 20 --action cut --min-count 4"),
        format!("{against} --min-length 9 --occurrences all --action cut"),
        format!("{both} --min-length 9 --occurrences all --action cut"),
        format!("{both} --unit chars --min-length 50 --occurrences all --same-document keep"),
        format!("{both} --unit paragraphs --occurrences all --min-count 3 --action mark"),
        format!("{both} --unit code --min-length 20 --min-count 3 --action cut"),
        format!("{both} --unit bytes --min-length 50 --min-count 5 --action drop"),
        format!("{both} --min-length 9 --bytes-equal --min-count 3 --same-document keep"),
        format!("{tokens} --action mark"),
        format!("{tokens} --occurrences all --action mark --mark-field other"),
        format!("{tokens} --action drop --max-covered 0.5"),
        format!("{tokens} --min-count 3"),
    ]
    .iter()
    .enumerate()
    {
        compare_on_disk(&place, command, trial);
    }
}

#[test]
fn a_run_on_disk_writes_the_same() {
    let place = Place::new();
    let mut lines = [String::new(), String::new()];
    for (i, text) in patchwork(300).iter().enumerate() {
        let lines = &mut lines[i / 160];
        *lines += &format!("{}\n", json!({"id": i, "text": text, "n": [1, {"a": 2}]}));
        if i % 70 == 9 {
            *lines += "{\"id\": 1}\n";
        }
    }
    place.write("in/a.jsonl", &lines[0]);
    place.write("in/b.jsonl", &lines[1]);
    let units = [
        "--min-length 12",
        "--unit code --min-length 20",
        "--unit bytes --min-length 40",
        "--unit chars --min-length 60",
        "--unit lines",
        "--unit paragraphs",
        "--min-length 8 --bytes-equal",
        "--min-length 12 --lowercase --prefer-source b*",
        "--unit lines --lowercase --strip-punctuation --merge-whitespace --mask-digits",
    ];
    let actions = [
        "--action report",
        "--action cut",
        "--action cut --min-left 30 --snap lines",
        "--action drop --max-covered 0.6",
        "--action drop --max-covered 0.3 --same-document keep",
        "--action cut --same-document keep --snap none",
    ];
    for (i, unit) in units.into_iter().enumerate() {
        for (j, action) in actions.into_iter().enumerate() {
            let command = format!("in --on-bad-record skip {unit} {action}");
            compare_on_disk(&place, &command, i + j);
        }
    }
    let left = std::fs::read_dir(place.path("out")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains("spill")));
}
