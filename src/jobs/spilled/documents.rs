//! What is known of each document while all are read, on disk.

use std::sync::Arc;

use crate::documents::DigestSet;
use crate::error::Result;
use crate::pipeline::{BandKeys, PackedSignatures};
use crate::store::spill::{Partitions, Sorted, Spill, StreamFile, Streams};

/// Parts of the digests, and of the keys of each band.
const PARTS: usize = 16;

/// Takes the digests and lengths of documents, by row.
#[derive(Debug)]
pub(crate) struct DocumentWriter {
    spill: Arc<Spill>,
    /// The digest of each document with shingles, and its row.
    digests: Partitions<5>,
    /// The bytes of text of each document.
    lengths: Streams,
    /// Digests of some earlier documents: these need no signature again.
    recent: DigestSet,
    most_recent: usize,
}

/// The documents of a run on disk.
#[derive(Debug)]
pub(crate) struct SpilledDocuments {
    pub(crate) spill: Arc<Spill>,
    pub(super) digests: Sorted<5>,
    pub(super) lengths: StreamFile,
}

impl SpilledDocuments {
    /// The parts of digests, and of the keys of each band.
    pub(crate) const PARTS: usize = PARTS;
}

impl DocumentWriter {
    /// Writes beside `files` other files.
    pub(crate) fn new(spill: &Arc<Spill>, files: usize) -> Self {
        let files = files + PARTS + 1;
        DocumentWriter {
            digests: Partitions::new(spill, "digests", PARTS, 1 << 32, files),
            lengths: Streams::new(spill, "lengths", 1, files),
            recent: DigestSet::default(),
            most_recent: spill.memory() / 8 / (2 * size_of::<u128>()),
            spill: Arc::clone(spill),
        }
    }

    /// Whether a document is known to repeat an earlier one.
    pub(crate) fn is_recent(&self, digest: u128) -> bool {
        self.recent.contains(&digest)
    }

    /// Adds the next document. Returns whether it needs a signature: unless it has no shingles, or is known to repeat
    /// an earlier document.
    pub(crate) fn add(&mut self, row: u32, length: u32, digest: Option<u128>) -> Result<bool> {
        self.lengths.push(0, &length.to_ne_bytes())?;
        let Some(digest) = digest else {
            return Ok(false);
        };
        let [a, b, c, d] = bytemuck::cast(digest);
        self.digests.push(&[a, b, c, d, row])?;
        if self.recent.len() >= self.most_recent {
            self.recent.clear();
        }
        Ok(self.recent.insert(digest))
    }

    /// Writes everything added so far, for a checkpoint.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.digests.flush()?;
        self.lengths.flush()
    }

    /// The folder.
    pub(crate) fn spill(&self) -> &Arc<Spill> {
        &self.spill
    }

    pub(crate) fn finish(self) -> Result<SpilledDocuments> {
        Ok(SpilledDocuments {
            digests: self.digests.finish()?,
            lengths: self.lengths.finish_one()?,
            spill: self.spill,
        })
    }
}

/// Takes the band keys of documents, and their packed signatures if they are wanted.
#[derive(Debug)]
pub(crate) struct KeyWriter {
    /// Each band's keys, in two words, and rows.
    bands: Vec<Partitions<3>>,
    /// Rows with signatures.
    signatures: Option<Streams>,
}

/// The band keys and signatures of documents on disk. A document that repeats an earlier one may have them or not.
#[derive(Debug)]
pub(crate) struct SpilledKeys {
    pub(super) bands: Vec<Sorted<3>>,
    pub(super) signatures: Option<StreamFile>,
}

impl KeyWriter {
    pub(crate) fn new(spill: &Arc<Spill>, bands: usize, has_signatures: bool) -> Self {
        let files = KeyWriter::files(bands) + 2 * PARTS;
        let band = |band| Partitions::new(spill, &format!("band-{band}"), PARTS, 1 << 32, files);
        KeyWriter {
            bands: (0..bands).map(band).collect(),
            signatures: has_signatures.then(|| Streams::new(spill, "signatures", 1, files)),
        }
    }

    /// The number of files written at the same time.
    pub(crate) fn files(bands: usize) -> usize {
        PARTS * bands + 1
    }

    /// Adds the keys of documents, `[documents, bands]`.
    #[allow(clippy::cast_possible_truncation, reason = "both halves of a key")]
    pub(crate) fn add_keys(&mut self, rows: &[u32], keys: &[u64]) -> Result<()> {
        for (row, keys) in rows.iter().zip(keys.chunks(self.bands.len())) {
            for (band, key) in self.bands.iter_mut().zip(keys) {
                band.push(&[(key >> 32) as u32, *key as u32, *row])?;
            }
        }
        Ok(())
    }

    /// Adds the keys of documents by columns.
    #[allow(clippy::cast_possible_truncation, reason = "both halves of a key")]
    pub(crate) fn add_columns(&mut self, rows: &[u32], keys: &BandKeys) -> Result<()> {
        for (number, band) in self.bands.iter_mut().enumerate() {
            for (row, key) in rows.iter().zip(keys.column(number)) {
                band.push(&[(key >> 32) as u32, *key as u32, *row])?;
            }
        }
        Ok(())
    }

    /// Adds the packed signatures of documents.
    pub(crate) fn add_signatures(&mut self, rows: &[u32], packed: &PackedSignatures) -> Result<()> {
        let Some(signatures) = &mut self.signatures else {
            return Ok(());
        };
        for (i, row) in rows.iter().enumerate() {
            signatures.push_with(0, |record| {
                record.extend_from_slice(&row.to_ne_bytes());
                record.extend_from_slice(bytemuck::cast_slice(packed.row(i)));
            })?;
        }
        Ok(())
    }

    /// Writes everything added so far, for a checkpoint.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.bands.iter_mut().try_for_each(Partitions::flush)?;
        self.signatures.as_mut().map_or(Ok(()), Streams::flush)
    }

    pub(crate) fn finish(self) -> Result<SpilledKeys> {
        Ok(SpilledKeys {
            bands: self
                .bands
                .into_iter()
                .map(Partitions::finish)
                .collect::<Result<_>>()?,
            signatures: self.signatures.map(Streams::finish_one).transpose()?,
        })
    }
}
