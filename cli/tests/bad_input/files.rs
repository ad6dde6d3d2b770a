//! Bad files: cut off, damaged, empty, missing, or tables without the column.

use std::fs;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array};

use super::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, bzip2, gzip, json_lines, parquet, strings, text, xz, zstd};

#[test]
fn a_truncated_gzip_stream_is_refused() {
    let whole = gzip(&json_lines([text(1, 200), text(2, 200)]));
    let place = Place::new();
    // Cut in the header, in the data, in the checksum at the end.
    for cut in [3, 12, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        place.write("in.jsonl.gz", &whole[..cut]);
        let phrases = [
            "in.jsonl.gz",
            "the gzip stream is cut off",
            "get the file again",
        ];
        every_command_refuses(&place, "in.jsonl.gz", &phrases);
    }
    let mut second_member_cut = gzip(&json_lines(["a whole member"]));
    second_member_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.gz", second_member_cut);
    every_command_refuses(
        &place,
        "in.jsonl.gz",
        &["in.jsonl.gz", "the gzip stream is cut off"],
    );
}

#[test]
fn a_truncated_zstd_stream_is_refused() {
    let whole = zstd(&json_lines([text(1, 200), text(2, 200)]));
    let place = Place::new();
    for cut in [4, 7, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        place.write("in.jsonl.zst", &whole[..cut]);
        let phrases = [
            "in.jsonl.zst",
            "the zstd stream is cut off",
            "get the file again",
        ];
        every_command_refuses(&place, "in.jsonl.zst", &phrases);
    }
    let mut second_frame_cut = zstd(&json_lines(["a whole frame"]));
    second_frame_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.zst", second_frame_cut);
    every_command_refuses(
        &place,
        "in.jsonl.zst",
        &["in.jsonl.zst", "the zstd stream is cut off"],
    );
}

#[test]
fn a_damaged_stream_is_refused() {
    let place = Place::new();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    let mut checksum_wrong = gzip(&lines);
    let at = checksum_wrong.len() - 6;
    checksum_wrong[at] ^= 0x40;
    place.write("in.jsonl.gz", checksum_wrong);
    every_command_refuses(
        &place,
        "in.jsonl.gz",
        &["in.jsonl.gz", "the gzip stream is damaged"],
    );
}

#[test]
fn bytes_after_a_stream_are_named() {
    let place = Place::new();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    for (name, kind, stream) in [
        ("in.jsonl.gz", "gzip", gzip(&lines)),
        ("in.jsonl.zst", "zstd", zstd(&lines)),
        ("in.jsonl.xz", "xz", xz(&lines)),
        ("in.jsonl.bz2", "bzip2", bzip2(&lines)),
    ] {
        let says = format!("{name}: bytes that are not {kind} follow the {kind} stream");
        for rest in [&b"and then something else"[..], &[b'x'; 300_000]] {
            place.write(name, [&stream[..], &stream, rest].concat());
            every_command_refuses(&place, name, &[&says, "get the file again"]);
        }
        place.write("a.txt", "a");
        let run = place.run(&format!("compare {name} a.txt"));
        run.refused(1, &[&says]);
    }
}

#[test]
fn short_rests_of_a_stream_are_named() {
    let place = Place::new();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    for (name, kind, stream, magic) in [
        ("in.jsonl.gz", "gzip", gzip(&lines), &b"\x1F\x8B\x08"[..]),
        ("in.jsonl.zst", "zstd", zstd(&lines), b"\x28\xB5\x2F"),
        ("in.jsonl.xz", "xz", xz(&lines), b"\xFD7zX"),
        ("in.jsonl.bz2", "bzip2", bzip2(&lines), b"BZh9\x31"),
    ] {
        for rest in [&b"a"[..], b"abc", b"\n", b"<html>"] {
            place.write(name, [&stream[..], rest].concat());
            let says = format!(
                "{name}: bytes that are not {kind} follow the {kind} stream; get the file again"
            );
            every_command_refuses(&place, name, &[&says]);
        }
        for len in 1..=magic.len() {
            place.write(name, [&stream[..], &magic[..len]].concat());
            let says = format!("{name}: the {kind} stream is cut off");
            every_command_refuses(&place, name, &[&says]);
        }
    }
}

#[test]
fn zeros_around_gzip_members_are_skipped() {
    let place = Place::new();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    let (one, two) = (gzip(&lines[..100]), gzip(&lines[100..]));
    for zeros in [1, 3, 512, 300_000] {
        let zeros = vec![0; zeros];
        place.write("in.jsonl.gz", [&one[..], &zeros, &two, &zeros].concat());
        assert_eq!(place.dedup("in.jsonl.gz").kept("in.jsonl.gz"), lines);
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
    place.write("in.jsonl.gz", [&one[..], &[0; 9], b"x"].concat());
    let says = "in.jsonl.gz: bytes that are not gzip follow the gzip stream";
    every_command_refuses(&place, "in.jsonl.gz", &[says]);
}

#[test]
fn damage_is_named_before_its_records() {
    let place = Place::new();
    // Without a checksum, a frame of zstd does not show all damage.
    let checked_zstd = |bytes: &[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    };
    let lines = json_lines((0..3_000).map(|seed| text(seed, 20)));
    let many = json_lines((0..40).map(|seed| text(seed, 20)));
    for (name, kind, compress) in [
        ("in.jsonl.gz", "gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("in.jsonl.zst", "zstd", checked_zstd),
        ("in.jsonl.xz", "xz", xz),
        ("in.jsonl.bz2", "bzip2", bzip2),
    ] {
        let whole = [compress(&many), compress(&lines)].concat();
        for at in [2, 3, 4, 5].map(|part| whole.len() * part / 6) {
            let mut damaged = whole.clone();
            for byte in &mut damaged[at..at + 4] {
                *byte ^= 0x5A;
            }
            place.write(name, damaged);
            let says = format!("{name}: the {kind} stream is damaged");
            for options in [
                "",
                "--on-bad-record skip",
                "--format csv --text-field {\"text\":",
            ] {
                let run = place.run(&format!("dedup {name} -o out {options}"));
                run.refused(1, &[&says, "get the file again"]);
            }
        }
    }
}

#[test]
fn damage_at_the_end_is_no_cut() {
    let place = Place::new();
    let lines = json_lines((0..300).map(|seed| text(seed, 20)));
    for (name, kind, whole) in [
        ("in.jsonl.gz", "gzip", gzip(&lines)),
        ("in.jsonl.xz", "xz", xz(&lines)),
        ("in.jsonl.bz2", "bzip2", bzip2(&lines)),
    ] {
        for bit in 0..64 {
            let mut damaged = whole.clone();
            let at = damaged.len() - 40 - bit / 8;
            damaged[at] ^= 1 << (bit % 8);
            place.write(name, damaged);
            let run = place.run(&format!("compare {name} {name}"));
            run.refused(1, &[&format!("{name}: the {kind} stream is damaged")]);
        }
    }
}

#[test]
fn a_dictionary_of_zstd_is_asked_for() {
    // A frame with the number of its dictionary, 7, and the size of its contents, and a block of three bytes.
    let framed = b"\x28\xB5\x2F\xFD\x21\x07\x03\x19\0\0abc".to_vec();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    let place = Place::new();
    for bytes in [framed.clone(), [zstd(&lines), framed].concat()] {
        place.write("in.jsonl.zst", bytes);
        let phrases = [
            "in.jsonl.zst: the zstd stream needs dictionary 7, ",
            "; decompress it with zstd -d -D",
        ];
        every_command_refuses(&place, "in.jsonl.zst", &phrases);
    }
}

#[test]
fn an_empty_file_is_no_stream_or_table() {
    let place = Place::new();
    for (name, bytes, says) in [
        ("in.jsonl.gz", Vec::new(), "the gzip stream is cut off"),
        ("in.csv.zst", Vec::new(), "the zstd stream is cut off"),
        ("in.txt.XZ", Vec::new(), "the xz stream is cut off"),
        ("in.json.bz2", Vec::new(), "the bzip2 stream is cut off"),
        ("in.parquet", Vec::new(), "the file is cut off: it is empty"),
        ("in.arrow", Vec::new(), "the file is cut off: it is empty"),
        (
            "in.parquet.gz",
            gzip(b""),
            "the file is cut off: it is empty",
        ),
    ] {
        place.write(name, bytes);
        every_command_refuses(&place, name, &[name, says, "get the file again"]);
        let skipping = format!("{name} --on-bad-record skip");
        every_command_refuses(&place, &skipping, &[name, says]);
    }
    let run = place.run_with_stdin("dedup - -o out --format parquet", b"");
    run.refused(1, &["stdin: the file is cut off"]);
    place.write("a.txt.gz", "");
    place.write("b.txt", "b");
    let run = place.run("compare a.txt.gz b.txt");
    run.refused(1, &["a.txt.gz: the gzip stream is cut off"]);
}

#[test]
fn a_truncated_stream_on_stdin_is_refused() {
    let whole = gzip(&json_lines([text(1, 200)]));
    let place = Place::new();
    let run = place.run_with_stdin("dedup - -o out", &whole[..whole.len() / 2]);
    run.refused(1, &["stdin", "the gzip stream is cut off"]);
    leaves_no_output(&place);
}

#[test]
fn a_truncated_stream_is_never_skipped() {
    let place = Place::new();
    let whole = gzip(&json_lines([text(1, 200)]));
    place.write("in.jsonl.gz", &whole[..whole.len() / 2]);
    every_command_refuses(
        &place,
        "in.jsonl.gz --on-bad-record skip",
        &["in.jsonl.gz", "is cut off"],
    );
}

#[test]
fn a_table_without_the_column_is_refused() {
    let place = Place::new();
    place.write("in.parquet", parquet([("body", strings(["a", "b"]))]));
    let phrases = ["in.parquet", "there is no column \"text\"", "--text-field"];
    every_command_refuses(&place, "in.parquet", &phrases);
    let phrases = [
        "in.parquet",
        "there is no column \"body.text\"",
        "--text-field",
    ];
    every_command_refuses(&place, "in.parquet --text-field body.text", &phrases);
    let phrases = ["in.parquet", "there is no id column \"key\"", "--id-field"];
    every_command_refuses(
        &place,
        "in.parquet --text-field body --id-field key",
        &phrases,
    );
}

#[test]
fn a_column_of_another_type_is_refused() {
    let place = Place::new();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    place.write("in.parquet", parquet([("text", numbers)]));
    let phrases = [
        "in.parquet",
        "column \"text\" holds Int64, not strings; choose the column with --text-field; the file has none of strings\n",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
    let list = || {
        let mut list = ListBuilder::new(StringBuilder::new());
        list.append_value([Some("a"), Some("b")]);
        list.finish()
    };
    let columns: [(&str, ArrayRef); 2] = [("text", Arc::new(list())), ("flat", strings(["a"]))];
    place.write("in.parquet", parquet(columns));
    let phrases = [
        "column \"text\" holds List",
        "not strings; join the texts of each list in one column, with the program that wrote the file, and choose the column with \
         --text-field; or if they are tokens, pass --unit tokens and --tokens-field text\n",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
    let phrases = [
        "column \"flat\" holds Utf8, not a list",
        "; choose the column with --tokens-field\n",
    ];
    every_command_refuses(
        &place,
        "in.parquet --unit tokens --tokens-field flat",
        &phrases,
    );
    place.dedup("in.parquet --unit tokens --tokens-field text");
}

#[test]
fn an_invalid_parquet_file_is_refused() {
    let whole = parquet([("text", strings(["a", "b"]))]);
    let place = Place::new();
    for bytes in [&whole[..whole.len() - 20], b"PAR1", b"any other bytes"] {
        place.write("in.parquet", bytes);
        every_command_refuses(&place, "in.parquet", &["in.parquet", "again"]);
    }
}

#[test]
fn a_missing_file_is_refused() {
    let place = Place::new();
    place.write("folder/readme", "");
    fs::create_dir(place.path("nothing")).unwrap();
    every_command_refuses(
        &place,
        "gone.jsonl",
        &["gone.jsonl: no such file", "check the name"],
    );
    every_command_refuses(
        &place,
        "folder/*.jsonl",
        &["folder/*.jsonl: no file matches", "check the name"],
    );
    every_command_refuses(
        &place,
        "nothing",
        &["nothing: the folder holds no file", "choose a folder"],
    );
}
