//! Input and output files: JSON Lines, Parquet and text, plain, gzip or zstd.
//!
//! [`Inputs::find`] finds the files to read, and [`read_documents`] reads them into memory. A
//! [`Run`](crate::jobs::Run) reads and writes files of any size.

mod compression;

mod fields;

mod globs;

mod input;

mod jsonl;

mod table;

mod limit;

mod read;

mod values;

mod report;

mod places;

mod output;

mod kept;

mod removed;

mod clusters;

mod pairs;

mod npy;

mod signatures;

pub(crate) use clusters::write_clusters;
pub(crate) use compression::{Compression, FrameWriter};
pub use fields::{FieldPath, Fields, OnBadRecord};
pub use globs::{FileFilter, Globs};
pub use input::{Format, Inputs, read_text};
pub(crate) use input::{InputFile, check_not_overwritten};
pub(crate) use kept::{KeptFile, TableForm};
pub(crate) use npy::{HEADER, header};
pub(crate) use output::{OutputFile, OutputFolder, folder_of, with_suffix};
pub use pairs::PairsFormat;
pub(crate) use pairs::{
    ForEachPair, write_table as write_pairs_table, write_text as write_pairs_text,
};
pub(crate) use places::{Ids, Places, Skipped, SourceFile};
pub use read::read_documents;
pub(crate) use read::{Chunk, Columns, Event, Fingerprint, Reading, Record, read_all};
pub use removed::RemovedFormat;
pub(crate) use removed::{RemovedDocument, write_removed_lines, write_removed_table};
pub use report::{LargeCluster, Parameters, Report, SearchParameters, SkippedRecord};
pub(crate) use report::{REPORT_VERSION, SignatureDescription, write_json};
pub use signatures::SignaturesFormat;
pub(crate) use signatures::{
    SignatureReader, SlotWriter, damaged, description_of, misdescribed,
    write_table as write_signature_table,
};
pub use values::KeepBy;
pub(crate) use values::{FieldValues, Unordered, ValueKind};
