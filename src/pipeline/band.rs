//! Collects the band keys of all documents of a run.

use super::banding::{Banding, band_key, slots_of_band};
use super::sign::Signatures;
use crate::threads::for_each_chunk;

/// The band keys of documents: one column of keys per band, 8 bytes per band and document.
///
/// Entry i of each column belongs to the document at position i. [`Buckets`](super::Buckets) are made of them.
#[derive(Clone, Debug)]
pub struct BandKeys {
    banding: Banding,
    columns: Vec<Vec<u64>>,
}

/// Band keys of some documents, as a signer computes them.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct KeyRows {
    bands: usize,
    /// `[documents, bands]`.
    keys: Vec<u64>,
    /// Which documents count; empty if all do. Keys stay where they are. To move those of all documents after the first that
    /// does not count took 6 % of the serial time of a run on disk.
    kept: Vec<bool>,
}

impl KeyRows {
    /// `keys` are `[documents, bands]`.
    pub(crate) fn new(bands: usize, keys: Vec<u64>) -> Self {
        debug_assert!(keys.len().is_multiple_of(bands));
        KeyRows {
            bands,
            keys,
            kept: Vec::new(),
        }
    }

    /// Keeps the documents that are marked. Called once.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
        debug_assert!(self.kept.is_empty());
        debug_assert_eq!(kept.len() * self.bands, self.keys.len());
        if kept.contains(&false) {
            kept.clone_into(&mut self.kept);
        }
    }

    /// The keys of a band.
    pub(crate) fn column(&self, band: usize) -> impl Iterator<Item = &u64> {
        let mut kept = self.kept.iter();
        self.all_of(band)
            .filter(move |_| kept.next().is_none_or(|is_kept| *is_kept))
    }

    /// The keys of a band, those that do not count included.
    fn all_of(&self, band: usize) -> impl ExactSizeIterator<Item = &u64> {
        self.keys.iter().skip(band).step_by(self.bands)
    }
}

/// Keys that are worth a job, some 10 µs.
const JOB: usize = 1 << 11;

impl BandKeys {
    /// Empty columns for the bands of `banding`.
    pub fn new(banding: Banding) -> Self {
        BandKeys {
            banding,
            columns: vec![Vec::new(); banding.bands()],
        }
    }

    /// Computes and appends the keys of signatures, in order of rows.
    ///
    /// # Panics
    /// If the bands need more slots than the signatures have.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most num_perm bands, and num_perm is a u32"
    )]
    pub fn push(&mut self, signatures: &Signatures) {
        let banding = self.banding;
        for_each_chunk(&mut self.columns, 1, |band, columns| {
            let slots = |i| slots_of_band(signatures.row(i), banding, band);
            let keys = (0..signatures.len()).map(|i| band_key(band as u32, slots(i)));
            columns[0].extend(keys);
        });
    }

    /// Appends the keys of documents.
    pub(crate) fn push_rows(&mut self, rows: &KeyRows) {
        // Without documents, the number of bands may be unknown.
        if rows.keys.is_empty() {
            return;
        }
        debug_assert_eq!(rows.bands, self.columns.len());
        let extend = |band: usize, column: &mut Vec<u64>| {
            if rows.kept.is_empty() {
                column.extend(rows.all_of(band))
            } else {
                column.extend(rows.column(band))
            }
        };
        let keys = rows.keys.len();
        if keys <= 2 * JOB {
            let columns = self.columns.iter_mut().enumerate();
            columns.for_each(|(band, column)| extend(band, column));
            return;
        }
        let job_bands = (rows.bands * JOB / keys).max(1);
        for_each_chunk(&mut self.columns, job_bands, |first, columns| {
            for (column, band) in columns.iter_mut().zip(first..) {
                extend(band, column);
            }
        });
    }

    /// Bands and rows.
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory used.
    pub(crate) fn capacity_bytes(&self) -> usize {
        let keys = self.columns.iter().map(Vec::capacity).sum::<usize>();
        size_of::<u64>() * keys
    }

    /// The columns, one per band.
    pub(super) fn into_columns(self) -> Vec<Vec<u64>> {
        self.columns
    }

    /// The keys of one band, by position.
    ///
    /// # Panics
    /// If `band` is not below the number of bands.
    pub fn column(&self, band: usize) -> &[u64] {
        &self.columns[band]
    }
}
