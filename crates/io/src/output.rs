//! Output files that get their final names only when they are complete and on disk.
//!
//! **`run.json` lists the files of its run.** The new one gets its name before all other new files, and that of the
//! earlier run is removed after all other files of that run. So at every moment, even after a kill, every file of a
//! run in the folder is listed. To recognise files of a run by name alone was rejected: a file that a user adds to
//! `kept/` looks like one. A single output file is replaced if it is a regular file: its user named it, and nothing
//! else is lost with it.
//!
//! **A commit waits for the disk** before its last rename: for each file, for the folders, and for the parent folder.
//! After the last rename it waits only for the folder itself, and if that fails, it undoes the renames. For 100 MB of kept
//! records on a virtual disk (ext4), writing takes 0.5 to 0.7 s, which is the time that the disk needs for them; without the
//! wait it takes 0.15 s. Up to 32 threads wait at the same time, because the file
//! system then writes its journal once for all of them: 2,000 small files took 3.8 s with two, and no measurable time
//! with 32. They wait for each kept file as soon as it is complete, beside the compression of the next ones, and live
//! as long as the writing; one more writes what is there of a large file. To start and end a thread changes the address space, for which it waits while others free
//! or map memory. The results of an earlier run are removed by many threads, too: 100 files in 6 ms instead of 12.
//!
//! **One run per folder**: a lock in `.partial` keeps a second run out. An output that would replace an input is
//! refused, even if the paths differ (links).

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Sender, bounded, unbounded};
use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

use simgpu::error::{Error, Result};
use simgpu::progress::Progress;
use simgpu::store::disk::{
    AT_A_TIME, Disk, OnDisk, for_all, is_file, is_folder, metadata, metadata_of_name, sync_file,
    sync_folder, write_back,
};
use simgpu::store::{Locked, spill};

/// Folder for files until the run is complete, and suffix of a single file until it is complete.
const PARTIAL: &str = ".partial";

/// The file in [`PARTIAL`] that a run locks to claim the folder.
const LOCK: &str = ".lock";

/// The folder in [`PARTIAL`] for the results of an earlier run, once the new ones replace them.
const EARLIER: &str = ".earlier";

/// The folder of the kept records. It may be empty.
const KEPT: &str = "kept";

/// Lists the files of a run. It is renamed first, so that no file of a run is ever without it.
#[doc(hidden)]
pub const RUN_RECORD: &str = "run.json";

/// Marks a complete run. It is renamed last.
#[doc(hidden)]
pub const REPORT: &str = "report.json";

/// The name of the page that shows a report.
const PAGE: &str = "report.html";

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

/// The error of a folder that a run cannot write its results to.
fn refused(folder: &Path, problem: String, remedy: &str) -> Error {
    Error::Output {
        path: folder.to_owned(),
        problem,
        remedy: remedy.to_owned(),
    }
}

/// A folder of results. A run writes into its `.partial` and renames the entries when they are complete.
#[derive(Debug)]
#[doc(hidden)]
pub struct OutputFolder {
    folder: PathBuf,
    /// Whether it did not exist before the run.
    is_new: bool,
    /// Locked until the run ends.
    lock: Option<Locked>,
    /// The files of this run.
    created: Mutex<BTreeSet<String>>,
    /// Those that are on disk.
    on_disk: Mutex<BTreeSet<String>>,
    /// Whether a stopped run goes on with them.
    is_resumable: AtomicBool,
}

/// What becomes of the files of an interrupted run in an output folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Leftovers {
    /// They are removed.
    Remove,
    /// They stay until [`OutputFolder::take_over`] says which of them the run resumes with.
    Keep,
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

    /// The folder.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        &self.folder
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
    fn check_no_foreign_file(&self) -> Result<()> {
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
    fn earlier_entries(&self) -> Result<Vec<String>> {
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

    /// The folder for files until the run is complete.
    #[doc(hidden)]
    pub fn partial(&self) -> PathBuf {
        OutputFolder::partial_of(&self.folder)
    }

    /// The folder for files until the run is complete, of a folder of results.
    #[doc(hidden)]
    pub fn partial_of(folder: &Path) -> PathBuf {
        folder.join(PARTIAL)
    }

    /// Creates a file in `.partial`, and its parent folders. `name` separates folders with `/`.
    #[doc(hidden)]
    pub fn create(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.partial().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let file = File::create_new(&path).map_err(Error::io("create", &path))?;
        if let Ok(mut created) = self.created.lock() {
            created.insert(name.to_owned());
        }
        Ok((file, path))
    }

    /// Writes the page that shows the report.
    #[doc(hidden)]
    pub fn write_page(&self, page: &str) -> Result<()> {
        let (mut file, path) = self.create(PAGE)?;
        file.write_all(page.as_bytes())
            .map_err(Error::io("write", path))
    }

    /// The names of all files created so far, in order.
    #[doc(hidden)]
    pub fn files(&self) -> BTreeSet<String> {
        let created = self.created.lock();
        created.map(|created| created.clone()).unwrap_or_default()
    }

    /// Does `work`, and meanwhile waits for the disk: `work` names the files that it writes.
    #[doc(hidden)]
    pub fn sync_beside<T>(&self, work: impl FnOnce(&WrittenFiles) -> Result<T>) -> Result<T> {
        let (complete, completed) = unbounded::<String>();
        let (grow, grown) = bounded::<String>(1);
        let partial = self.partial();
        let write_back = || {
            let mut names = grown.iter();
            names.try_for_each(|name| write_back(&partial.join(name)))
        };
        let sync = || {
            for name in &completed {
                sync_file(&OnDisk, &partial.join(&name))?;
                let on_disk = self.on_disk.lock();
                on_disk.unwrap_or_else(PoisonError::into_inner).insert(name);
            }
            Ok(())
        };
        thread::scope(|scope| {
            // Where no thread can be had, the files are synchronised with all others.
            let others =
                (0..AT_A_TIME).map_while(|_| thread::Builder::new().spawn_scoped(scope, sync).ok());
            let growing = thread::Builder::new().spawn_scoped(scope, write_back).ok();
            let others: Vec<_> = growing.into_iter().chain(others).collect();
            let written = WrittenFiles { complete, grow };
            let done = work(&written);
            drop(written);
            let ended = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let synced = ended.fold(Ok(()), Result::and);
            done.and_then(|done| synced.map(|()| done))
        })
    }

    /// Waits until all files created so far are on disk.
    #[doc(hidden)]
    pub fn sync(&self) -> Result<()> {
        self.sync_with(&OnDisk, Vec::new())
    }

    /// Waits until all files created so far and the names in `folders` are on disk.
    fn sync_with(&self, disk: &impl Disk, folders: Vec<PathBuf>) -> Result<()> {
        let partial = self.partial();
        let on_disk = self.on_disk.lock();
        let mut on_disk = on_disk.unwrap_or_else(PoisonError::into_inner);
        let files = self.files();
        let new = files.difference(&on_disk).map(|name| partial.join(name));
        let new = new.map(|file| (file, false));
        let new: Vec<_> = new
            .chain(folders.into_iter().map(|folder| (folder, true)))
            .collect();
        for_all(&new, |(path, is_folder)| match is_folder {
            true => sync_folder(disk, path),
            false => sync_file(disk, path),
        })?;
        *on_disk = files;
        Ok(())
    }

    /// Replaces the results of an earlier run: gives all entries their final names. After a power cut at any
    /// moment, a folder with a report holds all results.
    #[doc(hidden)]
    pub fn commit(self, progress: &dyn Progress) -> Result<()> {
        self.publish().map(|complete| complete.finish(progress))
    }

    /// The same, but temporary files stay until the result is dropped.
    #[doc(hidden)]
    pub fn publish(self) -> Result<CompleteOutput> {
        self.publish_with(&OnDisk)
    }

    fn publish_with(self, disk: &impl Disk) -> Result<CompleteOutput> {
        self.sync_with(disk, self.new_folders()?)?;
        // A file that appeared during the run is not ours to replace.
        self.check_no_foreign_file()?;
        let (folder, partial) = (&self.folder, self.partial());
        // Before the renames, like all else that may fail and cannot be undone: after an error, no result has its name.
        let absolute = std::path::absolute(folder).map_err(Error::io("find", folder))?;
        let parent = absolute.parent();
        parent.map_or(Ok(()), |parent| sync_folder(disk, parent))?;
        let entries = self.entries()?;
        let mut moves = Moves {
            disk,
            done: Vec::new(),
        };
        let earlier = partial.join(EARLIER);
        fs::create_dir_all(&earlier).map_err(Error::io("create", &earlier))?;
        let replaced = self
            .earlier_entries()?
            .into_iter()
            .try_for_each(|entry| moves.rename(&folder.join(&entry), &earlier.join(&entry)));
        let renamed = replaced.and_then(|()| {
            for entry in entries {
                if entry == REPORT {
                    sync_folder(disk, folder)?;
                }
                moves.rename(&partial.join(&entry), &folder.join(&entry))?;
            }
            sync_folder(disk, folder)
        });
        if renamed.is_err() {
            moves.undo();
        }
        renamed?;
        // No run resumes from here: if the program is killed now, the next run removes what is left.
        spill::end_all(&partial);
        self.is_resumable.store(false, Ordering::Relaxed);
        Ok(CompleteOutput(self))
    }

    /// The entries of this run, in the order of renaming.
    fn entries(&self) -> Result<Vec<String>> {
        let first_part = |name: &String| name.split('/').next().unwrap_or(name).to_owned();
        let mut entries: BTreeSet<String> = self.files().iter().map(first_part).collect();
        if is_folder(&self.partial().join(KEPT))? {
            entries.insert(KEPT.to_owned());
        }
        let mut entries: Vec<String> = entries.into_iter().collect();
        entries.sort_by_key(|name| (name != RUN_RECORD, name == REPORT, name.clone()));
        Ok(entries)
    }

    /// The folders of all files created so far.
    fn new_folders(&self) -> Result<Vec<PathBuf>> {
        let partial = self.partial();
        let mut folders = BTreeSet::from([partial.clone(), partial.join(KEPT)]);
        for name in self.files() {
            let path = partial.join(name);
            let parents = path.ancestors().skip(1);
            folders.extend(
                parents
                    .take_while(|parent| parent.starts_with(&partial))
                    .map(Path::to_owned),
            );
        }
        let mut new = Vec::with_capacity(folders.len());
        for folder in folders {
            if is_folder(&folder)? {
                new.push(folder);
            }
        }
        Ok(new)
    }
}

/// An output folder with its results, and the temporary files of the run, which are removed when it is dropped.
#[must_use]
#[doc(hidden)]
#[derive(Debug)]
pub struct CompleteOutput(OutputFolder);

impl CompleteOutput {
    /// Removes the temporary files, and warns if some stay.
    #[doc(hidden)]
    pub fn finish(self, progress: &dyn Progress) {
        let partial = self.0.partial();
        drop(self);
        // An error of the disk does not mean that it is gone.
        if !matches!(metadata_of_name(&partial), Ok(None)) {
            progress.warn(&format!(
                "the results are complete, and the temporary files in {} could not be removed; remove them",
                partial.display()
            ));
        }
    }
}

impl Drop for CompleteOutput {
    fn drop(&mut self) {
        spill::remove_all(&self.0.partial());
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        // Only the holder of the lock may clean up. The next run discards what could not be removed.
        if let Some(_lock) = self.lock.take() {
            let partial = self.partial();
            let mut entries = fs::read_dir(&partial).into_iter().flatten().flatten();
            if self.is_resumable.load(Ordering::Relaxed)
                || entries.any(|entry| spill::is_unfinished(&entry.path()))
            {
                return;
            }
            let _ = for_all(&files_in(&partial.join(EARLIER)), |path| remove(path));
            let _ = fs::remove_dir_all(partial);
            if self.is_new {
                // This removes an empty folder alone: after a commit it holds the results.
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// Is told which files are written, and has them written to disk beside.
#[doc(hidden)]
#[derive(Debug)]
pub struct WrittenFiles {
    complete: Sender<String>,
    grow: Sender<String>,
}

impl WrittenFiles {
    /// The file of this name is complete.
    #[doc(hidden)]
    pub fn complete(&self, name: String) {
        // It fails where no thread could be had.
        let _ = self.complete.send(name);
    }

    /// The file of this name has grown much: what is there goes to disk, so that little is left when it is complete.
    #[doc(hidden)]
    pub fn grow(&self, name: &str) {
        // While earlier bytes are on their way, later ones wait for the next time.
        let _ = self.grow.try_send(name.to_owned());
    }
}

/// All files in a folder and in the folders below it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder)
        .into_iter()
        .filter_map(|entry| entry.ok());
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    files.map(DirEntry::into_path).collect()
}

/// Renamed entries, to undo the renaming if it fails halfway.
struct Moves<'a, D> {
    disk: &'a D,
    done: Vec<(PathBuf, PathBuf)>,
}

impl<D: Disk> Moves<'_, D> {
    fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        self.disk
            .rename(from, to)
            .map_err(Error::io("rename to", to))?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Undoes as much as possible; the error that led here is the one to report.
    fn undo(&self) {
        for (from, to) in self.done.iter().rev() {
            let _ = self.disk.rename(to, from);
        }
    }
}

/// The contents of a JSON file; `None` if it is missing or not as expected.
///
/// # Errors
/// [`Error::Io`] if it is there and cannot be read.
#[doc(hidden)]
pub fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>> {
    if !metadata_of_name(path)?.is_some_and(|found| found.is_file()) {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// An output file, written under a temporary name beside its final one.
#[derive(Debug)]
#[doc(hidden)]
pub struct OutputFile {
    path: PathBuf,
    partial: PathBuf,
    /// Locked until the run ends.
    _lock: Option<Locked>,
}

impl OutputFile {
    /// Creates the file under a name that ends in `.partial`, and replaces the one of an interrupted run.
    ///
    /// Refuses to replace anything but a regular file, and a regular file unless `overwrite` is set.
    #[doc(hidden)]
    pub fn create(path: &Path, overwrite: bool) -> Result<(Self, File)> {
        let refuse = |problem: String, remedy: &str| {
            Err(Error::Output {
                path: path.to_owned(),
                problem,
                remedy: remedy.to_owned(),
            })
        };
        let folder = folder_of(path);
        // A folder that cannot be looked at is another matter than one that is not there.
        if metadata(folder)?.is_none() {
            return refuse(
                format!("there is no folder {}", folder.display()),
                "create it, or choose another",
            );
        }
        // The link itself counts, not its target: it is what the last rename would replace.
        if let Some(existing) = metadata_of_name(path)? {
            if is_folder(path)? {
                return refuse("it is a folder".to_owned(), "name a file");
            }
            if !existing.is_file() {
                let what = if existing.is_symlink() {
                    "a link"
                } else {
                    "not a regular file"
                };
                return refuse(format!("it is {what}"), "name a file");
            }
            if !overwrite {
                return refuse(
                    "the file exists".to_owned(),
                    "choose another name, or pass `overwrite` to replace it",
                );
            }
        }
        let partial = with_suffix(path, PARTIAL);
        discard_interrupted(&partial)?;
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&partial)
            .map_err(Error::io("create", &partial))?;
        // Where files cannot be locked, a second run with the same output fails to create the file, or later.
        let copy = file.try_clone().ok();
        let lock = copy.and_then(|copy| Locked::try_new(copy).ok());
        let output = OutputFile {
            partial,
            path: path.to_owned(),
            _lock: lock,
        };
        Ok((output, file))
    }

    /// All names that writing the file may use: the final and the temporary name of the file, and of the
    /// file beside it whose name ends in `beside`.
    #[doc(hidden)]
    pub fn names(path: &Path, beside: &str) -> Vec<PathBuf> {
        let beside = with_suffix(path, beside);
        vec![
            path.to_owned(),
            with_suffix(path, PARTIAL),
            with_suffix(&beside, PARTIAL),
            beside,
        ]
    }

    /// The temporary name.
    #[doc(hidden)]
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Removes the file `path` if a run was interrupted after it got its name and before the one that describes it, whose name
    /// ends in `beside`, got its own. `describes` tells from the description, under its temporary name, whether it is of that
    /// file. Any other file stays.
    #[doc(hidden)]
    pub fn discard_undescribed<T: for<'de> Deserialize<'de>>(
        path: &Path,
        beside: &str,
        describes: impl FnOnce(&T, &File) -> io::Result<bool>,
    ) -> Result<()> {
        let beside = with_suffix(path, beside);
        let partial = with_suffix(&beside, PARTIAL);
        if metadata_of_name(&beside)?.is_some()
            || !metadata_of_name(path)?.is_some_and(|found| found.is_file())
        {
            return Ok(());
        }
        let Some(description) = read_json::<T>(&partial)? else {
            return Ok(());
        };
        let file = File::open(path).map_err(Error::io("open", path))?;
        if !describes(&description, &file).map_err(Error::io("read", path))? {
            return Ok(());
        }
        match claim_interrupted(&partial)? {
            Some(_lock) => remove_if_there(path),
            None => Ok(()),
        }
    }

    /// Waits until the contents are on disk. The file keeps its temporary name.
    #[doc(hidden)]
    pub fn sync(&self) -> Result<()> {
        sync_file(&OnDisk, &self.partial)
    }

    /// Removes an earlier file of the final name.
    #[doc(hidden)]
    pub fn remove_earlier(&self) -> Result<()> {
        remove_if_there(&self.path)
    }

    /// Gives the file its final name, once its contents are on disk.
    #[doc(hidden)]
    pub fn commit(self) -> Result<()> {
        self.commit_with(&OnDisk)
    }

    fn commit_with(self, disk: &impl Disk) -> Result<()> {
        sync_file(disk, &self.partial)?;
        disk.rename(&self.partial, &self.path)
            .map_err(Error::io("rename to", &self.path))?;
        let synced = sync_folder(disk, folder_of(&self.path));
        if synced.is_err() {
            // After an error there is no new file, so that the run can be repeated.
            let _ = remove_if_there(&self.path);
        }
        synced
    }
}

/// Removes a file, if there is one.
#[doc(hidden)]
pub fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes the temporary file of an interrupted run. Refuses that of another run, and what is not a file.
fn discard_interrupted(partial: &Path) -> Result<()> {
    match claim_interrupted(partial)? {
        Some(_lock) => remove_if_there(partial),
        None => Ok(()),
    }
}

/// Locks the temporary file of an interrupted run, if there is one and files can be locked. Refuses that of another run, and
/// what is not a file.
fn claim_interrupted(partial: &Path) -> Result<Option<Option<Locked>>> {
    let refuse = |problem: &str, remedy: &str| {
        Err(Error::Output {
            path: partial.to_owned(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    let Some(found) = metadata_of_name(partial)? else {
        return Ok(None);
    };
    if !found.is_file() {
        return refuse(
            "it is not a regular file",
            "move it elsewhere, or choose another output",
        );
    }
    let file = File::options()
        .write(true)
        .open(partial)
        .map_err(Error::io("open", partial))?;
    match Locked::try_new(file) {
        Err(TryLockError::WouldBlock) => refuse(
            "another run is writing it",
            "wait until it ends, or choose another output",
        ),
        locked => Ok(Some(locked.ok())),
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit this file no longer exists.
        let _ = fs::remove_file(&self.partial);
    }
}

/// The name of a file in a folder, with `/`.
fn name_in(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).components();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// The folder of a file.
#[doc(hidden)]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path with a suffix at the end of its name.
#[doc(hidden)]
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match metadata_of_name(path)? {
        None => return Ok(()),
        Some(found) if found.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    };
    removed.map_err(Error::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::progress::Silent;

    /// Records what a commit does, and fails at one call.
    #[derive(Default)]
    struct Recorded {
        calls: Mutex<Vec<String>>,
        root: PathBuf,
        fails_at: Option<&'static str>,
    }

    impl Recorded {
        fn note(&self, call: &str, path: &Path) -> io::Result<()> {
            let path = path.strip_prefix(&self.root).unwrap().display();
            let call = format!("{call} {path}");
            let mut calls = self.calls.lock().unwrap();
            // Once: undoing a rename may be the same call.
            let fails = self.fails_at == Some(&call) && !calls.contains(&call);
            calls.push(call);
            if fails {
                Err(ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        }
    }

    impl Disk for Recorded {
        fn sync(&self, path: &Path, is_folder: bool) -> io::Result<()> {
            OnDisk.sync(path, is_folder)?;
            self.note("sync", path)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.note("rename to", to)?;
            fs::rename(from, to)
        }
    }

    /// A folder whose files hold `contents`.
    fn filled(root: &Path, contents: &str) -> OutputFolder {
        let output = OutputFolder::open(&root.join("out"), true, Leftovers::Remove).unwrap();
        output.take_over(&BTreeSet::new()).unwrap();
        let names = [
            "kept/a/b.jsonl",
            "kept/c.jsonl",
            "removed.jsonl",
            REPORT,
            RUN_RECORD,
        ];
        for name in names {
            let contents = match name {
                REPORT => "{\"simgpu_report\": 1}".to_owned(),
                RUN_RECORD => format!("{{\"simgpu\": \"0\", \"files\": {names:?}}}"),
                _ => contents.to_owned(),
            };
            let (mut file, _) = output.create(name).unwrap();
            file.write_all(contents.as_bytes()).unwrap();
        }
        output
    }

    fn recorder(root: &Path, fails_at: Option<&'static str>) -> Recorded {
        Recorded {
            root: root.to_owned(),
            fails_at,
            ..Recorded::default()
        }
    }

    #[test]
    fn files_reach_the_disk_before_the_report() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let disk = recorder(&root, None);
        drop(filled(&root, "one").publish_with(&disk).unwrap());
        let mut calls = disk.calls.into_inner().unwrap();
        // Threads sync the files and folders of `.partial` in any order.
        let renames = calls
            .iter()
            .position(|call| call.starts_with("rename"))
            .unwrap();
        // The parent folder comes last of them.
        calls[..renames - 1].sort_unstable();
        let expected = [
            "sync out/.partial",
            "sync out/.partial/kept",
            "sync out/.partial/kept/a",
            "sync out/.partial/kept/a/b.jsonl",
            "sync out/.partial/kept/c.jsonl",
            "sync out/.partial/removed.jsonl",
            "sync out/.partial/report.json",
            "sync out/.partial/run.json",
            "sync ",
            "rename to out/run.json",
            "rename to out/kept",
            "rename to out/removed.jsonl",
            "sync out",
            "rename to out/report.json",
            "sync out",
        ];
        assert_eq!(calls, expected);
    }

    #[test]
    fn a_commit_that_fails_keeps_the_earlier_results() {
        let failures = [
            "sync out/.partial/kept/c.jsonl",
            "sync ",
            "rename to out/kept",
            "rename to out/report.json",
        ];
        for fails_at in failures {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().canonicalize().unwrap();
            filled(&root, "one").commit(&Silent).unwrap();
            let disk = recorder(&root, Some(fails_at));
            let failed = filled(&root, "two").publish_with(&disk);
            assert!(matches!(failed, Err(Error::Io { .. })), "{fails_at}");
            let read = |name: &str| fs::read_to_string(root.join("out").join(name)).unwrap();
            for name in ["kept/a/b.jsonl", "kept/c.jsonl", "removed.jsonl"] {
                assert_eq!(read(name), "one", "{fails_at}");
            }
            assert!(read(REPORT).contains("simgpu_report"));
            assert!(!root.join("out").join(PARTIAL).exists());
        }
    }

    #[test]
    fn a_file_that_appears_during_a_run_stays() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        filled(root, "one").commit(&Silent).unwrap();
        let second = filled(root, "two");
        fs::write(root.join("out/kept/mine"), "mine").unwrap();
        let refused = second.commit(&Silent).unwrap_err().to_string();
        assert!(refused.contains("did not write kept/mine"), "{refused}");
        assert_eq!(fs::read(root.join("out/kept/mine")).unwrap(), b"mine");
        assert_eq!(fs::read(root.join("out/kept/c.jsonl")).unwrap(), b"one");
    }

    #[test]
    fn a_file_reaches_the_disk_before_its_name() {
        let place = tempfile::tempdir().unwrap();
        let disk = recorder(place.path(), None);
        let (output, _) = OutputFile::create(&place.path().join("p.csv"), false).unwrap();
        output.commit_with(&disk).unwrap();
        let calls = disk.calls.into_inner().unwrap();
        assert_eq!(calls, ["sync p.csv.partial", "rename to p.csv", "sync "]);
    }

    #[test]
    fn a_file_that_fails_has_no_name() {
        for fails_at in ["sync p.csv.partial", "rename to p.csv", "sync "] {
            let place = tempfile::tempdir().unwrap();
            let disk = recorder(place.path(), Some(fails_at));
            let (output, _) = OutputFile::create(&place.path().join("p.csv"), false).unwrap();
            assert!(output.commit_with(&disk).is_err(), "{fails_at}");
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{fails_at}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_report_is_no_foreign_file() {
        use std::os::unix::fs::PermissionsExt;

        let place = tempfile::tempdir().unwrap();
        filled(place.path(), "one").commit(&Silent).unwrap();
        let report = place.path().join("out").join(REPORT);
        fs::set_permissions(&report, fs::Permissions::from_mode(0o0)).unwrap();
        if File::open(&report).is_ok() {
            writeln!(io::stderr(), "skipped: this user may read every file").unwrap();
            return;
        }
        let failed = OutputFolder::open(&place.path().join("out"), true, Leftovers::Remove);
        assert!(matches!(failed, Err(Error::Io { path, .. }) if path == report));
    }

    #[test]
    fn two_runs_never_write_one_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("p.csv");
        let (first, mut file) = OutputFile::create(&path, false).unwrap();
        file.write_all(b"first").unwrap();
        let refused = OutputFile::create(&path, false).unwrap_err().to_string();
        assert!(refused.contains("another run is writing"), "{refused}");
        first.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        // What an interrupted run left is replaced.
        fs::write(place.path().join("q.csv.partial"), "half").unwrap();
        OutputFile::create(&place.path().join("q.csv"), false)
            .unwrap()
            .0
            .commit()
            .unwrap();
        assert_eq!(fs::read(place.path().join("q.csv")).unwrap(), b"");
    }

    #[test]
    fn a_file_is_replaced_only_if_it_may_be() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.jsonl");
        let write = |overwrite, text: &str| {
            let (output, mut file) = OutputFile::create(&path, overwrite)?;
            file.write_all(text.as_bytes()).unwrap();
            Ok::<_, Error>(output)
        };
        // Without a commit, nothing is left.
        drop(write(false, "a").unwrap());
        assert!(!path.exists() && !with_suffix(&path, PARTIAL).exists());
        write(false, "b").unwrap().commit().unwrap();
        assert!(matches!(write(false, "c"), Err(Error::Output { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "b");
        write(true, "d").unwrap().commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "d");
        for other in [place.path().to_owned(), place.path().join("none/out.jsonl")] {
            assert!(OutputFile::create(&other, true).is_err());
        }
        // Two runs do not write the same file.
        let _first = write(true, "e").unwrap();
        let second = write(true, "f").map(|_| ()).unwrap_err().to_string();
        assert!(second.contains("another run is writing it"), "{second}");
    }
}
