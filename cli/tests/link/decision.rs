//! One file is decided by the evidence of all fields together, and it says what is missing where there is too little.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{links, report};
use crate::support::{Numbers, Place, lasting_files_in};

const FIELDS: &str = "given,surname,street,phone,born";

fn name(numbers: &mut Numbers) -> String {
    const SYLLABLES: [&str; 12] = [
        "ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re",
    ];
    (0..4).map(|_| SYLLABLES[numbers.below(12)]).collect()
}

/// Persons in households of three, who share surname, street and phone; so many of the first ones again, with an error.
fn people(households: usize, copies: usize) -> String {
    let numbers = &mut Numbers(11);
    let given: Vec<String> = (0..60).map(|_| name(numbers)).collect();
    let surnames: Vec<String> = (0..300).map(|_| name(numbers)).collect();
    let mut records: Vec<[String; 5]> = Vec::new();
    for _ in 0..households {
        let (surname, street) = (surnames[numbers.below(300)].clone(), name(numbers));
        let phone = format!("{:07}", numbers.below(10_000_000));
        for _ in 0..3 {
            let (year, month, day) = (numbers.below(90), numbers.below(12), numbers.below(28));
            records.push([
                given[numbers.below(60)].clone(),
                surname.clone(),
                street.clone(),
                phone.clone(),
                format!("19{:02}-{:02}-{:02}", year + 10, month + 1, day + 1),
            ]);
        }
    }
    for copy in 0..copies {
        let mut record = records[copy].clone();
        match copy % 4 {
            0 => record[0] = record[0].replacen(['a', 'e', 'i', 'o', 'u'], "y", 1),
            1 => record[1] = record[1].replacen(['a', 'e', 'i', 'o', 'u'], "y", 1),
            2 => record[3].clear(),
            _ => record[2].clear(),
        }
        records.push(record);
    }
    let mut table = format!("id,{FIELDS}\n");
    for (id, record) in records.iter().enumerate() {
        writeln!(table, "{id},{}", record.join(",")).unwrap();
    }
    table
}

/// The score of a link by what the report says of levels and classes.
fn by_hand(report: &Value, link: &Value) -> f64 {
    let evidence = &report["evidence"];
    let names = report["parameters"]["fields"].as_array().unwrap();
    let of_fields: BTreeMap<u64, f64> = evidence["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| {
            let place = field["field"].as_u64().unwrap();
            let level = &link["levels"][names[usize::try_from(place).unwrap()].as_str().unwrap()];
            let levels = field["levels"].as_array().unwrap();
            let of_level = levels.iter().find(|of| of["level"] == *level);
            (
                place,
                of_level.map_or(0.0, |of| of["points"].as_f64().unwrap()),
            )
        })
        .collect();
    let all_pairs = evidence["all_pairs"].as_f64().unwrap();
    let (mut same, mut others) = (0.0, 0.0);
    for class in evidence["classes"].as_array().unwrap() {
        let shares = class["shares"].as_array().unwrap().iter();
        let points: f64 = shares
            .map(|field| of_fields[&field.as_u64().unwrap()])
            .sum();
        let odds = class["pairs"].as_f64().unwrap() / all_pairs * points.exp2();
        if class["is_same"].as_bool().unwrap() {
            same = odds
        } else {
            others += odds
        }
    }
    (same / others).log2()
}

#[test]
fn persons_are_told_from_their_households() {
    let place = Place::new();
    place.write("in.csv", people(400, 300));
    let run = place
        .run(&format!("link in.csv --fields {FIELDS} -o out"))
        .succeeded();
    let report = report(&place);
    assert_eq!(report["score"], "evidence");
    assert_eq!(report["evidence"]["verdict"], "links");
    let links = links(&place);
    let is_right =
        |link: &&Value| link["id_b"].as_u64().unwrap() == link["id_a"].as_u64().unwrap() + 1200;
    let right = links.iter().filter(is_right).count();
    assert!(
        right >= 285 && links.len() <= right + 6,
        "{right} of {}",
        links.len()
    );
    let precision = report["estimate"]["expected_precision"].as_f64().unwrap();
    let range = report["estimate"]["precision_range"].as_array().unwrap();
    assert!(precision > 0.95, "{precision}");
    assert!(range[0].as_f64().unwrap() < precision && precision < range[1].as_f64().unwrap());
    for expected in [
        "links, by ",
        "surname",
        "expected of the pairs within entities",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    // Members of a household share most strong fields, as would a person with several errors.
    assert!(report["estimate"]["expected_recall"].is_null());
    let because = report["estimate"]["recall_unknown_because"]
        .as_str()
        .unwrap();
    assert!(because.contains("share at least half of the strong fields"));
    assert!(run.stderr.contains(&format!("not known: {because}")));
    let nearby = report["nearby"].as_array().unwrap();
    let links_of = |place: usize| nearby[place]["links"].as_u64().unwrap();
    assert!(links_of(0) >= links.len() as u64 && links_of(1) <= links.len() as u64);
    let sizes = report["entity_sizes"].as_array().unwrap();
    let entities: u64 = sizes
        .iter()
        .map(|size| size["entities"].as_u64().unwrap())
        .sum();
    assert_eq!(report["counts"]["entities"], entities);
    assert_eq!(sizes[0]["example"].as_array().unwrap().len(), 2);
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    for expected in [
        "even odds",
        "2 records: ",
        "10 % lower",
        "<h2>Evidence</h2>",
        "all fields: the same thing",
        "only surname, street and phone",
        "chance and related things",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for link in &links {
        let score = link["score"].as_f64().unwrap();
        assert!((by_hand(&report, link) - score).abs() < 1e-4, "{link}");
        let points = link["points"].as_object().unwrap().values();
        let sum: f64 = points
            .chain([&link["other_points"]])
            .map(|of| of.as_f64().unwrap())
            .sum();
        assert!((sum - score).abs() < 1e-4, "{link}");
    }
}

#[test]
fn threads_change_no_byte_of_the_decision() {
    let place = Place::new();
    place.write("in.csv", people(200, 150));
    let mut results = Vec::new();
    for threads in [1, 2, 5] {
        let out = format!("out{threads}");
        let run = format!("link in.csv --fields {FIELDS} -q --threads {threads} -o {out}");
        place.run(&run).succeeded();
        results.push(lasting_files_in(&place.path(&out)));
    }
    assert!(results.iter().all(|files| files == &results[0]));
}

#[test]
fn households_alone_give_nothing_to_link() {
    let place = Place::new();
    place.write("in.csv", people(400, 0));
    let run = place
        .run(&format!("link in.csv --fields {FIELDS} -o out"))
        .succeeded();
    let report = report(&place);
    assert_eq!(report["counts"]["links"], 0);
    assert_eq!(report["evidence"]["verdict"], "nothing to link");
    assert_eq!(report["estimate"]["expected_precision"], Value::Null);
    assert!(run.stderr.contains("nothing to link"), "{}", run.stderr);
}

/// The files that hold what is decided.
const DECIDED: [&str; 1] = ["out/links.jsonl"];

#[test]
fn auto_takes_the_score_that_can_tell() {
    let table = people(300, 200);
    let lines: Vec<&str> = table.lines().collect();
    let (header, records) = (lines[0], &lines[1..]);
    let file = |records: &[&str]| format!("{header}\n{}\n", records.join("\n"));
    let place = Place::new();
    let mut taken = Vec::new();
    // Persons and their copies, by all fields and by names alone; and two halves without a person in common.
    for (a, b, fields) in [
        (0..900, 800..1100, FIELDS),
        (0..900, 800..1100, "given,surname"),
        (0..450, 450..900, FIELDS),
    ] {
        place.write("a.csv", file(&records[a]));
        place.write("b.csv", file(&records[b]));
        let run = |score: &str| {
            let command =
                format!("link a.csv b.csv --fields {fields} --score {score} -o out --overwrite");
            let run = place.run(&command);
            (run.code == Some(0)).then(|| {
                let told = report(&place)["estimate"]["expected_precision"].is_number();
                (told, DECIDED.map(|file| place.read(file)), report(&place))
            })
        };
        let (text, points) = (run("text").unwrap(), run("points"));
        let points = points.filter(|(told, ..)| *told && !text.0);
        let (expected, score) = match &points {
            Some((_, decided, _)) => (decided, "points"),
            None => (&text.1, "text"),
        };
        let (_, found, report) = run("auto").unwrap();
        assert_eq!(report["score"], score);
        assert!(report["score_because"].is_string());
        assert!(found == *expected, "{fields}");
        taken.push(score);
    }
    assert_eq!(taken[2], "text");
}

#[test]
fn equality_by_chance_is_no_evidence() {
    let place = Place::new();
    let numbers = &mut Numbers(3);
    let mut table = "id,name,born\n".to_owned();
    for id in 0..2000 {
        let (year, day) = (numbers.below(5), numbers.below(28));
        writeln!(table, "{id},John Smith,194{year}-03-{:02}", day + 1).unwrap();
    }
    place.write("in.csv", table);
    let run = place
        .run("link in.csv --fields name,born -o out")
        .succeeded();
    let report = report(&place);
    assert_eq!(report["counts"]["links"], report["counts"]["equal_links"]);
    assert_eq!(
        report["evidence"]["equal_by_chance"],
        report["counts"]["equal_records"]
    );
    assert_eq!(report["estimate"]["expected_precision"], Value::Null);
    for expected in [
        "no evidence here",
        "3 are needed",
        "between equal records",
        "name: not used",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
}

#[test]
fn texts_are_decided_by_text() {
    let place = Place::new();
    let numbers = &mut Numbers(5);
    let words: Vec<String> = (0..400).map(|_| name(numbers)).collect();
    let mut table = "id,title\n".to_owned();
    for id in 0..400 {
        let title: Vec<&str> = (0..6).map(|_| &*words[numbers.below(400)]).collect();
        writeln!(
            table,
            "{id},{}\n{}, The {}",
            title.join(" "),
            id + 1000,
            title.join(" ")
        )
        .unwrap();
    }
    place.write("in.csv", table);
    let run = place.run("link in.csv --fields title -o out").succeeded();
    let found = report(&place);
    assert_eq!(
        (&found["score"], &found["parameters"]["score"]),
        (&Value::from("text"), &Value::from("auto"))
    );
    assert!(
        found["score_because"]
            .as_str()
            .unwrap()
            .contains("only one field tells records apart (title")
    );
    assert_eq!(found["evidence"]["verdict"], "cannot tell");
    assert!(
        run.stderr.contains("by text, not by evidence"),
        "{}",
        run.stderr
    );
    assert!(found["counts"]["entities"].as_u64().unwrap() > 390);
    // A threshold is a cosine.
    place
        .run("link in.csv --fields title -t 0.5 -o out --overwrite -q")
        .succeeded();
    assert_eq!(report(&place)["score"], "text");
}

#[test]
fn evidence_has_one_file_and_no_threshold() {
    let place = Place::new();
    place.write("a.csv", people(10, 2));
    let run = format!("--fields {FIELDS} -o out --score evidence");
    place
        .run(&format!("link a.csv a.csv {run}"))
        .refused(2, &["--score", "one file only"]);
    place
        .run(&format!("link a.csv {run} -t 3"))
        .refused(2, &["--threshold", "--score evidence"]);
}
