//! Normalised texts, back to back.

use super::normalise::Bytes;
use super::shingler::Shingler;
use crate::simd::digests::DigestBatch;

/// Normalised texts, back to back in memory that is used again. A device takes them as they are.
#[derive(Debug, Default)]
pub(crate) struct NormalisedTexts {
    bytes: Bytes,
    ends: Vec<usize>,
}

impl NormalisedTexts {
    /// Removes all texts, and keeps the memory. There is room for so many bytes of text then.
    pub(crate) fn clear(&mut self, room: usize) {
        self.bytes.clear();
        self.bytes.reserve(room);
        self.ends.clear();
    }

    /// Appends a text, normalised as `shingler` does.
    pub(crate) fn push(&mut self, text: &str, shingler: &Shingler) {
        let normalise = shingler.shingling().normalise;
        normalise.append_to_bytes(shingler.isa, text, &mut self.bytes);
        self.ends.push(self.bytes.as_slice().len());
    }

    /// Bytes of memory for the texts.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a text.
    pub(crate) fn bytes(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes.as_slice()[start..self.ends[i]]
    }

    /// The digests of texts whose units are bytes or characters, as
    /// [`shingle_with_digests`](Shingler::shingle_with_digests) returns them.
    pub(crate) fn digests(&self, shingler: &Shingler) -> Vec<u128> {
        let mut digests = DigestBatch::default();
        (0..self.len()).for_each(|i| digests.push(shingler.isa, self.bytes(i)));
        digests.finish(shingler.isa)
    }
}
