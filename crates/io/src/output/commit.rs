//! Gives the files of a complete run their final names.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::{fs, thread};

use crossbeam_channel::{Sender, bounded, unbounded};

use super::folder::{EARLIER, KEPT, OutputFolder, REPORT, RUN_RECORD};
use super::moves::Moves;
use simgpu::error::{Error, Result};
use simgpu::progress::Progress;
use simgpu::store::disk::{
    AT_A_TIME, Disk, OnDisk, for_all, is_folder, metadata_of_name, sync_file, sync_folder,
    write_back,
};
use simgpu::store::spill;

impl OutputFolder {
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
        for_all(&new, |(path, is_folder)| {
            if *is_folder {
                sync_folder(disk, path)
            } else {
                sync_file(disk, path)
            }
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

    pub(super) fn publish_with(self, disk: &impl Disk) -> Result<CompleteOutput> {
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
pub struct CompleteOutput(pub(super) OutputFolder);

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
