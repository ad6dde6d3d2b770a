//! Fields of every kind: found from their values, forgiven what is written in another way, and compared by levels that a second
//! implementation computes, too.

mod shops;

use std::fmt::Write;

use serde_json::{Value, json};

use super::{links, report};
use crate::support::{Numbers, Place, parse_lines};

use shops::{COPIES, FIELDS, KINDS, SHOPS, letters, level, shops, word, written};

#[test]
fn fields_of_every_kind_link_shops() {
    let place = Place::new();
    let shops = shops();
    let mut table = format!("id,{}\n", FIELDS.join(","));
    for (id, shop) in shops.iter().enumerate() {
        writeln!(
            table,
            "{id},{}",
            written(shop, usize::from(id >= SHOPS)).join(",")
        )
        .unwrap();
    }
    place.write("shops.csv", table);
    let fields = FIELDS.join(",");
    place
        .run(&format!("link shops.csv --fields {fields} -o out -q"))
        .succeeded();
    let report = report(&place);
    assert_eq!(report["evidence"]["verdict"], "links");
    let found = report["evidence"]["fields"].as_array().unwrap();
    let found: Vec<&Value> = found.iter().map(|field| &field["kind"]).collect();
    assert_eq!(found, KINDS);
    let (mut right, mut compared) = (0, [0_usize; 8]);
    let links = links(&place);
    for link in &links {
        let [a, b] =
            ["id_a", "id_b"].map(|id| usize::try_from(link[id].as_u64().unwrap()).unwrap());
        right += usize::from(b == a + SHOPS);
        for (field, name) in FIELDS.iter().enumerate() {
            let found = link["levels"][name].as_str().unwrap();
            let found = found.split(' ').next().unwrap();
            if let Some(expected) = level(field, &shops[a], &shops[b]) {
                assert_eq!(found, expected, "{name} of {a} and {b}");
                compared[field] += usize::from(expected != "equal");
            }
        }
    }
    assert!(
        right >= COPIES - 2 && links.len() <= COPIES + 2,
        "{right} {}",
        links.len()
    );
    assert!(
        compared[1..].iter().all(|compared| *compared >= 10),
        "{compared:?}"
    );
    let precision = report["estimate"]["expected_precision"].as_f64().unwrap();
    assert!(precision > 0.95, "{precision}");
}

/// A table of persons, each again with errors, and one field more. Some surnames are given names of others, and some phones
/// and dates have errors, too: only where all fields have some, and names stand crosswise, is a date or a name that never
/// agrees told from what keeps members of a household apart.
fn persons(more: impl Fn(usize) -> String) -> String {
    let numbers = &mut Numbers(3);
    let names: Vec<String> = (0..120)
        .map(|_| letters(numbers, "abdefgilmnorstu", 8))
        .collect();
    let mut table = "id,given,surname,phone,born,more\n".to_owned();
    for person in 0..300 {
        let (name, surname) = (&names[numbers.below(50)], &names[numbers.below(120)]);
        let phone = format!("+41 44 {}", letters(numbers, "0123456789", 7));
        let born = format!(
            "19{:02}-{:02}-{:02}",
            30 + numbers.below(60),
            1 + numbers.below(12),
            1 + numbers.below(28)
        );
        let wrong = surname.replacen(['a', 'e', 'i', 'o', 'u'], "y", 1);
        let misheard = name.replacen(['d', 'g', 'l', 'm'], "n", 1);
        let dialled = if person % 9 == 0 {
            "+41 44 0000000"
        } else {
            &phone
        };
        let misread = if person % 9 == 4 { "1904-04-04" } else { &born };
        let right: [&str; 4] = [name, surname, &phone, &born];
        for (copy, [given, surname, phone, born]) in
            [(0, right), (1, [&misheard, &wrong, dialled, misread])]
        {
            let row = 2 * person + copy;
            writeln!(
                table,
                "{row},{given},{surname},{phone},{born},{}",
                more(row)
            )
            .unwrap();
        }
    }
    table
}

/// A value of a field by a random number.
type Made = fn(usize) -> String;

#[test]
fn one_field_more_changes_little() {
    let random = |row: usize| Numbers(row as u64).below(1 << 40);
    let fields: [(&str, Made, Value); 8] = [
        ("constant", |_| "same".to_owned(), json!(["empty", null])),
        (
            "category",
            |random| ["red", "green", "blue"][random % 3].to_owned(),
            json!(["weak", "name"]),
        ),
        (
            "number",
            |random| format!("{}.{:03}", random % 1000, random % 997),
            json!(["noise", "number"]),
        ),
        (
            "identifier",
            |random| format!("{:07}", random % 9_999_991),
            json!(["noise", "identifier"]),
        ),
        (
            "place",
            |random| format!("\"{}.1234, {}.5678\"", random % 89, random % 179),
            json!(["noise", "coordinates"]),
        ),
        (
            "mail",
            |random| format!("{}@{}.org", word(random), random % 97),
            json!(["noise", "email"]),
        ),
        (
            "date",
            |random| {
                format!(
                    "{}-{:02}-{:02}",
                    1950 + random % 59,
                    1 + random % 12,
                    1 + random % 28
                )
            },
            json!(["noise", "date"]),
        ),
        ("word", word, json!(["noise", "name"])),
    ];
    let place = Place::new();
    for (name, of, expected) in fields {
        place.write("a.csv", persons(|row| of(random(row))));
        let options = "--fields given,surname,phone,born,more -o out --overwrite -q";
        place.run(&format!("link a.csv {options}")).succeeded();
        let found = links(&place);
        let id = |link: &Value, id: &str| usize::try_from(link[id].as_u64().unwrap()).unwrap();
        let right = found
            .iter()
            .filter(|link| id(link, "id_a") / 2 == id(link, "id_b") / 2);
        let right = right.count();
        assert!(
            right >= 294 && found.len() <= right + 3,
            "{name}: {right} of {}",
            found.len()
        );
        let report = report(&place);
        let more = &report["evidence"]["fields"][4];
        assert_eq!(json!([more["used"], more["kind"]]), expected, "{name}");
        assert_eq!(report["evidence"]["verdict"], "links", "{name}");
    }
}

#[test]
fn a_copy_names_the_fields_it_copies() {
    let place = Place::new();
    let table = persons(|_| String::new());
    let copied: String = table
        .lines()
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            match values[0] {
                "id" => format!("{line}\n"),
                _ => format!("{line}{} {}\n", values[1], values[2]),
            }
        })
        .collect();
    place.write("a.csv", copied);
    let options = "--fields given,surname,phone,born,more -o out -q";
    place.run(&format!("link a.csv {options}")).succeeded();
    let more = &report(&place)["evidence"]["fields"][4];
    assert_eq!(more["used"], "copy");
    assert_eq!(more["copy_of"], json!([0, 1]));
    assert!(
        more["bits"].as_f64().unwrap() > 5.0 && more["missing"] == 0.0,
        "{more}"
    );
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("its words stand in given and surname"));
    let entities = parse_lines(&place.read("out/entities.jsonl"));
    assert_eq!(entities.len(), 600);
}
