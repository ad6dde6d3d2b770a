//! Where a deduplication writes its results, and the writing of kept records.

use std::collections::VecDeque;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::{Run, check_compression_level};
use super::second_pass::{Part, Placed};
use super::source::FileSource;
use crate::error::{Error, Result};
use crate::io::{
    Columns, EndingFile, FRAME, Format, FrameWriter, Kept, KeptFile, OutputFolder, frames_in_flight,
    unwritable,
};

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
                run.check_temporary_outside(folder)?;
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

/// The kept records of a chunk of a file.
struct KeptOfChunk {
    file: usize,
    records: u64,
    kept: Kept,
}

/// Reads the inputs again and copies the records that `is_kept` marks by row. Passes those of each chunk that has some
/// to `each`, and the other parts of files. Returns the number of records.
fn for_each_kept(
    source: &FileSource<'_>,
    is_kept: &[bool],
    mut each: impl FnMut(Part<KeptOfChunk>) -> Result<()>,
) -> Result<u64> {
    let copy = |Placed { chunk, rows }: Placed| {
        let of_row = |row: Option<u32>| row.is_some_and(|row| is_kept[row as usize]);
        let keeps: Vec<bool> = rows.into_iter().map(of_row).collect();
        let records = keeps.iter().filter(|kept| **kept).count() as u64;
        let file = chunk.file;
        let kept = chunk.kept(keeps);
        let kept = kept.map_err(unwritable(&source.files[file].named))?;
        Ok(KeptOfChunk {
            file,
            records,
            kept,
        })
    };
    let mut written = 0;
    source.read_again("write", Columns::All, copy, |part| {
        if let Part::Chunk(KeptOfChunk { records, .. }) = &part {
            written += records;
            if *records == 0 {
                return Ok(());
            }
        }
        each(part)
    })?;
    Ok(written)
}

/// Writes the kept records of each input under its name, in its format and compression, and calls `completed` with
/// the name of each file. Returns the number of documents written. Writes no file without records.
pub(super) fn write_kept(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    is_kept: &[bool],
    completed: &(dyn Fn(String) + Sync),
) -> Result<u64> {
    let kept_folder = folder.partial().join("kept");
    std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
    let open = |file: usize, table| {
        let input = &source.files[file];
        let name = format!("kept/{}", input.relative);
        let (file, path) = folder.create(&name)?;
        let frames = FrameWriter::new(file, input.original_compression)
            .with_level(source.run.compression_level);
        Ok::<_, Error>((name, KeptFile::new(frames, path, table)?))
    };
    let small_files = SmallFiles::default();
    let (mut table, mut beginning, mut large) = (None, Vec::new(), None);
    let (mut begun_bytes, mut begun_file) = (0, 0);
    let mut ending: VecDeque<(String, EndingFile)> = VecDeque::new();
    let finish = |(name, file): (String, EndingFile)| {
        file.finish()?;
        completed(name);
        Ok::<_, Error>(())
    };
    let written = rayon::in_place_scope(|scope| {
        for_each_kept(source, is_kept, |part| {
            match part {
                Part::Table(form) => table = Some(form),
                Part::Chunk(KeptOfChunk { file, kept, .. }) => {
                    begun_bytes += kept.size();
                    begun_file = file;
                    beginning.push(kept);
                    if begun_bytes > FRAME {
                        let (_, target) = match &mut large {
                            Some(large) => large,
                            None => large.insert(open(file, table.take())?),
                        };
                        beginning.drain(..).try_for_each(|kept| target.write(kept))?;
                    }
                }
                Part::End => {
                    let (form, kept) = (table.take(), std::mem::take(&mut beginning));
                    let bytes = std::mem::take(&mut begun_bytes);
                    if let Some((name, target)) = large.take() {
                        ending.push_back((name, target.end()?));
                    } else if !kept.is_empty() {
                        let (small_files, open) = (&small_files, &open);
                        small_files.wait_for_room(bytes)?;
                        scope.spawn(move |_| {
                            small_files.note(bytes, || {
                                let (name, mut target) = open(begun_file, form)?;
                                kept.into_iter().try_for_each(|kept| target.write(kept))?;
                                target.finish()?;
                                completed(name);
                                Ok(())
                            });
                        });
                    }
                    // The last frames of large files are compressed while the next file begins.
                    let in_flight = |(_, file): &(String, EndingFile)| file.in_flight;
                    while ending.iter().map(in_flight).sum::<usize>() > frames_in_flight() {
                        ending.pop_front().map_or(Ok(()), finish)?;
                    }
                }
            }
            Ok(())
        })
    })?;
    small_files.written()?;
    ending.into_iter().try_for_each(finish)?;
    Ok(written)
}

/// Files of one frame, each of which one thread makes beside the others.
#[derive(Default)]
struct SmallFiles {
    /// Bytes of records that wait to be written.
    waiting: AtomicUsize,
    failed: Mutex<Option<Error>>,
}

impl SmallFiles {
    /// Makes a file of this many bytes of records.
    fn note(&self, bytes: usize, make: impl FnOnce() -> Result<()>) {
        if let Err(error) = make() {
            self.lock().get_or_insert(error);
        }
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Works on waiting files until there is room for a further one.
    fn wait_for_room(&self, bytes: usize) -> Result<()> {
        let others = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if others > 0 {
            while self.waiting.load(Ordering::Relaxed) > frames_in_flight() * FRAME {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::yield_now();
                }
            }
        }
        self.written()
    }

    /// The first error.
    fn written(&self) -> Result<()> {
        self.lock().take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the kept records of all inputs to a stream. Returns the number of documents written.
pub(super) fn stream_kept(
    target: &mut (dyn Write + Send),
    source: &FileSource<'_>,
    is_kept: &[bool],
) -> Result<u64> {
    let failed = || Error::io("write to", STDOUT);
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let written = for_each_kept(source, is_kept, |part| match part {
        Part::Chunk(KeptOfChunk { kept, .. }) => {
            let bytes = kept.bytes().unwrap_or_default();
            target.write_all(bytes).map_err(failed())
        }
        Part::Table(_) | Part::End => Ok(()),
    })?;
    target.flush().map_err(failed())?;
    Ok(written)
}
