//! candidate pairs -> similarities: by signature, or exactly.

use std::fs::File;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::sign::Signatures;
use crate::error::{Error, Result};

/// A way to tell how similar two documents are.
pub trait Similarity: Sync {
    /// The Jaccard similarity of each pair of positions, or an estimate of it; NaN where it is not
    /// computed.
    ///
    /// # Errors
    /// When what it needs cannot be read.
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<f64>>;
}

/// No verification: candidates are taken as they are.
#[derive(Clone, Copy, Debug)]
pub struct Unverified;

impl Similarity for Unverified {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        Ok(vec![f64::NAN; pairs.len()])
    }
}

/// The share of slots in which two signatures agree, for signatures in the order of positions.
impl Similarity for Signatures {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        let estimate = |(a, b): &(u32, u32)| self.estimate(*a as usize, *b as usize);
        Ok(pairs.par_iter().with_min_len(1024).map(estimate).collect())
    }
}

/// Jaccard similarity of two sets, given as sorted distinct values: |A and B| / |A or B|.
///
/// Two empty sets have none; it is given as 0, so that they are never similar.
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        // Both steps without a branch: which side is behind cannot be predicted.
        let (in_a, in_b) = (a[i] <= b[j], b[j] <= a[i]);
        shared += usize::from(in_a & in_b);
        i += usize::from(in_a);
        j += usize::from(in_b);
    }
    let union = a.len() + b.len() - shared;
    if union == 0 {
        0.0
    } else {
        shared as f64 / union as f64
    }
}

/// Sorted sets of 64-bit shingle hashes by position, in memory up to a bound and beyond it in a
/// file, which is removed when the sets are dropped.
#[derive(Debug)]
pub struct ExactSets {
    spans: Vec<Span>,
    memory: Vec<u64>,
    memory_limit: usize,
    spill: Spill,
}

/// Where a set lies among all hashes; those beyond `memory` are in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u64,
    len: u64,
}

#[derive(Debug)]
struct Spill {
    path: PathBuf,
    file: Option<File>,
    written: u64,
}

impl ExactSets {
    /// No sets yet, for `positions` documents; `memory_bytes` of them will stay in memory, and the
    /// rest go to `spill_path`.
    pub fn new(positions: usize, memory_bytes: usize, spill_path: PathBuf) -> Self {
        ExactSets {
            spans: vec![Span::default(); positions],
            memory: Vec::new(),
            memory_limit: memory_bytes / size_of::<u64>(),
            spill: Spill {
                path: spill_path,
                file: None,
                written: 0,
            },
        }
    }

    /// Stores the set of the document at `position`.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written.
    pub fn insert(&mut self, position: usize, set: &[u64]) -> Result<()> {
        let fits = self.spill.file.is_none() && self.memory.len() + set.len() <= self.memory_limit;
        let start = if fits {
            self.memory.extend_from_slice(set);
            (self.memory.len() - set.len()) as u64
        } else {
            self.memory.len() as u64 + self.spill.append(set)?
        };
        self.spans[position] = Span {
            start,
            len: set.len() as u64,
        };
        Ok(())
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a set was a slice in memory, and what lies before the end of memory is an index"
    )]
    fn get<'a>(&'a self, position: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let Span { start, len } = self.spans[position as usize];
        let in_memory = self.memory.len() as u64;
        if start + len <= in_memory {
            return Ok(&self.memory[start as usize..(start + len) as usize]);
        }
        buffer.resize(len as usize, 0);
        self.spill.read(start - in_memory, buffer)?;
        Ok(buffer)
    }
}

impl Similarity for ExactSets {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        let chunks = pairs.par_chunks(256).map(|pairs| {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let mut similarities = Vec::with_capacity(pairs.len());
            for run in pairs.chunk_by(|a, b| a.0 == b.0) {
                let a = self.get(run[0].0, &mut left)?;
                for (_, hi) in run {
                    similarities.push(jaccard(a, self.get(*hi, &mut right)?));
                }
            }
            Ok(similarities)
        });
        let chunks: Vec<Vec<f64>> = chunks.collect::<Result<_>>()?;
        Ok(chunks.concat())
    }
}

impl Spill {
    /// Appends a set and gives the number of hashes before it.
    fn append(&mut self, set: &[u64]) -> Result<u64> {
        use std::io::Write;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(create_spill(&self.path)?),
        };
        let start = self.written;
        file.write_all(bytemuck::cast_slice(set))
            .map_err(Error::io("write", &self.path))?;
        self.written += set.len() as u64;
        Ok(start)
    }

    fn read(&self, start: u64, buffer: &mut [u64]) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        read_at(file, bytemuck::cast_slice_mut(buffer), 8 * start)
            .map_err(Error::io("read", &self.path))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // It lies among files that are discarded anyway; what fails here does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn create_spill(path: &Path) -> Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(Error::io("create", path))
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jaccard_of_small_sets() {
        assert_eq!(jaccard(&[1, 2, 3, 4], &[2, 3, 5, 7]), 2.0 / 6.0);
        assert_eq!(jaccard(&[1, 2, 3, 4], &[2, 4, 6]), 2.0 / 5.0);
        assert_eq!(jaccard(&[2, 3, 5, 7], &[2, 4, 6]), 1.0 / 6.0);
        assert_eq!(jaccard::<u64>(&[], &[]), 0.0);
        assert_eq!(jaccard(&[], &[1]), 0.0);
    }

    #[test]
    fn sets_are_the_same_from_memory_and_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let sets: Vec<Vec<u64>> = (0..40).map(|i| (i..i + 3 * i + 1).collect()).collect();
        let pairs: Vec<_> = (0..40).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
        let similarities = |memory_bytes| {
            let path = folder.path().join("sets");
            let mut store = ExactSets::new(sets.len(), memory_bytes, path);
            for (position, set) in sets.iter().enumerate() {
                store.insert(position, set).unwrap();
            }
            store.of_pairs(&pairs).unwrap()
        };
        let in_memory = similarities(1 << 20);
        assert_eq!(similarities(0), in_memory);
        assert_eq!(similarities(800), in_memory);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
