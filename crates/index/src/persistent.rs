//! An index on disk: documents that were seen, and those that are similar to one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::access::{Access, LOCK};
use super::document::DocumentId;
use super::header::{Header, IndexKind};
use super::hits::{Comparison, Hit, arrange};
use super::order::Order;
use super::pending::Pending;
use super::signed::{Signed, words_of_signature};
use super::store::{Batch, Opening, Snapshot, Store, Table, check_acknowledged, damaged};
use super::store_names::{ACKNOWLEDGED, STORE};
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result, check_local_output};
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu::store::disk::{OnDisk, is_folder, sync_folder};
use simgpu::store::spill::{is_of_run, remove_all};

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

/// When what was added or deleted is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before each call returns.
    #[default]
    EachBatch,
    /// Before [`Index::sync`] returns. A crash of the machine may lose the last batches since then, whole ones. A crash of the
    /// program loses nothing.
    OnSync,
}

/// What happens to a document whose id is in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnKnownId {
    /// It is an error, and the whole batch is refused.
    #[default]
    Fail,
    /// The document is left out.
    Skip,
    /// The document takes the place of the one with its id.
    Replace,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was added.
    Added,
    /// It was left out, as its id is in the index.
    KnownId,
    /// It was not added, as it is similar to these documents, the most similar one first.
    Seen(Vec<Hit>),
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
const ORDER: &[u8] = b"order";

impl Index {
    /// Creates an index in a folder that does not exist, or is empty.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a [`Search`] that an index does not have: a distance, [`Verification::None`], or another measure
    /// than the Jaccard similarity without [`CandidateMethod::Join`]; [`Error::Conflict`] for a join without
    /// [`Verification::Exact`], or of [`Measure::Contained`](simgpu::pipeline::Measure::Contained) with weights; [`Error::Output`] if the folder holds something; [`Error::Input`] if
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
        self.header.write(&self.folder)?;
        match self.folder.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_folder(&OnDisk, Path::new(".")),
            Some(parent) => sync_folder(&OnDisk, parent),
            None => Ok(()),
        }
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

    /// Whether the index has a document with this id.
    ///
    /// # Errors
    /// [`Error::Input`] for an index that is damaged; [`Error::Io`].
    pub fn contains(&self, id: &DocumentId) -> Result<bool> {
        Ok(self.row_of(&self.store.snapshot(), id)?.is_some())
    }

    /// The documents of the index that are similar to this text, the most similar ones first.
    ///
    /// # Errors
    /// As [`Index::query`].
    pub fn check(&self, text: &str) -> Result<Vec<Hit>> {
        let hits = self.query(&[text])?;
        Ok(hits.into_iter().next().unwrap_or_default())
    }

    /// The same; if there are none, adds the text.
    ///
    /// # Errors
    /// As [`Index::add_if_new`]; [`Error::KnownId`] if the index has the id.
    pub fn check_or_add(&self, text: &str, id: DocumentId) -> Result<Vec<Hit>> {
        let verdicts = self.add_if_new(&[text], &[id], OnKnownId::Fail)?;
        Ok(match verdicts.into_iter().next() {
            Some(Verdict::Seen(hits)) => hits,
            _ => Vec::new(),
        })
    }

    /// For each document, those of the index that are similar to it: the most similar ones first, of equally similar ones
    /// that which was added first. All of them are of one moment.
    ///
    /// # Errors
    /// Those of the engine ([`Engine::sign`]); [`Error::Input`] for an index that is damaged; [`Error::Io`].
    pub fn query<D: Documents + ?Sized>(&self, documents: &D) -> Result<Vec<Vec<Hit>>> {
        self.query_with(documents, self.search.threshold, None)
    }

    /// The same for another threshold, at least that of the index, and with at most `limit` hits of each document.
    ///
    /// # Errors
    /// As [`Index::query`]; [`Error::Parameter`] for a threshold below that of the index, or above 1.
    pub fn query_with<D: Documents + ?Sized>(
        &self,
        documents: &D,
        threshold: f64,
        limit: Option<usize>,
    ) -> Result<Vec<Vec<Hit>>> {
        if !(self.search.threshold..=1.0).contains(&threshold) {
            return Err(Error::Parameter {
                name: "`threshold`",
                value: threshold.to_string(),
                expected: format!(
                    "a number from {}, the threshold of the index, to 1",
                    self.search.threshold
                ),
            });
        }
        // First: where documents are, there is an order.
        let at = self.store.snapshot();
        let signed = self.sign(&documents, false)?;
        let mut found = self.stored_hits(&at, &signed, threshold)?;
        found.iter_mut().for_each(|hits| arrange(hits, limit));
        Ok(found)
    }

    /// Adds documents, all of them or none. Returns [`Verdict::Added`] or [`Verdict::KnownId`] for each.
    ///
    /// # Errors
    /// Those of the engine ([`Engine::sign`]); [`Error::KnownId`] for an id that is in the index or occurs twice, with
    /// [`OnKnownId::Fail`]; [`Error::Parameter`] unless there is one id per document; [`Error::FullIndex`] after 2^32 - 1
    /// documents; [`Error::Input`] for an index that may only be read; [`Error::Io`] if the disk is full.
    pub fn add<D: Documents + ?Sized>(
        &self,
        documents: &D,
        ids: &[DocumentId],
        on_known_id: OnKnownId,
    ) -> Result<Vec<Verdict>> {
        self.check_writable()?;
        check_ids(documents.len(), ids)?;
        let signed = self.sign(&documents, true)?;
        let mut state = self.state();
        let at = self.store.snapshot();
        let mut pending = Pending::new(state.next_row, self.kind());
        let mut verdicts = Vec::with_capacity(ids.len());
        for (i, id) in ids.iter().enumerate() {
            let takes = self.take_id(&at, &mut pending, id, on_known_id)?;
            verdicts.push(if takes {
                Verdict::Added
            } else {
                Verdict::KnownId
            });
            if takes {
                pending.add(&signed, i, id.clone())?;
            }
        }
        self.store_pending(&at, &pending, &mut state)?;
        Ok(verdicts)
    }

    /// Adds the documents that are similar to none of the index, nor to an earlier one that is added: as if each were the
    /// only one of its call. All are added or none. [`OnKnownId::Replace`] counts as [`OnKnownId::Fail`].
    ///
    /// This keeps the documents that [`Clustering::Greedy`](simgpu::pipeline::Clustering::Greedy) keeps in a deduplication of all
    /// of them with the same [`Search`], the first of each cluster.
    ///
    /// It looks for documents on the threads of the current pool while other writers wait. So tasks of one pool that write to one
    /// index wait for each other for ever: let threads of their own write.
    ///
    /// # Errors
    /// As [`Index::add`].
    pub fn add_if_new<D: Documents + ?Sized>(
        &self,
        documents: &D,
        ids: &[DocumentId],
        on_known_id: OnKnownId,
    ) -> Result<Vec<Verdict>> {
        self.check_writable()?;
        check_ids(documents.len(), ids)?;
        let on_known_id = match on_known_id {
            OnKnownId::Skip => OnKnownId::Skip,
            OnKnownId::Fail | OnKnownId::Replace => OnKnownId::Fail,
        };
        let signed = self.sign(&documents, true)?;
        let mut state = self.state();
        let at = self.store.snapshot();
        let threshold = self.search.threshold;
        let stored = self.stored_hits(&at, &signed, threshold)?;
        let mut pending = Pending::new(state.next_row, self.kind());
        let mut verdicts = Vec::with_capacity(ids.len());
        for ((i, mut hits), id) in stored.into_iter().enumerate().zip(ids) {
            hits.extend(
                self.comparison(threshold)
                    .pending_hits(&pending, &signed, i)?,
            );
            if !hits.is_empty() {
                arrange(&mut hits, None);
                verdicts.push(Verdict::Seen(hits));
            } else if self.take_id(&at, &mut pending, id, on_known_id)? {
                pending.add(&signed, i, id.clone())?;
                verdicts.push(Verdict::Added);
            } else {
                verdicts.push(Verdict::KnownId);
            }
        }
        self.store_pending(&at, &pending, &mut state)?;
        Ok(verdicts)
    }

    /// Deletes the documents with these ids, all of them or none. Returns whether each was there.
    ///
    /// They are found no more at once; [`Index::compact`] frees their space.
    ///
    /// # Errors
    /// [`Error::Input`] for an index that is damaged or may only be read; [`Error::Io`].
    pub fn delete(&self, ids: &[DocumentId]) -> Result<Vec<bool>> {
        self.check_writable()?;
        let mut state = self.state();
        let at = self.store.snapshot();
        let mut pending = Pending::new(state.next_row, self.kind());
        let mut were_there = Vec::with_capacity(ids.len());
        for id in ids {
            let row = self
                .row_of(&at, id)?
                .filter(|row| !pending.has_deleted(*row));
            if let Some(row) = row {
                pending.delete_stored(row, id.clone());
            }
            were_there.push(row.is_some());
        }
        self.store_pending(&at, &pending, &mut state)?;
        Ok(were_there)
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

    /// The hits of each document among those that are stored.
    fn stored_hits(
        &self,
        at: &Snapshot<'_>,
        signed: &Signed,
        threshold: f64,
    ) -> Result<Vec<Vec<Hit>>> {
        let comparison = self.comparison(threshold);
        let hits = |i| comparison.stored_hits(at, signed, i);
        match signed.len() {
            // One text is not worth a thread.
            0 | 1 => (0..signed.len()).map(hits).collect(),
            documents => (0..documents).into_par_iter().map(hits).collect(),
        }
    }

    pub(super) fn comparison(&self, threshold: f64) -> Comparison<'_> {
        Comparison {
            folder: &self.folder,
            search: &self.search,
            num_perm: self.engine.signer().num_perm(),
            words: words_of_signature(&self.engine, &self.search),
            entry: self.kind().entry_words(),
            threshold,
            criterion: Search {
                threshold,
                ..self.search.clone()
            }
            .criterion(),
        }
    }

    /// Whether a document of this id may be added. Deletes the one that it replaces.
    fn take_id(
        &self,
        at: &Snapshot<'_>,
        pending: &mut Pending,
        id: &DocumentId,
        on_known_id: OnKnownId,
    ) -> Result<bool> {
        let stored = self
            .row_of(at, id)?
            .filter(|row| !pending.has_deleted(*row));
        if stored.is_none() && !pending.has(id) {
            return Ok(true);
        }
        match on_known_id {
            OnKnownId::Fail => Err(Error::KnownId {
                id: id.as_json().to_owned(),
            }),
            OnKnownId::Skip => Ok(false),
            OnKnownId::Replace => {
                pending.delete_added(id);
                if let Some(row) = stored {
                    pending.delete_stored(row, id.clone());
                }
                Ok(true)
            }
        }
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

    /// Stores a batch.
    fn store_pending(&self, at: &Snapshot<'_>, pending: &Pending, state: &mut State) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let mut batch = self.store.batch();
        pending.write(at, &mut batch, self.has_sets())?;
        if let Some(order) = self.order().filter(|_| state.next_row == 0) {
            batch.put(Table::State, ORDER, &order.encode());
        }
        let deletions = pending.deletions();
        let next = State {
            next_row: pending.next_row(),
            documents: (state.documents + pending.documents()).saturating_sub(deletions),
            deleted: state.deleted + deletions,
            ..*state
        };
        self.commit(batch, next, state)
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

fn check_ids(documents: usize, ids: &[DocumentId]) -> Result<()> {
    if ids.len() == documents {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "the number of ids",
        value: ids.len().to_string(),
        expected: format!("{documents}, one per document"),
    })
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
