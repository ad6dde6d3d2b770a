//! Errors about files that cannot be read.

use std::io;

use crate::compression::Compression;
use crate::format::{Format, with_names};
use crate::input::InputFile;
use crate::refusal::Refusal;
use crate::table::Unreadable;
use crate::{arrow, broken_stream};
use simgpu::error::Error;

pub(super) fn broken(input: &InputFile, error: &io::Error) -> Error {
    if let Some(code) = error.raw_os_error() {
        return Error::io("read", &input.named)(io::Error::from_raw_os_error(code));
    }
    match (input.compression, input.open()) {
        (Compression::None, _) | (_, Err(_)) => unreadable(input, &error.to_string()),
        (compression, Ok(file)) => {
            broken_stream::refusal(compression, error, file).for_file(&input.named)
        }
    }
}

/// The error for a file that changes while it is read.
#[doc(hidden)]
pub fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.named.clone(),
    }
}

pub(super) fn unreadable(input: &InputFile, problem: &str) -> Error {
    let remedy = "get the file again from its source";
    refused(input, problem.to_owned(), remedy)
}

/// The error for rows of a table that cannot be read.
pub(super) fn unread_table(input: &InputFile, error: Unreadable) -> Error {
    let refusal = match error {
        Unreadable::Refused(refusal) => refusal,
        Unreadable::System(error) => return Error::io("read", &input.named)(error),
        Unreadable::Damaged(problem) => {
            let remedy = with_names(remedy_of_table(input.format, &problem), &input.named);
            let file = (problem.contains(NOT_UTF_8) && input.compression == Compression::None)
                .then(|| input.open().ok());
            let column = file
                .flatten()
                .and_then(|file| arrow::unreadable_column(&file));
            let problem = match column {
                Some(column) => format!("column {column:?}: {problem}"),
                None => without_prefixes(problem),
            };
            Refusal::new(problem, remedy)
        }
    };
    refusal.for_file(&input.named)
}

/// What the reader of Parquet says, without the names of its own errors: they are no words of the user.
fn without_prefixes(problem: String) -> String {
    const PREFIXES: [&str; 2] = ["Parquet argument error: ", "Parquet error: "];
    let mut rest = problem.as_str();
    while let Some(stripped) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = stripped;
    }
    if rest.len() == problem.len() {
        problem
    } else if rest == "Invalid DECIMAL scale: -1" {
        "it breaks the Parquet format: a column of decimals has no scale".to_owned()
    } else if rest.starts_with("Required field ") {
        // The reader names the field at which it gave up, which is rarely the one that is wrong.
        "it is damaged, or breaks the Parquet format: its metadata cannot be read".to_owned()
    } else if let Some(unread) = rest.strip_prefix("NYI: ") {
        format!("its Parquet is not read: {unread}")
    } else {
        format!("it is damaged, or breaks the Parquet format: {rest}")
    }
}

/// What the reader of Arrow says of strings that are not UTF-8.
pub(super) const NOT_UTF_8: &str = "Invalid UTF8 sequence";

/// What to do with a table that the reader of its format refuses for this reason.
fn remedy_of_table(format: Format, problem: &str) -> &'static str {
    let is = |words: &str| problem.contains(words);
    // Other programs write these, and read few of them.
    if is("Parser error") && is("not supported") {
        return "cast the columns of that type to another in the program that wrote the file, and write the file again";
    }
    if is(NOT_UTF_8) {
        return "if only that string is damaged, correct it; if all are in another encoding, decode them: in the program that wrote \
                the file, or in Python, where pyarrow reads the file and `.cast(\"binary\")` the bytes of its strings; and write the \
                file again";
    }
    if is("The codec type ") && is("is not supported") {
        return "write the file again with another codec, such as zstd, by the program that wrote it";
    }
    if is("invalid utf8") {
        return "a name in the schema is not UTF-8: write the file again with another name for that column, by the program that \
                wrote it";
    }
    match format {
        // Pyarrow would read the damaged bytes, for it compares no checksums.
        _ if is("checksum") => {
            "its bytes are not those that were written: get the file again from its source"
        }
        // Some files break the format in a way that other readers let pass.
        Format::Parquet => {
            "if its size or checksum is not that at its source, get it again from there; else write it again with a program that reads it, \
             as pyarrow does with most: `import pyarrow.parquet as pq; pq.write_table(pq.read_table(\"in.parquet\"), \"out.parquet\")`"
        }
        _ => "get the file again from its source",
    }
}

fn refused(input: &InputFile, problem: String, remedy: &str) -> Error {
    Refusal::new(problem, remedy).for_file(&input.named)
}
