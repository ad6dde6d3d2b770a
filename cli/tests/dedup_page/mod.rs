//! What `simgpu dedup` shows of the removed documents: report.html and samples.jsonl, sources and warnings.

mod places;

mod sources;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, command_on, edited, families, files_in, lines_of, parse_lines, text};

pub(crate) use places::{HOSTILE, hostile, pages, parts};

use places::{HOSTILE_RUN, page, report};

#[test]
fn hostile_texts_leave_the_page_intact() {
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    let removed = report(&place)["counts"]["removed"].as_u64().unwrap();
    assert!(removed >= 6, "{removed}");
    assert!(place.read("out/samples.jsonl").len() <= 2_000_000);
    assert_intact(&page(&place));
}

/// A page of hostile texts has only known tags, all of them closed.
#[track_caller]
pub(crate) fn assert_intact(page: &str) {
    assert!(page.len() < 2_000_000);
    let (tags, text) = parts(page);
    assert!(
        text.contains("&lt;script&gt;alert")
            && text.contains("⟨U+202E⟩")
            && text.contains("⟨U+0000⟩")
    );
    let known = [
        "a", "article", "b", "bdi", "body", "br", "code", "desc", "div", "figure", "footer", "h1",
        "h2", "h3", "head", "header", "html", "i", "li", "line", "main", "mark", "p", "rect",
        "section", "span", "strong", "style", "svg", "table", "tbody", "td", "text", "th", "thead",
        "title", "tr", "tspan", "ul",
    ];
    let mut open: Vec<&str> = vec!["html", "head"];
    for tag in &tags {
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        assert!(known.contains(&name), "{tag}");
        for bad in ["onerror", "src=", "http:", "https:", "url(", "javascript"] {
            assert!(!tag.contains(bad), "{tag}");
        }
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if tag == "br" => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!page.contains(['\u{0}', '\u{202e}', '\u{2066}', '\u{200f}']));
}

#[test]
fn page_depends_on_neither_threads_nor_memory_nor_place() {
    let texts = families(60, 6, 80);
    let (mut seen, mut first) = (Vec::new(), None);
    for way in [
        "--threads 1",
        "--threads 2 --hold-mib 0",
        "--threads 5",
        "--threads 2 --memory 20KB",
    ] {
        for cluster in ["greedy", "connected"] {
            let place = Place::with_texts(&texts);
            place
                .run(&format!(
                    "dedup in.jsonl -o out -q --cluster {cluster} {way}"
                ))
                .succeeded();
            let files = files_in(&place.path("out"));
            let shown =
                ["report.html", "samples.jsonl", "report.json"].map(|name| files[name].clone());
            assert!(!page(&place).contains(place.path("").to_str().unwrap()));
            first.get_or_insert(shown.clone());
            seen.push((cluster, shown));
        }
    }
    for (cluster, shown) in &seen {
        let same = seen.iter().find(|(other, _)| other == cluster).unwrap();
        assert!(*shown == same.1, "{cluster}");
    }
}

#[test]
fn page_has_the_numbers_of_the_report() {
    let place = Place::with_texts(families(60, 6, 80));
    place.run("dedup in.jsonl -o out -q").succeeded();
    let (report, (_, text)) = (report(&place), parts(&page(&place)));
    let count = |name: &str| report["counts"][name].as_u64().unwrap();
    let removed = parse_lines(&place.read("out/removed.jsonl"));
    let lost = 100.0 * count("lost_shingles") as f64 / count("removed_shingles") as f64;
    for expected in [
        format!("{} of 360 documents removed", count("removed")),
        format!(
            "360 documents = {} kept + {} removed + 0 skipped as bad",
            count("kept"),
            count("removed")
        ),
        format!("lost {lost:.1} %"),
        format!("{} clusters of two or more documents", count("clusters")),
        "threshold 0.8".to_owned(),
        format!("in.jsonl 360 {} {}", count("kept"), count("removed")),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    // The histogram by a count of the removed documents.
    let hundredths = |similarity: f64| format!("{similarity:.0}");
    let mut bins: BTreeMap<String, u64> = BTreeMap::new();
    for line in &removed {
        let similarity = line["similarity"].as_f64().unwrap();
        let bin = hundredths((100.0 * similarity + 1e-9).floor());
        *bins.entry(bin).or_insert(0) += 1;
    }
    let bin = |bin: &Value| {
        (
            hundredths(100.0 * bin["similarity"].as_f64().unwrap()),
            bin["removed"].as_u64().unwrap(),
        )
    };
    let written: BTreeMap<String, u64> = report["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(bin)
        .collect();
    assert_eq!(written, bins);
    // The examples are removed documents, the least similar among them, and their texts are those of the input.
    let input = parse_lines(&place.read("in.jsonl"));
    let samples = parse_lines(&place.read("out/samples.jsonl"));
    let row = |value: &Value| usize::try_from(value["row"].as_u64().unwrap()).unwrap();
    for sample in &samples {
        assert_eq!(sample["text"], input[row(sample)]["text"]);
        assert_eq!(sample["bytes"], sample["text"].as_str().unwrap().len());
    }
    let examples = report["examples"].as_array().unwrap();
    for example in examples {
        let line = removed
            .iter()
            .find(|line| line["row"] == example["removed"]["row"])
            .unwrap();
        for (inner, outer) in [
            ("id", "kept_id"),
            ("file", "kept_file"),
            ("row", "kept_row"),
        ] {
            assert_eq!(example["kept"][inner], line[outer]);
        }
        for same in ["similarity", "lost", "found_by"] {
            assert_eq!(example[same], line[same]);
        }
        for of in [&example["removed"], &example["kept"]] {
            assert!(samples.iter().any(|sample| row(sample) == row(of)));
        }
    }
    let of = |why: &str| {
        examples
            .iter()
            .filter(|example| example["why"] == why)
            .count()
    };
    assert_eq!([of("threshold"), of("random"), of("lost")], [8, 8, 8]);
    let compared = removed.iter().filter(|line| line["found_by"] == "exact");
    let least = compared
        .map(|line| line["similarity"].as_f64().unwrap())
        .fold(1.0, f64::min);
    assert_eq!(examples[0]["similarity"], least);
    assert!(text.contains(&format!("similarity {least:.3}")));
}

#[test]
fn without_samples_no_text_is_shown() {
    let place = Place::with_texts(families(20, 4, 60));
    place
        .run("dedup in.jsonl -o out -q --no-samples")
        .succeeded();
    assert!(!place.holds("out/samples.jsonl"));
    let page = page(&place);
    let input = parse_lines(&place.read("in.jsonl"));
    for record in &input {
        let start: String = record["text"].as_str().unwrap().chars().take(30).collect();
        assert!(!page.contains(&start));
    }
    assert!(!report(&place)["examples"].as_array().unwrap().is_empty());
    place.run("dedup in.jsonl -o other -q").succeeded();
    assert_eq!(
        place.read("out/report.json"),
        place.read("other/report.json")
    );
}

/// The command on the page leads to the same result.
#[test]
fn the_command_on_the_page_repeats_the_run() {
    for options in [
        "",
        "--threshold 0.7 --unit chars --size 6 --lowercase --scheme mersenne61 --num-perm 64 --seed 5",
        "--candidates join --cluster connected --keep longest --limit 70",
        "--bands 9 --rows 7 --verify signature --source-field id --scheme datatrove",
        "--against old.jsonl --against-text-field body --min-shingles 40 --drop-short --drop-empty",
        "--measure contained --on-bad-record skip",
    ] {
        let place = Place::new();
        let records = families(20, 4, 60).into_iter();
        let records = records.map(|text| json!({"text": text, "score": 1}));
        let bad = if options.contains("skip") { "{}\n" } else { "" };
        place.write(
            "in.jsonl",
            [&lines_of(records)[..], bad.as_bytes()].concat(),
        );
        let old = families(20, 1, 60).into_iter();
        place.write("old.jsonl", lines_of(old.map(|text| json!({"body": text}))));
        place
            .run(&format!("dedup in.jsonl -o out -q {options}"))
            .succeeded();
        let page = page(&place);
        let command = command_on(&page)
            .replace("INPUT…", "in.jsonl")
            .replace("REF", "old.jsonl")
            .replace("DIR", "again -q");
        place.run(&command).succeeded();
        let [mut first, mut again] = ["out", "again"].map(|folder| files_in(&place.path(folder)));
        first.remove("run.json");
        again.remove("run.json");
        assert!(first == again, "{options}: {command}");
    }
}

#[test]
fn texts_keep_their_line_breaks_up_to_a_limit() {
    let place = Place::new();
    let lines = |edit: &str| {
        let lines: Vec<String> = (0..200).map(|i| format!("line{i} of many")).collect();
        format!("\n\n{edit} {}", lines.join("\n"))
    };
    let texts = [lines("first"), lines("second")];
    let records = texts.iter().map(|text| json!({"id": "same", "text": text}));
    place.write("in.jsonl", lines_of(records));
    place.run("dedup in.jsonl -o out -q").succeeded();
    let page = page(&place);
    // White space before a text is left out.
    for (edit, end) in [("second", ""), ("first", "")] {
        let start = format!("<bdi><mark>{edit}</mark> line0 of many\nline1 of many{end}");
        assert!(page.contains(&start), "{start}: {page}");
    }
    let beginning = "<bdi>first line0 of many\nline1 of many\n";
    let (_, shown) = page.split_once(beginning).unwrap();
    let (shown, _) = shown.split_once("</bdi>").unwrap();
    assert!(
        shown.ends_with("line7 of many<i> … the rest is not shown</i>"),
        "{shown}"
    );
    assert!(page.contains("two documents with the same id: file and row tell them apart"));
    assert!(page.contains("1 document has the id of an earlier one"));
}

/// The command on the page lists what it does not show.
#[test]
fn what_is_not_shown_of_a_cluster_can_be_listed() {
    let place = Place::new();
    let near = |seed: u64| edited(&text(1, 200), seed, 1);
    let records = (0..9).map(|i| json!({"id": format!("it's{i}"), "text": near(i)}));
    place.write("in.jsonl", lines_of(records));
    place.run("dedup in.jsonl -o out -q").succeeded();
    let page = page(&place);
    let removed = report(&place)["counts"]["removed"].as_u64().unwrap();
    assert!(removed > 4, "{removed}");
    let more = format!("and not shown here: {}.", removed - 2);
    assert!(page.contains(&more), "{more}");
    assert!(
        page.contains("<code class=\"long\">simgpu show DIR 'it'\\''s0'</code>"),
        "{page}"
    );
    let shown = place.run("show out it's0 --no-text").succeeded();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let listed = format!("{removed} documents removed for it");
    assert!(shown.contains(&listed), "{shown}");
    assert!(page.contains(">6–10</text>"), "{page}");
}

#[test]
fn an_empty_run_has_a_page() {
    let place = Place::new();
    place.write("in.jsonl", "");
    place.run("dedup in.jsonl -o out -q").succeeded();
    let (_, text) = parts(&page(&place));
    assert!(
        text.contains("0 of 0 documents removed") && text.contains("No document was removed."),
        "{text}"
    );
    assert!(place.read("out/samples.jsonl").is_empty());
}
