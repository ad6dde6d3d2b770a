//! Equal records, as one: each is compared once, however many copies it has.
//!
//! Copies say nothing new. Among records that are compared with each other, n copies would be n (n - 1) / 2 pairs of cosine
//! 1, which take the place of all other pairs, and make their words look common. So rarity, candidates, thresholds and
//! points know distinct records only; copies count where records are matched, and where pairs are counted.
//!
//! So time and memory are linear in copies.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::records::RecordFiles;
use crate::words::{Equivalents, Words};
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

/// Records between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 15;

/// The distinct records of each file, numbered by their first rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    /// The rows of each distinct record, in ascending order, one record after the other.
    rows: Vec<u32>,
    /// Where the rows of each distinct record end.
    ends: Vec<u32>,
    /// How many distinct records are of the first file.
    in_first: usize,
    /// The distinct record of each row.
    records: Vec<u32>,
}

impl Distinct {
    /// Finds the records whose fields have equal normalised texts. Records without a word equal none.
    pub(crate) fn find(
        files: &RecordFiles<'_>,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let rows = files.rows();
        progress.begin("group", rows as u64);
        let mut keys: Vec<Option<u128>> = Vec::with_capacity(rows);
        for block in (0..rows).step_by(BLOCK) {
            let end = (block + BLOCK).min(rows);
            let block_keys = (block..end).into_par_iter().map_init(
                || (Words::default(), Vec::new()),
                |(words, bytes), row| key(files, row, equivalents, words, bytes),
            );
            keys.par_extend(block_keys);
            advance(progress, end as u64, end as u64, 0)?;
        }
        Ok(Distinct::from_keys(&keys, files.first.len()))
    }

    /// Groups the rows with equal keys within the first rows, and within the others.
    pub(crate) fn from_keys(keys: &[Option<u128>], first_file: usize) -> Self {
        let mut keyed: Vec<(bool, u128, u32)> = (0_u32..)
            .zip(keys)
            .filter_map(|(row, key)| Some((row as usize >= first_file, (*key)?, row)))
            .collect();
        keyed.par_sort_unstable();
        let mut first_row: Vec<u32> = (0..).take(keys.len()).collect();
        for equal in keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (_, _, row) in equal {
                first_row[*row as usize] = equal[0].2;
            }
        }
        let mut distinct = Distinct::default();
        let mut sizes: Vec<u32> = Vec::new();
        for (row, first) in first_row.iter().enumerate() {
            let first = *first as usize;
            if first == row {
                distinct.in_first += usize::from(row < first_file);
                distinct.records.push(number(sizes.len()));
                sizes.push(1);
            } else {
                let record = distinct.records[first];
                distinct.records.push(record);
                sizes[record as usize] += 1;
            }
        }
        // A counting sort by distinct record: the sizes become starts, and each start moves on to the end of its rows.
        let mut total = 0;
        distinct.ends = sizes;
        for end in &mut distinct.ends {
            // Where the rows of the record begin, for now.
            total += std::mem::replace(end, total);
        }
        distinct.rows = vec![0; keys.len()];
        for (row, record) in (0..).zip(&distinct.records) {
            let end = &mut distinct.ends[*record as usize];
            distinct.rows[*end as usize] = row;
            *end += 1;
        }
        distinct
    }

    /// Takes every row for a distinct record.
    #[cfg(test)]
    pub(crate) fn all(files: &RecordFiles<'_>) -> Self {
        Distinct::from_keys(&vec![None; files.rows()], files.first.len())
    }

    /// The number of distinct records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of rows.
    pub(crate) fn rows_in_all(&self) -> usize {
        self.records.len()
    }

    /// The distinct records of the first file, or of the second one.
    pub(crate) fn in_file(&self, is_second: bool) -> std::ops::Range<usize> {
        if is_second {
            self.in_first..self.len()
        } else {
            0..self.in_first
        }
    }

    /// The rows of a distinct record, in ascending order.
    pub(crate) fn rows(&self, record: usize) -> &[u32] {
        let start = match record {
            0 => 0,
            _ => self.ends[record - 1],
        };
        &self.rows[start as usize..self.ends[record] as usize]
    }

    /// The last rows of a distinct record, so many.
    pub(crate) fn last_rows(&self, record: usize, count: usize) -> &[u32] {
        let rows = self.rows(record);
        &rows[rows.len() - count..]
    }

    /// The first row of a distinct record.
    pub(crate) fn first_row(&self, record: usize) -> u32 {
        self.rows(record)[0]
    }

    /// How many rows a distinct record has.
    pub(crate) fn copies(&self, record: usize) -> u64 {
        self.rows(record).len() as u64
    }

    /// The distinct record of a row.
    pub(crate) fn record(&self, row: usize) -> usize {
        self.records[row] as usize
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rows are numbered by 32 bits"
)]
fn number(record: usize) -> u32 {
    record as u32
}

/// A hash of the normalised fields of a record; `None` if it has no word. Two records out of 2^32 have equal hashes by
/// chance with a probability of 2^-65.
fn key(
    files: &RecordFiles<'_>,
    row: usize,
    equivalents: &Equivalents,
    words: &mut Words,
    bytes: &mut Vec<u8>,
) -> Option<u128> {
    bytes.clear();
    let mut has_word = false;
    for field in files.fields(row) {
        words.read(&String::from_utf8_lossy(field), equivalents);
        has_word |= words.iter().len() > 0;
        bytes.extend_from_slice(&(words.value().len() as u64).to_le_bytes());
        bytes.extend_from_slice(words.value().as_bytes());
        // A name and its equivalent are not equal: the textbook tells them apart.
        for number in words.replaced() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    has_word.then(|| xxh3_128(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::table;
    use simgpu::documents::TokenBatch;
    use simgpu::progress::Silent;

    /// The rows of each distinct record.
    fn groups(first: &TokenBatch, second: Option<&TokenBatch>) -> Vec<Vec<u32>> {
        let files = RecordFiles { first, second };
        let names = Equivalents::parse("William, Bill").unwrap();
        let distinct = Distinct::find(&files, &names, &Silent).unwrap();
        for (row, record) in distinct.records.iter().enumerate() {
            let rows = distinct.rows(*record as usize);
            assert!(rows.contains(&u32::try_from(row).unwrap()));
        }
        (0..distinct.len())
            .map(|i| distinct.rows(i).to_vec())
            .collect()
    }

    #[test]
    fn equal_normalised_fields_make_equal_records() {
        let one = table(&[
            ["Kim Lee", "1"],
            ["lee  kim", "1"],
            ["KIM lee ", "1"],
            ["", "-"],
            ["", "-"],
            ["Kim", "Lee 1"],
            ["Kím Lee", "1"],
            ["Bill", ""],
            ["William", ""],
        ]);
        let expected: [&[u32]; 7] = [&[0, 2, 6], &[1], &[3], &[4], &[5], &[7], &[8]];
        assert_eq!(groups(&one, None), expected);
        // Records of two files stay apart.
        let two = table(&[["Kim Lee", "1"], ["Kim Lee", "1"]]);
        let both = groups(&one, Some(&two));
        assert_eq!((both.len(), &both[7][..]), (8, &[9, 10][..]));
    }
}
