//! What `simgpu dedup` shows of the removed documents: report.html and samples.jsonl, sources and warnings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, command_on, edited, families, files_in, lines_of, parse_lines, text};

/// A value that would become part of the page if it were not escaped.
pub(crate) const HOSTILE: &str = "</bdi></td></style><script>alert('x')</script>&amp;\"'<img src=x onerror=alert(1)>\u{202e}\u{0}";

/// Texts that are hard to show, each with a near copy: the shingles of most are those of a common text.
fn hostile_texts() -> Vec<String> {
    let common = text(1, 200);
    let long = "x".repeat(1 << 20);
    let parts = [
        HOSTILE.to_owned(),
        "\u{202e}\u{2066}\u{200f}turned\u{202d}".to_owned(),
        long,
        "\u{0}\u{1}\u{7f}\u{85}".to_owned(),
        "\u{4e2d}\u{6587}".repeat(300),
        "]]><!-- --!>{{}}<textarea><plaintext>".to_owned(),
    ];
    let both = |part: &String| {
        [
            format!("{common} {part}"),
            format!("{common} {part} {HOSTILE}"),
        ]
    };
    parts.iter().flat_map(both).collect()
}

/// Hostile ids, sources, texts and names of files.
pub(crate) fn hostile() -> Place {
    let place = Place::new();
    let records = hostile_texts().into_iter().enumerate().map(|(i, text)| {
        json!({"id": format!("{i}{HOSTILE}"), "text": text, "from": format!("{}{HOSTILE}", i % 2)})
    });
    place.write("in/a<i>&\"'.jsonl", lines_of(records));
    place
}

const HOSTILE_RUN: &str = "dedup in -o out --overwrite -q --threshold 0.5 --source-field from";

/// Pages of hostile texts and of usual ones, for a browser.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let usual = Place::with_texts(families(30, 5, 120));
    usual.run("dedup in.jsonl -o out -q").succeeded();
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    vec![
        ("removed", page(&usual)),
        ("removed, hostile", page(&place)),
    ]
}

fn page(place: &Place) -> String {
    String::from_utf8(place.read("out/report.html")).unwrap()
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

/// The tags of a page, and its text with blanks between words.
pub(crate) fn parts(page: &str) -> (Vec<String>, String) {
    let body = page.split_once("</style>").unwrap().1;
    let (mut tags, mut text) = (Vec::new(), String::new());
    for (i, part) in body.split('<').enumerate() {
        let rest = if i == 0 {
            part
        } else {
            let (tag, rest) = part.split_once('>').unwrap();
            tags.push(tag.to_owned());
            text.push(' ');
            rest
        };
        text += rest;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    (tags, words.join(" "))
}

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

/// Counts by source, computed from the removed documents.
#[test]
fn sources_add_up() {
    let place = Place::new();
    let texts = families(40, 5, 60);
    for (name, of) in [("a", 0), ("b", 1), ("c", 2)] {
        let records = texts.iter().enumerate().filter(|(i, _)| i % 3 == of);
        let records = records.map(|(i, text)| match i % 4 {
            0 => json!({"id": i, "text": text}),
            from => json!({"id": i, "text": text, "from": from}),
        });
        place.write(&format!("in/{name}.jsonl"), lines_of(records));
    }
    for (option, by) in [
        ("", "file"),
        ("--source-field from", "from"),
        ("--source-field from --memory 20KB", "from"),
    ] {
        place
            .run(&format!("dedup in -o out --overwrite -q {option}"))
            .succeeded();
        let removed = parse_lines(&place.read("out/removed.jsonl"));
        let of = |id: &Value, file: &Value| match by {
            "file" => file.clone(),
            _ => match id.as_u64().unwrap() % 4 {
                0 => Value::Null,
                from => json!(from.to_string()),
            },
        };
        let report = report(&place);
        let sources = report["sources"].as_array().unwrap();
        assert_eq!(sources.len(), if by == "file" { 3 } else { 4 });
        let mut documents = 0;
        for source in sources {
            let own = removed
                .iter()
                .filter(|line| of(&line["id"], &line["file"]) == source["source"]);
            let own: Vec<&Value> = own.collect();
            assert_eq!(source["removed"], own.len());
            let number = |name: &str| source[name].as_u64().unwrap();
            assert_eq!(number("documents"), number("kept") + number("removed"));
            documents += number("documents");
            for other in source["removed_for"].as_array().unwrap() {
                let lines = own
                    .iter()
                    .filter(|line| of(&line["kept_id"], &line["kept_file"]) == other["source"]);
                assert_eq!(other["removed"], lines.count());
            }
        }
        assert_eq!(report["counts"]["documents"], documents);
    }
    place
        .run("dedup in -o - --source-field from")
        .refused(2, &["--source-field"]);
    let refused = "dedup in -o out --overwrite --source-field list";
    place.write("in/d.jsonl", "{\"text\": \"a\", \"list\": [1]}\n");
    place
        .run(refused)
        .refused(1, &["d.jsonl", "line 1", "--source-field"]);
}

/// Texts of which 5,000 are one template with other fillings, and a file that copies another.
#[test]
fn a_template_and_a_copied_file_are_told_once_each() {
    let place = Place::new();
    let words = |seed: u64, count: usize| -> Vec<String> {
        text(seed, count).split(' ').map(str::to_owned).collect()
    };
    let template = words(1, 300);
    let filled = |i: u64| {
        let mut filled = template.clone();
        let at = usize::try_from(i * 7919 % 290).unwrap();
        for (j, word) in filled[at..at + 1 + usize::try_from(i % 5).unwrap()]
            .iter_mut()
            .enumerate()
        {
            *word = format!("filling{i}x{j}");
        }
        filled.join(" ")
    };
    let own = |from: u64, count: u64| (from..from + count).map(|i| text(1_000_000 + i, 12));
    let copied: Vec<String> = own(100_000, 4000).collect();
    let first: Vec<String> = (0..5000).map(filled).chain(own(0, 7000)).collect();
    for (name, texts) in [("a", &first), ("b", &copied), ("c", &copied)] {
        place.write(
            &format!("in/{name}.jsonl"),
            lines_of(texts.iter().map(|text| json!({"text": text}))),
        );
    }
    let run = place.run("dedup in -o out").succeeded();
    let told = |phrase: &str| run.stderr.matches(phrase).count();
    assert_eq!(told("warning:"), 2, "{}", run.stderr);
    assert_eq!(
        told("the largest cluster has more than 1 % of all documents: 5,000 (25.0 %)"),
        1
    );
    assert_eq!(told("the source c.jsonl loses more than half"), 1);
    let warnings = report(&place)["warnings"].clone();
    assert_eq!(warnings.as_array().unwrap().len(), 2);
    assert_eq!(
        warnings[0],
        json!({"warning": "large_cluster", "documents": 5000, "of": 20000})
    );
    assert_eq!(
        (&warnings[1]["warning"], &warnings[1]["source"]),
        (&json!("source_loss"), &json!("c.jsonl"))
    );
    let (_, shown) = parts(&page(&place));
    assert_eq!(shown.matches("Warning:").count(), 2, "{shown}");
    // None on a hundred.
    let few = Place::new();
    for name in ["a", "b"] {
        few.write(
            &format!("in/{name}.jsonl"),
            lines_of((0..50).map(|i| json!({"text": edited(&text(3, 40), i % 3, 1)}))),
        );
    }
    let run = few.run("dedup in -o out").succeeded();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert_eq!(report(&few).get("warnings"), None);
}

#[test]
fn one_document_of_a_reference_that_removes_many_is_warned_of() {
    let place = Place::new();
    let template = text(7, 60);
    place.write(
        "old.jsonl",
        lines_of([
            json!({"id": "x", "text": text(8, 60)}),
            json!({"id": "t", "text": template}),
        ]),
    );
    let of = |copies: u64| {
        let own = (0..400).map(|i| text(2_000_000 + i, 12));
        let texts = own.chain((0..copies).map(|_| template.clone()));
        place.write(
            "new.jsonl",
            lines_of(
                (0..)
                    .zip(texts)
                    .map(|(id, text): (u32, String)| json!({"id": id, "text": text})),
            ),
        );
        let run = place
            .run("dedup new.jsonl --against old.jsonl -o out --overwrite")
            .succeeded();
        let told = run
            .stderr
            .matches("one document of the reference removes")
            .count();
        let warnings = report(&place)["warnings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_of = |warning: &&Value| warning["warning"] == "reference_document";
        (
            told,
            warnings.iter().find(is_of).cloned(),
            parts(&page(&place)).1,
        )
    };
    let (told, warning, _) = of(1000);
    assert_eq!((told, warning), (0, None));
    let (told, warning, shown) = of(1001);
    let expected = json!({
        "warning": "reference_document", "id": "t", "file": "old.jsonl", "row": 1, "removed": 1001, "of": 1401,
    });
    assert_eq!((told, warning), (1, Some(expected)));
    assert!(
        shown.contains("1,001 (71.4 %) go for t in old.jsonl, row 1"),
        "{shown}"
    );
}

/// Files of both sides have the same name, so that only the side tells their documents apart.
#[test]
fn texts_of_a_reference_are_shown() {
    let place = Place::new();
    let of = |side: &str, seeds: std::ops::Range<u64>, edits: u64| {
        let texts = seeds.map(|seed| edited(&text(seed, 60), seed + edits, 1) + " of " + side);
        let records = (0..)
            .zip(texts)
            .map(|(id, text): (u32, String)| json!({"id": id, "text": text}));
        lines_of(records)
    };
    place.write(
        "old/part.jsonl",
        [
            of("the old", 0..400, 0),
            b"{}\n".to_vec(),
            of("the old", 400..900, 0),
        ]
        .concat(),
    );
    place.write("old/rest.jsonl", of("the old", 2000..2005, 0));
    place.write("new/part.jsonl", of("the new", 300..420, 1));
    let command = "dedup new --against old --on-bad-record skip --threshold 0.7 --quiet";
    let mut known = Vec::new();
    for (name, options) in [
        ("memory", ""),
        ("read", "--hold-mib 0"),
        ("disk", "--memory 1KB"),
    ] {
        place
            .run(&format!("{command} -o {name} {options}"))
            .succeeded();
        known.push(
            ["samples.jsonl", "report.html"].map(|file| place.read(&format!("{name}/{file}"))),
        );
    }
    assert!(known.iter().all(|files| *files == known[0]));
    let samples = parse_lines(&place.read("memory/samples.jsonl"));
    let lines = ["old", "new"].map(|side| {
        let lines = place.read(&format!("{side}/part.jsonl"));
        parse_lines(&lines)
    });
    let mut of_sides = [0, 0];
    for sample in &samples {
        let side = usize::from(sample.get("reference").is_none());
        assert!(side == 1 || sample["reference"] == true);
        assert_eq!(sample["file"], "part.jsonl");
        let row = usize::try_from(sample["row"].as_u64().unwrap()).unwrap();
        assert_eq!(sample["text"], lines[side][row]["text"], "{sample}");
        of_sides[side] += 1;
    }
    assert!(of_sides[0] > 8 && of_sides[1] > 8, "{of_sides:?}");
    let page = String::from_utf8(place.read("memory/report.html")).unwrap();
    assert!(
        page.contains("<mark>old</mark>") && page.contains("<mark>new</mark>"),
        "{page}"
    );
    assert!(page.contains(" of the reference"));
}
