//! Records that are equal in all fields: one entity, whatever their number, and no harm to other records.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{links, report};
use crate::support::{Numbers, Place, parse_lines};

/// A table of records with an id, a name and a city.
fn table(records: &[(String, String)]) -> String {
    let mut table = "id,name,city\n".to_owned();
    for (id, (name, city)) in records.iter().enumerate() {
        writeln!(table, "{id},{name},{city}").unwrap();
    }
    table
}

/// Different names, far from each other.
fn people(numbers: &mut Numbers, count: usize) -> Vec<(String, String)> {
    let word = |numbers: &mut Numbers, length: usize| -> String {
        let letters = b"bcdfghklmnprstvzaeiou";
        let mut letter = || char::from(letters[numbers.below(letters.len())]);
        (0..length).map(|_| letter()).collect()
    };
    (0..count)
        .map(|_| {
            let name = format!("{} {}", word(numbers, 7), word(numbers, 9));
            (name, word(numbers, 6))
        })
        .collect()
}

fn equal(count: usize, name: &str, city: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), city.to_owned()); count]
}

/// The ids of the records of each entity of two or more, by the first one.
fn entities(place: &Place) -> BTreeMap<u64, Vec<u64>> {
    let mut entities = BTreeMap::<u64, Vec<u64>>::new();
    for line in parse_lines(&place.read("out/entities.jsonl")) {
        let [entity, id] = ["entity", "id"].map(|name| line[name].as_u64().unwrap());
        entities.entry(entity).or_default().push(id);
    }
    entities.retain(|_, ids| ids.len() > 1);
    entities
}

#[track_caller]
fn link(place: &Place, arguments: &str) {
    let fields = "--fields name,city -o out --overwrite -q";
    place.run(&format!("link {arguments} {fields}")).succeeded();
}

#[test]
fn equal_records_are_one_entity() {
    let mut numbers = Numbers(1);
    let groups: Vec<(String, String)> = vec![people(&mut numbers, 40); 200].concat();
    let one_of_many = [
        people(&mut numbers, 2000),
        equal(20_000, "Max Muster", "Ulm"),
    ]
    .concat();
    for (records, sizes) in [
        (groups, vec![200; 40]),
        (equal(2100, "Max Muster", "Ulm"), vec![2100]),
        (one_of_many, vec![20_000]),
    ] {
        let place = Place::new();
        place.write("in.csv", table(&records));
        for options in ["-t 0.9", "--score text", "--score textbook"] {
            link(&place, &format!("in.csv {options}"));
            let entities = entities(&place);
            let found: Vec<usize> = entities.values().map(Vec::len).collect();
            assert_eq!(found, sizes, "{options}");
            let mut stars: Vec<[u64; 2]> = entities
                .iter()
                .flat_map(|(first, ids)| ids[1..].iter().map(|id| [*first, *id]))
                .collect();
            stars.sort_unstable();
            let links = links(&place);
            let of = |link: &Value| ["id_a", "id_b"].map(|id| link[id].as_u64().unwrap());
            assert!(links.iter().map(of).eq(stars), "{options}");
            let best = if options.contains("textbook") {
                200.0
            } else {
                1.0
            };
            assert!(links.iter().all(|link| link["score"] == best));
            assert!(links.iter().all(|link| link["similarity"] == 1.0));
            let report = report(&place);
            assert_eq!(report["counts"]["equal_records"], links.len());
            assert_eq!(report["estimate"]["expected_precision"], Value::Null);
        }
    }
}

#[test]
fn equal_records_are_joined_below_any_threshold() {
    let place = Place::new();
    // Of 200 points, these have 100.
    let records = [equal(3, "Max Muster", ""), equal(2, "Eva Probe", "")].concat();
    place.write("in.csv", table(&records));
    link(&place, "in.csv --score textbook -t 200");
    let entities: Vec<Vec<u64>> = entities(&place).into_values().collect();
    assert_eq!(entities, [vec![0, 1, 2], vec![3, 4]]);
    // Case, accents and white space do not count; words, signs and separators do.
    place.write(
        "in.csv",
        "id,name,city\n0,Max  MÜSTER,ulm\n1,max muster,Ulm\n2,max-muster,Ulm\n",
    );
    link(&place, "in.csv -t 1");
    let found: Vec<Vec<u64>> = self::entities(&place).into_values().collect();
    assert_eq!(found, [vec![0, 1]]);
}

#[test]
fn equal_records_of_two_files_are_paired_in_order() {
    let place = Place::new();
    let count = 20_000;
    place.write("a.csv", table(&equal(count, "Max Muster", "Ulm")));
    place.write("b.csv", table(&equal(count, "max muster", "ULM")));
    let ids = |place: &Place| -> Vec<[usize; 2]> {
        let of = |link: Value| {
            ["id_a", "id_b"].map(|id| usize::try_from(link[id].as_u64().unwrap()).unwrap())
        };
        links(place).into_iter().map(of).collect()
    };
    link(&place, "a.csv b.csv");
    assert!(ids(&place).into_iter().eq((0..count).map(|i| [i, i])));
    let because = report(&place)["estimate"]["unknown_because"].to_string();
    assert!(
        because.contains("these fields do not tell the records apart"),
        "{because}"
    );
    assert!(
        links(&place)
            .iter()
            .all(|link| link["runner_up"]["score"] == 1.0)
    );
    link(&place, "a.csv b.csv --match many-to-one");
    assert!(ids(&place).into_iter().eq((0..count).map(|i| [i, 0])));
    let all = "link a.csv b.csv --fields name,city -o none --match many-to-many";
    place.run(all).refused(
        2,
        &["--match", "400,000,000 pairs", "1,000,000", "--fields"],
    );
    assert!(!place.holds("none/report.json"));
    // Few enough are written.
    place.write("a.csv", table(&equal(30, "Max Muster", "Ulm")));
    place.write("b.csv", table(&equal(20, "Max Muster", "Ulm")));
    link(&place, "a.csv b.csv --match many-to-many");
    let all = (0..30).flat_map(|a| (0..20).map(move |b| [a, b]));
    assert!(ids(&place).into_iter().eq(all));
}

#[test]
fn placeholders_hide_no_other_pair() {
    let mut numbers = Numbers(4);
    let first = people(&mut numbers, 150);
    let with_typo = first.iter().map(|(name, city)| {
        let at = 1 + numbers.below(5);
        (format!("{}x{}", &name[..at], &name[at + 1..]), city.clone())
    });
    let people: Vec<(String, String)> = first.iter().cloned().chain(with_typo).collect();
    let mut found = Vec::new();
    for count in [0, 2500, 30_000] {
        let place = Place::new();
        let placeholders = equal(count, "Unknown Unknown", "Unknown");
        place.write("in.csv", table(&[people.clone(), placeholders].concat()));
        for options in ["-t 0.4", ""] {
            link(&place, &format!("in.csv {options}"));
            let mut entities = entities(&place);
            assert_eq!(entities.remove(&300).map_or(0, |ids| ids.len()), count);
            let right = (0..150).filter(|i| entities.get(i) == Some(&vec![*i, i + 150]));
            assert!(right.count() >= 148, "{count} {options}");
            found.push(entities);
        }
    }
    assert!(found.iter().all(|entities| entities == &found[0]));
}

#[test]
fn bounds_that_cut_candidates_are_warnings() {
    let place = Place::new();
    let similar = |i: usize| {
        let name = format!("unknown person of the northern county number {i}");
        (name, "somewhere in the mountains".to_owned())
    };
    let similar: Vec<(String, String)> = (0..2300).map(similar).collect();
    let others = people(&mut Numbers(9), 6000);
    place.write("in.csv", table(&[similar, others].concat()));
    let run = "link in.csv --fields name,city -o out --overwrite";
    let run = place.run(&format!("{run} -t 0.11")).succeeded();
    let report = report(&place);
    let counts = &report["counts"];
    let (crowded, below) = (&counts["crowded_records"], &counts["pairs_below_floor"]);
    assert!(
        crowded.as_u64().unwrap() > 1000 && below.as_u64().unwrap() > 1000,
        "{counts}"
    );
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    for warning in warnings {
        let warning = warning.as_str().unwrap();
        assert!(page.contains(warning), "{warning}");
        let start = warning.split(':').next().unwrap();
        assert!(
            run.stderr.contains(&format!("warning: {start}")),
            "{}",
            run.stderr
        );
    }
    let grouped = crowded.to_string();
    let (thousands, rest) = grouped.split_at(grouped.len() - 3);
    assert!(
        warnings[1]
            .to_string()
            .contains(&format!("{thousands},{rest} records"))
    );
}
