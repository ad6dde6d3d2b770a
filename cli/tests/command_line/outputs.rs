//! Readers for the files that the commands write.

use std::collections::BTreeMap;
use std::fs::File;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::Place;

pub(crate) fn read_parquet(place: &Place, name: &str) -> (RecordBatch, BTreeMap<String, String>) {
    let file = File::open(place.path(name)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = builder.schema().clone();
    let metadata = schema.metadata().clone().into_iter().collect();
    let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
    (
        arrow_select::concat::concat_batches(&schema, &batches).unwrap(),
        metadata,
    )
}

/// Type and shape from the header, and the bytes after it.
pub(crate) fn parse_npy(file: &[u8]) -> (String, [usize; 2], &[u8]) {
    assert_eq!(file[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let (header, values) = file[10..].split_at(length);
    assert_eq!((10 + length) % 64, 0);
    let header = std::str::from_utf8(header).unwrap();
    assert!(
        header.ends_with('\n') && header.contains("'fortran_order': False"),
        "{header}"
    );
    let after = |name: &str, open: char, close: char| {
        let from = header
            .split_once(name)
            .unwrap()
            .1
            .split_once(open)
            .unwrap()
            .1;
        from.split_once(close).unwrap().0.to_owned()
    };
    let shape = after("'shape':", '(', ')');
    let shape: Vec<usize> = shape
        .split(',')
        .map(|n| n.trim().parse().unwrap())
        .collect();
    (
        after("'descr':", '\'', '\''),
        shape.try_into().unwrap(),
        values,
    )
}
