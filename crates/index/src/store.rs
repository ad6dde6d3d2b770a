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

mod table;

mod acknowledged;

mod errors;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, SystemTime};

use fjall::{Database, Guard, Keyspace, OwnedWriteBatch, PersistMode, Readable, UserValue};
use tempfile::TempDir;

use super::filter::{FILTER, Filter, FilterWriter};
use super::journals::{self, Journals};
use super::store_copy::view_of;
use super::store_files::{self, Extent};
use super::store_names::{STORE, STORE_LOCK, TABLES, share};
use acknowledged::check_clock;
use errors::{Wrong, damaged_store, guarded};
use simgpu::error::{Error, Result};
use simgpu::store::disk::{OnDisk, is_absent, sync_folder};
use table::CACHE;

pub(super) use acknowledged::{acknowledge, acknowledged, check_acknowledged};
pub(super) use errors::check_files;
pub(super) use table::Table;

pub(super) use super::store_files::damaged;

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
