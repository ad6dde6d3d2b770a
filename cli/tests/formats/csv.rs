//! CSV and TSV: quotes, line breaks, ids and columns.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use crate::support::{Place, text};

#[test]
fn a_quoted_line_break_does_not_end_a_record() {
    let (one, two, three) = (text(1, 20), text(2, 20), text(3, 20));
    let header = "\u{FEFF}\"id\",text,note\r\n\r\n";
    let kept = [
        format!("1,\"a, \"\"quoted\"\" \r\n\n{one}\",x\r\n"),
        format!("2,{two} 5\" disk,\"\"\n"),
        format!("3,\"{three}\",\"y\"\r"),
    ];
    let repeat = format!("4,\"a, \"\"quoted\"\" \n\r\n{one}\",\n\n\r\n");
    let whole = [header, &kept[0], &kept[1], &repeat, &kept[2]].concat();
    let place = Place::new();
    place.write("in.csv", whole);
    for verify in ["signature", "exact", "exact --hold-mib 0"] {
        let results = place.dedup(&format!("in.csv --verify {verify}"));
        let expected = [header.trim_end_matches("\r\n"), "\r\n", &kept.concat()].concat();
        assert_eq!(String::from_utf8(results.kept("in.csv")).unwrap(), expected);
        assert_eq!(
            results.removals(),
            [(json!(4), json!(1), json!("identical"))]
        );
    }
}

#[test]
fn ids_of_csv_are_integers_or_strings() {
    let place = Place::new();
    for (ids, id, kept_id) in [
        (["7", "-8"], json!(-8), json!(7)),
        (["007", "b"], json!("b"), json!("007")),
        // An empty field is no id, so positions replace all ids.
        (["7", ""], json!("in.csv:1"), json!("in.csv:0")),
    ] {
        let lines = ids.map(|id| format!("{id},same text\n")).concat();
        place.write("in.csv", format!("id,text\n{lines}"));
        let results = place.dedup("in.csv");
        assert_eq!(results.removals(), [(id, kept_id, json!("identical"))]);
    }
}

#[test]
fn a_delimiter_may_be_any_character() {
    let place = Place::new();
    for (name, options, delimiter) in [
        ("in.csv", "--delimiter ;", ";"),
        ("in.csv", "--delimiter |", "|"),
        ("in.csv", "--delimiter tab", "\t"),
        ("in.csv", "--delimiter \\t", "\t"),
        ("in.tsv", "", "\t"),
        ("in.tsv", "--delimiter ,", ","),
        ("in.txt", "--format csv --delimiter -", "-"),
    ] {
        let (one, two) = (text(1, 20), text(2, 20));
        let row = |text: &str| format!("x{delimiter}{text}\n");
        let lines = [row("text"), row(&one), row(&two), row(&one)].concat();
        place.write(name, lines);
        let results = place.dedup(&format!("{name} {options}"));
        assert_eq!(
            results.kept(name),
            [row("text"), row(&one), row(&two)].concat().into_bytes()
        );
    }
}

#[test]
fn quotes_of_tsv_belong_to_fields() {
    let (one, two) = (text(1, 20), text(2, 20));
    let header = "\u{FEFF}id\tauthor\ttext\r\n";
    let kept = [
        format!("1\t\"x\t{one}\r\n"),
        format!("2\ty\"\t\"\"\"{two}\n"),
        format!("3\t\"\"\t{}\n", text(3, 20)),
    ];
    let repeat = format!("4\t\"\t{one}\n");
    let place = Place::new();
    place.write(
        "in.tsv",
        [header, &kept[0], &kept[1], &repeat, &kept[2]].concat(),
    );
    for verify in ["signature", "exact --hold-mib 0"] {
        let results = place.dedup(&format!("in.tsv --verify {verify}"));
        let expected = [header, &kept.concat()].concat();
        assert_eq!(String::from_utf8(results.kept("in.tsv")).unwrap(), expected);
        assert_eq!(
            results.removals(),
            [(json!(4), json!(1), json!("identical"))]
        );
    }
}

#[test]
fn a_quote_may_be_any_character() {
    let place = Place::new();
    for (name, options, quote, delimiter) in [
        ("in.csv", "", "\"", ","),
        ("in.csv", "--quote '", "'", ","),
        ("in.csv", "--quote | --delimiter tab", "|", "\t"),
        ("in.tsv", "--quote \"", "\"", "\t"),
        ("in.tsv", "--quote ~ --delimiter ;", "~", ";"),
    ] {
        let (one, two) = (text(1, 20), text(2, 20));
        let row =
            |text: &str| format!("x{delimiter}{quote}a{delimiter}{quote}{quote}b\n{text}{quote}\n");
        let header = format!("id{delimiter}text\n");
        place.write(
            name,
            [&header, &row(&one)[..], &row(&two), &row(&one)].concat(),
        );
        let results = place.dedup(&format!("{name} {options}"));
        let kept = [&header, &row(&one)[..], &row(&two)].concat();
        assert_eq!(results.kept(name), kept.into_bytes(), "{options}");
    }
    let (one, two) = (text(1, 20), text(2, 20));
    let lines = format!("id,text\n1,\"{one}\n2,{two}\"\n3,\"{one}\n");
    place.write("in.csv", &lines);
    let results = place.dedup("in.csv --quote none");
    let kept = lines.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(results.kept("in.csv"), format!("{kept}\n").into_bytes());
}

#[test]
fn records_across_chunks_stay_whole() {
    // Records of many lengths, some longer than a chunk, with line breaks and quotes in them.
    let mut file = String::from("id,text,filler\n");
    let mut kept = file.clone();
    for i in 0..40 {
        let filler =
            "x\n\"\",y\r\n".repeat((i * 4_987) % 20_000 + if i % 9 == 0 { 1 << 17 } else { 0 });
        let record = format!("{i},document {i},\"{filler}\"\r\n");
        file.push_str(&record);
        kept.push_str(&record);
        if i % 3 == 0 {
            file.push_str("\r\n1,\"document 0\",\n");
        }
    }
    let place = Place::new();
    place.write("in.csv", file);
    for options in ["--batch-mib 1", "--verify exact --hold-mib 0"] {
        let results = place.dedup(&format!("in.csv {options}"));
        assert!(results.kept("in.csv") == kept.as_bytes());
        assert_eq!(results.count("removed"), 14);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any records that the csv crate writes, in any of its styles, are the records that are found.
    #[test]
    fn csv_records_are_those_of_the_csv_crate(
        rows in prop::collection::vec(prop::collection::vec("[ab\",\r\n é]{0,6}", 2), 1..12),
        always in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let end = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().quote_style(style).terminator(end).from_writer(Vec::new());
        writer.write_record(["text", "other"]).unwrap();
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        let place = Place::new();
        place.write("in.csv", writer.into_inner().unwrap());
        let results = place.dedup("in.csv --unit bytes --size 1 --keep-whitespace --verify exact --threshold 1");
        prop_assert_eq!(results.count("documents"), rows.len() as u64);
        let kept = results.kept("in.csv");
        let mut reader = csv::Reader::from_reader(&kept[..]);
        let kept: Vec<Vec<String>> = reader
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(kept.len() as u64, results.count("kept"));
        // The kept rows are rows of the file, in order, with every distinct set of bytes among them.
        let mut left = rows.iter();
        for row in &kept {
            prop_assert!(left.any(|known| known == row), "{:?}", row);
        }
        let sets = |rows: &[Vec<String>]| -> BTreeSet<BTreeSet<u8>> {
            rows.iter().map(|row| row[0].bytes().collect()).collect()
        };
        prop_assert_eq!(sets(&kept), sets(&rows));
    }
}
