//! Ids on disk.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::id::{Repeated, is_integer};
use simgpu::clock::in_parallel;
use simgpu::error::{Error, Result, row_number};
use simgpu::store::Texts;
use simgpu::store::spill::{BlockReader, Partitions, Sorted, Spill, StreamFile, Streams};

/// Ids on disk: a line each, since JSON needs no line break; and their digests, to find repeated ids.
#[derive(Debug)]
#[doc(hidden)]
pub struct SpilledIds {
    /// While ids are appended.
    writing: Option<(Streams, Partitions<5>)>,
    pub(super) file: Option<StreamFile>,
    digests: Option<Sorted<5>>,
    pub(super) all_integers: bool,
}

/// Parts of the digests of ids.
const PARTS: usize = 16;

/// Ids that are worth a job, some 50 µs.
const JOB: usize = 1 << 11;

/// Ids whose digests are made at a time.
const BLOCK: u32 = 1 << 16;

impl SpilledIds {
    pub(super) fn new(spill: &Arc<Spill>) -> Self {
        let lines = Streams::new(spill, "ids", 1, PARTS);
        let digests = Partitions::new(spill, "id-digests", PARTS, 1 << 32, 4 * PARTS);
        SpilledIds {
            writing: Some((lines, digests)),
            file: None,
            digests: None,
            all_integers: true,
        }
    }

    pub(super) fn push(&mut self, id: &str) -> Result<()> {
        let Some((lines, digests)) = &mut self.writing else {
            return Ok(());
        };
        self.all_integers = self.all_integers && is_integer(id);
        push_line(lines, id)?;
        push_digest(digests, id)
    }

    pub(super) fn append(&mut self, next: &Texts) -> Result<()> {
        let Some((lines, digests)) = &mut self.writing else {
            return Ok(());
        };
        let all_integers = &mut self.all_integers;
        let write = || {
            *all_integers = *all_integers && next.iter().all(is_integer);
            next.iter().try_for_each(|id| push_line(lines, id))
        };
        let first = row_number(digests.records())?;
        let end = row_number(first as usize + next.len())?;
        let digest = || {
            // Those of all ids would take more memory than the ids.
            (first..end).step_by(BLOCK as usize).try_for_each(|block| {
                let rows = (block..end.min(block.saturating_add(BLOCK))).into_par_iter();
                let ids = rows.map(|row| digest_of(next.get((row - first) as usize), row));
                digests.push_each(&ids.with_min_len(JOB).collect::<Vec<_>>())
            })
        };
        let (written, digested) = in_parallel(|| rayon::join(write, digest));
        written.and(digested)
    }

    pub(super) fn flush(&mut self) -> Result<bool> {
        if let Some((lines, digests)) = &mut self.writing {
            lines.flush()?;
            digests.flush()?;
        }
        Ok(self.all_integers)
    }

    pub(super) fn end(&mut self) -> Result<()> {
        if let Some((lines, digests)) = self.writing.take() {
            self.file = Some(lines.finish_one()?);
            self.digests = Some(digests.finish()?);
        }
        Ok(())
    }

    pub(super) fn repeated(&mut self, first: u32) -> Result<Repeated> {
        let Some(digests) = self.digests.take() else {
            return Ok(Repeated::default());
        };
        let parts = digests.map(
            &|digests| {
                let mut repeated = Repeated::default();
                for same in digests.chunk_by(|a, b| a[..4] == b[..4]) {
                    let before = same.partition_point(|digest| digest[4] < first);
                    repeated.add(same[before..].iter().map(|digest| digest[4]));
                }
                Ok(repeated)
            },
            &mut |_| Ok(()),
        )?;
        Ok(parts.into_iter().fold(Repeated::default(), Repeated::and))
    }
}

fn push_line(lines: &mut Streams, id: &str) -> Result<()> {
    lines.push_with(0, |line| {
        line.extend_from_slice(id.as_bytes());
        line.push(b'\n');
    })
}

fn push_digest(digests: &mut Partitions<5>, id: &str) -> Result<()> {
    let row = row_number(digests.records())?;
    digests.push(&digest_of(id, row))
}

/// The digest of an id, and its row.
fn digest_of(id: &str, row: u32) -> [u32; 5] {
    let [a, b, c, d] = bytemuck::cast(xxh3_128(id.as_bytes()));
    [a, b, c, d, row]
}

/// The lines of ids on disk, in order.
pub(crate) struct SpilledLines<'a> {
    blocks: Option<BlockReader<'a>>,
    block: String,
    /// Where the next line starts in the block.
    start: usize,
}

impl<'a> SpilledLines<'a> {
    pub(super) fn new(file: Option<&'a StreamFile>) -> Result<Self> {
        Ok(SpilledLines {
            blocks: file.map(StreamFile::blocks).transpose()?,
            block: String::new(),
            start: 0,
        })
    }

    /// Calls `each` with the next lines, several at a time.
    pub(super) fn take(&mut self, mut count: usize, each: &mut dyn FnMut(&str)) -> Result<()> {
        while count > 0 {
            if self.start == self.block.len() && !self.load()? {
                return Err(Error::Defect(format!("{count} ids are not on disk")));
            }
            let rest = &self.block[self.start..];
            let (end, lines) = end_of_lines(rest.as_bytes(), count);
            count -= lines;
            each(&rest[..end]);
            self.start += end;
        }
        Ok(())
    }

    /// Reads the next block. Returns whether there was one.
    fn load(&mut self) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.block).into_bytes();
        bytes.clear();
        let is_read = match &mut self.blocks {
            Some(blocks) => blocks.next(&mut bytes)?,
            None => false,
        };
        // Ids are JSON, and the block has a checksum.
        self.block = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        self.start = 0;
        Ok(is_read)
    }
}

/// The end of the first lines of a text, `most` at most and at least one, and their number. The text ends with a line.
///
/// Counts the lines of a window at a time, which vector instructions do: to look for the end of each takes a call each.
pub(super) fn end_of_lines(text: &[u8], most: usize) -> (usize, usize) {
    const WINDOW: usize = 1 << 10;
    if most == 1 {
        let end = memchr::memchr(b'\n', text);
        return end.map_or((text.len(), 0), |end| (end + 1, 1));
    }
    let mut lines = 0;
    for (number, window) in text.chunks(WINDOW).enumerate() {
        let ends = || memchr::memchr_iter(b'\n', window);
        let window_lines = ends().count();
        if lines + window_lines >= most {
            let last = ends().nth(most - lines - 1).unwrap_or(window.len() - 1);
            return (number * WINDOW + last + 1, most);
        }
        lines += window_lines;
    }
    (text.len(), lines)
}
