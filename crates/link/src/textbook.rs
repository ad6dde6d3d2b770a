//! The score of the textbook (MMDS 3.8.2): 100 points per field, less the square of the edit distance.
//!
//! The score keeps the candidates of the other scores. Its own rule, pairs with an equal field, loses 2 to 7 % of the
//! pairs of people with typos, and compares all pairs of records with an equal year.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::candidates::RecordPair;
use crate::tables::RecordTables;
use crate::words::{Equivalents, Words};
use simgpu::error::Result;
use simgpu::pipeline::edit_distance;
use simgpu::progress::{Progress, advance};

/// Records or pairs between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 15;

/// The points of two equal fields.
pub(crate) const MOST: f64 = 100.0;

/// The most points of two fields that differ: letters know no signs or separators, such as those of `C++` and `C#`.
const MOST_UNEQUAL: f64 = 99.0;

/// The normalised letters of all fields of all records.
#[derive(Debug)]
pub(crate) struct FieldTexts {
    letters: Vec<u32>,
    /// Where each field of each record ends.
    ends: Vec<usize>,
    /// A hash of each field of each record with its signs and separators.
    values: Vec<u64>,
    fields: usize,
}

impl FieldTexts {
    /// Reads the fields of all records.
    pub(crate) fn from_records(
        tables: &RecordTables<'_>,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("weigh", tables.rows() as u64);
        let mut texts = FieldTexts {
            letters: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
            fields: tables.field_count(),
        };
        let mut words = Words::default();
        for row in 0..tables.rows() {
            for field in tables.fields(row) {
                words.read(&String::from_utf8_lossy(field), equivalents);
                texts.letters.extend(words.letters());
                texts.ends.push(texts.letters.len());
                texts.values.push(xxh3_64(words.value().as_bytes()));
            }
            if row % BLOCK == BLOCK - 1 {
                advance(progress, row as u64 + 1, row as u64 + 1, 0)?;
            }
        }
        Ok(texts)
    }

    fn field(&self, row: usize, field: usize) -> &[u32] {
        let place = row * self.fields + field;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.letters[start..self.ends[place]]
    }

    /// The points of a pair of records, one number per field. A field that a record lacks has none.
    pub(crate) fn points(&self, [a, b]: [usize; 2]) -> impl Iterator<Item = f64> {
        (0..self.fields).map(move |field| {
            let points = points(self.field(a, field), self.field(b, field));
            let value = |row: usize| self.values[row * self.fields + field];
            if value(a) == value(b) {
                points
            } else {
                points.min(MOST_UNEQUAL)
            }
        })
    }

    /// The points of every pair.
    pub(crate) fn score_pairs(
        &self,
        pairs: &[RecordPair],
        progress: &dyn Progress,
    ) -> Result<Vec<f64>> {
        progress.begin("score", pairs.len() as u64);
        let points =
            |pair: &RecordPair| self.points(pair.rows.map(|row| row as usize)).sum::<f64>();
        let mut scores: Vec<f64> = Vec::with_capacity(pairs.len());
        for block in pairs.chunks(BLOCK) {
            scores.par_extend(block.par_iter().map(points));
            advance(progress, scores.len() as u64, 0, 0)?;
        }
        Ok(scores)
    }
}

/// 100 less the square of the number of letters to insert and to delete, but at least 0.
fn points(a: &[u32], b: &[u32]) -> f64 {
    // A difference of ten in length alone leaves no points.
    if a.is_empty() || b.is_empty() || a.len().abs_diff(b.len()) >= 10 {
        return 0.0;
    }
    let distance = if a == b { 0 } else { edit_distance(a, b) };
    (MOST - (distance * distance) as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::Distinct;
    use crate::records::RecordFiles;
    use crate::tests::table;
    use simgpu::progress::Silent;
    use simgpu::scheme::fmix64;

    fn points_of(records: &[&[&str]], equivalents: &str) -> Vec<f64> {
        let first = table(records);
        let files = RecordFiles {
            first: &first,
            second: None,
        };
        let distinct = &Distinct::all(&files);
        let tables = RecordTables { files, distinct };
        let equivalents = Equivalents::parse(equivalents).unwrap();
        let texts = FieldTexts::from_records(&tables, &equivalents, &Silent);
        texts.unwrap().points([0, 1]).collect()
    }

    #[test]
    fn equivalents_are_one_letter_apart() {
        let people: [&[&str]; 2] = [&["Bill Clark", "9 Elm"], &["William Clark", "9 ELM"]];
        // "bill" and "william" differ by 5 letters.
        assert_eq!(points_of(&people, ""), [75.0, 100.0]);
        assert_eq!(points_of(&people, "William, Bill, Will"), [99.0, 100.0]);
        let people: [&[&str]; 2] = [&["Bill"], &["Will"]];
        assert_eq!(points_of(&people, "William, Bill, Will"), [96.0]);
        let misspelt: [&[&str]; 2] = [&["Bill"], &["Willam"]];
        assert_eq!(points_of(&misspelt, "William, Bill, Will"), [96.0]);
    }

    #[test]
    fn records_of_the_textbook_have_known_points() {
        let people: [&[&str]; 2] = [
            &["Bob S. Jomes", "123 Oak St", "650-555-1234"],
            &["Robert Jones Jr.", "123 Oak Street", ""],
        ];
        // b s jomes / robert jones jr, by a table of all prefixes: 12; 4 letters of "street"; no second number.
        assert_eq!(points_of(&people, ""), [0.0, 84.0, 0.0]);
    }

    #[test]
    fn signs_and_separators_cost_a_point() {
        for (a, b, points) in [
            ("C++", "C#", 99.0),
            ("-5.25", "5.25", 99.0),
            ("12/5", "12.5", 99.0),
            ("Ann  Lee", "ann lee", 100.0),
            ("a-b", "a-c", 96.0),
        ] {
            assert_eq!(points_of(&[&[a], &[b]], ""), [points], "{a} {b}");
        }
    }

    /// Insertions and deletions by the table of all prefixes.
    fn slow_distance(a: &[u32], b: &[u32]) -> usize {
        let mut last: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut next = vec![i + 1];
            for (j, y) in b.iter().enumerate() {
                let kept = if x == y { last[j] } else { usize::MAX };
                next.push(kept.min(last[j + 1] + 1).min(next[j] + 1));
            }
            last = next;
        }
        last[b.len()]
    }

    #[test]
    fn points_agree_with_a_slow_distance() {
        let text = |seed: u64| -> Vec<u32> {
            let length = fmix64(seed) % 14;
            (0..length)
                .map(|i| u32::try_from(fmix64(seed << 8 | i) % 3).unwrap())
                .collect()
        };
        for seed in 0..2000 {
            let (a, b) = (text(2 * seed), text(2 * seed + 1));
            let distance = slow_distance(&a, &b);
            let expected = if a.is_empty() || b.is_empty() {
                0.0
            } else {
                (100.0 - (distance * distance) as f64).max(0.0)
            };
            assert_eq!(points(&a, &b), expected, "{a:?} {b:?}");
        }
    }
}
