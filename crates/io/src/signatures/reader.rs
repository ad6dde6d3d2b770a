//! Reads signature files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::digest::{DIGEST_KEY, REPORT_KEY, digest_from, json_of_ids, update_with_id};
use super::errors::{RESTORE, damaged, input_error, misdescribed};
use super::format::{SignaturesFormat, description_of};
use crate::digest::{Digest, Seal};
use crate::npy::Matrix;
use crate::npy::{self, bytes_of};
use crate::sized_file::SizedFile;
use crate::table;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Signatures;
use simgpu::scheme::{SlotsMut, Width};
use simgpu::store::disk::is_folder;

/// The most bytes of a description, which is read into memory. A list of many million bad records fits.
const MAX_DESCRIPTION: u64 = 1 << 30;

/// Target size of a batch of signatures, in bytes.
pub(super) const BATCH: usize = 1 << 20;

/// An open file of signatures.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct SignatureReader {
    pub(super) path: PathBuf,
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
    pub(super) digest: Digest,
    pub(super) source: Source,
}

pub(super) enum Source {
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

fn open_matrix(path: &Path, file: File, bytes: u64) -> Result<SignatureReader> {
    let mut file = BufReader::with_capacity(1 << 20, file);
    let matrix = Matrix::read_header(&mut file).map_err(Error::io("read", path))?;
    let matrix = matrix.map_err(|problem| damaged(path, &problem))?;
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
pub(super) fn read_description(matrix: &Path) -> Result<String> {
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
