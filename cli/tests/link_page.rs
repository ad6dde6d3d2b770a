//! The report of `simgpu link` as a page: report.html.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, files_in, lines_of};

/// A value that would become part of the page if it were not escaped.
const HOSTILE: &str = "</td><script>alert('x')</script>&amp;\"<img src=x onerror=alert(1)>\u{202e}";

/// Records of books, of which one in three has no partner.
fn books(count: usize) -> (Vec<Value>, Vec<Value>) {
    let words = [
        "river", "stone", "glass", "winter", "garden", "silver", "shadow",
    ];
    let title = |i: usize| {
        let [first, second] = [i % 7, (i / 7) % 7].map(|i| words[i]);
        format!("the {first} {second} number {}", i * 7919 % 10007)
    };
    let a = (0..count).map(|i| json!({"id": i, "title": title(i), "year": 1900 + i % 100}));
    let b = (0..count).map(|i| match i % 3 {
        0 => json!({"id": count + i, "title": format!("another {}", i * 104_729), "year": 1900 + i % 90}),
        _ => json!({"id": count + i, "title": format!("{} x", title(i)), "year": 1900 + i % 100}),
    });
    (a.collect(), b.collect())
}

fn page(place: &Place) -> String {
    String::from_utf8(place.read("out/report.html")).unwrap()
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

/// The text of a page, without tags, with blanks between words.
fn text(page: &str) -> String {
    let body = page.split_once("</style>").unwrap().1;
    let mut text = String::new();
    let mut is_tag = false;
    for letter in body.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => text.push(letter),
            _ => {}
        }
        if letter == '>' {
            text.push(' ');
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn run(place: &Place, inputs: &str, options: &str) {
    place
        .run(&format!("link {inputs} -o out --overwrite -q {options}"))
        .succeeded();
}

#[test]
fn page_has_the_numbers_of_the_report() {
    let place = Place::new();
    let (a, b) = books(1500);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    run(&place, "a.jsonl b.jsonl", "--fields title,year");
    let (report, text) = (report(&place), text(&page(&place)));
    let estimate = |name: &str| report["estimate"][name].as_f64().unwrap();
    let of_range = |end: usize| report["estimate"]["precision_range"][end].as_f64().unwrap();
    let links = report["counts"]["links"].as_u64().unwrap();
    assert!(links > 900 && links < 1100, "{links}");
    let grouped = |count: u64| match count {
        0..1000 => count.to_string(),
        _ => format!("{},{:03}", count / 1000, count % 1000),
    };
    for expected in [
        "Links between a.jsonl and b.jsonl".to_owned(),
        format!("{} links between 1,500 and 1,500 records", grouped(links)),
        format!(
            "{:.1} % ({:.1} % to {:.1} %) of the links are expected to be right",
            100.0 * estimate("expected_precision"),
            100.0 * of_range(0),
            100.0 * of_range(1)
        ),
        format!(
            "{:.1} % of the records of A have a partner, estimated",
            100.0 * estimate("share")
        ),
        format!(
            "{:.3} threshold: least score of a link by text, chosen by the runners-up",
            estimate("threshold")
        ),
        format!("threshold {:.3}", estimate("threshold")),
        "Best pairs per 0.02 of score".to_owned(),
        "skipped as bad 0 0".to_owned(),
        "fields title and year".to_owned(),
        "match one-to-one".to_owned(),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    assert!(!text.contains("Points of each field"));
    // Every bar of the histogram names its number of pairs.
    let mut bars: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for bin in report["histogram"].as_array().unwrap() {
        let score = bin["score"].as_f64().unwrap().min(0.98);
        let end = format!("{:.2}", score + 0.02);
        let end = end.trim_end_matches('0').trim_end_matches('.');
        let pairs = bars.entry(format!("to {end}:")).or_default();
        pairs[0] += bin["accepted"].as_u64().unwrap();
        pairs[1] += bin["runners_up"].as_u64().unwrap();
    }
    assert!(bars.len() > 5);
    for (bar, pairs) in bars {
        for pairs in pairs.into_iter().filter(|pairs| *pairs > 0) {
            let bar = format!("{bar} {}", grouped(pairs));
            assert!(text.contains(&bar), "{bar}: {text}");
        }
    }
    for example in report["examples"].as_array().unwrap() {
        let score = format!("score {:.4}", example["score"].as_f64().unwrap());
        assert!(text.contains(&score), "{score}");
        for values in example["values"].as_array().unwrap() {
            assert!(text.contains(values[0].as_str().unwrap()), "{example}");
        }
    }
}

#[test]
fn points_are_those_of_the_report() {
    let place = Place::new();
    let (a, b) = books(1500);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    let options = "--fields title,year --score points";
    run(&place, "a.jsonl b.jsonl", options);
    let (report, text) = (report(&place), text(&page(&place)));
    assert!(text.contains("score points"), "{text}");
    let fields = report["points"].as_array().unwrap();
    assert_eq!(fields.len(), 3);
    for field in fields {
        let levels = field["levels"].as_array().unwrap();
        let points = levels.last().unwrap()["points"].as_f64().unwrap();
        let points = format!("% {points:+.2}");
        assert!(text.contains(&points), "{points}: {text}");
    }
    for example in report["examples"].as_array().unwrap() {
        let points = example["whole_points"].as_f64().unwrap();
        let points = format!(" {points:+.2}");
        assert!(text.contains(&points), "{points}: {text}");
    }
}

#[test]
fn given_parameters_are_stated() {
    let place = Place::new();
    let (a, b) = books(90);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    let fields = "--fields title,year";
    run(
        &place,
        "a.jsonl b.jsonl",
        &format!("{fields} --threshold 0.7 --share 0.5"),
    );
    let of_two = text(&page(&place));
    for expected in [
        "50.0 % of the records of A have a partner, as given",
        "0.700 threshold: least score of a link by text, as given",
        "threshold 0.7 share 0.5",
    ] {
        assert!(of_two.contains(expected), "{expected}: {of_two}");
    }
    run(&place, "a.jsonl", &format!("{fields} --threshold 0.7"));
    let of_one = text(&page(&place));
    for expected in [
        "Links within a.jsonl",
        "among 90 records",
        "entities of two or more records",
        "cannot tell how many of the links are right: ",
        "Pairs of two entities",
    ] {
        assert!(of_one.contains(expected), "{expected}: {of_one}");
    }
}

#[test]
fn hostile_values_are_escaped() {
    let place = Place::new();
    let record = |id: &str, name: &str| json!({"id": id, "<b>name</b>": name});
    place.write(
        "a<i>&.jsonl",
        lines_of([
            record(HOSTILE, HOSTILE),
            record("2", "<svg onload=alert(2)> alpha"),
        ]),
    );
    place.write(
        "b.jsonl",
        lines_of([
            record("3", HOSTILE),
            record("4", "alpha beta"),
            json!({"id": 5, "<b>name</b>": [HOSTILE]}),
        ]),
    );
    let options = "--fields <b>name</b> --on-bad-record skip --threshold 0.5";
    run(&place, "a<i>&.jsonl b.jsonl", options);
    let page = page(&place);
    assert!(page.contains("&lt;script&gt;") && page.contains("Bad records, skipped"));
    for tag in [
        "<script",
        "<img",
        "<svg onload",
        "<b>name",
        "<i>&",
        "http:",
        "https:",
        "src=",
        "url(",
    ] {
        let body = page.split_once("</style>").unwrap().1;
        let found = body.replace("src=x onerror", "");
        assert!(!found.contains(tag), "{tag}: {found}");
    }
}

#[test]
fn page_depends_on_neither_threads_nor_place() {
    let pages: Vec<String> = [1, 5]
        .map(|threads| {
            let place = Place::new();
            let (a, b) = books(2000);
            place.write("a.jsonl", lines_of(a));
            place.write("b.jsonl", lines_of(b));
            run(
                &place,
                "a.jsonl b.jsonl",
                &format!("--fields title,year --threads {threads}"),
            );
            let page = page(&place);
            assert!(!page.contains(place.path("").to_str().unwrap()));
            page
        })
        .into();
    assert!(pages[0] == pages[1]);
}

#[test]
fn page_is_replaced_with_the_other_files() {
    let place = Place::new();
    let (a, b) = books(60);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    run(&place, "a.jsonl b.jsonl", "--fields title");
    let first = page(&place);
    run(&place, "a.jsonl", "--fields title");
    assert_ne!(page(&place), first);
    let files: Vec<String> = files_in(&place.path("out")).into_keys().collect();
    let expected = [
        "entities.jsonl",
        "links.jsonl",
        "report.html",
        "report.json",
        "run.json",
    ];
    assert_eq!(files, expected);
}

#[test]
fn empty_input_has_a_page() {
    let place = Place::new();
    place.write("a.csv", "id,name\n");
    place.write("b.csv", "id,name\n1,Ann\n");
    run(&place, "a.csv b.csv", "--fields name");
    let text = text(&page(&place));
    assert!(
        text.contains("No two records have a word in common"),
        "{text}"
    );
    assert!(text.contains("0 links between 0 and 1 records"), "{text}");
}
