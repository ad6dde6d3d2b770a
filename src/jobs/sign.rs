//! files -> a file of signatures.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::corpus::{Corpus, SignatureSink, Source};
use super::report::{
    Counts, Outcome, Parameters, REPORT_VERSION, Report, note_oddities, write_json,
};
use crate::error::{Error, Result};
use crate::io::{
    ColumnWriter, HEADER, IdColumn, MatrixDigest, OutputFile, REPORT_KEY, bytes_of, description_of,
    header, read_slots, signature_column, signature_field,
};
use crate::pipeline::Signatures;
use crate::progress::Timings;
use crate::scheme::Scheme;

/// How signatures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturesFormat {
    /// A table of ids and signatures, with the report of the run in its metadata.
    Parquet,
    /// NumPy's format: the matrix `(documents, num_perm)`, `<u4` or `<u8`, and beside it a `.json` with
    /// the report of the run and the digest of the matrix.
    Npy,
}

impl SignaturesFormat {
    /// The format that the ending of a file name asks for.
    ///
    /// # Errors
    /// [`Error::Output`] for any other ending.
    pub fn of_path(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet" | "pq") => Ok(SignaturesFormat::Parquet),
            Some("npy") => Ok(SignaturesFormat::Npy),
            _ => Err(Error::Output {
                path: path.to_owned(),
                problem: "its name does not say in what format to write".to_owned(),
                remedy: "let it end in .parquet or .npy".to_owned(),
            }),
        }
    }
}

/// Signs all documents and writes their signatures, one row a document, in order.
///
/// # Errors
/// Whatever keeps an input from being read or the output from being written; then there is none.
pub fn sign_files(
    source: &Source<'_>,
    scheme: &Scheme,
    output: &Path,
    overwrite: bool,
) -> Result<Outcome> {
    let format = SignaturesFormat::of_path(output)?;
    let mut timings = Timings::default();
    let (target, file) = OutputFile::create(output, overwrite)?;
    let parameters = Parameters::of(source, scheme, None);
    let width = source.signer.slot_width();
    let counts = match format {
        SignaturesFormat::Npy => {
            let description = description_of(output);
            // Beside nothing it is what an interrupted run left.
            let (beside, mut json) =
                OutputFile::create(&description, overwrite || !output.exists())?;
            let mut matrix = Matrix::new(file, target.partial(), HEADER)?;
            let corpus = Corpus::read(source, &mut matrix, 0, &mut timings.0)?;
            let digest = matrix.digest.finish();
            matrix.finish(|file| {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&header(corpus.documents(), scheme.num_perm(), width))
            })?;
            let counts = Counts::of(&corpus, None);
            let report = SignatureReport {
                matrix_blake3_128: Some(digest),
                ..SignatureReport::new(source, &corpus, counts.clone(), parameters)
            };
            write_json(&mut json, &report).map_err(Error::io("write", &description))?;
            beside.commit()?;
            target.commit()?;
            counts
        }
        SignaturesFormat::Parquet => {
            // Ids are known at the end, when it is certain that every document has one.
            let spool =
                tempfile::tempfile().map_err(Error::io("create a temporary file for", output))?;
            let mut matrix = Matrix::new(spool, target.partial(), 0)?;
            let corpus = Corpus::read(source, &mut matrix, 0, &mut timings.0)?;
            let counts = Counts::of(&corpus, None);
            let mut spool = matrix.finish(|_| Ok(()))?;
            let report = SignatureReport::new(source, &corpus, counts.clone(), parameters);
            timings.time("write", 0, || {
                write_table(&mut spool, file, output, &corpus, scheme, &report)
            })?;
            target.commit()?;
            counts
        }
    };
    note_oddities(source, &counts);
    Ok(Outcome {
        counts,
        recall_at_threshold: None,
        timings,
    })
}

/// What stands beside a `.npy` file, and in the metadata of a table.
#[derive(Serialize)]
struct SignatureReport {
    #[serde(flatten)]
    report: Report,
    /// For each file the row of its first document.
    files: Vec<FirstRow>,
    /// The digest of the matrix that this stands beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix_blake3_128: Option<String>,
}

impl SignatureReport {
    fn new(source: &Source<'_>, corpus: &Corpus, counts: Counts, parameters: Parameters) -> Self {
        let first_row = |(file, first_row): (&str, u32)| FirstRow {
            file: file.to_owned(),
            first_row,
        };
        SignatureReport {
            report: Report::new("sign", source, corpus, counts, parameters),
            files: corpus.files().map(first_row).collect(),
            matrix_blake3_128: None,
        }
    }
}

#[derive(Serialize)]
struct FirstRow {
    file: String,
    first_row: u32,
}

/// A matrix that is written as it comes.
struct Matrix {
    path: PathBuf,
    file: BufWriter<File>,
    digest: MatrixDigest,
}

impl Matrix {
    /// Leaves `header` bytes free at the beginning.
    fn new(mut file: File, path: &Path, header: u64) -> Result<Self> {
        file.seek(SeekFrom::Start(header))
            .map_err(Error::io("write", path))?;
        Ok(Matrix {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 20, file),
            digest: MatrixDigest::default(),
        })
    }

    fn finish(self, last: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<File> {
        let mut file = self
            .file
            .into_inner()
            .map_err(|error| Error::io("write", &self.path)(error.into_error()))?;
        last(&mut file).map_err(Error::io("write", &self.path))?;
        Ok(file)
    }
}

impl SignatureSink for Matrix {
    fn takes_distinct_only(&self) -> bool {
        false
    }

    fn take(&mut self, signatures: &Signatures, _: &[u32]) -> Result<()> {
        let stored = bytes_of(signatures.slots());
        self.digest.update(&stored);
        let written = self.file.write_all(&stored);
        written.map_err(Error::io("write", &self.path))
    }
}

/// Writes ids and the signatures of `spool` as a table.
fn write_table(
    spool: &mut File,
    file: File,
    output: &Path,
    corpus: &Corpus,
    scheme: &Scheme,
    report: &SignatureReport,
) -> Result<()> {
    const BATCH: u32 = 4096;
    let failed = |error: parquet::errors::ParquetError| Error::Output {
        path: output.to_owned(),
        problem: error.to_string(),
        remedy: "make room, or choose another place".to_owned(),
    };
    spool.rewind().map_err(Error::io("read", output))?;
    let documents = u32::try_from(corpus.documents()).unwrap_or(u32::MAX);
    let ids = IdColumn::for_ids((0..documents).map(|row| corpus.id(row)));
    let width = scheme.family().slot_width();
    let mut signatures = Signatures::new(scheme.num_perm(), width);
    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap_or_default()
    }
    let metadata = [
        ("simgpu.signatures".to_owned(), REPORT_VERSION.to_string()),
        (
            "simgpu.parameters".to_owned(),
            json(&report.report.parameters),
        ),
        (REPORT_KEY.to_owned(), json(report)),
    ];
    let columns = vec![ids.field("id"), signature_field(&signatures)];
    let mut table = ColumnWriter::new(file, columns, metadata).map_err(failed)?;
    let mut reader = std::io::BufReader::with_capacity(1 << 20, spool);
    for first in (0..documents).step_by(BATCH as usize) {
        let rows = first..documents.min(first.saturating_add(BATCH));
        signatures.clear();
        read_slots(&mut reader, signatures.push_rows(rows.len()).into_slots())
            .map_err(Error::io("read", output))?;
        let columns = vec![
            ids.array(rows.map(|row| corpus.id(row))),
            signature_column(&signatures),
        ];
        table.write(columns).map_err(failed)?;
    }
    table.finish().map_err(failed)
}
