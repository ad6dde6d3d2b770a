//! Finds all similar pairs of documents in files.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::dedup_output::STDOUT;
use super::outcome::Outcome;
use super::page::report_page;
use super::pairs_file::REPORT;
use super::pairs_overview::PassingPairs;
use super::resume::ended;
use super::run::{Run, check_compression_level};
use super::samples::{Sampler, Samples};
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Pairing;
use simgpu::progress::{Progress, Timings, advance};
use simgpu::search::{
    Context, DocumentPair, PairSearch, Pairs, PairsFound, Searched, Streamed, Verification,
};
use simgpu_io::{
    Compression, Digest, FrameWriter, Measure, Measured, OutputFile, PairToWrite, PairsFormat,
    PairsParameters, PairsToWrite, Places, Report, folder_of, remove_if_there, sealed, with_suffix,
    write_pairs_table, write_pairs_text,
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
    fn file(&self) -> Option<&Path> {
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

impl Run<'_> {
    /// Finds all similar pairs and writes them: `id_a`, `id_b`, `similarity` or `distance`, `file_a`, `row_a`,
    /// `file_b`, `row_b`. Their order is that of [`pairs()`](simgpu::search::pairs()). Memory does not grow with the
    /// number of pairs. With [`Run::page`], a page that shows them is written beside a file of pairs.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`](simgpu::Error::Stopped) if
    /// the progress stops the run. After an error there is no new output file, and an earlier one is unchanged.
    /// A stream may have received some pairs.
    pub fn pairs(self, task: &Pairs, output: PairsOutput<'_>) -> Result<Outcome> {
        let file = output.file().map(Path::to_owned);
        let temporary = self.temporary.clone();
        let temporary = temporary.unwrap_or_else(|| output.temporary());
        let progress = self.options.progress;
        let outcome = self.pairs_into(task, output);
        ended(outcome, &temporary, file.as_deref(), progress)
    }

    fn pairs_into(self, task: &Pairs, mut output: PairsOutput<'_>) -> Result<Outcome> {
        let file = output.file().map(Path::to_owned);
        let search = &task.search;
        self.check_outputs(&output.names())?;
        let mut target = Target::open(
            &mut output,
            self.options.overwrite,
            self.options.compression_level,
        )?;
        target.set_page(self.page)?;
        let held_bytes = match search.verification {
            Verification::Exact => self.held_bytes,
            Verification::None | Verification::Signature => 0,
        };
        let mut timings = Timings::default();
        let temporary = target.temporary.clone();
        let mut source = FileSource::open(&self, held_bytes, temporary, &mut timings)?;
        let parameters = self.pairs_parameters(task);
        source.set_budget(file.as_deref(), search, parameters, self.memory_bytes())?;
        let (engine, progress) = (self.engine, self.options.progress);
        let context = &mut Context {
            search,
            pairing: Pairing::Across,
            progress,
            timings: &mut timings,
        };
        let searched = Searched::read(&mut source, engine, context)?;
        let pairs = PairSearch::new(searched, task, progress, &mut timings)?;
        let passing = self.page.then(|| {
            let passing = PassingPairs::new(&source.places, pairs.search());
            RefCell::new(passing)
        });
        let streamed = timings.time("compare and write", 0, || {
            let seen = |pair: &DocumentPair| {
                let mut passing = passing.as_ref().map(RefCell::borrow_mut);
                passing.iter_mut().for_each(|passing| passing.add(pair));
            };
            target.write(&pairs, &source.places, &seen, progress)
        })?;
        let compared = streamed.documents as u64;
        let mut found = pairs.found(streamed, timings, progress);
        source.complete(&mut found.counts);
        self.warn_of_oddities(&found.counts);
        let mut report = source.report("pairs", found.counts.clone(), Some(pairs.search()));
        report.inputs = source.places.input_reports();
        describe(&mut report, task, &found);
        if let Some(passing) = passing {
            let page = || self.page_of(&source, &passing.into_inner(), &mut report);
            let page = found.timings.time("page", 0, page)?;
            target.write_page(&page)?;
        }
        target.commit(&report, self.options.progress, compared)?;
        source.complete_budget();
        let resumed = source.resumed();
        let mut timings = found.timings;
        let elapsed_s = timings.complete(self.options.started);
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
            resumed,
        })
    }
}

impl Run<'_> {
    /// The page of a search, whose texts are read here. Adds to the report what the page shows.
    fn page_of(
        &self,
        source: &FileSource<'_>,
        passing: &PassingPairs<'_>,
        report: &mut Report,
    ) -> Result<String> {
        report.overview = Some(passing.overview()?);
        let samples = if self.samples {
            let sampler = Sampler::new(passing.shown(), BTreeMap::new());
            sampler.take_all(source)?;
            sampler.into_samples(&source.places)?.0
        } else {
            Samples::default()
        };
        Ok(report_page(report, &samples))
    }
}

/// Adds what concerns pairs alone to a report.
pub(crate) fn describe(report: &mut Report, task: &Pairs, found: &PairsFound) {
    report.pairs = Some(PairsParameters::new(task));
    report.complete = Some(found.is_complete);
    report.expected_precision = found.expected_precision;
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
    temporary: PathBuf,
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
    pub(super) fn set_page(&mut self, has_page: bool) -> Result<()> {
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
    fn write_page(&mut self, page: &str) -> Result<()> {
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
            let of_all = pairs.for_each(progress, &mut |pair, ids| {
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
            streamed.set(of_all);
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
        // If the run is interrupted before the report has its name, the next one tells by it that the pairs may go.
        target.report.sync()?;
        if let Some((page, _)) = &target.page {
            page.sync()?;
        }
        // The report comes last, so that no report describes the pairs of another run.
        target.report.remove_earlier()?;
        if target.replaces_page {
            // It would show other pairs.
            remove_if_there(&with_suffix(&target.path, PAGE))?;
        }
        target.output.commit()?;
        let has_page = target.page.is_some();
        let page = target.page.map_or(Ok(()), |(page, _)| page.commit());
        let described = page.and_then(|()| target.report.commit());
        if described.is_err() {
            // A file without its report would only keep the run from being repeated.
            let _ = remove_if_there(&target.path);
            if has_page {
                let _ = remove_if_there(&with_suffix(&target.path, PAGE));
            }
        }
        described
    }
}

impl FileTarget {
    fn write(&mut self, rows: &RowForms<'_>) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{LITTLE, engine, overwriting, place, search, skipping};

    #[test]
    fn pairs_are_the_same_wherever_they_go() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let task = Pairs::new(search(&engine, Verification::Exact));
        let run = |memory| skipping(&engine, &inputs).memory(memory);
        let (file, disk) = (place.path("pairs.jsonl"), place.path("disk.jsonl"));
        let outcome = run(1 << 30).pairs(&task, PairsOutput::File(&file)).unwrap();
        let pairs = place.lines("pairs.jsonl");
        assert_eq!(outcome.report.counts.similar_pairs, pairs.len() as u64);
        assert!(pairs.len() > 100);
        let spilled = run(LITTLE).pairs(&task, PairsOutput::File(&disk)).unwrap();
        assert_eq!(spilled.report.counts, outcome.report.counts);
        assert_eq!(place.text("disk.jsonl"), place.text("pairs.jsonl"));
        let mut streamed = Vec::new();
        let temporary = &place.path("in");
        let target = &mut streamed;
        let stream = PairsOutput::Stream { target, temporary };
        run(1 << 30).pairs(&task, stream).unwrap();
        assert_eq!(streamed, place.text("pairs.jsonl").into_bytes());
        let nowhere = run(1 << 30).pairs(&task, PairsOutput::Nowhere { temporary });
        assert_eq!(nowhere.unwrap().report.counts, outcome.report.counts);
        // Each names the places of its documents.
        for pair in pairs {
            for side in ["a", "b"] {
                let (file, row) = (&pair[format!("file_{side}")], &pair[format!("row_{side}")]);
                let records = crate::tests::records(&place, file.as_str().unwrap());
                let row = usize::try_from(row.as_u64().unwrap()).unwrap();
                assert_eq!(records[row].1.as_ref(), Some(&pair[format!("id_{side}")]));
            }
        }
    }

    #[test]
    fn only_pairs_are_protected() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let task = Pairs::new(search(&engine, Verification::Exact));
        let file = place.path("pairs.csv");
        let write = |overwrite| {
            let run = skipping(&engine, &inputs).options(overwriting(overwrite));
            run.pairs(&task, PairsOutput::File(&file))
        };
        // A report without pairs is left from an interrupted run.
        place.write("pairs.csv.report.json", "{}");
        write(false).unwrap();
        assert!(
            place
                .text("pairs.csv.report.json")
                .contains("similar_pairs")
        );
        let before = place.text("pairs.csv");
        assert!(before.starts_with("id_a,id_b,similarity,file_a,row_a,file_b,row_b\n"));
        assert!(matches!(write(false), Err(Error::Output { .. })));
        assert_eq!(place.text("pairs.csv"), before);
        write(true).unwrap();
    }

    #[test]
    fn pairs_without_their_report_are_replaced() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let task = Pairs::new(search(&engine, Verification::Exact));
        let file = place.path("out/pairs.csv");
        let write = || {
            let run = skipping(&engine, &inputs).page(true);
            run.pairs(&task, PairsOutput::File(&file))
        };
        place.write("out/other", "");
        write().unwrap();
        let expected = place.results("out");
        let report = place.path("out/pairs.csv.report.json");
        let partial = place.path("out/pairs.csv.report.json.partial");
        let page = place.path("out/pairs.csv.report.html");
        for has_page in [true, false] {
            // As a run leaves them that is killed before the report has its name, or before the page has its own.
            std::fs::rename(&report, &partial).unwrap();
            if !has_page {
                std::fs::rename(&page, with_suffix(&page, ".partial")).unwrap();
            }
            write().unwrap();
            assert_eq!(place.results("out"), expected, "{has_page}");
        }
        // While a run gives names, another one stays out.
        std::fs::rename(&report, &partial).unwrap();
        let claimed = File::options().write(true).open(&partial).unwrap();
        claimed.lock().unwrap();
        let refused = write().unwrap_err().to_string();
        assert!(refused.contains("another run is writing it"), "{refused}");
        drop(claimed);
        // Pairs that the report does not describe are of someone else.
        place.write("out/pairs.csv", "mine");
        let refused = write().unwrap_err().to_string();
        assert!(refused.contains("the file exists"), "{refused}");
        assert_eq!(place.text("out/pairs.csv"), "mine");
    }
}
