//! The ids of documents, by row: in memory, or on disk.

mod id;

mod spilled;

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use id::{is_integer, repeated_in};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::store::Texts;
use simgpu::store::spill::Spill;
use spilled::SpilledIds;

pub use id::{Id, Repeated};
pub(super) use spilled::SpilledLines;

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
    pub fn restore(&mut self, all_integers: bool) {
        if let DocumentIds::Spilled(ids) = self {
            ids.all_integers = all_integers;
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
    pub(super) fn all_integers(&self) -> bool {
        match self {
            DocumentIds::Held(ids) => {
                let rows = (0..ids.len()).into_par_iter();
                in_parallel(|| rows.all(|row| is_integer(ids.get(row))))
            }
            DocumentIds::Spilled(ids) => ids.all_integers,
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
            IdsInOrder::Spilled(spilled) => spilled.take(count, &mut |ids| lines.push_str(ids)),
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

#[cfg(test)]
mod tests;
