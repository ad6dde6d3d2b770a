//! `simgpu contain`: public phrases, what is cut and marked, tables of hits, and phrases to ignore.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::command_line::outputs::read_parquet;
use crate::support::{Place, files_in, lines_of, parse_lines, text};

const ROBE: &str = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";
const TABLE: &str = "Use indirect truth tables to determine whether the following argument is valid, and choose an option which presents a counterexample if it is not: ";

fn run(place: &Place, arguments: &str) -> Vec<Value> {
    let command = format!("contain in --against items.jsonl -o out --overwrite -q {arguments}");
    place.run(&command).succeeded();
    if place.holds("out/hits.jsonl") {
        parse_lines(&place.read("out/hits.jsonl"))
    } else {
        Vec::new()
    }
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

/// Four files: in each ten documents with an instruction and an argument of their own, and one with the item. Another item is
/// asked in each file, too.
pub(crate) fn spread() -> Place {
    let place = Place::new();
    let table = format!("{TABLE}G or H; not H; so what of G?");
    let items = [
        json!({"id": "table", "question": table}),
        json!({"id": "robe", "question": ROBE}),
    ];
    place.write("items.jsonl", lines_of(items));
    for file in 0..4 {
        let mut texts: Vec<String> = (0..10)
            .map(|i| {
                let [before, argument, after] =
                    [1, 2, 3].map(|part| text(file * 100 + i * 10 + part, 4));
                format!("{before}. {TABLE}{argument}, so what of X? {after}")
            })
            .collect();
        texts.push(format!(
            "{}. {table} {}",
            text(file + 900, 9),
            text(file + 910, 9)
        ));
        texts.push(format!(
            "{}. {ROBE} {}",
            text(file + 920, 9),
            text(file + 930, 9)
        ));
        texts.push(text(file + 940, 30));
        let records = texts.iter().map(|text| json!({"text": text}));
        place.write(&format!("in/{file}.jsonl"), lines_of(records));
    }
    place
}

fn asked(hits: &[Value]) -> Vec<(&str, u64)> {
    let asked = hits.iter().filter(|hit| hit["class"] == "contaminated");
    asked
        .map(|hit| (hit["item"].as_str().unwrap(), hit["row"].as_u64().unwrap()))
        .collect()
}

#[test]
fn public_phrases_are_excused_by_their_counts() {
    let place = spread();
    let hits = run(&place, "");
    assert_eq!(asked(&hits).len(), 48);
    let first = report(&place);
    assert_eq!(
        (&first["phrases"], &first["counts"]["excused"]),
        (&json!("none"), &json!(0))
    );
    let phrase = &first["public_phrases"][0];
    assert_eq!(
        (&phrase["documents"], &phrase["item"]),
        (&json!(40), &json!("table"))
    );
    let words = phrase["phrase"].as_str().unwrap();
    assert!(words.starts_with("use indirect truth tables") && words.ends_with("if it is not"));

    place.write("phrases.parquet", place.read("out/phrases.parquet"));
    let mut results = Vec::new();
    for threads in [1, 2, 5] {
        let hits = run(
            &place,
            &format!("--phrases phrases.parquet --threads {threads}"),
        );
        let expected = [("table", 10), ("robe", 11)].repeat(4);
        assert_eq!(asked(&hits), expected);
        let excused = hits.iter().filter(|hit| hit["lacks"] == json!(["phrase"]));
        assert_eq!(excused.count(), 40);
        let mut files = files_in(&place.path("out"));
        files.remove("run.json");
        results.push(files);
    }
    assert!(results[0] == results[1] && results[1] == results[2]);
    let second = report(&place);
    assert_eq!(
        (&second["phrases"], &second["counts"]["excused"]),
        (&json!("given"), &json!(40))
    );
    assert_eq!(
        place.read("phrases.parquet"),
        place.read("out/phrases.parquet")
    );
}

/// A text without cuts.
fn without(text: &str, cuts: &Value) -> String {
    let (mut left, mut from) = (String::new(), 0);
    for cut in cuts.as_array().unwrap() {
        let [start, end] = [0, 1].map(|i| usize::try_from(cut[i].as_u64().unwrap()).unwrap());
        left += &text[from..start];
        from = end;
    }
    left + &text[from..]
}

#[test]
fn items_are_cut_out_of_texts() {
    let place = spread();
    run(&place, "--action cut");
    let cuts = parse_lines(&place.read("out/cuts.jsonl"));
    assert_eq!(cuts.len(), 48);
    let mut bytes = 0;
    for file in ["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl"] {
        let texts = |name: String| {
            let lines = parse_lines(&place.read(&name));
            let texts = lines
                .iter()
                .map(|line| line["text"].as_str().unwrap().to_owned());
            texts.collect::<Vec<_>>()
        };
        let (before, after) = (
            texts(format!("in/{file}")),
            texts(format!("out/kept/{file}")),
        );
        assert_eq!(before.len(), after.len());
        for (row, (before, after)) in before.iter().zip(&after).enumerate() {
            bytes += after.len();
            let cut = cuts
                .iter()
                .find(|cut| cut["file"] == file && cut["row"] == row);
            let left = cut.map_or(before.clone(), |cut| without(before, &cut["cuts"]));
            assert_eq!(*after, left);
        }
    }
    let report = report(&place);
    let counts = &report["counts"];
    let cut = |name: &str| counts["cut"][name].as_u64().unwrap();
    assert_eq!((cut("kept_bytes"), cut("removed_bytes")), (bytes as u64, 0));
    assert_eq!(
        cut("kept_bytes") + cut("cut_bytes"),
        counts["bytes"].as_u64().unwrap()
    );
    assert_eq!(
        (&counts["kept"], &counts["removed"]),
        (&json!(52), &json!(0))
    );
    place
        .run("contain out/kept --against items.jsonl -o again -q")
        .succeeded();
    assert!(place.read("again/hits.jsonl").is_empty());
}

#[test]
fn items_are_marked_in_records() {
    let place = spread();
    let hits = run(&place, "--action mark --mark-field held");
    let kept = parse_lines(&place.read("out/kept/2.jsonl"));
    let of_file = hits.iter().filter(|hit| hit["file"] == "2.jsonl");
    let mut marked = BTreeSet::new();
    for hit in of_file {
        let row = usize::try_from(hit["row"].as_u64().unwrap()).unwrap();
        marked.insert(row);
        assert_eq!(kept[row]["held"], json!([[hit["start"], hit["end"]]]));
    }
    assert_eq!(marked.len(), 12);
    assert_eq!(kept[12]["held"], json!([]));
    assert!(report(&place)["counts"].get("cut").is_none());
    place.write("in.csv", "text\nso\n");
    place
        .run("contain in.csv --against items.jsonl -o other -q --action mark")
        .refused(1, &["in.csv", "--action report"]);
}

#[test]
fn a_table_of_hits_has_all_fields() {
    let place = spread();
    let lines = run(&place, "");
    run(&place, "--hits-format parquet");
    let (table, _) = read_parquet(&place, "out/hits.parquet");
    let schema = table.schema();
    let names: BTreeSet<&str> = schema
        .fields()
        .iter()
        .map(|field| &**field.name())
        .collect();
    let keys = lines[0].as_object().unwrap().keys().map(String::as_str);
    assert_eq!(names, keys.collect());
    assert_eq!(table.num_rows(), lines.len());
    run(&place, "--hits-format parquet --no-samples");
    assert_eq!(
        read_parquet(&place, "out/hits.parquet").0.num_columns(),
        names.len() - 1
    );
}

#[test]
fn phrases_are_ignored_and_suggested() {
    let place = spread();
    run(&place, "--suggest-ignore");
    // What is asked is no phrase to ignore, so that nothing is but what stands elsewhere.
    let counted = report(&place);
    assert!(counted["frequent_phrases"].as_array().unwrap().is_empty());
    place.write("phrases.parquet", place.read("out/phrases.parquet"));
    run(&place, "--suggest-ignore --phrases phrases.parquet");
    let suggested = String::from_utf8(place.read("out/ignore.txt")).unwrap();
    assert!(
        suggested.contains("\nuse indirect truth tables to determine"),
        "{suggested}"
    );
    place.write("ignore.txt", &suggested);
    let hits = run(&place, "--ignore ignore.txt");
    // A copy has the argument, too.
    assert_eq!(asked(&hits), [("table", 10), ("robe", 11)].repeat(4));
    assert_eq!(report(&place)["parameters"]["ignore"], "ignore.txt");
    place.write("short.txt", "# a note\n\ntwo words\n");
    place
        .run("contain in --against items.jsonl -o other -q --ignore short.txt")
        .refused(2, &["two words", "5 words"]);
}

#[test]
fn wrong_files_of_phrases_are_refused() {
    let place = spread();
    run(&place, "");
    place.write("phrases.parquet", place.read("out/phrases.parquet"));
    place.write(
        "other.jsonl",
        lines_of([json!({"question": "Why is the sky blue in June?"})]),
    );
    for (arguments, code, phrases) in [
        (
            "items.jsonl --phrases items.jsonl",
            1,
            &["items.jsonl", "phrases.parquet"][..],
        ),
        ("items.jsonl --phrases none.parquet", 1, &["none.parquet"]),
        ("items.jsonl --phrases out/hits.jsonl", 1, &["hits.jsonl"]),
        (
            "other.jsonl --phrases phrases.parquet",
            2,
            &["--phrases", "other questions"],
        ),
        (
            "items.jsonl --mark-field x",
            2,
            &["--mark-field", "--action mark"],
        ),
    ] {
        place
            .run(&format!("contain in --against {arguments} -o other -q"))
            .refused(code, phrases);
    }
    place
        .run("contain in --against items.jsonl -o out --overwrite -q --phrases out/phrases.parquet")
        .refused(1, &["phrases.parquet", "choose another output"]);
}

#[test]
fn gpt3_cuts_around_what_it_finds_and_leaves_out_what_falls_into_pieces() {
    let words = |count: usize| "lorem ".repeat(count);
    // 600 characters: 200 go with the item, and 400 stay.
    let text = |items: usize| {
        format!(
            "{}{}",
            words(100),
            format!("{ROBE} {}", words(100)).repeat(items)
        )
    };
    let place = Place::new();
    let texts = [(1, text(1)), (2, text(11)), (3, words(10))];
    let records = texts.map(|(id, text)| json!({"id": id, "text": text}));
    place.write("in/a.jsonl", lines_of(records));
    place.write(
        "items.jsonl",
        lines_of([json!({"id": "robe", "question": ROBE})]),
    );
    let hits = run(&place, "--rule gpt3 --action cut");
    let places: Vec<usize> = hits
        .iter()
        .map(|hit| 1 + hit["also"].as_array().unwrap().len())
        .collect();
    assert_eq!(places, [1, 11]);
    let removed = parse_lines(&place.read("out/removed.jsonl"));
    assert_eq!(
        removed,
        [json!({"id": 2, "file": "a.jsonl", "row": 1, "class": "contaminated"})]
    );
    let kept = parse_lines(&place.read("out/kept/a.jsonl"));
    let lengths: Vec<usize> = kept
        .iter()
        .map(|line| line["text"].as_str().unwrap().len())
        .collect();
    assert_eq!((lengths.len(), lengths[1]), (2, 60));
    assert!((790..=820).contains(&lengths[0]), "{lengths:?}");
    let report = report(&place);
    let cut = &report["counts"]["cut"];
    let bytes = |name: &str| cut[name].as_u64().unwrap();
    assert_eq!(
        bytes("kept_bytes") + bytes("cut_bytes") + bytes("removed_bytes"),
        report["counts"]["bytes"].as_u64().unwrap()
    );
    assert!(!place.holds("out/phrases.parquet"));
}
