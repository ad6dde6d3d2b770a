//! Reads and writes files of signatures: Parquet, or a NumPy matrix with a JSON description beside it.
//!
//! A file comes with a description of its run, so that the file and row of each document can be derived from it, even
//! if there are bad records. It states the digest of the signatures, and the file one of the description, so that damage shows, and
//! a description that belongs to another matrix.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::digest::{Digest, Seal, sealed};
use super::json::json_string;
use super::npy::{self, Matrix, bytes_of};
use super::places::Places;
use super::report::{REPORT_VERSION, SignatureDescription};
use super::sized_file::SizedFile;
use super::table::{self, ColumnWriter, signature_column, signature_field};
use simgpu::error::{Error, Result, row_number};
use simgpu::pipeline::Signatures;
use simgpu::scheme::{Scheme, Width};
use simgpu::scheme::{Slots, SlotsMut};
use simgpu::store::disk::is_folder;

/// The format of a file of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturesFormat {
    /// Parquet: ids and signatures, with the report of the run in the metadata.
    Parquet,
    /// NumPy: the matrix `(documents, num_perm)` of type `<u4` or `<u8`. A `.json` file beside it holds the
    /// report of the run and the digest of the matrix.
    Npy,
}

impl SignaturesFormat {
    /// The format for the extension of a file name.
    ///
    /// # Errors
    /// [`Error::Output`] for an unknown extension.
    pub fn of_path(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet" | "pq") => Ok(SignaturesFormat::Parquet),
            Some("npy") => Ok(SignaturesFormat::Npy),
            _ => Err(Error::Output {
                path: path.to_owned(),
                problem: "unknown file extension".to_owned(),
                remedy: "choose a name that ends in .parquet or .npy".to_owned(),
            }),
        }
    }
}

/// The metadata key of the description in a Parquet file.
pub(crate) const REPORT_KEY: &str = "simgpu.report";

/// The metadata key of the digest of the description and the ids in a Parquet file.
const DIGEST_KEY: &str = "simgpu.digest";

/// The most bytes of a description, which is read into memory. A list of many million bad records fits.
const MAX_DESCRIPTION: u64 = 1 << 30;

/// Target size of a batch of signatures, in bytes.
const BATCH: usize = 1 << 20;

/// The path of the description of a matrix.
#[doc(hidden)]
pub fn description_of(matrix: &Path) -> PathBuf {
    let mut name = matrix.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

/// An open file of signatures.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct SignatureReader {
    path: PathBuf,
    /// The description of the file, as JSON.
    #[doc(hidden)]
    pub description: String,
    /// The number of signatures.
    #[doc(hidden)]
    pub rows: u64,
    /// Slots per signature.
    #[doc(hidden)]
    pub columns: usize,
    #[doc(hidden)]
    pub width: Width,
    /// The size of the file in bytes.
    #[doc(hidden)]
    pub bytes: u64,
    /// The digest of the rows read so far.
    digest: Digest,
    source: Source,
}

enum Source {
    Matrix {
        file: BufReader<File>,
        /// Rows not read yet.
        remaining: u64,
        /// What the digest of the description says.
        seal: Seal,
    },
    Table {
        reader: Box<ParquetRecordBatchReader>,
        /// The digest of the description and of the ids read so far.
        digest: Digest,
        /// The one that the file states.
        stated: Option<String>,
    },
}

impl SignatureReader {
    /// Opens the file and reads its header and description.
    #[doc(hidden)]
    pub fn open(path: &Path) -> Result<Self> {
        if is_folder(path)? {
            return Err(input_error(
                path,
                "it is a folder",
                "choose a file of signatures",
            ));
        }
        let format = SignaturesFormat::of_path(path).map_err(|_| {
            input_error(
                path,
                "unknown file extension",
                "choose a file that sign wrote, .parquet or .npy",
            )
        })?;
        let file = File::open(path).map_err(Error::io("open", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        match format {
            SignaturesFormat::Npy => open_matrix(path, file, bytes),
            // The Parquet reader panics on some damaged files.
            SignaturesFormat::Parquet => {
                let opened = catch_unwind(AssertUnwindSafe(|| open_table(path, file, bytes)));
                opened.unwrap_or_else(|_| Err(damaged(path, "the file is damaged")))
            }
        }
    }

    /// Whether the file is a matrix. A matrix has no ids, and its description is a separate file.
    #[doc(hidden)]
    pub fn is_matrix(&self) -> bool {
        matches!(self.source, Source::Matrix { .. })
    }

    /// Whether the signatures, which were all read, their ids and the description are as they were written. `stated` is the digest of
    /// the signatures that the description states.
    #[doc(hidden)]
    pub fn seal(&self, stated: Option<&str>) -> Seal {
        let rest = match &self.source {
            Source::Matrix { seal, .. } => *seal,
            Source::Table { digest, stated, .. } => match stated {
                Some(stated) if *stated == digest.finish() => Seal::Intact,
                Some(_) => Seal::Broken,
                None => Seal::Missing,
            },
        };
        match stated {
            Some(stated) if stated != self.digest.finish() => Seal::Broken,
            None if rest == Seal::Intact => Seal::Missing,
            _ => rest,
        }
    }

    /// Replaces `signatures` with the next ones, and `ids` with their ids as JSON. Leaves `signatures` empty at
    /// the end of the file, and `ids` empty if the file has no ids.
    #[doc(hidden)]
    pub fn next(&mut self, signatures: &mut Signatures, ids: &mut Vec<String>) -> Result<()> {
        signatures.clear();
        ids.clear();
        let (path, columns) = (&self.path, self.columns);
        match &mut self.source {
            Source::Matrix {
                file, remaining, ..
            } => {
                let at_most = (BATCH / (columns * self.width.bytes())).max(1);
                let rows = usize::try_from(*remaining).map_or(at_most, |rows| rows.min(at_most));
                *remaining -= rows as u64;
                npy::read_slots(file, signatures.push_rows(rows).into_slots())
                    .map_err(Error::io("read", path))?;
            }
            Source::Table { reader, digest, .. } => {
                let read = catch_unwind(AssertUnwindSafe(|| match reader.next() {
                    None => Ok(()),
                    Some(Ok(rows)) => append_rows(&rows, columns, signatures, ids)
                        .map_err(|problem| damaged(path, problem)),
                    Some(Err(error)) => Err(damaged(path, &error.to_string())),
                }));
                read.unwrap_or_else(|_| Err(damaged(path, "the file is damaged")))?;
                ids.iter().for_each(|id| update_with_id(digest, id));
            }
        }
        self.digest.update(&bytes_of(signatures.slots()));
        Ok(())
    }
}

fn input_error(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: problem.into(),
        remedy: remedy.to_owned(),
    }
}

/// The error for a damaged file of signatures.
#[doc(hidden)]
pub fn damaged(path: &Path, problem: &str) -> Error {
    input_error(path, problem, "sign the documents again")
}

/// The error for a description that does not match the signatures.
#[doc(hidden)]
pub fn misdescribed(path: &Path, is_matrix: bool, problem: &str) -> Error {
    if !is_matrix {
        return damaged(path, problem);
    }
    input_error(
        &description_of(path),
        format!("it does not describe {}: {problem}", path.display()),
        RESTORE,
    )
}

const RESTORE: &str =
    "restore the file that sign wrote beside the matrix, or sign the documents again";

fn open_matrix(path: &Path, file: File, bytes: u64) -> Result<SignatureReader> {
    let mut file = BufReader::with_capacity(1 << 20, file);
    let matrix = Matrix::read_header(&mut file).map_err(|problem| damaged(path, &problem))?;
    let expected = matrix.file_bytes();
    if expected != Some(bytes) {
        let (rows, columns) = (matrix.rows, matrix.columns);
        let problem = match expected {
            Some(expected) if expected < bytes => {
                format!("{} extra bytes follow the matrix", bytes - expected)
            }
            _ => {
                format!("the file is cut off: {bytes} bytes cannot hold shape ({rows}, {columns})")
            }
        };
        return Err(damaged(path, &problem));
    }
    if matrix.columns == 0 {
        return Err(damaged(path, "its signatures have no slots"));
    }
    let description = read_description(path)?;
    let seal = Seal::from_json(&description);
    if seal == Seal::Broken {
        let problem = "its digest is that of another description";
        return Err(misdescribed(path, true, problem));
    }
    Ok(SignatureReader {
        path: path.to_owned(),
        description,
        rows: matrix.rows,
        columns: matrix.columns,
        width: matrix.width,
        bytes,
        digest: Digest::default(),
        source: Source::Matrix {
            file,
            remaining: matrix.rows,
            seal,
        },
    })
}

/// Reads the description beside a matrix.
fn read_description(matrix: &Path) -> Result<String> {
    let beside = description_of(matrix);
    let mut description = Vec::new();
    let read = File::open(&beside).and_then(|file| {
        let bytes = file.metadata()?.len();
        if bytes <= MAX_DESCRIPTION {
            file.take(bytes).read_to_end(&mut description)?;
        }
        Ok(bytes)
    });
    match read {
        Ok(bytes) if bytes > MAX_DESCRIPTION => Err(input_error(
            &beside,
            format!(
                "this description of {} is larger than {} GiB",
                matrix.display(),
                MAX_DESCRIPTION >> 30
            ),
            "sign the documents again",
        )),
        Ok(_) => String::from_utf8(description)
            .map_err(|error| misdescribed(matrix, true, &format!("{error}"))),
        Err(error) => Err(input_error(
            &beside,
            format!(
                "cannot read this description of {}: {error}",
                matrix.display()
            ),
            RESTORE,
        )),
    }
}

fn open_table(path: &Path, file: File, bytes: u64) -> Result<SignatureReader> {
    let broken = |error: parquet::errors::ParquetError| damaged(path, &error.to_string());
    let file = SizedFile::new(file).map_err(Error::io("read", path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(broken)?;
    if !table::is_sound(builder.metadata()) {
        return Err(damaged(
            path,
            "the file is damaged: a column lacks an offset or a size",
        ));
    }
    let Some(description) = builder.schema().metadata().get(REPORT_KEY) else {
        return Err(damaged(
            path,
            &format!("its metadata lacks {REPORT_KEY}, the description of how it was signed"),
        ));
    };
    let description = description.clone();
    let stated = builder.schema().metadata().get(DIGEST_KEY).cloned();
    let (columns, width) =
        check_columns(builder.schema()).map_err(|problem| damaged(path, &problem))?;
    let rows = builder.metadata().file_metadata().num_rows();
    let batch = (BATCH / (columns * width.bytes())).max(1);
    let reader = builder.with_batch_size(batch).build().map_err(broken)?;
    Ok(SignatureReader {
        path: path.to_owned(),
        rows: u64::try_from(rows).unwrap_or(0),
        columns,
        width,
        bytes,
        digest: Digest::default(),
        source: Source::Table {
            reader: Box::new(reader),
            digest: digest_from(&description),
            stated,
        },
        description,
    })
}

/// The length and slot width of the signatures in a table, or what is wrong with its columns.
fn check_columns(schema: &Schema) -> std::result::Result<(usize, Width), String> {
    let column = |name: &str| {
        let field = schema.field_with_name(name);
        field.map_err(|_| format!("there is no column {name:?}"))
    };
    let id = column("id")?.data_type();
    if !matches!(id, DataType::Int64 | DataType::Utf8) {
        return Err(format!(
            "column \"id\" holds {id}, not Int64 or Utf8 as sign writes it"
        ));
    }
    let signature = column("signature")?.data_type();
    let shape = match signature {
        DataType::FixedSizeList(item, size) => {
            let width = match item.data_type() {
                DataType::UInt32 => Some(Width::U32),
                DataType::UInt64 => Some(Width::U64),
                _ => None,
            };
            usize::try_from(*size)
                .ok()
                .filter(|size| *size > 0)
                .zip(width)
        }
        _ => None,
    };
    shape.ok_or_else(|| {
        format!(
            "column \"signature\" holds {signature}, not lists of a fixed size of UInt32 or UInt64"
        )
    })
}

fn append_rows(
    rows: &RecordBatch,
    num_perm: usize,
    signatures: &mut Signatures,
    ids: &mut Vec<String>,
) -> std::result::Result<(), &'static str> {
    const NULLS: &str = "it holds nulls, which sign never writes";
    let (Some(id), Some(lists)) = (rows.column_by_name("id"), rows.column_by_name("signature"))
    else {
        return Err("it lacks columns");
    };
    let lists = lists.as_fixed_size_list();
    let slots = lists.values();
    if id.null_count() + lists.null_count() + slots.null_count() > 0 {
        return Err(NULLS);
    }
    if slots.len() != rows.num_rows() * num_perm {
        return Err("its signatures differ in length");
    }
    let target = signatures.push_rows(rows.num_rows()).into_slots();
    match target {
        SlotsMut::U32(to) => to.copy_from_slice(slots.as_primitive::<UInt32Type>().values()),
        SlotsMut::U64(to) => to.copy_from_slice(slots.as_primitive::<UInt64Type>().values()),
    }
    ids.extend(json_of_ids(id));
    Ok(())
}

/// Writes slots to a file, row by row.
#[doc(hidden)]
#[derive(Debug)]
pub struct SlotWriter {
    path: PathBuf,
    file: BufWriter<File>,
    digest: Digest,
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

/// The digest of a table, before its ids.
fn digest_from(description: &str) -> Digest {
    let mut digest = Digest::default();
    digest.update(description.as_bytes());
    digest
}

/// Adds an id, as JSON, to a digest.
fn update_with_id(digest: &mut Digest, id: &str) {
    digest.update(b"\n");
    digest.update(id.as_bytes());
}

/// The ids of a column as JSON.
fn json_of_ids(column: &dyn Array) -> Box<dyn Iterator<Item = String> + '_> {
    if column.data_type() == &DataType::Int64 {
        let ids = column.as_primitive::<Int64Type>().values();
        Box::new(ids.iter().map(i64::to_string))
    } else {
        let ids = column.as_string::<i32>().iter().flatten();
        Box::new(ids.map(json_string))
    }
}
