//! The file, record number and id of each document.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chunk::{Chunk, Record};
use super::delimiters::OtherDelimiter;
use super::fields::{FieldPath, OnBadRecord, for_reference};
use super::ids::{DocumentIds, Id, Repeated};
use super::json::json_string;
use super::left_out::warning_of_encoding;
use super::not_read::NotRead;
use super::read::{Fingerprint, Position};
use super::report::{FirstRow, InputReport, MissingIds, SkippedRecord};
use super::table::IdColumn;
use simgpu::error::{BadRecord, Error, Result};
use simgpu::store::Texts;

/// The file, record number and id of each document, by row.
///
/// Rows ascend by file and record. So only bad records, which have no row, need an entry.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Places {
    /// The input files, in order: first those of a reference.
    #[doc(hidden)]
    pub files: Vec<SourceFile>,
    /// The number of files of a reference.
    #[doc(hidden)]
    pub of_reference: usize,
    /// What is known of the documents of indexes, which are the first files of the reference.
    #[doc(hidden)]
    pub of_indexes: Vec<IndexPlaces>,
    /// The bad records, in order.
    #[doc(hidden)]
    pub skipped: Vec<Skipped>,
    /// The ids of the documents; `None` if a document has no id.
    #[doc(hidden)]
    pub ids: Option<DocumentIds>,
    /// The documents without an id.
    #[doc(hidden)]
    pub without_id: Option<WithoutId>,
    /// The numbers of the files without records.
    #[doc(hidden)]
    pub empty_files: Vec<usize>,
    /// The number of documents that repeat an earlier id.
    #[doc(hidden)]
    pub repeated_ids: u64,
    /// What the names of the inputs lead to and is not read.
    #[doc(hidden)]
    pub not_read: NotRead,
    /// The files that are read with another delimiter than the stated one.
    #[doc(hidden)]
    pub other_delimiters: Vec<OtherDelimiter>,
    /// All chunks, if they are held in memory for the second pass.
    #[doc(hidden)]
    pub held: Option<Vec<Arc<Chunk>>>,
}

/// An input file.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct SourceFile {
    /// The name in reports.
    #[doc(hidden)]
    pub relative: String,
    #[doc(hidden)]
    pub first_row: u32,
    #[doc(hidden)]
    pub records: u64,
    #[doc(hidden)]
    pub fingerprint: Option<Fingerprint>,
}

/// Documents of an index, in order.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct IndexPlaces {
    #[doc(hidden)]
    pub rows: Range<u32>,
    /// Their numbers in the index.
    #[doc(hidden)]
    pub numbers: Vec<u32>,
    /// Their ids, as JSON.
    #[doc(hidden)]
    pub ids: Vec<Box<str>>,
}

/// A bad record and the number of its file.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Skipped {
    #[doc(hidden)]
    pub file: usize,
    #[doc(hidden)]
    pub record: BadRecord,
}

/// The documents without an id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct WithoutId {
    pub(crate) documents: u64,
    /// The first one.
    pub(crate) row: u32,
    /// The first one that has a value for its id which identifies nothing, and what that is.
    pub(crate) unusable: Option<(u32, String)>,
}

impl Places {
    /// Notes the next record of a file, whose name in errors is `named`: its id, or that it has none, or what is wrong with it.
    /// A good record gets this row. Returns what is noted of a bad one.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a bad record, unless those are skipped.
    #[doc(hidden)]
    pub fn note(
        &mut self,
        file: usize,
        named: &Path,
        record: Record,
        row: u32,
        on_bad_record: OnBadRecord,
    ) -> Result<Option<&Skipped>> {
        let of_file = &mut self.files[file];
        let number = of_file.records;
        of_file.records += 1;
        match record {
            Record::Document(Id::Json(id)) => {
                if let Some(ids) = &mut self.ids {
                    ids.push(&id)?;
                }
            }
            Record::Document(without) => {
                self.ids = None;
                let known = self.without_id.get_or_insert(WithoutId {
                    documents: 0,
                    row,
                    unusable: None,
                });
                known.documents += 1;
                if let Id::Unusable(what) = without {
                    known.unusable.get_or_insert((row, what));
                }
            }
            Record::Bad { line, problem } => {
                let record = BadRecord {
                    file: named.to_owned(),
                    row: number,
                    line,
                    problem: if file < self.of_reference {
                        for_reference(&problem)
                    } else {
                        problem
                    },
                };
                if on_bad_record == OnBadRecord::Fail {
                    return Err(Error::BadRecord(record));
                }
                self.skipped.push(Skipped { file, record });
                return Ok(self.skipped.last());
            }
        }
        Ok(None)
    }

    /// Notes the next records of a file, which are all good and have these ids.
    #[doc(hidden)]
    pub fn note_ids(&mut self, file: usize, next: &Texts) -> Result<()> {
        self.files[file].records += next.len() as u64;
        self.ids.as_mut().map_or(Ok(()), |ids| ids.append(next))
    }

    /// The number of records, including bad ones, without those of a reference.
    #[doc(hidden)]
    pub fn records(&self) -> u64 {
        let inputs = &self.files[self.of_reference..];
        inputs.iter().map(|file| file.records).sum()
    }

    /// The row of the first document that is not of a reference.
    #[doc(hidden)]
    pub fn first_input(&self) -> u32 {
        let first = self.files.get(self.of_reference);
        first
            .filter(|_| self.of_reference > 0)
            .map_or(0, |file| file.first_row)
    }

    /// The row of the first document that is not of an index.
    #[doc(hidden)]
    pub fn first_of_files(&self) -> u32 {
        self.of_indexes.last().map_or(0, |index| index.rows.end)
    }

    /// Whether a document is one of an index.
    #[doc(hidden)]
    pub fn is_in_index(&self, row: u32) -> bool {
        row < self.first_of_files()
    }

    /// Where a kept document is: `input`, `reference` or `index`; `None` in a run without a reference.
    #[doc(hidden)]
    pub fn kept_in(&self, row: u32) -> Option<&'static str> {
        (self.of_reference > 0).then_some(match row {
            row if self.is_in_index(row) => "index",
            row if row < self.first_input() => "reference",
            _ => "input",
        })
    }

    /// The bad records of a reference, and all others.
    fn skipped_apart(&self) -> (&[Skipped], &[Skipped]) {
        let of_reference = |skipped: &Skipped| skipped.file < self.of_reference;
        let reference = self.skipped.partition_point(of_reference);
        self.skipped.split_at(reference)
    }

    /// The number of bad records, without those of a reference.
    #[doc(hidden)]
    pub fn bad_records(&self) -> u64 {
        self.skipped_apart().1.len() as u64
    }

    /// The first bad record, without those of a reference.
    #[doc(hidden)]
    pub fn first_bad_record(&self) -> Option<&BadRecord> {
        self.skipped_apart()
            .1
            .first()
            .map(|skipped| &skipped.record)
    }

    /// The name of a document's file, and its record number in that file, from 0. Of an index: the folder, and the number of
    /// the document in it, by the order in which they were added.
    #[doc(hidden)]
    pub fn place(&self, row: u32) -> (&str, u64) {
        let file = self.file_of(row);
        if let Some((_, number)) = self.in_index(row) {
            return (&self.files[file].relative, number.into());
        }
        let nth = u64::from(row - self.files[file].first_row);
        let skipped = self.skipped_in(file);
        // The i-th bad record follows record.row - i good ones. These numbers ascend, so search by bisection.
        let (mut before, mut end) = (0, skipped.len());
        while before < end {
            let middle = before.midpoint(end);
            if skipped[middle].record.row - middle as u64 <= nth {
                before = middle + 1;
            } else {
                end = middle;
            }
        }
        (&self.files[file].relative, nth + before as u64)
    }

    /// The id of a document of an index, as JSON, and its number there; `None` if it is of a file.
    fn in_index(&self, row: u32) -> Option<(&str, u32)> {
        let mut indexes = self.of_indexes.iter();
        let index = indexes.find(|index| index.rows.contains(&row))?;
        let nth = (row - index.rows.start) as usize;
        Some((index.ids.get(nth)?, *index.numbers.get(nth)?))
    }

    /// The number of a document's file among the inputs.
    #[doc(hidden)]
    pub fn file_of(&self, row: u32) -> usize {
        // Files without documents share their first row with the next file. The last of these files holds the row.
        self.files.partition_point(|file| file.first_row <= row) - 1
    }

    /// The number of documents of each file, without bad records.
    #[doc(hidden)]
    pub fn documents_of_files(&self) -> Vec<u64> {
        let bad = |file| self.skipped_in(file).len() as u64;
        let files = self.files.iter().enumerate();
        files
            .map(|(number, file)| file.records - bad(number))
            .collect()
    }

    /// The place before the first chunk of a file.
    #[doc(hidden)]
    pub fn start_of_file(&self, file: usize) -> Position {
        Position {
            file,
            chunk: 0,
            records: self.records_before(file),
        }
    }

    /// The number of records in the files before one, but for those of a reference.
    pub(crate) fn records_before(&self, file: usize) -> u64 {
        let before = self.files.iter().take(file).skip(self.of_reference);
        before.map(|file| file.records).sum()
    }

    /// The bad records of a file.
    #[doc(hidden)]
    pub fn skipped_in(&self, file: usize) -> &[Skipped] {
        let start = self.skipped.partition_point(|skipped| skipped.file < file);
        let end = self.skipped.partition_point(|skipped| skipped.file <= file);
        &self.skipped[start..end]
    }

    /// The id of a document as JSON; `file:row` if any document has no id. Ids on disk are read from their beginning: if
    /// many are needed, take them [by row](Places::ids_by_row).
    #[doc(hidden)]
    pub fn id(&self, row: u32) -> Result<Cow<'_, str>> {
        match &self.ids {
            Some(ids) => ids.get(row),
            None => Ok(self.made_id(row).into()),
        }
    }

    /// An id that says where a document is. Those of an index have their own.
    fn made_id(&self, row: u32) -> String {
        if let Some((id, _)) = self.in_index(row) {
            return id.to_owned();
        }
        let (file, record) = self.place(row);
        json_string(&format!("{file}:{record}"))
    }

    /// The ids of documents as JSON, by row. Ids on disk are read once, from their beginning.
    #[doc(hidden)]
    pub fn ids_of(&self, rows: &BTreeSet<u32>) -> Result<BTreeMap<u32, Box<RawValue>>> {
        if !self.has_ids_on_disk() {
            let of_row = |row: &u32| Ok((*row, self.raw_id(*row)?));
            return rows.iter().map(of_row).collect();
        }
        let mut id_of = self.ids_by_row()?;
        let of_row = |row: &u32| Ok((*row, raw_json(id_of(*row)?)));
        rows.iter().map(of_row).collect()
    }

    /// The ids of documents whose rows ascend, each asked for once. Ids on disk are read once, from their beginning.
    #[doc(hidden)]
    pub fn ids_by_row<'a>(&'a self) -> Result<impl FnMut(u32) -> Result<Cow<'a, str>>> {
        let mut ids = self.ids.as_ref().map(DocumentIds::in_order).transpose()?;
        let mut next_row = 0;
        Ok(move |row| {
            let Some(ids) = &mut ids else {
                return Ok(self.made_id(row).into());
            };
            ids.skip(rows_between(next_row, row)?)?;
            next_row = row + 1;
            ids.next()
        })
    }

    /// The ids of ranges of documents that ascend, a line each; `None` if documents have none of their own.
    #[doc(hidden)]
    pub fn id_lines<'a>(
        &'a self,
    ) -> Result<Option<impl FnMut(Range<u32>) -> Result<String> + use<'a>>> {
        let Some(ids) = &self.ids else {
            return Ok(None);
        };
        let mut ids = ids.in_order()?;
        let mut next_row = 0;
        Ok(Some(move |rows: Range<u32>| {
            let mut lines = String::new();
            ids.skip(rows_between(next_row, rows.start)?)?;
            ids.append_lines(rows.len(), &mut lines)?;
            next_row = rows.end;
            Ok(lines)
        }))
    }

    /// Whether ids are on disk, where [`Places::id`] reads them from their beginning.
    pub(crate) fn has_ids_on_disk(&self) -> bool {
        matches!(self.ids, Some(DocumentIds::Spilled(_)))
    }

    /// The type of a column of the ids of all documents.
    #[doc(hidden)]
    pub fn id_column(&self) -> IdColumn {
        match &self.ids {
            Some(ids) if ids.are_integers() => IdColumn::Integers,
            // An id that says where a document is has a colon.
            _ => IdColumn::Strings,
        }
    }

    /// The id of a document as a JSON value.
    #[doc(hidden)]
    pub fn raw_id(&self, row: u32) -> Result<Box<RawValue>> {
        Ok(raw_json(self.id(row)?))
    }

    /// Bytes of memory used by ids and by held chunks.
    #[doc(hidden)]
    pub fn held_bytes(&self) -> u64 {
        let chunks = self.held.iter().flatten();
        let held: usize = chunks.map(|chunk| chunk.bytes()).sum();
        held as u64 + self.ids.as_ref().map_or(0, DocumentIds::bytes)
    }

    /// The first row of each file, in order.
    #[doc(hidden)]
    pub fn first_rows(&self) -> Vec<FirstRow> {
        let first_row = |file: &SourceFile| FirstRow {
            file: file.relative.clone(),
            first_row: file.first_row,
        };
        self.files.iter().map(first_row).collect()
    }

    /// What a report says of the input files, without those of a reference.
    #[doc(hidden)]
    pub fn input_reports(&self) -> Vec<InputReport> {
        let reports = self.files[self.of_reference..].iter().map(|file| {
            let known = file.fingerprint.as_ref();
            InputReport {
                file: file.relative.clone(),
                records: file.records,
                bytes: known.map_or(0, Fingerprint::size),
                xxh3: known
                    .and_then(Fingerprint::checksum)
                    .map(|checksum| format!("{checksum:016x}")),
            }
        });
        reports.collect()
    }

    /// The row of the document at a record of a file; `None` if there is no such record, or if it is a bad one.
    #[doc(hidden)]
    pub fn row_of(&self, file: usize, record: u64) -> Option<u32> {
        let of_file = self.files.get(file)?;
        let skipped = self.skipped_in(file);
        let before = skipped.partition_point(|skipped| skipped.record.row < record);
        let is_bad = |skipped: &Skipped| skipped.record.row == record;
        if record >= of_file.records || skipped.get(before).is_some_and(is_bad) {
            return None;
        }
        let nth = u32::try_from(record - before as u64).ok()?;
        of_file.first_row.checked_add(nth)
    }

    /// The documents without an id, if some among `documents` have one.
    #[doc(hidden)]
    pub fn missing_ids(&self, documents: u64) -> Option<MissingIds> {
        let without_id = self.without_id.as_ref()?;
        (without_id.documents < documents).then(|| {
            let (file, row) = self.place(without_id.row);
            MissingIds {
                documents: without_id.documents,
                file: file.to_owned(),
                row,
            }
        })
    }

    /// Warnings of made-up ids, and of bad records that are left out for their encoding.
    #[doc(hidden)]
    pub fn warnings(&self, id_field: &FieldPath) -> impl Iterator<Item = String> {
        let bad = self.skipped.iter().map(|skipped| &skipped.record);
        self.warning_of_ids(id_field)
            .into_iter()
            .chain(warning_of_encoding(bad))
    }

    /// Says that ids are made up, and why, if a document has a value for its id that identifies nothing.
    fn warning_of_ids(&self, field: &FieldPath) -> Option<String> {
        let (row, what) = self.without_id.as_ref()?.unusable.as_ref()?;
        let (file, row) = self.place(*row);
        Some(format!(
            "ids are FILE:ROW, because \"{field}\" is {what} in {file}, row {row}; choose another field with `id_field`, or write strings or numbers"
        ))
    }

    /// The names of the files without records.
    #[doc(hidden)]
    pub fn empty_files(&self) -> Vec<String> {
        let name = |file: &usize| self.files[*file].relative.clone();
        self.empty_files.iter().map(name).collect()
    }

    /// The bad records, without those of a reference, for the report.
    #[doc(hidden)]
    pub fn skipped_records(&self) -> Vec<SkippedRecord> {
        self.listed(self.skipped_apart().1)
    }

    /// The bad records of a reference, for the report.
    #[doc(hidden)]
    pub fn skipped_of_reference(&self) -> Vec<SkippedRecord> {
        self.listed(self.skipped_apart().0)
    }

    fn listed(&self, skipped: &[Skipped]) -> Vec<SkippedRecord> {
        let listed = |skipped: &Skipped| SkippedRecord {
            file: self.files[skipped.file].relative.clone(),
            row: skipped.record.row,
            line: skipped.record.line,
            problem: skipped.record.problem.clone(),
        };
        skipped.iter().map(listed).collect()
    }

    /// Sets the first row of files without records to that of the next file.
    #[doc(hidden)]
    pub fn fill_first_rows(&mut self, rows: u32) {
        let mut next = rows;
        for file in self.files.iter_mut().rev() {
            if file.records == 0 {
                file.first_row = next;
            }
            next = file.first_row;
        }
    }

    /// Finds the documents that repeat an earlier id, without those of a reference. Asked once.
    #[doc(hidden)]
    pub fn find_repeated_ids(&mut self) -> Result<Repeated> {
        let first = self.first_input();
        let ids = self.ids.as_mut();
        ids.map_or(Ok(Repeated::default()), |ids| ids.repeated(first))
    }

    /// Counts the documents that repeat an earlier id, or refuses them if ids must be unique.
    #[doc(hidden)]
    pub fn count_repeated_ids(&mut self, repeated: Repeated, unique_ids: bool) -> Result<()> {
        match repeated.first {
            Some((first, second)) if unique_ids => {
                let place = |row| {
                    let (file, record) = self.place(row);
                    format!("{file}, row {record}")
                };
                Err(Error::RepeatedId {
                    id: self.id(first)?.into_owned(),
                    first: place(first),
                    second: place(second),
                })
            }
            _ => {
                self.repeated_ids = repeated.documents;
                Ok(())
            }
        }
    }
}

/// The rows from the next one to that which is asked for.
fn rows_between(next: u32, row: u32) -> Result<usize> {
    let between = row.checked_sub(next).map(|rows| rows as usize);
    between.ok_or_else(|| Error::Defect(format!("the id of row {row} was read before")))
}

/// An id as a JSON value.
#[doc(hidden)]
pub fn raw_json(id: Cow<'_, str>) -> Box<RawValue> {
    // Ids come from a JSON parser or serializer, so they are valid.
    RawValue::from_string(id.into_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of good and bad records, and two without records.
    const FILES: [(&str, &[bool]); 5] = [
        ("empty", &[]),
        ("a", &[false, true, true, false, false, true]),
        ("none", &[]),
        ("b", &[true, false]),
        ("c", &[true]),
    ];

    /// The places of all records, whose ids are `file-record`. Those of `without` have none.
    fn places(without: &[&str]) -> Places {
        let files = FILES.map(|(name, _)| SourceFile {
            relative: name.to_owned(),
            first_row: 0,
            records: 0,
            fingerprint: None,
        });
        let mut places = Places {
            files: files.into(),
            ids: Some(DocumentIds::default()),
            ..Places::default()
        };
        let mut row = 0;
        for (file, (name, records)) in FILES.iter().enumerate() {
            if !records.is_empty() {
                places.files[file].first_row = row;
            }
            for (number, is_good) in records.iter().enumerate() {
                let id = format!("{name}-{number}");
                let record = match is_good {
                    true if without.contains(&&*id) => Record::Document(Id::None),
                    true => Record::Document(Id::Json(json_string(&id))),
                    false => Record::Bad {
                        line: Some(number as u64 + 1),
                        problem: "wrong".to_owned(),
                    },
                };
                let named = Path::new(name);
                let bad = places.note(file, named, record, row, OnBadRecord::Skip);
                assert_eq!(bad.unwrap().is_some(), !is_good);
                row += u32::from(*is_good);
            }
        }
        places.fill_first_rows(row);
        places
    }

    /// The file and record of each row.
    fn expected() -> Vec<(&'static str, u64)> {
        let of_file = |(name, records): &(&'static str, &[bool])| {
            let name = *name;
            let good = (0..).zip(*records).filter(|(_, is_good)| **is_good);
            good.map(|(record, _)| (name, record)).collect::<Vec<_>>()
        };
        FILES.iter().flat_map(of_file).collect()
    }

    #[test]
    fn a_row_is_the_record_that_it_was() {
        let places = places(&[]);
        let mut id_of = places.ids_by_row().unwrap();
        for (row, (file, record)) in (0..).zip(expected()) {
            assert_eq!(places.place(row), (file, record));
            let id = format!("\"{file}-{record}\"");
            assert_eq!(
                (places.id(row).unwrap(), id_of(row).unwrap()),
                ((&*id).into(), (&*id).into())
            );
        }
        assert_eq!(places.records(), 9);
        let first_rows = places.first_rows();
        let first_rows = first_rows.iter().map(|file| (&*file.file, file.first_row));
        let known = [("empty", 0), ("a", 0), ("none", 3), ("b", 3), ("c", 4)];
        assert!(first_rows.eq(known));
        assert_eq!(places.missing_ids(5).map(|missing| missing.documents), None);
        let skipped = places.skipped_records();
        let skipped = skipped.iter().map(|skipped| (&*skipped.file, skipped.row));
        assert!(skipped.eq([("a", 0), ("a", 3), ("a", 4), ("b", 1)]));
        assert_eq!(places.skipped_in(1).len(), 3);
        let start = places.start_of_file(3);
        assert_eq!((start.file, start.chunk, start.records), (3, 0, 6));
    }

    #[test]
    fn one_document_without_an_id_leaves_all_without() {
        let places = places(&["b-0", "c-0"]);
        for (row, (file, record)) in (0..).zip(expected()) {
            assert_eq!(places.id(row).unwrap(), format!("\"{file}:{record}\""));
        }
        let missing = places.missing_ids(5).unwrap();
        assert_eq!(
            (missing.documents, &*missing.file, missing.row),
            (2, "b", 0)
        );
        // If no document has one, none is missing.
        assert!(places.missing_ids(2).is_none());
    }

    #[test]
    fn repeated_ids_are_counted_or_refused() {
        let mut places = places(&[]);
        let repeated = Repeated {
            documents: 2,
            first: Some((1, 3)),
        };
        places.count_repeated_ids(repeated, false).unwrap();
        assert_eq!(places.repeated_ids, 2);
        let refused = places.count_repeated_ids(repeated, true).unwrap_err();
        assert!(matches!(
            refused,
            Error::RepeatedId { id, first, second }
                if id == "\"a-2\"" && first == "a, row 2" && second == "b, row 0"
        ));
    }
}
