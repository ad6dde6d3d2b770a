//! Signs documents whose numbers are not known.

use super::parameters::Search;
use super::verification::Verification;
use crate::documents::{DocumentRange, Documents};
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{PackedSignatures, Scratch, ShingleBatch, Signatures, keys_of_rows};
use crate::threads::map_blocks;

/// Documents of a batch, signed: entry i of each list belongs to document i.
#[derive(Clone, Debug, Default)]
pub struct SignedDocuments {
    /// 128 bits of the digest of each document's normalised text, or of its list of tokens: identical documents have
    /// equal ones. `None` for blank documents.
    pub digests: Vec<Option<u128>>,
    /// The number of shingles of each document, repeats included; 2 stands for more. A document without shingles is in
    /// no bucket.
    pub shingles: Vec<u8>,
    /// The bytes of each text.
    pub lengths: Vec<u32>,
    /// Band keys, `[documents, bands]`.
    pub keys: Vec<u64>,
    /// Signatures of 8 bits per slot, `[documents, words]`. Empty unless signatures verify pairs.
    pub signatures: Vec<u64>,
}

/// Documents that are signed at a time.
const PIECE: usize = 256;

/// Shingles, signs and bands documents, all of them, on the threads of the current pool.
///
/// # Errors
/// The errors of the engine's signer, and [`Error::Conflict`](crate::Error::Conflict) if the engine takes tokens and the
/// documents are texts, or the reverse.
pub fn sign_batch(
    documents: &dyn Documents,
    engine: &Engine,
    search: &Search,
) -> Result<SignedDocuments> {
    engine.shingler().check_forms(documents)?;
    let sign = |range| {
        let piece = DocumentRange::new(documents, range);
        sign_piece(&piece, engine, search)
    };
    if is_one_small(documents) {
        return sign(0..1);
    }
    let pieces = map_blocks(documents.len(), PIECE, sign);
    let mut all = SignedDocuments::default();
    for piece in pieces {
        let piece = piece?;
        all.digests.extend(piece.digests);
        all.shingles.extend(piece.shingles);
        all.lengths.extend(piece.lengths);
        all.keys.extend(piece.keys);
        all.signatures.extend(piece.signatures);
    }
    Ok(all)
}

/// Bytes of one document that no other thread helps with.
const SMALL_BYTES: usize = 64 << 10;

/// Whether there is one document, which is not worth a thread. No call to rayon is made for it, which would start the global
/// pool outside of any other.
#[doc(hidden)]
pub fn is_one_small(documents: &dyn Documents) -> bool {
    documents.len() == 1 && documents.get(0).bytes() < SMALL_BYTES
}

fn sign_piece(
    documents: &DocumentRange<'_>,
    engine: &Engine,
    search: &Search,
) -> Result<SignedDocuments> {
    let (shingler, signer) = (engine.shingler(), engine.signer());
    let mut shingles = ShingleBatch::new(shingler.width());
    let digests = shingler.shingle_with_digests(documents, &mut Scratch::default(), &mut shingles);
    let sets = shingles.sets();
    let mut keys = vec![0; sets.len() * search.banding.bands()];
    let mut words = Vec::new();
    let is_small = is_one_small(documents);
    if is_small || search.verification == Verification::Signature {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        if is_small {
            signatures.push_rows(1);
            signer.sign_set(sets.hashes(), signatures.slots_mut())?;
        } else {
            signatures.sign(signer, &sets)?
        }
        keys_of_rows(&signatures, search.banding, &mut keys);
        if search.verification == Verification::Signature {
            let packed = PackedSignatures::of(&signatures, Search::SLOT_BITS);
            words.extend_from_slice(packed.words());
        }
    } else {
        signer.band_keys(&sets, search.banding, &mut keys)?;
    }
    let shingles = |i| match sets.range(i).len() {
        0 => 0,
        1 if !shingler.takes_weights() => 1,
        _ => 2,
    };
    let document = |(i, digest): (usize, u128)| {
        let is_blank = shingles(i) == 0 && shingler.is_blank(documents.get(i));
        (!is_blank).then_some(digest)
    };
    let length = |row| documents.get(row).length();
    Ok(SignedDocuments {
        digests: digests.into_iter().enumerate().map(document).collect(),
        shingles: (0..documents.len()).map(shingles).collect(),
        lengths: (0..documents.len()).map(length).collect(),
        keys,
        signatures: words,
    })
}
