//! The ids of documents, by row: in memory, or on disk.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use simgpu::clock::in_parallel;
use simgpu::error::{Error, Result, row_number};
use simgpu::store::Texts;
use simgpu::store::spill::{BlockReader, Partitions, Sorted, Spill, StreamFile, Streams};

/// What a record has as its id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Id {
    /// An id, as JSON.
    Json(String),
    /// None: the field is missing, null or empty.
    None,
    /// A value that identifies nothing, and what it is.
    Unusable(String),
}

impl Id {
    /// An id that must be one if `is_required`. Messages call the field `field`.
    #[doc(hidden)]
    pub fn checked(self, is_required: bool, field: &str) -> std::result::Result<Self, String> {
        match self {
            Id::Unusable(what) if is_required => Err(format!(
                "{field} is {what}, which cannot be an id; give a string or a number"
            )),
            Id::None if is_required => Err(format!("{field} is missing, null or empty")),
            id => Ok(id),
        }
    }
}

/// The documents that repeat an earlier id.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Repeated {
    /// The number of these documents.
    pub(super) documents: u64,
    /// The first of them, after the document that it repeats.
    pub(super) first: Option<(u32, u32)>,
}

impl Repeated {
    /// Adds the documents that have one id, by ascending row.
    fn add(&mut self, mut same: impl ExactSizeIterator<Item = u32>) {
        self.documents += same.len().saturating_sub(1) as u64;
        if let (Some(first), Some(second)) = (same.next(), same.next())
            && self.first.is_none_or(|(_, earliest)| second < earliest)
        {
            self.first = Some((first, second));
        }
    }

    /// Both together.
    fn and(self, other: Repeated) -> Repeated {
        let firsts = [self.first, other.first].into_iter().flatten();
        Repeated {
            documents: self.documents + other.documents,
            first: firsts.min_by_key(|(_, second)| *second),
        }
    }
}

/// The ids of all documents.
#[derive(Debug)]
#[doc(hidden)]
pub enum DocumentIds {
    /// In memory.
    Held(Texts),
    /// On disk.
    Spilled(Box<SpilledIds>),
}

impl Default for DocumentIds {
    fn default() -> Self {
        DocumentIds::Held(Texts::default())
    }
}

impl DocumentIds {
    /// Appends the id of the next document.
    #[doc(hidden)]
    pub fn push(&mut self, id: &str) -> Result<()> {
        match self {
            DocumentIds::Held(ids) => {
                ids.push(id);
                Ok(())
            }
            DocumentIds::Spilled(ids) => ids.push(id),
        }
    }

    /// Appends the ids of the next documents, those on disk on all threads. No lock may be held while it works.
    pub(crate) fn append(&mut self, next: &Texts) -> Result<()> {
        match self {
            DocumentIds::Held(ids) => {
                ids.append(next);
                Ok(())
            }
            DocumentIds::Spilled(ids) => ids.append(next),
        }
    }

    /// Writes the ids to disk, and all further ones. No lock may be held while it works.
    #[doc(hidden)]
    pub fn spill(&mut self, spill: &Arc<Spill>) -> Result<()> {
        if let DocumentIds::Held(held) = self {
            let mut ids = SpilledIds::new(spill);
            ids.append(held)?;
            *self = DocumentIds::Spilled(Box::new(ids));
        }
        Ok(())
    }

    /// Writes everything appended so far, for a checkpoint. Returns whether all ids are integers.
    #[doc(hidden)]
    pub fn flush(&mut self) -> Result<bool> {
        match self {
            DocumentIds::Held(_) => Ok(true),
            DocumentIds::Spilled(ids) => ids.flush(),
        }
    }

    /// Goes on from a checkpoint, after [`DocumentIds::spill`].
    #[doc(hidden)]
    pub fn restore(&mut self, are_integers: bool) {
        if let DocumentIds::Spilled(ids) = self {
            ids.are_integers = are_integers;
        }
    }

    /// Ends the appending.
    #[doc(hidden)]
    pub fn end(&mut self) -> Result<()> {
        match self {
            DocumentIds::Held(_) => Ok(()),
            DocumentIds::Spilled(ids) => ids.end(),
        }
    }

    /// Holds the ids of so many documents in memory. The file of those on disk stays, for a run that goes on.
    #[doc(hidden)]
    pub fn hold(&mut self, documents: u32) -> Result<()> {
        if let DocumentIds::Held(_) = self {
            return Ok(());
        }
        let (mut held, mut ids) = (Texts::default(), self.in_order()?);
        for _ in 0..documents {
            held.push(&ids.next()?);
        }
        drop(ids);
        let spilled = std::mem::replace(self, DocumentIds::Held(held));
        if let DocumentIds::Spilled(ids) = spilled
            && let Some(file) = ids.file
        {
            file.keep();
        }
        Ok(())
    }

    /// Bytes of memory used.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            DocumentIds::Held(ids) => ids.bytes(),
            DocumentIds::Spilled(_) => 0,
        }
    }

    /// Whether each id is a 64-bit integer.
    pub(super) fn are_integers(&self) -> bool {
        match self {
            DocumentIds::Held(ids) => {
                let rows = (0..ids.len()).into_par_iter();
                in_parallel(|| rows.all(|row| is_integer(ids.get(row))))
            }
            DocumentIds::Spilled(ids) => ids.are_integers,
        }
    }

    /// The id of one document.
    pub(super) fn get(&self, row: u32) -> Result<Cow<'_, str>> {
        match self {
            DocumentIds::Held(ids) => Ok(ids.get(row as usize).into()),
            DocumentIds::Spilled(_) => {
                let mut ids = self.in_order()?;
                ids.skip(row as usize)?;
                Ok(ids.next()?.into_owned().into())
            }
        }
    }

    /// All ids, from the first on.
    pub(super) fn in_order(&self) -> Result<IdsInOrder<'_>> {
        Ok(match self {
            DocumentIds::Held(ids) => IdsInOrder::Held { ids, row: 0 },
            DocumentIds::Spilled(ids) => IdsInOrder::Spilled(SpilledLines::new(ids.file.as_ref())?),
        })
    }

    /// The documents that repeat an earlier id. Asked once.
    pub(super) fn repeated(&mut self, first: u32) -> Result<Repeated> {
        match self {
            DocumentIds::Held(ids) => repeated_in(ids, first),
            DocumentIds::Spilled(ids) => ids.repeated(first),
        }
    }
}

/// Counts the ids that repeat an earlier one.
fn repeated_in(ids: &Texts, first: u32) -> Result<Repeated> {
    let rows = row_number(ids.len())?;
    let hashed = (first..rows)
        .into_par_iter()
        .map(|row| (xxh3_64(ids.get(row as usize).as_bytes()), row));
    let hashed = in_parallel(|| {
        let mut hashed: Vec<(u64, u32)> = hashed.collect();
        hashed.par_sort_unstable();
        hashed
    });
    let mut repeated = Repeated::default();
    let equal_hashes = hashed.chunk_by(|a, b| a.0 == b.0);
    for run in equal_hashes.filter(|run| run.len() > 1) {
        let mut rows: Vec<u32> = run.iter().map(|(_, row)| *row).collect();
        rows.sort_by_key(|row| (ids.get(*row as usize), *row));
        for same in rows.chunk_by(|a, b| ids.get(*a as usize) == ids.get(*b as usize)) {
            repeated.add(same.iter().copied());
        }
    }
    Ok(repeated)
}

fn is_integer(id: &str) -> bool {
    id.parse::<i64>().is_ok()
}

/// Ids on disk: a line each, since JSON needs no line break; and their digests, to find repeated ids.
#[derive(Debug)]
#[doc(hidden)]
pub struct SpilledIds {
    /// While ids are appended.
    writing: Option<(Streams, Partitions<5>)>,
    file: Option<StreamFile>,
    digests: Option<Sorted<5>>,
    are_integers: bool,
}

/// Parts of the digests of ids.
const PARTS: usize = 16;

/// Ids that are worth a job, some 50 µs.
const JOB: usize = 1 << 11;

/// Ids whose digests are made at a time.
const BLOCK: u32 = 1 << 16;

impl SpilledIds {
    fn new(spill: &Arc<Spill>) -> Self {
        let lines = Streams::new(spill, "ids", 1, PARTS);
        let digests = Partitions::new(spill, "id-digests", PARTS, 1 << 32, 4 * PARTS);
        SpilledIds {
            writing: Some((lines, digests)),
            file: None,
            digests: None,
            are_integers: true,
        }
    }

    fn push(&mut self, id: &str) -> Result<()> {
        let Some((lines, digests)) = &mut self.writing else {
            return Ok(());
        };
        self.are_integers = self.are_integers && is_integer(id);
        push_line(lines, id)?;
        push_digest(digests, id)
    }

    fn append(&mut self, next: &Texts) -> Result<()> {
        let Some((lines, digests)) = &mut self.writing else {
            return Ok(());
        };
        let are_integers = &mut self.are_integers;
        let write = || {
            *are_integers = *are_integers && next.iter().all(is_integer);
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

    fn flush(&mut self) -> Result<bool> {
        if let Some((lines, digests)) = &mut self.writing {
            lines.flush()?;
            digests.flush()?;
        }
        Ok(self.are_integers)
    }

    fn end(&mut self) -> Result<()> {
        if let Some((lines, digests)) = self.writing.take() {
            self.file = Some(lines.finish_one()?);
            self.digests = Some(digests.finish()?);
        }
        Ok(())
    }

    fn repeated(&mut self, first: u32) -> Result<Repeated> {
        let Some(digests) = self.digests.take() else {
            return Ok(Repeated::default());
        };
        let of_parts = digests.map(
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
        Ok(of_parts
            .into_iter()
            .fold(Repeated::default(), Repeated::and))
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

/// Ids in order of rows.
pub(super) enum IdsInOrder<'a> {
    Held { ids: &'a Texts, row: usize },
    Spilled(SpilledLines<'a>),
}

impl<'a> IdsInOrder<'a> {
    /// The next id. There must be one.
    pub(super) fn next(&mut self) -> Result<Cow<'a, str>> {
        match self {
            IdsInOrder::Held { ids, row } => {
                *row += 1;
                Ok(ids.get(*row - 1).into())
            }
            IdsInOrder::Spilled(lines) => {
                let mut id = String::new();
                lines.take(1, &mut |line| id.push_str(line))?;
                id.pop();
                Ok(id.into())
            }
        }
    }

    /// Appends the next ids, of which there must be so many: a line each.
    pub(super) fn append_lines(&mut self, count: usize, lines: &mut String) -> Result<()> {
        match self {
            IdsInOrder::Held { ids, row } => {
                for row in *row..*row + count {
                    lines.push_str(ids.get(row));
                    lines.push('\n');
                }
                *row += count;
                Ok(())
            }
            IdsInOrder::Spilled(of_file) => of_file.take(count, &mut |ids| lines.push_str(ids)),
        }
    }

    /// Leaves out the next ids.
    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        match self {
            IdsInOrder::Held { row, .. } => {
                *row += count;
                Ok(())
            }
            IdsInOrder::Spilled(lines) => lines.take(count, &mut |_| ()),
        }
    }
}

/// The lines of ids on disk, in order.
pub(super) struct SpilledLines<'a> {
    blocks: Option<BlockReader<'a>>,
    block: String,
    /// Where the next line starts in the block.
    start: usize,
}

impl<'a> SpilledLines<'a> {
    fn new(file: Option<&'a StreamFile>) -> Result<Self> {
        Ok(SpilledLines {
            blocks: file.map(StreamFile::blocks).transpose()?,
            block: String::new(),
            start: 0,
        })
    }

    /// Calls `each` with the next lines, several at a time.
    fn take(&mut self, mut count: usize, each: &mut dyn FnMut(&str)) -> Result<()> {
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
fn end_of_lines(text: &[u8], most: usize) -> (usize, usize) {
    const WINDOW: usize = 1 << 10;
    if most == 1 {
        let end = memchr::memchr(b'\n', text);
        return end.map_or((text.len(), 0), |end| (end + 1, 1));
    }
    let mut lines = 0;
    for (number, window) in text.chunks(WINDOW).enumerate() {
        let ends = || memchr::memchr_iter(b'\n', window);
        let of_window = ends().count();
        if lines + of_window >= most {
            let last = ends().nth(most - lines - 1).unwrap_or(window.len() - 1);
            return (number * WINDOW + last + 1, most);
        }
        lines += of_window;
    }
    (text.len(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::store::spill::Budget;

    /// Ids that come one by one up to `single`, and then all others at a time.
    fn all(ids: &[&str], spills_at: usize, single: usize) -> (DocumentIds, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let mut all = DocumentIds::default();
        for (at, id) in ids[..single].iter().enumerate() {
            if at == spills_at {
                all.spill(&spill).unwrap();
            }
            all.push(id).unwrap();
        }
        if spills_at >= single {
            all.spill(&spill).unwrap();
        }
        let mut others = Texts::default();
        ids[single..].iter().for_each(|id| others.push(id));
        all.append(&others).unwrap();
        all.end().unwrap();
        (all, folder)
    }

    #[test]
    fn lines_end_where_each_line_is_looked_for() {
        let text: String = (0..2_000).map(|i| "x".repeat(i % 7) + "\n").collect();
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        for (lines, end) in (1..).zip(ends) {
            assert_eq!(end_of_lines(text.as_bytes(), lines), (end + 1, lines));
        }
        assert_eq!(end_of_lines(text.as_bytes(), 2_001), (text.len(), 2_000));
        assert_eq!(end_of_lines(b"", 3), (0, 0));
    }

    #[test]
    fn ids_on_disk_are_those_in_memory() {
        // More than are digested at a time.
        let many: Vec<String> = (0..70_000)
            .map(|i| format!("\"id {}\"", i % 69_900))
            .collect();
        let many: Vec<&str> = many.iter().map(|id| &**id).collect();
        let numbers = ["3", "1", "-7", "1", "1", "3"];
        for (ids, repeats, first) in [
            (&many[..], 100, Some((0, 69_900))),
            (&numbers[..], 3, Some((1, 3))),
            (&many[..7], 0, None),
        ] {
            let len = ids.len();
            for (spills_at, single) in [(0, len), (2, len), (len, len), (0, 0), (0, 4), (2, 5)] {
                let (mut all, _folder) = all(ids, spills_at, single);
                assert_eq!(all.are_integers(), ids[0] == "3");
                let mut in_order = all.in_order().unwrap();
                for id in ids {
                    assert_eq!(in_order.next().unwrap(), *id);
                }
                drop(in_order);
                let (mut in_order, mut lines) = (all.in_order().unwrap(), String::new());
                for (skipped, taken) in [(0, 1), (1, 0), (0, 3), (1, ids.len() - 6)] {
                    in_order.skip(skipped).unwrap();
                    in_order.append_lines(taken, &mut lines).unwrap();
                }
                let left = (0..).zip(ids).filter(|(row, _)| ![1, 5].contains(row));
                assert!(lines.split_terminator('\n').eq(left.map(|(_, id)| *id)));
                drop(in_order);
                assert_eq!(all.get(5).unwrap(), ids[5]);
                let repeated = all.repeated(0).unwrap();
                assert_eq!((repeated.documents, repeated.first), (repeats, first));
            }
        }
    }
}
