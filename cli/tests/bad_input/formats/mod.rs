//! Files of a format that is not read, and files that are not what their format says.

mod encodings;

mod tables;

mod separated;

use std::path::PathBuf;

use super::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, bzip2, gzip, json_lines, parquet, strings};

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
        ("pretty.jsonl", &["over several lines", "jq -c ."]),
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
            "in.jsonl: this is a JSON array; rename it: `mv in.jsonl in.json`",
            "pass --format json",
        ];
        every_command_refuses(&place, "in.jsonl", &phrases);
    }
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
            "write it without encryption",
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

#[test]
fn files_of_another_kind_are_named() {
    let place = Place::new();
    let table = parquet([("text", strings(["a b c"]))]);
    let lines = json_lines(["a b c"]);
    let arrow = fixture("plain.arrow");
    for (name, bytes, says) in [
        (
            "in.csv",
            &table[..],
            "this is a Parquet file; rename it: `mv in.csv in.parquet`; or if all inputs are Parquet files, pass --format parquet",
        ),
        (
            "in.jsonl",
            &table,
            "this is a Parquet file; rename it: `mv in.jsonl in.parquet`",
        ),
        (
            "in.arrow",
            &table,
            "this is a Parquet file; rename it: `mv in.arrow in.parquet`",
        ),
        ("in.parquet", &arrow, "this is an Arrow file; rename it"),
        (
            "in.parquet",
            &lines,
            "this is a file of JSON Lines; rename it: `mv in.parquet in.jsonl`",
        ),
        (
            "in.csv",
            &lines,
            "this is a file of JSON Lines; rename it: `mv in.csv in.jsonl`",
        ),
        (
            "in.jsonl",
            b"[\n  {\"text\": \"a\"}\n]\n",
            "this is a JSON array; rename it: `mv in.jsonl in.json`; or if all inputs are JSON arrays, pass --format json",
        ),
        (
            "in.parquet",
            b"version https://git-lfs.github.com/spec/v1\noid",
            "this is a pointer of Git LFS, not the file itself; fetch the file: `git lfs pull`",
        ),
        (
            "in.parquet",
            b"\n<!DOCTYPE html>\n<html>",
            "this is an HTML page",
        ),
        ("in.jsonl", b"<html lang=\"en\">\n", "this is an HTML page"),
        ("in.csv", b"<!doctype html>\n", "download the file again"),
        (
            "in.csv",
            b"<?xml version=\"1.0\"?>\n<Error/>",
            "this is an XML file",
        ),
        (
            "in.parquet",
            b"ORC\n\x06\x03ORC\x17",
            "this is an ORC file, which is not read; convert it in Python: pandas.read_orc(\"in.parquet\").to_parquet(\"in.new.parquet\")",
        ),
        (
            "in.parquet",
            b"\x80\x04\x95\x02\0\0\0\0\0\0\0N.",
            "this is a pickle of Python",
        ),
        (
            "in.pkl",
            b"\x80\x04N.",
            "pandas.read_pickle(\"in.pkl\").to_parquet(\"in.parquet\")",
        ),
        (
            "in.txt",
            b"\x89PNG\r\n\x1A\n\0\0",
            "this is a PNG picture, which is not read",
        ),
        (
            "in.parquet",
            &[0; 600],
            "it holds nothing but NUL bytes, as after a crash",
        ),
        ("in.jsonl", &[0; 600], "get the file again from its source"),
        (
            "in.jsonl",
            b"id,text\n1,a\n",
            "its first line, \"id,text\", is no JSON; if it is the header of CSV, rename it: `mv in.jsonl in.csv`",
        ),
        (
            "in.jsonl",
            b"{'text': 'a'}\n",
            "its strings are in single quotes, as Python prints a dict",
        ),
        (
            "in.txt",
            b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0[Content_Types].xml",
            "this is a document of Office, such as of Word or Excel",
        ),
        (
            "in.parquet",
            b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.npy",
            "this is a file of numpy",
        ),
    ] {
        place.write(name, bytes);
        every_command_refuses(&place, name, &[name, says]);
        std::fs::remove_file(place.path(name)).unwrap();
    }
    // Within a compressed stream, and on stdin.
    let tar = [&[b'a'; 257][..], b"ustar\x0000", &[0; 600]].concat();
    place.write("in.jsonl.gz", gzip(&tar));
    every_command_refuses(&place, "in.jsonl.gz", &["this is a tar archive"]);
    place.write("in.csv.gz", gzip(&lines));
    every_command_refuses(&place, "in.csv.gz", &["`mv in.csv.gz in.jsonl.gz`"]);
    place.write("in.jsonl", &lines);
    every_command_refuses(
        &place,
        "in.jsonl --format csv",
        &["this is a file of JSON Lines; pass --format jsonl"],
    );
}

#[test]
fn json_over_several_lines_is_named() {
    let place = Place::new();
    let lines = "write each in one line: `jq -c . in.jsonl > in.lines.jsonl`";
    for (json, says) in [
        ("{\n \"text\": \"a\"\n}\n{\n \"text\": \"b\"\n}\n", lines),
        ("{\n \"text\": \"a\"\n}\n", lines),
        (
            "{\n \"data\": [\n {\"text\": \"a\"}\n]\n}\n",
            "if the objects in \"data\" are the records, write one per line: `jq -c '.data[]' in.jsonl > in.lines.jsonl`",
        ),
        (
            "{\n \"0\": {\"text\": \"a\"},\n \"1\": {\"text\": \"b\"}\n}\n",
            "if its values are the records, write one per line: `jq -c '.[]' in.jsonl > in.lines.jsonl`",
        ),
    ] {
        place.write("in.jsonl", json);
        every_command_refuses(&place, "in.jsonl", &["in.jsonl: it", says]);
        let run = place.run("dedup in.jsonl -o out");
        assert!(!run.error().contains("--on-bad-record"), "{}", run.error());
    }
}

#[test]
fn encodings_of_other_letters_are_named_with_a_word() {
    let place = Place::new();
    for (text, encoding, word) in [
        (
            &b"\x93\x8C\x8B\x9E\x82\xCC\x93V\x8BC"[..],
            "SHIFT_JIS (Japanese)",
            "東京の天気",
        ),
        (
            b"\xC4\xE3\xBA\xC3\xCA\xC0\xBD\xE7",
            "GB18030 (Chinese, includes GBK)",
            "你好世界",
        ),
        (b"mi\xB3y dom", "windows-1250 (Central European)", "miły"),
        (
            b"caf\x8E ferm\x8E",
            "MACINTOSH (Western European, of older Macs)",
            "café",
        ),
    ] {
        place.write("in.csv", [b"id,text\n1,", text, b"\n"].concat());
        place.write("in.jsonl", [b"{\"text\": \"", text, b"\"}\n"].concat());
        place.write("in.txt", text);
        for name in ["in.csv", "in.jsonl", "in.txt"] {
            let new = name.replace("in.", "in.utf-8.");
            let named =
                format!("as of text in {encoding}, where it reads {word:?}; if that is right");
            let (iconv, _) = encoding.split_once(' ').unwrap();
            let convert =
                format!("`iconv -f {iconv} -t UTF-8 {name} > {new}`; else name in its place");
            every_command_refuses(&place, name, &[&named, &convert]);
        }
        place.write("two.csv", [b"id,text\n1,", text, b"\n2,a b c\n"].concat());
        let run = place.run("dedup two.csv -o skipped --on-bad-record skip --overwrite");
        let run = run.succeeded();
        let warning = "left out 1 record for the encoding";
        assert!(run.stderr.contains(warning), "{}", run.stderr);
        let run = place.run("index build two.csv --index ix --on-bad-record skip");
        let run = run.succeeded();
        assert!(run.stderr.contains(warning), "{}", run.stderr);
        std::fs::remove_dir_all(place.path("ix")).unwrap();
    }
}

#[test]
fn all_missing_columns_are_named() {
    let place = Place::new();
    place.write("r.csv", "userId,movieId,rating\n1,2,3\n");
    place.write(
        "r.jsonl",
        "{\"userId\": 1, \"movieId\": 2, \"rating\": 3}\n",
    );
    let table = parquet([
        ("userId", strings(["1"])),
        ("movieId", strings(["2"])),
        ("rating", strings(["3"])),
    ]);
    place.write("r.parquet", table);
    for (name, kind) in [
        ("r.csv", "column"),
        ("r.jsonl", "field"),
        ("r.parquet", "column"),
    ] {
        let first = format!(
            "there is no {kind} \"user\"; its {kind}s are \"userId\", \"movieId\", \"rating\""
        );
        let second = format!("; {kind} \"item\" is not there either: choose it with --item-field");
        let run = place.run(&format!("ratings {name} -o out.jsonl"));
        run.refused(1, &[&first, "with --user-field", &second]);
        let run = place.run(&format!("ratings {name} -o out.jsonl --user-field userId"));
        let alone = run.error();
        assert!(
            alone.contains("no") && alone.contains("\"item\"") && !alone.contains("either"),
            "{alone}"
        );
    }
    let run = place.run("link r.csv --fields city,userId,zip -o out");
    run.refused(
        1,
        &["column \"city\"", "; column \"zip\" is not there either"],
    );
}

#[test]
fn another_input_that_has_the_column_is_named() {
    let place = Place::new();
    place.write("in/a.csv", "id,content\n1,a\n");
    place.write("in/b.jsonl", json_lines(["a"]));
    let table = parquet([("key", strings(["1"])), ("text", strings(["a"]))]);
    place.write("in/c.parquet", table);
    let says = "in/a.csv: there is no column \"text\", which in/b.jsonl has; its columns are \"id\", \"content\"; choose";
    every_command_refuses(&place, "in", &[says]);
    let run = place.run("dedup in -o out --text-field content --text-field text --id-field key");
    run.refused(
        1,
        &["in/a.csv: there is no id column \"key\", which in/c.parquet has; its columns"],
    );
    let run = place.run("dedup in/a.csv -o out");
    run.refused(
        1,
        &["in/a.csv: there is no column \"text\"; its columns are"],
    );
}

#[test]
fn items_of_an_empty_file_are_refused() {
    let place = Place::new();
    place.write("docs.jsonl", json_lines(["a b c"]));
    place.write("items.jsonl", "");
    let run = place.run("contain docs.jsonl --against items.jsonl -o out");
    run.refused(
        1,
        &["items.jsonl: it holds no record, and items are read from it"],
    );
    place.write("more.jsonl", "\n");
    let run = place.run("contain docs.jsonl --against items.jsonl --against more.jsonl -o out");
    run.refused(1, &["items.jsonl: the 2 files of items hold no record"]);
}

#[test]
fn fields_that_no_input_has_are_named() {
    let place = Place::new();
    place.write("in/a.csv", "id,content\n1,a\n");
    place.write("in/b.jsonl", json_lines(["a"]));
    let fields = "--text-field content --text-field body --text-field author";
    let says = "in/a.csv: no input has a column or field \"body\" or \"author\"; of this file, the columns are \"id\", \"content\"; \
                give --text-field names that some input has";
    every_command_refuses(&place, &format!("in {fields}"), &[says]);
    let says =
        "in/a.csv: there is no column \"text\" or \"body\"; its columns are \"id\", \"content\"";
    every_command_refuses(&place, "in --text-field text --text-field body", &[says]);
    let table = parquet([("title", strings(["a"]))]);
    place.write("c.parquet", table);
    let says = "c.parquet: there is no column \"text\" or \"body\"; its column is \"title\"";
    every_command_refuses(
        &place,
        "c.parquet --text-field text --text-field body",
        &[says],
    );
    let run = place.run("dedup in/b.jsonl --unit tokens -o out");
    run.refused(
        1,
        &["choose one with --tokens-field, or leave out --unit tokens"],
    );
    let run = place.run("dedup in/b.jsonl --id-field url --on-bad-record skip -o out --unique-ids");
    run.refused(
        1,
        &["choose one with --id-field", "; or correct the records"],
    );
}
