//! The formats of input files: known by the ending of a name, by the first bytes of a stream, or given.
//!
//! **The name of a file, or `format`, says its format.** The contents decide only the compression, whether a `.json`
//! file is an array (`[`), and the format of stdin, JSON or a table: a wrong guess is worse than an error that says
//! what to pass.

mod unread;

mod beside;

use std::path::Path;

use super::compression::Compression;
use simgpu::error::Error;

pub(super) use beside::{is_description, is_hidden, is_marker, is_note_of_dataset};
pub(super) use unread::{
    UnreadFormat, check_ending, check_start, not_read, unread_of_start, with_names,
};

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

/// Bytes at the start of a file that show what it is.
pub(super) const START: usize = 512;

impl Format {
    /// The format that the ending of a file name stands for. Program text has one only if it `takes_code`.
    pub(super) fn from_name(name: &str, takes_code: bool) -> Option<Self> {
        let ending = ending(name)?;
        let known = ENDINGS
            .iter()
            .find(|(_, endings)| endings.contains(&ending.as_str()));
        let is_text = takes_code && is_code(name);
        let format = known.map(|(format, _)| *format);
        format.or(is_text.then_some(Format::Text))
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

#[cfg(test)]
mod tests;
