//! Documents that an index is asked for, or that are added to it: signed, and shingled if shingles verify.

use rayon::prelude::*;

use super::document::{DocumentId, Record};
use super::lists::ListKey;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::Scratch;
#[cfg(feature = "io")]
use crate::pipeline::{PackedSignatures, Signatures, keys_of_rows};
#[cfg(feature = "io")]
use crate::scheme::Slots;
use crate::search::sign::{SignedDocuments, sign_batch};
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

    /// Documents of whom nothing but their signatures is known.
    #[cfg(feature = "io")]
    pub(super) fn of_signatures(signatures: &Signatures, engine: &Engine, search: &Search) -> Self {
        let bands = search.banding.bands();
        let mut keys = vec![0; signatures.len() * bands];
        keys_of_rows(signatures, search.banding, &mut keys);
        let empty = engine.scheme().empty_slot();
        let has_shingles = |i| match signatures.row(i) {
            Slots::U32(slots) => slots.iter().any(|slot| u64::from(*slot) != empty),
            Slots::U64(slots) => slots.iter().any(|slot| *slot != empty),
        };
        let shingles = |i| if has_shingles(i) { 2 } else { 0 };
        let packed = PackedSignatures::of(signatures, Search::SLOT_BITS);
        Signed {
            documents: SignedDocuments {
                digests: vec![None; signatures.len()],
                shingles: (0..signatures.len()).map(shingles).collect(),
                lengths: vec![0; signatures.len()],
                keys,
                signatures: packed.words().to_vec(),
            },
            sets: Vec::new(),
            bands,
            words: words_of_signature(engine, search),
        }
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
    let rows = (0..documents.len()).into_par_iter().with_min_len(16);
    let sets = rows.map_init(Scratch::default, |scratch, row| {
        let mut set = Vec::new();
        let shingler = engine.shingler();
        shingler.exact_set(documents.get(row), scratch, &mut set);
        set
    });
    sets.collect()
}
