//! Parquet and Arrow files.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, StructArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field};

use super::fixture;
use crate::bad_input::refusals::every_command_refuses;
use crate::support::{Place, parquet, strings};

#[test]
fn a_damaged_page_is_refused() {
    let whole = fixture("checksums.parquet");
    let place = Place::new();
    // Inside of a text: without the checksum, only the text would be another.
    let text = b"red wheel barrow";
    let at = whole.windows(text.len()).position(|window| window == text);
    let mut damaged = whole.clone();
    damaged[at.unwrap()] = b'R';
    place.write("in.parquet", damaged);
    let phrases = [
        "in.parquet: ",
        "CRC",
        "; its bytes are not those that were written: get the file again",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
    let run = place.run("dedup in.parquet -o out");
    assert!(!run.error().contains("pyarrow"), "{}", run.error());
}

#[test]
fn a_truncated_arrow_file_is_refused() {
    for name in [
        "plain.arrow",
        "lz4.feather",
        "stream.arrows",
        "dictionary.arrow",
    ] {
        let place = Place::new();
        let whole = fixture(name);
        for cut in [3, 40, whole.len() / 2] {
            place.write(name, &whole[..cut]);
            every_command_refuses(&place, name, &[name, "get the file again"]);
        }
        for at in (0..whole.len()).step_by(23) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xFF;
            place.write(name, damaged);
            let run = place.run(&format!("dedup {name} -o out --overwrite"));
            assert!(
                matches!(run.code, Some(0 | 1)),
                "{name} at {at}: {}",
                run.stderr
            );
            assert!(
                !run.stderr.contains("panicked"),
                "{name} at {at}: {}",
                run.stderr
            );
        }
    }
}

/// A column of lists of the words of each text.
fn lists_of_words(texts: &[&str]) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in texts {
        text.split(' ')
            .for_each(|word| lists.values().append_value(word));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

#[test]
fn a_string_of_parquet_that_is_not_utf_8_is_one_bad_record() {
    let texts = [
        "a rose is a rose",
        "the quick brown fox",
        "all happy families",
        "to be or not",
    ];
    let inner = Arc::new(Field::new("text", DataType::Utf8, false));
    let structs: ArrayRef = Arc::new(StructArray::from(vec![(inner, strings(texts))]));
    let categories: DictionaryArray<Int8Type> = texts.into_iter().collect();
    let large: ArrayRef = Arc::new(LargeStringArray::from_iter_values(texts));
    let place = Place::new();
    for (column, text, options, says) in [
        (
            strings(texts),
            "all happy families",
            "",
            "column \"text\" holds invalid UTF-8 at byte 1",
        ),
        (
            large,
            "all happy families",
            "",
            "column \"text\" holds invalid UTF-8 at byte 1",
        ),
        (
            Arc::new(categories),
            "all happy families",
            "",
            "column \"text\" holds invalid UTF-8 at byte 1",
        ),
        (
            structs,
            "all happy families",
            "--text-field text.text",
            "column \"text.text\" holds invalid UTF-8 at byte 1",
        ),
        (
            lists_of_words(&texts),
            "families",
            "--unit tokens --tokens-field text",
            "column \"text\" holds a token with invalid UTF-8 at byte 1",
        ),
        (
            strings(texts),
            "id of the third",
            "",
            "id column \"id\" holds invalid UTF-8 at byte 1",
        ),
    ] {
        let ids = strings(["first", "second", "id of the third", "fourth"]);
        let mut file = parquet([("id", ids), ("text", column)]);
        let at = file
            .windows(text.len())
            .position(|window| window == text.as_bytes());
        file[at.unwrap() + 1] = 0xFF;
        place.write("in.parquet", file);
        let says = format!("in.parquet, row 2: {says}");
        every_command_refuses(
            &place,
            &format!("in.parquet {options}"),
            &[&says, "--on-bad-record skip"],
        );
        let found = place.dedup(&format!("in.parquet {options} --on-bad-record skip"));
        assert_eq!((found.count("documents"), found.count("skipped")), (4, 1));
        assert_eq!(found.count("kept"), 3);
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
fn strings_of_arrow_that_are_not_utf_8_name_their_column() {
    let place = Place::new();
    let mut file = fixture("plain.arrow");
    let text = b"all happy families";
    let at = file.windows(text.len()).position(|window| window == text);
    file[at.unwrap() + 4] = 0xFF;
    place.write("in.arrow", file);
    let says = [
        "in.arrow: column \"text\": ",
        "; if only that string is damaged, correct it; if all are in another encoding, decode them: in the program that wrote",
    ];
    every_command_refuses(&place, "in.arrow", &says);
    let run = place.run("dedup in.arrow -o out");
    assert!(!run.error().contains("--action"), "{}", run.error());
    // Another column is read only to be copied.
    let columns = [("text", strings(["a b"])), ("note", strings(["a note"]))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    let mut file = writer.into_inner().unwrap();
    let at = file.windows(6).position(|window| window == b"a note");
    file[at.unwrap()] = 0xFF;
    place.write("in.arrow", file);
    place.run("dedup in.arrow -o out").refused(
        1,
        &[
            "column \"note\"",
            "or pass --action report, which copies no records",
        ],
    );
    place.run("pairs in.arrow -o pairs.jsonl").succeeded();
    place
        .run("dedup in.arrow -o out --action report")
        .succeeded();
}

#[test]
fn lists_in_place_of_text_are_joined() {
    let place = Place::new();
    let chat = "{\"messages\": [{\"content\": \"a\", \"role\": \"user\"}]}";
    place.write("in.jsonl", format!("{chat}\n"));
    place.write("in.json", format!("[{chat}]\n"));
    place.write(
        "wrapped.json",
        "{\"data\": [{\"text\": \"a\"}, {\"text\": \"b\"}]}\n",
    );
    let join = ".text = ([.messages[].content] | join(\"\\n\"))'";
    for (input, jq) in [
        (
            "in.jsonl",
            format!("`jq -c '{join} in.jsonl > in.new.jsonl`"),
        ),
        (
            "in.json",
            format!("`jq -c '.[] | {join} in.json > in.new.json`"),
        ),
        (
            "in.jsonl --text-field messages",
            format!("`jq -c '{join} in.jsonl > in.new.jsonl`, and pass --text-field text"),
        ),
        (
            "wrapped.json",
            "write one per line: `jq -c '.data[]' wrapped.json > wrapped.new.json`".to_owned(),
        ),
    ] {
        every_command_refuses(&place, input, &[&jq]);
    }
    let run = place.run_with_stdin("dedup - -o out", format!("{chat}\n").as_bytes());
    run.refused(1, &[&format!("one field: pass it through `jq -c '{join}`")]);
    let run = place.run("link in.json --fields messages -o out");
    run.refused(
        1,
        &[&format!(
            "`jq -c '.[] | {join} in.json > in.new.json`, and name the field \"text\" in --fields"
        )],
    );
}

#[test]
fn a_value_of_the_order_that_is_not_utf_8_is_one_bad_record() {
    let place = Place::new();
    let mut file = parquet([
        ("id", strings(["1", "2", "3"])),
        ("text", strings(["a b", "c d", "a b"])),
        ("date", strings(["2024-01-01", "2024-02-02", "2024-03-03"])),
    ]);
    let at = file
        .windows(10)
        .position(|window| window == b"2024-02-02")
        .unwrap();
    file[at + 4] = 0xFF;
    place.write("in.parquet", file);
    for option in ["--keep-by date", "--source-field date"] {
        let run = place.run(&format!("dedup in.parquet {option} -o out"));
        run.refused(
            1,
            &["in.parquet, row 1: column \"date\" holds invalid UTF-8 at byte 4, in \"2024\\xff02-02\""],
        );
        let found = place.dedup(&format!("in.parquet {option} --on-bad-record skip"));
        assert_eq!((found.count("skipped"), found.count("kept")), (1, 1));
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
fn big_endian_tables_are_named() {
    let place = Place::new();
    for (name, open) in [
        ("big-endian.arrows", "open_stream"),
        ("big-endian.arrow", "open_file"),
    ] {
        place.write(name, fixture(name));
        let says = format!("{name}: its numbers are big-endian");
        let remedy = format!(
            "convert it in Python: import pyarrow.ipc, pyarrow.parquet; \
             pyarrow.parquet.write_table(pyarrow.ipc.{open}(\"{name}\").read_all()"
        );
        every_command_refuses(&place, name, &[&says, &remedy]);
    }
    let stream = fixture("big-endian.arrows");
    let run = place.run_with_stdin("dedup - -o out", &stream);
    run.refused(
        1,
        &[
            "convert the file behind it in Python",
            "open_stream(\"in.arrow\")",
        ],
    );
}
