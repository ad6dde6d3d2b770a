use super::*;
use std::ffi::OsStr;

use super::unread::UNREAD;

#[test]
fn the_ending_decides_the_format() {
    for (name, format) in [
        ("a.jsonl", Some(Format::JsonLines)),
        ("a.JSONL.zst", Some(Format::JsonLines)),
        ("a.ndjson.XZ", Some(Format::JsonLines)),
        ("a.jsonlines.bz2", Some(Format::JsonLines)),
        ("b/a.json.gz", Some(Format::Json)),
        ("a.csv", Some(Format::Csv)),
        ("a.tsv", Some(Format::Tsv)),
        ("a.parquet", Some(Format::Parquet)),
        ("a.feather", Some(Format::Arrow)),
        ("a.txt.gz", Some(Format::Text)),
        ("a.md", Some(Format::Text)),
        ("README", None),
        ("a.d/README", None),
        (".csv", None),
        ("a.gz", None),
        ("a.zip", None),
    ] {
        assert_eq!(Format::from_name(name, false), format, "{name}");
    }
}

#[test]
fn descriptions_of_data_are_known_by_name() {
    for name in [
        "README.md",
        "readme.txt",
        "README_ja.md",
        "README",
        "LICENSE-MIT",
        "Licence.html",
        "CITATION.cff",
    ] {
        assert!(is_description(OsStr::new(name)), "{name}");
    }
    for name in [
        "README.jsonl",
        "LICENSE.csv.gz",
        "notice-of-sale.txt",
        "readmes.md",
        "my-README.md",
        ".md",
    ] {
        assert!(!is_description(OsStr::new(name)), "{name}");
    }
}

#[test]
fn program_text_is_text_where_asked_for() {
    for name in [
        "a.py", "src/a.RS", "a.toml", "a.cpp.gz", "a.js", "a.yml", "a.h",
    ] {
        assert_eq!(Format::from_name(name, true), Some(Format::Text), "{name}");
        assert_eq!(Format::from_name(name, false), None, "{name}");
    }
    for (name, format) in [("a.json", Some(Format::Json)), ("a.o", None), ("py", None)] {
        assert_eq!(Format::from_name(name, true), format, "{name}");
    }
    let known = ENDINGS.iter().flat_map(|(_, endings)| *endings);
    let others = UNREAD.iter().flat_map(|(endings, _)| *endings);
    let mut others = known.chain(others);
    assert!(CODE.is_sorted() && others.all(|ending| !CODE.contains(ending)));
}

#[test]
fn encodings_are_told_by_their_start() {
    let utf_16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    assert_eq!(other_encoding(&utf_16("\u{FEFF}{}")), Some("UTF-16"));
    assert_eq!(other_encoding(&utf_16("{\"a\"")), Some("UTF-16LE"));
    assert_eq!(other_encoding(b"\0i\0d\0,"), Some("UTF-16BE"));
    assert_eq!(other_encoding(b"\xFF\xFE\0\0{\0\0\0"), Some("UTF-32"));
    for plain in [&b"\xEF\xBB\xBF{}"[..], b"{\"a\"", b"", b"a", b"\0\0\0\0"] {
        assert_eq!(other_encoding(plain), None);
    }
}
