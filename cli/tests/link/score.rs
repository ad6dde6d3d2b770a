//! The score of a pair: points of the textbook, and learned ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{BOOK_A, BOOK_B, FIELDS, book, ids, links, pairs, people, report};
use crate::support::{Place, lines_of};

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
