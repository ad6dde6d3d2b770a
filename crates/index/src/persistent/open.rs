//! Creates and opens an index.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use super::options::Durability;
use super::{Index, STATE, State};
use crate::access::{Access, LOCK};
use crate::header::{Header, IndexKind};
use crate::order::Order;
use crate::signed::Signed;
use crate::snapshot::parent_of;
use crate::store::{Opening, Snapshot, Store, Table, check_acknowledged, damaged};
use crate::store_names::{ACKNOWLEDGED, STORE};
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result, check_local_output};
use simgpu::search::{CandidateMethod, Search};
use simgpu::store::disk::{OnDisk, is_folder, sync_folder};
use simgpu::store::spill::{is_of_run, remove_all};

pub(super) const ORDER: &[u8] = b"order";

impl Index {
    /// Creates an index in a folder that does not exist, or is empty.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a [`Search`] that an index does not have: a distance, [`Verification::None`](simgpu::search::Verification::None), or another measure
    /// than the Jaccard similarity without [`CandidateMethod::Join`]; [`Error::Conflict`] for a join without
    /// [`Verification::Exact`](simgpu::search::Verification::Exact), or of [`Measure::Contained`](simgpu::pipeline::Measure::Contained) with weights; [`Error::Output`] if the folder holds something; [`Error::Input`] if
    /// another process has it open; [`Error::Io`].
    pub fn create(folder: &Path, engine: Engine, search: &Search) -> Result<Self> {
        let index = Index::begin(folder, engine, search)?;
        index.complete()?;
        Ok(index)
    }

    /// Creates an index that is one only once it is complete: until then, it may be begun anew in the same folder.
    #[doc(hidden)]
    pub fn begin(folder: &Path, engine: Engine, search: &Search) -> Result<Self> {
        check_local_output(folder)?;
        let header = Header::new(&engine, search)?;
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let access = Access::to_write(folder)?;
        clear_unfinished(folder)?;
        let store = Store::open(folder, Opening::New)?;
        let index = Index {
            folder: folder.to_owned(),
            engine,
            search: search_of(search),
            header,
            store,
            durability: Durability::default(),
            writer: Mutex::default(),
            order: OnceLock::new(),
            access,
        };
        index.commit(index.store.batch(), State::default(), &mut index.state())?;
        Ok(index)
    }

    /// Orders the shingles of an index of kind `exact` by documents, before there are any.
    #[doc(hidden)]
    pub fn order_by<'a, D: Documents + 'a>(
        &self,
        batches: impl Iterator<Item = &'a D>,
    ) -> Result<()> {
        let mut starts = Vec::new();
        for documents in batches {
            let shingled = Signed::new(documents, &self.engine, &self.search)?;
            starts.extend(shingled.starts());
        }
        self.order.get_or_init(|| Order::new(starts));
        Ok(())
    }

    /// Makes the folder an index.
    #[doc(hidden)]
    pub fn complete(&self) -> Result<()> {
        self.sync()?;
        // The header makes the folder an index, so it is the last of what must be on disk.
        sync_folder(&OnDisk, parent_of(&self.folder))?;
        self.header.write(&self.folder)
    }

    /// Opens the index in a folder, with an engine that signs on the CPU.
    ///
    /// An index that this process may not write is opened to be read ([`Index::check_writable`]): it is seen through a temporary
    /// folder of links, and cannot change while it is open.
    ///
    /// # Errors
    /// [`Error::Input`] if the folder holds no index, one of another layout, kind or version of Unicode, one that is
    /// damaged, or one that another process has open; [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Self> {
        let header = Header::read(folder)?;
        let (engine, search) = header.resolve(folder)?;
        let access = Access::to(folder)?;
        let opening = match access.read_only {
            Some(_) => Opening::ReadOnly,
            None => Opening::Existing,
        };
        if opening == Opening::Existing {
            // A build that ended before it had removed its temporary files.
            remove_all(folder);
        }
        let mut store = Store::open(folder, opening)?;
        let state = state_of(folder, &store.snapshot())?;
        check_acknowledged(folder, state.batches)?;
        let order = OnceLock::new();
        if IndexKind::from_search(&search) == IndexKind::Exact && state.next_row > 0 {
            let _ = order.set(order_of(folder, &store.snapshot())?);
        }
        store.trust();
        Ok(Index {
            folder: folder.to_owned(),
            engine,
            search,
            header,
            store,
            durability: Durability::default(),
            writer: Mutex::new(state),
            order,
            access,
        })
    }

    /// Refuses an index that may only be read, because this process may not write its files.
    ///
    /// # Errors
    /// [`Error::Input`] that names what may not be written.
    pub fn check_writable(&self) -> Result<()> {
        match &self.access.read_only {
            Some(unwritable) => Err(unwritable.error(&self.folder)),
            None => Ok(()),
        }
    }

    /// Whether a folder holds an index.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told.
    pub fn is_in(folder: &Path) -> Result<bool> {
        Header::is_in(folder)
    }
}

/// The search of an index.
fn search_of(search: &Search) -> Search {
    Search {
        measure: search.measure,
        candidates: match IndexKind::from_search(search) {
            IndexKind::Lsh => CandidateMethod::Lsh,
            IndexKind::Exact => CandidateMethod::Join,
        },
        ..Search::through_lsh(search.threshold, search.banding, search.verification)
    }
}

/// The state of a store.
fn state_of(folder: &Path, at: &Snapshot<'_>) -> Result<State> {
    let bytes = at.get(Table::State, STATE)?;
    let state = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    state.ok_or_else(|| damaged(folder, "its numbers are missing"))
}

/// The order of shingles in a store.
fn order_of(folder: &Path, at: &Snapshot<'_>) -> Result<Order> {
    let bytes = at.get(Table::State, ORDER)?;
    let order = bytes.and_then(|bytes| Order::decode(&bytes));
    order.ok_or_else(|| damaged(folder, "its order of shingles is unreadable"))
}

/// Removes what an index that was not completed left in a folder. Refuses a folder that holds anything else.
fn clear_unfinished(folder: &Path) -> Result<()> {
    let refused = |problem: String, remedy: &str| Error::Output {
        path: folder.to_owned(),
        problem,
        remedy: remedy.to_owned(),
    };
    if Header::is_in(folder)? {
        return Err(refused(
            "it is an index already".to_owned(),
            "add documents to it with `simgpu index add`, remove it, or name another folder",
        ));
    }
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut own = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("read", folder))?;
        match entry.file_name().to_str() {
            Some(LOCK) => {}
            // What a build that was stopped goes on with.
            Some(name) if is_of_run(name) => {}
            Some(name) if name == STORE || name == ACKNOWLEDGED || name.starts_with(".tmp") => {
                own.push(entry.path());
            }
            _ => {
                return Err(refused(
                    format!("it holds {}", entry.file_name().display()),
                    "name a new or an empty folder",
                ));
            }
        }
    }
    for path in own {
        let removed = if is_folder(&path)? {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(Error::io("remove", &path))?;
    }
    Ok(())
}
