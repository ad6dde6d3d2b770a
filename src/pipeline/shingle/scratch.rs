//! Memory of the shingler.

use super::normalise::Bytes;
use super::sequence::{JoinedWords, UnitSequence};
use super::words::Words;
use crate::documents::digest;
use crate::simd::windows::Windows;

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) normalised: Bytes,
    pub(super) windows: Windows,
    pub(super) sequence: UnitSequence,
    pub(super) words: WordScratch,
    pub(super) word_hashes: Vec<u64>,
    pub(super) is_stop: Vec<bool>,
    pub(super) joined: JoinedWords,
    pub(super) narrow_pieces: Vec<u32>,
    pub(super) wide_pieces: Vec<u64>,
    /// Whether the digest of the next document is wanted.
    pub(super) is_digested: bool,
    /// Whether it is the one of the normalised text, and not of the unit sequence.
    pub(super) digests_normalised: bool,
}

/// What words are found with.
#[derive(Debug, Default)]
pub(super) struct WordScratch {
    pub(super) text: String,
    pub(super) found: Words,
}

impl Scratch {
    pub(super) fn begin(&mut self) {
        self.sequence.clear();
        self.digests_normalised = false;
    }

    pub(super) fn push_token(&mut self, token: &[u8]) {
        if self.is_digested {
            self.sequence.push_prefixed(token);
        }
    }

    /// 128 bits of BLAKE3 over the unit sequence of the document shingled last.
    pub(super) fn digest(&self) -> u128 {
        let bytes = match self.digests_normalised {
            true => self.normalised.as_slice(),
            false => self.sequence.as_slice(),
        };
        digest(bytes)
    }
}
