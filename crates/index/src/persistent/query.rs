//! Finds documents of an index that are similar to others.

use rayon::prelude::*;

use super::Index;
use crate::document::DocumentId;
use crate::hits::{Comparison, Hit, arrange};
use crate::signed::{Signed, words_of_signature};
use crate::store::Snapshot;
use simgpu::documents::Documents;
use simgpu::error::{Error, Result};
use simgpu::search::Search;

impl Index {
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

    /// For each document, those of the index that are similar to it: the most similar ones first, of equally similar ones
    /// that which was added first. All of them are of one moment.
    ///
    /// # Errors
    /// Those of the engine ([`Engine::sign`](simgpu::engine::Engine::sign)); [`Error::Input`] for an index that is damaged; [`Error::Io`].
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

    /// The hits of each document among those that are stored.
    pub(super) fn stored_hits(
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

    pub(crate) fn comparison(&self, threshold: f64) -> Comparison<'_> {
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
}
