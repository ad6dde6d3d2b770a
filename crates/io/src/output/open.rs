//! Opens an output folder: refuses files of others, and claims the folder for one run.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

use super::folder::{KEPT, LOCK, Leftovers, OutputFolder, PARTIAL, REPORT, RUN_RECORD};
use super::paths::{name_in, read_json, refused, remove};
use simgpu::error::{Error, Result};
use simgpu::store::disk::{OnDisk, for_all, is_file, metadata, metadata_of_name, sync_file};
use simgpu::store::{Locked, spill};

/// What `run.json` says of the files beside it.
#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "simgpu")]
    _version: String,
    files: HashSet<String>,
}

/// What marks `report.json` as a report of this program.
#[derive(Deserialize)]
struct ReportMark {
    #[serde(rename = "simgpu_report")]
    _version: u32,
}

impl OutputFolder {
    /// Prepares the folder. Files of an interrupted run under their final names are removed, and those in `.partial` as
    /// `leftovers` says.
    ///
    /// Refuses a folder that another run is writing, one with the results of a complete run unless
    /// `overwrite` is set, and one with any file that no `run.json` lists: this program deletes only its own
    /// files.
    #[doc(hidden)]
    pub fn open(folder: &Path, overwrite: bool, leftovers: Leftovers) -> Result<Self> {
        let is_new = metadata(folder)?.is_none();
        fs::create_dir_all(folder).map_err(Error::io("create the output folder", folder))?;
        let mut output = OutputFolder {
            folder: folder.to_owned(),
            is_new,
            lock: None,
            created: Mutex::default(),
            on_disk: Mutex::default(),
            is_resumable: AtomicBool::new(false),
        };
        let partial = output.partial();
        let was_interrupted = match metadata_of_name(&partial)? {
            Some(found) if !found.is_dir() => {
                let problem = format!("{PARTIAL} in it is not a folder");
                return Err(refused(folder, problem, "choose another folder"));
            }
            found => found.is_some(),
        };
        fs::create_dir_all(&partial).map_err(Error::io("create", &partial))?;
        let lock = output.claim()?;
        if let Err(error) = output.check_no_foreign_file() {
            if !was_interrupted {
                let _ = fs::remove_dir_all(&partial);
            }
            return Err(error);
        }
        output.lock = Some(lock);
        // An interrupted run leaves an unlocked `.partial`, and perhaps results without a report.
        let earlier = output.earlier_entries()?;
        let is_interrupted = was_interrupted && earlier.iter().all(|entry| entry != REPORT);
        if !earlier.is_empty() && !is_interrupted && !overwrite {
            return Err(refused(
                folder,
                "the output folder is not empty: it holds the results of a run".to_owned(),
                "choose another folder, or pass `overwrite` to replace them",
            ));
        }
        if is_interrupted {
            // The list of the files goes last: without it, the next run would take them for foreign files.
            for entry in &earlier {
                remove(&folder.join(entry))?;
            }
        }
        if leftovers == Leftovers::Remove {
            output.take_over(&BTreeSet::new())?;
        }
        Ok(output)
    }

    /// Keeps other runs out of the folder, as long as the lock is held.
    fn claim(&self) -> Result<Locked> {
        let path = self.partial().join(LOCK);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let lock = options.open(&path).map_err(Error::io("create", &path))?;
        Locked::try_new(lock).map_err(|error| match error {
            TryLockError::WouldBlock => refused(
                &self.folder,
                "another run is writing to the output folder".to_owned(),
                "wait until it ends, or choose another folder",
            ),
            TryLockError::Error(error) => Error::io("lock", path)(error),
        })
    }

    /// Removes what an interrupted run left, but for these files, which this run takes over, and temporary files of a run
    /// that can go on.
    #[doc(hidden)]
    pub fn take_over(&self, files: &BTreeSet<String>) -> Result<()> {
        let partial = self.partial();
        let failed = || Error::io("read", partial.clone());
        let mut tops = Vec::new();
        for entry in fs::read_dir(&partial).map_err(failed())? {
            tops.push(entry.map_err(failed())?.path());
        }
        // The list of the files goes last: without it, the next run would take the others for foreign files.
        tops.sort_by_key(|path| path.ends_with(RUN_RECORD));
        tops.retain(|path| !path.ends_with(LOCK) && !spill::is_unfinished(path));
        for entry in tops.iter().flat_map(|top| {
            WalkDir::new(top)
                .follow_root_links(false)
                .contents_first(true)
        }) {
            let entry = entry.map_err(|error| failed()(error.into()))?;
            let path = entry.path();
            if entry.file_type().is_dir() {
                // A folder that holds something stays.
                let _ = fs::remove_dir(path);
            } else if !files.contains(&name_in(&partial, path)) {
                remove(path)?;
            }
        }
        let add_to = |set: &Mutex<BTreeSet<String>>| {
            let set = set.lock();
            let mut set = set.unwrap_or_else(PoisonError::into_inner);
            set.extend(files.iter().cloned());
        };
        add_to(&self.created);
        add_to(&self.on_disk);
        Ok(())
    }

    /// Whether all of these files of an interrupted run are there.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told of one.
    #[doc(hidden)]
    pub fn holds(&self, names: &BTreeSet<String>) -> Result<bool> {
        let partial = self.partial();
        let is_inside = |name: &String| {
            let mut parts = Path::new(name).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        for name in names {
            if !is_inside(name) || !is_file(&partial.join(name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until these files are on disk. If the run is stopped from now on, it goes on with them.
    #[doc(hidden)]
    pub fn keep(&self, names: &BTreeSet<String>) -> Result<()> {
        let partial = self.partial();
        let on_disk = self.on_disk.lock();
        let mut on_disk = on_disk.unwrap_or_else(PoisonError::into_inner);
        let new: Vec<PathBuf> = names
            .difference(&on_disk)
            .map(|name| partial.join(name))
            .collect();
        for_all(&new, |path| sync_file(&OnDisk, path))?;
        on_disk.extend(names.iter().cloned());
        self.is_resumable.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a folder that holds a file of which no `run.json`, of a complete or an interrupted run, says that
    /// this program wrote it.
    pub(super) fn check_no_foreign_file(&self) -> Result<()> {
        let refuse = |name: &str| {
            Err(Error::Output {
                path: self.folder.clone(),
                problem: format!("the output folder is not empty: simgpu did not write {name}"),
                remedy: "choose an empty folder, or move that file elsewhere".to_owned(),
            })
        };
        let listed = |folder: &Path| {
            let listed = read_json::<Listed>(&folder.join(RUN_RECORD))?;
            Ok::<_, Error>(listed.map(|listed| listed.files).unwrap_or_default())
        };
        let mut own = listed(&self.folder)?;
        own.extend(listed(&self.partial())?);
        let is_own_folder = |name: &str| {
            let is_inside = |file: &String| {
                let rest = file.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            name == KEPT || own.iter().any(is_inside)
        };
        let is_own = |entry: &DirEntry, name: &str| {
            let (kind, is_top) = (entry.file_type(), entry.depth() == 1);
            Ok::<_, Error>(match name {
                PARTIAL => kind.is_dir(),
                REPORT => {
                    let report = read_json::<ReportMark>(entry.path())?;
                    report.is_some() && own.contains(REPORT)
                }
                // An empty folder inside one of a run holds nothing to lose.
                _ if kind.is_dir() => !is_top || is_own_folder(name),
                _ => kind.is_file() && own.contains(name),
            })
        };
        let is_partial = |entry: &DirEntry| {
            entry.depth() == 2 && {
                let parent = entry.path().parent();
                parent.is_some_and(|parent| parent.ends_with(PARTIAL))
            }
        };
        let entries = WalkDir::new(&self.folder)
            .min_depth(1)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| !is_partial(entry));
        for entry in entries {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(&self.folder).to_owned();
                Error::io("read", path)(error.into())
            })?;
            let name = name_in(&self.folder, entry.path());
            if !is_own(&entry, &name)? {
                return refuse(&name);
            }
        }
        Ok(())
    }

    /// The entries of earlier runs in the folder: the report first, the list of files last.
    pub(super) fn earlier_entries(&self) -> Result<Vec<String>> {
        let failed = || Error::io("read", self.folder.clone());
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let name = entry.map_err(failed())?.file_name();
            let name = name.to_string_lossy().into_owned();
            if name != PARTIAL {
                names.push(name);
            }
        }
        names.sort_by_key(|name| (name != REPORT, name == RUN_RECORD, name.clone()));
        Ok(names)
    }
}
