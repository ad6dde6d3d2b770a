//! Where a deduplication writes its results, and the writing of kept records.
//!
//! A kept file of at most one frame is one job, so that no thread has to feed the others: when one thread created and
//! wrote all files, it spent 0.25 ms on each and the other waited. The parts of a larger file are written in order, by one
//! job at a time, so that the thread that passes them on does not wait, and the end of one file is written beside the
//! beginning of the next.

mod target;

mod written;

mod kept_files;

mod progress;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use super::samples::{Sample, Sampler};
use super::second_pass::{FileEvent, Placed};
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu_io::{Columns, OutputFolder, Position, WrittenFiles, unwritable};

pub use kept_files::KeptOutput;
pub use target::DedupOutput;
pub(crate) use target::OpenOutput;
pub(super) use target::STDOUT;
pub(crate) use written::EachKept;
pub use written::{KeptOfChunk, Written};

/// The name of the writing of kept records, for checkpoints.
const WRITE: &str = "write";

/// The name of the texts that the page shows, for checkpoints.
const SAMPLED: &str = "samples";

impl FileSource<'_> {
    /// What was written before the run was stopped.
    pub(super) fn written(&self) -> Written {
        let spill = self.unfinished();
        let written = spill.and_then(|spill| spill.state(WRITE));
        written.unwrap_or_else(|| self.nothing_written())
    }

    /// Nothing is written yet, and nothing will be of the reference.
    pub(super) fn nothing_written(&self) -> Written {
        Written::after_reference(self.reference_files)
    }

    /// The texts that were taken before the run was stopped, by row.
    pub(super) fn sampled(&self) -> BTreeMap<u32, Sample> {
        let spill = self.unfinished();
        let sampled = spill.and_then(|spill| spill.state(SAMPLED));
        sampled.unwrap_or_default()
    }
}

/// The kept records of a run, as a second pass over its inputs finds them.
#[derive(Clone, Copy)]
pub(super) struct KeptRecords<'a> {
    pub(super) source: &'a FileSource<'a>,
    /// Whether each document is kept, by row.
    pub(super) is_kept: &'a [bool],
    /// Sees all documents, kept or not.
    pub(super) sampler: &'a Sampler,
}

impl KeptRecords<'_> {
    /// Reads the inputs again and copies the kept records. Passes those of each chunk that has some to `each`, and the
    /// other parts of files. Returns the number of records.
    fn for_each(&self, start: &Position, each: &mut EachKept<'_>) -> Result<u64> {
        let KeptRecords {
            source,
            is_kept,
            sampler,
        } = *self;
        let copy = |placed: Placed| {
            sampler.take(source, &placed)?;
            let Placed { chunk, rows } = placed;
            let is_row_kept = |row: Option<u32>| row.is_some_and(|row| is_kept[row as usize]);
            let keeps: Vec<bool> = rows.into_iter().map(is_row_kept).collect();
            let records = keeps.iter().filter(|kept| **kept).count() as u64;
            let kept = chunk.kept(keeps);
            let kept = kept.map_err(unwritable(&source.files[chunk.file].named))?;
            Ok(KeptOfChunk { records, kept })
        };
        let mut written = 0;
        source.read_again("write", Columns::All, start, copy, |part| {
            if let FileEvent::Chunk(KeptOfChunk { records, .. }) = &part {
                written += records;
                // A file gets a name only with its first kept record.
                if *records == 0 {
                    return Ok(());
                }
            }
            each(part)
        })?;
        Ok(written)
    }
}

/// Writes the kept records of each input under its name, in its format and compression, after those that are `written`,
/// and tells `files` of each file. Returns the number of documents written.
pub(super) fn write_kept(
    folder: &OutputFolder,
    kept: KeptRecords<'_>,
    written: &Written,
    files: &WrittenFiles,
) -> Result<u64> {
    let KeptRecords {
        source, sampler, ..
    } = kept;
    let checkpoint = |written: &dyn Fn() -> Written| match source.on_disk() {
        Some(spill) if spill.is_due() => {
            let written = written();
            folder.keep(&written.names)?;
            spill.note(SAMPLED, &sampler.taken())?;
            spill.checkpoint(WRITE, &written)
        }
        _ => Ok(()),
    };
    let output = KeptOutput {
        folder,
        files: &source.files,
        compression_level: source.run.options.compression_level,
        written: files,
        checkpoint: &checkpoint,
    };
    let place = source.places.start_of_file(written.inputs);
    output.write(written, |each| kept.for_each(&place, each))
}

/// Writes the kept records of all inputs to a stream. Returns the number of documents written.
pub(super) fn stream_kept(
    target: &mut (dyn Write + Send),
    source: &FileSource<'_>,
    is_kept: &[bool],
) -> Result<u64> {
    let failed = || Error::io("write to", STDOUT);
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let start = source.places.start_of_file(source.reference_files);
    let kept = KeptRecords {
        source,
        is_kept,
        sampler: &Sampler::default(),
    };
    let written = kept.for_each(&start, &mut |part| match part {
        FileEvent::Chunk(KeptOfChunk { kept, .. }) => {
            let mut parts = kept.parts();
            let written = parts.try_for_each(|part| target.write_all(part));
            written.map_err(failed())
        }
        FileEvent::Table(_) | FileEvent::End => Ok(()),
    })?;
    target.flush().map_err(failed())?;
    Ok(written)
}

#[cfg(test)]
mod tests;
