//! The key-value store of an index. This file alone names fjall.
//!
//! **A log-structured store** suits an index of bands: keys come in random order, and nearly every lookup is for a key that
//! is not there, which a filter in memory answers. Of five stores measured with 1e7 documents, a tree of pages (redb,
//! LMDB) wrote 70 to 120 times more bytes for 10,000 added documents, since it rewrites a page per key, and an absent document
//! took it 38 to 94 µs, where this one took 8 to 16.
//!
//! **What was acknowledged is counted.** A batch goes to a journal first. When the store opens, it drops a journal's end
//! that is not whole: the batch that a crash cut off, but also one that the disk damaged later. So each batch has a number,
//! and a file beside the store holds the number of the last one that was promised to be on disk. A store that has fewer
//! is damaged.

use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, SystemTime};

use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy};
use fjall::{
    CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, LsmError, OwnedWriteBatch,
    PersistMode, Readable, UserValue,
};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::filter::FilterWriter;
use super::filter::{FILTER, Filter};
use super::journals::{self, Journals};
use super::store_copy::view_of;
pub(super) use super::store_files::damaged;
use super::store_files::{self, Extent};
use super::store_names::{ACKNOWLEDGED, STORE, STORE_LOCK, TABLES, share};
use simgpu::error::{Error, Result, Unsupported};
use simgpu::store::disk::{OnDisk, is_absent, metadata, sync_folder};

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// Numbers that the whole index has.
    State,
    /// The rows of the documents that share the key of a band, or a shingle.
    Bands,
    /// The same of the documents that a bulk build wrote. No key is added to it, so that a filter has them all.
    Built,
    /// The documents, by row.
    Documents,
    /// The row of each id.
    Ids,
    /// The shingles of the documents, by row.
    Sets,
}

impl Table {
    /// All of them, each at its number.
    const ALL: [Table; 6] = [
        Table::State,
        Table::Bands,
        Table::Built,
        Table::Documents,
        Table::Ids,
        Table::Sets,
    ];

    fn name(self) -> &'static str {
        match self {
            Table::State => "state",
            Table::Bands => "bands",
            Table::Built => "built",
            Table::Documents => "documents",
            Table::Ids => "ids",
            Table::Sets => "sets",
        }
    }

    fn options(self) -> KeyspaceCreateOptions {
        // A file of 64 MiB has filters of 7 MiB. As one block, they would be read as a whole for each lookup, once the filters of all
        // files exceed the cache.
        let in_parts = PartitioningPolicy::all(true);
        let options = KeyspaceCreateOptions::default()
            .max_memtable_size(NEW_KEYS)
            .filter_block_partitioning_policy(in_parts.clone())
            .index_block_partitioning_policy(in_parts);
        match self {
            // Neighbouring keys have bytes in common.
            Table::Bands | Table::Built => options
                .data_block_size_policy(BlockSizePolicy::all(16 << 10))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                .expect_point_read_hits(self == Table::Built),
            // Signatures and hashes are random. Only rows that lists have are looked up, so that a filter would rarely help.
            _ => options
                .data_block_size_policy(BlockSizePolicy::all(4 << 10))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
                .expect_point_read_hits(self != Table::Ids),
        }
    }
}

/// Receives the keys and values of a table, by ascending key.
pub(super) type Put<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// The bytes of a key and those of a value.
pub(super) use fjall::UserKey;
pub(crate) type Value = UserValue;

/// An open store.
pub(super) struct Store {
    /// The folder of the index, which messages name.
    folder: PathBuf,
    database: Database,
    tables: Vec<Keyspace>,
    /// That of [`Table::Built`], once it was filled.
    filter: OnceLock<Filter>,
    /// Whether it was found to have all that it should.
    is_trusted: bool,
    /// Dropped last, when nobody writes a journal.
    journals: Journals,
    /// What is open in place of a store that may not be written.
    view: Option<TempDir>,
}

/// Bytes of new keys and values of a table that are held in memory until they are written to a file. The store's own 64 MiB would
/// be more than the cache for all tables.
const NEW_KEYS: u64 = 16 << 20;

/// Bytes that are held in memory: blocks, and pages of the filter. With 128 MiB, the filters of ten million documents did not fit,
/// which have 1.25 bytes for each of the 16 bands.
const CACHE: u64 = 256 << 20;

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// It is created.
    New,
    /// It is there.
    Existing,
    /// It is there, and may not be written. The index is locked, so that no other process writes it.
    ReadOnly,
}

impl Store {
    /// Creates a store in the folder of an index, or opens it.
    pub(super) fn open(folder: &Path, opening: Opening) -> Result<Self> {
        check_clock(folder, SystemTime::now())?;
        let store = folder.join(STORE);
        if opening != Opening::New {
            if let Err(error) = fs::read_dir(&store) {
                return Err(if is_absent(&error) {
                    damaged(folder, "it has no store")
                } else {
                    Error::io("read", &store)(error)
                });
            }
            // The store would take a changed manifest as it is, and remove a table that has none.
            store_files::check(&store, Table::ALL.len(), Extent::Manifests)?;
        }
        let view = match opening {
            Opening::ReadOnly => Some(view_of(&store)?),
            Opening::New | Opening::Existing => None,
        };
        let path = view.as_ref().map_or(&*store, TempDir::path);
        if opening != Opening::New {
            journals::cut_off(path)?;
        }
        if opening == Opening::Existing {
            // The store takes this file to be there. It holds nothing.
            make_if_missing(&path.join(STORE_LOCK))?;
        }
        let filter = Filter::open(&store)?;
        let blocks = CACHE - filter.as_ref().map_or(0, Filter::most_bytes);
        let opened = guarded(|| {
            let builder = Database::builder(path).cache_size(blocks);
            let database = match opening {
                // It writes nothing but a compaction that is due, to the temporary folder.
                Opening::ReadOnly => builder.worker_threads(1),
                Opening::New | Opening::Existing => builder,
            };
            let database = database.open()?;
            let mut tables = Vec::new();
            for table in Table::ALL {
                if opening != Opening::New && !database.keyspace_exists(table.name()) {
                    return Ok(None);
                }
                tables.push(database.keyspace(table.name(), || table.options())?);
            }
            Ok(Some((database, tables)))
        });
        let opened = opened.map_err(|wrong| wrong.error("open", folder))?;
        let (database, tables) = opened.ok_or_else(|| damaged_store(folder))?;
        // After a kill, they are as the store made them.
        let _ = share(path);
        if opening == Opening::New {
            // The store waits for its files, but not for the names of the folders of its tables.
            sync_folder(&OnDisk, &store.join(TABLES))?;
        }
        Ok(Store {
            folder: folder.to_owned(),
            database,
            tables,
            filter: filter.map_or_else(OnceLock::new, OnceLock::from),
            is_trusted: opening == Opening::New,
            journals: Journals::new(path.to_owned()),
            view,
        })
    }

    fn table(&self, table: Table) -> &Keyspace {
        &self.tables[table as usize]
    }

    /// The store as it is now: later batches do not change it.
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            store: self,
            at: self.database.snapshot(),
        }
    }

    /// An empty batch.
    pub(super) fn batch(&self) -> Batch<'_> {
        Batch {
            store: self,
            // To the system at once: what a killed process committed is there.
            batch: self.database.batch().durability(Some(PersistMode::Buffer)),
        }
    }

    /// Waits until all batches are on disk, and notes that the last of them has this number.
    pub(super) fn sync(&self, batches: u64) -> Result<()> {
        let persisted = guarded(|| self.database.persist(PersistMode::SyncAll));
        persisted.map_err(|wrong| wrong.error("write", &self.folder))?;
        acknowledge(&self.folder, batches)
    }

    /// Fills an empty table: `write` passes on its keys and values, by ascending key. No journal has them; they are on disk,
    /// all or none, when this returns.
    pub(super) fn fill(
        &self,
        table: Table,
        write: impl FnOnce(Put<'_>) -> Result<()>,
    ) -> Result<()> {
        let failed = |wrong: Wrong| wrong.error("write", &self.folder);
        let mut filling = guarded(|| self.table(table).start_ingestion()).map_err(failed)?;
        write(&mut |key, value| guarded(|| filling.write(key, value)).map_err(failed))?;
        guarded(|| filling.finish()).map_err(failed)
    }

    /// Begins the filter of [`Table::Built`], for so many keys of each band.
    pub(super) fn begin_filter(&self, keys: impl Iterator<Item = u64>) -> Result<FilterWriter> {
        FilterWriter::create(&self.folder.join(STORE), keys)
    }

    /// Uses the filter that was written.
    pub(super) fn use_filter(&self) -> Result<()> {
        if let Some(filter) = Filter::open(&self.folder.join(STORE))? {
            self.filter.get_or_init(|| filter);
        }
        Ok(())
    }

    /// Writes all tables anew, without what was removed.
    pub(super) fn compact(&self) -> Result<()> {
        let compacted = guarded(|| {
            self.flush()?;
            self.tables.iter().try_for_each(Keyspace::major_compact)
        });
        compacted.map_err(|wrong| wrong.error("compact", &self.folder))
    }

    /// Writes what the journal alone has into tables, so that whoever opens the store next need not read the journal.
    fn flush(&self) -> fjall::Result<()> {
        for table in &self.tables {
            table.rotate_memtable()?;
        }
        self.wait_for_sealed(0)
    }

    /// Waits until each table has at most so many memtables that are full and not written yet.
    fn wait_for_sealed(&self, most: usize) -> fjall::Result<()> {
        let is_written = |table: &Keyspace| table.sealed_memtable_count() <= most;
        while !self.tables.iter().all(is_written) {
            // Fails if a table could not be written: then there is nothing to wait for.
            self.database.persist(PersistMode::Buffer)?;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Says that the store has all that it should: only then are its journals emptied when it is closed. Those of a store that may
    /// not be written stay as they are.
    pub(super) fn trust(&mut self) {
        self.is_trusted = self.view.is_none();
    }

    /// Refuses a store without the filter that was written with the lists of a bulk build. What it lacks is found nevertheless, but
    /// later.
    pub(super) fn check_filter(&self) -> Result<()> {
        let has_lists = self.snapshot().entries(Table::Built).next().is_some();
        if has_lists && self.filter.get().is_none() {
            let path = self.folder.join(STORE).join(FILTER);
            Err(damaged(&path, "it is missing, and queries take longer"))
        } else {
            Ok(())
        }
    }

    /// Bytes of the tables on disk.
    pub(super) fn bytes(&self) -> u64 {
        let tables: u64 = self.tables.iter().map(Keyspace::disk_space).sum();
        tables + self.filter.get().map_or(0, Filter::disk_bytes)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // What fails here is read from the journal again.
        self.journals.is_in_tables = self.is_trusted && guarded(|| self.flush()).is_ok();
    }
}

/// A store at one moment.
pub(super) struct Snapshot<'a> {
    store: &'a Store,
    at: fjall::Snapshot,
}

impl Snapshot<'_> {
    /// The value of a key.
    pub(super) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Value>> {
        let value = guarded(|| self.at.get(self.store.table(table), key));
        value.map_err(|wrong| wrong.error("read", &self.store.folder))
    }

    /// Whether [`Table::Built`] may have this key of a band. False: it has not.
    pub(super) fn may_be_built(&self, band: u16, key: u64) -> Result<bool> {
        match self.store.filter.get() {
            Some(filter) => filter.may_have(band, key),
            None => Ok(true),
        }
    }

    /// All keys of a table and their values, by ascending key.
    pub(super) fn entries(&self, table: Table) -> impl Iterator<Item = Result<(UserKey, Value)>> {
        let mut entries = self.at.iter(self.store.table(table));
        std::iter::from_fn(move || {
            let entry = guarded(|| entries.next().map(Guard::into_inner).transpose());
            let entry = entry.map_err(|wrong| wrong.error("read", &self.store.folder));
            entry.transpose()
        })
    }

    /// Calls `each` with all keys of a table and their values, by ascending key.
    pub(super) fn for_each(
        &self,
        table: Table,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.entries(table).try_for_each(|entry| {
            let (key, value) = entry?;
            each(&key, &value)
        })
    }

    /// The error of a value that is unreadable.
    pub(crate) fn damaged(&self, problem: &str) -> Error {
        damaged(&self.store.folder, problem)
    }
}

/// Changes that happen together or not at all.
pub(super) struct Batch<'a> {
    store: &'a Store,
    batch: OwnedWriteBatch,
}

impl Batch<'_> {
    pub(super) fn put(&mut self, table: Table, key: &[u8], value: &[u8]) {
        self.batch.insert(self.store.table(table), key, value);
    }

    pub(super) fn remove(&mut self, table: Table, key: &[u8]) {
        self.batch.remove(self.store.table(table), key);
    }

    /// The number of changes.
    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Makes the changes. They are visible at once, and on disk after [`Store::sync`].
    pub(super) fn commit(self) -> Result<()> {
        let committed = guarded(|| {
            // With four memtables to write, the store would wait itself, and for ever if they cannot be written.
            self.store.wait_for_sealed(2)?;
            self.batch.commit()
        });
        committed.map_err(|wrong| wrong.error("write", &self.store.folder))
    }
}

fn make_if_missing(path: &Path) -> Result<()> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map(drop).map_err(Error::io("open", path))
}

/// Refuses a clock before 1970: the store counts seconds since then in what it writes, and would panic.
fn check_clock(folder: &Path, now: SystemTime) -> Result<()> {
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

/// What went wrong in the store.
enum Wrong {
    Error(fjall::Error),
    /// It panicked, which it does on some damaged files.
    Panic,
}

impl Wrong {
    fn error(self, action: &'static str, folder: &Path) -> Error {
        match self {
            // So it fails to start a thread.
            Wrong::Error(fjall::Error::Io(cause)) if cause.kind() == io::ErrorKind::WouldBlock => {
                Error::Unsupported(Unsupported::Threads {
                    threads: 1,
                    reason: cause.to_string(),
                })
            }
            Wrong::Error(fjall::Error::Io(cause) | fjall::Error::Storage(LsmError::Io(cause)))
                if cause.kind() != io::ErrorKind::UnexpectedEof =>
            {
                Error::io(action, folder)(cause)
            }
            Wrong::Error(fjall::Error::Locked) => Error::Input {
                path: folder.to_owned(),
                problem: "another program has the store of the index open".to_owned(),
                remedy: "wait until it ends".to_owned(),
            },
            Wrong::Error(fjall::Error::Poisoned) => Error::Input {
                path: folder.to_owned(),
                problem: "an earlier write to the index failed".to_owned(),
                remedy: "check the disk, and open the index again".to_owned(),
            },
            Wrong::Error(_) | Wrong::Panic => damaged_store(folder),
        }
    }
}

/// Reads all files of the tables of an index, and compares them with their checksums.
///
/// # Errors
/// [`Error::Input`] that names the first damaged file; [`Error::Io`].
pub(super) fn check_files(folder: &Path) -> Result<()> {
    let store = folder.join(STORE);
    store_files::check(&store, Table::ALL.len(), Extent::Files)?;
    Filter::open(&store)?.map_or(Ok(()), |filter| filter.check())
}

/// The error of a store that cannot be read. It reads all files, to name the one that is damaged.
fn damaged_store(folder: &Path) -> Error {
    check_files(folder)
        .err()
        .unwrap_or_else(|| damaged(folder, "its store cannot be read"))
}

/// Calls the store, which may panic if a file is damaged.
fn guarded<T>(call: impl FnOnce() -> fjall::Result<T>) -> std::result::Result<T, Wrong> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Wrong::Error),
        Err(_) => Err(Wrong::Panic),
    }
}

/// Notes the number of the last batch that is on disk.
pub(super) fn acknowledge(folder: &Path, batches: u64) -> Result<()> {
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
pub(super) fn acknowledged(folder: &Path) -> Result<u64> {
    let path = folder.join(ACKNOWLEDGED);
    let bytes = store_files::read(&path)?;
    let (number, checksum) = bytes.split_at(bytes.len().min(8));
    match number.try_into().map(u64::from_le_bytes) {
        Ok(acknowledged) if checksum == xxh3_64(number).to_le_bytes() => Ok(acknowledged),
        _ => Err(damaged(&path, "the number of its batches is unreadable")),
    }
}

/// Refuses a store that has fewer batches than were promised to be on disk.
pub(super) fn check_acknowledged(folder: &Path, batches: u64) -> Result<()> {
    let acknowledged = acknowledged(folder)?;
    if batches < acknowledged {
        let lost = acknowledged - batches;
        let problem = format!("the last {lost} batches that were written are lost");
        Err(damaged(folder, &problem))
    } else {
        Ok(())
    }
}
