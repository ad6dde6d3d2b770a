//! `simgpu show`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Place, SIMGPU, families, gzip, lines_of, numbered_lines, parse_lines, text};

/// Runs `show` with an id of any characters.
fn shown(place: &Place, id: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let output = assert_cmd::Command::new(SIMGPU)
        .args(["show", "out", id])
        .args(options)
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn json_of(place: &Place, id: &str, options: &[&str]) -> Value {
    let (code, page, error) = shown(place, id, &[options, &["--json"]].concat());
    assert_eq!(code, Some(0), "{error}");
    serde_json::from_str(&page).unwrap()
}

fn corpus() -> Place {
    let place = Place::new();
    let texts = families(10, 5, 60);
    place.write("docs/a.jsonl", numbered_lines(&texts[..25], 0));
    place.write("docs/b.jsonl.gz", gzip(&numbered_lines(&texts[25..], 25)));
    place
}

#[test]
fn every_format_of_removed_shows_the_same() {
    let place = corpus();
    for options in [
        "",
        "--cluster connected",
        "--memory 1KiB --verify signature",
    ] {
        let run = |format: &str| {
            let command = format!(
                "dedup docs -o out --overwrite --quiet --removed-format {format} {options}"
            );
            place.run(&command).succeeded();
        };
        run("jsonl");
        let lines = parse_lines(&place.read("out/removed.jsonl"));
        let mut kept: BTreeSet<u64> = BTreeSet::new();
        let mut pages = Vec::new();
        for format in ["jsonl", "jsonl.zst", "parquet"] {
            run(format);
            let page = |line: &Value| json_of(&place, &line["id"].to_string(), &[]);
            pages.push(lines.iter().step_by(5).map(page).collect::<Vec<_>>());
        }
        for (line, page) in lines.iter().step_by(5).zip(&pages[0]) {
            let shown = &page["documents"][0];
            assert_eq!(shown["chain"][0], *line);
            assert_eq!(shown["kept"], false);
            let of = &shown["texts"][0];
            let text = |text: &Value| text.as_str().unwrap().split(' ').count();
            assert_eq!((text(&of["text"]), text(&of["kept_text"])), (60, 60));
            kept.insert(line["kept_id"].as_u64().unwrap());
            // Words are five per shingle, and lost ones are no part of the kept text.
            let shingles = &of["shingles"];
            let sum = shingles["shared"].as_u64().unwrap() + shingles["lost"].as_u64().unwrap();
            assert_eq!(shingles["removed"].as_u64(), Some(sum));
            for lost in shingles["lost_examples"].as_array().unwrap() {
                assert!(
                    !of["kept_text"]
                        .as_str()
                        .unwrap()
                        .contains(lost.as_str().unwrap())
                );
            }
        }
        // Similarities are printed alike, so that the texts are equal.
        assert!(pages[0] == pages[1] && pages[0] == pages[2], "{options}");
        for id in kept {
            let shown = json_of(&place, &id.to_string(), &["--no-text"]);
            let rows = lines.iter().filter(|line| line["kept_id"] == id);
            assert_eq!(
                shown["documents"][0]["removed"],
                Value::Array(rows.cloned().collect())
            );
            assert_eq!(shown["documents"][0].get("texts"), None);
        }
    }
}

#[test]
fn a_chain_leads_to_the_kept_document() {
    let place = Place::new();
    let words: Vec<String> = text(9, 70).split(' ').map(str::to_owned).collect();
    let texts = (0..6).map(|first| words[3 * first..3 * first + 50].join(" "));
    place.write("in.jsonl", numbered_lines(texts.collect::<Vec<_>>(), 0));
    place
        .run("dedup in.jsonl -o out --cluster connected --threshold 0.75")
        .succeeded();
    let shown = json_of(&place, "5", &[]);
    let chain = shown["documents"][0]["chain"].as_array().unwrap();
    let ids = |name: &str| {
        chain
            .iter()
            .map(|row| row[name].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert!(chain.len() > 1, "{shown}");
    assert_eq!(ids("via_id")[..chain.len() - 1], ids("id")[1..]);
    assert_eq!((ids("id")[0], *ids("via_id").last().unwrap()), (5, 0));
    let (_, page, _) = shown_page(&place, "5");
    assert!(page.contains("through similar documents:"), "{page}");
}

fn shown_page(place: &Place, id: &str) -> (Option<i32>, String, String) {
    shown(place, id, &[])
}

#[test]
fn hostile_ids_are_found_and_shown_safely() {
    let place = Place::new();
    let ids = [
        json!(""),
        json!("a \"quoted\" id"),
        json!("two\nlines\r\t"),
        json!("\u{1b}[31m\u{0}red\u{202e}"),
        json!("7"),
        json!(8),
        json!(-3),
        json!("--json"),
        json!("a\\b\\u0041"),
        json!("日本 \u{200b}"),
        json!("row\":3,"),
        json!("kept"),
        json!("x".repeat(5_000)),
    ];
    let same = text(3, 40);
    let records = ids
        .iter()
        .map(|id| json!({"id": id, "text": format!("\u{1b}[2J{same}\u{202e}")}));
    place.write("in.jsonl", lines_of(records));
    for format in ["jsonl", "jsonl.zst", "parquet"] {
        let command =
            format!("dedup in.jsonl -o out --overwrite --quiet --removed-format {format}");
        place.run(&command).succeeded();
        for (row, id) in ids.iter().enumerate() {
            let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            if text.contains('\0') {
                // No argument holds it.
                continue;
            }
            let output = assert_cmd::Command::new(SIMGPU)
                .args(["show", "out", "--", &text])
                .current_dir(place.path("."))
                .output()
                .unwrap();
            let page = String::from_utf8(output.stdout).unwrap();
            assert_eq!(
                output.status.code(),
                Some(0),
                "{text:?}: {:?}",
                output.stderr
            );
            assert!(page.contains(&format!("row {row})")), "{page}");
            let obeyed = |char: char| char != '\n' && (char.is_control() || char == '\u{202e}');
            assert!(!page.contains(obeyed), "{page}");
        }
    }
}

#[test]
fn an_id_that_repeats_shows_each_document() {
    let place = Place::new();
    let one = text(1, 30);
    let records =
        |texts: [&str; 2]| lines_of(texts.map(|text| json!({"id": "same", "text": text})));
    place.write(
        "docs/a.jsonl",
        records([&one, "another text that is alone here"]),
    );
    place.write(
        "docs/b.jsonl",
        records([&one, "a third one that is alone here, too"]),
    );
    place.run("dedup docs -o out").succeeded();
    let shown = json_of(&place, "same", &["--no-text"]);
    let documents = shown["documents"].as_array().unwrap();
    let places = documents.iter().map(|shown| {
        (
            shown["file"].as_str().unwrap(),
            shown["row"].as_u64().unwrap(),
            shown["kept"].as_bool().unwrap(),
        )
    });
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            ("a.jsonl", 0, true),
            ("a.jsonl", 1, true),
            ("b.jsonl", 0, false),
            ("b.jsonl", 1, true)
        ]
    );
    assert_eq!(documents[0]["removed_count"], 1);
    let (_, page, _) = shown_page(&place, "same");
    assert!(page.starts_with("4 documents have this id"), "{page}");
}

#[test]
fn inputs_that_changed_or_are_gone_are_named() {
    let place = corpus();
    place.run("dedup docs -o out --quiet").succeeded();
    let line = parse_lines(&place.read("out/removed.jsonl")).remove(0);
    let id = line["id"].to_string();
    let before = json_of(&place, &id, &[]);
    assert_eq!(before["unread"], json!({}));
    let files: BTreeSet<&str> = ["file", "kept_file"]
        .map(|file| line[file].as_str().unwrap())
        .into();
    let problem = |place: &Place, file: &str| {
        let shown = json_of(place, &id, &[]);
        assert_eq!(
            shown["documents"][0]["chain"],
            before["documents"][0]["chain"]
        );
        shown["unread"][file].as_str().unwrap().to_owned()
    };
    for file in files {
        let path = place.path("docs").join(file);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        assert!(problem(&place, file).contains("has changed since the run"));
        std::fs::remove_file(&path).unwrap();
        assert!(problem(&place, file).contains("is gone"));
    }
    // A record without inputs, as earlier versions wrote it.
    place.write("out/run.json", "{\"files\": []}");
    let file = line["file"].as_str().unwrap();
    assert!(problem(&place, file).contains("does not name the input"));
    let (code, page, _) = shown_page(&place, &id);
    assert_eq!(code, Some(0));
    assert!(page.contains("no text of"), "{page}");
}

#[test]
fn what_is_no_result_of_dedup_is_refused() {
    let place = corpus();
    place.run("pairs docs -o p.jsonl --quiet").succeeded();
    place.write("records.csv", "id,name\n1,ab\n2,ab\n3,cd\n");
    place.run("link records.csv --fields name -o linked --quiet");
    place.write("folder/other.txt", "");
    for (result, phrase) in [
        ("p.jsonl", "a result of pairs"),
        ("docs/a.jsonl", "it is a file"),
        ("folder", "it holds no complete run"),
        ("absent", "there is no such folder"),
        ("linked", "a result of link"),
    ] {
        place
            .run(&format!("show {result} 1"))
            .refused(1, &[phrase, "output folder of dedup"]);
    }
    place.run("dedup docs -o out --quiet").succeeded();
    place
        .run("show out 9999")
        .refused(1, &["no document has the id \"9999\"", "clusters.parquet"]);
    std::fs::remove_file(place.path("out/clusters.parquet")).unwrap();
    place.run("show out 1").refused(1, &["clusters.parquet"]);
    place
        .run("dedup docs -o out --overwrite --quiet")
        .succeeded();
    let whole = place.read("out/removed.jsonl");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let shorter = lines[1..].concat();
    let phrases = ["removed.jsonl", "report.json counts"];
    place.write("out/removed.jsonl", &shorter);
    place.run("show out 1").refused(1, &phrases);
    std::fs::remove_file(place.path("out/removed.jsonl")).unwrap();
    place.run("show out 1").refused(1, &["removed.jsonl"]);
    place.write("out/removed.jsonl", &shorter);
    std::fs::remove_file(place.path("out/clusters.parquet")).unwrap();
    place.write("truth.csv", "a,b\n0,1\n");
    place
        .run("evaluate out --truth truth.csv --truth-fields a,b")
        .refused(1, &phrases);
    // Ids that resemble the unknown one.
    let records = ["Alpha-1", "beta", "ALPHA-2"].map(|id| json!({"id": id, "text": id}));
    place.write("named.jsonl", lines_of(records));
    place
        .run("dedup named.jsonl -o out --overwrite --quiet")
        .succeeded();
    place
        .run("show out alpha")
        .refused(1, &["did you mean \"Alpha-1\", \"ALPHA-2\"?"]);
}

#[test]
fn dropped_documents_say_why() {
    let place = Place::new();
    let texts = ["one two three four five six seven eight", "", "short text"];
    place.write("in.jsonl", numbered_lines(texts, 0));
    place
        .run("dedup in.jsonl -o out --min-shingles 2 --drop-short")
        .succeeded();
    for (id, why) in [("1", "it has no shingles"), ("2", "fewer shingles than")] {
        let (code, page, error) = shown_page(&place, id);
        assert_eq!(code, Some(0), "{error}");
        assert!(page.contains(why), "{page}");
    }
    let (_, page, _) = shown_page(&place, "0");
    assert!(page.contains("nothing was removed for it"), "{page}");
}

/// An error of the disk, which a circle of links stands for.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_looked_at_is_not_missing() {
    let place = corpus();
    place.run("dedup docs -o out --quiet").succeeded();
    for name in ["clusters.parquet", "removed.jsonl"] {
        let path = place.path(&format!("out/{name}"));
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        let (code, _, error) = shown(&place, "1", &[]);
        assert_eq!(code, Some(1));
        assert!(
            error.contains("cannot read") && error.contains(name),
            "{error}"
        );
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, file).unwrap();
    }
}
