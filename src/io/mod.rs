//! Input and output files: JSON Lines, JSON arrays, CSV, Parquet, Arrow and text, plain or compressed.
//!
//! [`Inputs::find`] finds the files to read, and [`read_documents`] reads them into memory. A
//! [`Run`](crate::files::Run) reads and writes files of any size.

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

mod absent_field;

mod jsonl;

mod csv;

mod delimiters;

mod columns;

mod sized_file;

mod table;

mod kept_table;

mod arrow_messages;

#[cfg(feature = "index")]
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

#[cfg(feature = "index")]
pub(crate) use arriving::ArrivingLines;
pub(crate) use chunk::{Chunk, Kept, Record, chunks_of_rows};
pub(crate) use clusters::write_clusters;
pub(crate) use compression::{Compression, FRAME, FrameWriter, frames_in_flight};
pub(crate) use cuts::Fate;
pub use delimiters::OtherDelimiter;
pub(crate) use delimiters::fit_delimiters;
pub(crate) use digest::{Digest, Seal, sealed};
pub use fields::{FieldPath, Fields, OnBadRecord, WeightsField};
pub(crate) use fields::{ValueField, Wanted};
#[cfg(feature = "index")]
pub(crate) use format::check_json_lines;
pub use format::{Format, Quote};
pub use globs::{FileFilter, Globs};
pub(crate) use ids::{DocumentIds, Id, Repeated};
pub(crate) use input::{InputFile, check_apart, check_not_overwritten, real_path};
pub use input::{Inputs, Naming, read_text};
pub(crate) use jsonl::json_string;
pub(crate) use keep::JsonLines;
pub(crate) use keep::{KeptFile, unwritable};
pub(crate) use labels::Labels;
pub(crate) use left_out::warning_of_encoding;
pub(crate) use listed_pairs::{ListedPair, for_each_listed_pair, odd_pair};
pub(crate) use longest::LongestRecord;
pub(crate) use names::{field_names, listed_fields};
pub use not_read::{NotRead, Several};
pub(crate) use npy::{HEADER, header};
pub(crate) use output::{
    Leftovers, OutputFile, OutputFolder, REPORT, RUN_RECORD, WrittenFiles, folder_of, read_json,
    remove_if_there, with_suffix,
};
pub use pairs::PairsFormat;
pub(crate) use pairs::{
    Measure, Measured, PairToWrite, PairsToWrite, write_table as write_pairs_table,
    write_text as write_pairs_text,
};
pub(crate) use places::raw_json;
pub(crate) use places::{IndexPlaces, Places, Skipped, SourceFile, WithoutId};
pub(crate) use read::{
    Columns, Event, FilesReading, Fingerprint, Position, Reader, Reading, TableForm, changed,
};
pub use read::{is_reading, read_documents};
pub(crate) use recorded::RecordedInput;
pub(crate) use refusal::listed;
pub use removals::RemovedFormat;
pub(crate) use removals::{write_removed_lines, write_removed_table};
pub use removed_rows::{DocumentPlace, RemovedRow, id_text};
pub(crate) use removed_rows::{PlaceOfRow, RemovedFile, documents_of_id};
pub use report::{
    DedupParameters, Example, ExampleDocument, InputReport, LargeCluster, MissingIds, PairExample,
    PairsBin, PairsOfSources, PairsOverview, PairsParameters, Parameters, RemovedFor, Report,
    SearchParameters, SimilarityBin, SkippedRecord, SourceReport, Unusual,
};
pub(crate) use report::{REPORT_VERSION, SignatureDescription, write_json};
pub(crate) use result_rows::{write_rows_as_table, write_rows_as_text};
pub(crate) use row_values::{Value, for_each_record};
pub(crate) use run_record::{Facts, run_record};
pub use signatures::SignaturesFormat;
pub(crate) use signatures::{
    SignatureReader, SlotWriter, damaged, description_of, misdescribed, write_description,
    write_table as write_signature_table,
};
pub(crate) use sized_file::SizedFile;
pub(crate) use table::{
    ColumnWriter, IdColumn, f64s, strings as column_strings, u64s, unwritable as unwritable_table,
};
pub(crate) use usual::usual;
pub use values::KeepBy;
pub(crate) use values::{FieldValues, Unordered, ValueForms, ValueKind};
