//! The levels of similarity of the fields of candidate pairs.

use rayon::prelude::*;

use crate::candidates::RecordPair;
use crate::symbols::{FieldValues, Symbols};
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

/// The levels of a field: missing, ten tenths of its similarity, equal.
pub(super) const LEVELS: usize = 12;

/// The level of pairs of which a record lacks the field.
pub(super) const MISSING: usize = 0;

/// The level of equal fields.
const EQUAL: usize = LEVELS - 1;

/// Pairs that a thread takes at a time. Sums are added up by chunks, so that they do not depend on threads.
pub(super) const CHUNK: usize = 1 << 14;

/// Pairs between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 18;

/// The level of a similarity.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a similarity is between 0 and 1"
)]
pub(super) fn level(similarity: Option<f64>) -> u8 {
    match similarity {
        None => MISSING as u8,
        Some(similarity) if similarity >= 1.0 => EQUAL as u8,
        Some(similarity) => 1 + (similarity * 10.0).min(9.0) as u8,
    }
}

/// The least similarity of a level.
pub(super) fn least_of(level: usize) -> Option<f64> {
    match level {
        MISSING => None,
        EQUAL => Some(1.0),
        _ => Some((level - 1) as f64 / 10.0),
    }
}

/// The levels of candidate pairs: one row per pair, with a column per field and one for the whole record.
#[derive(Debug)]
pub(crate) struct SimilarityLevels {
    pub(super) rows: Vec<u8>,
    pub(super) columns: usize,
}

impl SimilarityLevels {
    /// Compares the fields of all pairs.
    pub(crate) fn compare(
        tables: &RecordTables<'_>,
        symbols: &Symbols,
        equivalents: &Equivalents,
        pairs: &[RecordPair],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let fields = tables.field_count();
        let columns = fields + 1;
        let mut rows = vec![0; pairs.len() * columns];
        // One field at a time, since the lists of its values take as much memory as the values.
        for field in 0..fields {
            let values = FieldValues::from_field(tables, field, symbols, equivalents, progress)?;
            progress.begin("score", pairs.len() as u64);
            let mut done = 0;
            let blocks = rows.chunks_mut(BLOCK * columns);
            for (rows, pairs) in blocks.zip(pairs.chunks(BLOCK)) {
                rows.par_chunks_mut(columns)
                    .zip(pairs)
                    .with_min_len(CHUNK)
                    .for_each(|(row, pair)| {
                        let records = pair.rows.map(|row| row as usize);
                        row[field] = level(values.similarity(records, symbols.squares()));
                    });
                done += pairs.len() as u64;
                advance(progress, done, 0, 0)?;
            }
        }
        rows.par_chunks_mut(columns)
            .zip(pairs)
            .with_min_len(CHUNK)
            .for_each(|(row, pair)| row[fields] = level(Some(pair.similarity)));
        Ok(SimilarityLevels { rows, columns })
    }

    /// The sums of the weights of all pairs by column and level.
    pub(super) fn counts(&self, weights: &[f64]) -> Vec<[f64; LEVELS]> {
        let columns = self.columns;
        let zero = || vec![[0.0; LEVELS]; columns];
        let parts: Vec<Vec<[f64; LEVELS]>> = self
            .rows
            .par_chunks(CHUNK * columns)
            .zip(weights.par_chunks(CHUNK))
            .map(|(rows, weights)| {
                let mut sums = zero();
                let rows = rows.chunks_exact(columns).zip(weights);
                // Most pairs are hardly likely.
                for (row, weight) in rows.filter(|(_, weight)| **weight > 0.0) {
                    for (sums, level) in sums.iter_mut().zip(row) {
                        sums[usize::from(*level)] += weight;
                    }
                }
                sums
            })
            .collect();
        let mut sums = zero();
        parts.iter().for_each(|part| add(&mut sums, part));
        sums
    }
}

fn add(sums: &mut [[f64; LEVELS]], counts: &[[f64; LEVELS]]) {
    for (sums, counts) in sums.iter_mut().zip(counts) {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}
