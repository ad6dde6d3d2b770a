//! A filter of the lists that a bulk build wrote: most keys that these do not have are not looked up.
//!
//! A new text has none of its keys in the index. The store has filters of its own, in parts that it looks up in an index and then in its
//! cache. With ten million documents, that took 1.6 µs for each of the 16 bands, most of it waiting for memory. Here, the place of
//! a key follows from the key: its first bits say which page, and its hash which 64 bytes of that page have its bits (Putze,
//! Sanders and Singler 2007, "Cache-, Hash- and Space-Efficient Bloom Filters"). Keys come sorted, so that pages are written in order.
//!
//! **A key that is there is never denied, whenever the machine stops.** The file is on disk before the folder is an index, and
//! never changes. Nor does its table get a key more: what is added later goes to another table. Without the file, each key is
//! looked up. Each page has a checksum, which is compared when the page is read.

use std::fs::File;
use std::io::ErrorKind;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::store_files::{CHANGED, damaged};
use simgpu::error::{Error, Result};
use simgpu::scheme::fmix64;
use simgpu::store::disk::read_at;
use simgpu::store::disk::{OnDisk, sync_folder};

/// The name of the file in the folder of the store.
pub(super) const FILTER: &str = "filter";

/// Bytes of a page. Its last block has no keys, and ends with a checksum of all before it.
const PAGE: usize = 4096;

type Page = [u8; PAGE];

/// Bytes of a block: a line of the cache of a processor.
const BLOCK: usize = 64;

const BLOCKS: u64 = (PAGE / BLOCK - 1) as u64;

/// Where the checksum is.
const CHECKSUM: usize = PAGE - 8;

/// Bits of a block that stand for a key.
const BITS: usize = 6;

/// Keys for which there is a page: 9.8 bits each. One in 70 keys that are not there is looked up.
const KEYS: u64 = 3300;

/// Pages that are held in memory: 192 MiB, which is enough for ten million documents with 16 bands. Others are read each time.
const HELD: usize = (192 << 20) / PAGE;

/// Where the bits of a key are: the page, and the numbers of the bits in it. `None` if the filter does not know the band.
#[allow(clippy::cast_possible_truncation, reason = "below 64 and 512")]
fn place(starts: &[u64], band: u16, key: u64) -> Option<(u64, [usize; BITS])> {
    let [start, end] = starts.get(usize::from(band)..)?.first_chunk()?;
    let pages = end.checked_sub(*start).filter(|pages| *pages > 0)?;
    let page = start + ((u128::from(key) * u128::from(pages)) >> 64) as u64;
    let hash = fmix64(key);
    let block = (((hash & 0xFFFF_FFFF) * BLOCKS) >> 32) as usize;
    let hash = fmix64(hash);
    let in_block = |bit: usize| ((hash >> (9 * bit)) & 511) as usize;
    let bits = std::array::from_fn(|bit| 8 * BLOCK * block + in_block(bit));
    Some((page, bits))
}

fn has(page: &Page, bits: [usize; BITS]) -> bool {
    bits.iter().all(|bit| page[bit / 8] >> (bit % 8) & 1 == 1)
}

fn checksum(page: &Page, number: u64) -> [u8; 8] {
    xxh3_64_with_seed(&page[..CHECKSUM], number).to_le_bytes()
}

/// Bytes before the first page: the number of bands, the first page of each and the end of the last one, zeros, and a checksum of
/// all before it.
fn header_len(bands: usize) -> usize {
    (8 * (bands + 3)).next_multiple_of(PAGE)
}

fn encode(starts: &[u64]) -> Vec<u8> {
    let bands = starts.len() as u64 - 1;
    let words = std::iter::once(&bands).chain(starts);
    let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(header_len(starts.len() - 1) - 8, 0);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// Writes a filter.
pub(super) struct FilterWriter {
    folder: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    /// The first page of each band, and the end of the last one.
    starts: Vec<u64>,
    page: Box<Page>,
    /// The number of the page.
    number: u64,
}

impl FilterWriter {
    /// A filter in the folder of a store, for about so many keys of each band.
    pub(super) fn create(folder: &Path, keys: impl Iterator<Item = u64>) -> Result<Self> {
        let path = folder.join(FILTER);
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend(keys.map(|keys| {
            end += keys.div_ceil(KEYS);
            end
        }));
        let create = || {
            let mut file = BufWriter::new(File::create(&path)?);
            file.write_all(&encode(&starts))?;
            Ok(file)
        };
        Ok(FilterWriter {
            file: create().map_err(Error::io("create", &path))?,
            folder: folder.to_owned(),
            path,
            starts,
            page: Box::new([0; PAGE]),
            number: 0,
        })
    }

    /// Adds a key. Keys come in ascending order, band by band.
    pub(super) fn add(&mut self, band: u16, key: u64) -> Result<()> {
        let Some((page, bits)) = place(&self.starts, band, key) else {
            return Ok(());
        };
        if page < self.number {
            return Err(Error::Defect(
                "the keys of a filter are in disorder".to_owned(),
            ));
        }
        self.write_to(page)?;
        for bit in bits {
            self.page[bit / 8] |= 1 << (bit % 8);
        }
        Ok(())
    }

    /// Writes the pages before this one.
    fn write_to(&mut self, end: u64) -> Result<()> {
        while self.number < end {
            let checksum = checksum(&self.page, self.number);
            self.page[CHECKSUM..].copy_from_slice(&checksum);
            let written = self.file.write_all(&*self.page);
            written.map_err(Error::io("write", &self.path))?;
            self.page.fill(0);
            self.number += 1;
        }
        Ok(())
    }

    /// Writes the rest, and waits until it is on disk.
    pub(super) fn finish(mut self) -> Result<()> {
        self.write_to(self.starts.last().copied().unwrap_or(0))?;
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let synced = file.and_then(|file| file.sync_all());
        synced.map_err(Error::io("write", &self.path))?;
        sync_folder(&OnDisk, &self.folder)
    }
}

/// A filter that was written.
pub(super) struct Filter {
    path: PathBuf,
    file: File,
    /// The first page of each band, and the end of the last one.
    starts: Vec<u64>,
    /// Where the first page is in the file.
    from: u64,
    /// Those that were read.
    pages: Vec<OnceLock<Box<Page>>>,
    /// The number of pages that are held.
    held: AtomicUsize,
}

impl Filter {
    /// The filter in the folder of a store; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Input`] if it is damaged; [`Error::Io`].
    pub(super) fn open(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILTER);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io("open", &path))?,
        };
        let starts = Filter::starts(&file).map_err(|error| Filter::error(&path, error))?;
        let from = header_len(starts.len() - 1) as u64;
        let end = starts[starts.len() - 1];
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        if end
            .checked_mul(PAGE as u64)
            .and_then(|pages| pages.checked_add(from))
            != Some(bytes)
        {
            return Err(damaged(&path, CHANGED));
        }
        Ok(Some(Filter {
            path,
            file,
            starts,
            from,
            pages: (0..end).map(|_| OnceLock::new()).collect(),
            held: AtomicUsize::new(0),
        }))
    }

    /// The first page of each band, and the end of the last one.
    fn starts(file: &File) -> std::io::Result<Vec<u64>> {
        let mut bands = [0; 8];
        read_at(file, &mut bands, 0)?;
        let bands = u16::try_from(u64::from_le_bytes(bands));
        let bands = usize::from(bands.map_err(|_| ErrorKind::InvalidData)?);
        let mut bytes = vec![0; header_len(bands)];
        read_at(file, &mut bytes, 0)?;
        let (header, checksum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(header).to_le_bytes() != *checksum {
            return Err(ErrorKind::InvalidData.into());
        }
        let words = header.as_chunks().0.iter().skip(1).take(bands + 1);
        Ok(words.copied().map(u64::from_le_bytes).collect())
    }

    fn error(path: &Path, error: std::io::Error) -> Error {
        match error.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => damaged(path, CHANGED),
            _ => Error::io("read", path)(error),
        }
    }

    /// Bytes that are held in memory at most.
    pub(super) fn most_bytes(&self) -> u64 {
        (self.pages.len().min(HELD) * PAGE) as u64
    }

    /// Bytes of the file.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.from + (self.pages.len() * PAGE) as u64
    }

    /// Whether the key of a band may be there. False: it is not.
    ///
    /// # Errors
    /// [`Error::Input`] if its page is damaged; [`Error::Io`].
    #[allow(
        clippy::cast_possible_truncation,
        reason = "pages are counted by a `usize`"
    )]
    pub(super) fn may_have(&self, band: u16, key: u64) -> Result<bool> {
        let Some((number, bits)) = place(&self.starts, band, key) else {
            return Ok(true);
        };
        let slot = &self.pages[number as usize];
        if let Some(page) = slot.get() {
            return Ok(has(page, bits));
        }
        let page = self.read(number)?;
        let may_have = has(&page, bits);
        if self.held.load(Ordering::Relaxed) < HELD && slot.set(page).is_ok() {
            self.held.fetch_add(1, Ordering::Relaxed);
        }
        Ok(may_have)
    }

    fn read(&self, number: u64) -> Result<Box<Page>> {
        let mut page = Box::new([0; PAGE]);
        let read = read_at(&self.file, &mut *page, self.from + number * PAGE as u64);
        read.map_err(|error| Filter::error(&self.path, error))?;
        if page[CHECKSUM..] == checksum(&page, number) {
            Ok(page)
        } else {
            Err(damaged(&self.path, CHANGED))
        }
    }

    /// Reads all pages.
    ///
    /// # Errors
    /// [`Error::Input`] if one is damaged; [`Error::Io`].
    pub(super) fn check(&self) -> Result<()> {
        (0..self.pages.len() as u64).try_for_each(|number| self.read(number).map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of three bands, of which the second has none: sorted, band by band.
    fn keys(count: u64) -> Vec<(u16, u64)> {
        let key = |number| (if number % 3 == 0 { 0 } else { 2 }, fmix64(number));
        let mut keys: Vec<(u16, u64)> = (0..count).map(key).collect();
        keys.extend([(0, 0), (0, u64::MAX), (2, u64::MAX)]);
        keys.sort_unstable();
        keys
    }

    fn write(folder: &Path, keys: &[(u16, u64)]) {
        let of = |band| keys.iter().filter(|(of, _)| *of == band).count() as u64;
        let mut writer = FilterWriter::create(folder, (0..3).map(of)).unwrap();
        for (band, key) in keys {
            writer.add(*band, *key).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn a_filter_has_its_keys_and_few_others() {
        for count in [0, 1, 5_000, 40_000] {
            let folder = tempfile::tempdir().unwrap();
            assert!(Filter::open(folder.path()).unwrap().is_none());
            let keys = keys(count);
            write(folder.path(), &keys);
            let filter = Filter::open(folder.path()).unwrap().unwrap();
            filter.check().unwrap();
            // Read from the file, and from memory.
            for _ in 0..2 {
                for (band, key) in &keys {
                    assert!(filter.may_have(*band, *key).unwrap());
                }
            }
            // Nothing is known of these bands.
            assert!(filter.may_have(1, 7).unwrap() && filter.may_have(3, 7).unwrap());
            let others = (0..10_000).map(|number| fmix64(1 << 40 | number));
            let found = others
                .filter(|key| filter.may_have(0, *key).unwrap())
                .count();
            assert!(found < 250, "{found} of 10,000");
        }
    }

    #[test]
    fn keys_in_disorder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FilterWriter::create(folder.path(), [10 * KEYS].into_iter()).unwrap();
        writer.add(0, u64::MAX).unwrap();
        assert!(matches!(writer.add(0, 0), Err(Error::Defect(_))));
    }

    #[test]
    fn a_changed_filter_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(5_000);
        write(folder.path(), &keys);
        let path = folder.path().join(FILTER);
        let bytes = std::fs::read(&path).unwrap();
        let ask_all = || -> Result<()> {
            let filter = Filter::open(folder.path())?.unwrap();
            for (band, key) in &keys {
                assert!(filter.may_have(*band, *key)?);
            }
            Ok(())
        };
        let is_refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let error = ask_all().unwrap_err();
            assert!(error.to_string().contains(FILTER), "{error}");
        };
        for at in (0..48).chain((48..bytes.len()).step_by(97)) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            is_refused(&changed);
        }
        is_refused(&bytes[..bytes.len() - 1]);
        is_refused(&bytes[..20]);
        is_refused(&[]);
        is_refused(&[&bytes[..], &[0]].concat());
        std::fs::write(&path, &bytes).unwrap();
        ask_all().unwrap();
    }
}
