//! A corpus from a file of signatures, in the place of its documents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;

use super::{Corpus, Ids, SignatureSink, Skipped, SourceFile};
use crate::documents::digest;
use crate::error::{BadRecord, Error, Result};
use crate::io::{SignatureReader, check_spared, damaged, description_of, misdescribed};
use crate::jobs::report::REPORT_VERSION;
use crate::pipeline::{Signatures, Slots};
use crate::progress::Progress;
use crate::scheme::Scheme;

/// A file of signatures that [`sign_files`](crate::jobs::sign_files) wrote: whose they are, and by
/// what scheme.
pub struct SignatureFile {
    path: PathBuf,
    reader: SignatureReader,
    scheme: Scheme,
    report: Report,
}

impl std::fmt::Debug for SignatureFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignatureFile")
            .field("path", &self.path)
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// What is needed of the report in the file, or beside it.
#[derive(Deserialize)]
struct Report {
    simgpu_report: u32,
    parameters: Parameters,
    counts: Counts,
    files: Vec<File>,
    skipped: Vec<SkippedRecord>,
    /// The digest of a matrix, which older descriptions do not state.
    matrix_blake3_128: Option<String>,
}

#[derive(Deserialize)]
struct Parameters {
    scheme: String,
    hash: String,
    seed: u32,
    num_perm: u32,
    unit: String,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct Counts {
    documents: u64,
    repeated_ids: u64,
}

#[derive(Deserialize)]
struct File {
    file: String,
    first_row: u32,
}

#[derive(Deserialize)]
struct SkippedRecord {
    file: String,
    row: u64,
}

impl SignatureFile {
    /// Opens a file, `.parquet` or `.npy` with its `.npy.json`, and checks that what it says of itself
    /// fits what it holds.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is damaged, says nothing of its scheme, or something else than
    /// it holds; [`Error::Io`] when it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = SignatureReader::open(path)?;
        let opened = Report::parse(&reader).and_then(|report| {
            let scheme = report.check(&reader)?;
            Ok((report, scheme))
        });
        let (report, scheme) =
            opened.map_err(|problem| misdescribed(path, reader.is_matrix(), &problem))?;
        Ok(SignatureFile {
            path: path.to_owned(),
            reader,
            scheme,
            report,
        })
    }

    /// The scheme that signed.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Number of signatures.
    pub fn documents(&self) -> u64 {
        self.reader.rows
    }

    /// What was signed: `5 words (words-v1)`.
    pub fn shingles(&self) -> String {
        let Parameters {
            hash, unit, size, ..
        } = &self.report.parameters;
        match size {
            Some(size) => format!("{size} {unit} ({hash})"),
            None => format!("{unit} ({hash})"),
        }
    }

    /// Whether it holds the documents' ids.
    pub fn has_ids(&self) -> bool {
        !self.reader.is_matrix()
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes
    }

    /// Refuses outputs that would take the place of the file, or of what stands beside it.
    ///
    /// # Errors
    /// [`Error::Output`] if so.
    pub fn check_spared_by(&self, outputs: &[PathBuf]) -> Result<()> {
        check_spared(&[&self.path, &description_of(&self.path)], outputs)
    }
}

impl Report {
    fn parse(reader: &SignatureReader) -> std::result::Result<Self, String> {
        serde_json::from_str(&reader.description)
            .map_err(|error| format!("it does not say how the documents were signed ({error})"))
    }

    /// The scheme, if the report fits the file.
    fn check(&self, reader: &SignatureReader) -> std::result::Result<Scheme, String> {
        if self.simgpu_report != REPORT_VERSION {
            return Err(format!(
                "its layout is {}, and this version reads {REPORT_VERSION}",
                self.simgpu_report
            ));
        }
        let stated = &self.parameters;
        let scheme = Scheme::named(&stated.scheme)
            .and_then(|scheme| scheme.with_num_perm(stated.num_perm))
            .map_err(|error| error.to_string())?
            .with_seed(stated.seed);
        if scheme.num_perm() != reader.columns {
            return Err(format!(
                "it states {} permutations, but the signatures have {} slots",
                stated.num_perm, reader.columns
            ));
        }
        let width = scheme.family().slot_width();
        if width != reader.width {
            return Err(format!(
                "{scheme} has slots of {} bits, but the signatures of {}",
                8 * width.bytes(),
                8 * reader.width.bytes()
            ));
        }
        let skipped = self.skipped.len() as u64;
        if self.counts.documents.checked_sub(skipped) != Some(reader.rows) {
            return Err(format!(
                "it states {} documents, {skipped} of them skipped, but there are {} signatures",
                self.counts.documents, reader.rows
            ));
        }
        let starts = || self.files.iter().map(|file| u64::from(file.first_row));
        let begins = starts().next().is_none_or(|first| first == 0);
        if !begins || !starts().is_sorted() || starts().any(|first| first > reader.rows) {
            return Err("its files do not begin at ascending rows".to_owned());
        }
        if self.files.is_empty() && reader.rows > 0 {
            return Err("it names no file that was signed".to_owned());
        }
        Ok(scheme)
    }

    /// The files, and the bad records in them, from which the places of documents follow.
    fn into_corpus(self, rows: u32) -> std::result::Result<Corpus, String> {
        let ends = self.files.iter().skip(1).map(|file| file.first_row);
        let ends: Vec<u32> = ends.chain([rows]).collect();
        let files = self
            .files
            .into_iter()
            .zip(ends)
            .map(|(file, end)| SourceFile {
                relative: file.file,
                first_row: file.first_row,
                records: u64::from(end - file.first_row),
                fingerprint: None,
            });
        let mut corpus = Corpus {
            files: files.collect(),
            rows,
            repeated_ids: self.counts.repeated_ids,
            ..Corpus::default()
        };
        let (mut file, mut least) = (0, 0);
        for SkippedRecord { file: name, row } in self.skipped {
            while corpus.files.get(file).is_some_and(|at| at.relative != name) {
                (file, least) = (file + 1, 0);
            }
            let source = corpus.files.get_mut(file).filter(|_| row >= least);
            let Some(source) = source else {
                return Err(format!(
                    "its bad records are out of order at {name}, row {row}"
                ));
            };
            source.records += 1;
            least = row.saturating_add(1);
            corpus.skipped.push(Skipped {
                file,
                record: BadRecord {
                    file: PathBuf::from(name),
                    row,
                    line: None,
                    problem: String::new(),
                },
            });
        }
        Ok(corpus)
    }
}

impl Corpus {
    /// Reads signatures and gives those that are distinct, and not empty, to `sink`: what the first pass
    /// does with documents, told apart by their signatures in the place of their units.
    pub(crate) fn of_signatures(
        signatures: SignatureFile,
        sink: &mut dyn SignatureSink,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let SignatureFile {
            path,
            mut reader,
            scheme,
            mut report,
        } = signatures;
        let is_matrix = reader.is_matrix();
        let rows = u32::try_from(reader.rows)
            .ok()
            .filter(|rows| *rows < u32::MAX);
        let rows = rows.ok_or(Error::TooManyDocuments)?;
        let stated_digest = report.matrix_blake3_128.take();
        let corpus = report.into_corpus(rows);
        let mut corpus = corpus.map_err(|problem| misdescribed(&path, is_matrix, &problem))?;
        corpus.bytes = reader.bytes;
        let mut all_ids = (!is_matrix).then(Ids::default);
        let empty = scheme.empty_slot();
        let mut batch = Signatures::new(scheme.num_perm(), reader.width);
        let mut ids = Vec::new();
        let mut positions: HashMap<u128, u32> = HashMap::new();
        let mut next_row = 0u32;
        progress.begin("read", reader.rows);
        loop {
            reader.next(&mut batch, &mut ids)?;
            if batch.is_empty() {
                break;
            }
            let digests: Vec<Option<u128>> = (0..batch.len())
                .into_par_iter()
                .with_min_len(64)
                .map(|i| digest_of(batch.row(i), empty))
                .collect();
            let mut distinct = Signatures::new(scheme.num_perm(), reader.width);
            let first_distinct = corpus.distinct.len();
            for (i, digest) in digests.into_iter().enumerate() {
                let row = next_row;
                if row >= rows {
                    return Err(damaged(&path, "it holds more rows than it states"));
                }
                next_row += 1;
                let Some(digest) = digest else {
                    corpus.without_shingles.push(row);
                    continue;
                };
                let position = u32::try_from(corpus.distinct.len()).unwrap_or(u32::MAX);
                match positions.entry(digest) {
                    Entry::Vacant(entry) => {
                        entry.insert(position);
                        corpus.distinct.push(row);
                        distinct.push_row(batch.row(i))?;
                    }
                    Entry::Occupied(entry) => corpus.repeats.push((row, *entry.get())),
                }
            }
            if let Some(all) = &mut all_ids {
                for id in &ids {
                    all.json.push_str(id);
                    all.ends.push(all.json.len() as u64);
                }
            }
            sink.take(&distinct, &corpus.distinct[first_distinct..])?;
            progress.advance(u64::from(next_row), u64::from(next_row), 0);
        }
        if next_row != rows {
            let problem = format!("it states {rows} signatures and holds {next_row}");
            return Err(damaged(&path, &problem));
        }
        if stated_digest.is_some() && stated_digest != reader.digest() {
            let problem = "the signatures are not those that it was written with";
            return Err(misdescribed(&path, is_matrix, problem));
        }
        if all_ids.is_none() {
            corpus.repeated_ids = 0;
            progress.tell("the matrix holds no ids; documents are named by file and row");
        }
        corpus.ids = all_ids;
        Ok(corpus)
    }
}

/// The digest of the slots; none of the signature of the empty set.
fn digest_of(signature: Slots<'_>, empty: u64) -> Option<u128> {
    let (is_empty, bytes): (bool, &[u8]) = match signature {
        Slots::U32(slots) => (
            slots.iter().all(|slot| u64::from(*slot) == empty),
            bytemuck::cast_slice(slots),
        ),
        Slots::U64(slots) => (
            slots.iter().all(|slot| *slot == empty),
            bytemuck::cast_slice(slots),
        ),
    };
    (!is_empty).then(|| digest(bytes))
}
