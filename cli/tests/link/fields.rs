//! Fields of other names or in parts in both inputs, fields whose kind is set, names with `=`, `:`, `,` and `+`, and files
//! of other delimiters and encodings.

use serde_json::json;

use super::{BOOK_A, BOOK_B, ids, links, pairs, report};
use crate::support::{Numbers, Place, lines_of, parquet, strings};

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
        ("a.csv b.csv --fields name+", "on each side of +"),
        ("a.csv b.csv --fields name+name=phone", "each field once"),
        (
            "a.csv --fields name=address",
            "--fields is \"name=address\"; give one name with one input",
        ),
        (
            "a.csv --fields name --id-field key=id",
            "--id-field is \"key=id\"; give one name with one input",
        ),
        (
            "a.csv b.csv --fields name --id-field a=b=c",
            "--id-field is \"a=b=c\"; give one = at most",
        ),
    ] {
        let run = place.run(&format!("link {arguments} -o out"));
        run.refused(2, &[words]);
    }
    let absent = place.run("link a.csv b.csv --fields name=surname -o out");
    absent.refused(1, &["surname", "b.csv"]);
}

/// The people of the textbook, with first names and surnames apart; the second and the third have one of them only.
const IN_PARTS: &str = "id,first,last,address,phone
1,Bob S.,Jomes,123 Oak St,650-555-1234
2,,Bill Clark,9 Elm Road,415-555-9876
3,Ann Howard,,77 Hill Street,212-555-4321
";

#[test]
fn parts_of_a_field_are_joined_by_blanks() {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    place.write("b.csv", BOOK_B);
    place.write("parts.csv", IN_PARTS);
    let rows = IN_PARTS
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>());
    let rows: Vec<Vec<&str>> = rows.collect();
    let record = |row: &Vec<&str>| {
        let mut record =
            json!({"id": row[0].parse::<u32>().unwrap(), "address": row[3], "phone": row[4]});
        for (name, part) in [("first", row[1]), ("last", row[2])] {
            if !part.is_empty() {
                record["name"][name] = json!(part);
            }
        }
        record
    };
    place.write("parts.jsonl", lines_of(rows.iter().map(record)));
    let column = |number: usize| strings(rows.iter().map(|row| row[number]));
    let names = ["id", "first", "last", "address", "phone"];
    let columns = names
        .into_iter()
        .enumerate()
        .map(|(number, name)| (name, column(number)));
    place.write("parts.parquet", parquet(columns));
    let options = "--score text --threshold 0.2 -o out --overwrite -q";
    let found = |inputs: &str, fields: &str| {
        let line = format!("link {inputs} --fields {fields} {options}");
        place.run(&line).succeeded();
        links(&place)
    };
    let expected = found("a.csv b.csv", "name,address,phone");
    assert_eq!(expected.len(), 3);
    for (file, names) in [
        ("parts.csv", "first+last"),
        ("parts.jsonl", "name.first+name.last"),
        ("parts.parquet", "first+last"),
    ] {
        let in_a = found(
            &format!("{file} b.csv"),
            &format!("{names}=name,address,phone"),
        );
        let in_b = found(
            &format!("b.csv {file}"),
            &format!("name={names},address,phone"),
        );
        let parameters = &report(&place)["parameters"];
        assert_eq!(parameters["fields"][0], "name");
        assert_eq!(parameters["fields_b"][0], names);
        assert_eq!((in_a.len(), in_b.len()), (3, 3), "{file}");
        for ((in_a, in_b), expected) in in_a.iter().zip(&in_b).zip(&expected) {
            assert_eq!(in_a["score"], expected["score"], "{file}");
            assert_eq!(in_b["score"], expected["score"], "{file}");
            let similarity = &expected["similarities"]["name"];
            assert_eq!(&in_a["similarities"][names], similarity, "{file}");
            assert_eq!(&in_b["similarities"]["name"], similarity, "{file}");
        }
    }
    let absent = place.run(&format!(
        "link parts.csv b.csv --fields first+middle=name {options}"
    ));
    let says = "there is no column \"middle\"; its columns are \"id\", \"first\", \"last\"";
    absent.refused(1, &["parts.csv", says]);
    place.write("plus.csv", IN_PARTS.replacen("first,", "first+name,", 1));
    let escaped = place.run(&format!(
        "link plus.csv b.csv --fields first\\+name+last=name {options}"
    ));
    escaped.succeeded();
    assert_eq!(links(&place).len(), 2);
}

#[test]
fn an_id_may_have_another_name_in_each_input() {
    let place = Place::new();
    place.write("a.csv", BOOK_A.replacen("id,", "customer_id,", 1));
    place.write("b.csv", BOOK_B.replacen("id,", "key,", 1));
    let options = "--fields name,address,phone --threshold 0.2 -o out --overwrite -q";
    let line = format!("link a.csv b.csv --id-field customer_id=key {options}");
    place.run(&line).succeeded();
    assert_eq!(
        ids(&links(&place)),
        pairs(&[("1", "b"), ("2", "c"), ("3", "a")])
    );
    let parameters = &report(&place)["parameters"];
    assert_eq!(parameters["id_field"], "customer_id");
    assert_eq!(parameters["id_field_b"], "key");
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("customer_id") && page.contains("<td class=\"long\">key</td>"));
    for (field, file, missing) in [
        ("customer_id", "b.csv", "customer_id"),
        ("a=key", "a.csv", "a"),
    ] {
        let run = place.run(&format!("link a.csv b.csv --id-field {field} {options}"));
        let says = format!("{file}: there is no column \"{missing}\"");
        run.refused(1, &[&says, "choose the column with --id-field"]);
    }
}

/// What a run says of a file that is read with another delimiter.
const OTHER: &str =
    "is read with the delimiter ';': with ',', its header lacks columns that are named";

#[test]
fn each_file_has_its_own_delimiter() {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    let semicolons = BOOK_B.replace(',', ";");
    place.write("b.csv", &semicolons);
    let options = "--fields name,address,phone --threshold 0.2 -o out --overwrite";
    let expected = pairs(&[("1", "b"), ("2", "c"), ("3", "a")]);
    let run = place
        .run(&format!("link a.csv b.csv {options} -q"))
        .succeeded();
    assert!(
        run.stderr.contains(&format!("warning: b.csv {OTHER}")),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert_eq!(ids(&links(&place)), expected);
    let files = &report(&place)["files"];
    let others = json!([{"file": "b.csv", "delimiter": ";"}]);
    assert_eq!(files[1]["other_delimiters"], others);
    assert!(files[0].get("other_delimiters").is_none());
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("is read with the delimiter <code>;</code>"));

    // The stated one fits B, and A gets its own; a quoted header, stdin and a compressed file are no different.
    let run = place.run(&format!("link a.csv b.csv {options} -q --delimiter ;"));
    let run = run.succeeded();
    assert!(
        run.stderr
            .contains("a.csv is read with the delimiter ',': with ';'"),
        "{}",
        run.stderr
    );
    assert_eq!(ids(&links(&place)), expected);
    let quoted = semicolons.replacen(
        "id;name;address;phone",
        r#""id";"name";"address";"phone""#,
        1,
    );
    place.write("b.csv.gz", crate::support::gzip(quoted.as_bytes()));
    let run = place.run(&format!("link a.csv b.csv.gz {options} -q"));
    assert!(run.succeeded().stderr.contains(OTHER));
    assert_eq!(ids(&links(&place)), expected);
    let line = format!("link a.csv - --format csv {options} -q");
    let run = place.run_with_stdin(&line, semicolons.as_bytes());
    let run = run.succeeded();
    assert!(
        run.stderr.contains(&format!("stdin {OTHER}")),
        "{}",
        run.stderr
    );
    assert_eq!(ids(&links(&place)), expected);
    let (first, second) = semicolons.split_at(semicolons.find("c;").unwrap());
    let header = semicolons.lines().next().unwrap();
    place.write("both/1.csv", first);
    place.write("both/2.csv", format!("{header}\n{second}"));
    let run = place.run(&format!("link a.csv both {options} -q"));
    let says = "1.csv and 1 other file are read with the delimiter ';'";
    let run = run.succeeded();
    assert!(run.stderr.contains(says), "{}", run.stderr);
    assert_eq!(ids(&links(&place)), expected);
}

#[test]
fn a_delimiter_that_fits_stays() {
    let place = Place::new();
    place.write("a.csv", BOOK_A);
    let options = "--threshold 0.2 -o out --overwrite -q --fields name";
    // The named columns are there, whatever else there is.
    place.write("b.csv", "id,name,x;name\n1,Ann,2;3\n");
    let run = place.run(&format!("link a.csv b.csv {options}"));
    assert_eq!(run.succeeded().stderr, "");
    // No usual delimiter has all of them, or several do.
    for header in ["id:name", "id;Name", "id;name;name"] {
        place.write("b.csv", format!("{header}\n1:2\n"));
        let run = place.run(&format!("link a.csv b.csv {options}"));
        run.refused(1, &["b.csv: there is no column \"name\""]);
    }
    place.write("b.csv", "b|name;b\n1|2;3\n");
    let run = place.run(&format!("link a.csv b.csv {options}=b"));
    run.refused(1, &["b.csv: there is no column \"b\""]);
}

/// Text in windows-1252.
fn western(text: &str) -> Vec<u8> {
    let byte = |letter: char| u8::try_from(u32::from(letter)).unwrap();
    text.chars().map(byte).collect()
}

#[test]
fn two_customer_lists_as_they_are_exported_are_linked() {
    let mut numbers = Numbers(11);
    let mut of = |parts: &[&str]| parts[numbers.below(parts.len())].to_owned();
    let (mut a, mut b) = (
        "customer_id,first_name,last_name,street,city\n".to_owned(),
        "id;full_name;address;town\r\n".to_owned(),
    );
    for i in 0..300 {
        let first = of(&["Jörg", "Käthe", "Anne", "Björn", "Zoë", "Peter", "Ülkü"]);
        let last = of(&["Mül", "Schrö", "Weiß", "Grün", "Lang", "Hof", "Köh"])
            + &of(&["ler", "der", "mann", "bach", "feld", "stein"]);
        let street = of(&["Größe", "Bahnhof", "Öl", "Linden"]) + "straße ";
        let number = i * 7 % 90 + 1;
        let city = of(&["Köln", "München", "Bonn", "Überlingen", "Graz"]);
        a += &format!("C{i},{first},{last},{street}{number},{city}\n");
        if i % 3 > 0 {
            b += &format!("{i};{first} {last};{street} {number};{city}\r\n");
        }
    }
    // One record has the same bytes in both encodings.
    a += "C900,Maria,Berger,Am Ring 5,Bonn\n";
    b += "900;Maria Berger;Am Ring 5;Bonn\r\n";
    let place = Place::new();
    place.write("crm.csv", a);
    place.write("shop.csv", western(&b));
    let command = "link crm.csv shop.csv --id-field customer_id=id --fields \
                   first_name+last_name=full_name,street=address,city=town -o out --overwrite";
    let refused = place.run(command);
    refused.refused(
        1,
        &[
            "shop.csv, line ",
            " holds invalid UTF-8 at byte ",
            ", as of text in windows-1252 (Western European, like Latin-1), where it reads ",
            "convert the file: `iconv -f windows-1252 -t UTF-8 shop.csv > shop.utf-8.csv`",
        ],
    );
    let skipped = place.run(&format!("{command} --on-bad-record skip -q"));
    let warning = "records for the encoding, the first at shop.csv, line ";
    let skipped = skipped.succeeded();
    assert!(skipped.stderr.contains(warning), "{}", skipped.stderr);
    assert!(
        skipped
            .stderr
            .contains("`iconv -f windows-1252 -t UTF-8 shop.csv > shop.utf-8.csv`")
    );

    place.write("new.csv", &b);
    let command = command.replace("shop.csv", "new.csv");
    place.run(&command).succeeded();
    let found = links(&place);
    let id = |link: &serde_json::Value| {
        let a: u64 = link["id_a"].as_str().unwrap()[1..].parse().unwrap();
        (a, link["id_b"].as_u64().unwrap())
    };
    let right = found.iter().map(id).filter(|(a, b)| a == b).count();
    assert!(
        right >= 190 && found.len() < right + 10,
        "{right} of {}",
        found.len()
    );
    for (options, hint) in [
        (
            "--fields full_name",
            "; A=C compares column A of the first input with column C of the second, and A+B=C columns A and B, joined",
        ),
        (
            "--fields city=town --id-field customer_id",
            "; A=B names the one of each of two inputs",
        ),
    ] {
        let parameter = options.rsplit("--").next().unwrap();
        let parameter = parameter.split_whitespace().next().unwrap();
        let choose = format!("choose the column with --{parameter}");
        place
            .run(&format!("link crm.csv new.csv -o refused {options}"))
            .refused(1, &[&choose, hint]);
    }
}
