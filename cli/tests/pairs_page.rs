//! What `simgpu pairs --page` shows of similar pairs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dedup_page::{assert_intact, hostile, parts};
use crate::support::{Place, command_on, edited, families, lines_of, parse_lines, text};

fn page(place: &Place) -> String {
    String::from_utf8(place.read("p.jsonl.report.html")).unwrap()
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap()
}

/// Pages of hostile texts and of usual ones, for a browser.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let usual = in_two_files();
    usual.run("pairs in -o p.jsonl --page -q").succeeded();
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    let tokens = lists();
    tokens.run(DISTANCE_RUN).succeeded();
    vec![
        ("pairs", page(&usual)),
        ("pairs, hostile", page(&place)),
        ("pairs by distance", page(&tokens)),
    ]
}

const HOSTILE_RUN: &str = "pairs in -o p.jsonl --page -q --threshold 0.5";

const DISTANCE_RUN: &str =
    "pairs in.jsonl -o p.jsonl --page -q --unit tokens --distance hamming --within 4";

/// Families of documents, of which every third is in another file.
fn in_two_files() -> Place {
    let place = Place::new();
    let texts: Vec<String> = families(40, 5, 80);
    for (name, is_here) in [("a", [true, true, false]), ("b", [false, false, true])] {
        let here = (0..).zip(&texts).filter(|(i, _)| is_here[i % 3]);
        let records = here.map(|(i, text): (usize, _)| json!({"id": i, "text": text}));
        place.write(&format!("in/{name}.jsonl"), lines_of(records));
    }
    place
}

/// Lists of tokens with some differing places.
fn lists() -> Place {
    let place = Place::new();
    let lists = (0..60).map(|i| {
        let token = |at: usize| match (at + i) % 13 {
            0 if at < i % 6 => format!("other{i}"),
            _ => format!("t{}", at + i / 10 * 50),
        };
        json!({"id": i, "tokens": (0..20).map(token).collect::<Vec<String>>()})
    });
    place.write("in.jsonl", lines_of(lists));
    place
}

#[test]
fn hostile_texts_leave_the_page_intact() {
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    assert!(report(&place)["counts"]["similar_pairs"].as_u64().unwrap() >= 6);
    assert_intact(&page(&place));
}

/// The similarity of a pair in hundredths, rounded down.
fn hundredths(similarity: f64) -> String {
    format!("{:.0}", (100.0 * similarity + 1e-9).floor())
}

#[test]
fn page_has_the_numbers_of_the_pairs() {
    let place = in_two_files();
    let run = "pairs in -o p.jsonl --page -q --threshold 0.5";
    place.run(run).succeeded();
    let pairs = parse_lines(&place.read("p.jsonl"));
    let (report, (_, text)) = (report(&place), parts(&page(&place)));
    assert!(pairs.len() > 100, "{}", pairs.len());
    let title = format!("{} similar pairs among 200 documents", pairs.len());
    assert!(text.contains(&title), "{title}: {text}");
    // The histogram, and the files, by a count of the pairs.
    let (mut bins, mut files) = (BTreeMap::new(), BTreeMap::new());
    for pair in &pairs {
        let similarity = pair["similarity"].as_f64().unwrap();
        *bins.entry(hundredths(similarity)).or_insert(0) += 1;
        let of = ["file_a", "file_b"].map(|side| pair[side].as_str().unwrap().to_owned());
        *files.entry(of).or_insert(0) += 1;
    }
    let written = report["histogram"].as_array().unwrap().iter().map(|bin| {
        let similarity = bin["similarity"].as_f64().unwrap();
        (hundredths(similarity), bin["pairs"].as_u64().unwrap())
    });
    assert_eq!(written.collect::<BTreeMap<String, u64>>(), bins);
    let sources = report["sources"].as_array().unwrap();
    let written = sources.iter().map(|of| {
        let names = ["source_a", "source_b"].map(|side| of[side].as_str().unwrap().to_owned());
        (names, of["pairs"].as_u64().unwrap())
    });
    assert_eq!(written.collect::<BTreeMap<[String; 2], u64>>(), files);
    assert!(files.len() >= 3 && text.contains("a.jsonl itself"));
    // The least similar pairs, at most two with the same first document.
    let mut nearest: Vec<&Value> = pairs.iter().collect();
    let similarity = |pair: &Value| pair["similarity"].as_f64().unwrap();
    nearest.retain(|pair| similarity(pair) < 1.0);
    nearest.sort_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let mut firsts: BTreeMap<u64, u32> = BTreeMap::new();
    nearest.retain(|pair| {
        let seen = firsts.entry(pair["id_a"].as_u64().unwrap()).or_default();
        *seen += 1;
        *seen <= 2
    });
    let examples = report["examples"].as_array().unwrap();
    let of = |why: &'static str| examples.iter().filter(move |of| of["why"] == why);
    assert_eq!([of("threshold").count(), of("random").count()], [8, 8]);
    for (example, pair) in of("threshold").zip(&nearest) {
        assert_eq!(example["similarity"], pair["similarity"]);
    }
    for example in examples {
        let is_it = |pair: &&Value| {
            [("a", "_a"), ("b", "_b")].iter().all(|(side, end)| {
                ["id", "file", "row"]
                    .iter()
                    .all(|name| example[side][name] == pair[&format!("{name}{end}")])
            })
        };
        let pair = pairs.iter().find(is_it).unwrap();
        assert_eq!(example["similarity"], pair["similarity"]);
        assert!(text.contains(&format!("similarity {:.3}", similarity(pair))));
    }
}

#[test]
fn page_depends_on_neither_threads_nor_memory_nor_place() {
    let mut known = None;
    for way in [
        "--threads 1",
        "--threads 2 --hold-mib 0",
        "--threads 3 --memory 20KB",
    ] {
        let place = in_two_files();
        let run = format!("pairs in -o p.jsonl --page -q {way}");
        place.run(&run).succeeded();
        assert!(!page(&place).contains(place.path("").to_str().unwrap()));
        let files = ["p.jsonl", "p.jsonl.report.json", "p.jsonl.report.html"];
        let files = files.map(|name| place.read(name));
        assert!(*known.get_or_insert(files.clone()) == files, "{way}");
    }
}

#[test]
fn without_samples_no_text_is_shown() {
    let place = in_two_files();
    let run = "pairs in -o p.jsonl --page -q --overwrite";
    place.run(run).succeeded();
    let starts = |name: &str| -> Vec<String> {
        let records = parse_lines(&place.read(name)).into_iter();
        let text = |record: Value| record["text"].as_str().unwrap().chars().take(30).collect();
        records.map(text).collect()
    };
    let starts = [starts("in/a.jsonl"), starts("in/b.jsonl")].concat();
    let shown = |page: &str| {
        starts
            .iter()
            .filter(|start| page.contains(&***start))
            .count()
    };
    assert!(shown(&page(&place)) > 8);
    let with = report(&place);
    place.run(&format!("{run} --no-samples")).succeeded();
    assert_eq!(shown(&page(&place)), 0);
    assert_eq!(report(&place), with);
    place
        .run("pairs in -o q.jsonl --no-samples")
        .refused(2, &["--page", "--no-samples"]);
}

/// The command on the page leads to the same result.
#[test]
fn the_command_on_the_page_repeats_the_run() {
    for options in [
        "",
        "--threshold 0.7 --unit chars --size 6 --lowercase --scheme mersenne61 --num-perm 64 --seed 5 --identical star",
        "--candidates join --measure contained --limit 70 --max-pairs 5000",
        "--against old.jsonl --verify signature --bands 9 --rows 7",
        "--unit tokens --distance l1 --within 12",
    ] {
        let place = Place::new();
        let record = |text: String| {
            let tokens: Vec<&str> = text.split(' ').collect();
            json!({"text": text, "tokens": tokens})
        };
        let records = |part: std::ops::Range<usize>| {
            lines_of(families(20, 4, 60)[part].iter().cloned().map(record))
        };
        place.write("in.jsonl", records(0..80));
        place.write("old.jsonl", records(10..30));
        place
            .run(&format!("pairs in.jsonl -o p.jsonl --page -q {options}"))
            .succeeded();
        let page = page(&place);
        let command = command_on(&page)
            .replace("INPUT…", "in.jsonl")
            .replace("REF", "old.jsonl")
            .replace("FILE", "q.jsonl -q");
        place.run(&command).succeeded();
        for ending in ["", ".report.json", ".report.html"] {
            let [first, again] =
                ["p", "q"].map(|name| place.read(&format!("{name}.jsonl{ending}")));
            assert!(first == again, "{options}: {command}");
        }
        assert!(!place.read("p.jsonl").is_empty());
    }
}

#[test]
fn pairs_of_a_reference_and_by_distance_are_shown() {
    let place = lists();
    place.run(DISTANCE_RUN).succeeded();
    let (report, (_, shown)) = (report(&place), parts(&page(&place)));
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in parse_lines(&place.read("p.jsonl")) {
        *bins.entry(pair["distance"].as_u64().unwrap()).or_default() += 1;
    }
    let written = report["histogram"].as_array().unwrap().iter();
    let written = written.map(|bin| ["distance", "pairs"].map(|name| bin[name].as_u64().unwrap()));
    let written: BTreeMap<u64, u64> = written.map(|[distance, pairs]| (distance, pairs)).collect();
    assert!(bins.len() > 2, "{bins:?}");
    assert_eq!(written, bins);
    let farthest = bins.keys().max().unwrap();
    assert_eq!(report["examples"][0]["distance"], *farthest);
    assert!(shown.contains(&format!("distance {farthest}")), "{shown}");

    let place = Place::new();
    let of = |side: &str, seeds: std::ops::Range<u64>, edits: u64| {
        let texts = seeds.map(|seed| edited(&text(seed, 60), seed + edits, 1) + " of " + side);
        lines_of(
            (0..)
                .zip(texts)
                .map(|(id, text): (u32, String)| json!({"id": id, "text": text})),
        )
    };
    place.write("old/part.jsonl", of("the old", 0..30, 0));
    place.write("new/part.jsonl", of("the new", 10..40, 1));
    let run = "pairs new --against old -o p.jsonl --page --threshold 0.7 -q";
    place.run(run).succeeded();
    let page = page(&place);
    for expected in ["<mark>old</mark>", "<mark>new</mark>", " of the reference"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn a_page_is_that_of_the_pairs_beside_it() {
    let place = in_two_files();
    let run = "pairs in -o p.jsonl -q";
    place.run(&format!("{run} --page")).succeeded();
    assert!(place.holds("p.jsonl.report.html"));
    let report_with = report(&place);
    place
        .run(&format!("{run} --page"))
        .refused(1, &["p.jsonl", "--overwrite"]);
    // A page of an earlier run would show other pairs.
    place
        .run(&format!("{run} --overwrite --threshold 0.9"))
        .succeeded();
    assert!(!place.holds("p.jsonl.report.html"));
    assert!(report(&place).get("examples").is_none() && report_with.get("examples").is_some());
    place.run("pairs in -o - --page").refused(2, &["--page"]);
    place
        .run("pairs in -o in/a.jsonl --page --overwrite")
        .refused(1, &["a.jsonl"]);
    // What is found does not depend on the page.
    place.run("pairs in -o q.jsonl -q --page").succeeded();
    place.run(&format!("{run} --overwrite")).succeeded();
    assert_eq!(place.read("p.jsonl"), place.read("q.jsonl"));
}

#[test]
fn an_empty_run_has_a_page() {
    let place = Place::new();
    place.write("in.jsonl", "");
    place.run("pairs in.jsonl -o p.jsonl --page -q").succeeded();
    let (_, text) = parts(&page(&place));
    assert!(
        text.contains("0 similar pairs among 0 documents") && text.contains("No pair was found."),
        "{text}"
    );
}
