//! `simgpu link`: which records describe the same thing.

mod decision;

mod equal_records;

mod evidence;

mod fields;

mod kinds;

mod values;

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

/// The sum of the points of a link, from what its line says.
fn sum_of_points(link: &Value) -> f64 {
    let fields = link["points"].as_object().unwrap();
    let whole = link["whole_points"].as_f64().unwrap_or(0.0);
    fields
        .values()
        .map(|points| points.as_f64().unwrap())
        .sum::<f64>()
        + whole
}

#[test]
fn learned_points_add_up_to_the_score() {
    let place = Place::new();
    let (a, b) = people(800);
    place.write("a.jsonl", lines_of(a.clone()));
    place.write("b.jsonl", lines_of(b.clone()));
    place.write("all.jsonl", lines_of(a.into_iter().chain(b)));
    for inputs in ["a.jsonl b.jsonl", "all.jsonl"] {
        let options = "--fields name,place,born --score points -o out --overwrite -q";
        place.run(&format!("link {inputs} {options}")).succeeded();
        let found = links(&place);
        let is_right = |link: &&Value| {
            let [a, b] = ["id_a", "id_b"].map(|id| link[id].as_u64().unwrap());
            b == 800 + a && a % 4 > 0
        };
        let right = found.iter().filter(is_right).count() as f64;
        let (precision, recall) = (right / found.len() as f64, right / 600.0);
        assert!(
            precision > 0.95 && recall > 0.9,
            "{inputs}: {precision} {recall}"
        );
        let report = report(&place);
        assert_eq!(report["parameters"]["score"], "points");
        // What the table says of each similarity, so that each link is explained by the output alone.
        let table = report["points"].as_array().unwrap();
        assert_eq!(table.len(), 4);
        let points = |column: usize, similarity: Option<f64>| {
            let levels = table[column]["levels"].as_array().unwrap();
            let reached =
                levels
                    .iter()
                    .rfind(|level| match (level["least"].as_f64(), similarity) {
                        (None, None) => true,
                        (Some(1.0), Some(similarity)) => similarity >= 1.0,
                        (Some(least), Some(similarity)) => similarity >= least,
                        _ => false,
                    });
            reached.unwrap()["points"].as_f64().unwrap()
        };
        for link in &found {
            assert!(
                (sum_of_points(link) - link["score"].as_f64().unwrap()).abs() < 1e-5,
                "{link}"
            );
            for (i, field) in ["name", "place", "born"].iter().enumerate() {
                let expected = points(i, link["similarities"][field].as_f64());
                let found = link["points"][field].as_f64().unwrap();
                assert!((found - expected).abs() < 1e-6, "{field}: {link}");
            }
            let whole = points(3, link["similarity"].as_f64());
            assert!(
                (link["whole_points"].as_f64().unwrap() - whole).abs() < 1e-6,
                "{link}"
            );
        }
        for of_field in table {
            let levels = of_field["levels"].as_array().unwrap();
            let points: Vec<f64> = levels[1..]
                .iter()
                .map(|level| level["points"].as_f64().unwrap())
                .collect();
            assert!(points.is_sorted(), "{of_field}");
        }
    }
}

#[test]
fn points_are_refused_where_nothing_can_be_learned() {
    let place = book();
    place
        .run(&format!("link a.csv b.csv {FIELDS} --score points"))
        .refused(1, &["cannot learn points", "10", "--score text"]);
    // Records of one file that share a common word alone.
    let stranger = |id: u32| char::from_u32(0x4E00 + id).unwrap();
    let records =
        (0..400_u32).map(|id| json!({"id": id, "name": format!("common {}", stranger(id))}));
    place.write("strangers.jsonl", lines_of(records.collect::<Vec<_>>()));
    place
        .run("link strangers.jsonl --fields name --score points -o none")
        .refused(1, &["cannot learn points", "--score text"]);
    assert!(!place.holds("none/report.json"));
}

/// The points of the textbook for two values that are lower case already: 100 less the square of the edit distance.
fn textbook_points(a: &str, b: &str) -> f64 {
    let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let same = if x == y { last[j] } else { usize::MAX };
            next.push(same.min(last[j + 1] + 1).min(next[j] + 1));
        }
        last = next;
    }
    if a.is_empty() || b.is_empty() {
        0.0
    } else {
        (100.0 - (last[b.len()] as f64).powi(2)).max(0.0)
    }
}

#[test]
fn the_score_of_the_textbook_is_that_of_its_rule() {
    let place = Place::new();
    let (a, b) = people(300);
    let all: BTreeMap<u64, Value> = a
        .iter()
        .chain(&b)
        .map(|record| (record["id"].as_u64().unwrap(), record.clone()))
        .collect();
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    let options = "--fields name,place,born --score textbook -o out -q";
    place
        .run(&format!("link a.jsonl b.jsonl {options}"))
        .succeeded();
    let found = links(&place);
    assert!(found.len() > 100);
    for link in &found {
        let [a, b] = ["id_a", "id_b"].map(|id| &all[&link[id].as_u64().unwrap()]);
        let text = |record: &Value, field: &str| match &record[field] {
            Value::Null => String::new(),
            Value::String(text) => text.to_lowercase(),
            value => value.to_string(),
        };
        let expected = ["name", "place", "born"]
            .map(|field| textbook_points(&text(a, field), &text(b, field)));
        assert_eq!(
            link["score"].as_f64().unwrap(),
            expected.iter().sum::<f64>(),
            "{link}"
        );
        assert_eq!(sum_of_points(link), expected.iter().sum::<f64>(), "{link}");
    }
}

#[test]
fn candidates_of_the_textbook_are_found() {
    // MMDS 3.8.2: sort by name, by address and by telephone number, and compare neighbours with an equal field.
    let place = book();
    let candidates = pairs(&[("1", "b"), ("2", "c"), ("3", "a")]);
    let by_field = |name: usize| -> BTreeSet<(String, String)> {
        let rows = |text: &str| -> Vec<Vec<String>> {
            let lines = text.lines().skip(1);
            lines
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect()
        };
        let (a, b) = (rows(BOOK_A), rows(BOOK_B));
        let equal = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
        let equal = equal.filter(|(x, y)| x[name] == y[name]);
        equal.map(|(x, y)| (x[0].clone(), y[0].clone())).collect()
    };
    let shared: BTreeSet<_> = (1..4).flat_map(by_field).collect();
    assert_eq!(shared, candidates);
    for score in ["text", "textbook"] {
        let options = "--match many-to-many --threshold 0.1 --equivalents names.txt";
        place
            .run(&format!(
                "link a.csv b.csv {FIELDS} --score {score} {options}"
            ))
            .succeeded();
        assert!(ids(&links(&place)).is_superset(&shared), "{score}");
    }
    // Bill is one letter from William, so 99 of 100 points.
    let found = links(&place);
    let bill = found.iter().find(|link| link["id_a"] == 2).unwrap();
    assert_eq!(
        bill["points"],
        json!({"name": 99.0, "address": 96.0, "phone": 100.0})
    );
    assert_eq!(bill["score"], 295.0);
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

#[test]
fn bad_input_is_refused() {
    let place = book();
    place.write(
        "bad.jsonl",
        "{\"id\": 1, \"name\": \"Ann\"}\n{\"id\": 2, \"name\": [1]}\n",
    );
    place.write("notes.txt", "some text");
    place.write("twice.csv", "id,name\n1,Ann\n1,Bob\n");
    place.write("double.txt", "Bill, Will\nWilliam, Bill\n");
    let output = "--output out";
    for (arguments, code, phrases) in [
        (
            "a.csv b.csv --fields title",
            1,
            &["a.csv", "no column \"title\"", "--fields"][..],
        ),
        ("a.csv b.csv --fields name,name", 2, &["--fields", "twice"]),
        ("a.csv missing.csv --fields name", 1, &["missing.csv"]),
        (
            "bad.jsonl --fields name",
            1,
            &["bad.jsonl", "row 1", "--on-bad-record skip"],
        ),
        (
            "notes.txt --fields name",
            1,
            &["notes.txt", "has no fields"],
        ),
        (
            "twice.csv --fields name --unique-ids",
            1,
            &["twice.csv", "1"],
        ),
        (
            "a.csv --fields name --share 0.5",
            2,
            &["--share", "two inputs"],
        ),
        (
            "a.csv --fields name --match many-to-many",
            2,
            &["--match", "two inputs"],
        ),
        (
            "a.csv b.csv --fields name --share 0",
            2,
            &["--share", "above 0"],
        ),
        (
            "a.csv b.csv --fields name --share 1.5",
            2,
            &["--share", "up to 1"],
        ),
        (
            "a.csv b.csv --fields name -t 2",
            2,
            &["--threshold is 2", "from 0 to 1 with --score text"],
        ),
        (
            "a.csv --fields name -t -1",
            2,
            &["--threshold is -1", "from 0 to 1"],
        ),
        (
            "a.csv --fields name -t inf --score points",
            2,
            &["--threshold"],
        ),
        (
            "a.csv b.csv --fields name,phone --score textbook -t 200.5",
            2,
            &[
                "--threshold is 200.5",
                "from 0 to 200 with --score textbook",
            ],
        ),
        (
            "a.csv b.csv --fields name --score textbook -t -0.5",
            2,
            &["--threshold is -0.5", "from 0 to 100"],
        ),
        ("- - --fields name", 2, &["stdin"]),
        ("a.csv b.csv", 2, &["--fields"]),
        (
            "a.csv b.csv --fields name --equivalents double.txt",
            2,
            &["double.txt", "line 2", "Bill"],
        ),
        (
            "a.csv b.csv --fields name --equivalents none.txt",
            1,
            &["none.txt"],
        ),
    ] {
        place
            .run(&format!("link {arguments} {output}"))
            .refused(code, phrases);
        assert!(!place.holds("out/report.json"), "{arguments}");
    }
    place
        .run(&format!("link a.csv b.csv --fields name {output} -q"))
        .succeeded();
    place
        .run(&format!("link a.csv b.csv --fields name {output}"))
        .refused(1, &["--overwrite"]);
}

#[test]
fn bad_records_are_skipped_and_counted() {
    let place = book();
    place.write(
        "bad.jsonl",
        "{\"id\": 1, \"name\": \"Bill Clark\"}\n{\"id\": 2, \"name\": [1]}\n{\"id\": 3}\n",
    );
    let options = "--fields name --on-bad-record skip --threshold 0.1";
    place
        .run(&format!("link bad.jsonl b.csv {options} -o out -q"))
        .succeeded();
    let report = report(&place);
    assert_eq!(report["counts"]["skipped"], 1);
    assert_eq!(report["counts"]["empty"], 1);
    assert_eq!(report["counts"]["records_a"], 2);
    assert_eq!(report["files"][0]["skipped"][0]["row"], 1);
    assert_eq!(ids(&links(&place)), pairs(&[("1", "c")]));
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = book();
    let run = place
        .run("link a.csv b.csv --fields name,phone --dry-run --report json")
        .succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["command"], "link");
    assert!(!place.holds("out"));
}
