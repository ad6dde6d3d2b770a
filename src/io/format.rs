//! The formats of input files: known by the ending of a name, by the first bytes of a stream, or given.

use std::path::Path;

use super::compression::Compression;
use crate::error::Error;

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// JSON Lines: one JSON object per line.
    JsonLines,
    /// JSON Lines, or one JSON array of objects: its first character, `[`, decides.
    Json,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// Parquet: one document per row.
    Parquet,
    /// Arrow IPC, as a file (also called Feather) or as a stream: one document per row.
    Arrow,
    /// Text: one document per file.
    Text,
}

/// The endings of the names of each format. The first is that of a stream's copy.
const ENDINGS: [(Format, &[&str]); 7] = [
    (Format::JsonLines, &["jsonl", "ndjson", "jsonlines"]),
    (Format::Json, &["json"]),
    (Format::Csv, &["csv"]),
    (Format::Tsv, &["tsv"]),
    (Format::Parquet, &["parquet", "pq"]),
    (Format::Arrow, &["arrow", "feather", "ipc", "arrows"]),
    (Format::Text, &["txt", "md", "html"]),
];

/// The endings of program text. It is read as text where it is asked for, since other folders of documents may hold
/// some by chance.
const CODE: [&str; 78] = [
    "asm", "bash", "bat", "c", "cc", "cfg", "clj", "cljs", "cmake", "cpp", "cs", "css", "cu",
    "cuh", "cxx", "dart", "el", "erl", "ex", "exs", "f", "f90", "fs", "glsl", "go", "gradle",
    "groovy", "h", "hh", "hlsl", "hpp", "hs", "hxx", "ini", "inl", "java", "jl", "js", "jsx", "kt",
    "kts", "lisp", "lua", "m", "mjs", "ml", "mm", "nim", "php", "pl", "pm", "proto", "ps1", "py",
    "pyi", "pyx", "r", "rb", "rs", "s", "scala", "scss", "sh", "sol", "sql", "sv", "swift", "tcl",
    "tf", "toml", "ts", "tsx", "v", "vhd", "vue", "wgsl", "yaml", "yml",
];

/// Endings that no format has, and what they stand for.
const UNREAD: [(&str, &str); 17] = [
    ("7z", "a 7z archive"),
    ("zip", "a zip archive"),
    ("rar", "a rar archive"),
    ("tar", "a tar archive"),
    ("tgz", "a tar archive"),
    ("lz4", "compressed with lz4"),
    ("lzma", "compressed with lzma"),
    ("br", "compressed with brotli"),
    ("sz", "compressed with snappy"),
    ("snappy", "compressed with snappy"),
    ("z", "compressed with compress"),
    ("xlsx", "an Excel sheet"),
    ("pdf", "a PDF document"),
    ("docx", "a Word document"),
    ("avro", "an Avro file"),
    ("orc", "an ORC file"),
    ("warc", "a WARC archive"),
];

/// The first bytes of files that are neither read nor text.
const MAGIC: [(&[u8], &str); 8] = [
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"Rar!\x1A\x07", "a rar archive"),
    (b"\x04\x22\x4D\x18", "compressed with lz4"),
    (b"\x1F\x9D", "compressed with compress"),
    (b"\xFF\x06\x00\x00sNaPpY", "compressed with snappy"),
    (b"FEA1", "a Feather file of version 1"),
];

const UNPACK: &str = "unpack it, or compress it with gzip, zstd, xz or bzip2";

impl Format {
    /// The format that the ending of a file name stands for. Program text has one only if it `takes_code`.
    pub(super) fn of_name(name: &str, takes_code: bool) -> Option<Self> {
        let ending = ending(name)?;
        let of_ending = ENDINGS
            .iter()
            .find(|(_, known)| known.contains(&ending.as_str()));
        let of_code = takes_code && CODE.contains(&ending.as_str());
        let of_ending = of_ending.map(|(format, _)| *format);
        of_ending.or(of_code.then_some(Format::Text))
    }

    /// The format of a stream without a name, by its first decompressed bytes; `None` if they are those of a text
    /// that is not JSON.
    pub(super) fn of_start(start: &[u8]) -> Option<Self> {
        let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        match start {
            [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
            // The start of an Arrow file, and of an Arrow stream.
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xFF, 0xFF, 0xFF, 0xFF, ..] => {
                Some(Format::Arrow)
            }
            _ => match text.trim_ascii_start().first() {
                Some(b'[') => Some(Format::Json),
                Some(b'{') | None => Some(Format::JsonLines),
                // The reader names the encoding.
                Some(_) => other_encoding(start).map(|_| Format::JsonLines),
            },
        }
    }

    /// The ending of the name of a stream's copy, with its dot.
    pub(super) fn ending(self) -> String {
        let known = ENDINGS.iter().find(|(format, _)| *format == self);
        known.map_or_else(String::new, |(_, endings)| format!(".{}", endings[0]))
    }

    /// The character between two fields of a record; `None` if the format has none.
    pub(super) fn delimiter(self) -> Option<u8> {
        match self {
            Format::Csv => Some(b','),
            Format::Tsv => Some(b'\t'),
            _ => None,
        }
    }

    /// The name of a format whose records hold no tokens.
    pub(super) fn without_tokens(self) -> Option<&'static str> {
        match self {
            Format::Csv => Some("CSV"),
            Format::Tsv => Some("TSV"),
            Format::Text => Some("text"),
            Format::JsonLines | Format::Json | Format::Parquet | Format::Arrow => None,
        }
    }

    /// Whether the reader needs the file in random order.
    pub(super) fn is_table(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }
}

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The ending of a file name in small letters, without that of its compression.
fn ending(name: &str) -> Option<String> {
    let (name, _) = Compression::of_ending(name);
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| ending.to_ascii_lowercase())
}

/// The error for a file whose ending is unknown.
pub(super) fn unknown_ending(path: &Path, name: &str) -> Error {
    let ending = ending(name);
    let unread = UNREAD
        .iter()
        .find(|(known, _)| ending.as_deref() == Some(known));
    let compressed = Compression::ENDINGS.map(|(ending, _)| ending);
    let known: Vec<String> = ENDINGS
        .iter()
        .flat_map(|(_, endings)| endings.iter().map(|ending| format!(".{ending}")))
        .collect();
    let is_code = ending
        .as_deref()
        .is_some_and(|ending| CODE.contains(&ending));
    let (problem, remedy) = match (unread, ending) {
        (None, Some(ending)) if is_code => (
            format!(
                "files that end in .{ending} are program text, which is not read from folders and globs"
            ),
            "pass `unit=code` to compare programs, or `format=text` to read all files as text"
                .to_owned(),
        ),
        (Some((_, what)), _) => (
            format!("this is {what}, which is not read"),
            UNPACK.to_owned(),
        ),
        (None, ending) => (
            match ending {
                Some(ending) => format!("files that end in .{ending} are not read"),
                None => "the name has no ending that says the format".to_owned(),
            },
            format!(
                "pass `format`, or give files that end in {}, also with {}",
                known.join(", "),
                compressed.join(", "),
            ),
        ),
    };
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy,
    }
}

/// The error for a stream whose format its first bytes do not show.
pub(super) fn unknown_start(path: &Path) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: "neither JSON, Parquet nor Arrow, and without a name that says the format"
            .to_owned(),
        remedy: "pass `format=csv`, or the `format` that it has".to_owned(),
    }
}

/// Refuses a file that is known by its first bytes and cannot be read.
pub(super) fn check_start(path: &Path, start: &[u8]) -> Result<(), Error> {
    match MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        Some((_, what)) => Err(Error::Input {
            path: path.to_owned(),
            problem: format!("this is {what}, which is not read"),
            remedy: UNPACK.to_owned(),
        }),
        None => Ok(()),
    }
}

/// The name of a Unicode encoding other than UTF-8, if text starts like one.
pub(super) fn other_encoding(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        // Without a byte order mark: every format of text starts with a character of ASCII.
        [1..=0x7F, 0, 1..=0x7F, 0, ..] | [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some("UTF-16"),
        _ => None,
    }
}

/// Whether a name in a folder is that of a hidden file or folder.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Whether a name in a folder is that of a file or folder that a program wrote beside its data.
pub(super) fn is_marker(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "_SUCCESS",
        "_FAILURE",
        "_metadata",
        "_common_metadata",
        "_temporary",
        "_delta_log",
    ];
    NAMES.contains(&name) || name.starts_with("_committed_") || name.starts_with("_started_")
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(Format::of_name(name, false), format, "{name}");
        }
    }

    #[test]
    fn program_text_is_text_where_asked_for() {
        for name in [
            "a.py", "src/a.RS", "a.toml", "a.cpp.gz", "a.js", "a.yml", "a.h",
        ] {
            assert_eq!(Format::of_name(name, true), Some(Format::Text), "{name}");
            assert_eq!(Format::of_name(name, false), None, "{name}");
        }
        for (name, format) in [("a.json", Some(Format::Json)), ("a.o", None), ("py", None)] {
            assert_eq!(Format::of_name(name, true), format, "{name}");
        }
        let known = ENDINGS.iter().flat_map(|(_, endings)| *endings);
        let others = UNREAD.iter().map(|(ending, _)| ending);
        let mut others = known.chain(others);
        assert!(CODE.is_sorted() && others.all(|ending| !CODE.contains(ending)));
    }

    #[test]
    fn encodings_are_told_by_their_start() {
        let utf_16 =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        assert_eq!(other_encoding(&utf_16("\u{FEFF}{}")), Some("UTF-16"));
        assert_eq!(other_encoding(&utf_16("{\"a\"")), Some("UTF-16"));
        assert_eq!(other_encoding(b"\xFF\xFE\0\0{\0\0\0"), Some("UTF-32"));
        for plain in [&b"\xEF\xBB\xBF{}"[..], b"{\"a\"", b"", b"a", b"\0\0\0\0"] {
            assert_eq!(other_encoding(plain), None);
        }
    }
}
