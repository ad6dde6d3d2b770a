//! documents -> shingle sets (MMDS 3.2).
//!
//! A document's shingles are the windows of `size` consecutive units, hashed to 32 or 64 bits. The
//! set is left as a list in text order: repeats change no minimum, and sorting them out would cost
//! more than signing them again.

mod normalise;

mod words;

mod stop_words;

mod sequence;

mod sets;

use std::fmt;
use std::num::NonZeroUsize;

pub use normalise::Normalise;
use sequence::{JoinedWords, UnitSequence};
use sets::HashVec;
pub use sets::{Hashes, ShingleBatch, ShingleSets};
pub use stop_words::StopWords;
use words::Words;
pub use words::for_each_word;

use super::document::DocumentBatch;
use crate::error::{Error, Result};
use crate::scheme::{BaseHash, HashValue, Scheme, Width, words_v1};

/// What a document is cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the normalised UTF-8 text.
    Bytes,
    /// Unicode scalar values of the normalised text.
    Chars,
    /// UAX #29 words that hold an alphanumeric character.
    Words,
    /// A stop word and the next two words; an incomplete last one is left out (MMDS 3.2.4).
    StopWords(StopWords),
    /// Tokens that the documents bring along; every token is an element of the set.
    Tokens,
}

impl Unit {
    /// The number of units in a shingle, unless it is asked for.
    pub fn default_size(&self) -> NonZeroUsize {
        let size = match self {
            Unit::Bytes | Unit::Chars => 9,
            Unit::Words => 5,
            Unit::StopWords(_) => 3,
            Unit::Tokens => 1,
        };
        NonZeroUsize::MIN.saturating_add(size - 1)
    }

    /// Whether the size of a shingle may be chosen.
    pub fn takes_size(&self) -> bool {
        matches!(self, Unit::Bytes | Unit::Chars | Unit::Words)
    }

    /// Whether its shingles are made of words, whose boundaries Unicode decides.
    pub fn is_made_of_words(&self) -> bool {
        matches!(self, Unit::Words | Unit::StopWords(_))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Bytes => "bytes",
            Unit::Chars => "chars",
            Unit::Words => "words",
            Unit::StopWords(_) => "stopwords",
            Unit::Tokens => "tokens",
        })
    }
}

/// How documents become sets: the part of a run's parameters that the shingles depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// What a document is cut into.
    pub unit: Unit,
    /// Units in one shingle; only where [`Unit::takes_size`].
    pub size: NonZeroUsize,
    /// What is done to the text first.
    pub normalise: Normalise,
}

impl Shingling {
    /// Shingles of `unit`, of its default size, white space merged.
    pub fn of(unit: Unit) -> Self {
        Shingling {
            size: unit.default_size(),
            unit,
            normalise: Normalise::default(),
        }
    }
}

impl Default for Shingling {
    /// Five words.
    fn default() -> Self {
        Shingling::of(Unit::Words)
    }
}

/// Cuts documents into shingles and hashes them.
///
/// ```
/// use simgpu::pipeline::{Shingler, Shingling, Unit};
/// use simgpu::scheme::{BaseHash, Scheme};
///
/// let mut shingling = Shingling::of(Unit::Bytes);
/// shingling.size = 2.try_into()?;
/// let shingler = Shingler::new(shingling, &Scheme::default(), None)?;
/// let shingles = shingler.shingle(&["abcdabd"].into_iter().collect());
/// assert_eq!(shingles.sets().len(), 1); // {ab, bc, cd, da, bd}
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shingler {
    shingling: Shingling,
    hash: BaseHash,
    width: Width,
}

impl Shingler {
    /// Prepares `shingling` with the base hash that `hash` or the scheme prescribes, or else the
    /// native one: `words-v1` for words, murmur3 for everything else.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the hash does not yield the scheme's width or does not fit the unit.
    pub fn new(shingling: Shingling, scheme: &Scheme, hash: Option<BaseHash>) -> Result<Self> {
        let width = scheme.family().hash_width();
        let native = match (shingling.unit.is_made_of_words(), width) {
            (true, _) => BaseHash::WordsV1,
            (false, Width::U32) => BaseHash::Murmur3_32,
            (false, Width::U64) => BaseHash::Murmur3_128,
        };
        let hash = hash.or(scheme.prescribed_hash()).unwrap_or(native);
        if !hash.yields(width) {
            let wanted = 8 * width.bytes();
            return Err(Error::Conflict(format!(
                "base hash {hash} does not yield the {wanted}-bit values that scheme {scheme} takes; choose another hash"
            )));
        }
        if hash == BaseHash::WordsV1 && matches!(shingling.unit, Unit::Bytes | Unit::Chars) {
            let unit = &shingling.unit;
            return Err(Error::Conflict(format!(
                "base hash words-v1 takes words, not {unit}; choose murmur3-32 or another unit"
            )));
        }
        Ok(Shingler {
            shingling,
            hash,
            width,
        })
    }

    /// How documents become sets.
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

    /// The shingle sets of a batch of texts.
    pub fn shingle(&self, texts: &super::TextBatch) -> ShingleBatch {
        let mut batch = ShingleBatch::new(self.width);
        let mut scratch = Scratch::default();
        for text in texts.iter() {
            match &mut batch.hashes {
                HashVec::U32(out) => self.shingle_text(self.hash, text, &mut scratch, out),
                HashVec::U64(out) => self.shingle_text(self.hash, text, &mut scratch, out),
            }
            batch.end_set();
        }
        batch
    }

    /// The shingle sets of a batch of documents, and for each the digest of its unit sequence.
    ///
    /// Two documents have one digest exactly if they are the same sequence of units, up to the
    /// collisions of 128 bits of BLAKE3.
    pub fn shingle_with_digests(
        &self,
        documents: &DocumentBatch,
        scratch: &mut Scratch,
    ) -> (ShingleBatch, Vec<u128>) {
        let mut batch = ShingleBatch::new(self.width);
        let mut digests = Vec::with_capacity(documents.len());
        for i in 0..documents.len() {
            match &mut batch.hashes {
                HashVec::U32(out) => self.shingle_into(self.hash, documents, i, scratch, out),
                HashVec::U64(out) => self.shingle_into(self.hash, documents, i, scratch, out),
            }
            digests.push(scratch.digest());
            batch.end_set();
        }
        (batch, digests)
    }

    /// The set of document `i` as sorted distinct 64-bit hashes, the same whatever the base hash of
    /// the scheme: what exact similarities are computed from.
    pub fn exact_set(
        &self,
        documents: &DocumentBatch,
        i: usize,
        scratch: &mut Scratch,
        set: &mut Vec<u64>,
    ) {
        set.clear();
        let hash = if self.shingling.unit.is_made_of_words() {
            BaseHash::WordsV1
        } else {
            BaseHash::Murmur3_128
        };
        self.shingle_into(hash, documents, i, scratch, set);
        set.sort_unstable();
        set.dedup();
    }

    fn shingle_into<H: HashValue>(
        &self,
        hash: BaseHash,
        documents: &DocumentBatch,
        i: usize,
        scratch: &mut Scratch,
        out: &mut Vec<H>,
    ) {
        match documents {
            DocumentBatch::Texts(texts) => self.shingle_text(hash, texts.get(i), scratch, out),
            DocumentBatch::Tokens(tokens) => {
                scratch.sequence.clear();
                for token in tokens.tokens(i) {
                    scratch.sequence.push_prefixed(token);
                    out.push(H::of_bytes(hash, token));
                }
            }
        }
    }

    fn shingle_text<H: HashValue>(
        &self,
        hash: BaseHash,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Vec<H>,
    ) {
        let size = self.shingling.size.get();
        let normalise = self.shingling.normalise;
        scratch.sequence.clear();
        match &self.shingling.unit {
            Unit::Bytes => {
                normalise.apply(text, &mut scratch.normalised);
                let bytes = scratch.normalised.as_bytes();
                for_each_window(bytes, size, |window| out.push(H::of_bytes(hash, window)));
            }
            Unit::Chars => {
                normalise.apply(text, &mut scratch.normalised);
                let text = &scratch.normalised;
                for_each_char_window(text, size, |window| out.push(H::of_bytes(hash, window)));
            }
            Unit::Words | Unit::StopWords(_) => {
                self.find_words(hash, text, scratch);
                self.shingle_words(hash, scratch, out);
            }
            // A text where tokens were expected cannot come from a reader; it is one token.
            Unit::Tokens => {
                scratch.sequence.push_prefixed(text.as_bytes());
                out.push(H::of_bytes(hash, text.as_bytes()));
            }
        }
    }

    /// Fills `scratch` with what the shingles of words are made from.
    fn find_words(&self, hash: BaseHash, text: &str, scratch: &mut Scratch) {
        let normalise = self.shingling.normalise;
        let Scratch {
            normalised,
            sequence,
            words,
            word_hashes,
            is_stop,
            joined,
        } = scratch;
        let text = if normalise.changes_letters() {
            normalise.apply(text, normalised);
            normalised
        } else {
            text
        };
        words.find(text, !normalise.keep_whitespace);
        word_hashes.clear();
        joined.clear();
        is_stop.clear();
        if let Unit::StopWords(stop_words) = &self.shingling.unit {
            is_stop.extend(
                words
                    .iter(text)
                    .map(|word| stop_words.contains(word.bytes())),
            );
        }
        if hash == BaseHash::WordsV1 {
            let mut sequence = sequence.of_words(text.len());
            word_hashes.extend(words.iter(text).map(|word| {
                let start = words_v1::Start::of(word.onwards, word.len);
                sequence.push(word, start);
                words_v1::word_with_start(word.bytes(), start)
            }));
        } else {
            let mut sequence = sequence.of_words(text.len());
            for word in words.iter(text) {
                sequence.push(word, words_v1::Start::of(word.onwards, word.len));
                joined.push(word.bytes());
            }
        }
    }

    fn shingle_words<H: HashValue>(&self, hash: BaseHash, scratch: &Scratch, out: &mut Vec<H>) {
        let size = self.shingling.size.get();
        let (words, joined) = (&scratch.word_hashes, &scratch.joined);
        let stops = (0..scratch.is_stop.len().saturating_sub(size - 1))
            .filter(|word| scratch.is_stop[*word])
            .map(|word| word..word + size);
        match (&self.shingling.unit, hash) {
            (Unit::StopWords(_), BaseHash::WordsV1) => out.extend(
                stops.map(|span| H::of_words(words_v1::shingle(words[span].iter().copied()))),
            ),
            (Unit::StopWords(_), _) => {
                out.extend(stops.map(|span| H::of_bytes(hash, joined.span(span))));
            }
            (_, BaseHash::WordsV1) => {
                out.reserve(words.len());
                words_v1::for_each_shingle(words, size, |value| out.push(H::of_words(value)));
            }
            _ if joined.len() == 0 => {}
            _ => {
                let size = size.min(joined.len());
                let spans = (0..=joined.len() - size).map(|first| first..first + size);
                out.extend(spans.map(|span| H::of_bytes(hash, joined.span(span))));
            }
        }
    }
}

/// Calls `emit` with every window of `size` bytes; a shorter text is one window, an empty one none.
fn for_each_window(bytes: &[u8], size: usize, mut emit: impl FnMut(&[u8])) {
    if bytes.is_empty() {
    } else if bytes.len() <= size {
        emit(bytes);
    } else {
        bytes.windows(size).for_each(emit);
    }
}

/// The same for windows of `size` characters.
fn for_each_char_window(text: &str, size: usize, mut emit: impl FnMut(&[u8])) {
    if text.is_ascii() {
        return for_each_window(text.as_bytes(), size, emit);
    }
    let bytes = text.as_bytes();
    let starts = || text.char_indices().map(|(start, _)| start);
    let ends = starts().skip(size).chain([text.len()]);
    for (start, end) in starts().zip(ends) {
        emit(&bytes[start..end]);
    }
}

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    normalised: String,
    sequence: UnitSequence,
    words: Words,
    word_hashes: Vec<u64>,
    is_stop: Vec<bool>,
    joined: JoinedWords,
}

impl Scratch {
    /// 128 bits of BLAKE3 over the unit sequence of the document shingled last.
    fn digest(&self) -> u128 {
        let bytes = match self.sequence.len {
            0 => self.normalised.as_bytes(),
            len => &self.sequence.bytes[..len],
        };
        let digest = blake3::hash(bytes);
        let mut low = [0; 16];
        low.copy_from_slice(&digest.as_bytes()[..16]);
        u128::from_le_bytes(low)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextBatch;
    use super::*;

    fn windows(text: &str, size: usize) -> Vec<String> {
        let mut windows = Vec::new();
        for_each_char_window(text, size, |window| {
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
    fn digests_tell_unit_sequences_apart() {
        let shingler = Shingler::new(Shingling::default(), &Scheme::default(), None).unwrap();
        let texts = [
            "one two",
            "one, two!",
            "two one",
            "onetwo",
            "",
            "?!",
            &"x ".repeat(99),
        ];
        let documents = DocumentBatch::Texts(texts.into_iter().collect());
        let (_, digests) = shingler.shingle_with_digests(&documents, &mut Scratch::default());
        assert_eq!(digests[0], digests[1]);
        assert_eq!(digests[4], digests[5]);
        for (i, j) in [(0, 2), (0, 3), (2, 3), (0, 4), (3, 6)] {
            assert_ne!(digests[i], digests[j], "{:?} {:?}", texts[i], texts[j]);
        }
    }

    #[test]
    fn byte_hashes_of_words_read_them_joined_by_one_blank() {
        let scheme = Scheme::default();
        let hash = Some(BaseHash::Sha1_32);
        let shingler = Shingler::new(Shingling::default(), &scheme, hash).unwrap();
        let texts: TextBatch = ["a  b c, d e f", "a b"].into_iter().collect();
        let batch = shingler.shingle(&texts);
        let Hashes::U32(hashes) = batch.sets().hashes() else {
            panic!("affine32 takes 32 bits")
        };
        let expected =
            ["a b c d e", "b c d e f", "a b"].map(|s| crate::scheme::sha1_32(s.as_bytes()));
        assert_eq!(hashes, expected);
    }
}
