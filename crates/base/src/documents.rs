//! Documents in memory: texts or lists of tokens.
//!
//! **Documents count as identical** if the first 128 bits of their digests are equal. A digest is one BLAKE3 hash of
//! the normalised text, or of the tokens, each with its length and its weight. Documents of equal shingles and another
//! text are distinct: their signatures are equal, so that they share all buckets, and the search finds them. A digest
//! of shingles was given up: it called texts identical whose operators differ, and to write the words one after
//! another cost as much as to merge the blanks of a text. Half of a digest serves as its hash in tables.

use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Texts in one buffer, with their end offsets. Collect one from an iterator of `&str`.
#[derive(Clone, Debug, Default)]
pub struct TextBatch {
    text: String,
    ends: Vec<usize>,
}

impl TextBatch {
    /// Appends one document.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Appends the document that `write` writes; if it returns `None`, discards what it wrote.
    #[doc(hidden)]
    pub fn push_with<T>(&mut self, write: impl FnOnce(&mut String) -> Option<T>) -> Option<T> {
        let start = self.text.len();
        let written = write(&mut self.text);
        match written {
            Some(_) => self.ends.push(self.text.len()),
            None => self.text.truncate(start),
        }
        written
    }

    /// Removes a document.
    #[doc(hidden)]
    pub fn remove(&mut self, i: usize) {
        let len = self.get(i).len();
        let end = self.ends.remove(i);
        self.text.drain(end - len..end);
        self.ends[i..].iter_mut().for_each(|end| *end -= len);
    }

    /// All texts, one after another, and their ends.
    #[doc(hidden)]
    pub fn into_parts(self) -> (String, Vec<usize>) {
        (self.text, self.ends)
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of document `i`.
    ///
    /// # Panics
    /// If `i` is not below the number of documents.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// All documents in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<'a> FromIterator<&'a str> for TextBatch {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut batch = TextBatch::default();
        texts.into_iter().for_each(|text| batch.push(text));
        batch
    }
}

/// Documents as lists of tokens: byte strings in one buffer, with the end offsets of tokens and documents.
///
/// ```
/// # use simgpu_base as simgpu;
/// use simgpu::documents::TokenBatch;
///
/// let mut batch = TokenBatch::default();
/// for token in ["minhash", "is", "sound"] {
///     batch.push_token(token.as_bytes());
/// }
/// batch.finish_document();
/// assert_eq!(batch.len(), 1);
/// assert_eq!(batch.tokens(0).len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct TokenBatch {
    bytes: Vec<u8>,
    token_ends: Vec<usize>,
    document_ends: Vec<usize>,
}

impl TokenBatch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.token_ends.clear();
        self.document_ends.clear();
    }

    /// Appends a token to the current document.
    pub fn push_token(&mut self, token: &[u8]) {
        self.bytes.extend_from_slice(token);
        self.token_ends.push(self.bytes.len());
    }

    /// Ends the current document and begins the next one.
    pub fn finish_document(&mut self) {
        self.document_ends.push(self.token_ends.len());
    }

    /// Appends all documents of another batch.
    #[doc(hidden)]
    pub fn append(&mut self, other: &TokenBatch) {
        let (bytes, tokens) = (self.bytes.len(), self.token_ends.len());
        self.bytes.extend_from_slice(&other.bytes);
        self.token_ends
            .extend(other.token_ends.iter().map(|end| bytes + end));
        self.document_ends
            .extend(other.document_ends.iter().map(|end| tokens + end));
    }

    /// Discards the tokens of the current document.
    pub fn abandon_document(&mut self) {
        let tokens = self.document_ends.last().copied().unwrap_or(0);
        self.token_ends.truncate(tokens);
        let bytes = self.token_ends.last().copied().unwrap_or(0);
        self.bytes.truncate(bytes);
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.document_ends.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.document_ends.is_empty()
    }

    /// The tokens of document `i` in order.
    ///
    /// # Panics
    /// If `i` is not below the number of documents.
    pub fn tokens(&self, i: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let first = if i == 0 { 0 } else { self.document_ends[i - 1] };
        (first..self.document_ends[i]).map(|token| {
            let start = if token == 0 {
                0
            } else {
                self.token_ends[token - 1]
            };
            &self.bytes[start..self.token_ends[token]]
        })
    }
}

/// Documents as lists of tokens with weights.
///
/// ```
/// # use simgpu_base as simgpu;
/// use simgpu::documents::WeightedBatch;
///
/// let mut batch = WeightedBatch::default();
/// batch.push_token(b"minhash", 2.5);
/// batch.push_token(b"is", 0.1);
/// batch.finish_document();
/// assert_eq!(batch.tokens(0).map(|(_, weight)| weight).sum::<f64>(), 2.6);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WeightedBatch {
    tokens: TokenBatch,
    /// The weight of each token.
    weights: Vec<f64>,
}

impl WeightedBatch {
    fn clear(&mut self) {
        self.tokens.clear();
        self.weights.clear();
    }

    /// Appends a token to the current document. Weights are finite and not negative; those of a token that a document
    /// has several times add up.
    pub fn push_token(&mut self, token: &[u8], weight: f64) {
        self.tokens.push_token(token);
        self.weights.push(weight);
    }

    /// Ends the current document and begins the next one.
    pub fn finish_document(&mut self) {
        self.tokens.finish_document();
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens of document `i` in order, with their weights.
    ///
    /// # Panics
    /// If `i` is not below the number of documents.
    pub fn tokens(&self, i: usize) -> impl ExactSizeIterator<Item = (&[u8], f64)> {
        let first = match i {
            0 => 0,
            _ => self.tokens.document_ends[i - 1],
        };
        let weights = self.weights[first..].iter().copied();
        self.tokens.tokens(i).zip(weights)
    }

    /// Appends a document: the tokens that `push_tokens` appends, with these weights. Appends nothing if it fails, or if
    /// there are not as many tokens as weights.
    #[doc(hidden)]
    pub fn push_with(
        &mut self,
        weights: &[f64],
        push_tokens: impl FnOnce(&mut TokenBatch) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = self.weights.len();
        push_tokens(&mut self.tokens)?;
        let tokens = self.tokens.token_ends.len() - before;
        if tokens != weights.len() {
            self.tokens.abandon_document();
            let weights = weights.len();
            return Err(format!(
                "the numbers of tokens and weights differ: {tokens} and {weights}"
            ));
        }
        self.weights.extend_from_slice(weights);
        self.tokens.finish_document();
        Ok(())
    }
}

/// A batch of texts, of token lists or of weighted tokens.
#[derive(Clone, Debug)]
pub enum DocumentBatch {
    /// Texts, which the shingler cuts into shingles.
    Texts(TextBatch),
    /// Lists of tokens, for `Unit::Tokens`.
    Tokens(TokenBatch),
    /// Lists of tokens with weights, for `Weighting::Given`.
    Weighted(WeightedBatch),
}

impl DocumentBatch {
    /// Removes all documents, keeps the memory and reserves `text_bytes` for texts.
    #[doc(hidden)]
    pub fn restart(&mut self, text_bytes: usize) {
        match self {
            DocumentBatch::Texts(texts) => {
                texts.text.clear();
                texts.text.reserve(text_bytes);
                texts.ends.clear();
            }
            DocumentBatch::Tokens(tokens) => tokens.clear(),
            DocumentBatch::Weighted(tokens) => tokens.clear(),
        }
    }

    /// Appends a document, if it has the form of the batch.
    #[doc(hidden)]
    pub fn push(&mut self, document: Document<'_>) {
        match (self, document) {
            (DocumentBatch::Texts(texts), Document::Text(text)) => texts.push(text),
            (DocumentBatch::Tokens(documents), Document::Tokens(tokens)) => {
                tokens.for_each(|token| documents.push_token(token));
                documents.finish_document();
            }
            (DocumentBatch::Weighted(documents), Document::Weighted(tokens)) => {
                tokens.for_each(|(token, weight)| documents.push_token(token, weight));
                documents.finish_document();
            }
            _ => {}
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        match self {
            DocumentBatch::Texts(texts) => texts.len(),
            DocumentBatch::Tokens(tokens) => tokens.len(),
            DocumentBatch::Weighted(tokens) => tokens.len(),
        }
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One document, borrowed from the collection that holds it.
pub enum Document<'a> {
    /// A text, which the shingler cuts into shingles.
    Text(&'a str),
    /// A list of tokens, for `Unit::Tokens`.
    Tokens(Box<dyn Iterator<Item = &'a [u8]> + 'a>),
    /// A list of tokens with weights, for `Weighting::Given`.
    Weighted(Box<dyn Iterator<Item = (&'a [u8], f64)> + 'a>),
}

impl Document<'_> {
    /// Bytes of text, or of all tokens.
    pub fn bytes(self) -> usize {
        match self {
            Document::Text(text) => text.len(),
            Document::Tokens(tokens) => tokens.map(<[u8]>::len).sum(),
            Document::Weighted(tokens) => tokens.map(|(token, _)| token.len()).sum(),
        }
    }
}

impl Document<'_> {
    /// The bytes of its text, by which documents are preferred.
    #[doc(hidden)]
    pub fn length(self) -> u32 {
        // Saturates: documents of 4 GiB and more count as equally long. Each length in memory is one of a document.
        u32::try_from(self.bytes()).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Document::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Document::Tokens(_) => f.debug_tuple("Tokens").finish_non_exhaustive(),
            Document::Weighted(_) => f.debug_tuple("Weighted").finish_non_exhaustive(),
        }
    }
}

/// Documents in memory, for `Engine::sign` and the runs of `search`.
///
/// Implemented for slices, arrays and vectors of strings, and for the batches of this module. Implement it for
/// your own container, such as a column of a data frame: documents are read where they lie, and none is copied on the
/// CPU. A run may read a document more than once.
///
/// ```
/// # use simgpu_base as simgpu;
/// use simgpu::documents::{Document, Documents};
///
/// /// A column of texts, back to back.
/// struct Column {
///     text: String,
///     offsets: Vec<usize>,
/// }
///
/// impl Documents for Column {
///     fn len(&self) -> usize {
///         self.offsets.len() - 1
///     }
///
///     fn get(&self, row: usize) -> Document<'_> {
///         Document::Text(&self.text[self.offsets[row]..self.offsets[row + 1]])
///     }
/// }
/// ```
pub trait Documents: Sync {
    /// Number of documents.
    fn len(&self) -> usize;

    /// Whether there is no document.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The document at `row`. A collection holds either texts, or lists of tokens, or lists of weighted tokens.
    ///
    /// # Panics
    /// Implementations may panic if `row` is not below [`Documents::len`].
    fn get(&self, row: usize) -> Document<'_>;

    /// What errors call the document at row 0: its row in the collection that this one is a part of.
    fn first_row(&self) -> usize {
        0
    }
}

impl<D: Documents + ?Sized> Documents for &D {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        (**self).get(row)
    }

    fn first_row(&self) -> usize {
        (**self).first_row()
    }
}

impl<T: AsRef<str> + Sync> Documents for [T] {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Text(self[row].as_ref())
    }
}

impl<T: AsRef<str> + Sync> Documents for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Text(self[row].as_ref())
    }
}

impl<T: AsRef<str> + Sync, const N: usize> Documents for [T; N] {
    fn len(&self) -> usize {
        N
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Text(self[row].as_ref())
    }
}

impl Documents for TextBatch {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Text(self.get(row))
    }
}

impl Documents for TokenBatch {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Tokens(Box::new(self.tokens(row)))
    }
}

impl Documents for WeightedBatch {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        Document::Weighted(Box::new(self.tokens(row)))
    }
}

impl Documents for DocumentBatch {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        match self {
            DocumentBatch::Texts(texts) => Documents::get(texts, row),
            DocumentBatch::Tokens(documents) => documents.get(row),
            DocumentBatch::Weighted(documents) => documents.get(row),
        }
    }
}

/// Consecutive documents of a collection.
pub struct DocumentRange<'a> {
    documents: &'a dyn Documents,
    rows: Range<usize>,
}

impl<'a> DocumentRange<'a> {
    /// The documents at `rows`, which must be rows of the collection.
    pub fn new(documents: &'a dyn Documents, rows: Range<usize>) -> Self {
        DocumentRange { documents, rows }
    }
}

impl std::fmt::Debug for DocumentRange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut range = f.debug_struct("DocumentRange");
        range.field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Documents for DocumentRange<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        self.documents.get(self.rows.start + row)
    }

    fn first_row(&self) -> usize {
        self.documents.first_row() + self.rows.start
    }
}

/// The first 128 bits of BLAKE3. Documents count as identical if the digests of their units are equal. Where only
/// signatures exist, the digests of their slots are compared instead.
#[doc(hidden)]
pub fn digest(bytes: &[u8]) -> u128 {
    let digest = blake3::hash(bytes);
    let mut low = [0; 16];
    low.copy_from_slice(&digest.as_bytes()[..16]);
    u128::from_le_bytes(low)
}

/// A map keyed by [`digest`]. Digests are already random, so they are not hashed a second time.
#[doc(hidden)]
pub type DigestMap<T> = std::collections::HashMap<u128, T, BuildHasherDefault<DigestHasher>>;

/// A set of digests.
#[doc(hidden)]
pub type DigestSet = std::collections::HashSet<u128, BuildHasherDefault<DigestHasher>>;

/// Uses the low half of a digest as its hash.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "half of the digest is random enough"
    )]
    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }
}
