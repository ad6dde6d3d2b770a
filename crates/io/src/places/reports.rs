//! What reports and warnings say of input files and bad records.

use super::{Places, Skipped, SourceFile};
use crate::fields::FieldPath;
use crate::left_out::warning_of_encoding;
use crate::read::Fingerprint;
use crate::report::{FirstRow, InputReport, SkippedRecord};
use simgpu::error::{BadRecord, Error, Result};

impl Places {
    /// The bad records of a reference, and all others.
    fn skipped_apart(&self) -> (&[Skipped], &[Skipped]) {
        let in_reference = |skipped: &Skipped| skipped.file < self.reference_files;
        let reference = self.skipped.partition_point(in_reference);
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
        let reports = self.files[self.reference_files..].iter().map(|file| {
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

    /// Warnings of made-up ids, and of bad records that are left out for their encoding.
    #[doc(hidden)]
    pub fn warnings(&self, id_field: &FieldPath) -> impl Iterator<Item = String> {
        let bad = self.skipped.iter().map(|skipped| &skipped.record);
        self.warning_of_ids(id_field)
            .into_iter()
            .chain(warning_of_encoding(bad))
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
}

/// The rows from the next one to that which is asked for.
pub(super) fn rows_between(next: u32, row: u32) -> Result<usize> {
    let between = row.checked_sub(next).map(|rows| rows as usize);
    between.ok_or_else(|| Error::Defect(format!("the id of row {row} was read before")))
}
