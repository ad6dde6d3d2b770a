//! The symbols of the values of one field, each value weighed once.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::lists::Lists;
use super::rarity::Symbols;
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::{Result, row_number};
use simgpu::progress::Progress;

/// The symbols of the distinct values of a field: records share most values, and each is weighed once. Values need no order
/// of rows and no lists of them, as [`Distinct`](crate::distinct::Distinct) has, which are made on one thread.
#[derive(Debug)]
pub(crate) struct FieldValues {
    /// The value of each record, by its number.
    value_of_record: Vec<u32>,
    /// By value.
    lists: Lists,
}

impl FieldValues {
    /// The values of a field of all records.
    pub(crate) fn from_field(
        tables: &RecordTables<'_>,
        field: usize,
        symbols: &Symbols,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let value = |row| tables.fields(row).enumerate().skip(field).take(1);
        let digest = |row| value(row).next().map(|(_, value)| xxh3_128(value));
        let rows = row_number(tables.rows())?;
        let digests = (0..rows).into_par_iter();
        let mut records: Vec<(Option<u128>, u32)> =
            digests.map(|row| (digest(row as usize), row)).collect();
        records.par_sort_unstable();
        let mut value_of_record = vec![0; records.len()];
        let mut first_records = Vec::new();
        for (number, equal) in (0..).zip(records.chunk_by(|a, b| a.0 == b.0)) {
            for (_, row) in equal {
                value_of_record[*row as usize] = number;
            }
            first_records.push(equal[0].1 as usize);
        }
        drop(records);
        let first = |number: usize| value(first_records[number]);
        let lists = Lists::from_fields(first_records.len(), first, symbols, equivalents, progress)?;
        Ok(FieldValues {
            value_of_record,
            lists,
        })
    }

    /// The cosine of the values of two records; `None` where one has no word.
    pub(crate) fn similarity(&self, records: [usize; 2], squares: &[f64]) -> Option<f64> {
        let [a, b] = records.map(|record| self.value_of_record[record] as usize);
        let has_words = self.lists.norm(a) > 0.0 && self.lists.norm(b) > 0.0;
        has_words.then(|| {
            if a == b {
                1.0
            } else {
                self.lists.cosine(a, b, squares)
            }
        })
    }
}
