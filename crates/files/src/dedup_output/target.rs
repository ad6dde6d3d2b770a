//! Where a deduplication writes its results.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::run::{Action, Run, check_compression_level};
use crate::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu_io::{Format, Leftovers, OutputFolder};

/// What messages call the stream of a run.
pub(crate) const STDOUT: &str = "stdout";

/// Where [`Run::dedup`](crate::Run::dedup) writes its results. A path is a folder.
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
    pub(crate) fn folder(&self) -> Option<&Path> {
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
pub(crate) enum OpenOutput<'a> {
    Folder(OutputFolder),
    Stream(&'a mut (dyn Write + Send), PathBuf),
    Nowhere(PathBuf),
}

impl<'a> OpenOutput<'a> {
    pub(crate) fn open(run: &Run<'_>, output: DedupOutput<'a>) -> Result<Self> {
        Ok(match output {
            DedupOutput::Folder(folder) => {
                run.check_folder(folder)?;
                run.check_temporary_outside(folder)?;
                OpenOutput::Folder(OutputFolder::open(
                    folder,
                    run.options.overwrite,
                    Leftovers::Keep,
                )?)
            }
            DedupOutput::Stream { target, temporary } => {
                OpenOutput::Stream(target, temporary.to_owned())
            }
            DedupOutput::Nowhere { temporary } => OpenOutput::Nowhere(temporary.to_owned()),
        })
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        match self {
            OpenOutput::Folder(folder) => folder.partial(),
            OpenOutput::Stream(_, temporary) | OpenOutput::Nowhere(temporary) => temporary.clone(),
        }
    }

    /// Refuses inputs and options that this output does not take.
    pub(crate) fn check(&self, source: &FileSource<'_>) -> Result<()> {
        let level = source.run.options.compression_level;
        let action = source.run.action;
        match self {
            OpenOutput::Folder(_) | OpenOutput::Nowhere(_) => {
                let copied = source.files[source.reference_files..].iter();
                let copied = copied.filter(|_| action == Action::Drop);
                let kept = copied.map(|file| file.original_compression);
                let removed = source.run.removed_format.compression();
                check_compression_level(level, kept.chain([removed]))
            }
            OpenOutput::Stream(..) => {
                if action == Action::Report {
                    return Err(Error::Output {
                        path: STDOUT.into(),
                        problem: "a stream takes kept records, and a report has none".to_owned(),
                        remedy: "name an output folder".to_owned(),
                    });
                }
                let other = source.files[source.reference_files..]
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
