//! The formats of input files: known by the ending of a name, by the first bytes of a stream, or given.
//!
//! **The name of a file, or `format`, says its format.** The contents decide only the compression, whether a `.json`
//! file is an array (`[`), and the format of stdin, JSON or a table: a wrong guess is worse than an error that says
//! what to pass.

use std::ffi::OsStr;
use std::path::Path;

use super::compression::Compression;
use simgpu::error::Error;

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

/// What separates the fields of a record of CSV or TSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separators {
    /// The character between two fields.
    pub(super) delimiter: u8,
    /// The character around a field that may hold delimiters and line breaks.
    pub(super) quote: Option<u8>,
}

/// The character around fields of CSV or TSV that hold a delimiter, a line break or this character, which is doubled there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// No character: all of a field belongs to it.
    None,
    /// This character, of ASCII.
    Character(u8),
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

/// What a file is that is not read, and what to do instead.
#[derive(Clone, Copy)]
struct UnreadFormat {
    what: &'static str,
    remedy: &'static str,
}

impl UnreadFormat {
    const fn new(what: &'static str, remedy: &'static str) -> Self {
        UnreadFormat { what, remedy }
    }
}

const UNPACK: &str = "unpack it, and give its files";
const COMPRESS: &str = "unpack it, or compress it with gzip, zstd, xz or bzip2";
const WARC: UnreadFormat = UnreadFormat::new(
    "a WARC archive",
    "extract its texts to JSON Lines, for instance with warcio and trafilatura in Python",
);
const SAVE_AS_CSV: &str = "save it as CSV";
const SAVE_AS_TEXT: &str = "save it as text";
const AVRO: UnreadFormat = UnreadFormat::new(
    "an Avro file",
    "convert it in Python: polars.read_avro(\"in.avro\").write_parquet(\"in.parquet\")",
);
const PDF: UnreadFormat = UnreadFormat::new(
    "a PDF document",
    "extract its text, for instance with pdftotext",
);
const SQLITE: UnreadFormat = UnreadFormat::new(
    "an SQLite database",
    "export a table: sqlite3 -csv -header in.db \"select * from documents\" > documents.csv",
);
const HDF: UnreadFormat = UnreadFormat::new(
    "an HDF5 file",
    "convert it in Python: pandas.read_hdf(\"in.h5\").to_parquet(\"in.parquet\")",
);
const NUMPY: UnreadFormat = UnreadFormat::new("a file of numpy", "write its texts as JSON Lines");

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
const UNREAD: [(&[&str], UnreadFormat); 22] = [
    (&["7z"], UnreadFormat::new("a 7z archive", UNPACK)),
    (&["zip"], UnreadFormat::new("a zip archive", UNPACK)),
    (&["rar"], UnreadFormat::new("a rar archive", UNPACK)),
    (
        &["tar", "tgz", "tbz2", "txz", "tzst"],
        UnreadFormat::new("a tar archive", UNPACK),
    ),
    (&["lz4"], UnreadFormat::new("compressed with lz4", COMPRESS)),
    (
        &["lzma"],
        UnreadFormat::new("compressed with lzma", COMPRESS),
    ),
    (
        &["br"],
        UnreadFormat::new("compressed with brotli", COMPRESS),
    ),
    (
        &["sz", "snappy"],
        UnreadFormat::new("compressed with snappy", COMPRESS),
    ),
    (
        &["z"],
        UnreadFormat::new("compressed with compress", COMPRESS),
    ),
    (
        &["xlsx", "xls", "ods"],
        UnreadFormat::new("an Excel sheet", SAVE_AS_CSV),
    ),
    (&["pdf"], PDF),
    (
        &["docx", "doc", "odt", "rtf"],
        UnreadFormat::new("a Word document", SAVE_AS_TEXT),
    ),
    (&["epub"], UnreadFormat::new("an e-book", SAVE_AS_TEXT)),
    (&["avro"], AVRO),
    (
        &["orc"],
        UnreadFormat::new(
            "an ORC file",
            "convert it in Python: pandas.read_orc(\"in.orc\").to_parquet(\"in.parquet\")",
        ),
    ),
    (&["warc", "wet", "wat", "arc"], WARC),
    (&["sqlite", "sqlite3", "db"], SQLITE),
    (
        &["duckdb"],
        UnreadFormat::new(
            "a DuckDB database",
            "export a table: duckdb in.duckdb -c \"copy documents to 'documents.parquet'\"",
        ),
    ),
    (&["h5", "hdf5"], HDF),
    (
        &["pkl", "pickle"],
        UnreadFormat::new(
            "a pickle of Python",
            "convert it in Python: pandas.read_pickle(\"in.pkl\").to_parquet(\"in.parquet\")",
        ),
    ),
    (&["npy", "npz"], NUMPY),
    (
        &["xml"],
        UnreadFormat::new(
            "an XML file",
            "extract its texts to JSON Lines, or pass `format=text` to read it as one text",
        ),
    ),
];

/// The first bytes of files that are neither read nor text.
const MAGIC: [(&[u8], UnreadFormat); 17] = [
    (
        b"7z\xBC\xAF\x27\x1C",
        UnreadFormat::new("a 7z archive", UNPACK),
    ),
    (b"PK\x03\x04", UnreadFormat::new("a zip archive", UNPACK)),
    (b"PK\x05\x06", UnreadFormat::new("a zip archive", UNPACK)),
    (b"Rar!\x1A\x07", UnreadFormat::new("a rar archive", UNPACK)),
    (
        b"\x04\x22\x4D\x18",
        UnreadFormat::new("compressed with lz4", COMPRESS),
    ),
    (
        b"\x1F\x9D",
        UnreadFormat::new("compressed with compress", COMPRESS),
    ),
    (
        b"LZIP\x01",
        UnreadFormat::new("compressed with lzip", COMPRESS),
    ),
    (
        b"\xFF\x06\x00\x00sNaPpY",
        UnreadFormat::new("compressed with snappy", COMPRESS),
    ),
    (
        b"FEA1",
        UnreadFormat::new(
            "a Feather file of version 1",
            "convert it in Python: pandas.read_feather(\"in.feather\").to_parquet(\"in.parquet\")",
        ),
    ),
    (
        b"PARE",
        UnreadFormat::new("an encrypted Parquet file", "decrypt it"),
    ),
    (b"WARC/", WARC),
    (b"Obj\x01", AVRO),
    (b"SQLite format 3\0", SQLITE),
    (b"%PDF-", PDF),
    (b"\x89HDF\r\n\x1A\n", HDF),
    (b"\x93NUMPY", NUMPY),
    (
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
        UnreadFormat::new("a document of Office", "save it as CSV or text"),
    ),
];

/// Bytes at the start of a file that show what it is.
pub(super) const START: usize = 512;

impl Format {
    /// The format that the ending of a file name stands for. Program text has one only if it `takes_code`.
    pub(super) fn from_name(name: &str, takes_code: bool) -> Option<Self> {
        let ending = ending(name)?;
        let of_ending = ENDINGS
            .iter()
            .find(|(_, known)| known.contains(&ending.as_str()));
        let of_code = takes_code && is_code(name);
        let of_ending = of_ending.map(|(format, _)| *format);
        of_ending.or(of_code.then_some(Format::Text))
    }

    /// The format of a stream without a name, by its first decompressed bytes; `None` if they are those of a text
    /// that is not JSON.
    pub(super) fn from_start(start: &[u8]) -> Option<Self> {
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

    /// How the fields of a record are separated; `None` if they are not separated by a character.
    pub(super) fn separators(self) -> Option<Separators> {
        match self {
            Format::Csv => Some(Separators {
                delimiter: b',',
                quote: Some(b'"'),
            }),
            // text/tab-separated-values has no quotes: a field holds no tab and no line break, and may begin with any character.
            Format::Tsv => Some(Separators {
                delimiter: b'\t',
                quote: None,
            }),
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

/// What is wrong with a record within a file that begins with a byte order mark.
pub(super) const INNER_MARK: &str =
    "the record begins with a byte order mark, as where files were joined; remove the mark";

/// The ending of a file name in small letters, without that of its compression.
fn ending(name: &str) -> Option<String> {
    let (name, _) = Compression::split_ending(name);
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| ending.to_ascii_lowercase())
}

/// Whether the ending of a file name is one of programs.
pub(super) fn is_code(name: &str) -> bool {
    ending(name).is_some_and(|ending| CODE.contains(&ending.as_str()))
}

/// Refuses a file whose ending says that it cannot be read.
pub(super) fn check_ending(path: &Path, name: &str) -> Result<(), Error> {
    let ending = ending(name);
    let ending = ending.as_deref().unwrap_or_default();
    let unread = UNREAD.iter().find(|(endings, _)| endings.contains(&ending));
    unread.map_or(Ok(()), |(_, unread)| Err(not_read(path, *unread)))
}

fn not_read(path: &Path, unread: UnreadFormat) -> Error {
    let UnreadFormat { what, remedy } = unread;
    Error::Input {
        path: path.to_owned(),
        problem: format!("this is {what}, which is not read"),
        remedy: remedy.to_owned(),
    }
}

/// The error for a file whose ending is unknown.
pub(super) fn unknown_ending(path: &Path, name: &str) -> Error {
    let compressed = Compression::ENDINGS.map(|(ending, _)| ending);
    let known: Vec<String> = ENDINGS
        .iter()
        .flat_map(|(_, endings)| endings.iter().map(|ending| format!(".{ending}")))
        .collect();
    let ending = ending(name);
    if let Some(ending) = ending.as_ref().filter(|_| is_code(name)) {
        return Error::Input {
            path: path.to_owned(),
            problem: format!(
                "files that end in .{ending} are program text, which is read from folders and globs only with `unit=code`"
            ),
            remedy:
                "pass `unit=code` to compare programs, or `format=text` to read all files as text"
                    .to_owned(),
        };
    }
    Error::Input {
        path: path.to_owned(),
        problem: match ending {
            Some(ending) => format!("files that end in .{ending} are not read"),
            None => "the name has no ending that says the format".to_owned(),
        },
        remedy: format!(
            "pass `format`, or give files that end in {}, also with {}",
            known.join(", "),
            compressed.join(", "),
        ),
    }
}

/// Refuses a name for JSON Lines, which are not compressed, that says another format.
#[doc(hidden)]
pub fn check_json_lines(path: &Path) -> Result<(), Error> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let (_, compression) = Compression::split_ending(&name);
    let kind = match Format::from_name(&name, false) {
        Some(Format::Csv) => "CSV",
        Some(Format::Tsv) => "TSV",
        Some(Format::Parquet) => "Parquet",
        Some(Format::Arrow) => "Arrow",
        _ if compression != Compression::None => compression.name(),
        _ => return Ok(()),
    };
    Err(Error::Output {
        path: path.to_owned(),
        problem: format!(
            "each record has a list of hits, which is written as plain JSON Lines, not as {kind}"
        ),
        remedy:
            "choose a name that ends in .jsonl, or `output` - to pass the lines to another program"
                .to_owned(),
    })
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
    /// Where the header of the first file in a tar archive says what it is.
    const TAR: usize = 257;
    let of_start = MAGIC.iter().find(|(magic, _)| start.starts_with(magic));
    let of_tar = start
        .get(TAR..)
        .filter(|start| start.starts_with(b"ustar"))
        .map(|_| UnreadFormat::new("a tar archive", UNPACK));
    let unread = of_start.map(|(_, unread)| *unread).or(of_tar);
    unread.map_or(Ok(()), |unread| Err(not_read(path, unread)))
}

/// The name of a Unicode encoding other than UTF-8, if text starts like one, as `iconv` spells it.
pub(super) fn other_encoding(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        // Without a byte order mark: every format of text starts with a character of ASCII.
        [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some("UTF-16LE"),
        [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some("UTF-16BE"),
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

/// Whether a file in a folder is one that the Hugging Face `datasets` write beside their tables, in `save_to_disk`: a
/// description, or what they computed from the tables.
pub(super) fn is_note_of_dataset(path: &Path) -> bool {
    const OF_TABLES: [&str; 2] = ["dataset_info.json", "state.json"];
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let is_cache = name.starts_with("cache-") && name.ends_with(".arrow");
    name == "dataset_dict.json"
        || (is_cache || OF_TABLES.contains(&name))
            && OF_TABLES
                .iter()
                .all(|note| path.with_file_name(note).is_file())
}

/// Whether a file of this name usually describes the data beside it: `README.md`, `LICENSE`, `CHANGELOG.txt`.
pub(super) fn is_description(name: &OsStr) -> bool {
    const NAMES: [&str; 8] = [
        "README",
        "LICENSE",
        "LICENCE",
        "COPYING",
        "NOTICE",
        "CHANGELOG",
        "CONTRIBUTING",
        "CITATION",
    ];
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    // Also `README_ja.md` and `LICENSE-MIT`, but not `notice-of-sale.txt`.
    let is_of = |known: &&str| {
        let rest = stem.strip_prefix(known);
        stem.eq_ignore_ascii_case(known) || rest.is_some_and(|rest| rest.starts_with(['-', '_']))
    };
    let is_known = NAMES.iter().any(is_of);
    is_known && Format::from_name(&name, false).is_none_or(|format| format == Format::Text)
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
}
