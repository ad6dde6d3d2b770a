//! Cuts documents into shingles and hashes them.

use std::cell::Cell;
use std::sync::Arc;

use super::code::for_each_code_token;
use super::hash::{HashesOfBytes, HashesOfWords, Out, TextHash, for_each_char_window};
use super::normalise::Normalise;
use super::rarity::{FRACTION_BITS, Rarities};
use super::repeats::remove_many_repeats;
use super::scratch::Scratch;
use super::sets::{ShingleBatch, ShingleSets};
use super::shingling::{Shingling, Unit, Weighting};
use super::words::{Each, WordSink, Words};
use crate::documents::{Document, Documents};
use crate::error::{Conflict, Error, Result};
use crate::scheme::SlotVec;
use crate::scheme::{BaseHash, Grams, Scheme, WeightScale, Width, words_v1};
use crate::simd::Isa;

/// Cuts documents into shingles and hashes them (MMDS 3.2).
///
/// One shingler serves any number of threads at once.
///
/// ```
/// use simgpu::pipeline::{Shingler, Shingling, Unit};
/// use simgpu::scheme::{BaseHash, Scheme};
///
/// let mut shingling = Shingling::of(Unit::Bytes);
/// shingling.size = 2.try_into()?;
/// let shingler = Shingler::new(shingling, &Scheme::default(), None)?;
/// let shingles = shingler.shingle(&["abcdabd"]);
/// assert_eq!(shingles.sets().len(), 1); // {ab, bc, cd, da, bd}
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shingler {
    pub(super) shingling: Shingling,
    pub(super) hash: BaseHash,
    pub(super) width: Width,
    pub(super) grams: Grams,
    pub(super) is_of_preset: bool,
    pub(super) isa: Isa,
    /// What shingles weigh with [`Weighting::Rarity`].
    rarities: Option<Arc<Rarities>>,
}

/// The base hash of exact sets.
fn exact_hash(unit: &Unit) -> BaseHash {
    if unit.is_made_of_words() {
        BaseHash::WordsV1
    } else {
        BaseHash::Murmur3_128
    }
}

/// Hashes of a document that are counted at a time: they fit the first-level cache.
const COUNTED_AT_A_TIME: usize = 1024;

impl Shingler {
    /// A shingler for hashes of the width of `scheme`.
    ///
    /// The base hash is `hash`; if `None`, that of the scheme's preset; without a preset, `words-v1` for words
    /// and murmur3 for all other units. Shingles weighed by rarity have the hashes of exact sets.
    ///
    /// # Errors
    /// [`Conflict::HashWidth`] if the hash cannot have the scheme's width; [`Conflict::HashUnit`] if it does not
    /// fit the unit; [`Conflict::WeightedUnit`] if weights are given for other shingles than single tokens;
    /// [`Conflict::RarityHash`] if a hash is given for shingles weighed by rarity.
    pub fn new(shingling: Shingling, scheme: &Scheme, hash: Option<BaseHash>) -> Result<Self> {
        let width = scheme.family().hash_width();
        let native = match (shingling.unit.is_made_of_words(), width) {
            (true, _) => BaseHash::WordsV1,
            (false, Width::U32) => BaseHash::Murmur3_32,
            (false, Width::U64) => BaseHash::Murmur3_128,
        };
        let is_rarity = shingling.weighting == Weighting::Rarity;
        if is_rarity && hash.is_some() {
            return Err(Conflict::RarityHash.into());
        }
        let hash = match hash.or(scheme.prescribed_hash()) {
            _ if is_rarity => exact_hash(&shingling.unit),
            hash => hash.unwrap_or(native),
        };
        if !is_rarity && !hash.yields(width) {
            return Err(Conflict::HashWidth {
                hash: hash.to_string(),
                bits: 8 * width.bytes(),
                scheme: scheme.to_string(),
            }
            .into());
        }
        let takes_words = shingling.unit.is_made_of_words() || shingling.unit == Unit::Tokens;
        if hash == BaseHash::WordsV1 && !takes_words {
            return Err(Conflict::HashUnit {
                unit: shingling.unit.to_string(),
            }
            .into());
        }
        let single_tokens = shingling.unit == Unit::Tokens && shingling.size.get() == 1;
        if matches!(shingling.weighting, Weighting::Given(_)) && !single_tokens {
            return Err(Conflict::WeightedUnit {
                unit: shingling.unit.to_string(),
                size: shingling.size.get(),
            }
            .into());
        }
        Ok(Shingler {
            shingling,
            hash,
            width,
            grams: scheme.grams(),
            is_of_preset: scheme.preset().is_some(),
            isa: Isa::best(),
            rarities: None,
        })
    }

    /// Selects the instruction set; default the fastest. The hashes do not depend on it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Shingler { isa, ..self }
    }

    /// The same shingler, if all shingles weigh the same.
    pub(crate) fn for_sets(&self) -> Self {
        let mut shingler = self.clone();
        shingler.shingling.weighting = Weighting::Equal;
        shingler
    }

    /// The same shingler, with what shingles weigh by rarity.
    pub(crate) fn with_rarities(&self, rarities: Rarities) -> Self {
        Shingler {
            rarities: Some(Arc::new(rarities)),
            ..self.clone()
        }
    }

    /// What shingles weigh by rarity; `None` unless they do.
    pub(crate) fn rarities(&self) -> Option<&Rarities> {
        self.rarities.as_deref()
    }

    /// Whether documents must be counted before they can be shingled.
    pub(crate) fn needs_rarities(&self) -> bool {
        self.shingling.weighting == Weighting::Rarity && self.rarities.is_none()
    }

    /// Unit, size and normalisation of the shingles.
    pub fn shingling(&self) -> &Shingling {
        &self.shingling
    }

    /// The base hash of the shingles.
    pub fn hash(&self) -> BaseHash {
        self.hash
    }

    /// Width of the shingle hashes.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Checks that documents are texts, lists of tokens or weighted tokens, as the shingling needs, and checks weights.
    /// [`Signer::sign_documents`](crate::pipeline::Signer::sign_documents) calls it first.
    ///
    /// # Errors
    /// [`Conflict::TextsForTokens`] for a text with [`Unit::Tokens`], [`Conflict::TokensForTexts`] for a list of
    /// tokens with another unit, [`Conflict::WeightedForms`] if only the documents or only the shingling has weights,
    /// [`Error::Weights`] for a weight that is negative or not finite and for a document of too many copies,
    /// [`Conflict::RarityOfRun`] for [`Weighting::Rarity`] outside of a run.
    pub fn check_forms<D: Documents + ?Sized>(&self, documents: &D) -> Result<()> {
        if self.needs_rarities() {
            return Err(Conflict::RarityOfRun.into());
        }
        let unit = &self.shingling.unit;
        for row in 0..documents.len() {
            match (documents.get(row), self.shingling.weighting) {
                (Document::Text(_), _) if *unit == Unit::Tokens => {
                    return Err(Conflict::TextsForTokens.into());
                }
                (Document::Tokens(_) | Document::Weighted(_), _) if *unit != Unit::Tokens => {
                    let unit = unit.to_string();
                    return Err(Conflict::TokensForTexts { unit }.into());
                }
                (Document::Weighted(tokens), Weighting::Given(scale)) => {
                    if let Some(problem) = scale.problem_in(tokens.map(|(_, weight)| weight)) {
                        let row = documents.first_row() + row;
                        return Err(Error::Weights { row, problem });
                    }
                }
                (Document::Weighted(_), _) => return Err(Conflict::WeightedForms.into()),
                (Document::Tokens(mut tokens), Weighting::Given(_)) => {
                    // A document without tokens needs no weights.
                    let first = tokens.next();
                    if first.is_some() {
                        return Err(Conflict::WeightedForms.into());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of windows of a normalised text, or 2 if there are more.
    pub(crate) fn windows_up_to_two(&self, normalised: &[u8]) -> usize {
        let size = self.shingling.size.get();
        let units = match self.shingling.unit {
            Unit::Chars if normalised.len() <= size.saturating_mul(4) => {
                let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
                normalised.iter().filter(is_start).count()
            }
            _ => normalised.len(),
        };
        match units {
            0 => 0,
            _ => 1 + usize::from(units > size),
        }
    }

    /// Whether a document without shingles has no content either: a text of white space once it is normalised, or no
    /// tokens.
    #[doc(hidden)]
    pub fn is_blank(&self, document: Document<'_>) -> bool {
        match document {
            Document::Text(text) => {
                let mut normalised = String::new();
                self.shingling.normalise.apply(text, &mut normalised);
                normalised.trim().is_empty()
            }
            Document::Tokens(mut tokens) => tokens.next().is_none(),
            Document::Weighted(mut tokens) => tokens.next().is_none(),
        }
    }

    /// Shingles documents: set i is that of document i.
    ///
    /// Lists of tokens are shingled as tokens, whatever the unit. With [`Unit::Tokens`], each text is treated as a
    /// single token. [`Shingler::check_forms`] detects both mistakes.
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::documents::TokenBatch;
    /// use simgpu::pipeline::{Shingler, Shingling, Signatures, Unit};
    /// use simgpu::scheme::Scheme;
    ///
    /// // Computes the same values as datasketch for these tokens.
    /// let scheme = Scheme::named("datasketch")?;
    /// let shingler = Shingler::new(Shingling::of(Unit::Tokens), &scheme, None)?;
    /// let signer = Backend::Auto.signer(&scheme)?;
    ///
    /// let mut tokens = TokenBatch::default();
    /// for document in [["minhash", "is", "sound"], ["sound", "minhash", "is"], ["so", "is", "lsh"]] {
    ///     document.map(|token| tokens.push_token(token.as_bytes()));
    ///     tokens.finish_document();
    /// }
    /// let shingles = shingler.shingle(&tokens);
    /// let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    /// signatures.sign(&*signer, &shingles.sets())?;
    /// assert_eq!(signatures.estimate(0, 1), 1.0); // shingles of one token: order does not matter
    /// assert!(signatures.estimate(0, 2) < 0.6);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    pub fn shingle<D: Documents + ?Sized>(&self, documents: &D) -> ShingleBatch {
        let mut batch = ShingleBatch::new(self.width);
        let mut scratch = Scratch::default();
        for row in 0..documents.len() {
            self.shingle_onto(documents.get(row), &mut scratch, &mut batch);
        }
        batch
    }

    /// Appends the shingle set of a document to `batch`, which must have the hash width of the shingler.
    pub fn shingle_onto(
        &self,
        document: Document<'_>,
        scratch: &mut Scratch,
        batch: &mut ShingleBatch,
    ) {
        scratch.is_digested = false;
        self.append_set(document, scratch, batch);
    }

    fn append_set(&self, document: Document<'_>, scratch: &mut Scratch, batch: &mut ShingleBatch) {
        match &mut batch.hashes {
            SlotVec::U32(out) => {
                self.shingle_document(self.hash, document, scratch, &mut Out::all(out));
            }
            SlotVec::U64(out) => {
                self.shingle_document(self.hash, document, scratch, &mut Out::all(out));
            }
        }
        batch.end_set();
    }

    /// Shingles a document of any length in bounded memory: calls `emit` with pieces of about `piece` hashes each.
    ///
    /// The union of the pieces is the set of the document. `emit` is called at least once.
    pub fn for_each_piece(
        &self,
        document: Document<'_>,
        piece: usize,
        scratch: &mut Scratch,
        mut emit: impl FnMut(&ShingleSets<'_>),
    ) {
        scratch.is_digested = false;
        match self.width {
            Width::U32 => self.emit_pieces::<u32>(document, piece, scratch, &mut emit),
            Width::U64 => self.emit_pieces::<u64>(document, piece, scratch, &mut emit),
        }
    }

    fn emit_pieces<H: TextHash>(
        &self,
        document: Document<'_>,
        piece: usize,
        scratch: &mut Scratch,
        emit: &mut dyn FnMut(&ShingleSets<'_>),
    ) {
        let mut hashes = std::mem::take(H::pieces(scratch));
        let has_emitted = Cell::new(false);
        let mut flush = |hashes: &mut Vec<H>| {
            emit(&ShingleSets::single(
                H::view(hashes),
                &[0, hashes.len() as i64],
            ));
            hashes.clear();
            has_emitted.set(true);
        };
        let mut out = Out::pieces(&mut hashes, piece, &mut flush);
        self.shingle_document(self.hash, document, scratch, &mut out);
        if !hashes.is_empty() || !has_emitted.get() {
            flush(&mut hashes);
        }
        *H::pieces(scratch) = hashes;
    }

    /// Appends the shingle sets of documents to `batch`, and returns for each document the digest of its normalised
    /// text, or of its list of tokens and their weights: 128 bits of BLAKE3.
    ///
    /// Apart from collisions, two documents have equal digests if and only if these are equal. Then their sets are
    /// equal, too; the reverse does not hold.
    pub fn shingle_with_digests<D: Documents + ?Sized>(
        &self,
        documents: &D,
        scratch: &mut Scratch,
        batch: &mut ShingleBatch,
    ) -> Vec<u128> {
        scratch.is_digested = true;
        for row in 0..documents.len() {
            self.append_set(documents.get(row), scratch, batch);
            scratch.add_to_digests(self.isa);
        }
        scratch.digests.finish(self.isa)
    }

    /// The digests of [`Shingler::shingle_with_digests`], without any shingles; `None` for a document without shingles that
    /// is blank.
    pub(crate) fn digests<D: Documents + ?Sized>(
        &self,
        documents: &D,
        scratch: &mut Scratch,
    ) -> Vec<Option<u128>> {
        scratch.is_digested = true;
        let mut blank = Vec::with_capacity(documents.len());
        for row in 0..documents.len() {
            scratch.begin();
            match (documents.get(row), self.shingling.weighting) {
                (Document::Text(text), _) => {
                    let normalise = self.shingling.normalise;
                    normalise.apply_to_bytes(self.isa, text, &mut scratch.normalised);
                    scratch.digests_normalised = true;
                }
                (Document::Tokens(tokens), _) => tokens.for_each(|token| scratch.push_token(token)),
                (Document::Weighted(tokens), Weighting::Given(scale)) => {
                    tokens.for_each(|(token, weight)| {
                        scratch.push_weighted_token(token, scale.fixed(weight));
                    });
                }
                (Document::Weighted(tokens), _) => {
                    tokens.for_each(|(token, _)| scratch.push_token(token));
                }
            }
            blank.push(match self.shingling.unit {
                // White space has shingles, too.
                Unit::Bytes | Unit::Chars => scratch.normalised.as_slice().is_empty(),
                _ => self.is_blank(documents.get(row)),
            });
            scratch.add_to_digests(self.isa);
        }
        let digests = scratch.digests.finish(self.isa).into_iter();
        let digests = digests.zip(blank);
        digests
            .map(|(digest, is_blank)| (!is_blank).then_some(digest))
            .collect()
    }

    /// Appends the lists of [`Shingler::exact_list`] to `batch`, which has 64-bit hashes, and returns the digests of
    /// [`Shingler::shingle_with_digests`].
    #[doc(hidden)]
    pub fn exact_with_digests<D: Documents + ?Sized>(
        &self,
        documents: &D,
        scratch: &mut Scratch,
        batch: &mut ShingleBatch,
    ) -> Vec<u128> {
        scratch.is_digested = true;
        for row in 0..documents.len() {
            if let SlotVec::U64(list) = &mut batch.hashes {
                self.append_exact_list(documents.get(row), scratch, list);
            }
            batch.end_set();
            scratch.add_to_digests(self.isa);
        }
        scratch.digests.finish(self.isa)
    }

    /// Writes the set of a document into `set` as sorted distinct 64-bit hashes, for exact similarities
    /// ([`jaccard`](crate::pipeline::jaccard)).
    ///
    /// The hashes do not depend on the family or the base hash of the scheme; a preset decides how they are made of
    /// several tokens.
    pub fn exact_set(&self, document: Document<'_>, scratch: &mut Scratch, set: &mut Vec<u64>) {
        self.exact_hashes(document, scratch, set);
        set.sort_unstable();
        set.dedup();
    }

    /// Replaces `list` by what [`ExactSets`](crate::store::ExactSets) stores of a document: the hashes of
    /// [`Shingler::exact_hashes`] or, with weights, the distinct hashes of the shingles in ascending order, each
    /// followed by its weight: in units of 2^-32 copies if it is given, and of 2^-26 if it follows from the rarity.
    #[doc(hidden)]
    pub fn exact_list(&self, document: Document<'_>, scratch: &mut Scratch, list: &mut Vec<u64>) {
        list.clear();
        scratch.is_digested = false;
        self.append_exact_list(document, scratch, list);
    }

    fn append_exact_list(
        &self,
        document: Document<'_>,
        scratch: &mut Scratch,
        list: &mut Vec<u64>,
    ) {
        let hash = self.exact_hash();
        let elements = match self.shingling.weighting {
            Weighting::Given(scale) => {
                let mut elements = self.weigh_document::<u64>(scale, hash, document, scratch);
                elements.sort_unstable();
                elements
            }
            Weighting::Rarity => self.weigh_by_rarity(document, scratch),
            _ => {
                let start = list.len();
                self.shingle_document(hash, document, scratch, &mut Out::all(list));
                remove_many_repeats(list, start);
                return;
            }
        };
        let elements = elements.into_iter();
        list.extend(elements.flat_map(|(hash, weight)| [hash, weight]));
    }

    /// Whether shingles have weights of their own ([`Weighting::Given`], [`Weighting::Rarity`]).
    #[doc(hidden)]
    pub fn takes_weights(&self) -> bool {
        matches!(
            self.shingling.weighting,
            Weighting::Given(_) | Weighting::Rarity
        )
    }

    /// Writes the hashes of [`Shingler::exact_set`] into `hashes`, unsorted and with repeats.
    pub fn exact_hashes(
        &self,
        document: Document<'_>,
        scratch: &mut Scratch,
        hashes: &mut Vec<u64>,
    ) {
        hashes.clear();
        scratch.is_digested = false;
        self.shingle_document(self.exact_hash(), document, scratch, &mut Out::all(hashes));
    }

    /// The base hash of exact sets.
    fn exact_hash(&self) -> BaseHash {
        exact_hash(&self.shingling.unit)
    }

    /// Whether the scheme's shingle hashes are those of exact sets, or their high halves
    /// ([`ShingleBatch::high_halves_of`]).
    pub(crate) fn hashes_exactly(&self) -> bool {
        let exact = self.exact_hash();
        let is_exact =
            self.hash == exact && (exact == BaseHash::WordsV1 || self.width == Width::U64);
        // The exact sets of weighted shingles hold weights.
        is_exact && !self.takes_weights()
    }

    /// Appends the hashes of a document: one per occurrence of a shingle, or per copy of a weighted token.
    fn shingle_document<H: TextHash>(
        &self,
        hash: BaseHash,
        document: Document<'_>,
        scratch: &mut Scratch,
        out: &mut Out<'_, H>,
    ) {
        match (self.shingling.weighting, hash) {
            (Weighting::Equal, _) => self.hash_document(hash, document, scratch, out),
            // Copies of 64 bits are cut as hashes are, so that the first pass can make them of exact sets.
            (Weighting::Counts | Weighting::Places, BaseHash::WordsV1) => {
                self.copy_document(hash, document, scratch, |copy| {
                    out.room().push(H::of_words(copy));
                });
            }
            (Weighting::Counts | Weighting::Places, _) => {
                self.copy_document(hash, document, scratch, |copy| out.room().push(copy));
            }
            (Weighting::Given(scale), BaseHash::WordsV1) => {
                let tokens = self.weigh_document::<u64>(scale, hash, document, scratch);
                for_each_copy_of(&tokens, |copy| out.room().push(H::of_words(copy)));
            }
            (Weighting::Given(scale), _) => {
                let tokens = self.weigh_document::<H>(scale, hash, document, scratch);
                for_each_copy_of(&tokens, |copy| out.room().push(copy));
            }
            // What a shingle weighs depends on its exact hash, which stands for it here, too.
            (Weighting::Rarity, _) => {
                let mut shingles = self.weigh_by_rarity(document, scratch);
                for (_, weight) in &mut shingles {
                    *weight <<= 32 - FRACTION_BITS;
                }
                for_each_copy_of(&shingles, |copy| out.room().push(H::of_words(copy)));
            }
        }
    }

    /// The distinct exact hashes of a document in ascending order, with the weights by rarity that are not 0, in units
    /// of 2^-26; none if nothing was counted.
    fn weigh_by_rarity(&self, document: Document<'_>, scratch: &mut Scratch) -> Vec<(u64, u64)> {
        let Some(rarities) = &self.rarities else {
            return Vec::new();
        };
        let mut hashes = Vec::new();
        let out = &mut Out::all(&mut hashes);
        self.hash_document(self.exact_hash(), document, scratch, out);
        hashes.sort_unstable();
        hashes.dedup();
        let weighed = hashes.into_iter().map(|hash| (hash, rarities.weight(hash)));
        weighed.filter(|(_, weight)| *weight > 0).collect()
    }

    /// The distinct hashes of a document's tokens in the order of their first occurrences, with the sums of their weights
    /// in units of 2^-32 copies. Weights of 0 are left out, and tokens without a weight weigh 1.
    fn weigh_document<H: TextHash>(
        &self,
        scale: WeightScale,
        hash: BaseHash,
        document: Document<'_>,
        scratch: &mut Scratch,
    ) -> Vec<(H, u64)> {
        let (mut hashes, mut weights) = (Vec::<H>::new(), Vec::new());
        match document {
            Document::Weighted(tokens) => {
                scratch.begin();
                let tokens = tokens.map(|(token, weight)| {
                    let weight = scale.fixed(weight);
                    scratch.push_weighted_token(token, weight);
                    weights.push(weight);
                    token
                });
                self.hash_each(hash, tokens, &mut Out::all(&mut hashes));
            }
            document => {
                self.hash_document(hash, document, scratch, &mut Out::all(&mut hashes));
                weights.resize(hashes.len(), scale.fixed(1.0));
            }
        }
        let mut elements: Vec<(H, u64)> = Vec::with_capacity(hashes.len());
        scratch.distinct.begin(hashes.len());
        for (hash, weight) in hashes
            .into_iter()
            .zip(weights)
            .filter(|(_, weight)| *weight > 0)
        {
            match scratch.distinct.find_or_add(hash, &elements) {
                Some(first) => elements[first].1 = elements[first].1.saturating_add(weight),
                None => elements.push((hash, weight)),
            }
        }
        elements
    }

    /// Calls `emit` with a copy of a shingle for each of its occurrences: the next one, or that of its place.
    fn copy_document<H: TextHash>(
        &self,
        hash: BaseHash,
        document: Document<'_>,
        scratch: &mut Scratch,
        mut emit: impl FnMut(H),
    ) {
        let mut occurrences = std::mem::take(&mut scratch.occurrences);
        occurrences.clear();
        let has_places = self.shingling.weighting == Weighting::Places;
        let mut hashes = Vec::with_capacity(COUNTED_AT_A_TIME);
        let mut place = 0;
        let mut flush = |hashes: &mut Vec<H>| {
            for hash in hashes.drain(..) {
                let number = if has_places {
                    place
                } else {
                    occurrences.next(hash.into())
                };
                emit(hash.copy(number));
                place += 1;
            }
        };
        let mut out = Out::pieces(&mut hashes, COUNTED_AT_A_TIME, &mut flush);
        self.hash_document(hash, document, scratch, &mut out);
        flush(&mut hashes);
        scratch.occurrences = occurrences;
    }

    fn hash_document<H: TextHash>(
        &self,
        hash: BaseHash,
        document: Document<'_>,
        scratch: &mut Scratch,
        out: &mut Out<'_, H>,
    ) {
        match document {
            Document::Text(text) => self.shingle_text(hash, text, scratch, out),
            Document::Tokens(tokens) => {
                scratch.begin();
                self.shingle_tokens(hash, tokens, scratch, out);
            }
            Document::Weighted(tokens) => {
                scratch.begin();
                self.shingle_tokens(hash, tokens.map(|(token, _)| token), scratch, out);
            }
        }
    }

    fn shingle_text<H: TextHash>(
        &self,
        hash: BaseHash,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Out<'_, H>,
    ) {
        let size = self.shingling.size.get();
        scratch.begin();
        match &self.shingling.unit {
            Unit::Bytes | Unit::Chars => {
                let Scratch {
                    normalised,
                    windows,
                    ..
                } = scratch;
                let normalise = self.shingling.normalise;
                normalise.apply_to_bytes(self.isa, text, normalised);
                let bytes = normalised.as_slice();
                scratch.digests_normalised = true;
                if self.shingling.unit == Unit::Bytes || bytes.is_ascii() {
                    H::push_windows(self.isa, hash, bytes, size, windows, out);
                } else {
                    let mut hashes = HashesOfBytes::new(self.isa, hash, out);
                    for_each_char_window(bytes, size, |window| hashes.push(window));
                    hashes.finish();
                }
            }
            Unit::Words | Unit::Code
                if hash == BaseHash::WordsV1 && self.grams != Grams::FullOnly =>
            {
                let mut words = std::mem::take(&mut scratch.words);
                let text = self.text_of_words(text, &mut words.text);
                self.keep_for_digest(text, scratch);
                let mut sink = HashesOfWords::new(self.isa, size, scratch, out);
                self.for_each_word(text, &mut words.found, &mut sink);
                sink.finish();
                scratch.words = words;
            }
            Unit::Words | Unit::StopWords(_) | Unit::Code => {
                self.find_words(hash, text, scratch);
                self.shingle_words(hash, scratch, out);
            }
            Unit::Pieces => {
                let mut normalised = std::mem::take(&mut scratch.normalised);
                let normalise = self.shingling.normalise;
                normalise.apply_to_bytes(self.isa, text, &mut normalised);
                // Normalised text is UTF-8, so that this borrows it.
                let text = String::from_utf8_lossy(normalised.as_slice());
                self.shingle_pieces(hash, &text, scratch, out);
                scratch.normalised = normalised;
                scratch.digests_normalised = true;
            }
            // Readers and `check_forms` rule this case out.
            Unit::Tokens => self.shingle_tokens(hash, [text.as_bytes()], scratch, out),
        }
    }

    /// Applies all normalisation but merging white space, which the word finder does where it matters.
    fn text_of_words<'a>(&self, text: &'a str, normalised: &'a mut String) -> &'a str {
        let normalise = self.shingling.normalise;
        if !normalise.changes_letters() {
            return text;
        }
        normalise.apply(text, normalised);
        normalised
    }

    /// Keeps the normalised text for its digest, if one is wanted. Only the white space of `text` may differ from it.
    fn keep_for_digest(&self, text: &str, scratch: &mut Scratch) {
        if scratch.is_digested {
            let normalise = Normalise {
                keep_whitespace: self.shingling.normalise.keep_whitespace,
                ..Normalise::default()
            };
            normalise.apply_to_bytes(self.isa, text, &mut scratch.normalised);
            scratch.digests_normalised = true;
        }
    }

    /// Passes the words of a text, or its tokens of code, to `sink`.
    fn for_each_word(&self, text: &str, words: &mut Words, sink: &mut impl WordSink) {
        if self.shingling.unit == Unit::Code {
            for_each_code_token(text, |token| sink.word(token));
            return;
        }
        let merge_blanks = !self.shingling.normalise.keep_whitespace;
        words.find(self.isa, text, merge_blanks, sink);
    }

    /// Writes the words of a text into `scratch`: hashed or joined, with marks for stop words.
    fn find_words(&self, hash: BaseHash, text: &str, scratch: &mut Scratch) {
        let mut words = std::mem::take(&mut scratch.words);
        let text = self.text_of_words(text, &mut words.text);
        self.keep_for_digest(text, scratch);
        let Scratch {
            word_hashes,
            is_stop,
            joined,
            ..
        } = scratch;
        word_hashes.clear();
        joined.clear();
        is_stop.clear();
        let mut sink = Each(|word: &[u8]| {
            if let Unit::StopWords(stop_words) = &self.shingling.unit {
                is_stop.push(stop_words.contains(word));
            }
            if hash == BaseHash::WordsV1 {
                word_hashes.push(words_v1::word(word));
            } else {
                joined.push(word);
            }
        });
        self.for_each_word(text, &mut words.found, &mut sink);
        scratch.words = words;
    }

    fn shingle_words<H: TextHash>(&self, hash: BaseHash, scratch: &Scratch, out: &mut Out<'_, H>) {
        let size = self.shingling.size.get();
        let (words, joined) = (&scratch.word_hashes, &scratch.joined);
        if self.leaves_out(words.len().max(joined.len())) {
            return;
        }
        if let Unit::StopWords(_) = &self.shingling.unit {
            let stops = (0..scratch.is_stop.len().saturating_sub(size - 1))
                .filter(|word| scratch.is_stop[*word])
                .map(|word| word..word + size);
            if hash == BaseHash::WordsV1 {
                for span in stops {
                    let shingle = words_v1::shingle(words[span].iter().copied());
                    out.room().push(H::of_words(shingle));
                }
            } else {
                self.hash_each(hash, stops.map(|span| joined.span(span)), out);
            }
        } else if hash == BaseHash::WordsV1 {
            words_v1::for_each_shingle(words, size, |value| out.room().push(H::of_words(value)));
        } else {
            self.hash_each(hash, joined.spans(size), out);
        }
    }

    /// Appends the hashes of shingles given as bytes.
    pub(super) fn hash_each<'a, H: TextHash>(
        &self,
        hash: BaseHash,
        shingles: impl Iterator<Item = &'a [u8]>,
        out: &mut Out<'_, H>,
    ) {
        let mut hashes = HashesOfBytes::new(self.isa, hash, out);
        shingles.for_each(|shingle| hashes.push(shingle));
        hashes.finish();
    }
}

/// Calls `emit` with the copies of weighted elements. If their weights come to no copy, the heaviest element has one, so
/// that identical documents are found however little they weigh.
fn for_each_copy_of<H: TextHash>(elements: &[(H, u64)], mut emit: impl FnMut(H)) {
    let mut has_copies = false;
    for (element, weight) in elements {
        element.for_each_copy(*weight, |copy| {
            has_copies = true;
            emit(copy);
        });
    }
    let heaviest = elements
        .iter()
        .max_by_key(|(element, weight)| (*weight, (*element).into()));
    if let Some((element, _)) = heaviest.filter(|_| !has_copies) {
        emit(*element);
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::for_each_window;
    use super::super::stop_words::StopWords;
    use super::super::words::for_each_word;
    use super::*;
    use crate::documents::{TextBatch, TokenBatch};
    use crate::scheme::Hashes;
    use crate::scheme::{ShingleHash, murmur3_32};

    fn windows(text: &str, size: usize) -> Vec<String> {
        let mut windows = Vec::new();
        for_each_char_window(text.as_bytes(), size, |window| {
            windows.push(String::from_utf8(window.to_vec()).unwrap());
        });
        windows
    }

    #[test]
    fn windows_of_characters() {
        assert_eq!(windows("añb😀c", 3), ["añb", "ñb😀", "b😀c"]);
        assert_eq!(windows("añ", 3), ["añ"]);
        assert_eq!(windows("añb", 3), ["añb"]);
        assert_eq!(windows("", 3), Vec::<String>::new());
        assert_eq!(windows("abcd", 3), ["abc", "bcd"]);
    }

    #[test]
    fn documents_without_digests_have_the_same_sets() {
        let mut tokens = TokenBatch::default();
        for document in [&["a", "b", "c"][..], &[], &["a b"]] {
            for token in document {
                tokens.push_token(token.as_bytes());
            }
            tokens.finish_document();
        }
        let texts: TextBatch = ["a b c", "", "a b"].into_iter().collect();
        let scheme = Scheme::default();
        for (unit, size) in [(Unit::Tokens, 1), (Unit::Tokens, 2), (Unit::Words, 2)] {
            let mut shingling = Shingling::of(unit);
            shingling.size = size.try_into().unwrap();
            let shingler = Shingler::new(shingling, &scheme, None).unwrap();
            for documents in [&tokens as &dyn Documents, &texts] {
                let mut expected = ShingleBatch::new(shingler.width());
                let mut scratch = Scratch::default();
                shingler.shingle_with_digests(documents, &mut scratch, &mut expected);
                let actual = shingler.shingle(documents);
                let (expected, actual) = (expected.sets(), actual.sets());
                match (expected.hashes(), actual.hashes()) {
                    (Hashes::U32(expected), Hashes::U32(actual)) => assert_eq!(expected, actual),
                    _ => panic!("affine32 hashes have 32 bits"),
                }
                assert!((0..3).all(|i| expected.range(i) == actual.range(i)));
            }
        }
    }

    /// The shingle of all tokens of each document, by base hash and in the exact set.
    fn hashes_of_tokens(scheme: &str, size: usize, documents: &[&[&str]]) -> Vec<(u32, u64)> {
        let mut tokens = TokenBatch::default();
        for document in documents {
            for token in *document {
                tokens.push_token(token.as_bytes());
            }
            tokens.finish_document();
        }
        let scheme = Scheme::named(scheme).unwrap();
        let shingling = Shingling {
            size: size.try_into().unwrap(),
            ..Shingling::of(Unit::Tokens)
        };
        let shingler = Shingler::new(shingling, &scheme, None).unwrap();
        let shingles = shingler.shingle(&tokens);
        let Hashes::U32(hashes) = shingles.sets().hashes() else {
            panic!("these schemes hash to 32 bits")
        };
        let (mut scratch, mut set) = (Scratch::default(), Vec::new());
        let with_exact = hashes.iter().enumerate().map(|(i, hash)| {
            shingler.exact_set(tokens.get(i), &mut scratch, &mut set);
            (*hash, set[0])
        });
        with_exact.collect()
    }

    #[test]
    fn different_tokens_make_different_shingles() {
        let documents: [&[&str]; 5] = [
            &["a b", "c"],
            &["a", "b c"],
            &["a b c"],
            &["", "a"],
            &["a", ""],
        ];
        let hashes = hashes_of_tokens("affine32", 2, &documents);
        for i in 0..documents.len() {
            for j in 0..i {
                assert!(
                    hashes[i].0 != hashes[j].0,
                    "{:?} {:?}",
                    documents[i],
                    documents[j]
                );
                assert!(
                    hashes[i].1 != hashes[j].1,
                    "{:?} {:?}",
                    documents[i],
                    documents[j]
                );
            }
        }
        // The lengths, 8 bytes each, precede the tokens.
        let bytes = b"\x03\0\0\0\0\0\0\0a b\x01\0\0\0\0\0\0\0c";
        assert_eq!(hashes[0].0, murmur3_32(bytes, 0));
    }

    #[test]
    fn presets_join_tokens_as_their_tools() {
        let documents: [&[&str]; 2] = [&["a b", "c"], &["a", "b c"]];
        let hashes = hashes_of_tokens("datasketch", 2, &documents);
        assert_eq!(hashes[0].0, crate::scheme::sha1_32(b"a b c"));
        assert_eq!(hashes[0], hashes[1]);
    }

    #[test]
    fn only_text_dedup_drops_texts_of_few_pieces() {
        let texts = ["", "?!", "a", "a, b", "?!?!", "a b c d e"];
        for (scheme, size, expected) in [
            ("affine32", 1, [0, 0, 1, 3, 0, 5]),
            ("affine32", 5, [0, 0, 1, 1, 0, 1]),
            ("datatrove", 5, [0, 0, 0, 0, 0, 1]),
            ("text-dedup", 1, [0, 0, 0, 0, 5, 5]),
            ("text-dedup", 5, [0, 0, 0, 0, 1, 1]),
        ] {
            let mut shingling = Shingling::of(Unit::Pieces);
            shingling.size = size.try_into().unwrap();
            let scheme = Scheme::named(scheme).unwrap();
            let shingler = Shingler::new(shingling, &scheme, None).unwrap();
            let batch = shingler.shingle(&texts);
            let lens = [0, 1, 2, 3, 4, 5].map(|i| batch.sets().range(i).len());
            assert_eq!(lens, expected, "{scheme} {size}");
        }
    }

    #[test]
    fn digests_are_equal_for_equal_normalised_texts() {
        let texts = [
            "a < b, Two",
            "a  <\n b,\tTwo",
            "a > b, Two",
            "a < b, two",
            "a  b Two",
            "?!",
            "",
            " ",
            &"x ".repeat(99),
        ];
        let normalise = |lowercase, strip_punctuation, keep_whitespace| Normalise {
            lowercase,
            strip_punctuation,
            keep_whitespace,
        };
        let units = [
            Unit::Bytes,
            Unit::Chars,
            Unit::Words,
            Unit::StopWords(StopWords::english()),
            Unit::Pieces,
            Unit::Code,
        ];
        for (unit, scheme) in units.into_iter().flat_map(|unit| {
            ["affine32", "affine64", "datatrove"].map(|scheme| (unit.clone(), scheme))
        }) {
            for normalise in [
                normalise(false, false, false),
                normalise(true, false, false),
                normalise(false, true, false),
                normalise(false, false, true),
                normalise(true, true, true),
            ] {
                let shingling = Shingling {
                    normalise,
                    ..Shingling::of(unit.clone())
                };
                let scheme = Scheme::named(scheme).unwrap();
                let shingler = Shingler::new(shingling, &scheme, None).unwrap();
                let mut shingles = ShingleBatch::new(shingler.width());
                let mut scratch = Scratch::default();
                let digests = shingler.shingle_with_digests(&texts, &mut scratch, &mut shingles);
                let alone = shingler.digests(&texts, &mut scratch);
                for (row, alone) in alone.into_iter().enumerate() {
                    let is_empty = shingles.sets().range(row).is_empty();
                    let is_blank = is_empty && shingler.is_blank(Document::Text(texts[row]));
                    assert_eq!(alone, (!is_blank).then_some(digests[row]), "{unit}");
                }
                let normalised = texts.map(|text| {
                    let mut out = String::new();
                    normalise.apply(text, &mut out);
                    out
                });
                for (i, j) in (0..texts.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    assert_eq!(
                        digests[i] == digests[j],
                        normalised[i] == normalised[j],
                        "{unit} {normalise:?}: {:?} {:?}",
                        texts[i],
                        texts[j]
                    );
                }
            }
        }
    }

    #[test]
    fn byte_hashes_join_words_by_one_space() {
        let scheme = Scheme::default();
        let hash = Some(BaseHash::Sha1_32);
        let shingler = Shingler::new(Shingling::default(), &scheme, hash).unwrap();
        let texts: TextBatch = ["a  b c, d e f", "a b"].into_iter().collect();
        let batch = shingler.shingle(&texts);
        let Hashes::U32(hashes) = batch.sets().hashes() else {
            panic!("affine32 hashes have 32 bits")
        };
        let expected =
            ["a b c d e", "b c d e f", "a b"].map(|s| crate::scheme::sha1_32(s.as_bytes()));
        assert_eq!(hashes, expected);
    }

    /// Compares windows of all sizes and texts of all lengths with the definition, on every instruction set.
    #[test]
    fn windows_equal_the_definition() {
        let piece = "a\u{a0} b — naïve\n\tword 東 “x”  1,5 ";
        let long = piece.repeat(12);
        let chars: Vec<usize> = long.char_indices().map(|(at, _)| at).collect();
        let texts: TextBatch = (0..300)
            .flat_map(|len| [&long[..chars[len]], &ASCII[..len]])
            .collect();
        let scheme = Scheme::default();
        for unit in [Unit::Bytes, Unit::Chars] {
            for size in 1..=40 {
                let mut shingling = Shingling::of(unit.clone());
                shingling.size = size.try_into().unwrap();
                let mut expected = Vec::new();
                for text in texts.iter() {
                    let mut text_bytes = String::new();
                    shingling.normalise.apply(text, &mut text_bytes);
                    let mut push = |window: &[u8]| expected.push(murmur3_32(window, 0));
                    match unit {
                        Unit::Bytes => for_each_window(text_bytes.as_bytes(), size, &mut push),
                        _ => for_each_char_window(text_bytes.as_bytes(), size, &mut push),
                    }
                }
                for isa in Isa::available() {
                    let shingler = Shingler::new(shingling.clone(), &scheme, None).unwrap();
                    let batch = shingler.with_isa(*isa).shingle(&texts);
                    let Hashes::U32(hashes) = batch.sets().hashes() else {
                        panic!("affine32 hashes have 32 bits")
                    };
                    assert!(hashes == expected, "{isa}: {size} {unit}");
                }
            }
        }
    }

    const ASCII: &str = "In the beginning there was a text, and it had words in it;  some of them were \
        long,\t others short. \n\n It went on for three hundred characters or so, which is five blocks \
        of sixty-four, and with it went a window of any size, so that each place in a block was the first \
        of one and the last of another, and blanks    were merged wherever they stood.";

    #[test]
    fn pieces_add_up_to_the_set() {
        let text = "the naïve “reader” of a_b __ don’t 東京 ".repeat(700);
        for scheme in ["affine32", "affine64"] {
            let scheme = Scheme::named(scheme).unwrap();
            for (unit, size) in [
                (Unit::Words, 1),
                (Unit::Words, 5),
                (Unit::Words, 20),
                (Unit::Words, 9999),
                (Unit::Bytes, 9),
            ] {
                let mut shingling = Shingling::of(unit);
                shingling.size = size.try_into().unwrap();
                let shingler = Shingler::new(shingling, &scheme, None).unwrap();
                let whole = shingler.shingle(&[&text]);
                for piece in [1, 100, 1 << 20] {
                    let mut pieces = ShingleBatch::new(shingler.width());
                    let mut scratch = Scratch::default();
                    shingler.for_each_piece(
                        Document::Text(&text),
                        piece,
                        &mut scratch,
                        |set| match (&mut pieces.hashes, set.hashes()) {
                            (SlotVec::U32(all), Hashes::U32(some)) => all.extend_from_slice(some),
                            (SlotVec::U64(all), Hashes::U64(some)) => all.extend_from_slice(some),
                            _ => panic!("two widths"),
                        },
                    );
                    pieces.end_set();
                    match (pieces.sets().hashes(), whole.sets().hashes()) {
                        (Hashes::U32(pieces), Hashes::U32(whole)) => assert!(pieces == whole),
                        (Hashes::U64(pieces), Hashes::U64(whole)) => assert!(pieces == whole),
                        _ => panic!("two widths"),
                    }
                }
            }
        }
    }

    /// Compares texts shingled with and without digests with shingles of words found one by one.
    #[test]
    fn words_equal_the_definition() {
        let text =
            "The naïve “reader” of a_b __ don’t 東京 internationalisation’s 1,000.50 x ".repeat(90);
        let ends = text.char_indices().map(|(at, _)| at).step_by(97);
        let texts: TextBatch = ends.map(|end| &text[..end]).collect();
        let scheme = Scheme::default();
        for size in [1, 2, 5, 8, 9, 30] {
            let shingling = Shingling {
                size: size.try_into().unwrap(),
                ..Shingling::default()
            };
            let mut expected = Vec::new();
            for text in texts.iter() {
                let mut words = Vec::new();
                for_each_word(text, true, |word| {
                    words.push(words_v1::word(word.as_bytes()))
                });
                words_v1::for_each_shingle(&words, size, |value| {
                    expected.push(u32::of_words(value));
                });
            }
            for isa in Isa::available() {
                let shingler = Shingler::new(shingling.clone(), &scheme, None).unwrap();
                let shingler = shingler.with_isa(*isa);
                let mut scratch = Scratch::default();
                let mut digested = ShingleBatch::new(Width::U32);
                shingler.shingle_with_digests(&texts, &mut scratch, &mut digested);
                for batch in [shingler.shingle(&texts), digested] {
                    let Hashes::U32(hashes) = batch.sets().hashes() else {
                        panic!("affine32 hashes have 32 bits")
                    };
                    assert!(hashes == expected, "{isa}: {size}");
                }
            }
        }
    }
}
