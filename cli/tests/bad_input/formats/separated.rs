//! CSV and TSV files.

use super::fixture;
use crate::bad_input::refusals::every_command_refuses;
use crate::support::{Place, json_lines};

#[test]
fn ragged_records_are_bad_records() {
    let place = Place::new();
    let csv = "id,text\n1,\"a\nb\"\n2,c\n\n3,d,e\n4\n5,f\n";
    place.write("in.csv", csv);
    let phrases = [
        "in.csv, line 6 (row 2): the record has 3 fields, and the header 2",
        "--on-bad-record skip",
    ];
    every_command_refuses(&place, "in.csv", &phrases);
    let results = place.dedup("in.csv --on-bad-record skip");
    assert_eq!(results.kept("in.csv"), b"id,text\n1,\"a\nb\"\n2,c\n5,f\n");
    let skipped = &results.report["skipped"];
    assert_eq!(
        (&skipped[0]["row"], &skipped[0]["line"]),
        (&2.into(), &6.into())
    );
    assert_eq!(
        (&skipped[1]["row"], &skipped[1]["line"]),
        (&3.into(), &7.into())
    );
}

#[test]
fn a_missing_column_names_the_others() {
    let place = Place::new();
    place.write("in.csv", "key,\"body, long\"\n1,a\n");
    let phrases = [
        "in.csv: there is no column \"text\"; its columns are \"key\", \"body, long\"",
        "--text-field",
    ];
    every_command_refuses(&place, "in.csv", &phrases);
    every_command_refuses(
        &place,
        "in.csv --text-field key --id-field id",
        &["there is no id column \"id\"; its columns are \"key\""],
    );
    place.write("in.csv", "text,text\na,b\n");
    every_command_refuses(&place, "in.csv", &["two columns are called \"text\""]);
    for name in ["plain.arrow", "large.parquet"] {
        place.write(name, fixture(name));
        every_command_refuses(
            &place,
            &format!("{name} --text-field body"),
            &["there is no column \"body\"; its columns are \"id\", \"text\", \"score\""],
        );
    }
}

#[test]
fn a_quote_that_never_ends_is_refused() {
    let place = Place::new();
    place.write("in.csv", "id,text\n1,a\n2,\"b\n3,c\n");
    let says = "in.csv: the record that starts on line 3 opens a quote that is never closed; close each quote";
    every_command_refuses(&place, "in.csv --on-bad-record skip", &[says]);
}

#[test]
fn text_after_a_closing_quote_is_bad() {
    let place = Place::new();
    for bad in ["\"ab\"c", "\"ab\" ", "\"a\"\"b\"c\"", "\"ab\"\"\"c,\"d"] {
        place.write("in.csv", format!("id,text\n1,a\n2,{bad}\n3,b\n"));
        let says = "in.csv, line 3 (row 1): text follows the closing quote of a field";
        let phrases = [says, "must be doubled", "--on-bad-record skip"];
        every_command_refuses(&place, "in.csv", &phrases);
        let results = place.dedup("in.csv --on-bad-record skip");
        assert_eq!(results.kept("in.csv"), b"id,text\n1,a\n3,b\n", "{bad}");
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
    place.write("in.csv", "id,\"text\"s\n1,a\n");
    every_command_refuses(&place, "in.csv", &["in.csv: in the header, text follows"]);
}

#[test]
fn a_quote_that_swallows_lines_is_refused() {
    let place = Place::new();
    for (lines, end) in [
        ("2,\"b\n3,c\n4,\"d\"\n5,e\n", 5),
        ("2,\"b\r\n3,c\r\n4,d \"e\"\r\n", 5),
        ("2,\"b\n\n\"c\n3,d\n", 5),
    ] {
        place.write("in.csv", format!("id,text\n1,a\n{lines}"));
        let says = format!(
            "in.csv: the record that starts on line 3 has text after a closing quote on line {end}; close each quote"
        );
        every_command_refuses(&place, "in.csv", &[&says]);
        every_command_refuses(&place, "in.csv --on-bad-record skip", &[&says]);
    }
    place.write("in.csv", "id,text\n1,\"a\nb\",c\n2\n");
    let says = "line 2 (row 0): the record has 3 fields over 2 lines, and the header 2: a quote may not be closed";
    every_command_refuses(&place, "in.csv", &[says]);
    place.write("in.csv", "id,text\n2\n");
    every_command_refuses(
        &place,
        "in.csv",
        &["the record has 1 field, and the header 2"],
    );
}

#[test]
fn csv_and_text_files_hold_no_tokens() {
    let place = Place::new();
    place.write("in.csv", "tokens\na\n");
    place.write("in.tsv", "tokens\na\n");
    place.write("docs/in.txt", "a b");
    for (inputs, kind) in [("in.csv", "CSV"), ("in.tsv", "TSV"), ("docs", "text")] {
        let says = format!("a {kind} file holds no tokens; choose another --unit");
        for options in ["", "--on-bad-record skip"] {
            let arguments = format!("{inputs} --unit tokens {options}");
            every_command_refuses(&place, &arguments, &[&says, "JSON, Parquet or Arrow"]);
            let run = place.run(&format!("dedup {arguments} -o out"));
            assert!(!run.error().contains("--on-bad-record"), "{}", run.error());
        }
    }
    let run = place.run("tune --sample docs --unit tokens");
    run.refused(1, &["in.txt: a text file holds no tokens"]);
}

#[test]
fn the_delimiter_that_fits_is_named() {
    let place = Place::new();
    for (header, delimiter) in [
        ("id;text", "';'"),
        ("id;text, short", "';'"),
        ("\"id\";\"text\"", "';'"),
        ("id\ttext", "tab"),
        ("id|text", "'|'"),
    ] {
        place.write("in.csv", format!("{header}\n1;a\n"));
        let says = format!("; pass --delimiter {delimiter}; if other files have another, ");
        match header {
            // No column is called `text` alone.
            "id;text, short" => {
                let says = "choose the column with --text-field";
                every_command_refuses(&place, "in.csv", &[says]);
            }
            _ => every_command_refuses(&place, "in.csv", &["in.csv: ", &says]),
        }
    }
}

#[test]
fn delimiters_that_fit_nothing_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", json_lines(["a"]));
    place.write("in.csv", "text\na\n");
    for (inputs, code, says) in [
        (
            "in.jsonl --delimiter ;",
            2,
            "give it with CSV or TSV inputs only",
        ),
        ("in.csv --delimiter \"", 2, "no quote"),
        ("in.csv --delimiter ;;", 2, "one character of ASCII"),
    ] {
        let run = place.run(&format!("dedup {inputs} -o out"));
        run.refused(code, &["--delimiter", says]);
    }
    for (inputs, says) in [
        ("in.jsonl --quote '", "give it with CSV or TSV inputs only"),
        ("in.csv --quote ,", "another character than the delimiter"),
        (
            "in.csv --quote ; --delimiter ;",
            "another character than the delimiter",
        ),
        ("in.csv --quote ''", "one character of ASCII, or none"),
    ] {
        let run = place.run(&format!("dedup {inputs} -o out"));
        run.refused(2, &["--quote", says]);
    }
}

#[test]
fn quoted_fields_of_tsv_need_a_quote() {
    let place = Place::new();
    place.write("in.tsv", "id\ttext\n1\t\"a\nb\"\n");
    let says = "line 3 (row 1): the record has 1 field, and the header has 2; if fields are quoted, pass the quote character as --quote";
    every_command_refuses(&place, "in.tsv", &[says]);
    place.write("in.tsv", "\"id\"\t\"text\"\n1\t\"a\"\n");
    let says = "or if fields are quoted, pass the quote character as --quote";
    every_command_refuses(&place, "in.tsv", &["there is no column \"text\"", says]);
}
