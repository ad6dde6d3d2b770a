//! Precision and recall are stated where there is evidence of them, and nowhere else.

use serde_json::{Value, json};

use super::{people, report};
use crate::support::{Numbers, Place, lines_of};

fn word(numbers: &mut Numbers, length: usize) -> String {
    let letters = b"bcdfghklmnprstvzaeiou";
    let mut letter = || char::from(letters[numbers.below(letters.len())]);
    (0..length).map(|_| letter()).collect()
}

/// The estimate, which must say on the screen and on the page what it says in the report.
#[track_caller]
fn estimate(place: &Place, arguments: &str) -> Option<Value> {
    let run = place.run(&format!("link {arguments} -o out --overwrite"));
    if run.code == Some(1) && run.stderr.contains("cannot learn points") {
        return None;
    }
    let run = run.succeeded();
    let estimate = report(place)["estimate"].clone();
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    let is_told = estimate["expected_precision"].is_number();
    assert_eq!(
        !is_told,
        run.stderr.contains("cannot tell: "),
        "{}",
        run.stderr
    );
    assert_eq!(
        !is_told,
        page.contains("<strong>cannot tell</strong><br>how many of the links are right")
    );
    assert_eq!(!is_told, estimate["unknown_because"].is_string());
    if !is_told {
        assert!(estimate["expected_recall"].is_null() && !run.stderr.contains("% expected"));
    }
    Some(estimate)
}

#[test]
fn tables_without_common_records_state_no_precision() {
    for count in [3, 8, 40, 150, 600] {
        for seed in 0..2 {
            let mut numbers = Numbers(seed * 10_000 + count);
            let names: Vec<String> = (0..60).map(|_| word(&mut numbers, 6)).collect();
            let mut table = || {
                let name = |numbers: &mut Numbers| names[numbers.below(60)].clone();
                let record = |id: u64| {
                    let born = 1930 + numbers.below(70);
                    let numbers = &mut numbers;
                    json!({"id": id, "name": format!("{} {}", name(numbers), name(numbers)), "city": name(numbers), "born": born})
                };
                lines_of((0..count).map(record).collect::<Vec<_>>())
            };
            let place = Place::new();
            place.write("a.jsonl", table());
            place.write("b.jsonl", table());
            for score in ["text", "textbook", "points"] {
                let arguments = format!("a.jsonl b.jsonl --fields name,city,born --score {score}");
                let Some(estimate) = estimate(&place, &arguments) else {
                    continue;
                };
                assert_eq!(
                    estimate["expected_precision"],
                    Value::Null,
                    "{count} {seed} {score}: {estimate}"
                );
            }
        }
    }
}

#[test]
fn three_records_state_no_share() {
    let place = Place::new();
    let names = ["ann lee", "bob ray", "kim doe"];
    let table = |by: u32| {
        lines_of((by..by + 3).map(|id| json!({"id": id, "name": names[(id % 3) as usize]})))
    };
    place.write("a.jsonl", table(0));
    place.write("b.jsonl", table(9));
    let estimate = estimate(&place, "a.jsonl b.jsonl --fields name").unwrap();
    assert_eq!(
        (&estimate["expected_precision"], &estimate["share"]),
        (&Value::Null, &Value::Null)
    );
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(
        page.contains(
            "<strong>cannot tell</strong><br>how many of the records of A have a partner"
        )
    );
}

#[test]
fn households_state_no_precision() {
    let mut numbers = Numbers(5);
    let given: Vec<String> = (0..300).map(|_| word(&mut numbers, 6)).collect();
    let mut records = Vec::new();
    while records.len() < 4000 {
        let (surname, street) = (word(&mut numbers, 8), word(&mut numbers, 9));
        let phone = 1_000_000 + numbers.below(9_000_000);
        let house = numbers.below(200);
        for _ in 0..=numbers.below(4) {
            let born = format!(
                "19{:02}-{:02}-{:02}",
                numbers.below(100),
                1 + numbers.below(12),
                1 + numbers.below(28)
            );
            records.push(json!({
                "id": records.len(), "given": given[numbers.below(300)], "surname": surname, "house": house,
                "street": format!("{street} road"), "phone": phone, "born": born,
            }));
        }
    }
    let place = Place::new();
    place.write("in.jsonl", lines_of(records));
    for score in ["text", "points"] {
        let arguments =
            format!("in.jsonl --fields given,surname,house,street,phone,born --score {score}");
        let Some(estimate) = estimate(&place, &arguments) else {
            continue;
        };
        assert_eq!(
            estimate["expected_precision"],
            Value::Null,
            "{score}: {estimate}"
        );
    }
}

#[test]
fn records_with_partners_state_their_precision() {
    let place = Place::new();
    let (a, b) = people(600);
    place.write("a.jsonl", lines_of(a));
    place.write("b.jsonl", lines_of(b));
    for score in ["text", "points"] {
        let arguments = format!("a.jsonl b.jsonl --fields name,place,born --score {score}");
        let estimate = estimate(&place, &arguments).unwrap();
        assert!(
            estimate["expected_precision"].as_f64().unwrap() > 0.9,
            "{estimate}"
        );
        assert!(estimate["share"].is_number(), "{estimate}");
    }
}
