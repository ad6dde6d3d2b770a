//! Shingle sets for exact similarity, in memory up to a bound and in a temporary file beyond it.

#[cfg(feature = "io")]
use std::fs::File;
#[cfg(feature = "io")]
use std::path::{Path, PathBuf};

use rayon::prelude::*;

#[cfg(feature = "io")]
use crate::error::Error;
use crate::error::Result;
use crate::pipeline::{Similarity, jaccard};

/// Stores the shingle sets of documents and computes their exact Jaccard similarities.
///
/// A set is a sorted list of distinct 64-bit hashes, as made by
/// [`Shingler::exact_set`](crate::pipeline::Shingler::exact_set). It is stored by the position of its document.
///
/// ```
/// use simgpu::pipeline::Similarity;
/// use simgpu::store::ExactSets;
///
/// let mut sets = ExactSets::new(2);
/// sets.insert(0, &[1, 2, 3])?;
/// sets.insert(1, &[2, 3, 4])?;
/// assert_eq!(sets.of_pairs(&[(0, 1)])?, Some(vec![0.5]));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug)]
pub struct ExactSets {
    spans: Vec<Span>,
    memory: Vec<u64>,
    #[cfg(feature = "io")]
    spill: Option<Spill>,
}

/// Offset and length of a set, in hashes. Offsets past the end of `memory` are in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u64,
    len: u64,
}

/// An unnamed temporary file for the sets that do not fit in memory.
#[cfg(feature = "io")]
#[derive(Debug)]
struct Spill {
    folder: PathBuf,
    memory_limit: usize,
    file: Option<File>,
    written: u64,
}

impl ExactSets {
    /// An empty set for each of `positions` documents. Keeps all sets in memory.
    pub fn new(positions: usize) -> Self {
        ExactSets {
            spans: vec![Span::default(); positions],
            memory: Vec::new(),
            #[cfg(feature = "io")]
            spill: None,
        }
    }

    /// Like [`ExactSets::new`], with at most `memory_bytes` of hashes in memory and the rest in a temporary
    /// file in `folder`.
    #[cfg(feature = "io")]
    pub fn spilling(positions: usize, memory_bytes: usize, folder: &Path) -> Self {
        ExactSets {
            spill: Some(Spill {
                folder: folder.to_owned(),
                memory_limit: memory_bytes / size_of::<u64>(),
                file: None,
                written: 0,
            }),
            ..ExactSets::new(positions)
        }
    }

    /// Stores the set of the document at `position`: sorted distinct hashes.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file cannot be written.
    ///
    /// # Panics
    /// If `position` is not below the number of documents.
    pub fn insert(&mut self, position: usize, set: &[u64]) -> Result<()> {
        self.spans[position] = Span {
            start: self.append(set)?,
            len: set.len() as u64,
        };
        Ok(())
    }

    #[cfg(feature = "io")]
    fn append(&mut self, set: &[u64]) -> Result<u64> {
        if let Some(spill) = &mut self.spill
            && (spill.file.is_some() || self.memory.len() + set.len() > spill.memory_limit)
        {
            return Ok(self.memory.len() as u64 + spill.append(set)?);
        }
        Ok(self.append_in_memory(set))
    }

    #[cfg(not(feature = "io"))]
    #[allow(
        clippy::unnecessary_wraps,
        reason = "with `io`, writing a file can fail"
    )]
    fn append(&mut self, set: &[u64]) -> Result<u64> {
        Ok(self.append_in_memory(set))
    }

    fn append_in_memory(&mut self, set: &[u64]) -> u64 {
        self.memory.extend_from_slice(set);
        (self.memory.len() - set.len()) as u64
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a set fits in memory, and an offset below the end of `memory` is an index"
    )]
    fn get<'a>(&'a self, position: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let Span { start, len } = self.spans[position as usize];
        let in_memory = self.memory.len() as u64;
        if start + len <= in_memory {
            return Ok(&self.memory[start as usize..(start + len) as usize]);
        }
        buffer.resize(len as usize, 0);
        #[cfg(feature = "io")]
        if let Some(spill) = &self.spill {
            spill.read(start - in_memory, buffer)?;
        }
        Ok(buffer)
    }
}

/// Exact Jaccard similarities.
impl Similarity for ExactSets {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        let chunks = pairs.par_chunks(256).map(|pairs| {
            let (mut lo_buffer, mut hi_buffer) = (Vec::new(), Vec::new());
            let mut similarities = Vec::with_capacity(pairs.len());
            for run in pairs.chunk_by(|a, b| a.0 == b.0) {
                let a = self.get(run[0].0, &mut lo_buffer)?;
                for (_, hi) in run {
                    similarities.push(jaccard(a, self.get(*hi, &mut hi_buffer)?));
                }
            }
            Ok(similarities)
        });
        let chunks: Vec<Vec<f64>> = chunks.collect::<Result<_>>()?;
        Ok(Some(chunks.concat()))
    }
}

#[cfg(feature = "io")]
impl Spill {
    /// Appends a set and returns its offset in hashes.
    fn append(&mut self, set: &[u64]) -> Result<u64> {
        use std::io::Write;
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = super::unnamed::unnamed_file(&self.folder);
                let create = Error::io("create a temporary file in", &self.folder);
                self.file.insert(file.map_err(create)?)
            }
        };
        let start = self.written;
        file.write_all(bytemuck::cast_slice(set))
            .map_err(Error::io("write a temporary file in", &self.folder))?;
        self.written += set.len() as u64;
        Ok(start)
    }

    fn read(&self, start: u64, buffer: &mut [u64]) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        read_at(file, bytemuck::cast_slice_mut(buffer), 8 * start)
            .map_err(Error::io("read a temporary file in", &self.folder))
    }
}

#[cfg(all(feature = "io", unix))]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(all(feature = "io", windows))]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += read as u64;
    }
    Ok(())
}

#[cfg(all(test, feature = "io"))]
mod tests {
    use super::*;

    #[test]
    fn memory_and_file_hold_the_same_sets() {
        let folder = tempfile::tempdir().unwrap();
        let sets: Vec<Vec<u64>> = (0..40).map(|i| (i..i + 3 * i + 1).collect()).collect();
        let pairs: Vec<_> = (0..40).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
        let similarities = |mut store: ExactSets| {
            for (position, set) in sets.iter().enumerate() {
                store.insert(position, set).unwrap();
            }
            store.of_pairs(&pairs).unwrap().unwrap()
        };
        let in_memory = similarities(ExactSets::new(sets.len()));
        for memory_bytes in [0, 800, 1 << 20] {
            let spilling = ExactSets::spilling(sets.len(), memory_bytes, folder.path());
            assert_eq!(similarities(spilling), in_memory);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
