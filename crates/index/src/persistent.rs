//! An index on disk: documents that were seen, and those that are similar to one.

mod options;

mod open;

mod query;

mod change;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::access::Access;
use super::document::DocumentId;
use super::header::{Header, IndexKind};
use super::order::Order;
use super::signed::Signed;
use super::store::{Batch, Snapshot, Store, Table, damaged};
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::search::{Search, Verification};

pub use options::{Durability, OnKnownId, Verdict};

/// An index on disk. It takes documents, and finds those of it that are similar to others, which share the key of a band
/// (MMDS 3.4) and are verified: what [`pairs_against`](simgpu::search::pairs_against) finds of the same documents with the
/// same [`Search`], through [`CandidateMethod::Lsh`](simgpu::search::CandidateMethod::Lsh).
///
/// A folder that may be written is open in one process at a time. There, any number of threads may use one `Index`: each query sees
/// whole batches, while others are added. A folder that may only be read is open in any number of processes.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu_index::Index;
/// use simgpu::search::{Search, Verification};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("seen");
/// let engine = Engine::builder().build()?;
/// let search = Search {
///     verification: Verification::Signature,
///     ..Search::new(0.8, engine.scheme())?
/// };
/// let index = Index::create(&folder, engine, &search)?;
/// let text = "the quick brown fox jumps over the lazy dog and runs away from the bear";
/// assert!(index.check_or_add(text, "fox".into())?.is_empty());
/// drop(index);
///
/// let index = Index::open(&folder)?;
/// assert_eq!(index.check(text)?[0].id, "fox".into());
/// # Ok::<(), simgpu::Error>(())
/// ```
pub struct Index {
    pub(super) folder: PathBuf,
    engine: Engine,
    search: Search,
    header: Header,
    pub(super) store: Store,
    durability: Durability,
    writer: Mutex<State>,
    /// The order of shingles in an index of kind `exact`. It is set before the first documents are stored, and stored with them.
    order: OnceLock<Order>,
    access: Access,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("folder", &self.folder)
            .field("engine", &self.engine)
            .field("search", &self.search)
            .finish_non_exhaustive()
    }
}

/// Numbers that the whole index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The number of batches.
    pub(super) batches: u64,
    /// The row of the next document.
    pub(super) next_row: u32,
    /// The number of documents.
    pub(super) documents: u64,
    /// The number of deleted documents whose rows are still in lists.
    pub(super) deleted: u64,
}

/// The keys of the state and of the order of shingles in the table of the state.
const STATE: &[u8] = b"state";

impl Index {
    /// Sets when what is added or deleted is on disk; default [`Durability::EachBatch`].
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Index { durability, ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Refuses an engine or a search of other values than those of the index.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first value that differs, of both.
    pub fn check_fits(&self, engine: &Engine, search: &Search) -> Result<()> {
        self.header
            .check_same(&self.folder, &Header::new(engine, search)?)
    }

    /// How the index finds documents.
    pub fn kind(&self) -> IndexKind {
        IndexKind::from_search(&self.search)
    }

    /// What signs documents for the index.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What the index finds: its threshold, bands and verification.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Waits until everything that was added and deleted is on disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        if self.access.read_only.is_some() {
            return Ok(());
        }
        let state = self.state();
        self.store.sync(state.batches)
    }

    /// Signs or shingles documents. The first ones that are added decide the order of shingles.
    pub(super) fn sign(&self, documents: &dyn Documents, adds: bool) -> Result<Signed> {
        let mut signed = Signed::new(documents, &self.engine, &self.search)?;
        if self.kind() == IndexKind::Exact && signed.len() > 0 {
            let order = if adds {
                Some(
                    self.order
                        .get_or_init(|| Order::new(signed.starts().collect())),
                )
            } else {
                self.order.get()
            };
            // Without one there are no documents to find.
            if let Some(order) = order {
                signed.arrange(order);
            }
        }
        Ok(signed)
    }

    /// The order of shingles; `None` before there are documents, and in an index of kind `lsh`.
    pub(super) fn order(&self) -> Option<&Order> {
        self.order.get()
    }

    /// The row of a document that is stored; `None` if there is none of this id.
    pub(super) fn row_of(&self, at: &Snapshot<'_>, id: &DocumentId) -> Result<Option<u32>> {
        let Some(row) = at.get(Table::Ids, &id.key())? else {
            return Ok(None);
        };
        match <[u8; 4]>::try_from(&*row) {
            Ok(row) => Ok(Some(u32::from_be_bytes(row))),
            Err(_) => Err(damaged(&self.folder, "the row of an id is unreadable")),
        }
    }

    /// The numbers of the index, which nobody else changes meanwhile.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // They change only after a batch was stored.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the index keeps shingles.
    pub(super) fn has_sets(&self) -> bool {
        self.search.verification == Verification::Exact
    }

    /// Makes the changes of a batch, after which the numbers of the index are these.
    pub(super) fn commit(
        &self,
        mut batch: Batch<'_>,
        next: State,
        state: &mut State,
    ) -> Result<()> {
        let next = State {
            batches: state.batches + 1,
            ..next
        };
        let bytes = serde_json::to_vec(&next).map_err(|error| Error::Defect(error.to_string()))?;
        batch.put(Table::State, STATE, &bytes);
        batch.commit()?;
        *state = next;
        match self.durability {
            Durability::EachBatch => self.store.sync(next.batches),
            Durability::OnSync => Ok(()),
        }
    }
}
