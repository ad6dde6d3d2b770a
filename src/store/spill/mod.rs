//! Records on disk, for runs larger than memory: written in any order, read back in order, in bounded memory.
//!
//! [`Streams`] hold records of any length in the order in which they were written. [`Partitions`] distribute records
//! of fixed length by their first word, and `KeyedRecords` records of any length by a key; each part is then sorted in
//! memory. All are read from beginning to end: nothing is read at random.
//!
//! A checkpoint ([`Spill::checkpoint`]) keeps what is written so far, so that a stopped run can go on: its streams of the
//! same names then begin with what they held at the last checkpoint ([`Unfinished`]).
//!
//! Why nothing is read at random: on the same disk, a join of two passes verified 1.08 million pairs per second, and
//! random reads 6,500 (one thread) or 55,000 (64 threads).

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::progress::{DiskUse, Progress};
use crate::store::disk::metadata_of_name;
use crate::store::{Locked, SETS_IN_MEMORY, announce_files};
use crate::threads::collect_blocks;

mod bytes;
mod checkpoint;
mod found;
mod identity;
mod key_records;
mod lines;
mod partitions;
mod streams;

#[doc(hidden)]
pub use bytes::Stored;
use checkpoint::Files;
#[doc(hidden)]
pub use checkpoint::{read_checked, write_checked};
#[doc(hidden)]
pub use identity::{InputIdentity, RunIdentity};
pub(crate) use key_records::{KeyedRecords, SortedRecords};
#[doc(hidden)]
pub use lines::JsonLines;
#[doc(hidden)]
pub use partitions::{Partitions, Sorted};
#[doc(hidden)]
pub use streams::{BlockReader, StreamFile, Streams};

/// The beginning of the name of a folder of temporary files.
const PREFIX: &str = "simgpu-spill-";

/// The file in such a folder that its run locks.
pub(super) const LOCK: &str = ".lock";

/// The file in such a folder that says which run may go on with it.
const IDENTITY: &str = "run.json";

/// The folders of runs on disk in `folder`.
fn folders_of_runs(folder: &Path) -> impl Iterator<Item = PathBuf> {
    folders_named(PREFIX, folder)
}

/// The folders in `folder` whose names begin with a prefix.
pub(super) fn folders_named(prefix: &'static str, folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(move |entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(prefix)
    });
    named.map(|entry| entry.path())
}

/// Makes a folder that only its owner may open, whose name begins with a prefix, and locks it.
///
/// # Errors
/// [`Error::Io`] if it cannot be made.
pub(super) fn locked_folder(prefix: &str, folder: &Path) -> Result<(tempfile::TempDir, Locked)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    loop {
        let created = builder.tempdir_in(folder);
        let created = created.map_err(Error::io("create a folder in", folder))?;
        let lock = created.path().join(LOCK);
        // Another run may take the folder for one that was left: at its end, each looks for such folders.
        let file = match File::create(&lock) {
            Err(error) if error.kind() == ErrorKind::NotFound && folder.is_dir() => continue,
            file => file.map_err(Error::io("lock", &lock))?,
        };
        match Locked::try_new(file) {
            Ok(locked) if metadata_of_name(&lock)?.is_some() => return Ok((created, locked)),
            Ok(_) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", lock)(error)),
        }
    }
}

/// Whether a folder of this name is that of a run on disk.
#[doc(hidden)]
pub fn is_of_run(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Whether this is a folder of this user, and no link to one.
pub(super) fn is_own(folder: &Path) -> bool {
    found::check_own(folder).is_ok()
}

/// Whether this is the folder of a run that can be resumed.
#[doc(hidden)]
pub fn is_unfinished(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PREFIX) && is_own(folder) && checkpoint::is_in(folder) && !is_finished(folder)
}

/// Whether a run was killed after its results were complete and before it could remove its folder: the file that gets its name
/// last, the report or the header of an index, got it after the last checkpoint.
fn is_finished(run_folder: &Path) -> bool {
    let Ok(Some(run)) = read_checked::<RunIdentity>(&run_folder.join(IDENTITY)) else {
        return false;
    };
    let beside = format!("{}.report.json", run.output);
    let output = Path::new(&run.output);
    let last = [
        output.join("report.json"),
        beside.into(),
        output.join("simgpu-index.json"),
    ];
    last.iter()
        .any(|file| checkpoint::is_older(run_folder, file))
}

/// Removes the checkpoints of the runs in `folder`, whose results are complete: none of them resumes.
#[doc(hidden)]
pub fn end_all(folder: &Path) {
    for run_folder in folders_of_runs(folder).filter(|run_folder| is_unfinished(run_folder)) {
        let _ = checkpoint::end(&run_folder);
    }
}

/// Removes the folders of runs in `folder`, whose results are complete. One that cannot be removed stays.
#[doc(hidden)]
pub fn remove_all(folder: &Path) {
    for run_folder in folders_of_runs(folder) {
        let _ = checkpoint::remove_folder(&run_folder, LOCK);
    }
}

/// Locks the folder of a run; `None` if it is in use, or about to be.
pub(super) fn lock(folder: &Path) -> Option<Locked> {
    // A folder without this file is about to be used.
    let lock = File::open(folder.join(LOCK)).ok()?;
    Locked::try_new(lock).ok()
}

/// Removes the folders of runs that were killed and cannot be resumed. Returns those that could not be removed.
#[doc(hidden)]
pub fn remove_abandoned(folder: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for run_folder in folders_of_runs(folder) {
        // A run that was killed while it removed its folder leaves an empty one.
        if fs::remove_dir(&run_folder).is_ok() {
            continue;
        }
        if is_own(&run_folder)
            && let Some(_lock) = lock(&run_folder)
            && !is_unfinished(&run_folder)
            && checkpoint::remove_folder(&run_folder, LOCK).is_err()
        {
            left.push(run_folder);
        }
    }
    left
}

/// A folder of temporary files, and the memory to work in.
#[derive(Debug)]
#[doc(hidden)]
pub struct Spill {
    folder: PathBuf,
    /// Locked as long as the run lasts, so that others see that the folder is in use.
    _lock: Locked,
    memory: usize,
    written: AtomicU64,
    read: AtomicU64,
    files: Mutex<Files>,
    /// Whether the run makes checkpoints.
    is_resumable: bool,
    /// Whether nothing needs to stay: the run is complete.
    is_complete: AtomicBool,
}

/// Bytes of memory for a run, and the folder for what does not fit.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Budget {
    #[doc(hidden)]
    pub memory: usize,
    #[doc(hidden)]
    pub folder: PathBuf,
    /// Which run this is; `None` if it cannot go on after it was stopped.
    #[doc(hidden)]
    pub run: Option<Arc<RunIdentity>>,
    /// The files of the run before it was stopped.
    #[doc(hidden)]
    pub unfinished: Option<Arc<Spill>>,
}

impl Budget {
    /// The budget of a run that cannot go on after it was stopped.
    #[doc(hidden)]
    pub fn new(folder: &Path, memory: usize) -> Self {
        Budget {
            memory,
            folder: folder.to_owned(),
            run: None,
            unfinished: None,
        }
    }

    /// Bytes that a run holds while it reads: the stages after it need more.
    pub(crate) fn held(&self) -> usize {
        self.memory / 2
    }
}

/// Bytes of exact sets that a run with this budget holds, so that it need not read documents again.
#[doc(hidden)]
pub fn sets_in_memory(budget: Option<&Budget>) -> usize {
    budget.map_or(SETS_IN_MEMORY, |budget| {
        SETS_IN_MEMORY.max(budget.memory / 8)
    })
}

/// The share of memory for the buffers of everything written at one time.
const BUFFERS: usize = 8;

impl Spill {
    /// Makes a folder that only its owner may open. It is removed at the end, unless the run was stopped after a
    /// checkpoint. Removes those of runs that were killed.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    #[doc(hidden)]
    pub fn new(budget: &Budget) -> Result<Arc<Self>> {
        let folder = &budget.folder;
        remove_abandoned(folder);
        let (created, locked) = locked_folder(PREFIX, folder)?;
        if let Some(run) = &budget.run {
            write_checked(created.path(), IDENTITY, &**run)?;
        }
        Ok(Arc::new(Spill {
            folder: created.keep(),
            _lock: locked,
            memory: budget.memory,
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            files: Mutex::new(Files::new()),
            is_resumable: budget.run.is_some(),
            is_complete: AtomicBool::new(false),
        }))
    }

    /// The folder.
    #[doc(hidden)]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of memory to work in.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes of a block, if this many files are written at a time.
    fn block_bytes(&self, files: usize) -> usize {
        const LEAST: usize = 4 << 10;
        const MOST: usize = 256 << 10;
        (self.memory / BUFFERS / files.max(1)).clamp(LEAST, MOST)
    }

    /// Bytes read and written since the last call.
    #[doc(hidden)]
    pub fn take_use(&self, parts: usize) -> DiskUse {
        DiskUse {
            parts: parts as u64,
            read_bytes: self.read.swap(0, Ordering::Relaxed),
            written_bytes: self.written.swap(0, Ordering::Relaxed),
        }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a stage when the run was stopped.
    #[doc(hidden)]
    pub fn state<T: DeserializeOwned>(&self, stage: &str) -> Option<T> {
        self.files().state(stage)
    }

    /// Whether the run makes checkpoints.
    #[doc(hidden)]
    pub fn is_resumable(&self) -> bool {
        self.is_resumable
    }

    /// Whether the next moment at which all streams are written is one for a checkpoint.
    #[doc(hidden)]
    pub fn is_due(&self) -> bool {
        self.is_resumable && self.files().is_due()
    }

    /// Notes the state of a stage for the next checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`] if the state is no JSON.
    #[doc(hidden)]
    pub fn note(&self, stage: &str, state: &impl Serialize) -> Result<()> {
        let state = serde_json::to_value(state)
            .map_err(|error| Error::io("write", &self.folder)(error.into()))?;
        self.files().set_state(stage, state);
        Ok(())
    }

    /// Makes a checkpoint: notes the state of a stage, and waits until all files are on the disk. All streams must be
    /// written ([`Streams::flush`]).
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    #[doc(hidden)]
    pub fn checkpoint(&self, stage: &str, state: &impl Serialize) -> Result<()> {
        if !self.is_resumable {
            return Ok(());
        }
        self.note(stage, state)?;
        self.files().record(&self.folder)
    }

    /// Says how much more space the temporary files will take, if they take what they take now after this share of the input,
    /// and refuses a run for which there is none.
    ///
    /// # Errors
    /// [`Error::Output`] with both numbers.
    #[doc(hidden)]
    pub fn announce(&self, share: f64, progress: &dyn Progress) -> Result<()> {
        let now = self.files().bytes() as f64;
        let folder = self.folder.parent().unwrap_or(&self.folder);
        announce_files(folder, now / share - now, progress)
    }

    /// Whether there is a checkpoint from which the run can go on.
    pub(crate) fn has_checkpoint(&self) -> bool {
        self.files().is_recorded()
    }

    /// How often the run went on after it was stopped.
    #[doc(hidden)]
    pub fn resumed(&self) -> u64 {
        self.files().resumed()
    }

    /// Says that the run is complete: the folder may go.
    #[doc(hidden)]
    pub fn complete(&self) {
        self.is_complete.store(true, Ordering::Relaxed);
        // If the program is killed now, the next run removes the folder.
        let _ = checkpoint::end(&self.folder);
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.is_complete.load(Ordering::Relaxed) || !self.has_checkpoint() {
            let _ = checkpoint::remove_folder(&self.folder, LOCK);
        }
    }
}

/// The folder of a run that was stopped after a checkpoint.
#[derive(Debug)]
#[doc(hidden)]
pub struct Unfinished {
    folder: PathBuf,
    lock: Locked,
    #[doc(hidden)]
    pub run: RunIdentity,
}

impl Unfinished {
    /// Finds the folder of a stopped run in `folder` that wrote the results `output`.
    ///
    /// # Errors
    /// [`Error::DamagedSpill`] for a damaged folder, and [`Error::Output`] if such a run is going on, if the folder belongs to
    /// another user, or for a link in place of a folder.
    #[doc(hidden)]
    pub fn find(folder: &Path, output: &str) -> Result<Option<Self>> {
        for run_folder in folders_of_runs(folder) {
            found::check_no_link(&run_folder)?;
            if !checkpoint::is_in(&run_folder) || is_finished(&run_folder) {
                continue;
            }
            let owned = found::check_own(&run_folder);
            let identity = run_folder.join(IDENTITY);
            let run = if owned.is_ok() {
                read_checked::<RunIdentity>(&identity)?
            } else if is_short(&identity) {
                // Folders of other users are their own affair, unless they claim to be of this run.
                read_checked(&identity).ok().flatten()
            } else {
                None
            };
            let Some(run) = run.filter(|run| run.output == output) else {
                continue;
            };
            owned?;
            let path = run_folder.join(LOCK);
            let lock = File::open(&path).map_err(Error::io("open", &path))?;
            let lock = match Locked::try_new(lock) {
                Ok(lock) => lock,
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Output {
                        path: output.into(),
                        problem: "another run is writing it".to_owned(),
                        remedy: "wait until it ends, or choose another output".to_owned(),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
            };
            return Ok(Some(Unfinished {
                folder: run_folder,
                lock,
                run,
            }));
        }
        Ok(None)
    }

    /// Goes on from the last checkpoint.
    ///
    /// # Errors
    /// [`Error::DamagedSpill`] for a file that is damaged or missing, and [`Error::Io`].
    #[doc(hidden)]
    pub fn resume(self, memory: usize) -> Result<Arc<Spill>> {
        self.folder.parent().map(remove_abandoned);
        let files = Files::from_checkpoint(&self.folder, &[LOCK, IDENTITY])?;
        Ok(Arc::new(Spill {
            folder: self.folder,
            _lock: self.lock,
            memory,
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            files: Mutex::new(files),
            is_resumable: true,
            is_complete: AtomicBool::new(false),
        }))
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be removed.
    #[doc(hidden)]
    pub fn discard(self) -> Result<()> {
        checkpoint::remove_folder(&self.folder, LOCK).map_err(Error::io("remove", &self.folder))
    }
}

/// Whether a file is short enough to be the identity of a run that names many inputs.
fn is_short(path: &Path) -> bool {
    const MOST: u64 = 64 << 20;
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.len() <= MOST)
}

/// Parts of at most this size are never divided: it would save no memory worth the files.
const MOST_AT_ONCE: u64 = 64 << 10;

/// The part, of `count`, of a record with this first word, if those of all parts are `range`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the result is below `count`"
)]
fn part_of(word: u32, range: &Range<u64>, count: usize) -> usize {
    let width = range.end - range.start;
    let offset = u64::from(word) - range.start;
    // The word has 32 bits, and there are fewer than 2^32 parts.
    (offset * count as u64 / width) as usize
}

/// Records whose parts are worth a job, 10 µs or more.
const JOB: usize = 1 << 11;

/// The parts, of fewer than 2^16, of records with these first words, found on all threads.
fn parts_of<const N: usize>(
    records: &[[u32; N]],
    range: &Range<u64>,
    count: usize,
) -> Vec<Option<u16>> {
    assert!(u16::try_from(count).is_ok(), "2^16 parts or more");
    let part = |record: &[u32; N]| u16::try_from(part_of(record[0], range, count)).ok();
    collect_blocks(records.len(), JOB, |range| {
        records[range].iter().map(part).collect()
    })
}

/// The first words of the records of part `part` of `count`, if those of all parts are `range`.
fn range_of_part(range: &Range<u64>, part: u64, count: u64) -> Range<u64> {
    let width = range.end - range.start;
    // The number of a record's part is rounded down, so the start is `part * width / count`, rounded up. In this form,
    // no product exceeds `width` or the square of `count`.
    let start =
        |part: u64| range.start + width / count * part + (width % count * part).div_ceil(count);
    start(part)..start(part + 1)
}
