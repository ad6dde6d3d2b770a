//! Parses chunks for the first pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::log::{ChunkRecords, RecordIds};
use crate::run::Run;
use simgpu::documents::{DocumentBatch, DocumentRange};
use simgpu::error::Result;
use simgpu::search::{Parsed, Pieces};
use simgpu_io::{Chunk, FieldPath, FieldValues, Record};

/// The chunks of all files, as pieces for the first pass.
pub(super) struct Chunks<'a> {
    pub(super) run: &'a Run<'a>,
    /// Whether all chunks so far are held for the second pass.
    pub(super) is_holding: &'a AtomicBool,
    /// The most bytes that are held.
    pub(super) held_bytes: u64,
    /// The number of files of the reference.
    pub(super) reference_files: usize,
}

impl Pieces for Chunks<'_> {
    type Piece = Arc<Chunk>;
    type Notes = ChunkRecords;

    fn parse<'a>(
        &'a self,
        chunk: Arc<Chunk>,
        documents: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, ChunkRecords>> {
        let run = self.run;
        let is_reference = chunk.file < self.reference_files;
        // Documents of a reference have no preference and no source.
        let order_fields = [
            run.keep_by.as_ref().map(|by| &by.field),
            run.source_field.as_ref(),
        ];
        let order_fields = order_fields.into_iter().flatten().filter(|_| !is_reference);
        let records = chunk.parse_with(run.fields_of(is_reference), order_fields, documents);
        let is_good = |i: usize| matches!(records.get(i), Some(Record::Document(_)));
        let values = |field: Option<&FieldPath>| match field {
            Some(_) if is_reference => Ok(FieldValues::absent(documents.len())),
            Some(field) => FieldValues::from_chunk(&chunk, field, is_good),
            None => Ok(FieldValues::default()),
        };
        let sources = values(run.source_field.as_ref());
        let values = values(run.keep_by.as_ref().map(|by| &by.field));
        let bytes = chunk.bytes();
        let is_held = self.is_holding.load(Ordering::Relaxed) && bytes as u64 <= self.held_bytes;
        let records = ChunkRecords {
            file: chunk.file,
            records: RecordIds::new(records),
            values,
            sources,
            bytes,
            // Unless held, the chunk is freed here.
            chunk: is_held.then_some(chunk),
        };
        Ok(Parsed {
            records,
            bytes,
            documents: DocumentRange::new(documents, 0..documents.len()),
        })
    }

    fn buffer(&self) -> DocumentBatch {
        self.run.fields.empty_batch()
    }
}
