//! The journals of a store: the batches that are not all in tables yet.
//!
//! A journal is a sequence of entries: the start of a batch, its changes, and its end. When the store opens, it reads all
//! entries, and cuts off a journal after the last whole batch.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::store_names::{share, sync_file_or_folder};
use simgpu::error::{Error, Result};

/// The ending of journals.
const ENDING: &str = "jnl";

/// The kinds of entries, as their first byte states them.
const START: u8 = 1;
const CHANGE: u8 = 2;
const END: u8 = 3;
const CLEARING: u8 = 4;

/// Compression makes at most this many bytes of one.
const MOST_EXPANDED: u64 = 256;

/// The names of the journals in the folder of a store.
pub(crate) fn names(store: &Path) -> io::Result<BTreeSet<OsString>> {
    let names = fs::read_dir(store)?.map(|entry| Ok(entry?.file_name()));
    let names = names.collect::<io::Result<BTreeSet<_>>>()?;
    let is_journal = |name: &OsString| Path::new(name).extension() == Some(OsStr::new(ENDING));
    Ok(names.into_iter().filter(is_journal).collect())
}

/// Cuts off each journal before a batch that claims to be longer than the rest of its file: one that a crash cut off, or a damaged
/// one. The store would do so after it had allocated memory for the length that is claimed, of up to 4 GiB.
pub(super) fn cut_off(store: &Path) -> Result<()> {
    for name in names(store).map_err(Error::io("read", store))? {
        let path = store.join(name);
        let end = end_of_batches(&path).map_err(Error::io("read", &path))?;
        if let Some(end) = end {
            let file = File::options().write(true).open(&path);
            let cut = file.and_then(|file| {
                file.set_len(end)?;
                file.sync_all()
            });
            cut.map_err(Error::io("write", &path))?;
        }
    }
    Ok(())
}

/// Where the last whole batch of a journal ends, if an entry after it claims more bytes than there are; `None` if none does.
fn end_of_batches(path: &Path) -> io::Result<Option<u64>> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut journal = BufReader::new(file);
    let (mut at, mut end) = (0, 0);
    while let Some(entry) = read_head(&mut journal)? {
        at += entry.head;
        if entry.rest > bytes.saturating_sub(at) {
            return Ok(Some(end));
        }
        journal.seek_relative(i64::try_from(entry.rest).map_err(io::Error::other)?)?;
        at += entry.rest;
        if entry.ends_batch {
            end = at;
        }
    }
    Ok(None)
}

/// An entry of a journal.
struct Entry {
    /// The bytes of its head.
    head: u64,
    /// The bytes after its head.
    rest: u64,
    ends_batch: bool,
}

/// Reads the head of the next entry; `None` if there is none. The store ends there, too.
fn read_head(journal: &mut impl Read) -> io::Result<Option<Entry>> {
    match read_entry(journal) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        entry => entry,
    }
}

fn read_entry(journal: &mut impl Read) -> io::Result<Option<Entry>> {
    let [kind] = read(journal)?;
    let entry = |rest, ends_batch| {
        Ok(Some(Entry {
            head: 1,
            rest,
            ends_batch,
        }))
    };
    match kind {
        // The number of changes, and that of the batch.
        START => entry(4 + 8, false),
        // The number of a table.
        CLEARING => entry(8, false),
        // A checksum, and bytes that are always the same.
        END => entry(8 + 4, true),
        CHANGE => {
            let [_, compression] = read(journal)?;
            let _table: [u8; 8] = read(journal)?;
            let key = u64::from(u16::from_le_bytes(read(journal)?));
            let value = u64::from(u32::from_le_bytes(read(journal)?));
            let stored = u64::from(u32::from_le_bytes(read(journal)?));
            let is_possible = match compression {
                0 => value == stored,
                _ => value <= MOST_EXPANDED * (stored + 1),
            };
            Ok(Some(Entry {
                head: 1 + 2 + 8 + 2 + 4 + 4,
                rest: if is_possible { key + stored } else { u64::MAX },
                ends_batch: false,
            }))
        }
        _ => Ok(None),
    }
}

fn read<const N: usize>(journal: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    journal.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The journals of an open store.
pub(super) struct Journals {
    folder: PathBuf,
    /// Whether tables have all that journals have.
    pub(super) is_in_tables: bool,
}

impl Journals {
    /// Those in the folder of a store.
    pub(super) fn new(folder: PathBuf) -> Self {
        Journals {
            folder,
            is_in_tables: false,
        }
    }

    /// Empties the journals. The store would read all of them when it is opened, up to 64 MB, also what tables have. The last one
    /// must stay: a store without any numbers its batches from the start.
    fn clear(&self) -> io::Result<()> {
        let mut journals = Vec::new();
        for name in names(&self.folder)? {
            let path = self.folder.join(name);
            let number = path.file_stem().and_then(|stem| stem.to_str());
            if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
                journals.push((number, path));
            }
        }
        journals.sort_unstable();
        let last = journals.pop();
        for (_, path) in journals {
            fs::remove_file(path)?;
        }
        match last {
            Some((_, path)) => {
                // An older journal without the last one would be read as if it were the end.
                sync_file_or_folder(&self.folder)?;
                File::options().write(true).open(path)?.set_len(0)
            }
            None => Ok(()),
        }
    }
}

impl Drop for Journals {
    fn drop(&mut self) {
        // Without it, a file stays that only this user can read.
        let _ = share(&self.folder);
        if self.is_in_tables {
            // A journal that stays is read again, to no effect.
            let _ = self.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of one change, whose key and value have these lengths, cut off after `there` bytes of the value.
    fn batch(key: u16, value: u32, stored: u32, there: usize) -> Vec<u8> {
        let start = [&[START][..], &1u32.to_le_bytes(), &7u64.to_le_bytes()];
        let compression = u8::from(value != stored);
        let head = [&[CHANGE, 0, compression][..], &3u64.to_le_bytes()];
        let lengths = [
            &key.to_le_bytes()[..],
            &value.to_le_bytes(),
            &stored.to_le_bytes(),
        ];
        let end = [&[END][..], &[9; 12]];
        [
            start.concat(),
            head.concat(),
            lengths.concat(),
            vec![5; there],
            end.concat(),
        ]
        .concat()
    }

    #[test]
    fn a_length_beyond_the_file_ends_its_batches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.jnl");
        let whole = [
            batch(4, 8, 8, 12),
            vec![CLEARING, 0, 0, 0, 0, 0, 0, 0, 0],
            batch(3, 100, 20, 23),
        ]
        .concat();
        let too_long = [
            batch(4, 9_000, 9_000, 12),
            batch(u16::MAX, 8, 8, 12),
            batch(4, u32::MAX, u32::MAX, 12),
            // It would become 200 times as long as compression can make it.
            batch(4, 1 << 20, 8, 12),
            vec![START, 1],
        ];
        let end = |rest: &[u8]| {
            fs::write(&path, [&whole, rest].concat()).unwrap();
            end_of_batches(&path).unwrap()
        };
        for rest in too_long {
            assert_eq!(end(&rest), Some(whole.len() as u64));
            cut_off(folder.path()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
        // The store ends there by itself.
        for rest in [&[][..], &[0; 4096], &[77], &batch(4, 8, 8, 12)[..20]] {
            assert_eq!(end(rest), None);
        }
    }
}
