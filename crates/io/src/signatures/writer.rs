//! Writes signature files.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::digest::{DIGEST_KEY, REPORT_KEY, digest_from, json_of_ids, update_with_id};
use crate::digest::{Digest, sealed};
use crate::npy::{self, bytes_of};
use crate::places::Places;
use crate::report::{REPORT_VERSION, SignatureDescription};
use crate::table::{ColumnWriter, signature_column, signature_field};
use simgpu::error::{Error, Result, row_number};
use simgpu::pipeline::Signatures;
use simgpu::scheme::{Scheme, Slots};

/// Writes slots to a file, row by row.
#[doc(hidden)]
#[derive(Debug)]
pub struct SlotWriter {
    pub(super) path: PathBuf,
    pub(super) file: BufWriter<File>,
    pub(super) digest: Digest,
}

impl SlotWriter {
    /// Leaves `header` bytes free at the start of the file. Messages call the file `path`.
    #[doc(hidden)]
    pub fn new(mut file: File, path: &Path, header: u64) -> Result<Self> {
        file.seek(SeekFrom::Start(header))
            .map_err(Error::io("write", path))?;
        Ok(SlotWriter {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 20, file),
            digest: Digest::default(),
        })
    }

    /// Appends signatures.
    #[doc(hidden)]
    pub fn write(&mut self, slots: Slots<'_>) -> Result<()> {
        let stored = bytes_of(slots);
        self.digest.update(&stored);
        let written = self.file.write_all(&stored);
        written.map_err(Error::io("write", &self.path))
    }

    /// The digest of the slots written so far.
    #[doc(hidden)]
    pub fn digest(&self) -> String {
        self.digest.finish()
    }

    /// Flushes the file, calls `last` with it, and returns it.
    #[doc(hidden)]
    pub fn finish(self, last: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<File> {
        let mut file = self
            .file
            .into_inner()
            .map_err(|error| Error::io("write", &self.path)(error.into_error()))?;
        last(&mut file).map_err(Error::io("write", &self.path))?;
        Ok(file)
    }
}

/// The Parquet file of the signatures of documents.
#[derive(Debug)]
#[doc(hidden)]
pub struct SignatureTable<'a> {
    #[doc(hidden)]
    pub path: &'a Path,
    #[doc(hidden)]
    pub places: &'a Places,
    #[doc(hidden)]
    pub scheme: &'a Scheme,
    #[doc(hidden)]
    pub description: &'a SignatureDescription,
}

impl SignatureTable<'_> {
    /// Writes ids, and the signatures in `spool`, to `file`.
    #[doc(hidden)]
    pub fn write(&self, spool: &mut File, file: File) -> Result<()> {
        const BATCH: u32 = 4096;
        let failed = |error: parquet::errors::ParquetError| Error::Output {
            path: self.path.to_owned(),
            problem: error.to_string(),
            remedy: "free some space, or choose another path".to_owned(),
        };
        spool.rewind().map_err(Error::io("read", self.path))?;
        let counts = &self.description.counts;
        let documents = row_number(counts.documents - counts.skipped)?;
        let ids = self.places.id_column();
        let mut id_of = self.places.ids_by_row()?;
        let slots = self.scheme.num_perm_u16();
        let mut signatures = Signatures::new(slots.into(), self.scheme.family().slot_width());
        let report = json_or_empty(self.description);
        let mut digest = digest_from(&report);
        let parameters = json_or_empty(&self.description.parameters);
        let metadata = [
            ("simgpu.signatures".to_owned(), REPORT_VERSION.to_string()),
            ("simgpu.parameters".to_owned(), parameters),
            (REPORT_KEY.to_owned(), report),
        ];
        let columns = vec![ids.field("id"), signature_field(&signatures, slots)];
        let mut table = ColumnWriter::new(file, columns, metadata).map_err(failed)?;
        let mut reader = std::io::BufReader::with_capacity(1 << 20, spool);
        for first in (0..documents).step_by(BATCH as usize) {
            let rows = first..documents.min(first.saturating_add(BATCH));
            signatures.clear();
            npy::read_slots(&mut reader, signatures.push_rows(rows.len()).into_slots())
                .map_err(Error::io("read", self.path))?;
            let row_ids: Vec<_> = rows.map(&mut id_of).collect::<Result<_>>()?;
            let ids = ids.array(row_ids.iter());
            json_of_ids(&ids).for_each(|id| update_with_id(&mut digest, &id));
            let columns = vec![ids, signature_column(&signatures, slots)];
            table.write(columns).map_err(failed)?;
        }
        // The digest is known only now, so it goes into the footer.
        table.state(DIGEST_KEY, digest.finish());
        table.finish().map_err(failed)
    }
}

/// A value as JSON; empty if it has no JSON, which the types written here always have.
fn json_or_empty(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Writes the description of a matrix, with its digest.
#[doc(hidden)]
pub fn write_description(
    target: &mut impl Write,
    description: &SignatureDescription,
) -> std::io::Result<()> {
    target.write_all(sealed(description)?.as_bytes())
}
