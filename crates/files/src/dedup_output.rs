//! Where a deduplication writes its results, and the writing of kept records.
//!
//! A kept file of at most one frame is one job, so that no thread has to feed the others: when one thread created and
//! wrote all files, it spent 0.25 ms on each and the other waited. The parts of a larger file are written in order, by one
//! job at a time, so that the thread that passes them on does not wait, and the end of one file is written beside the
//! beginning of the next.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::Scope;
use serde::{Deserialize, Serialize};

use super::run::{Action, Run, check_compression_level};
use super::samples::{Sample, Sampler};
use super::second_pass::{FileEvent, Placed};
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu_base::threads::help;
use simgpu_io::{
    Columns, FRAME, Format, FrameWriter, InputFile, Kept, KeptFile, Leftovers, OutputFolder,
    Position, TableForm, WrittenFiles, frames_in_flight, unwritable,
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
pub(crate) enum OpenOutput<'a> {
    Folder(OutputFolder),
    Stream(&'a mut (dyn Write + Send), PathBuf),
    Nowhere(PathBuf),
}

impl<'a> OpenOutput<'a> {
    pub(super) fn open(run: &Run<'_>, output: DedupOutput<'a>) -> Result<Self> {
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
    pub(super) fn temporary(&self) -> PathBuf {
        match self {
            OpenOutput::Folder(folder) => folder.partial(),
            OpenOutput::Stream(_, temporary) | OpenOutput::Nowhere(temporary) => temporary.clone(),
        }
    }

    /// Refuses inputs and options that this output does not take.
    pub(super) fn check(&self, source: &FileSource<'_>) -> Result<()> {
        let level = source.run.options.compression_level;
        let action = source.run.action;
        match self {
            OpenOutput::Folder(_) | OpenOutput::Nowhere(_) => {
                let copied = source.files[source.of_reference..].iter();
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
                let other = source.files[source.of_reference..]
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

/// The name of the texts that the page shows, for checkpoints.
const SAMPLED: &str = "samples";

/// What is written of the kept records at a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Written {
    /// The number of inputs whose kept records are written.
    inputs: usize,
    /// The number of kept records.
    records: u64,
    /// The files with these records.
    pub(super) names: BTreeSet<String>,
}

impl Written {
    /// Nothing is written yet, and nothing will be of the first files, a reference.
    #[doc(hidden)]
    pub fn after_reference(files: usize) -> Self {
        Written {
            inputs: files,
            ..Written::default()
        }
    }
}

impl FileSource<'_> {
    /// What was written before the run was stopped.
    pub(super) fn written(&self) -> Written {
        let spill = self.unfinished();
        let written = spill.and_then(|spill| spill.state(WRITE));
        written.unwrap_or_else(|| self.nothing_written())
    }

    /// Nothing is written yet, and nothing will be of the reference.
    pub(super) fn nothing_written(&self) -> Written {
        Written::after_reference(self.of_reference)
    }

    /// The texts that were taken before the run was stopped, by row.
    pub(super) fn sampled(&self) -> BTreeMap<u32, Sample> {
        let spill = self.unfinished();
        let sampled = spill.and_then(|spill| spill.state(SAMPLED));
        sampled.unwrap_or_default()
    }
}

/// The kept records of a chunk of a file.
#[doc(hidden)]
#[derive(Debug)]
pub struct KeptOfChunk {
    #[doc(hidden)]
    pub records: u64,
    #[doc(hidden)]
    pub kept: Kept,
}

/// The kept records of a run, as a second pass over its inputs finds them.
#[derive(Clone, Copy)]
pub(super) struct KeptRecords<'a> {
    pub(super) source: &'a FileSource<'a>,
    /// Whether each document is kept, by row.
    pub(super) is_kept: &'a [bool],
    /// Sees all documents, kept or not.
    pub(super) sampler: &'a Sampler,
}

impl KeptRecords<'_> {
    /// Reads the inputs again and copies the kept records. Passes those of each chunk that has some to `each`, and the
    /// other parts of files. Returns the number of records.
    fn for_each(&self, start: &Position, each: &mut EachKept<'_>) -> Result<u64> {
        let KeptRecords {
            source,
            is_kept,
            sampler,
        } = *self;
        let copy = |placed: Placed| {
            sampler.take(source, &placed)?;
            let Placed { chunk, rows } = placed;
            let is_row_kept = |row: Option<u32>| row.is_some_and(|row| is_kept[row as usize]);
            let keeps: Vec<bool> = rows.into_iter().map(is_row_kept).collect();
            let records = keeps.iter().filter(|kept| **kept).count() as u64;
            let kept = chunk.kept(keeps);
            let kept = kept.map_err(unwritable(&source.files[chunk.file].named))?;
            Ok(KeptOfChunk { records, kept })
        };
        let mut written = 0;
        source.read_again("write", Columns::All, start, copy, |part| {
            if let FileEvent::Chunk(KeptOfChunk { records, .. }) = &part {
                written += records;
                // A file gets a name only with its first kept record.
                if *records == 0 {
                    return Ok(());
                }
            }
            each(part)
        })?;
        Ok(written)
    }
}

/// Writes the kept records of each input under its name, in its format and compression, after those that are `written`,
/// and tells `files` of each file. Returns the number of documents written.
pub(super) fn write_kept(
    folder: &OutputFolder,
    kept: KeptRecords<'_>,
    written: &Written,
    files: &WrittenFiles,
) -> Result<u64> {
    let KeptRecords {
        source, sampler, ..
    } = kept;
    let checkpoint = |written: &dyn Fn() -> Written| match source.on_disk() {
        Some(spill) if spill.is_due() => {
            let written = written();
            folder.keep(&written.names)?;
            spill.note(SAMPLED, &sampler.taken())?;
            spill.checkpoint(WRITE, &written)
        }
        _ => Ok(()),
    };
    let output = KeptOutput {
        folder,
        files: &source.files,
        compression_level: source.run.options.compression_level,
        written: files,
        checkpoint: &checkpoint,
    };
    let place = source.places.start_of_file(written.inputs);
    output.write(written, |each| kept.for_each(&place, each))
}

/// How long to wait for jobs of other threads.
const WAIT: Duration = Duration::from_micros(100);

/// Bytes of kept records of a large file after which it is written to disk, before compression.
const WRITTEN_BACK: usize = 32 << 20;

/// Where the kept records of inputs are written.
#[derive(Clone, Copy)]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct KeptOutput<'a> {
    #[doc(hidden)]
    pub folder: &'a OutputFolder,
    #[doc(hidden)]
    pub files: &'a [InputFile],
    #[doc(hidden)]
    pub compression_level: Option<u32>,
    /// Is told of each file.
    #[doc(hidden)]
    pub written: &'a WrittenFiles,
    /// Makes a checkpoint of what is written, if one is due.
    #[doc(hidden)]
    pub checkpoint: &'a Checkpoint<'a>,
}

/// Makes a checkpoint of what is written, if one is due.
pub(crate) type Checkpoint<'a> = dyn Fn(&dyn Fn() -> Written) -> Result<()> + Sync + 'a;

/// Is told the parts of files with their kept records.
pub(crate) type EachKept<'a> = dyn FnMut(FileEvent<KeptOfChunk>) -> Result<()> + 'a;

impl KeptOutput<'_> {
    /// Writes the kept records of each input under its name, in its format and compression, as `read` passes them on, which
    /// returns their number. Returns the number of all records written. Writes no file without records.
    ///
    /// Each file of at most a frame is one job, which creates, compresses and writes it. Frames of larger files are
    /// compressed by all threads.
    #[doc(hidden)]
    pub fn write(
        &self,
        written: &Written,
        read: impl FnOnce(&mut EachKept<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let kept_folder = self.folder.partial().join("kept");
        std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
        let files = &KeptFiles {
            output: *self,
            waiting_bytes: AtomicUsize::new(0),
            failed: Mutex::default(),
            done: Mutex::new(Done {
                written: written.clone(),
                later: BTreeMap::new(),
            }),
        };
        let mut start = StartOfFile::new(written.inputs);
        let mut large: Option<Arc<LargeFile>> = None;
        let records = rayon::in_place_scope(|scope| {
            read(&mut |part| {
                match part {
                    FileEvent::Table(form) => start.form = Some(form),
                    FileEvent::Chunk(KeptOfChunk { records, kept, .. }) => {
                        start.records += records;
                        start.bytes += kept.size();
                        start.kept.push(kept);
                        if start.bytes > FRAME {
                            let large = match &large {
                                Some(large) => large,
                                None => large.insert(files.begin(&mut start)?),
                            };
                            files.give(scope, large, std::mem::take(&mut start.kept), None)?;
                        }
                    }
                    FileEvent::End => {
                        let next = StartOfFile::new(start.file + 1);
                        let small = std::mem::replace(&mut start, next);
                        if let Some(large) = large.take() {
                            files.give(scope, &large, Vec::new(), Some(small.records))?;
                        } else if small.kept.is_empty() {
                            files.done().add(small.file, 0, None);
                        } else {
                            files.wait_for_room(small.bytes)?;
                            scope.spawn(|_| files.write_small(small));
                        }
                        files.make_checkpoint()?;
                    }
                }
                Ok(())
            })
        })?;
        files.check()?;
        Ok(written.records + records)
    }
}

/// The kept records of a file that were not passed to its writer.
#[derive(Default)]
struct StartOfFile {
    file: usize,
    form: Option<TableForm>,
    kept: Vec<Kept>,
    /// Bytes of all of its kept records so far.
    bytes: usize,
    /// The number of all of its kept records so far.
    records: u64,
}

impl StartOfFile {
    /// Nothing yet of this file.
    fn new(file: usize) -> Self {
        StartOfFile {
            file,
            ..StartOfFile::default()
        }
    }

    fn write_to(&mut self, target: &mut KeptFile) -> Result<()> {
        self.kept.drain(..).try_for_each(|kept| target.write(kept))
    }
}

/// A file of more than a frame.
struct LargeFile {
    input: usize,
    name: String,
    parts: Mutex<LargeFileParts>,
}

/// What is left to do for a large file.
#[derive(Default)]
struct LargeFileParts {
    /// The next parts, in order.
    waiting: Vec<Kept>,
    /// The number of its records, once all parts are here.
    records: Option<u64>,
    /// Whether a job writes parts.
    is_in_progress: bool,
    /// The file, while no job has it; `None` after an error, and at the end.
    file: Option<KeptFile>,
    /// Bytes after which it is written to disk the next time.
    until_back: usize,
}

impl LargeFile {
    fn parts(&self) -> MutexGuard<'_, LargeFileParts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is written so far. Files may be complete in any order.
struct Done {
    /// Up to the first input that is not complete.
    written: Written,
    /// The inputs after that one: the number of kept records of each, and its file.
    later: BTreeMap<usize, (u64, Option<String>)>,
}

impl Done {
    /// Adds an input whose kept records are written: their number, and the name of their file.
    fn add(&mut self, input: usize, records: u64, name: Option<String>) {
        self.later.insert(input, (records, name));
        let written = &mut self.written;
        while let Some((records, name)) = self.later.remove(&written.inputs) {
            written.inputs += 1;
            written.records += records;
            written.names.extend(name);
        }
    }
}

/// Writes the files of kept records.
struct KeptFiles<'a> {
    output: KeptOutput<'a>,
    /// Bytes of small files that no thread has begun to write, and of large ones that are not written.
    waiting_bytes: AtomicUsize,
    /// The first error of a job.
    failed: Mutex<Option<Error>>,
    done: Mutex<Done>,
}

impl KeptFiles<'_> {
    /// Creates the file of an input. Returns its name, too.
    fn open(&self, file: usize, form: Option<TableForm>) -> Result<(String, KeptFile)> {
        let input = &self.output.files[file];
        let name = format!("kept/{}", input.relative);
        let (file, path) = self.output.folder.create(&name)?;
        let level = self.output.compression_level;
        let frames = FrameWriter::new(file, input.original_compression, level);
        Ok((name, KeptFile::new(frames, path, form)?))
    }

    /// Works on files until there is room for this many bytes.
    fn wait_for_room(&self, bytes: usize) -> Result<()> {
        let room = (frames_in_flight() * FRAME).max(bytes);
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        while self.waiting_bytes.load(Ordering::Relaxed) > room {
            if !help() {
                std::thread::sleep(WAIT);
            }
        }
        self.check()
    }

    /// Begins the large file that `start` is the start of.
    fn begin(&self, start: &mut StartOfFile) -> Result<Arc<LargeFile>> {
        let (name, file) = self.open(start.file, start.form.take())?;
        Ok(Arc::new(LargeFile {
            input: start.file,
            name,
            parts: Mutex::new(LargeFileParts {
                file: Some(file),
                until_back: WRITTEN_BACK,
                ..LargeFileParts::default()
            }),
        }))
    }

    /// Passes the next parts of a large file to the job that writes it; with the last ones the number of its records.
    fn give<'s>(
        &'s self,
        scope: &Scope<'s>,
        large: &Arc<LargeFile>,
        kept: Vec<Kept>,
        records: Option<u64>,
    ) -> Result<()> {
        let bytes = kept.iter().map(Kept::size).sum();
        self.wait_for_room(bytes)?;
        let mut parts = large.parts();
        parts.waiting.extend(kept);
        parts.records = records;
        if !std::mem::replace(&mut parts.is_in_progress, true) {
            let large = Arc::clone(large);
            scope.spawn(move |_| self.write_large(&large));
        }
        Ok(())
    }

    /// Writes the parts of a large file that wait, until there are none.
    fn write_large(&self, large: &LargeFile) {
        loop {
            let mut parts = large.parts();
            let (kept, records) = (std::mem::take(&mut parts.waiting), parts.records.take());
            parts.is_in_progress = !kept.is_empty() || records.is_some();
            if !parts.is_in_progress {
                return;
            }
            let (file, mut until_back) = (parts.file.take(), parts.until_back);
            drop(parts);
            let bytes: usize = kept.iter().map(Kept::size).sum();
            let written = self.write_parts(large, file, kept, records);
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            until_back = match until_back.checked_sub(bytes) {
                Some(left) => left,
                None => {
                    self.output.written.grow(&large.name);
                    WRITTEN_BACK
                }
            };
            let mut parts = large.parts();
            parts.until_back = until_back;
            match written {
                Ok(file) => parts.file = file,
                Err(error) => {
                    self.failed().get_or_insert(error);
                }
            }
        }
    }

    /// Writes parts to a large file, which is complete once the number of its records is known. Returns it if it is not.
    fn write_parts(
        &self,
        large: &LargeFile,
        file: Option<KeptFile>,
        kept: Vec<Kept>,
        records: Option<u64>,
    ) -> Result<Option<KeptFile>> {
        let Some(mut file) = file else {
            return Ok(None);
        };
        kept.into_iter().try_for_each(|kept| file.write(kept))?;
        let Some(records) = records else {
            return Ok(Some(file));
        };
        file.finish()?;
        self.complete(large.input, records, large.name.clone());
        Ok(None)
    }

    /// Writes a file of at most a frame.
    fn write_small(&self, mut small: StartOfFile) {
        self.waiting_bytes.fetch_sub(small.bytes, Ordering::Relaxed);
        let mut write = || {
            let (name, mut target) = self.open(small.file, small.form.take())?;
            small.write_to(&mut target)?;
            target.finish()?;
            self.complete(small.file, small.records, name);
            Ok(())
        };
        if let Err(error) = write() {
            self.failed().get_or_insert(error);
        }
    }

    /// Notes that a file is complete.
    fn complete(&self, input: usize, records: u64, name: String) {
        self.done().add(input, records, Some(name.clone()));
        self.output.written.complete(name);
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_checkpoint(&self) -> Result<()> {
        (self.output.checkpoint)(&|| self.done().written.clone())
    }

    /// Returns the error of a job, if any.
    fn check(&self) -> Result<()> {
        self.failed().take().map_or(Ok(()), Err)
    }

    fn failed(&self) -> MutexGuard<'_, Option<Error>> {
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
    let start = source.places.start_of_file(source.of_reference);
    let kept = KeptRecords {
        source,
        is_kept,
        sampler: &Sampler::default(),
    };
    let written = kept.for_each(&start, &mut |part| match part {
        FileEvent::Chunk(KeptOfChunk { kept, .. }) => {
            let mut parts = kept.parts();
            let written = parts.try_for_each(|part| target.write_all(part));
            written.map_err(failed())
        }
        FileEvent::Table(_) | FileEvent::End => Ok(()),
    })?;
    target.flush().map_err(failed())?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::RunOptions;
    use crate::tests::{Place, Watched, engine, place, skipping, task, watched_by};
    use simgpu_io::Compression;

    #[test]
    fn files_may_be_complete_in_any_order() {
        let mut done = Done {
            written: Written::default(),
            later: BTreeMap::new(),
        };
        let name = |name: &str| Some(name.to_owned());
        done.add(2, 5, name("c"));
        done.add(1, 0, None);
        assert_eq!((done.written.inputs, done.written.records), (0, 0));
        done.add(0, 3, name("a"));
        assert_eq!((done.written.inputs, done.written.records), (3, 8));
        done.add(3, 1, name("d"));
        assert_eq!((done.written.inputs, done.written.records), (4, 9));
        assert!(done.written.names.iter().eq(["a", "c", "d"]) && done.later.is_empty());
    }

    /// Takes some bytes, and then no more.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.min(bytes.len()) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                taken => {
                    self.0 -= taken;
                    Ok(taken)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stream(place: &Place, target: &mut (dyn Write + Send)) -> Result<u64> {
        let engine = engine();
        let temporary = &place.path("in");
        let output = DedupOutput::Stream { target, temporary };
        let inputs = place.inputs();
        let outcome = skipping(&engine, &inputs).dedup(&task(&engine), output)?;
        Ok(outcome.report.counts.kept)
    }

    #[test]
    fn a_stream_gets_the_kept_records_or_an_error() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let run = skipping(&engine, &inputs);
        run.dedup(&task(&engine), &place.path("out")).unwrap();
        let files = ["kept/a.jsonl", "kept/d.jsonl"].map(|file| place.text(&format!("out/{file}")));
        let mut streamed = Vec::new();
        let kept = stream(&place, &mut streamed).unwrap();
        assert_eq!(streamed, files.concat().into_bytes());
        assert_eq!(kept, files.concat().lines().count() as u64);
        for room in [0, 100, streamed.len() - 1] {
            let failed = stream(&place, &mut Full(room)).unwrap_err();
            assert!(failed.to_string().contains(STDOUT), "{failed}");
        }
        assert!(stream(&place, &mut Full(streamed.len())).is_ok());
    }

    #[test]
    fn a_stream_takes_json_lines_alone() {
        let place = place();
        place.write("in/e.txt", "a text");
        let refused = stream(&place, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.contains("e.txt is not JSON Lines"), "{refused}");
    }

    #[test]
    fn a_kept_file_that_cannot_be_written_is_an_error() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let blocked = place.path("out/.partial/kept/d.jsonl");
        let block = || std::fs::create_dir_all(&blocked).unwrap();
        let told = Watched::at("write", 0, &block);
        let run = skipping(&engine, &inputs).options(watched_by(&told));
        let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
        assert!(failed.to_string().contains("d.jsonl"), "{failed}");
        assert!(!place.path("out/report.json").exists());
    }

    #[test]
    fn levels_need_a_compressed_output() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let run = skipping(&engine, &inputs).options(RunOptions {
            compression_level: Some(3),
            ..RunOptions::default()
        });
        let refused = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
        assert!(
            refused.to_string().contains("`compression_level`"),
            "{refused}"
        );
        let of = |level, outputs: &[Compression]| {
            check_compression_level(level, outputs.iter().copied()).is_ok()
        };
        assert!(of(None, &[]) && of(Some(9), &[Compression::None, Compression::Gzip]));
        assert!(!of(Some(9), &[Compression::None]) && !of(Some(10), &[Compression::Gzip]));
    }
}
