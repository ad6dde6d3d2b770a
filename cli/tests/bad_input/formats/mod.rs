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
            "in.jsonl, line 1",
            "a file that is one JSON array must end in .json",
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
