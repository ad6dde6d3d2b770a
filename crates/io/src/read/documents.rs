//! Reads documents into memory.

use std::num::NonZeroU64;

use super::event::Event;
use super::files::FilesReading;
use super::options::Reading;
use crate::chunk::Record;
use crate::fields::{Fields, Wanted};
use crate::input::Inputs;
use crate::longest::LongestRecord;
use simgpu::documents::{DocumentBatch, Documents};
use simgpu::error::{BadRecord, Error, Result};

/// Reads all documents of the input files into memory, in order, or those of the first `limit` records. A record may have up
/// to 64 MiB.
///
/// # Errors
/// [`Error::Input`] for inputs with a stream, which only a run reads; [`Error::BadRecord`] for the first bad record;
/// [`Error::Input`] or [`Error::Io`] for a file that cannot be read.
pub fn read_documents(
    inputs: &Inputs,
    fields: &Fields,
    limit: Option<NonZeroU64>,
) -> Result<DocumentBatch> {
    if inputs.names_stream() {
        return Err(Error::Input {
            path: "-".into(),
            problem: "a stream can be read by a run only".to_owned(),
            remedy: "name a file".to_owned(),
        });
    }
    let mut all = fields.empty_batch();
    let files = &inputs.files;
    let reading = Reading {
        limit: limit.map(NonZeroU64::get),
        longest: LongestRecord::fixed(),
        ..Reading::new(Wanted::Document(fields))
    };
    let mut rows = vec![0; files.len()];
    FilesReading::new(files, reading)?.map(
        |chunk| {
            let mut batch = fields.empty_batch();
            let records = chunk.parse(fields, |_| true, &mut batch);
            Ok((chunk.file, records, batch))
        },
        |event| {
            let Some(Event::Chunk((file, records, batch))) = event else {
                return Ok(());
            };
            for record in records {
                let row = rows[file];
                rows[file] += 1;
                if let Record::Bad { line, problem } = record {
                    return Err(Error::BadRecord(BadRecord {
                        file: files[file].named.clone(),
                        row,
                        line,
                        problem,
                    }));
                }
            }
            for row in 0..batch.len() {
                all.push(batch.get(row));
            }
            Ok(())
        },
    )?;
    Ok(all)
}
