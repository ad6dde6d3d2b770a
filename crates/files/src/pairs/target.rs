//! An open output of pairs, or of other rows.

use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dedup_output::STDOUT;
use crate::pairs_file::REPORT;
use crate::run::check_compression_level;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu::search::{DocumentPair, PairSearch, Streamed};
use simgpu_io::{
    Compression, Digest, FrameWriter, Measure, Measured, OutputFile, PairToWrite, PairsFormat,
    PairsToWrite, Places, folder_of, sealed, with_suffix, write_pairs_table, write_pairs_text,
};

/// The ending of the page beside a file of pairs.
const PAGE: &str = ".report.html";

/// The output of pairs, or of other rows.
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
    #[doc(hidden)]
    pub fn names(&self) -> Vec<PathBuf> {
        match self {
            PairsOutput::File(path) => {
                let names = [REPORT, PAGE].map(|beside| OutputFile::names(path, beside));
                names.concat()
            }
            PairsOutput::Stream { .. } | PairsOutput::Nowhere { .. } => Vec::new(),
        }
    }

    /// The file.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            PairsOutput::File(path) => Some(path),
            PairsOutput::Stream { .. } | PairsOutput::Nowhere { .. } => None,
        }
    }

    /// The folder for temporary files.
    #[doc(hidden)]
    pub fn temporary(&self) -> PathBuf {
        match self {
            PairsOutput::File(path) => folder_of(path).to_owned(),
            PairsOutput::Stream { temporary, .. } | PairsOutput::Nowhere { temporary } => {
                temporary.to_path_buf()
            }
        }
    }
}

/// How to write rows, in each form of an output.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct RowForms<'a> {
    /// Makes them, and writes none.
    #[doc(hidden)]
    pub none: &'a dyn Fn() -> Result<()>,
    #[doc(hidden)]
    pub text: &'a dyn Fn(PairsFormat, &mut dyn Write, &Path) -> Result<()>,
    #[doc(hidden)]
    pub table: &'a dyn Fn(File, &Path) -> Result<()>,
}

/// An open output of pairs, or of other rows.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Target<'a> {
    pub(super) temporary: PathBuf,
    form: TargetForm<'a>,
}

enum TargetForm<'a> {
    Stream(&'a mut (dyn Write + Send)),
    Nowhere,
    File(Box<FileTarget>),
}

/// A report beside a file, with the digest of that file.
#[derive(Serialize)]
struct Described<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    output_blake3_128: &'a str,
}

/// What tells that a report is of a file.
#[derive(Deserialize)]
struct OfFile {
    output_blake3_128: String,
}

/// A file of pairs under its temporary name, and the report beside it.
struct FileTarget {
    output: OutputFile,
    file: File,
    format: PairsFormat,
    compression: Compression,
    level: Option<u32>,
    path: PathBuf,
    overwrite: bool,
    report: OutputFile,
    report_file: File,
    page: Option<(OutputFile, File)>,
    /// Whether the page of an earlier run is removed.
    replaces_page: bool,
}

impl<'a> Target<'a> {
    /// Opens the output, a file under its temporary name.
    #[doc(hidden)]
    pub fn open(
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
                OutputFile::discard_undescribed(path, REPORT, |report: &OfFile, file| {
                    Ok(report.output_blake3_128 == Digest::hash_file(file)?)
                })?;
                let (output, file) = OutputFile::create(path, overwrite)?;
                // A report without pairs is left from an interrupted run, so overwrite it. Pairs were refused by now.
                let (report, report_file) = OutputFile::create(&with_suffix(path, REPORT), true)?;
                TargetForm::File(Box::new(FileTarget {
                    output,
                    file,
                    format,
                    compression,
                    level,
                    path: path.to_path_buf(),
                    overwrite,
                    report,
                    report_file,
                    page: None,
                    replaces_page: false,
                }))
            }
        };
        Ok(Target { temporary, form })
    }

    /// Sets whether there is a page beside a file of pairs, and opens it under its temporary name.
    pub(crate) fn set_page(&mut self, has_page: bool) -> Result<()> {
        if let TargetForm::File(target) = &mut self.form {
            target.replaces_page = target.overwrite;
            if has_page {
                // As the report: without pairs it is left from an interrupted run.
                let page = OutputFile::create(&with_suffix(&target.path, PAGE), true)?;
                target.page = Some(page);
            }
        }
        Ok(())
    }

    /// Writes the page beside a file of pairs.
    pub(super) fn write_page(&mut self, page: &str) -> Result<()> {
        let TargetForm::File(target) = &mut self.form else {
            return Ok(());
        };
        let Some((_, file)) = &mut target.page else {
            return Ok(());
        };
        let written = file.write_all(page.as_bytes());
        written.map_err(Error::io("write", with_suffix(&target.path, PAGE)))
    }

    /// Compares the candidates of a search and writes all pairs, each of which `seen` is told. A file keeps its temporary
    /// name.
    pub(crate) fn write<'p>(
        &mut self,
        pairs: &PairSearch<'_>,
        places: &'p Places,
        seen: &dyn Fn(&DocumentPair),
        progress: &dyn Progress,
    ) -> Result<Streamed> {
        let streamed = Cell::default();
        let for_each = |each: &mut dyn FnMut(PairToWrite<'p>) -> Result<()>| {
            let found = pairs.for_each(progress, &mut |pair, ids| {
                seen(&pair);
                let DocumentPair {
                    a,
                    b,
                    similarity,
                    distance,
                } = pair;
                // Without ids of their own, documents are named by their place.
                let ids = ids.filter(|_| places.ids.is_some());
                each(PairToWrite {
                    rows: [a, b],
                    ids: match ids {
                        Some(ids) => ids.map(|id| id.to_owned().into()),
                        None => [places.id(a)?, places.id(b)?],
                    },
                    measured: distance.map_or(Measured::Similarity(similarity), Measured::Distance),
                })
            })?;
            streamed.set(found);
            Ok(())
        };
        let written = PairsToWrite {
            for_each: &for_each,
            measure: match pairs.search().within {
                None => Measure::Similarity,
                Some(_) => Measure::Distance,
            },
            places,
        };
        self.write_rows(&RowForms {
            none: &|| for_each(&mut |_| Ok(())),
            text: &|format, target, path| write_pairs_text(&written, format, target, path),
            table: &|file, path| write_pairs_table(&written, file, path),
        })?;
        Ok(streamed.get())
    }

    /// Writes rows. A file keeps its temporary name.
    #[doc(hidden)]
    pub fn write_rows(&mut self, rows: &RowForms<'_>) -> Result<()> {
        match &mut self.form {
            TargetForm::Nowhere => (rows.none)(),
            TargetForm::Stream(target) => {
                (rows.text)(PairsFormat::JsonLines, *target, Path::new(STDOUT))
            }
            TargetForm::File(target) => target.write(rows),
        }
    }

    /// Writes the report beside a file of pairs, and gives all of them their final names. `compared` is the number of documents
    /// whose comparisons are complete.
    #[doc(hidden)]
    pub fn commit(
        self,
        report: &impl Serialize,
        progress: &dyn Progress,
        compared: u64,
    ) -> Result<()> {
        let TargetForm::File(target) = self.form else {
            return Ok(());
        };
        let mut target = *target;
        let digest = Digest::hash_file(&target.file).map_err(Error::io("read", &target.path))?;
        let described = Described {
            report,
            output_blake3_128: &digest,
        };
        let written =
            sealed(&described).and_then(|json| target.report_file.write_all(json.as_bytes()));
        written.map_err(Error::io("write", with_suffix(&target.path, REPORT)))?;
        // Last chance to stop the run.
        advance(progress, compared, 0, 0)?;
        let page = with_suffix(&target.path, PAGE);
        // The page of an earlier run would show other pairs.
        let stale = (target.replaces_page && target.page.is_none()).then_some(page);
        // The report comes last, so that no report describes the pairs of another run. If the run is interrupted before the
        // report has its name, the next one tells by it that the pairs may go.
        let page = target.page.map(|(page, _)| page);
        let files = [Some(target.output), page, Some(target.report)];
        let files = files.into_iter().flatten().collect();
        OutputFile::commit_all(files, stale.as_slice(), progress)
    }
}

impl FileTarget {
    pub(super) fn write(&mut self, rows: &RowForms<'_>) -> Result<()> {
        let path = &self.path;
        let failed = || Error::io("write", path);
        let file = self.file.try_clone().map_err(failed())?;
        if self.format == PairsFormat::Parquet {
            return (rows.table)(file, path);
        }
        let mut frames = FrameWriter::new(file, self.compression, self.level);
        (rows.text)(self.format, &mut frames, path)?;
        frames.finish().map_err(failed())
    }
}
