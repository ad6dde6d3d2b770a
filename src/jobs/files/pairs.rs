//! Finds all similar pairs of documents in files.

use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::run::Run;
use super::source::FileSource;
use crate::error::Result;
use crate::io::{
    OutputFile, PairsFormat, Places, Report, folder_of, write_pairs_table, write_pairs_text,
};
use crate::jobs::pairs::{DocumentPair, PairSearch, Pairs, PairsFound, Streamed};
use crate::jobs::search::{Candidates, Verification};
use crate::progress::{Progress, Timings, advance};

/// The output of pairs.
pub enum PairsOutput<'a> {
    /// A file, in the format of its extension ([`PairsFormat::of_path`]).
    File(&'a Path),
    /// A stream of JSON Lines.
    Stream {
        /// The stream.
        target: &'a mut (dyn Write + Send),
        /// A folder for temporary files. The run deletes them.
        temporary: &'a Path,
    },
}

impl std::fmt::Debug for PairsOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PairsOutput::File(path) => f.debug_tuple("File").field(path).finish(),
            PairsOutput::Stream { temporary, .. } => f
                .debug_struct("Stream")
                .field("temporary", temporary)
                .finish_non_exhaustive(),
        }
    }
}

impl PairsOutput<'_> {
    /// All file names that writing may use.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        match self {
            PairsOutput::File(path) => OutputFile::names(path),
            PairsOutput::Stream { .. } => Vec::new(),
        }
    }

    /// The folder for temporary files.
    fn temporary(&self) -> PathBuf {
        match self {
            PairsOutput::File(path) => folder_of(path).to_owned(),
            PairsOutput::Stream { temporary, .. } => temporary.to_path_buf(),
        }
    }
}

impl Run<'_> {
    /// Finds all similar pairs and writes them: `id_a`, `id_b`, `similarity`, `file_a`, `row_a`, `file_b`, `row_b`.
    /// Their order is that of [`jobs::pairs()`](crate::jobs::pairs()). Memory does not grow with the number of pairs.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`](crate::Error::Stopped) if
    /// the progress stops the run. After an error there is no new output file, and an earlier one is unchanged.
    /// A stream may have received some pairs.
    pub fn pairs(self, task: &Pairs, mut output: PairsOutput<'_>) -> Result<Outcome> {
        let search = &task.search;
        self.check_outputs(&output.names())?;
        let target = Target::open(&mut output, self.overwrite)?;
        let held_bytes = match search.verification {
            Verification::Exact => self.held_bytes,
            Verification::None | Verification::Signature => 0,
        };
        let mut timings = Timings::default();
        let temporary = target.temporary.clone();
        let mut source = FileSource::open(&self, held_bytes, temporary, &mut timings)?;
        let (engine, progress) = (self.engine, self.progress);
        let candidates = Candidates::read(&mut source, engine, search, progress, &mut timings)?;
        let pairs = PairSearch::new(candidates, task);
        let streamed = timings.time("compare and write", 0, || {
            target.write(&pairs, &source.places, progress)
        })?;
        let num_perm = engine.signer().num_perm();
        let mut found = pairs.found(streamed, num_perm, timings, progress);
        source.complete(&mut found.counts);
        self.warn_of_oddities(&found.counts);
        let mut report = source.report("pairs", found.counts.clone(), Some(search));
        describe(&mut report, task, &found);
        let mut timings = found.timings;
        let elapsed_s = timings.complete(self.start);
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
        })
    }
}

/// Adds what concerns pairs alone to a report.
pub(super) fn describe(report: &mut Report, task: &Pairs, found: &PairsFound) {
    report.identical = Some(task.identical.name());
    report.max_pairs = Some(task.max_pairs);
    report.complete = Some(found.is_complete);
    report.expected_precision = found.expected_precision;
}

/// An open output of pairs.
pub(super) struct Target<'a> {
    temporary: PathBuf,
    form: TargetForm<'a>,
}

enum TargetForm<'a> {
    Stream(&'a mut (dyn Write + Send)),
    File {
        output: OutputFile,
        file: std::fs::File,
        format: PairsFormat,
        path: &'a Path,
    },
}

impl<'a> Target<'a> {
    /// Opens the output, a file under its temporary name.
    pub(super) fn open(output: &'a mut PairsOutput<'_>, overwrite: bool) -> Result<Self> {
        let temporary = output.temporary();
        let form = match output {
            PairsOutput::Stream { target, .. } => TargetForm::Stream(&mut **target),
            PairsOutput::File(path) => {
                let format = PairsFormat::of_path(path)?;
                let (output, file) = OutputFile::create(path, overwrite)?;
                TargetForm::File {
                    output,
                    file,
                    format,
                    path,
                }
            }
        };
        Ok(Target { temporary, form })
    }

    /// Writes all pairs of a search.
    pub(super) fn write(
        self,
        pairs: &PairSearch<'_>,
        places: &Places,
        progress: &dyn Progress,
    ) -> Result<Streamed> {
        let documents = pairs.corpus.rows;
        let streamed = Cell::default();
        let for_each = |each: &mut dyn FnMut(u32, u32, Option<f64>) -> Result<()>| {
            let of_all = pairs.for_each(progress, &mut |pair| {
                let DocumentPair { a, b, similarity } = pair;
                each(a, b, similarity)
            })?;
            streamed.set(of_all);
            Ok(())
        };
        match self.form {
            TargetForm::Stream(target) => {
                let format = PairsFormat::JsonLines;
                write_pairs_text(&for_each, places, format, target, Path::new("-"))?;
            }
            TargetForm::File {
                output,
                file,
                format,
                path,
            } => {
                if format == PairsFormat::Parquet {
                    write_pairs_table(&for_each, places, documents, file, path)?;
                } else {
                    write_pairs_text(&for_each, places, format, file, path)?;
                }
                // Last chance to stop the run.
                advance(progress, streamed.get().documents(), 0, 0)?;
                output.commit()?;
            }
        }
        Ok(streamed.get())
    }
}
