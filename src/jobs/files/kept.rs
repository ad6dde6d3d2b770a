//! Where a deduplication writes its results, and the writing of kept records.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::run::{Run, check_compression_level};
use super::second_pass::Part;
use super::source::FileSource;
use crate::error::{Error, Result};
use crate::io::{Chunk, Columns, Format, FrameWriter, KeptFile, OutputFolder, TableForm};

/// What messages call the stream of a run.
pub(super) const STDOUT: &str = "stdout";

/// Where [`Run::dedup`](super::Run::dedup) writes its results. A path is a folder.
pub enum DedupOutput<'a> {
    /// A folder, for all results.
    Folder(&'a Path),
    /// A stream, for the kept records of all inputs, in order. All inputs must be JSON Lines.
    Stream {
        /// The stream.
        target: &'a mut (dyn Write + Send),
        /// A folder for temporary files. The run deletes them.
        temporary: &'a Path,
    },
    /// Nowhere: the run only returns its outcome.
    Nowhere {
        /// A folder for temporary files. The run deletes them.
        temporary: &'a Path,
    },
}

impl std::fmt::Debug for DedupOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, path) = match self {
            DedupOutput::Folder(path) => ("Folder", path),
            DedupOutput::Stream { temporary, .. } => ("Stream", temporary),
            DedupOutput::Nowhere { temporary } => ("Nowhere", temporary),
        };
        f.debug_tuple(name).field(path).finish()
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for DedupOutput<'a> {
    fn from(folder: &'a P) -> Self {
        DedupOutput::Folder(folder.as_ref())
    }
}

/// The open output of a deduplication.
pub(super) enum Target<'a> {
    Folder(OutputFolder),
    Stream(&'a mut (dyn Write + Send), PathBuf),
    Nowhere(PathBuf),
}

impl<'a> Target<'a> {
    pub(super) fn open(run: &Run<'_>, output: DedupOutput<'a>) -> Result<Self> {
        Ok(match output {
            DedupOutput::Folder(folder) => {
                run.check_folder(folder)?;
                Target::Folder(OutputFolder::open(folder, run.overwrite)?)
            }
            DedupOutput::Stream { target, temporary } => {
                Target::Stream(target, temporary.to_owned())
            }
            DedupOutput::Nowhere { temporary } => Target::Nowhere(temporary.to_owned()),
        })
    }

    /// The folder for temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        match self {
            Target::Folder(folder) => folder.partial(),
            Target::Stream(_, temporary) | Target::Nowhere(temporary) => temporary.clone(),
        }
    }

    /// Refuses inputs and options that this output does not take.
    pub(super) fn check(&self, source: &FileSource<'_>) -> Result<()> {
        let level = source.run.compression_level;
        match self {
            Target::Folder(_) | Target::Nowhere(_) => {
                let files = source.files.iter();
                check_compression_level(level, files.map(|file| file.original_compression))
            }
            Target::Stream(..) => {
                let other = source
                    .files
                    .iter()
                    .find(|file| file.format != Format::JsonLines);
                if let Some(other) = other {
                    return Err(Error::Output {
                        path: STDOUT.into(),
                        problem: format!(
                            "{} is not JSON Lines, and a stream takes no other format",
                            other.named.display()
                        ),
                        remedy: "name an output folder".to_owned(),
                    });
                }
                check_compression_level(level, std::iter::empty())
            }
        }
    }
}

/// Reads the inputs again and passes the records of each chunk that `is_kept` marks by row to `write`, and the
/// end of each file to `end`. Returns the number of records.
fn for_each_kept(
    source: &FileSource<'_>,
    is_kept: &[bool],
    mut write: impl FnMut(&Arc<Chunk>, Vec<bool>, &mut Option<TableForm>) -> Result<()>,
    mut end: impl FnMut() -> Result<()>,
) -> Result<u64> {
    let mut written = 0;
    let mut table = None;
    source.read_again("write", Columns::All, |part| {
        match part {
            Part::Table(form) => table = Some(form),
            Part::Chunk(chunk, rows) => {
                let keeps: Vec<bool> = rows
                    .iter()
                    .map(|row| row.is_some_and(|row| is_kept[row as usize]))
                    .collect();
                let kept = keeps.iter().filter(|kept| **kept).count() as u64;
                if kept > 0 {
                    write(&chunk, keeps, &mut table)?;
                    written += kept;
                }
            }
            Part::End => {
                table = None;
                end()?;
            }
        }
        Ok(())
    })?;
    Ok(written)
}

/// Writes the kept records of each input under its name, in its format and compression. Returns the number of
/// documents written. Writes no file without records.
pub(super) fn write_kept(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    is_kept: &[bool],
) -> Result<u64> {
    let kept_folder = folder.partial().join("kept");
    std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
    let current: std::cell::RefCell<Option<KeptFile>> = None.into();
    let write = |chunk: &Arc<Chunk>, keeps, table: &mut Option<TableForm>| {
        let mut current = current.borrow_mut();
        let target = match &mut *current {
            Some(target) => target,
            None => {
                let input = &source.files[chunk.file];
                let (file, path) = folder.create(&format!("kept/{}", input.relative))?;
                let frames = FrameWriter::new(file, input.original_compression)
                    .with_level(source.run.compression_level);
                current.insert(KeptFile::new(frames, path, table.take())?)
            }
        };
        target.write(chunk, keeps)
    };
    for_each_kept(source, is_kept, write, || {
        current.borrow_mut().take().map_or(Ok(()), KeptFile::finish)
    })
}

/// Writes the kept records of all inputs to a stream. Returns the number of documents written.
pub(super) fn stream_kept(
    target: &mut (dyn Write + Send),
    source: &FileSource<'_>,
    is_kept: &[bool],
) -> Result<u64> {
    let failed = || Error::io("write to", STDOUT);
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let write = |chunk: &Arc<Chunk>, keeps: Vec<bool>, _: &mut Option<TableForm>| {
        let written = chunk.write_kept(&keeps, &mut target, |_| Ok(()));
        written.map_err(failed())
    };
    let written = for_each_kept(source, is_kept, write, || Ok(()))?;
    target.flush().map_err(failed())?;
    Ok(written)
}
