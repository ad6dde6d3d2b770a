//! Fields of other names in both inputs, fields whose kind is set, and names with `=`, `:` and `,`.

use serde_json::json;

use super::{BOOK_A, BOOK_B, links, report};
use crate::support::Place;

#[test]
fn fields_of_other_names_are_compared_as_those_of_one_name() {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    place.write("b.csv", BOOK_B);
    let renamed = BOOK_B.replacen("name,address", r#""full=name,all",where"#, 1);
    place.write("renamed.csv", renamed);
    let options = "--score text --threshold 0.2 -o out --overwrite -q";
    place
        .run(&format!(
            "link a.csv b.csv --fields name,address,phone {options}"
        ))
        .succeeded();
    let expected = links(&place);
    let fields = r"name=full\=name\,all,address=where,phone";
    place
        .run(&format!(
            "link a.csv renamed.csv --fields {fields} {options}"
        ))
        .succeeded();
    let found = links(&place);
    assert_eq!(found.len(), 3);
    for (found, expected) in found.iter().zip(&expected) {
        for field in ["id_a", "id_b", "score", "similarities", "shared"] {
            assert_eq!(found[field], expected[field], "{field}");
        }
    }
    let parameters = &report(&place)["parameters"];
    assert_eq!(parameters["fields"], json!(["name", "address", "phone"]));
    assert_eq!(
        parameters["fields_b"],
        json!(["full=name,all", "where", "phone"])
    );
}

#[test]
fn a_kind_that_is_set_is_that_of_the_report() {
    let place = Place::new();
    let rows: String = (0..60)
        .map(|i| {
            format!(
                "{i},ann {},{}-03-{:02},{}\n",
                i * 7 % 31,
                1950 + i,
                1 + i % 28,
                5000 + i
            )
        })
        .collect();
    place.write("a.csv", format!("id,name,born,code\n{rows}"));
    let run = |fields: &str| {
        let line = format!("link a.csv --fields {fields} --score evidence -o out --overwrite -q");
        place.run(&line).succeeded();
        let report = report(&place);
        let fields = report["evidence"]["fields"].as_array().unwrap().clone();
        fields
            .iter()
            .map(|field| field["kind"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        run("name,born,code"),
        [json!("name"), json!("date"), json!("identifier")]
    );
    assert_eq!(
        run("name:text,born:name,code:name"),
        [json!("text"), json!("name"), json!("name")]
    );
}

#[test]
fn what_is_no_field_is_refused() {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    place.write("b.csv", BOOK_B);
    for (arguments, words) in [
        (
            "a.csv b.csv --fields name=",
            "the name of a field on each side of =",
        ),
        ("a.csv b.csv --fields name=x=y", "one = at most"),
        ("a.csv --fields name:day", "one of date, coordinates"),
        ("a.csv b.csv --fields name,phone=name", "twice"),
        ("a.csv b.csv --fields name=address,phone=address", "twice"),
        ("a.csv b.csv --fields name:text", "one input"),
        ("a.csv --fields name:text --score text", "one input"),
    ] {
        let run = place.run(&format!("link {arguments} -o out"));
        run.refused(2, &[words]);
    }
    let absent = place.run("link a.csv b.csv --fields name=surname -o out");
    absent.refused(1, &["surname", "b.csv"]);
}
