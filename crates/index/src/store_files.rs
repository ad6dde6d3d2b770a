//! The files of a store, and whether they are as they were written.
//!
//! Each table has a folder. There, the file `current` has the number of a manifest and a checksum of it; the manifest, `v` and its
//! number, lists the files of the table, each with a checksum of all of its bytes. The store checks the blocks of a file that it
//! reads, one by one, but no manifest: a changed bit there would hide documents. So manifests are checked here before the store
//! opens, and everything if an index is verified.

use std::fs::{self, File};
use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::journals;
use super::store_names::{CURRENT, TABLES, VERSION_FILE};
use simgpu::error::{Error, Result};

/// The bytes of the file that states the version of a store.
const VERSION: &[u8] = b"FJL\x03";

/// The folder of the files of a table.
const FILES: &str = "tables";

/// Bytes of a file that are read at a time.
const PIECE: usize = 1 << 18;

/// What is wrong with a file whose bytes are not those that were written.
pub(super) const CHANGED: &str = "its bytes are not those that were written";

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The manifests: some kilobytes.
    Manifests,
    /// And every byte of the files that they list.
    Files,
}

/// Checks the files of a store of so many tables, which may be open meanwhile. One more table has their names.
///
/// # Errors
/// [`Error::Input`] that names the first damaged file; [`Error::Io`].
pub(super) fn check(store: &Path, tables: usize, extent: Extent) -> Result<()> {
    // Without the one, a store would be created where this one is; without the other, it would number its batches from 0.
    let version = store.join(VERSION_FILE);
    if read(&version)? != VERSION {
        return Err(damaged(&version, CHANGED));
    }
    let journals = journals::names(store).map_err(Error::io("read", store))?;
    if journals.is_empty() {
        return Err(damaged(store, "it has no journal"));
    }
    let folder = store.join(TABLES);
    (0..=tables).try_for_each(|table| check_table(&folder.join(table.to_string()), extent))
}

/// Checks the files of a table. The store may write a new manifest meanwhile, and remove files that it does not list.
fn check_table(folder: &Path, extent: Extent) -> Result<()> {
    let path = folder.join(CURRENT);
    let mut current = read(&path)?;
    loop {
        let checked = check_manifest(folder, &current, extent);
        let after = read(&path)?;
        if checked.is_ok() || after == current {
            return checked;
        }
        current = after;
    }
}

fn check_manifest(folder: &Path, current: &[u8], extent: Extent) -> Result<()> {
    let by = folder.join(CURRENT);
    let wrong = || damaged(&by, "it names no manifest");
    let (number, rest) = current.split_first_chunk().ok_or_else(wrong)?;
    let (checksum, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
    // A byte says which checksum it is: there is one.
    if rest != [0] {
        return Err(wrong());
    }
    let name = format!("v{}", u64::from_le_bytes(*number));
    let path = folder.join(&name);
    let manifest = fs::read(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => damaged(&by, &format!("it names {name}, which is missing")),
        _ => Error::io("read", &path)(error),
    })?;
    if xxh3_128(&manifest) != u128::from_le_bytes(*checksum) {
        return Err(damaged(&path, CHANGED));
    }
    if extent == Extent::Manifests {
        return Ok(());
    }
    let files = listed(&manifest).ok_or_else(|| damaged(&path, "it lists no files"))?;
    files.into_iter().try_for_each(|(number, checksum)| {
        let path = folder.join(FILES).join(number.to_string());
        if checksum_of(&path)? == checksum {
            Ok(())
        } else {
            Err(damaged(&path, CHANGED))
        }
    })
}

/// The numbers of the files that a manifest lists, and their checksums; `None` if it is no manifest.
///
/// A section of it has levels, each level runs, and each run files, after their counts.
fn listed(manifest: &[u8]) -> Option<Vec<(u64, u128)>> {
    let archive = sfa::Reader::from_reader(&mut Cursor::new(manifest)).ok()?;
    let section = archive.toc().section(b"tables")?;
    let from = usize::try_from(section.pos()).ok()?;
    let mut rest = manifest
        .get(from..)?
        .get(..usize::try_from(section.len()).ok()?)?;
    let mut files = Vec::new();
    for _ in 0..u8::from_le_bytes(take(&mut rest)?) {
        for _ in 0..u8::from_le_bytes(take(&mut rest)?) {
            for _ in 0..u32::from_le_bytes(take(&mut rest)?) {
                let number = u64::from_le_bytes(take(&mut rest)?);
                let [0] = take(&mut rest)? else {
                    return None;
                };
                files.push((number, u128::from_le_bytes(take(&mut rest)?)));
                // The number of the batch with which it came.
                take::<8>(&mut rest)?;
            }
        }
    }
    rest.is_empty().then_some(files)
}

/// The next bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

/// The checksum of all bytes of a file.
fn checksum_of(path: &Path) -> Result<u128> {
    let mut file = File::open(path).map_err(missing(path))?;
    let (mut checksum, mut bytes) = (Xxh3::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut bytes).map_err(Error::io("read", path))? {
            0 => return Ok(checksum.digest128()),
            read => checksum.update(&bytes[..read]),
        }
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(missing(path))
}

/// The error of a file that cannot be read.
fn missing(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = PathBuf::from(path);
    move |error| match error.kind() {
        ErrorKind::NotFound => damaged(&path, "it is missing"),
        _ => Error::io("read", &path)(error),
    }
}

/// The error of an index whose bytes are not those that were written.
pub(crate) fn damaged(path: &Path, problem: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: format!("the index is damaged: {problem}"),
        remedy: "check the disk, and restore the index from a copy or build it again".to_owned(),
    }
}
