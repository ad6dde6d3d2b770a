//! Documents that an index is asked for, or that are added to it: signed or shingled, as its kind needs.

use rayon::prelude::*;

use super::document::{DocumentId, Record};
use super::header::IndexKind;
use super::lists::ListKey;
use super::order::{self, Order};
use super::prefix::{self, ANY_SHAPE, ShinglePlace};
use simgpu::documents::{DocumentRange, Documents};
use simgpu::engine::Engine;
use simgpu::error::Result;
use simgpu::pipeline::{Criterion, Scratch, ShingleBatch};
use simgpu::pipeline::{PackedSignatures, Signatures, keys_of_rows};
use simgpu::scheme::{Slots, Width};
use simgpu::search::sign::{SignedDocuments, is_one_small, sign_batch};
use simgpu::search::{Search, Verification};

/// Documents of a batch, signed or shingled.
pub(super) struct Signed {
    kind: IndexKind,
    /// What makes documents similar, at the threshold of the index.
    criterion: Criterion,
    documents: SignedDocuments,
    /// The distinct hashes of each document's shingles; empty unless they verify. In an index of kind `exact`, in its order.
    sets: Vec<Vec<u64>>,
    bands: usize,
    /// Words of a packed signature; 0 if none is kept.
    words: usize,
}

/// A list in which similar documents are looked for.
pub(super) struct ListProbe {
    pub(super) key: ListKey,
    /// The place of the list's shingle in the document that is asked for; `None` if all documents of the list are compared.
    pub(super) place: Option<ShinglePlace>,
}

impl Signed {
    pub(super) fn new(documents: &dyn Documents, engine: &Engine, search: &Search) -> Result<Self> {
        match IndexKind::from_search(search) {
            IndexKind::Lsh => Signed::banded(documents, engine, search),
            IndexKind::Exact => Signed::shingled(documents, engine, search),
        }
    }

    /// Documents without signatures.
    fn shingled(documents: &dyn Documents, engine: &Engine, search: &Search) -> Result<Self> {
        let shingler = engine.shingler();
        shingler.check_forms(documents)?;
        let memory = || (Scratch::default(), ShingleBatch::new(Width::U64));
        let shingle = |(scratch, batch): &mut (Scratch, ShingleBatch), row| {
            batch.clear();
            let document = DocumentRange::new(documents, row..row + 1);
            let digests = shingler.exact_with_digests(&document, scratch, batch);
            let mut set = match batch.sets().hashes() {
                Slots::U64(set) => set.to_vec(),
                Slots::U32(_) => Vec::new(),
            };
            set.sort_unstable();
            set.dedup();
            let is_blank = set.is_empty() && shingler.is_blank(documents.get(row));
            (digests.first().copied().filter(|_| !is_blank), set)
        };
        let (digests, sets): (Vec<_>, Vec<_>) = if is_one_small(documents) {
            [shingle(&mut memory(), 0)].into_iter().unzip()
        } else {
            let rows = (0..documents.len()).into_par_iter().with_min_len(16);
            rows.map_init(memory, shingle).unzip()
        };
        let documents = SignedDocuments {
            shingles: sets
                .iter()
                .map(|set: &Vec<u64>| u8::from(!set.is_empty()))
                .collect(),
            digests,
            ..SignedDocuments::default()
        };
        Ok(Signed {
            kind: IndexKind::Exact,
            criterion: search.criterion(),
            documents,
            sets,
            bands: 0,
            words: 0,
        })
    }

    fn banded(documents: &dyn Documents, engine: &Engine, search: &Search) -> Result<Self> {
        let signed = sign_batch(documents, engine, search)?;
        let sets = match search.verification {
            Verification::Exact => exact_sets(documents, engine),
            Verification::None | Verification::Signature => Vec::new(),
        };
        Ok(Signed {
            kind: IndexKind::Lsh,
            criterion: search.criterion(),
            documents: signed,
            sets,
            bands: search.banding.bands(),
            words: words_of_signature(engine, search),
        })
    }

    /// Documents of whom nothing but their signatures is known.
    pub(super) fn from_signatures(
        signatures: &Signatures,
        engine: &Engine,
        search: &Search,
    ) -> Self {
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
            kind: IndexKind::Lsh,
            criterion: search.criterion(),
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

    /// The first bits of the hashes of all distinct shingles of each document, by which they are ordered.
    pub(super) fn starts(&self) -> impl Iterator<Item = u32> + '_ {
        let hashes = self.sets.iter().flatten();
        hashes.map(|hash| order::start(*hash))
    }

    /// Brings the sets of an index of kind `exact` into its order.
    pub(super) fn arrange(&mut self, order: &Order) {
        match &mut self.sets[..] {
            [set] => order.arrange(set),
            sets => {
                let sets = sets.par_iter_mut().with_min_len(16);
                sets.for_each(|set| order.arrange(set));
            }
        }
    }

    /// The list of the documents with the same digest, if the document has no shingles. A blank document is in none.
    fn list_of_digest(&self, i: usize) -> Option<ListKey> {
        let digest = self.digest(i).map(ListKey::Digest);
        digest.filter(|_| !self.has_shingles(i))
    }

    /// The lists of a document of bands; none if it has no shingles.
    fn bands(&self, i: usize) -> impl Iterator<Item = ListKey> + '_ {
        let keys = (0..).zip(self.keys(i));
        let bands = keys.map(|(band, key)| ListKey::from_band(band, *key));
        bands.filter(move |_| self.has_shingles(i))
    }

    /// The keys of the bands of a document; no use if it has no shingles.
    pub(super) fn keys(&self, i: usize) -> &[u64] {
        &self.documents.keys[i * self.bands..(i + 1) * self.bands]
    }

    /// The lists that the document is in: one per band or shingle or, without shingles, that of its digest. With its shape in lists
    /// that have one.
    pub(super) fn lists(&self, i: usize) -> impl Iterator<Item = (ListKey, Option<u32>)> + '_ {
        let bands = self.bands(i).map(|key| (key, None));
        let prefix =
            (self.kind == IndexKind::Exact).then(|| prefix::lists(self.criterion, self.set(i)));
        let prefix = prefix.into_iter().flatten();
        let prefix = prefix.map(|(key, shape)| (key, Some(shape)));
        let any_shape = (self.kind == IndexKind::Exact).then_some(ANY_SHAPE);
        let digest = self.list_of_digest(i).map(|key| (key, any_shape));
        bands.chain(prefix).chain(digest)
    }

    /// The lists in which documents are that are similar to the document by this criterion.
    pub(super) fn probes(
        &self,
        i: usize,
        criterion: Criterion,
    ) -> impl Iterator<Item = ListProbe> + '_ {
        let all = self.bands(i).chain(self.list_of_digest(i));
        let all = all.map(|key| ListProbe { key, place: None });
        let prefix = (self.kind == IndexKind::Exact)
            .then(|| prefix::lists_of_similar(criterion, self.set(i)));
        let prefix = prefix.into_iter().flatten();
        all.chain(prefix.map(|(key, place)| ListProbe {
            key,
            place: Some(place),
        }))
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
