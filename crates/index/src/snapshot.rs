//! A copy of an index, while another process may have it open.
//!
//! It is made in a folder beside it, whose name is that of the copy with `.partial` at the end: the next copy of that name removes
//! what an interrupted one left.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::header::{HEADER, Header};
use super::persistent::Index;
use super::store::{acknowledge, acknowledged};
use super::store_copy::{copy_bytes, copy_files};
use super::store_names::sync_file_or_folder;
use simgpu::error::{Error, Result, check_local_output};
use simgpu::store::Locked;
use simgpu::store::disk::{OnDisk, metadata_of_name, sync_folder};

/// How often a copy is begun, if the index changes too much meanwhile.
const TRIALS: u32 = 20;

impl Index {
    /// Copies the index in `folder` to the folder `copy`, which must not exist, also while another process has it open. The
    /// copy has all batches that were on disk before, whole, and perhaps later ones. Files that never change are linked if
    /// both folders are on the same file system, so that they take no space as long as the index has them, too. Returns the
    /// number of its documents.
    ///
    /// # Errors
    /// [`Error::Input`] if the folder holds no index, a damaged one, or one that changes too fast; [`Error::Output`] if there
    /// is something at `copy`; [`Error::Io`].
    pub fn snapshot(folder: &Path, copy: &Path) -> Result<u64> {
        Header::read(folder)?.resolve(folder)?;
        check_local_output(copy)?;
        if metadata_of_name(copy)?.is_some() {
            // One that was interrupted at its very end left its workplace.
            drop(Workplace::find(copy));
            return Err(Error::Output {
                path: copy.to_owned(),
                problem: "it exists".to_owned(),
                remedy: "name a new folder".to_owned(),
            });
        }
        let workplace = Workplace::open(copy)?;
        let mut problem = None;
        for trial in 0..TRIALS {
            thread::sleep(Duration::from_millis(10) * trial);
            let made = workplace.empty()?;
            let before = acknowledged(folder)?;
            if !copy_files(folder, &made)? {
                continue;
            }
            let (from, to) = (folder.join(HEADER), made.join(HEADER));
            let copied = copy_bytes(&from, &to).and_then(|()| sync_file_or_folder(&to));
            copied.map_err(Error::io("copy", &from))?;
            match checked(&made, before) {
                Ok(documents) => {
                    sync_folder(&OnDisk, &made)?;
                    fs::rename(&made, copy).map_err(Error::io("create", copy))?;
                    if let Err(error) = sync_folder(&OnDisk, parent_of(copy)) {
                        // After an error there is no copy, so that it can be made again.
                        let _ = fs::rename(copy, &made);
                        return Err(error);
                    }
                    return Ok(documents);
                }
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| Error::Input {
            path: folder.to_owned(),
            problem: "the index changes faster than it can be copied".to_owned(),
            remedy: "copy it when less is written to it".to_owned(),
        }))
    }
}

/// The temporary folder next to a complete copy, if the snapshot could not remove it.
#[doc(hidden)]
pub fn left_beside_copy(copy: &Path) -> Option<PathBuf> {
    let folder = Workplace::name(copy);
    // An error of the disk does not mean that it is gone.
    let is_gone = matches!(metadata_of_name(&folder), Ok(None));
    (!is_gone).then_some(folder)
}

/// Opens a copy, which must have at least so many batches, and writes what its journal has into tables. Returns the number of
/// documents.
fn checked(copy: &Path, least: u64) -> Result<u64> {
    acknowledge(copy, least)?;
    let index = Index::open(copy)?;
    index.sync()?;
    Ok(index.stats().documents)
}

/// The file in a workplace that tells it from other folders. It is locked as long as a copy is made there.
const MARK: &str = "simgpu-snapshot";

/// The folder in a workplace that becomes the copy.
const MADE: &str = "index";

/// The folder in which a copy is made. It is removed in the end.
struct Workplace {
    folder: PathBuf,
    lock: Option<Locked>,
}

impl Workplace {
    /// Its name, for a copy.
    fn name(copy: &Path) -> PathBuf {
        let mut name = copy.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        parent_of(copy).join(name)
    }

    /// Makes it, or takes over that of an interrupted copy.
    fn open(copy: &Path) -> Result<Self> {
        let folder = Workplace::name(copy);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made.map_err(Error::io("create", &folder))?,
        }
        Workplace::claim(folder)
    }

    /// Takes over that of an interrupted copy; `None` if there is none.
    fn find(copy: &Path) -> Result<Option<Self>> {
        let folder = Workplace::name(copy);
        match metadata_of_name(&folder)? {
            Some(_) => Workplace::claim(folder).map(Some),
            None => Ok(None),
        }
    }

    /// Refuses a folder that is not a workplace, and one that is in use.
    fn claim(folder: PathBuf) -> Result<Self> {
        let refused = |problem: &str, remedy: &str| Error::Output {
            path: folder.clone(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        };
        let foreign = || {
            refused(
                "it is not what an interrupted snapshot left",
                "move it elsewhere, or choose another name for the copy",
            )
        };
        if !metadata_of_name(&folder)?.is_some_and(|found| found.is_dir()) {
            return Err(foreign());
        }
        let mark = folder.join(MARK);
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(Error::io("read", &folder))? {
            names.push(entry.map_err(Error::io("read", &folder))?.file_name());
        }
        let is_marked = metadata_of_name(&mark)?.is_some_and(|found| found.is_file());
        if !names.is_empty() && !is_marked || names.iter().any(|name| name != MARK && name != MADE)
        {
            return Err(foreign());
        }
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&mark).map_err(Error::io("create", &mark))?;
        let lock = match Locked::try_new(file) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => {
                return Err(refused(
                    "another snapshot is made there",
                    "wait until it ends, or choose another name for the copy",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", mark)(error)),
        };
        Ok(Workplace {
            folder,
            lock: Some(lock),
        })
    }

    /// Makes the folder that becomes the copy, without what is there.
    fn empty(&self) -> Result<PathBuf> {
        let made = self.folder.join(MADE);
        match fs::remove_dir_all(&made) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::io("remove", made)(error));
            }
            _ => {}
        }
        fs::create_dir(&made).map_err(Error::io("create", &made))?;
        Ok(made)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // The mark goes last: without it, the next snapshot would take the rest for a folder of someone else.
        let removed = fs::remove_dir_all(self.folder.join(MADE));
        if removed.is_ok() || removed.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            // Some systems remove no file that is locked.
            self.lock = None;
            let _ = fs::remove_file(self.folder.join(MARK));
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

pub(super) fn parent_of(copy: &Path) -> &Path {
    match copy.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocumentId, OnKnownId};
    use simgpu::engine::Engine;
    use simgpu::search::Search;

    /// A folder with an index of one document in `ix`.
    fn place() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let engine = Engine::builder().work_bytes(0).build().unwrap();
        let search = Search::new(0.7, engine.scheme()).unwrap();
        let index = Index::create(&place.path().join("ix"), engine, &search).unwrap();
        let text = ["a text of a few words"];
        index
            .add(&text, &[DocumentId::from("a")], OnKnownId::Fail)
            .unwrap();
        place
    }

    fn names(place: &Path) -> Vec<String> {
        let entries = fs::read_dir(place).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_next_snapshot_removes_what_a_killed_one_left() {
        let place = place();
        let path = |name: &str| place.path().join(name);
        let snapshot = || Index::snapshot(&path("ix"), &path("copy"));
        for left in ["", "simgpu-snapshot", "index/store/half"] {
            fs::create_dir_all(path("copy.partial").join(left).parent().unwrap()).unwrap();
            if !left.is_empty() {
                fs::write(path("copy.partial").join(MARK), "").unwrap();
                fs::write(path("copy.partial").join(left), "").unwrap();
            }
            fs::create_dir_all(path("copy.partial")).unwrap();
            assert_eq!(snapshot().unwrap(), 1, "{left}");
            assert_eq!(names(place.path()), ["copy", "ix"], "{left}");
            assert_eq!(left_beside_copy(&path("copy")), None);
            fs::remove_dir_all(path("copy")).unwrap();
        }
        // It was killed after the copy had its name.
        snapshot().unwrap();
        fs::create_dir(path("copy.partial")).unwrap();
        fs::write(path("copy.partial").join(MARK), "").unwrap();
        assert_eq!(left_beside_copy(&path("copy")), Some(path("copy.partial")));
        assert!(snapshot().unwrap_err().to_string().contains("it exists"));
        assert_eq!(names(place.path()), ["copy", "ix"]);
    }

    #[test]
    fn a_snapshot_removes_nothing_of_others() {
        let place = place();
        let path = |name: &str| place.path().join(name);
        let refused = || {
            let refused = Index::snapshot(&path("ix"), &path("copy"));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("copy.partial"), "{refused}");
        };
        fs::create_dir(path("copy.partial")).unwrap();
        fs::write(path("copy.partial/mine"), "").unwrap();
        refused();
        fs::write(path("copy.partial").join(MARK), "").unwrap();
        refused();
        assert_eq!(names(&path("copy.partial")), ["mine", MARK]);
        fs::remove_dir_all(path("copy.partial")).unwrap();
        fs::create_dir_all(path("copy.partial").join(MADE)).unwrap();
        refused();
        fs::remove_dir_all(path("copy.partial")).unwrap();
        let other = Workplace::open(&path("copy")).unwrap();
        refused();
        drop(other);
        #[cfg(unix)]
        {
            fs::create_dir(path("elsewhere")).unwrap();
            fs::write(path("elsewhere").join(MARK), "").unwrap();
            std::os::unix::fs::symlink(path("elsewhere"), path("copy.partial")).unwrap();
            refused();
            assert_eq!(names(&path("elsewhere")), [MARK]);
        }
    }
}
