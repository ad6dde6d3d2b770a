//! Reusable memory of the shingler.

use super::normalise::Bytes;
use super::occurrences::{Distinct, Occurrences};
use super::sequence::{JoinedWords, TokenSequence};
use super::words::Words;
use crate::simd::Isa;
use crate::simd::digests::DigestBatch;
use crate::simd::windows::Windows;

/// Memory that a [`Shingler`](super::Shingler) reuses from document to document. Keep one per thread.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) normalised: Bytes,
    pub(super) windows: Windows,
    pub(super) tokens: TokenSequence,
    pub(super) words: WordScratch,
    pub(super) word_hashes: Vec<u64>,
    pub(super) is_stop: Vec<bool>,
    pub(super) joined: JoinedWords,
    pub(super) narrow_pieces: Vec<u32>,
    pub(super) wide_pieces: Vec<u64>,
    pub(super) occurrences: Occurrences,
    pub(super) distinct: Distinct,
    pub(super) digests: DigestBatch,
    /// Whether to compute the digest of the next document.
    pub(super) is_digested: bool,
    /// Whether the document is a text: its normalised text is digested then, and otherwise its list of tokens.
    pub(super) digests_normalised: bool,
}

/// Memory for finding words.
#[derive(Debug, Default)]
pub(super) struct WordScratch {
    pub(super) text: String,
    pub(super) found: Words,
}

impl Scratch {
    pub(super) fn begin(&mut self) {
        self.tokens.clear();
        self.digests_normalised = false;
    }

    pub(super) fn push_token(&mut self, token: &[u8]) {
        if self.is_digested {
            self.tokens.push(token);
        }
    }

    pub(super) fn push_weighted_token(&mut self, token: &[u8], weight: u64) {
        if self.is_digested {
            self.tokens.push(token);
            self.tokens.push_number(weight);
        }
    }

    /// Takes the normalised text, or the list of tokens, of the last document for [`DigestBatch::finish`].
    pub(super) fn add_to_digests(&mut self, isa: Isa) {
        let bytes = if self.digests_normalised {
            self.normalised.as_slice()
        } else {
            self.tokens.as_slice()
        };
        self.digests.push(isa, bytes);
    }
}
