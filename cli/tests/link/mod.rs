//! `simgpu link`: which records describe the same thing.

mod decision;

mod equal_records;

mod evidence;

mod fields;

mod kinds;

mod values;

mod score;

mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Numbers, Place, files_in, lines_of, parquet, parse_lines, strings};

/// The people of MMDS 3.8.2, twice, with what two clerks make of a name, an address and a telephone number.
const BOOK_A: &str = "id,name,address,phone
1,Bob S. Jomes,123 Oak St,650-555-1234
2,Bill Clark,9 Elm Road,415-555-9876
3,Ann Howard,77 Hill Street,212-555-4321
";

const BOOK_B: &str = "id,name,address,phone
a,Howard Ann,77 Hill St.,212-555-4321
b,Robert Jones Jr.,123 Oak Street,650-555-1234
c,William Clark,9 Elm Rd,415-555-9876
d,Zoe Young,1 Sea View,305-555-0000
";

const NAMES: &str = "William, Bill, Will\nRobert, Bob\n";

fn book() -> Place {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    place.write("b.csv", BOOK_B);
    place.write("names.txt", NAMES);
    place
}

/// The links in the folder `out`.
fn links(place: &Place) -> Vec<Value> {
    parse_lines(&place.read("out/links.jsonl"))
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

fn ids(links: &[Value]) -> BTreeSet<(String, String)> {
    let id = |link: &Value, name: &str| link[name].to_string().replace('"', "");
    links
        .iter()
        .map(|link| (id(link, "id_a"), id(link, "id_b")))
        .collect()
}

fn pairs(of: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    of.iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

const FIELDS: &str = "--fields name,address,phone --output out --overwrite --quiet";

#[test]
fn records_of_the_textbook_are_linked() {
    let place = book();
    place
        .run(&format!("link a.csv b.csv {FIELDS} --threshold 0.2"))
        .succeeded();
    let found = links(&place);
    assert_eq!(ids(&found), pairs(&[("1", "b"), ("2", "c"), ("3", "a")]));
    let bill = found.iter().find(|link| link["id_a"] == 2).unwrap();
    let without = bill["similarities"]["name"].as_f64().unwrap();
    assert!(bill["similarities"]["phone"].as_f64().unwrap() > 0.999);
    assert_eq!(
        (&bill["file_b"], &bill["row_b"]),
        (&json!("b.csv"), &json!(2))
    );

    let names = "--equivalents names.txt --threshold 0.2";
    place
        .run(&format!("link a.csv b.csv {FIELDS} {names}"))
        .succeeded();
    let found = links(&place);
    let bill = found.iter().find(|link| link["id_a"] == 2).unwrap();
    assert!(without < 0.9 && bill["similarities"]["name"].as_f64().unwrap() > 0.999);
    assert_eq!(report(&place)["parameters"]["equivalents"], 3);
}

/// Records of people, and copies of some of them with letters changed.
fn people(count: usize) -> (Vec<Value>, Vec<Value>) {
    let mut numbers = Numbers(7);
    let letters = |numbers: &mut Numbers, length: usize| -> String {
        let letter = |i: usize| char::from(b"bcdfghklmnprstvz"[i]);
        (0..length).map(|_| letter(numbers.below(16))).collect()
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..count {
        let street = ["Main Street", "Oak Avenue", "Hill Road"][numbers.below(3)];
        let name = format!("{} {}", letters(&mut numbers, 6), letters(&mut numbers, 8));
        let place = format!("{} {street}", numbers.below(300));
        let copy = match numbers.below(3) {
            0 => name.clone(),
            1 => name.replacen(char::from(name.as_bytes()[2]), "x", 1),
            _ => name.split(' ').rev().collect::<Vec<_>>().join(" "),
        };
        a.push(json!({"id": i, "name": name, "place": place, "born": 1950 + i % 40}));
        if i % 4 > 0 {
            b.push(json!({"id": count + i, "name": copy, "place": place, "born": null}));
        } else {
            let other = letters(&mut numbers, 9);
            let place = format!("{} Sea View", numbers.below(300));
            b.push(json!({"id": count + i, "name": other, "place": place, "born": 1950 + i % 40}));
        }
    }
    (a, b)
}

#[test]
fn runners_up_find_threshold_and_precision() {
    let place = Place::new();
    let (a, b) = people(800);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    place
        .run("link a.jsonl b.jsonl --fields name,place,born -o out -q")
        .succeeded();
    let found = links(&place);
    let is_right = |link: &&Value| {
        let id = |name: &str| link[name].as_u64().unwrap();
        id("id_b") == 800 + id("id_a") && id("id_a") % 4 > 0
    };
    let right = found.iter().filter(is_right).count() as f64;
    let (precision, recall) = (right / found.len() as f64, right / 600.0);
    assert!(precision > 0.95 && recall > 0.95, "{precision} {recall}");
    let report = report(&place);
    let expected = report["estimate"]["expected_precision"].as_f64().unwrap();
    assert!(
        (expected - precision).abs() < 0.05,
        "{expected} {precision}"
    );
    assert_eq!(report["counts"]["links"], found.len());
    assert_eq!(report["counts"]["records_a"], 800);
}

#[test]
fn every_link_is_explained() {
    let place = Place::new();
    let (a, b) = people(200);
    let by_id: BTreeMap<u64, String> = a
        .iter()
        .chain(&b)
        .map(|record| (record["id"].as_u64().unwrap(), record.to_string()))
        .collect();
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    place
        .run("link a.jsonl b.jsonl --fields name,place,born -o out -q")
        .succeeded();
    let found = links(&place);
    assert!(found.len() > 100);
    let mut last = f64::INFINITY;
    for link in &found {
        let score = link["score"].as_f64().unwrap();
        assert!(score <= last, "not in order: {link}");
        last = score;
        let shared = link["shared"].as_array().unwrap();
        assert!(!shared.is_empty(), "{link}");
        for symbol in shared {
            let text = symbol["symbol"].as_str().unwrap().replace('_', "");
            for id in ["id_a", "id_b"] {
                let record = &by_id[&link[id].as_u64().unwrap()];
                assert!(record.to_lowercase().contains(&text), "{text}: {record}");
            }
            assert!(symbol["records"].as_u64().unwrap() >= 2, "{link}");
        }
        if let Some(distance) = link["runner_up"]["distance"].as_f64() {
            let other = link["runner_up"]["score"].as_f64().unwrap();
            assert!((score - other - distance).abs() < 2e-6, "{link}");
        }
    }
}

#[test]
fn matching_allows_one_partner_or_several() {
    let place = Place::new();
    let record = |id: u32, name: &str| json!({"id": id, "name": name});
    place.write(
        "a.jsonl",
        lines_of([
            record(1, "alpha centauri"),
            record(2, "alpha centaurus"),
            record(3, "vega"),
        ]),
    );
    place.write(
        "b.jsonl",
        lines_of([
            record(7, "alpha centauri"),
            record(8, "alpha centauri beta"),
            record(9, "sirius"),
        ]),
    );
    let found = |kind: &str| {
        let options = "--fields name --threshold 0.1 -o out --overwrite -q";
        place
            .run(&format!("link a.jsonl b.jsonl {options} --match {kind}"))
            .succeeded();
        ids(&links(&place))
    };
    assert_eq!(found("one-to-one"), pairs(&[("1", "7"), ("2", "8")]));
    assert_eq!(found("many-to-one"), pairs(&[("1", "7"), ("2", "7")]));
    let all = pairs(&[("1", "7"), ("1", "8"), ("2", "7"), ("2", "8")]);
    assert_eq!(found("many-to-many"), all);
}

#[test]
fn records_of_one_file_form_entities() {
    let place = Place::new();
    let (a, b) = people(300);
    place.write("in.jsonl", lines_of(a.into_iter().chain(b)));
    place
        .run("link in.jsonl --fields name,place --threshold 0.6 -o out -q")
        .succeeded();
    let entities = parse_lines(&place.read("out/entities.jsonl"));
    assert_eq!(entities.len(), 600);
    let mut first_of = BTreeMap::new();
    for (row, entity) in (0..).zip(&entities) {
        let first = entity["entity"].as_u64().unwrap();
        assert_eq!(entity["row"].as_u64(), Some(row));
        assert_eq!(entities[usize::try_from(first).unwrap()]["entity"], first);
        assert_eq!(entity["entity_id"], first);
        assert!(first <= row);
        first_of.insert(row, first);
    }
    // Links connect each entity, and nothing else: one less than it has records.
    let links = links(&place);
    let mut connected: BTreeMap<u64, u64> = (0..600).map(|row| (row, row)).collect();
    for link in &links {
        let [a, b] = ["id_a", "id_b"].map(|id| link[id].as_u64().unwrap());
        assert!(a < b && first_of[&a] == first_of[&b], "{link}");
        let (into, from) = (connected[&a], connected[&b]);
        assert_ne!(into, from, "a link within a connected part: {link}");
        connected
            .values_mut()
            .filter(|part| **part == from)
            .for_each(|part| *part = into);
    }
    let parts: BTreeSet<u64> = connected.values().copied().collect();
    let firsts: BTreeSet<u64> = first_of.values().copied().collect();
    assert_eq!(parts.len(), firsts.len());
    let right = (0..300).filter(|i| first_of[&(i + 300)] == *i);
    assert!(right.count() > 180, "{}", links.len());
}

#[test]
fn the_same_bytes_for_any_threads_and_format() {
    let place = Place::new();
    let (a, b) = people(3000);
    let column = |records: &[Value], name: &str| -> Vec<String> {
        let text = |record: &Value| match &record[name] {
            Value::Null => String::new(),
            value => value.to_string().replace('"', ""),
        };
        records.iter().map(text).collect()
    };
    let names = ["id", "name", "place", "born"];
    for (file, records) in [("a", &a), ("b", &b)] {
        let columns: Vec<Vec<String>> = names.iter().map(|name| column(records, name)).collect();
        let rows = (0..records.len()).map(|row| {
            let values: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
            values.join(",") + "\n"
        });
        place.write(
            &format!("csv/{file}.csv"),
            names.join(",") + "\n" + &rows.collect::<String>(),
        );
        let columns = names.iter().zip(&columns);
        let columns = columns.map(|(name, values)| (*name, strings(values)));
        place.write(&format!("table/{file}.parquet"), parquet(columns));
        place.write(&format!("{file}.jsonl"), lines_of(records.clone()));
    }
    let scored = |inputs: &str, threads: u32, score: &str| {
        let options = format!("--fields name,place,born --score {score} -o out --overwrite -q");
        place
            .run(&format!("link {inputs} {options} --threads {threads}"))
            .succeeded();
        let mut files = files_in(&place.path("out"));
        files.remove("run.json").unwrap();
        files
    };
    let run = |inputs: &str, threads: u32| scored(inputs, threads, "text");
    let expected = run("a.jsonl b.jsonl", 1);
    assert_eq!(expected.len(), 3);
    for threads in [2, 5] {
        assert!(run("a.jsonl b.jsonl", threads) == expected, "{threads}");
    }
    let of_one = run("a.jsonl", 1);
    assert!(of_one.len() == 4 && run("a.jsonl", 3) == of_one);
    place.write("all.jsonl", lines_of(a.into_iter().chain(b)));
    for score in ["points", "textbook"] {
        for inputs in ["a.jsonl b.jsonl", "all.jsonl"] {
            let of = |threads| scored(inputs, threads, score);
            assert!(of(1) == of(5), "{score} {inputs}");
        }
    }
    let scores = |files: &BTreeMap<String, Vec<u8>>| -> Vec<Value> {
        let links = parse_lines(&files["links.jsonl"]).into_iter();
        links.map(|mut link| link["score"].take()).collect()
    };
    for inputs in ["csv/a.csv csv/b.csv", "table/a.parquet table/b.parquet"] {
        assert_eq!(scores(&run(inputs, 2)), scores(&expected), "{inputs}");
    }
}
