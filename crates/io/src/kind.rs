//! What a file is, whatever its name says. Every reader asks where it cannot read the first record, or the file at all.
//!
//! The name decides how a file is read, and no bytes change that. They only say why it cannot be read. A kind is named if its first
//! bytes, and for some its last ones, are those that every such file has and no readable text.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::absent_field::jq_path;
use super::compression::Compression;
use super::format::{BYTE_ORDER_MARK, Format, START, UnreadFormat, not_read, unread_of_start};
use super::input::InputFile;
use super::refusal::Refusal;
use simgpu::error::Error;
use simgpu_base::encoding::{passed_through, quoted};

/// The most bytes of JSON that are parsed to see its shape.
const SHAPED: u64 = 16 << 20;

const PICTURE: &str = "give its text in its place, or leave it out";
const AGAIN: &str = "get the file again from its source";

/// The first bytes of files without text that are read only where reading failed, since a text may begin with some of them.
const BINARY: [(&[u8], UnreadFormat); 7] = [
    (
        b"\x89PNG\r\n\x1A\n",
        UnreadFormat::new("a PNG picture", PICTURE),
    ),
    (
        b"\xFF\xD8\xFF",
        UnreadFormat::new("a JPEG picture", PICTURE),
    ),
    (b"GIF87a", UnreadFormat::new("a GIF picture", PICTURE)),
    (b"GIF89a", UnreadFormat::new("a GIF picture", PICTURE)),
    (b"II*\0", UnreadFormat::new("a TIFF picture", PICTURE)),
    (b"MM\0*", UnreadFormat::new("a TIFF picture", PICTURE)),
    (b"\x7FELF", UnreadFormat::new("a compiled program", PICTURE)),
];

/// What a file of records cannot begin with, in small letters.
const OF_TEXT: [(&[u8], &str, &str); 4] = [
    (
        b"version https://git-lfs.github.com/spec/",
        "this is a pointer of Git LFS, not the file itself",
        "fetch the file: `git lfs pull`",
    ),
    (
        b"<!doctype html",
        HTML,
        "open it in a browser to see what it says, and download the file again, after a login if it asks for one",
    ),
    (
        b"<html",
        HTML,
        "open it in a browser to see what it says, and download the file again, after a login if it asks for one",
    ),
    (
        b"<?xml",
        "this is an XML file, which is not read",
        "extract its texts to JSON Lines; or if it is the message of an error, get the file again from its source",
    ),
];

const HTML: &str = "this is an HTML page, as a server sends in place of a file";

/// The error for a file that is of another kind than it is read as, if its bytes show that. `problem` is that of its first record,
/// if that was read. Whether `format` says how it is read, `takes_format` tells.
pub(super) fn other_kind(
    input: &InputFile,
    problem: Option<&str>,
    takes_format: bool,
) -> Option<Error> {
    let start = start_of(input).ok()?;
    if !start.is_empty() && start.iter().all(|byte| *byte == 0) && holds_zeros(input) {
        let problem = "it holds nothing but NUL bytes, as after a crash: its contents are lost";
        return Some(Refusal::new(problem, AGAIN).for_file(&input.named));
    }
    if let Some(unread) = unread_of_start(&start).or_else(|| binary(input, &start)) {
        return Some(not_read(&input.named, unread));
    }
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
    let text = text.trim_ascii_start().to_ascii_lowercase();
    let known = OF_TEXT.iter().find(|(magic, ..)| text.starts_with(magic));
    if let Some((_, problem, remedy)) = known.filter(|_| input.format != Format::Text) {
        return Some(Refusal::new(*problem, *remedy).for_file(&input.named));
    }
    if let Some((format, name)) = readable(input, &start)
        && !is_read_as(input.format, format)
    {
        let remedy = as_format(input, format, takes_format);
        return Some(Refusal::new(format!("this is {name}"), remedy).for_file(&input.named));
    }
    let refusal = match input.format {
        Format::JsonLines | Format::Json => json_refusal(input, &start, problem?, takes_format),
        _ => None,
    };
    refusal.map(|refusal| refusal.for_file(&input.named))
}

/// The first decompressed bytes of a file.
fn start_of(input: &InputFile) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let stream = input.compression.reader(input.open()?)?;
    stream.take(START as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// The last bytes of a file that is not compressed.
fn end_of(input: &InputFile) -> io::Result<Vec<u8>> {
    const END: i64 = 8;
    let mut end = Vec::new();
    if input.compression == Compression::None {
        let mut file = input.open()?;
        file.seek(SeekFrom::End(-END))?;
        file.read_to_end(&mut end)?;
    }
    Ok(end)
}

/// Whether all bytes of a file are 0.
fn holds_zeros(input: &InputFile) -> bool {
    let stream = input.open().and_then(|file| input.compression.reader(file));
    let Ok(mut stream) = stream else { return false };
    let mut block = vec![0; 1 << 16];
    loop {
        match stream.read(&mut block) {
            Ok(0) => return true,
            Ok(read) if block[..read].iter().all(|byte| *byte == 0) => {}
            _ => return false,
        }
    }
}

fn binary(input: &InputFile, start: &[u8]) -> Option<UnreadFormat> {
    let known = BINARY.iter().find(|(magic, _)| start.starts_with(magic));
    known.map(|(_, unread)| *unread).or_else(|| {
        let end = end_of(input).ok()?;
        match start {
            [b'O', b'R', b'C', ..] if end[..end.len().saturating_sub(1)].ends_with(b"ORC") => {
                Format::unread_of_ending("orc")
            }
            // A protocol, and the end of its program.
            [0x80, 2..=5, ..] if end.ends_with(b".") => Format::unread_of_ending("pkl"),
            _ => None,
        }
    })
}

/// A format that a file surely has, and its name.
fn readable(input: &InputFile, start: &[u8]) -> Option<(Format, &'static str)> {
    const WHOLE_LINE: u64 = 1 << 20;
    match Format::from_start(start)? {
        Format::Parquet if end_of(input).ok()?.ends_with(b"PAR1") => {
            Some((Format::Parquet, "a Parquet file"))
        }
        Format::Arrow if start.starts_with(b"ARROW1\0\0") => Some((Format::Arrow, "an Arrow file")),
        Format::JsonLines => {
            let stream = input.compression.reader(input.open().ok()?).ok()?;
            let mut head = Vec::new();
            stream.take(WHOLE_LINE).read_to_end(&mut head).ok()?;
            let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
            let line = head
                .trim_ascii_start()
                .split(|byte| *byte == b'\n')
                .next()?;
            let record: Value = serde_json::from_slice(line).ok()?;
            record
                .is_object()
                .then_some((Format::JsonLines, "a file of JSON Lines"))
        }
        Format::Json => match &values(input)?[..] {
            [(Value::Array(items), _)] if items.iter().all(Value::is_object) => {
                Some((Format::Json, "a JSON array"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether files that are read as of one format may be of the other.
fn is_read_as(read: Format, format: Format) -> bool {
    read == format || read == Format::Text || (read, format) == (Format::Json, Format::JsonLines)
}

/// The values of a file of JSON, and whether each is written over several lines; `None` if it has others, or too many.
fn values(input: &InputFile) -> Option<Vec<(Value, bool)>> {
    let stream = input.compression.reader(input.open().ok()?).ok()?;
    let mut bytes = Vec::new();
    stream.take(SHAPED).read_to_end(&mut bytes).ok()?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let mut values = Vec::new();
    // Two show whether there are several.
    while values.len() < 2 {
        let before = stream.byte_offset();
        let Some(value) = stream.next() else { break };
        let written = bytes[before..stream.byte_offset()].trim_ascii();
        values.push((value.ok()?, written.contains(&b'\n')));
    }
    Some(values)
}

/// How to read a file of another format than its name says.
fn as_format(input: &InputFile, format: Format, takes_format: bool) -> String {
    let ending = format.ending();
    let (name, plural) = match format {
        Format::Parquet => ("parquet", "Parquet files"),
        Format::Arrow => ("arrow", "Arrow files"),
        Format::JsonLines => ("jsonl", "JSON Lines"),
        Format::Json => ("json", "JSON arrays"),
        Format::Csv => ("csv", "CSV files"),
        Format::Tsv => ("tsv", "TSV files"),
        Format::Text => ("text", "texts"),
    };
    let named_format = Format::from_name(&input.relative, false);
    if input.named.as_os_str() == "stdin" || named_format == Some(format) {
        return format!("pass `format={name}`");
    }
    let named = input.named.to_string_lossy();
    let (plain, compression) = Compression::split_ending(&named);
    let mut new = Path::new(plain).to_owned();
    new.set_extension(&ending[1..]);
    let new = format!("{}{}", new.display(), compression.ending());
    let rename = format!("rename it: `mv {} {}`", quoted(&named), quoted(&new));
    if takes_format {
        format!("{rename}; or if all inputs are {plural}, pass `format={name}`")
    } else {
        rename
    }
}

/// What a file of JSON is whose first line is no record, for this reason.
fn json_refusal(
    input: &InputFile,
    start: &[u8],
    problem: &str,
    takes_format: bool,
) -> Option<Refusal> {
    if !["invalid JSON: ", "the record is "]
        .iter()
        .any(|prefix| problem.starts_with(prefix))
    {
        return None;
    }
    let lines = |jq: &str| passed_through(&format!("jq -c {jq}"), "lines", &input.named);
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let text = text.trim_ascii_start();
    if text.starts_with(b"{'") {
        // It reads the file it is given, or stdin.
        let program = r#"python3 -c 'import ast, fileinput, json; print(*(json.dumps(ast.literal_eval(line)) for line in fileinput.input()), sep="\n")'"#;
        let convert = passed_through(program, "converted", &input.named);
        return Some(Refusal::new(
            "its strings are in single quotes, as Python prints a dict, and JSON has double quotes",
            format!("write it again with json.dumps, or convert it: {convert}"),
        ));
    }
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return header_of_csv(input, text, takes_format);
    }
    match &values(input)?[..] {
        [(Value::Object(members), true)] => {
            let arrays = members.iter().filter(|(_, value)| {
                let items = value.as_array();
                items.is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object))
            });
            let arrays: Vec<&String> = arrays.map(|(name, _)| name).collect();
            let all = lines(".");
            Some(match arrays[..] {
                _ if members.len() > 1 && members.values().all(Value::is_object) => Refusal::new(
                    "it is one object, written over several lines, and a record is one line",
                    format!(
                        "if its values are the records, write one per line: {}; if it is one record: {all}",
                        lines("'.[]'")
                    ),
                ),
                [array] => Refusal::new(
                    "it is one object, written over several lines, and a record is one line",
                    format!(
                        "if the objects in {array:?} are the records, write one per line: {}; if it is one record: {all}",
                        lines(&quoted(&format!(
                            "{}[]",
                            jq_path(std::slice::from_ref(array))
                        )))
                    ),
                ),
                _ => over_lines(&all),
            })
        }
        [(Value::Object(_), true), ..] => Some(over_lines(&lines("."))),
        _ => None,
    }
}

fn over_lines(command: &str) -> Refusal {
    Refusal::new(
        "its records are written over several lines, and a record is one line",
        format!("write each in one line: {command}"),
    )
}

/// The refusal of a file that may begin with the header of CSV or TSV.
fn header_of_csv(input: &InputFile, text: &[u8], takes_format: bool) -> Option<Refusal> {
    let mut lines = text.utf8_chunks().next()?.valid().lines();
    let (header, record) = (lines.next()?, lines.next()?);
    let delimiters = [(',', Format::Csv), ('\t', Format::Tsv), (';', Format::Csv)];
    let format = delimiters.into_iter().find(|(delimiter, _)| {
        let count = |line: &str| line.matches(*delimiter).count();
        count(header) > 0 && count(record) >= count(header)
    });
    let (_, format) = format?;
    let kind = if format == Format::Csv { "CSV" } else { "TSV" };
    Some(Refusal::new(
        format!("its first line, {header:?}, is no JSON"),
        format!(
            "if it is the header of {kind}, {}; else {AGAIN}",
            as_format(input, format, takes_format)
        ),
    ))
}
