//! Writes the files of kept records on all threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::Scope;

use super::progress::{Done, LargeFile, LargeFileParts, StartOfFile};
use super::written::{Checkpoint, EachKept, KeptOfChunk, Written};
use crate::second_pass::FileEvent;
use simgpu::error::{Error, Result};
use simgpu_base::threads::help;
use simgpu_io::{
    FRAME, FrameWriter, InputFile, Kept, KeptFile, OutputFolder, TableForm, WrittenFiles,
    frames_in_flight,
};

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
    pub(super) fn open(&self, file: usize, form: Option<TableForm>) -> Result<(String, KeptFile)> {
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
