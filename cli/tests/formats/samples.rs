//! Samples that several of these tests use.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use serde_json::json;

use crate::support::text;

/// Four records; the third repeats the first.
pub(crate) fn records() -> Vec<Vec<u8>> {
    let of = |seed| json!({"text": text(seed, 20)}).to_string().into_bytes();
    vec![of(1), of(2), of(1), of(3)]
}

/// `bytes` compressed in two pieces, cut in the middle of a record.
pub(crate) fn in_pieces(compress: fn(&[u8]) -> Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let cut = bytes.len() / 2 - 3;
    [compress(&bytes[..cut]), compress(&bytes[cut..])].concat()
}

/// The rows of a Parquet file as one batch, and its metadata.
pub(crate) fn read_table(bytes: Vec<u8>) -> (RecordBatch, Arc<ParquetMetaData>) {
    fn open(bytes: impl ChunkReader + 'static) -> (ParquetRecordBatchReader, Arc<ParquetMetaData>) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let metadata = builder.metadata().clone();
        (builder.build().unwrap(), metadata)
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    assert_eq!(file.len(), bytes.len() as u64);
    let (reader, metadata) = open(file);
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let rows = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
    (rows, metadata)
}
