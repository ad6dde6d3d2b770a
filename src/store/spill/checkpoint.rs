//! Checkpoints: what a run needs to go on after it was stopped.
//!
//! A checkpoint is the lengths of all files at one moment, and the state of each stage. It is written as a new file that
//! replaces the one before, once the files themselves are on the disk. A run that goes on cuts each file to its length
//! and removes all others.
//!
//! A writer of the same name then begins with what is there, so that no stage needs a second form for going on. A
//! checkpoint follows when 50 times the duration of the last one have passed, and after two minutes at most:
//! checkpoints take 2 % of a run or less. To let a thread wait for the disk while the run goes on was tried and given
//! up: at its end, the run has to wait for the thread before it removes the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::found;
use crate::error::{Error, Result};
use crate::store::disk::{OnDisk, for_all, may_be_file, sync_file, sync_folder};

/// Bytes before the payload of a block: its length and number, and the checksum of all three.
pub(crate) const HEADER: usize = 16;

/// The file of the last checkpoint.
const CHECKPOINT: &str = "checkpoint.json";

/// The ending of the name of a file that is not complete.
const PARTIAL: &str = ".partial";

/// The most time between two checkpoints.
const MOST: Duration = Duration::from_secs(120);

/// A checkpoint is due when this many times the duration of the last one have passed.
const SPARSE: u32 = 50;

/// The length of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extent {
    pub(super) blocks: u64,
    /// Bytes of all records.
    pub(super) bytes: u64,
}

impl Extent {
    /// The length of the file, in bytes.
    fn length(self) -> u64 {
        self.bytes + HEADER as u64 * self.blocks
    }
}

/// Whether a file got its name after the last checkpoint of a run; not if there is no such file, or no telling.
#[cfg(unix)]
pub(super) fn is_older(folder: &Path, file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let files = [folder.join(CHECKPOINT), file.to_owned()];
    let [Ok(checkpoint), Ok(file)] = files.map(fs::symlink_metadata) else {
        return false;
    };
    // A rename changes the status of a file, and not its contents.
    (checkpoint.mtime(), checkpoint.mtime_nsec()) <= (file.ctime(), file.ctime_nsec())
}

/// Whether a file got its name after the last checkpoint of a run: there is no telling.
#[cfg(not(unix))]
pub(super) fn is_older(_: &Path, _: &Path) -> bool {
    false
}

/// Whether a folder holds a checkpoint. If that cannot be told, it is taken to hold one, so that nothing of it is removed.
pub(super) fn is_in(folder: &Path) -> bool {
    may_be_file(&folder.join(CHECKPOINT))
}

/// Removes the folder of a run. If this is interrupted, no run goes on with what is left, and the next one removes it.
pub(super) fn remove_folder(folder: &Path, lock: &str) -> io::Result<()> {
    found::remove_folder(folder, CHECKPOINT, lock)
}

/// Removes the checkpoint in a folder: no run resumes from it, and the next one removes its files.
pub(super) fn end(folder: &Path) -> io::Result<()> {
    fs::remove_file(folder.join(CHECKPOINT))
}

/// What the file of a checkpoint holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// The files that last, by name.
    files: BTreeMap<String, Extent>,
    /// The state of each stage, by name.
    stages: BTreeMap<String, Value>,
    /// How often the run went on after it was stopped.
    resumed: u64,
}

/// The files of a run on disk, and its checkpoints.
#[derive(Debug)]
pub(super) struct Files {
    now: Checkpoint,
    /// The files written since the last checkpoint.
    changed: BTreeSet<String>,
    /// The files of the last checkpoint.
    recorded: BTreeSet<String>,
    /// The files to remove after the next checkpoint, because the last one names them.
    doomed: Vec<PathBuf>,
    is_recorded: bool,
    due: Instant,
}

impl Files {
    pub(super) fn new() -> Self {
        Files {
            now: Checkpoint::default(),
            changed: BTreeSet::new(),
            recorded: BTreeSet::new(),
            doomed: Vec::new(),
            is_recorded: false,
            due: Instant::now(),
        }
    }

    /// Reads the last checkpoint in a folder, cuts all files to the lengths that it names, and removes all other files
    /// but those named `spared`.
    pub(super) fn from_checkpoint(folder: &Path, spared: &[&str]) -> Result<Self> {
        let path = folder.join(CHECKPOINT);
        let now = read_checked::<Checkpoint>(&path)?;
        let is_intact = |now: &Checkpoint| now.files.keys().all(|name| found::is_name(name));
        let now = now.filter(is_intact);
        let mut now = now.ok_or(Error::DamagedSpill { path })?;
        now.resumed += 1;
        for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
            let name = entry.map_err(Error::io("read", folder))?.file_name();
            let name = name.to_string_lossy();
            if *name != *CHECKPOINT && !spared.contains(&&*name) && !now.files.contains_key(&*name)
            {
                let path = folder.join(&*name);
                fs::remove_file(&path).map_err(Error::io("remove", path))?;
            }
        }
        for (name, extent) in &now.files {
            let path = folder.join(name);
            let file = match found::open(&path, File::options().write(true)) {
                Err(error) if is_damaged(&error) => return Err(Error::DamagedSpill { path }),
                file => file.map_err(Error::io("open", &path))?,
            };
            let length = file.metadata().map_err(Error::io("read", &path))?.len();
            if length < extent.length() {
                return Err(Error::DamagedSpill { path });
            }
            file.set_len(extent.length())
                .map_err(Error::io("cut", &path))?;
        }
        Ok(Files {
            recorded: now.files.keys().cloned().collect(),
            now,
            is_recorded: true,
            ..Files::new()
        })
    }

    /// The length of all files, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.now.files.values().map(|extent| extent.length()).sum()
    }

    /// The length of a file.
    pub(super) fn extent(&self, name: &str) -> Extent {
        self.now.files.get(name).copied().unwrap_or_default()
    }

    /// Notes the length of a file that was written.
    pub(super) fn note(&mut self, name: &str, extent: Extent) {
        if let Some(known) = self.now.files.get_mut(name) {
            *known = extent;
        } else {
            self.now.files.insert(name.to_owned(), extent);
        }
        if !self.changed.contains(name) {
            self.changed.insert(name.to_owned());
        }
    }

    /// Removes a file: at once, or after the next checkpoint if the last one names it.
    pub(super) fn discard(&mut self, name: &str, path: &Path) {
        self.now.files.remove(name);
        self.changed.remove(name);
        if self.recorded.contains(name) {
            self.doomed.push(path.to_owned());
        } else {
            // The folder is removed as a whole at the end.
            let _ = fs::remove_file(path);
        }
    }

    /// The state of a stage in the last checkpoint.
    pub(super) fn state<T: DeserializeOwned>(&self, stage: &str) -> Option<T> {
        let state = self.now.stages.get(stage)?;
        serde_json::from_value(state.clone()).ok()
    }

    /// Sets the state of a stage for the next checkpoint.
    pub(super) fn set_state(&mut self, stage: &str, state: Value) {
        self.now.stages.insert(stage.to_owned(), state);
    }

    /// How often the run went on after it was stopped.
    pub(super) fn resumed(&self) -> u64 {
        self.now.resumed
    }

    /// Whether there is a checkpoint.
    pub(super) fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Writes a checkpoint, once all files are on the disk.
    pub(super) fn record(&mut self, folder: &Path) -> Result<()> {
        let start = Instant::now();
        let changed: Vec<PathBuf> = self.changed.iter().map(|name| folder.join(name)).collect();
        for_all(&changed, |path| sync_file(&OnDisk, path))?;
        // If the disk fails now, either checkpoint may be the last one: the files of both stay.
        self.recorded.extend(self.now.files.keys().cloned());
        let written = write_checked(folder, CHECKPOINT, &self.now);
        self.is_recorded |= is_in(folder);
        written?;
        self.recorded = self.now.files.keys().cloned().collect();
        self.changed.clear();
        let doomed = std::mem::take(&mut self.doomed);
        // By many threads: to free the pages of large files takes time.
        for_all(&doomed, |path| {
            // The folder is removed as a whole at the end.
            let _ = fs::remove_file(path);
            Ok(())
        })?;
        self.due = Instant::now() + (start.elapsed() * SPARSE).min(MOST);
        Ok(())
    }
}

/// Writes a value as JSON behind its checksum, under a temporary name until it is on the disk.
#[doc(hidden)]
pub fn write_checked(folder: &Path, name: &str, value: &impl Serialize) -> Result<()> {
    let (path, partial) = (folder.join(name), folder.join(format!("{name}{PARTIAL}")));
    let json = serde_json::to_string(value)
        .map_err(|error| Error::io("write", &partial)(io::Error::from(error)))?;
    let text = format!("{:016x}\n{json}", xxh3_64(json.as_bytes()));
    fs::write(&partial, text).map_err(Error::io("write", &partial))?;
    sync_file(&OnDisk, &partial)?;
    fs::rename(&partial, &path).map_err(Error::io("rename to", &path))?;
    sync_folder(&OnDisk, folder)
}

/// Reads what [`write_checked`] wrote; `None` if there is no file.
#[doc(hidden)]
pub fn read_checked<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let damaged = || Error::DamagedSpill {
        path: path.to_owned(),
    };
    let mut bytes = Vec::new();
    let read = found::open(path, File::options().read(true));
    match read.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if is_damaged(&error) => return Err(damaged()),
        read => read.map_err(Error::io("read", path))?,
    };
    let parse = |bytes: &[u8]| {
        let (checksum, json) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        let is_intact = checksum == format!("{:016x}", xxh3_64(json.as_bytes()));
        is_intact.then(|| serde_json::from_str(json).ok())?
    };
    parse(&bytes).ok_or_else(damaged).map(Some)
}

/// Whether a file is missing, or is a link or another thing that no run makes.
fn is_damaged(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_both_checkpoints_stay_when_the_disk_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut files = Files::new();
        let write = |files: &mut Files, name: &str| {
            fs::write(path(name), "").unwrap();
            files.note(name, Extent::default());
        };
        write(&mut files, "old");
        files.record(folder.path()).unwrap();
        write(&mut files, "new");
        // In the place of the file that the checkpoint is written to first.
        let partial = path(&format!("{CHECKPOINT}{PARTIAL}"));
        fs::create_dir(&partial).unwrap();
        files.record(folder.path()).unwrap_err();
        for name in ["old", "new"] {
            files.discard(name, &path(name));
            assert!(path(name).exists(), "{name}");
        }
        fs::remove_dir(&partial).unwrap();
        files.record(folder.path()).unwrap();
        assert!(!path("old").exists() && !path("new").exists());
    }
}
