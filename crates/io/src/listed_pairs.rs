//! Reads files of similar pairs, in any format that they are written in.

use std::path::Path;

use super::chunk::Chunk;
use super::fields::{FieldPath, ValueField, Wanted};
use super::input::{InputFile, Inputs};
use super::longest::LongestRecord;
use super::read::{Event, FilesReading, Reading};
use super::row_values::{Value, for_each_record};
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// A pair as its file states it.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct ListedPair {
    /// The texts of both ids.
    #[doc(hidden)]
    pub ids: [String; 2],
    /// Both files, as in reports.
    #[doc(hidden)]
    pub files: [String; 2],
    /// The numbers of both records in their files, from 0.
    #[doc(hidden)]
    pub rows: [u64; 2],
    /// `None` if it was not computed.
    #[doc(hidden)]
    pub similarity: Option<f64>,
}

/// The fields of a pair.
const FIELDS: [&str; 7] = [
    "id_a",
    "id_b",
    "file_a",
    "file_b",
    "row_a",
    "row_b",
    "similarity",
];

/// The field of the similarity among them.
const SIMILARITY: usize = 6;

/// Calls `each` with every pair of a file, in order, and with the number of its record. Returns the number of pairs.
#[doc(hidden)]
pub fn for_each_listed_pair(
    path: &Path,
    temporary: &Path,
    progress: &dyn Progress,
    mut each: impl FnMut(u64, ListedPair) -> Result<()>,
) -> Result<u64> {
    let inputs = Inputs::find(&[path.to_owned()], None)?;
    let files = &inputs.files;
    let fields: Vec<ValueField> = FIELDS.iter().map(|name| field(name)).collect();
    progress.begin(
        "read pairs",
        files.iter().map(InputFile::stored_bytes).sum(),
    );
    let reading = FilesReading::new(
        files,
        Reading {
            temporary: Some(temporary),
            longest: LongestRecord::fixed(),
            ..Reading::new(Wanted::Values(&fields))
        },
    )?;
    let mut pairs = 0;
    reading.map(
        |chunk| Ok(parse(&chunk, &fields)),
        |event| {
            if let Some(Event::Chunk(parsed)) = event {
                for pair in parsed {
                    let pair = pair.map_err(|problem| odd_pair(path, pairs, &problem))?;
                    each(pairs, pair)?;
                    pairs += 1;
                }
            }
            advance(progress, reading.consumed(), pairs, 0)
        },
    )?;
    Ok(pairs)
}

/// The error of a file of pairs in which something is wrong with a record.
#[doc(hidden)]
pub fn odd_pair(path: &Path, record: u64, problem: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: format!("row {record}: {problem}"),
        remedy: "search for pairs again".to_owned(),
    }
}

fn field(name: &str) -> ValueField {
    ValueField {
        path: FieldPath::from_name(name),
        parameter: match name {
            "id_a" | "id_b" => ValueField::ID,
            _ => "from_pairs",
        },
        hint: "",
        // JSON Lines and CSV may state none, but then each row says so.
        is_required: true,
    }
}

fn parse(chunk: &Chunk, fields: &[ValueField]) -> Vec<std::result::Result<ListedPair, String>> {
    let mut pairs = Vec::new();
    for_each_record(chunk, fields, &mut |_, values| {
        pairs.push(values.and_then(pair_of));
    });
    pairs
}

fn pair_of(values: &[Option<Value<'_>>]) -> std::result::Result<ListedPair, String> {
    let value = |at: usize| {
        let value = values.get(at).and_then(Option::as_ref);
        value.ok_or_else(|| format!("\"{}\" is missing, null or empty", FIELDS[at]))
    };
    // An id may be an empty string.
    let id = |at: usize| {
        let id = values.get(at).and_then(Option::as_ref);
        let text = id.map(|id| Ok::<_, String>(id.id_text()?.0.into_owned()));
        text.transpose().map(Option::unwrap_or_default)
    };
    let number = |at: usize| {
        let text = &value(at)?.text;
        let number = text.parse::<u64>();
        number.map_err(|_| format!("\"{}\" is {text}, not a whole number", FIELDS[at]))
    };
    let similarity = match value(SIMILARITY) {
        Err(_) => None,
        Ok(value) => match value.text.parse::<f64>() {
            Ok(similarity) if (0.0..=1.0).contains(&similarity) => Some(similarity),
            _ => {
                return Err(format!(
                    "\"similarity\" is {}, not a number from 0 to 1",
                    value.text
                ));
            }
        },
    };
    Ok(ListedPair {
        ids: [id(0)?, id(1)?],
        files: [value(2)?.text.to_string(), value(3)?.text.to_string()],
        rows: [number(4)?, number(5)?],
        similarity,
    })
}
