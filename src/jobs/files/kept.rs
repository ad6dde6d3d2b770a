//! Where a deduplication writes its results, and the writing of kept records.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::run::{Run, check_compression_level};
use super::second_pass::{Part, Placed};
use super::source::FileSource;
use crate::error::{Error, Result};
use crate::io::{
    Columns, EndingFile, Format, FrameWriter, Kept, KeptFile, OutputFolder, Position,
    frames_in_flight, unwritable,
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

impl DedupOutput<'_> {
    /// The folder for all results.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            DedupOutput::Folder(folder) => Some(folder),
            DedupOutput::Stream { .. } | DedupOutput::Nowhere { .. } => None,
        }
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

/// The name of the writing of kept records, for checkpoints.
const WRITE: &str = "write";

/// What is written of the kept records at a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Written {
    /// The number of inputs whose kept records are written.
    inputs: usize,
    /// The number of kept records.
    records: u64,
    /// The files with these records.
    pub(super) names: BTreeSet<String>,
}

impl FileSource<'_> {
    /// What was written before the run was stopped.
    pub(super) fn written(&self) -> Written {
        let spill = self.unfinished();
        let written = spill.and_then(|spill| spill.state(WRITE));
        written.unwrap_or_default()
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
    start: &Position,
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
    source.read_again("write", Columns::All, start, copy, |part| {
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
    mut written: Written,
    completed: &(dyn Fn(String) + Sync),
) -> Result<u64> {
    let kept_folder = folder.partial().join("kept");
    std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
    let (mut table, mut current) = (None, None);
    let mut ending: VecDeque<Ending> = VecDeque::new();
    let start = source.places.start_of_file(written.inputs);
    let before = written.records;
    let mut of_file = 0;
    let mut finish = |ending: Ending| {
        if let Some((name, file)) = ending.file {
            file.finish()?;
            written.names.insert(name.clone());
            completed(name);
        }
        written.inputs += 1;
        written.records += ending.records;
        match source.on_disk() {
            Some(spill) if spill.is_due() => {
                folder.keep(&written.names)?;
                spill.checkpoint(WRITE, &written)
            }
            _ => Ok(()),
        }
    };
    let records = for_each_kept(source, is_kept, &start, |part| {
        match part {
            Part::Table(form) => table = Some(form),
            Part::Chunk(KeptOfChunk {
                file,
                kept,
                records,
            }) => {
                of_file += records;
                let (_, target) = match &mut current {
                    Some(target) => target,
                    None => {
                        let input = &source.files[file];
                        let name = format!("kept/{}", input.relative);
                        let (file, path) = folder.create(&name)?;
                        let frames = FrameWriter::new(file, input.original_compression)
                            .with_level(source.run.compression_level);
                        current.insert((name, KeptFile::new(frames, path, table.take())?))
                    }
                };
                target.write(&kept)?;
            }
            Part::End => {
                table = None;
                let file = current
                    .take()
                    .map(|(name, target)| Ok::<_, Error>((name, target.end()?)));
                ending.push_back(Ending {
                    file: file.transpose()?,
                    records: std::mem::take(&mut of_file),
                });
                // Small files are compressed many at a time, like the frames of a large one.
                let in_flight = |ending: &Ending| {
                    let file = ending.file.as_ref();
                    file.map_or(0, |(_, file)| file.in_flight)
                };
                while ending.iter().map(in_flight).sum::<usize>() > frames_in_flight() {
                    ending.pop_front().map_or(Ok(()), &mut finish)?;
                }
            }
        }
        Ok(())
    })?;
    ending.into_iter().try_for_each(finish)?;
    Ok(before + records)
}

/// The end of an input.
struct Ending {
    /// The file with its kept records, and its name; `None` without kept records.
    file: Option<(String, EndingFile)>,
    /// The number of kept records.
    records: u64,
}

/// Writes the kept records of all inputs to a stream. Returns the number of documents written.
pub(super) fn stream_kept(
    target: &mut (dyn Write + Send),
    source: &FileSource<'_>,
    is_kept: &[bool],
) -> Result<u64> {
    let failed = || Error::io("write to", STDOUT);
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let start = Position::default();
    let written = for_each_kept(source, is_kept, &start, |part| match part {
        Part::Chunk(KeptOfChunk { kept, .. }) => {
            let bytes = kept.bytes().unwrap_or_default();
            target.write_all(bytes).map_err(failed())
        }
        Part::Table(_) | Part::End => Ok(()),
    })?;
    target.flush().map_err(failed())?;
    Ok(written)
}
