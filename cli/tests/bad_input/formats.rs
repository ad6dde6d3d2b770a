//! Files of a format that is not read, and files that are not what their format says.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, LargeStringArray, StructArray};
use arrow_schema::{DataType, Field};

use super::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, bzip2, gzip, json_lines, numbered_lines, parquet, strings, xz};

fn fixture(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats/fixtures");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn an_unknown_ending_is_refused() {
    let place = Place::new();
    place.write("docs/a.jsonl", json_lines(["a"]));
    place.write("docs/b.log", "print()");
    let known = [
        "docs/b.log: files that end in .log are not read; ",
        "--format",
        ".jsonl, .ndjson, .jsonlines, .json, .csv, .tsv, .parquet",
        ".arrow, .feather",
        ".txt, .md, .html",
        ".gz",
        ".zst",
        ".xz",
        ".bz2",
    ];
    let of_folder = [
        &known[..],
        &["leave out the file with --exclude or --include"],
    ]
    .concat();
    every_command_refuses(&place, "docs", &of_folder);
    every_command_refuses(&place, "docs/*", &of_folder);
    every_command_refuses(&place, "docs/b.log", &known);
    let run = place.run("dedup docs/b.log -o out");
    assert!(!run.error().contains("--exclude"), "{}", run.error());
    let results = place.dedup("docs --exclude *.log");
    assert_eq!(results.count("documents"), 1);
    std::fs::remove_dir_all(place.path("out")).unwrap();
    place.write("README", "text");
    every_command_refuses(
        &place,
        "README",
        &["README: the name has no ending", "--format"],
    );
    let results = place.dedup("docs/b.log README --format text");
    assert_eq!(results.kept_names(), ["README", "docs/b.log"]);
}

#[test]
fn what_other_programs_write_is_named() {
    let place = Place::new();
    let table = parquet([
        ("text", strings(["a b"])),
        ("id", strings(["1"])),
        ("text", strings(["c d"])),
    ]);
    place.write("twice.parquet", table);
    place.write("excel.csv", "sep=;\r\nid;text\r\n1;a b\r\n");
    place.write("pretty.jsonl", "{\n  \"text\": \"a\"\n}\n");
    place.write(
        "crashed.jsonl",
        [&json_lines(["a"])[..], &[0; 512]].concat(),
    );
    place.write("chat.jsonl", "{\"messages\": [{\"content\": \"a\"}]}\n");
    for (input, told) in [
        (
            "twice.parquet",
            &["two columns are called \"text\"", "--text-field"][..],
        ),
        ("excel.csv", &["sep=;", "--delimiter ';'"]),
        ("pretty.jsonl", &["line 1", "jq -c ."]),
        ("crashed.jsonl", &["line 2", "NUL bytes"]),
        (
            "chat.jsonl --text-field messages.content",
            &["\"messages\" is an array", "join"],
        ),
        (
            "s3://bucket/a.jsonl",
            &[
                "copy it to this machine: `aws s3 cp s3://bucket/a.jsonl a.jsonl`, and give a.jsonl; or, for one input",
            ],
        ),
    ] {
        let told = [&[input.split(' ').next().unwrap()], told].concat();
        place
            .run(&format!("dedup {input} -o out"))
            .refused(1, &told);
        assert!(!place.path("out").exists(), "{input}");
    }
}

#[test]
fn other_compressions_and_archives_are_named() {
    let place = Place::new();
    for (name, bytes, what) in [
        (
            "a.jsonl.lz4",
            &b"\x04\x22\x4D\x18rest"[..],
            "compressed with lz4",
        ),
        ("a.jsonl.7z", b"7z\xBC\xAF\x27\x1Crest", "a 7z archive"),
        ("a.zip", &fixture("pandas.zip"), "a zip archive"),
        ("a.jsonl", &fixture("pandas.zip"), "a zip archive"),
        ("a.tar.gz", &gzip(b"rest"), "a tar archive"),
        (
            "a.jsonl.lzma",
            &fixture("pandas.jsonl.lzma"),
            "compressed with lzma",
        ),
        ("a.jsonl.br", b"rest", "compressed with brotli"),
        ("a.xlsx", b"rest", "an Excel sheet"),
        ("a.feather", b"FEA1rest", "a Feather file of version 1"),
    ] {
        place.write(name, bytes);
        let says = format!("{name}: this is {what}, which is not read");
        every_command_refuses(&place, name, &[&says]);
    }
    let run = place.run_with_stdin("dedup - -o out", b"PK\x03\x04rest");
    run.refused(1, &["stdin: this is a zip archive"]);
    leaves_no_output(&place);
}

#[test]
fn other_encodings_are_named() {
    let place = Place::new();
    for name in ["utf-16.csv", "utf-16.jsonl"] {
        place.write(name, fixture(name));
        let new = name.replace("utf-16.", "utf-16.utf-8.");
        let convert = format!("convert the file: `iconv -f UTF-16 -t UTF-8 {name} > {new}`");
        let phrases = ["the file is UTF-16, not UTF-8", &convert];
        every_command_refuses(&place, name, &phrases);
        every_command_refuses(&place, &format!("{name} --on-bad-record skip"), &phrases);
    }
    let without_mark = &fixture("utf-16.jsonl")[2..];
    place.write("in.jsonl.xz", xz(without_mark));
    let phrases = [
        "in.jsonl.xz: the file is UTF-16LE",
        "`xz -dc in.jsonl.xz | iconv -f UTF-16LE -t UTF-8 > in.utf-8.jsonl`",
    ];
    every_command_refuses(&place, "in.jsonl.xz", &phrases);
    place.write("in.txt", fixture("utf-16.jsonl"));
    let phrases = [
        "in.txt, row 0: the text is UTF-16, not UTF-8; convert the file: `iconv -f UTF-16 -t UTF-8 in.txt > in.utf-8.txt`",
    ];
    every_command_refuses(&place, "in.txt", &phrases);
}

#[test]
fn a_truncated_xz_or_bzip2_stream_is_refused() {
    let place = Place::new();
    for (name, kind) in [("pandas.jsonl.xz", "xz"), ("pandas.jsonl.bz2", "bzip2")] {
        let whole = fixture(name);
        for cut in [14, whole.len() / 3, whole.len() / 2 + 50, whole.len() - 1] {
            place.write(name, &whole[..cut]);
            let says = format!("{name}: the {kind} stream is cut off");
            every_command_refuses(&place, name, &[&says, "get the file again"]);
        }
        let mut damaged = whole.clone();
        damaged[60] ^= 0x55;
        place.write(name, damaged);
        let says = format!("{name}: the {kind} stream is");
        every_command_refuses(&place, name, &[&says, "get the file again"]);
    }
}

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
fn invalid_utf_8_names_column_and_byte() {
    let place = Place::new();
    place.write("in.csv", b"id,text\n1,a\n2,caf\xC3\n");
    let says = "in.csv, line 3 (row 1): column \"text\" holds invalid UTF-8 at byte 3; correct";
    every_command_refuses(&place, "in.csv", &[says, "--on-bad-record skip"]);
    let mut binary = fixture("binary.arrow");
    let text = b"all happy families";
    let at = binary.windows(text.len()).position(|window| window == text);
    binary[at.unwrap() + 4] = 0xFF;
    place.write("in.arrow", binary);
    let says = "in.arrow, row 2: column \"text\" holds invalid UTF-8 at byte 4";
    every_command_refuses(&place, "in.arrow", &[says, "--on-bad-record skip"]);
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

/// What is said of text in windows-1252, where it reads a word, and how to convert the file.
fn western(word: &str) -> String {
    format!(
        ", as of text in windows-1252 (Western European, like Latin-1), where it reads {word:?}; if that is right, \
         convert the file: `iconv -f windows-1252 -t UTF-8"
    )
}

#[test]
fn western_encodings_are_named_with_the_remedy() {
    let place = Place::new();
    for (name, file, word, says) in [
        (
            "in.csv",
            &b"id,text\n1,a\n2,caf\xE9\n"[..],
            "café",
            "line 3 (row 1): column \"text\" holds invalid UTF-8 at byte 3",
        ),
        (
            "in.jsonl",
            b"{\"text\": \"It\x92s\"}\n",
            "It’s",
            "line 1 (row 0): invalid UTF-8 at byte 12 of the line",
        ),
        (
            "in.json",
            b"[{\"text\": \"gro\xDF\"}]\n",
            "groß",
            "line 1 (row 0): invalid UTF-8 at byte 13 of the element",
        ),
        (
            "in.txt",
            b"Stra\xDFe in \xD6sterreich",
            "Straße",
            "row 0: invalid UTF-8 at byte 4",
        ),
    ] {
        place.write(name, file);
        let ending = name.split_once('.').unwrap().1;
        let western = western(word);
        let says =
            format!("{name}, {says}{western} {name} > in.utf-8.{ending}`; else name in its place");
        every_command_refuses(&place, name, &[&says]);
        let run = place.run(&format!("dedup {name} -o other --overwrite"));
        assert!(!run.error().contains("on-bad-record"), "{}", run.error());
        // Skipped, it is said once more.
        place.write("good.jsonl", json_lines(["a good one"]));
        let skipped = place.run(&format!(
            "dedup {name} good.jsonl -o other --overwrite --on-bad-record skip -q"
        ));
        let says = format!("warning: left out 1 record for the encoding, the first at {name}");
        let skipped = skipped.succeeded();
        assert!(skipped.stderr.contains(&says), "{}", skipped.stderr);
        assert!(skipped.stderr.contains("convert the file: `iconv"));
    }
    let run = place.run_with_stdin("dedup - -o out --overwrite", b"{\"text\": \"caf\xE9\"}\n");
    run.refused(
        1,
        &["stdin", "pass it through `iconv -f windows-1252 -t UTF-8`"],
    );

    // Commands that read values of fields, and the names of columns.
    place.write("r.jsonl", b"{\"user\": \"caf\xE9\", \"item\": \"a\"}\n");
    place.write("r.csv", b"user;gr\xF6\xDFe\n1;2\n");
    place.write("d.jsonl", json_lines(["a"]));
    place.write("pairs.jsonl", "{\"id_a\": \"1\", \"id_b\": \"2\"}\n");
    for (command, says) in [
        (
            "ratings r.jsonl --as seen -o -",
            "r.jsonl, line 1 (row 0): invalid UTF-8 at byte 13 of the record",
        ),
        (
            "link r.jsonl --fields user -o out --overwrite",
            "r.jsonl, line 1 (row 0): invalid UTF-8 at byte 13 of the record",
        ),
        (
            "contain d.jsonl --against r.jsonl --item-fields user -o out --overwrite",
            "r.jsonl, line 1 (row 0): invalid UTF-8 at byte 13 of the record",
        ),
        (
            "evaluate pairs.jsonl --truth r.jsonl --truth-fields user,item",
            "r.jsonl: line 1: invalid UTF-8 at byte 13 of the record",
        ),
        (
            "ratings r.csv --as seen --delimiter ; --item-field größe -o -",
            "r.csv: there is no column \"größe\"; its columns are \"user\", \"gr\u{FFFD}\u{FFFD}e\"; the header holds invalid UTF-8",
        ),
    ] {
        let run = place.run(command);
        let word = if says.contains("größe") {
            "größe"
        } else {
            "café"
        };
        run.refused(1, &[&format!("{says}{} r.", western(word))]);
    }
}

#[test]
fn an_unknown_encoding_is_not_named() {
    let place = Place::new();
    // Polish in windows-1250, and Russian in windows-1251.
    for text in [
        &b"mi\xB3y dom"[..],
        b"\xC8\xE2\xE0\xED \xE8 \xC0\xED\xED\xE0",
    ] {
        place.write("in.csv", [b"id,text\n1,", text, b"\n"].concat());
        let says = [
            "as of text in another encoding; if other records have such bytes, convert the file: \
             `iconv -f ENCODING -t UTF-8 in.csv > in.utf-8.csv`",
            "else correct the record, or pass --on-bad-record skip",
        ];
        every_command_refuses(&place, "in.csv", &says);
    }
    let mut file = parquet([
        ("id", strings(["1"])),
        ("text", strings(["a Strasse in Bonn"])),
    ]);
    let at = file
        .windows(7)
        .position(|window| window == b"Strasse")
        .unwrap();
    file[at + 4] = 0xDF;
    file[at + 5] = b'e';
    place.write("in.parquet", file);
    let says = [
        "as of a column in windows-1252 (Western European, like Latin-1), where it reads \"Straßee\"; if that is right, decode \
         the column",
        "; else correct the record",
    ];
    every_command_refuses(&place, "in.parquet", &says);
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
        "; correct the strings of that column",
    ];
    every_command_refuses(&place, "in.arrow", &says);
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
    let join = ".text = ([.messages[].content] | join(\"\\n\"))'`";
    for (input, jq) in [
        ("in.jsonl", format!("`jq -c '{join}")),
        ("in.json", format!("`jq -c '.[] | {join}")),
        (
            "in.jsonl --text-field messages",
            format!("`jq -c '{join}, and pass --text-field text"),
        ),
        (
            "wrapped.json",
            "write one per line: `jq -c '.data[]'`".to_owned(),
        ),
    ] {
        every_command_refuses(&place, input, &[&jq]);
    }
    let run = place.run("link in.json --fields messages -o out");
    run.refused(
        1,
        &[&format!(
            "`jq -c '.[] | {join}, and name the field \"text\" in --fields"
        )],
    );
}

#[test]
fn nul_bytes_next_to_records_are_named() {
    let place = Place::new();
    let lines = numbered_lines(["a", "b"], 1);
    let remove = "remove them: `tr -d '\\000' < FILE > NEW`";
    for (name, file) in [
        ("in.jsonl", [&[0; 8][..], &lines].concat()),
        (
            "in.jsonl",
            [lines.trim_ascii_end(), &[0; 3], b"\n"].concat(),
        ),
        ("in.jsonl", [&lines[..], &[0; 3]].concat()),
        ("in.json", b"[{\"text\": \"a\"}]\n\0\0".to_vec()),
        ("in.csv", b"id,text\n1,a\n\0\0\0\0".to_vec()),
    ] {
        place.write(name, file);
        every_command_refuses(&place, name, &["NUL bytes", remove]);
    }
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
            &["in.parquet, row 1: column \"date\" holds invalid UTF-8 at byte 4"],
        );
        let found = place.dedup(&format!("in.parquet {option} --on-bad-record skip"));
        assert_eq!((found.count("skipped"), found.count("kept")), (1, 1));
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
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

#[test]
fn a_json_array_must_be_valid() {
    let place = Place::new();
    for (array, says) in [
        ("[{\"text\": \"a\"}", "the JSON array is cut off"),
        ("[{\"text\": \"a]", "the JSON array is cut off"),
        ("[", "the JSON array is cut off"),
        (
            "[{\"text\": \"a\"},\n]",
            "line 2: a comma in the JSON array has no element after it",
        ),
        (
            "[,{\"text\": \"a\"}]",
            "line 1: a comma in the JSON array has no element before it",
        ),
        (
            "[{\"text\": \"a\"}]\n\n x",
            "line 3: text follows the end of the JSON array",
        ),
        (
            "[{\"text\": \"a\"}][]",
            "line 1: text follows the end of the JSON array",
        ),
    ] {
        place.write("in.json", array);
        every_command_refuses(&place, "in.json --on-bad-record skip", &["in.json: ", says]);
    }
    for (array, says) in [
        (
            "[\n{\"text\": \"a\"},\n\n1]",
            "line 4 (row 1): the record is a number, not an object",
        ),
        (
            "[{\"text\": \"a\"} {\"text\": \"b\"}]",
            "line 1 (row 0): invalid JSON",
        ),
        (
            "[{\"text\": \"a\"}, {\"text\": ]}]",
            "line 1 (row 1): invalid JSON",
        ),
        (
            "[{\"text\": \"a\"},\n{\"text\":\n tru}]",
            "at line 3 column",
        ),
        (
            "[{\"text\": \"a\"}, {\"text\": null}]",
            "(row 1): field \"text\" is null",
        ),
    ] {
        place.write("in.json", array);
        let phrases = ["in.json, line ", says, "--on-bad-record skip"];
        every_command_refuses(&place, "in.json", &phrases);
    }
}

#[test]
fn a_json_array_in_json_lines_is_named() {
    let place = Place::new();
    for name in ["pandas.json", "indented.json"] {
        place.write("in.jsonl", fixture(name));
        let phrases = [
            "in.jsonl, line 1",
            "a file that is one JSON array must end in .json",
        ];
        every_command_refuses(&place, "in.jsonl", &phrases);
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

#[test]
fn containers_are_named_with_a_remedy() {
    let place = Place::new();
    let tar = [&[b'a'; 257][..], b"ustar\x0000", &[0; 600]].concat();
    for (name, bytes, what, remedy) in [
        (
            "in.warc.gz",
            gzip(b"WARC/1.0\r\n"),
            "a WARC archive",
            "trafilatura",
        ),
        (
            "in.warc.wet.gz",
            gzip(b"WARC/1.0\r\n"),
            "a WARC archive",
            "JSON Lines",
        ),
        (
            "in.jsonl.gz",
            gzip(b"WARC/1.0\r\n"),
            "a WARC archive",
            "JSON Lines",
        ),
        (
            "in.avro",
            b"Obj\x01".to_vec(),
            "an Avro file",
            "polars.read_avro",
        ),
        ("in.orc", b"ORC".to_vec(), "an ORC file", "pandas.read_orc"),
        (
            "in.tar",
            tar.clone(),
            "a tar archive",
            "unpack it, and give its files",
        ),
        (
            "in.txt",
            tar.clone(),
            "a tar archive",
            "unpack it, and give its files",
        ),
        (
            "in.tbz2",
            bzip2(&tar),
            "a tar archive",
            "unpack it, and give its files",
        ),
        (
            "in.db",
            b"SQLite format 3\0".to_vec(),
            "an SQLite database",
            "sqlite3 -csv",
        ),
        (
            "in.csv",
            b"SQLite format 3\0".to_vec(),
            "an SQLite database",
            "sqlite3 -csv",
        ),
        (
            "in.txt",
            b"%PDF-1.7".to_vec(),
            "a PDF document",
            "pdftotext",
        ),
        (
            "in.xlsx",
            b"PK\x03\x04".to_vec(),
            "an Excel sheet",
            "save it as CSV",
        ),
        (
            "in.parquet",
            b"PARErest".to_vec(),
            "an encrypted Parquet file",
            "decrypt it",
        ),
        (
            "in.xml.bz2",
            bzip2(b"<mediawiki>"),
            "an XML file",
            "--format text",
        ),
    ] {
        place.write(name, bytes);
        let says = format!("{name}: this is {what}, which is not read; ");
        let run = place.run(&format!("dedup {name} -o out"));
        let run = run.refused(1, &[&says, remedy]);
        assert!(!run.error().contains("compress it"), "{}", run.error());
    }
    leaves_no_output(&place);
}
