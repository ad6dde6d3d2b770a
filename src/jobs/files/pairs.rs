//! Finds all similar pairs of documents in files.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::run::{Run, check_compression_level};
use super::source::FileSource;
use crate::error::{Error, Result};
use crate::io::{
    Compression, ForEachPair, FrameWriter, OutputFile, PairsFormat, Places, Report, folder_of,
    with_suffix, write_json, write_pairs_table, write_pairs_text,
};
use crate::jobs::pairs::{DocumentPair, PairsFound, find_pairs};
use crate::jobs::search::{Search, Verification};
use crate::progress::{Progress, Timings, advance};

/// The output of pairs.
pub enum PairsOutput<'a> {
    /// A file, in the format of its extension ([`PairsFormat::of_path`]). The report of the run is written
    /// beside it; its name is that of the file with `.report.json` at the end.
    File(&'a Path),
    /// A stream of JSON Lines.
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

/// The ending of the report beside a file of pairs: `pairs.jsonl.report.json`.
const REPORT: &str = ".report.json";

impl std::fmt::Debug for PairsOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PairsOutput::File(path) => f.debug_tuple("File").field(path).finish(),
            PairsOutput::Stream { temporary, .. } => f
                .debug_struct("Stream")
                .field("temporary", temporary)
                .finish_non_exhaustive(),
            PairsOutput::Nowhere { temporary } => {
                f.debug_tuple("Nowhere").field(temporary).finish()
            }
        }
    }
}

impl PairsOutput<'_> {
    /// All file names that writing may use.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        match self {
            PairsOutput::File(path) => OutputFile::names(path, REPORT),
            PairsOutput::Stream { .. } | PairsOutput::Nowhere { .. } => Vec::new(),
        }
    }

    /// The folder for temporary files.
    fn temporary(&self) -> PathBuf {
        match self {
            PairsOutput::File(path) => folder_of(path).to_owned(),
            PairsOutput::Stream { temporary, .. } | PairsOutput::Nowhere { temporary } => {
                temporary.to_path_buf()
            }
        }
    }
}

impl Run<'_> {
    /// Finds all similar pairs and writes them, sorted by row: `id_a`, `id_b`, `similarity`, `file_a`,
    /// `row_a`, `file_b`, `row_b`.
    ///
    /// Identical documents, those with the same sequence of units, are pairs of similarity 1 and have the same
    /// partners. In a group of more than [`Search::max_bucket`] identical documents, each is paired with the
    /// first one only.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`](crate::Error::Stopped) if
    /// the progress stops the run. After an error there is no new output file, and an earlier one is unchanged.
    /// A stream may have received some pairs.
    pub fn pairs(self, search: &Search, mut output: PairsOutput<'_>) -> Result<Outcome> {
        self.check_outputs(&output.names())?;
        let mut target = Target::open(&mut output, self.overwrite, self.compression_level)?;
        let held_bytes = match search.verification {
            Verification::Exact => self.held_bytes,
            Verification::None | Verification::Signature => 0,
        };
        let mut source = FileSource::open(&self, held_bytes, target.temporary.clone())?;
        let (corpus, mut found) = find_pairs(&mut source, self.engine, search, self.progress)?;
        let mut timings = std::mem::take(&mut found.timings);
        let documents = corpus.rows;
        target.write(
            &found,
            &source.places,
            documents,
            self.progress,
            &mut timings,
        )?;
        source.complete(&mut found.counts);
        self.warn_of_oddities(&found.counts);
        let report = source.report("pairs", found.counts, Some(search));
        target.commit(&report, self.progress)?;
        Ok(Outcome { report, timings })
    }
}

/// An open output of pairs.
pub(super) struct Target<'a> {
    temporary: PathBuf,
    form: TargetForm<'a>,
}

enum TargetForm<'a> {
    Stream(&'a mut (dyn Write + Send)),
    Nowhere,
    File(Box<FileTarget>),
}

/// A file of pairs under its temporary name, and the report beside it.
struct FileTarget {
    output: OutputFile,
    file: File,
    format: PairsFormat,
    compression: Compression,
    level: Option<u32>,
    path: PathBuf,
    report: OutputFile,
    report_file: File,
}

impl<'a> Target<'a> {
    /// Opens the output, a file under its temporary name.
    pub(super) fn open(
        output: &'a mut PairsOutput<'_>,
        overwrite: bool,
        level: Option<u32>,
    ) -> Result<Self> {
        let temporary = output.temporary();
        let form = match output {
            PairsOutput::Stream { target, .. } => {
                check_compression_level(level, std::iter::empty())?;
                TargetForm::Stream(&mut **target)
            }
            PairsOutput::Nowhere { .. } => TargetForm::Nowhere,
            PairsOutput::File(path) => {
                let (format, compression) = PairsFormat::with_compression(path)?;
                check_compression_level(level, std::iter::once(compression))?;
                let (output, file) = OutputFile::create(path, overwrite)?;
                // A report without pairs is left from an interrupted run, so overwrite it.
                let (report, report_file) =
                    OutputFile::create(&with_suffix(path, REPORT), overwrite || !path.exists())?;
                TargetForm::File(Box::new(FileTarget {
                    output,
                    file,
                    format,
                    compression,
                    level,
                    path: path.to_path_buf(),
                    report,
                    report_file,
                }))
            }
        };
        Ok(Target { temporary, form })
    }

    /// Writes all pairs among `documents` documents. A file keeps its temporary name.
    pub(super) fn write(
        &mut self,
        found: &PairsFound,
        places: &Places,
        documents: u32,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<()> {
        if let TargetForm::Nowhere = self.form {
            return Ok(());
        }
        progress.begin("write", found.counts.similar_pairs);
        let for_each = |each: &mut dyn FnMut(u32, u32, Option<f64>) -> Result<()>| {
            let mut done = 0;
            found.for_each(|DocumentPair { a, b, similarity }| {
                done += 1;
                if done % 65_536 == 0 {
                    advance(progress, done, 0, 0)?;
                }
                each(a, b, similarity)
            })
        };
        timings.time("write", 0, || match &mut self.form {
            TargetForm::Nowhere => Ok(()),
            TargetForm::Stream(target) => {
                let format = PairsFormat::JsonLines;
                write_pairs_text(&for_each, places, format, target, Path::new("-"))
            }
            TargetForm::File(target) => target.write(&for_each, places, documents),
        })
    }

    /// Writes the report beside a file of pairs, and gives both their final names.
    pub(super) fn commit(self, report: &Report, progress: &dyn Progress) -> Result<()> {
        let TargetForm::File(target) = self.form else {
            return Ok(());
        };
        let mut target = *target;
        let written = write_json(&mut target.report_file, report);
        written.map_err(Error::io("write", with_suffix(&target.path, REPORT)))?;
        // Last chance to stop the run.
        advance(progress, report.counts.similar_pairs, 0, 0)?;
        // The report comes last, so that no report describes the pairs of another run.
        target.report.remove_earlier()?;
        target.output.commit()?;
        target.report.commit()
    }
}

impl FileTarget {
    fn write(
        &mut self,
        for_each_pair: ForEachPair<'_>,
        places: &Places,
        documents: u32,
    ) -> Result<()> {
        let path = &self.path;
        let failed = || Error::io("write", path);
        let file = self.file.try_clone().map_err(failed())?;
        if self.format == PairsFormat::Parquet {
            return write_pairs_table(for_each_pair, places, documents, file, path);
        }
        let mut frames = FrameWriter::new(file, self.compression).with_level(self.level);
        write_pairs_text(for_each_pair, places, self.format, &mut frames, path)?;
        frames.finish().map_err(failed())
    }
}
