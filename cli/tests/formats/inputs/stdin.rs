//! Records on stdin.

use super::own_and_shared;
use crate::formats::samples::{in_pieces, read_table};
use crate::support::{Place, gzip, json_lines, parquet, strings, text, zstd};

#[test]
fn stdin_is_read_in_every_format() {
    let lines = json_lines([text(1, 20), text(2, 20), text(1, 20)]);
    let kept_lines = json_lines([text(1, 20), text(2, 20)]);
    let table = parquet([("text", strings([text(1, 20), text(2, 20), text(1, 20)]))]);
    let place = Place::new();
    for (stdin, options, name) in [
        (lines.clone(), "", "stdin.jsonl"),
        (gzip(&lines), "", "stdin.jsonl.gz"),
        (in_pieces(gzip, &lines), "", "stdin.jsonl.gz"),
        (zstd(&lines), "", "stdin.jsonl.zst"),
        (
            lines.clone(),
            "--format jsonl --verify exact",
            "stdin.jsonl",
        ),
        (table.clone(), "", "stdin.parquet"),
        (
            table.clone(),
            "--format parquet --verify exact",
            "stdin.parquet",
        ),
        (gzip(&table), "--format parquet", "stdin.parquet.gz"),
    ] {
        let results = place.dedup_with_stdin(&format!("- {options}"), &stdin);
        assert_eq!(results.kept_names(), [name]);
        // Input and output start with the same magic bytes.
        assert_eq!(results.stored(name)[..2], stdin[..2], "{name}");
        if name.contains("jsonl") {
            assert_eq!(results.kept(name), kept_lines);
        } else {
            assert_eq!(read_table(results.kept(name)).0.num_rows(), 2);
        }
        assert_eq!(results.removed[0]["id"], format!("{name}:2"));
    }
}

#[test]
fn stdin_keeps_its_place_among_files() {
    let place = Place::new();
    place.write("a.jsonl", own_and_shared(1));
    place.write("b.txt", text(0, 20));
    let results = place.dedup_with_stdin("b.txt - a.jsonl", &own_and_shared(2));
    assert_eq!(results.kept_names(), ["a.jsonl", "b.txt", "stdin.jsonl"]);
    let removed: Vec<_> = results
        .removed
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(removed, ["stdin.jsonl:1", "a.jsonl:1"]);
    let results = place.dedup_with_stdin("- --format text", text(5, 20).as_bytes());
    assert_eq!(results.kept("stdin.txt"), text(5, 20).as_bytes());
}

#[test]
fn text_on_stdin_needs_its_format() {
    let csv = format!("id,text\n1,{}\n2,{}\n", text(1, 20), text(1, 20));
    let place = Place::new();
    for stdin in [
        csv.clone().into_bytes(),
        gzip(csv.as_bytes()),
        b" 7\n".to_vec(),
    ] {
        for options in ["", "--on-bad-record skip"] {
            let run = place.run_with_stdin(&format!("dedup - -o out {options}"), &stdin);
            run.refused(
                1,
                &[
                    "stdin: neither JSON, Parquet nor Arrow",
                    "pass --format csv",
                ],
            );
        }
    }
    for stdin in [csv.clone().into_bytes(), gzip(csv.as_bytes())] {
        let results = place.dedup_with_stdin("- --format csv", &stdin);
        assert_eq!((results.count("kept"), results.count("removed")), (1, 1));
    }
    let mixed = [b"oops\n".to_vec(), own_and_shared(1)].concat();
    let results = place.dedup_with_stdin("- --format jsonl --on-bad-record skip", &mixed);
    assert_eq!(results.count("skipped"), 1);
    // The reader names another encoding.
    let utf_16: Vec<u8> = "\u{FEFF}{}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let run = place.run_with_stdin("dedup - -o other", &utf_16);
    run.refused(1, &["stdin: the file is UTF-16"]);
}
