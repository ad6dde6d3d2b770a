//! Adds documents to an index and deletes them.

use super::open::ORDER;
use super::options::{OnKnownId, Verdict};
use super::{Index, State};
use crate::document::DocumentId;
use crate::hits::{Hit, arrange};
use crate::pending::Pending;
use crate::store::{Snapshot, Table};
use simgpu::documents::Documents;
use simgpu::error::{Error, Result};

impl Index {
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

    /// Adds documents, all of them or none. Returns [`Verdict::Added`] or [`Verdict::KnownId`] for each.
    ///
    /// # Errors
    /// Those of the engine ([`Engine::sign`](simgpu::engine::Engine::sign)); [`Error::KnownId`] for an id that is in the index or occurs twice, with
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
    /// of them with the same [`Search`](simgpu::search::Search), the first of each cluster.
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
