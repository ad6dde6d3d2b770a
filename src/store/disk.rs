//! The disk: its free space, and waiting until it has what was written.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// What a commit asks of the disk. A test records the calls.
#[doc(hidden)]
pub trait Disk: Sync {
    /// Waits until a file, or the names in a folder, are on disk.
    fn sync(&self, path: &Path, is_folder: bool) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The disk itself.
#[doc(hidden)]
#[derive(Debug)]
pub struct OnDisk;

impl Disk for OnDisk {
    fn sync(&self, path: &Path, is_folder: bool) -> io::Result<()> {
        if !is_folder {
            // Windows flushes only what may be written.
            return File::options().write(true).open(path)?.sync_all();
        }
        if cfg!(not(unix)) {
            return Ok(());
        }
        match File::open(path)?.sync_all() {
            // A file system without this operation, such as some network mounts.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::InvalidInput | ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// Waits until a file is on disk.
#[doc(hidden)]
pub fn sync_file(disk: &impl Disk, path: &Path) -> Result<()> {
    disk.sync(path, false)
        .map_err(Error::io("write to disk", path))
}

/// Writes the bytes of a file that are there to disk. More may be written to it meanwhile.
#[doc(hidden)]
pub fn write_back(path: &Path) -> Result<()> {
    let file = File::options().write(true).open(path);
    file.and_then(|file| file.sync_data())
        .map_err(Error::io("write to disk", path))
}

/// Waits until the names in a folder are on disk.
#[doc(hidden)]
pub fn sync_folder(disk: &impl Disk, path: &Path) -> Result<()> {
    disk.sync(path, true)
        .map_err(Error::io("write to disk", path))
}

/// The most files for which a run waits at a time: a file system writes its journal once for all that wait.
#[doc(hidden)]
pub const AT_A_TIME: usize = 32;

/// Bytes of the stack of a thread that waits for a file. glibc keeps stacks of 40 MB for later threads, which are 20 of the usual
/// 2 MiB. To unmap the others took 50 ms of a run of 6 s.
const STACK: usize = 256 << 10;

/// Calls `work`, which waits for the file system, for all paths, many at a time: it writes files to disk, or removes them.
#[doc(hidden)]
pub fn for_all<P: Sync>(paths: &[P], work: impl Fn(&P) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work_on_some = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(path)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others = 1..paths.len().min(AT_A_TIME);
        // Where no more threads can be had, the others do the work.
        let start = |_| {
            let other = thread::Builder::new().stack_size(STACK);
            other.spawn_scoped(scope, work_on_some).ok()
        };
        let others = others.map_while(start);
        let others: Vec<_> = others.collect();
        let mut done = work_on_some();
        for other in others {
            done = done.and(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    })
}

/// What is known of the file or folder of this name, with links followed; `None` if there is none.
///
/// # Errors
/// [`Error::Io`] if that cannot be told. An error of the disk does not mean that there is none.
#[doc(hidden)]
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    found(path, fs::metadata(path))
}

/// The same of the name itself, which may be a link.
///
/// # Errors
/// Those of [`metadata`].
#[doc(hidden)]
pub fn metadata_of_name(path: &Path) -> Result<Option<Metadata>> {
    found(path, fs::symlink_metadata(path))
}

fn found(path: &Path, metadata: io::Result<Metadata>) -> Result<Option<Metadata>> {
    match metadata {
        Err(error) if is_absent(&error) => Ok(None),
        metadata => metadata.map(Some).map_err(Error::io("read", path)),
    }
}

/// Whether there is a file of this name.
///
/// # Errors
/// Those of [`metadata`].
#[doc(hidden)]
pub fn is_file(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_some_and(|found| found.is_file()))
}

/// Whether there is a folder of this name.
///
/// # Errors
/// Those of [`metadata`].
#[doc(hidden)]
pub fn is_folder(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_some_and(|found| found.is_dir()))
}

/// Whether there may be a file of this name. An error of the disk does not mean that there is none.
#[doc(hidden)]
pub fn may_be_file(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) => !is_absent(&error),
    }
}

/// Whether this error means that there is no file of a name, or that none can have it.
#[doc(hidden)]
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
    )
}

/// Reads bytes at a place of a file.
#[cfg(unix)]
#[doc(hidden)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Reads bytes at a place of a file.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_panic_while_files_are_synchronised_goes_on() {
        let paths: Vec<usize> = (0..100).collect();
        for last in [0, 99] {
            let sync = |path: &usize| {
                assert!(*path != last, "as if a thread had panicked");
                Ok(())
            };
            assert!(catch_unwind(|| for_all(&paths, sync)).is_err());
        }
        assert!(for_all(&paths, |_| Ok(())).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_cannot_be_looked_at_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (circle, file) = (folder.path().join("circle"), folder.path().join("file"));
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        fs::write(&file, "").unwrap();
        for asked in [is_file, is_folder] {
            assert!(matches!(asked(&circle), Err(Error::Io { .. })));
            for absent in [folder.path().join("none"), file.join("below")] {
                assert!(!asked(&absent).unwrap());
            }
        }
        assert!(metadata_of_name(&circle).unwrap().is_some());
        assert!(is_file(&file).unwrap() && is_folder(folder.path()).unwrap());
    }
}
