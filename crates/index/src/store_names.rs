//! The names of the files of a store, and who may read them.

use std::fs;
use std::io;
use std::path::Path;

use simgpu::store::disk::{Disk, OnDisk};

/// The name of the folder of the store, and that of the number of the last batch that was promised to be on disk.
pub(super) const STORE: &str = "store";
pub(super) const ACKNOWLEDGED: &str = "acknowledged";

/// The file of the store that says its version.
pub(super) const VERSION_FILE: &str = "version";

/// The file that one process locks.
pub(super) const STORE_LOCK: &str = "lock";

/// The folder of the tables in that of the store.
pub(super) const TABLES: &str = "keyspaces";

/// The file in the folder of a table that names its manifest.
pub(super) const CURRENT: &str = "current";

/// Gives files that the store makes for their owner alone, whatever the umask, the permissions of its other files: who may read an
/// index follows from its folder.
#[cfg(unix)]
pub(super) fn share(folder: &Path) -> io::Result<()> {
    let permissions = fs::metadata(folder.join(VERSION_FILE))?.permissions();
    for entry in fs::read_dir(folder.join(TABLES))?.flatten() {
        // One that cannot be changed is another user's.
        let _ = fs::set_permissions(entry.path().join(CURRENT), permissions.clone());
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn share(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Waits until a file, or the names in a folder, are on disk.
pub(super) fn sync_file_or_folder(path: &Path) -> io::Result<()> {
    OnDisk.sync(path, fs::metadata(path)?.is_dir())
}
