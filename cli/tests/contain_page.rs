//! What `simgpu contain` shows of items: report.html.

use serde_json::{Value, json};

use crate::contain_actions::spread;
use crate::dedup_page::{HOSTILE, assert_intact, parts};
use crate::support::{Place, lines_of};

fn page(place: &Place) -> String {
    String::from_utf8(place.read("out/report.html")).unwrap()
}

const RUN: &str = "contain in --against items.jsonl -o out --overwrite -q";

/// Items and documents full of what a page must escape.
fn hostile() -> Place {
    let place = Place::new();
    let hidden = "\u{202e}\u{0}";
    let ask = |noun: &str| {
        format!(
            "{HOSTILE} {hidden} How often did the old {noun} of our {noun} farm near {noun} hill open its {noun} flowers?"
        )
    };
    let items = ["rose", "lily"].map(|noun| {
        json!({"id": format!("{noun}{HOSTILE}{hidden}"), "bench": HOSTILE, "question": ask(noun)})
    });
    place.write("items.jsonl", lines_of(items));
    let records = ["rose", "lily", "lily"].map(|noun| {
        json!({"id": format!("{noun}{HOSTILE}{hidden}"), "text": format!("{HOSTILE} so {hidden} {} {HOSTILE}", ask(noun))})
    });
    place.write("in/a<i>&\"'.jsonl", lines_of(records));
    place
}

/// Pages of hostile texts and of usual ones, for a browser.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let usual = spread();
    usual.run(RUN).succeeded();
    let place = hostile();
    place
        .run(&format!("{RUN} --benchmark-field bench"))
        .succeeded();
    vec![
        ("contain", page(&usual)),
        ("contain, hostile", page(&place)),
    ]
}

#[test]
fn hostile_texts_leave_the_page_intact() {
    for action in ["report", "cut", "drop", "mark"] {
        let place = hostile();
        place
            .run(&format!("{RUN} --benchmark-field bench --action {action}"))
            .succeeded();
        assert_intact(&page(&place));
    }
}

#[test]
fn page_has_the_numbers_and_the_matches() {
    let place = spread();
    place.run(RUN).succeeded();
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    let page_of_run = page(&place);
    let (_, text) = parts(&page_of_run);
    assert!(text.starts_with("2 of 2 items are asked"), "{text}");
    for phrase in [
        "48 documents of 52 ask them, in 4 files",
        "would be removed by --action drop",
        "simgpu contain INPUT… --against ITEMS -o CLEAN --action drop",
        "Where items leak",
        "No hit was excused because its words are frequent",
        "44 items table",
        "Public phrases",
        "40 use indirect truth tables",
    ] {
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
    assert_eq!(report["benchmarks"][0]["most_leaked"][0]["documents"], 44);
    let files = report["leaking_files"].as_array().unwrap();
    let sum = |field: &str| {
        files
            .iter()
            .map(|of| of[field].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((files.len(), sum("documents"), sum("hits")), (4, 48, 48));
    let removable = &report["counts"]["removable"];
    assert_eq!(
        (&removable["dropped"], &removable["cuts"]),
        (&48.into(), &48.into())
    );
    // Marked in the document, and in the item.
    let question = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take";
    assert_eq!(
        page_of_run
            .matches(&format!("<mark>{question}</mark>"))
            .count(),
        2
    );
    place.run(&format!("{RUN} --no-samples")).succeeded();
    assert!(!page(&place).contains("<mark>"));
}

#[test]
fn page_shows_near_misses_and_items_of_several_records() {
    let question = "A farmer keeps 17 goats in a pen of 40 metres by 25 metres. How many square metres of pen does each goat have, rounded down?";
    let place = Place::new();
    let items = [
        question.to_owned(),
        question.replace(", rounded", " (rounded"),
    ];
    let items = items.iter().zip(["a", "b"]);
    let items = items.map(|(question, id)| json!({"id": id, "question": question}));
    place.write("items.jsonl", lines_of(items));
    let documents = [question.to_owned(), question.replace("17", "18")];
    let documents = documents.iter().zip(["same", "near"]);
    let documents = documents.map(|(text, id)| json!({"id": id, "text": text}));
    place.write("in/docs.jsonl", lines_of(documents));
    place.run(RUN).succeeded();
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    assert_eq!(
        report["near_misses"],
        json!([{"lacks": "figures", "hits": 1}])
    );
    assert_eq!(report["merged_items"][0]["merged"], json!(["b"]));
    let page = page(&place);
    let (_, text) = parts(&page);
    for phrase in ["1 near miss", "other figures", "Items of several records"] {
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
}
