//! Documents that an index is asked for, or that are added to it: signed, and shingled if shingles verify.

use rayon::prelude::*;

use super::document::{DocumentId, Record};
use super::lists::ListKey;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::Scratch;
use crate::search::sign::{SignedDocuments, is_one_small, sign_batch};
use crate::search::{Search, Verification};

/// Signed documents of a batch.
pub(super) struct Signed {
    documents: SignedDocuments,
    /// The distinct hashes of each document's shingles; empty unless they verify.
    sets: Vec<Vec<u64>>,
    bands: usize,
    /// Words of a packed signature; 0 if none is kept.
    words: usize,
}

impl Signed {
    pub(super) fn of(documents: &dyn Documents, engine: &Engine, search: &Search) -> Result<Self> {
        let signed = sign_batch(documents, engine, search)?;
        let sets = match search.verification {
            Verification::Exact => exact_sets(documents, engine),
            Verification::None | Verification::Signature => Vec::new(),
        };
        Ok(Signed {
            documents: signed,
            sets,
            bands: search.banding.bands(),
            words: words_of_signature(engine, search),
        })
    }

    /// The number of documents.
    pub(super) fn len(&self) -> usize {
        self.documents.digests.len()
    }

    pub(super) fn digest(&self, i: usize) -> Option<u128> {
        self.documents.digests[i]
    }

    /// The packed signature; empty if none is kept.
    pub(super) fn signature(&self, i: usize) -> &[u64] {
        &self.documents.signatures[i * self.words..(i + 1) * self.words]
    }

    /// The distinct hashes of the shingles; empty unless they verify.
    pub(super) fn set(&self, i: usize) -> &[u64] {
        self.sets.get(i).map_or(&[], Vec::as_slice)
    }

    fn has_shingles(&self, i: usize) -> bool {
        self.documents.shingles[i] > 0
    }

    /// The lists that the document is in: one per band or, without shingles, that of its digest. A blank document is in none.
    pub(super) fn lists(&self, i: usize) -> impl Iterator<Item = ListKey> + '_ {
        let keys = &self.documents.keys[i * self.bands..(i + 1) * self.bands];
        let bands = (0..).zip(keys).map(|(band, key)| ListKey::Band(band, *key));
        let digest = self.digest(i).map(ListKey::Digest);
        let has_shingles = self.has_shingles(i);
        let bands = bands.filter(move |_| has_shingles);
        bands.chain(digest.filter(|_| !has_shingles))
    }

    /// What the index keeps of the document.
    pub(super) fn record(&self, i: usize, id: DocumentId) -> Record {
        Record {
            id,
            digest: self.digest(i),
            has_shingles: self.has_shingles(i),
            signature: self.signature(i).to_vec(),
        }
    }
}

/// Words of a signature that an index keeps; 0 if it keeps none.
pub(super) fn words_of_signature(engine: &Engine, search: &Search) -> usize {
    match search.verification {
        Verification::Signature => Search::SLOT_BITS.words(engine.signer().num_perm()),
        Verification::None | Verification::Exact => 0,
    }
}

fn exact_sets(documents: &dyn Documents, engine: &Engine) -> Vec<Vec<u64>> {
    let set = |scratch: &mut Scratch, row| {
        let mut set = Vec::new();
        let shingler = engine.shingler();
        shingler.exact_set(documents.get(row), scratch, &mut set);
        set
    };
    if is_one_small(documents) {
        return vec![set(&mut Scratch::default(), 0)];
    }
    let rows = (0..documents.len()).into_par_iter().with_min_len(16);
    rows.map_init(Scratch::default, set).collect()
}
