//! `simgpu contain`: which documents ask which questions.

use serde_json::{Value, json};

use crate::support::{Place, files_in, lines_of, parquet, parse_lines, strings, zstd};

const ROBE: &str = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";
const DUCKS: &str = "Janet sells sixteen fresh duck eggs per day at the market of her town. How much money does she make in one week?";

/// Runs `contain`, which must succeed, and returns the hits.
fn contain(place: &Place, arguments: &str) -> Vec<Value> {
    let command = format!("contain {arguments} -o out --overwrite --quiet");
    place.run(&command).succeeded();
    parse_lines(&place.read("out/hits.jsonl"))
}

/// Two items, and documents that ask the first, quote a part of it, or do neither; one record is bad.
fn place() -> Place {
    let place = Place::new();
    let items = [
        json!({"id": "robe", "question": ROBE, "answer": "3"}),
        json!({"id": "ducks", "question": DUCKS, "options": ["two hundred dollars", "more than ten cents"]}),
    ];
    place.write("items.jsonl", lines_of(items));
    let documents = [
        json!({"id": 1, "text": format!("Été: {ROBE} 3 of them.")}),
        json!({"id": 2, "text": "nothing of the kind"}),
        json!({"id": 3, "text": "A robe takes 2 bolts of blue fiber and half that much white fiber. They are sold."}),
        json!({"id": 4}),
        json!({"id": 5, "text": format!("<p>{}</p>", DUCKS.to_uppercase().replace(' ', "<br>\n"))}),
    ];
    place.write("docs/a.jsonl", lines_of(documents));
    let more = [
        json!({"id": 6, "text": ROBE}),
        json!({"id": 7, "text": "so"}),
    ];
    place.write("docs/b.jsonl.zst", zstd(&lines_of(more)));
    place
}

const OPTIONS: &str = "docs --against items.jsonl --on-bad-record skip";

#[test]
fn hits_have_places_and_evidence() {
    let place = place();
    let hits = contain(&place, OPTIONS);
    let told: Vec<_> = hits
        .iter()
        .map(|hit| (&hit["id"], &hit["item"], &hit["class"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(1), &json!("robe"), &json!("contaminated")),
            (&json!(3), &json!("robe"), &json!("passage")),
            (&json!(5), &json!("ducks"), &json!("contaminated")),
            (&json!(6), &json!("robe"), &json!("contaminated")),
        ]
    );
    let first = &hits[0];
    assert_eq!(
        (&first["file"], &first["row"], &first["benchmark"]),
        (&json!("a.jsonl"), &json!(0), &json!("items"))
    );
    // "Été: " has seven bytes; the question mark is no word.
    let end = 7 + ROBE.len() - 1;
    assert_eq!((&first["start"], &first["end"]), (&json!(7), &json!(end)));
    assert_eq!(
        (&first["item_start"], &first["item_end"]),
        (&json!(0), &json!(ROBE.len() - 1))
    );
    assert_eq!(first["parts"], json!(["question", "answer"]));
    // Of 22 words.
    assert_eq!(
        (&first["found"], &first["ngrams"]),
        (&json!(18), &json!(18))
    );
    assert_eq!(
        first["sample"],
        json!({"before": "Été: ", "text": ROBE.trim_end_matches('?'), "after": "? 3 of them."})
    );
    assert_eq!(
        first["rarest"][0],
        json!({"ngram": "a robe takes 2 bolts", "in_parts": 1})
    );
    let lines = parse_lines(&place.read("docs/a.jsonl"));
    let text = lines[4]["text"].as_str().unwrap();
    let at = |name: &str| usize::try_from(hits[2][name].as_u64().unwrap()).unwrap();
    assert_eq!(
        &text[at("start")..at("end")],
        DUCKS
            .to_uppercase()
            .replace(' ', "<br>\n")
            .trim_end_matches('?')
    );
    let items = parse_lines(&place.read("out/items.jsonl"));
    assert_eq!(
        items[0]["documents"],
        json!({"contaminated": 2, "passage": 1})
    );
    assert_eq!(
        items[0]["first"],
        json!({"id": 1, "file": "a.jsonl", "row": 0})
    );
    assert_eq!(items[1]["class"], "contaminated");
    assert!(
        contain(&place, &format!("{OPTIONS} --no-samples"))
            .iter()
            .all(|hit| hit.get("sample").is_none())
    );
}

#[test]
fn documents_of_chosen_classes_are_left_out() {
    let place = place();
    contain(&place, &format!("{OPTIONS} --action drop"));
    let ids = |name: &str| {
        let lines = crate::support::decompressed(&place.read(name));
        parse_lines(&lines)
            .iter()
            .map(|line| line["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("out/kept/b.jsonl.zst"), [7]);
    let source = place.read("docs/a.jsonl");
    let lines: Vec<&[u8]> = source.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(
        place.read("out/kept/a.jsonl"),
        [lines[1], lines[2]].concat()
    );
    let removed = parse_lines(&place.read("out/removed.jsonl"));
    assert_eq!(
        removed[2],
        json!({"id": 6, "file": "b.jsonl.zst", "row": 0, "class": "contaminated"})
    );
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    let counts = &report["counts"];
    for (name, count) in [
        ("records", 7),
        ("skipped", 1),
        ("kept", 3),
        ("removed", 3),
        ("items", 2),
        ("item_records", 2),
        ("undecidable_items", 0),
    ] {
        assert_eq!(counts[name], count, "{name}");
    }
    assert_eq!(
        counts["documents"],
        json!({"contaminated": 3, "passage": 1, "short": 0, "template": 0})
    );
    assert_eq!(counts["found_items"]["contaminated"], 2);
    assert_eq!(
        report["benchmarks"][0]["most_leaked"][0],
        json!({"item": "robe", "documents": 2})
    );
    contain(
        &place,
        &format!("{OPTIONS} --action drop --classes contaminated,passage"),
    );
    assert_eq!(ids("out/kept/a.jsonl"), [2]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let place = place();
    let mut results = [1, 2, 5].map(|threads| {
        contain(
            &place,
            &format!("{OPTIONS} --action drop --threads {threads}"),
        );
        files_in(&place.path("out"))
    });
    for files in &mut results {
        files.remove("run.json");
    }
    assert!(results[0] == results[1] && results[1] == results[2]);
}

#[test]
fn items_come_in_any_form() {
    let place = place();
    let harness = format!(
        "eval_key,eval_instance_index,question,answer,is_correct\nmath,7,{ROBE},three,True\nmath,7,{ROBE},four,False\n"
    );
    place.write("harness.csv", harness);
    let table = parquet([("id", strings(["x"])), ("question", strings([ROBE]))]);
    place.write("items.parquet", table);
    for (items, benchmark, item, records) in [
        ("harness.csv", "math", "math-7", 2),
        ("items.parquet", "items", "x", 1),
    ] {
        let hits = contain(
            &place,
            &format!("docs --on-bad-record skip --against {items}"),
        );
        assert_eq!(
            (&hits[0]["benchmark"], &hits[0]["item"]),
            (&json!(benchmark), &json!(item))
        );
        let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
        assert_eq!(
            (
                &report["counts"]["items"],
                &report["counts"]["item_records"]
            ),
            (&json!(1), &json!(records))
        );
    }
}

#[test]
fn documents_without_ids_are_named_by_their_places() {
    let place = place();
    place.write(
        "new.jsonl",
        lines_of([json!({"id": 1, "text": ROBE}), json!({"text": "so"})]),
    );
    let hits = contain(&place, "new.jsonl --against items.jsonl");
    assert_eq!(hits[0]["id"], "new.jsonl:0");
}

#[test]
fn wrong_calls_are_refused() {
    let place = place();
    place.write(
        "bad.jsonl",
        "{\"question\": \"Why?\"}\n{\"text\": \"so\"}\n",
    );
    place.write(
        "two.jsonl",
        "{\"id\": 1, \"question\": \"Why?\"}\n{\"id\": 1, \"question\": \"How?\"}\n",
    );
    place.write("empty.jsonl", "");
    for (arguments, code, phrases) in [
        (
            "docs --against bad.jsonl",
            1,
            &[
                "bad.jsonl",
                "line 2",
                "\"question\"",
                "--on-bad-record skip",
            ][..],
        ),
        ("docs --against two.jsonl", 1, &["\"1\"", "--item-id-field"]),
        ("docs --against empty.jsonl", 1, &["items"]),
        ("docs --against docs/a.jsonl", 1, &["a.jsonl"]),
        (
            "docs --against items.jsonl",
            1,
            &["line 4", "--on-bad-record skip"],
        ),
        (
            "docs --against items.jsonl --size 1",
            2,
            &["--size", "from 2 to 32"],
        ),
        (
            "docs --against items.jsonl --item-fields ,a",
            2,
            &["--item-fields"],
        ),
        (
            "docs --against items.jsonl --classes passage",
            2,
            &["--classes", "--action drop"],
        ),
        (
            "docs --against items.jsonl --action drop --classes short",
            2,
            &["--classes"],
        ),
        ("docs", 2, &["--against"]),
    ] {
        place
            .run(&format!("contain {arguments} -o other --quiet"))
            .refused(code, phrases);
        assert!(!place.holds("other/report.json"));
    }
    let skipped =
        "contain docs --against bad.jsonl --on-bad-record skip --dry-run --report json --quiet";
    let run = place.run(skipped).succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (
            &report["counts"]["skipped_items"],
            &report["skipped_items"][0]["row"]
        ),
        (&json!(1), &json!(1))
    );
}

/// The table of docs/contain.md that follows the classes of three hits by hand.
#[test]
fn hits_of_the_documentation_are_those_that_it_shows() {
    let page = include_str!("../../docs/contain.md");
    let section = page.split("## By hand").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<Vec<&str>> = rows
        .skip(1)
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let place = Place::new();
    let items = rows.iter().enumerate().map(|(id, row)| {
        let (question, options) = row[1].split_once(" (options: ").unwrap_or((row[1], ""));
        let options = options.trim_end_matches(')').split(", ");
        let options: Vec<&str> = options.filter(|option| !option.is_empty()).collect();
        json!({"id": id, "question": question, "options": options})
    });
    place.write("items.jsonl", lines_of(items));
    let documents = rows.iter().map(|row| json!({"text": row[0]}));
    place.write("docs.jsonl", lines_of(documents));
    let hits = contain(
        &place,
        "docs.jsonl --against items.jsonl --item-fields question,passage,options",
    );
    let shown = hits.iter().map(|hit| {
        let lacks = hit["lacks"].as_array().unwrap().iter();
        let lacks: Vec<String> = lacks
            .map(|lack| format!("`{}`", lack.as_str().unwrap()))
            .collect();
        vec![
            format!("{} of {}", hit["found"], hit["ngrams"]),
            format!("{} of {}", hit["content"][0], hit["content"][1]),
            hit["own"].to_string(),
            lacks.join(", "),
            format!("`{}`", hit["class"].as_str().unwrap()),
        ]
    });
    let shown: Vec<Vec<String>> = shown.collect();
    assert_eq!(shown.len(), 3);
    for (row, shown) in rows.iter().zip(shown) {
        assert_eq!(row[2..], shown);
    }
}
