//! Formats that simgpu recognises but does not read.

use std::path::Path;

use simgpu::error::Error;
use simgpu_base::encoding::quoted;

use super::{Format, ending};

/// What a file is that is not read, and what to do instead.
#[derive(Clone, Copy)]
pub(crate) struct UnreadFormat {
    what: &'static str,
    remedy: &'static str,
}

impl UnreadFormat {
    pub(crate) const fn new(what: &'static str, remedy: &'static str) -> Self {
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
    "export a table: sqlite3 -csv -header in.db \"select * from TABLE\" > rows.csv (`sqlite3 in.db .tables` lists them)",
);
const HDF: UnreadFormat = UnreadFormat::new(
    "an HDF5 file",
    "convert it in Python: pandas.read_hdf(\"in.h5\").to_parquet(\"in.parquet\")",
);
const NUMPY: UnreadFormat = UnreadFormat::new("a file of numpy", "write its texts as JSON Lines");

/// Endings that no format has, and what they stand for.
pub(super) const UNREAD: [(&[&str], UnreadFormat); 22] = [
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

/// Names that a zip archive begins with if it is a document of Office, or arrays of numpy.
const ZIPPED: [(&[u8], UnreadFormat); 8] = [
    (b"[Content_Types].xml", OFFICE),
    (b"_rels/", OFFICE),
    (b"docProps/", OFFICE),
    (b"word/", OFFICE),
    (b"xl/", OFFICE),
    (b"ppt/", OFFICE),
    (b"mimetypeapplication/vnd.oasis.opendocument", OFFICE),
    (
        b"mimetypeapplication/epub",
        UnreadFormat::new("an e-book", SAVE_AS_TEXT),
    ),
];

const OFFICE: UnreadFormat = UnreadFormat::new(
    "a document of Office, such as of Word or Excel",
    "open it in Office or LibreOffice, and save a text as plain text (.txt), a sheet as CSV (.csv)",
);

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
        UnreadFormat::new(
            "an encrypted Parquet file",
            "read it with a program that has its key, such as pyarrow with decryption_properties, and write it without encryption",
        ),
    ),
    (b"WARC/", WARC),
    (b"Obj\x01", AVRO),
    (b"SQLite format 3\0", SQLITE),
    (b"%PDF-", PDF),
    (b"\x89HDF\r\n\x1A\n", HDF),
    (b"\x93NUMPY", NUMPY),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", OFFICE),
];

impl Format {
    /// What files with this ending are, which are not read.
    pub(crate) fn unread_of_ending(ending: &str) -> Option<UnreadFormat> {
        let unread = UNREAD.iter().find(|(endings, _)| endings.contains(&ending));
        unread.map(|(_, unread)| *unread)
    }
}

/// Refuses a file whose ending says that it cannot be read.
pub(crate) fn check_ending(path: &Path, name: &str) -> Result<(), Error> {
    let ending = ending(name);
    let ending = ending.as_deref().unwrap_or_default();
    let unread = Format::unread_of_ending(ending);
    unread.map_or(Ok(()), |unread| Err(not_read(path, unread)))
}

pub(crate) fn not_read(path: &Path, unread: UnreadFormat) -> Error {
    let UnreadFormat { what, remedy } = unread;
    Error::Input {
        path: path.to_owned(),
        problem: format!("this is {what}, which is not read"),
        remedy: with_names(remedy, path),
    }
}

/// A remedy with the name of the file, and one made of it, in place of the names that stand for them; one that a shell or Python
/// would spell in another way is left out.
pub(crate) fn with_names(remedy: &str, path: &Path) -> String {
    const OLD: [&str; 8] = [
        "in.avro",
        "in.orc",
        "in.h5",
        "in.db",
        "in.duckdb",
        "in.feather",
        "in.pkl",
        "in.parquet",
    ];
    let named = path.to_string_lossy();
    let is_in =
        |old: &&&str| remedy.contains(&format!("{old}\"")) || remedy.contains(&format!(" {old} "));
    let Some(old) = OLD.iter().find(is_in) else {
        return remedy.to_owned();
    };
    if named == "stdin" || quoted(&named) != named {
        return remedy.to_owned();
    }
    let mut new = path.with_extension("parquet");
    if new == path {
        new = path.with_extension("new.parquet");
    }
    let new = new.to_string_lossy();
    let renamed = remedy.replace("out.parquet", &new);
    let renamed = if *old == "in.parquet" {
        renamed
    } else {
        renamed.replace("in.parquet", &new)
    };
    renamed.replace(old, &named)
}

/// Refuses a file that is known by its first bytes and cannot be read.
pub(crate) fn check_start(path: &Path, start: &[u8]) -> Result<(), Error> {
    unread_of_start(start).map_or(Ok(()), |unread| Err(not_read(path, unread)))
}

/// What a file is that begins with these bytes and cannot be read.
pub(crate) fn unread_of_start(start: &[u8]) -> Option<UnreadFormat> {
    /// Where the name of the first file in a zip archive is.
    const ZIPPED_NAME: usize = 30;
    /// Where the header of the first file in a tar archive says what it is.
    const TAR: usize = 257;
    let zipped = start
        .get(ZIPPED_NAME..)
        .filter(|_| start.starts_with(b"PK\x03\x04"));
    let zip = zipped.and_then(|name| {
        let known = ZIPPED.iter().find(|(known, _)| name.starts_with(known));
        let len = usize::from(u16::from_le_bytes([start[26], start[27]]));
        let is_array = name.get(..len).is_some_and(|name| name.ends_with(b".npy"));
        known
            .map(|(_, unread)| *unread)
            .or(is_array.then_some(NUMPY))
    });
    if zip.is_some() {
        return zip;
    }
    let magic_bytes = MAGIC.iter().find(|(magic, _)| start.starts_with(magic));
    let tar = start
        .get(TAR..)
        .filter(|start| start.starts_with(b"ustar"))
        .map(|_| UnreadFormat::new("a tar archive", UNPACK));
    magic_bytes.map(|(_, unread)| *unread).or(tar)
}
