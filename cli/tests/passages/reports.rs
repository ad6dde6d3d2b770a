//! Which passages are found, and what reports say of them.

use serde_json::{Value, json};

use super::{DOCUMENTS, OTHER_LINE, passages};
use crate::support::{Place, parse_lines, zstd};

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
