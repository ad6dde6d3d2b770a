//! What `simgpu passages` shows of repeated passages: report.html, and the same numbers in report.json.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dedup_page::{HOSTILE, assert_intact, hostile, parts};
use crate::support::{Place, command_on, files_in, lines_of, parse_lines, text};

fn page(place: &Place) -> String {
    String::from_utf8(place.read("out/report.html")).unwrap()
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

/// Three files whose documents share a boilerplate, and some parts of each other.
fn corpus() -> Place {
    let place = Place::new();
    let boilerplate = text(9000, 40);
    let of = |i: u64| {
        let shared = text(i / 3, 30);
        format!(
            "{} {boilerplate} {shared}, {}",
            text(100 + i, 20),
            text(200 + i, 15)
        )
    };
    for (name, rows) in [("a", 0..8), ("b", 8..20), ("c", 20..30)] {
        let records = rows.map(|i| json!({"id": format!("d{i}"), "text": of(i)}));
        place.write(&format!("in/{name}.jsonl"), lines_of(records));
    }
    place
}

const RUN: &str = "passages in -o out --overwrite -q --min-length 12";

const HOSTILE_RUN: &str = "passages in -o out --overwrite -q --min-length 6 --action cut";

/// Pages of hostile texts and of usual ones, for a browser.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let usual = corpus();
    usual.run(&format!("{RUN} --action cut")).succeeded();
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    vec![
        ("passages", page(&usual)),
        ("passages, hostile", page(&place)),
    ]
}

#[test]
fn hostile_texts_leave_the_page_intact() {
    let place = hostile();
    for action in ["cut", "drop", "report", "mark"] {
        let run = HOSTILE_RUN.replace("cut", action);
        place.run(&run).succeeded();
        assert!(report(&place)["counts"]["pieces"].as_u64().unwrap() >= 6);
        assert_intact(&page(&place));
    }
    // Passages within a word of a million letters.
    let place = Place::new();
    let long = format!("{}{HOSTILE}", "xy\u{4e2d}".repeat(200_000));
    let records = [0, 1].map(|i| json!({"id": i, "text": format!("{i}{long}\u{202e}{i}")}));
    place.write("in.jsonl", lines_of(records));
    place
        .run("passages in.jsonl -o out -q --unit bytes --action cut --snap none")
        .succeeded();
    assert_intact(&page(&place));
}

#[test]
fn page_has_the_numbers_of_the_passages() {
    let place = corpus();
    place.run(RUN).succeeded();
    let (report, (_, text)) = (report(&place), parts(&page(&place)));
    let pieces = parse_lines(&place.read("out/passages.jsonl"));
    let count = |name: &str| report["counts"][name].as_u64().unwrap();
    assert!(pieces.len() > 40 && count("pieces") == pieces.len() as u64);
    let covered = 100.0 * count("covered_bytes") as f64 / count("bytes") as f64;
    let title = format!("{covered:.1} % of the text repeats");
    assert!(text.starts_with(&title), "{title}: {text}");
    // Lengths and sources by a count of the pieces.
    let number = |piece: &Value, name: &str| piece[name].as_u64().unwrap();
    let (mut lengths, mut within) = (BTreeMap::new(), BTreeMap::new());
    for piece in &pieces {
        let doubled = (number(piece, "length") / 12).ilog2();
        *lengths.entry(12 << doubled).or_insert(0) += 1;
        let file = piece["file"].as_str().unwrap().to_owned();
        let of: &mut [u64; 2] = within.entry(file).or_default();
        of[0] += 1;
        of[1] += u64::from(piece["file"] == piece["source_file"]);
    }
    let listed = |name: &str| report[name].as_array().unwrap().clone();
    let written = listed("lengths").into_iter();
    let written = written.map(|bin| (number(&bin, "least"), number(&bin, "pieces")));
    assert_eq!(written.collect::<BTreeMap<u64, u64>>(), lengths);
    let mut bytes = [0; 2];
    for source in listed("sources") {
        let of = within[source["source"].as_str().unwrap()];
        assert_eq!(
            ["pieces", "within_source"].map(|name| number(&source, name)),
            of
        );
        bytes[0] += number(&source, "bytes");
        bytes[1] += number(&source, "covered_bytes");
    }
    assert_eq!(bytes, ["bytes", "covered_bytes"].map(count));
}

#[test]
fn page_shows_frequent_passages_and_covered_documents() {
    let place = corpus();
    place.run(RUN).succeeded();
    let (report, (_, text)) = (report(&place), parts(&page(&place)));
    let pieces = parse_lines(&place.read("out/passages.jsonl"));
    let number = |piece: &Value, name: &str| piece[name].as_u64().unwrap();
    let listed = |name: &str| report[name].as_array().unwrap().clone();
    let mut begins: BTreeMap<(String, u64), u64> = BTreeMap::new();
    for piece in &pieces {
        let source = piece["source_id"].as_str().unwrap().to_owned();
        let begin = (source, number(piece, "source_start"));
        *begins.entry(begin).or_default() += 1;
    }
    // The most frequent passage is the boilerplate. A few words before it agree by chance.
    let frequent = &listed("frequent")[0];
    let most = begins.values().max().unwrap();
    assert_eq!(number(frequent, "pieces"), *most);
    assert!(*most >= 25, "{most}");
    let beginning = crate::support::text(9000, 40);
    assert!(text.contains(&beginning[..60]), "{text}");
    // The documents with the most covered bytes, by the union of their pieces.
    let mut of_documents: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for piece in &pieces {
        let covered = of_documents.entry(piece["id"].as_str().unwrap());
        let covered = covered.or_insert_with(|| vec![false; 2000]);
        let [start, end] =
            ["start", "end"].map(|name| usize::try_from(number(piece, name)).unwrap());
        covered[start..end].fill(true);
    }
    let most = of_documents.values();
    let most = most.map(|covered| covered.iter().filter(|is_covered| **is_covered).count());
    let top = &listed("most_covered")[0];
    // Spans may join two pieces by the blank between them.
    assert!(number(top, "covered_bytes") >= most.max().unwrap() as u64);
    for example in listed("examples") {
        let is_it = |piece: &&Value| {
            piece["id"] == example["document"]["id"]
                && piece["source_id"] == example["source"]["id"]
                && [
                    "start",
                    "end",
                    "source_start",
                    "source_end",
                    "length",
                    "exact",
                ]
                .iter()
                .all(|name| piece[name] == example[name])
        };
        assert!(pieces.iter().any(|piece| is_it(&piece)), "{example}");
    }
    let least = pieces.iter().map(|piece| number(piece, "length")).min();
    assert_eq!(Some(number(&listed("examples")[0], "length")), least);
}

/// What is marked on the page was cut, and what stands around it was not.
#[test]
fn page_marks_what_was_cut() {
    let place = Place::new();
    let [before, passage, after] = [text(1, 9), text(2, 60), text(3, 9)];
    let texts = [passage.clone(), format!("{before} {passage} {after}")];
    place.write(
        "in.jsonl",
        lines_of(texts.map(|text| json!({"text": text}))),
    );
    place
        .run("passages in.jsonl -o out -q --action cut")
        .succeeded();
    let page = page(&place);
    let shown = format!("<bdi>{before} <mark>{passage}</mark> {after}</bdi>");
    assert!(page.contains(&shown), "{shown}: {page}");
    assert!(page.contains(&format!("<mark>{passage}</mark></bdi>")));
    place
        .run("passages in.jsonl -o out -q --overwrite --action drop --max-covered 0.5")
        .succeeded();
    assert!(self::page(&place).contains("in a removed document"));
}

#[test]
fn page_depends_on_neither_threads_nor_memory_nor_place() {
    for action in ["report", "cut", "drop --max-covered 0.4"] {
        let mut known = None;
        for way in ["--threads 1", "--threads 3", "--threads 2 --memory 1KB"] {
            let place = corpus();
            place
                .run(&format!("{RUN} --action {action} {way}"))
                .succeeded();
            assert!(!page(&place).contains(place.path("").to_str().unwrap()));
            let files = ["report.html", "report.json", "passages.jsonl"];
            let files = files.map(|name| place.read(&format!("out/{name}")));
            assert!(
                *known.get_or_insert(files.clone()) == files,
                "{action} {way}"
            );
        }
    }
}

#[test]
fn without_samples_no_text_is_shown() {
    let place = corpus();
    let words = |page: &str| {
        let words = text(9000, 40);
        let words: Vec<&str> = words.split(' ').collect();
        let shown = |words: &&[&str]| page.contains(&words.join(" "));
        words.windows(3).filter(shown).count()
    };
    place.run(RUN).succeeded();
    assert!(words(&page(&place)) > 10);
    let with = report(&place);
    for memory in ["", "--memory 1KB"] {
        place
            .run(&format!("{RUN} --no-samples {memory}"))
            .succeeded();
        assert_eq!(words(&page(&place)), 0);
        assert_eq!(report(&place), with);
    }
}

/// The command on the page leads to the same result.
#[test]
fn the_command_on_the_page_repeats_the_run() {
    for options in [
        "",
        "--unit lines --lowercase --strip-punctuation --merge-whitespace --mask-digits --min-length 9",
        "--action cut --snap none --min-left 20 --same-document keep --min-length 12",
        "--action drop --max-covered 0.4 --limit 20 --min-length 9 --bytes-equal",
        "--action mark --mark-field p.q --occurrences all --min-count 3 --min-length 12",
        "--against old.jsonl --against-text-field body --only-against --min-length 12",
        "--unit tokens --min-length 20 --prefer-source *b.jsonl --on-bad-record skip",
    ] {
        let place = corpus();
        for name in ["a", "b", "c"] {
            let records = parse_lines(&place.read(&format!("in/{name}.jsonl")));
            let records = records.into_iter().map(|mut record| {
                let tokens: Vec<&str> = record["text"].as_str().unwrap().split(' ').collect();
                record["tokens"] = json!(tokens);
                record
            });
            let bad = if options.contains("skip") { "{}\n" } else { "" };
            let lines = [&lines_of(records)[..], bad.as_bytes()].concat();
            place.write(&format!("in/{name}.jsonl"), lines);
        }
        place.write("old.jsonl", lines_of([json!({"body": text(9000, 40)})]));
        place
            .run(&format!("passages in -o out -q {options}"))
            .succeeded();
        let page = page(&place);
        let command = command_on(&page)
            .replace("INPUT…", "in")
            .replace("REF", "old.jsonl")
            .replace("DIR", "again -q")
            .replace('\'', "");
        place.run(&command).succeeded();
        let [mut first, mut again] = ["out", "again"].map(|folder| files_in(&place.path(folder)));
        first.remove("run.json");
        again.remove("run.json");
        assert!(first == again, "{options}: {command}");
    }
}

#[test]
fn an_empty_run_has_a_page() {
    let place = Place::new();
    place.write("in.jsonl", "");
    place.run("passages in.jsonl -o out -q").succeeded();
    let (_, text) = parts(&page(&place));
    assert!(
        text.starts_with("0.0 % of the text repeats") && text.contains("No passage was found."),
        "{text}"
    );
}
