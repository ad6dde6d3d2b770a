//! Input and output files: JSON Lines, JSON arrays, CSV, Parquet, Arrow and text, plain or compressed.
//!
//! [`Inputs::find`] finds the files to read, and [`read_documents`] reads them into memory. A
//! run of `simgpu-files` reads and writes files of any size.

mod absent_field;

mod encoding;

mod compression;

mod format;
mod frames;

mod fields;

mod not_read;

mod find;

mod globs;

mod refusal;

mod broken_stream;

mod input;

mod json;

mod jsonl;

mod kind;

mod csv;

mod delimiters;

mod columns;

mod sized_file;

mod table;

mod kept_table;

mod arrow_messages;

mod arriving;

mod arrow;

mod cut;

mod chunk;

mod left_out;

mod limit;

mod longest;

mod page_store;

mod pages;

mod read;

mod values;

mod report;

mod cuts;

mod cut_rows;

mod cut_texts;

mod row_values;

mod decimal;

mod digest;

mod usual;

mod ids;

mod labels;

mod mark;

mod names;

mod places;

mod output;

mod keep;

mod removals;

mod removed_rows;

mod recorded;

mod clusters;

mod pairs;

mod listed_pairs;

mod result_rows;

mod run_record;

mod npy;

mod signatures;

#[doc(hidden)]
pub use arriving::ArrivingLines;
#[doc(hidden)]
pub use chunk::{Chunk, Kept, Record, chunks_of_rows};
#[doc(hidden)]
pub use clusters::ClusterTable;
#[doc(hidden)]
pub use compression::{Compression, FRAME, FrameWriter, frames_in_flight};
#[doc(hidden)]
pub use cuts::Fate;
pub use delimiters::OtherDelimiter;
#[doc(hidden)]
pub use delimiters::fit_delimiters;
#[doc(hidden)]
pub use digest::{Digest, Seal, sealed};
pub use fields::{FieldPath, Fields, OnBadRecord, WeightsField};
#[doc(hidden)]
pub use fields::{ValueField, Wanted};
#[doc(hidden)]
pub use format::check_json_lines;
pub use format::{Format, Quote};
pub use globs::{FileFilter, Globs};
#[doc(hidden)]
pub use ids::{DocumentIds, Id, Repeated};
#[doc(hidden)]
pub use input::{InputFile, check_apart, check_not_overwritten, real_path};
pub use input::{Inputs, Naming, read_text};
#[doc(hidden)]
pub use json::json_string;
#[doc(hidden)]
pub use keep::{JsonLines, KeptFile, unwritable};
#[doc(hidden)]
pub use labels::Labels;
#[doc(hidden)]
pub use left_out::{Misencoded, warning_of_encoding};
#[doc(hidden)]
pub use listed_pairs::{ListedPair, for_each_listed_pair, odd_pair};
#[doc(hidden)]
pub use longest::LongestRecord;
#[doc(hidden)]
pub use names::{field_names, listed_fields};
pub use not_read::{NotRead, Several};
#[doc(hidden)]
pub use npy::{HEADER, header};
#[doc(hidden)]
pub use output::{
    Leftovers, OutputFile, OutputFolder, REPORT, RUN_RECORD, WrittenFiles, folder_of, read_json,
    remove_if_there, with_suffix,
};
pub use pairs::PairsFormat;
#[doc(hidden)]
pub use pairs::{
    Measure, Measured, PairToWrite, PairsToWrite, write_table as write_pairs_table,
    write_text as write_pairs_text,
};
#[doc(hidden)]
pub use places::{IndexPlaces, Places, Skipped, SourceFile, WithoutId, raw_json};
#[doc(hidden)]
pub use read::{
    Columns, Event, FilesReading, Fingerprint, Position, Reader, Reading, TableForm, changed,
};
pub use read::{is_reading, read_documents};
#[doc(hidden)]
pub use recorded::RecordedInput;
#[doc(hidden)]
pub use refusal::listed;
#[doc(hidden)]
pub use removals::RemovedDocuments;
pub use removals::RemovedFormat;
pub use removed_rows::{DocumentPlace, RemovedRow, id_text};
#[doc(hidden)]
pub use removed_rows::{PlaceOfRow, RemovedFile, documents_of_id};
pub use report::{
    DedupParameters, Example, ExampleDocument, InputReport, LargeCluster, MissingIds, PairExample,
    PairsBin, PairsOfSources, PairsOverview, PairsParameters, Parameters, RemovedFor, Report,
    SearchParameters, SimilarityBin, SkippedRecord, SourceReport, Unusual,
};
#[doc(hidden)]
pub use report::{REPORT_VERSION, SignatureDescription, write_json};
#[doc(hidden)]
pub use result_rows::{write_rows_as_table, write_rows_as_text};
#[doc(hidden)]
pub use row_values::{Value, for_each_record};
#[doc(hidden)]
pub use run_record::{Facts, run_record};
pub use signatures::SignaturesFormat;
#[doc(hidden)]
pub use signatures::{
    SignatureReader, SignatureTable, SlotWriter, damaged, description_of, misdescribed,
    write_description,
};
#[doc(hidden)]
pub use sized_file::SizedFile;
#[doc(hidden)]
pub use table::{
    ColumnWriter, IdColumn, f64s, strings as column_strings, u64s, unwritable as unwritable_table,
};
#[doc(hidden)]
pub use usual::usual;
pub use values::KeepBy;
#[doc(hidden)]
pub use values::{FieldValues, Unordered, ValueForms, ValueKind};
