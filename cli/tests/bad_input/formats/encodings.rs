//! Text in other encodings than UTF-8.

use super::fixture;
use crate::bad_input::refusals::every_command_refuses;
use crate::support::{Place, json_lines, numbered_lines, parquet, strings, xz};

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
fn invalid_utf_8_names_column_and_byte() {
    let place = Place::new();
    place.write("in.csv", b"id,text\n1,a\n2,caf\xC3\n");
    let says = r#"in.csv, line 3 (row 1): column "text" holds invalid UTF-8 at byte 3, in "caf\xc3"; correct"#;
    every_command_refuses(&place, "in.csv", &[says, "--on-bad-record skip"]);
    let mut binary = fixture("binary.arrow");
    let text = b"all happy families";
    let at = binary.windows(text.len()).position(|window| window == text);
    binary[at.unwrap() + 4] = 0xFF;
    place.write("in.arrow", binary);
    let says = "in.arrow, row 2: column \"text\" holds invalid UTF-8 at byte 4";
    every_command_refuses(&place, "in.arrow", &[says, "--on-bad-record skip"]);
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
        let says = "; or if the rest of the file is UTF-8, correct the record, or pass --on-bad-record skip";
        every_command_refuses(&place, name, &[says]);
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
    // Russian in windows-1251, whose few letters might be of another encoding.
    place.write(
        "in.csv",
        b"id,text\n1,\xC8\xE2\xE0\xED \xE8 \xC0\xED\xED\xE0\n",
    );
    let says = [
        "as of text in another encoding; if other records have such bytes, convert the file: \
         `iconv -f ENCODING -t UTF-8 in.csv > in.utf-8.csv`",
        "else correct the record, or pass --on-bad-record skip",
    ];
    every_command_refuses(&place, "in.csv", &says);
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
        "; else name in its place the encoding of the program that wrote it, such as windows-1250, CP850 or MACINTOSH; or correct",
    ];
    every_command_refuses(&place, "in.parquet", &says);
}

#[test]
fn nul_bytes_next_to_records_are_named() {
    let place = Place::new();
    let lines = numbered_lines(["a", "b"], 1);
    for (name, file) in [
        ("in.jsonl", [&[0; 8][..], &lines].concat()),
        (
            "in.jsonl",
            [lines.trim_ascii_end(), &[0; 3], b"\n"].concat(),
        ),
        ("in.jsonl", [&lines[..], &[0; 3]].concat()),
        ("in.json", b"[{\"text\": \"a\"}]\n\0\0".to_vec()),
        ("in.csv", b"id,text\n1,a\n\0\0\0\0".to_vec()),
        ("in.jsonl", b"{\"text\": \"a\0b\"}\n".to_vec()),
    ] {
        place.write(name, file);
        let new = name.replace("in.", "in.clean.");
        let remove = format!("remove them: `tr -d '\\000' < {name} > {new}`");
        every_command_refuses(&place, name, &["NUL bytes", &remove]);
    }
}
