//! The names of the fields of a file.

use std::path::Path;

use super::chunk::{Chunk, Contents};
use super::fields::{FieldPath, Wanted};
use super::input::InputFile;
use super::json;
use super::jsonl;
use super::longest::LongestRecord;
use super::read::{Columns, Event, FilesReading, Reading};
use super::refusal::listed;
use simgpu::error::{BadRecord, Error, Result};

/// The names of the columns of a file, or of the fields of its first record, in order. None if the file has no record.
/// `temporary` is the folder for a decompressed copy of a table.
#[doc(hidden)]
pub fn field_names(file: &InputFile, temporary: &Path) -> Result<Vec<String>> {
    let files = std::slice::from_ref(file);
    let reading = FilesReading::new(
        files,
        Reading {
            columns: Columns::All,
            batch_bytes: 0,
            temporary: Some(temporary),
            limit: Some(1),
            longest: LongestRecord::fixed(),
            ..Reading::new(Wanted::Values(&[]))
        },
    )?;
    for event in reading.file(0) {
        if let Event::Chunk(chunk) = event? {
            return names_of(&chunk).map_err(|problem| {
                Error::BadRecord(BadRecord {
                    file: file.named.clone(),
                    row: 0,
                    line: None,
                    problem,
                })
            });
        }
    }
    Ok(Vec::new())
}

/// The fields of the first of these files that has some, for messages; `None` if none has, or `missing` begins with one.
#[doc(hidden)]
pub fn listed_fields(files: &[InputFile], missing: &FieldPath, temporary: &Path) -> Option<String> {
    let mut names = files.iter();
    let names = names.find_map(|file| {
        let names = field_names(file, temporary).ok()?;
        (!names.is_empty()).then_some(names)
    })?;
    let is_missing = missing
        .segments()
        .first()
        .is_none_or(|root| !names.contains(root));
    is_missing.then(|| listed("field", &names))
}

fn names_of(chunk: &Chunk) -> std::result::Result<Vec<String>, String> {
    let keys = |record: &[u8]| {
        let record = jsonl::utf_8(record, "record")?;
        json::keys(record).map_err(|error| format!("the record is no object of JSON: {error}"))
    };
    match &chunk.contents {
        Contents::Lines {
            bytes,
            first_number,
        } => {
            let first = jsonl::lines(bytes, *first_number).next();
            first.map_or(Ok(Vec::new()), |line| keys(line.record))
        }
        Contents::Records(records) => match (&records.header, records.spans.first()) {
            (Some(header), _) => Ok(header.names().map(str::to_owned).collect()),
            (None, Some(span)) => keys(&records.bytes[span.clone()]),
            (None, None) => Ok(Vec::new()),
        },
        Contents::Rows { rows, .. } => {
            let schema = rows.schema_ref();
            let names = schema.fields().iter().map(|field| field.name().clone());
            Ok(names.collect())
        }
        Contents::Text(_) => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inputs;

    #[test]
    fn names_come_from_the_header_or_the_first_record() {
        let folder = tempfile::tempdir().unwrap();
        let names = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let inputs = Inputs::find(&[path], None).unwrap();
            field_names(&inputs.files[0], folder.path())
        };
        let both = ["a.b", "c"].map(str::to_owned);
        assert_eq!(names("x.csv", "a.b, c\n1,2\n").unwrap(), both);
        assert_eq!(names("x.tsv", "a.b\tc\n1\t2\n").unwrap(), both);
        assert_eq!(
            names("x.jsonl", "{\"a.b\": 1, \"c\": {}}\n{}\n").unwrap(),
            both
        );
        assert_eq!(names("x.json", "[{\"a.b\": 1, \"c\": 2}]").unwrap(), both);
        assert!(names("y.jsonl", "").unwrap().is_empty());
        assert!(names("z.jsonl", "[1]\n").is_err());
    }
}
