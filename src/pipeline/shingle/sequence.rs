//! The units of one document in order, as byte strings.

use super::words::Word;
use crate::scheme::words_v1;

/// A document's units in one byte string that no other sequence of units has.
#[derive(Debug, Default)]
pub(super) struct UnitSequence {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
}

impl UnitSequence {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for the words of a text of `text_len` bytes, each with one byte more, and for the
    /// start of the last one.
    pub(super) fn of_words(&mut self, text_len: usize) -> WordSequence<'_> {
        let room = 2 * text_len + words_v1::Start::LEN + 1;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        self.len = 0;
        WordSequence {
            bytes: &mut self.bytes,
            at: 0,
            len: &mut self.len,
        }
    }

    /// Appends a byte string and its length.
    pub(super) fn push_prefixed(&mut self, bytes: &[u8]) {
        self.bytes.truncate(self.len);
        self.bytes
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        self.len = self.bytes.len();
    }
}

/// A unit sequence that is being built from words.
pub(super) struct WordSequence<'a> {
    bytes: &'a mut [u8],
    at: usize,
    len: &'a mut usize,
}

impl WordSequence<'_> {
    /// Appends a word and a byte that no UTF-8 text holds.
    #[inline(always)]
    pub(super) fn push(&mut self, word: Word<'_>, start: words_v1::Start) {
        let end = self.at + word.len;
        // Most words fit their start, and a copy of a fixed length is one instruction.
        if let Some(room) = self.bytes[self.at..].first_chunk_mut() {
            *room = start.to_le_bytes();
        }
        if word.len > words_v1::Start::LEN {
            self.bytes[self.at..end].copy_from_slice(word.bytes());
        }
        self.bytes[end] = 0xFF;
        self.at = end + 1;
    }
}

impl Drop for WordSequence<'_> {
    fn drop(&mut self) {
        *self.len = self.at;
    }
}

/// Words joined by one blank, for base hashes that read the bytes of a whole shingle.
#[derive(Debug, Default)]
pub(super) struct JoinedWords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl JoinedWords {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(super) fn push(&mut self, word: &[u8]) {
        if !self.ends.is_empty() {
            self.bytes.push(b' ');
        }
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn span(&self, words: std::ops::Range<usize>) -> &[u8] {
        let start = if words.start == 0 {
            0
        } else {
            self.ends[words.start - 1] + 1
        };
        &self.bytes[start..self.ends[words.end - 1]]
    }
}
