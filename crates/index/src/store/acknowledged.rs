//! The length of the journal that calls have promised to be on disk.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_64;

use crate::store_files;
use crate::store_files::damaged;
use crate::store_names::ACKNOWLEDGED;
use simgpu::error::{Error, Result};
use simgpu::store::disk::{OnDisk, metadata, sync_folder};

/// Refuses a clock before 1970: the store counts seconds since then in what it writes, and would panic.
pub(super) fn check_clock(folder: &Path, now: SystemTime) -> Result<()> {
    if now < SystemTime::UNIX_EPOCH {
        Err(Error::Input {
            path: folder.to_owned(),
            problem: "the clock of this machine is before 1970, and an index notes when its files were written"
                .to_owned(),
            remedy: "set the clock".to_owned(),
        })
    } else {
        Ok(())
    }
}

/// Notes the number of the last batch that is on disk.
pub(crate) fn acknowledge(folder: &Path, batches: u64) -> Result<()> {
    let path = folder.join(ACKNOWLEDGED);
    let is_new = metadata(&path)?.is_none();
    let number = batches.to_le_bytes();
    let bytes = [number, xxh3_64(&number).to_le_bytes()].concat();
    let write = || {
        // 16 bytes of one sector: the disk writes them at once.
        let mut file = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)?;
        io::Write::write_all(&mut file, &bytes)?;
        file.sync_data()
    };
    write().map_err(Error::io("write", &path))?;
    if is_new {
        sync_folder(&OnDisk, folder)
    } else {
        Ok(())
    }
}

/// The number of batches that were promised to be on disk.
pub(crate) fn acknowledged(folder: &Path) -> Result<u64> {
    let path = folder.join(ACKNOWLEDGED);
    let bytes = store_files::read(&path)?;
    let (number, checksum) = bytes.split_at(bytes.len().min(8));
    match number.try_into().map(u64::from_le_bytes) {
        Ok(acknowledged) if checksum == xxh3_64(number).to_le_bytes() => Ok(acknowledged),
        _ => Err(damaged(&path, "the number of its batches is unreadable")),
    }
}

/// Refuses a store that has fewer batches than were promised to be on disk.
pub(crate) fn check_acknowledged(folder: &Path, batches: u64) -> Result<()> {
    let acknowledged = acknowledged(folder)?;
    if batches < acknowledged {
        let lost = acknowledged - batches;
        let problem = format!("the last {lost} batches that were written are lost");
        Err(damaged(folder, &problem))
    } else {
        Ok(())
    }
}
