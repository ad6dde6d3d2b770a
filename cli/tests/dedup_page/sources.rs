//! What pages say of sources and references.

use serde_json::{Value, json};

use super::places::{page, parts, report};
use crate::support::{Place, edited, families, lines_of, parse_lines, text};

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
