//! What a device signs: sets of hashes, or texts, one document at a time.

use std::ops::Range;

use super::load::Document;
use crate::documents::{Document as Input, Documents, Rows};
use crate::error::Result;
use crate::pipeline::{NormalisedTexts, ShingleSets, Shingler, SignaturesMut, Signer, TextWindow};
use crate::scheme::Hashes;

/// The documents of a call.
pub(super) trait DeviceWork: Sync {
    /// Number of documents.
    fn len(&self) -> usize;

    /// Bytes of document `i`, as a measure of its work.
    fn bytes(&self, i: usize) -> usize;

    /// Lays out a range of documents; `None` stands for one that the CPU has to sign. Texts are normalised into `texts`.
    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        texts: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>>;

    /// Signs a range of documents by a signer of the CPU.
    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()>;
}

/// Sets of shingle hashes.
pub(super) struct HashedSets<'a>(pub(super) &'a ShingleSets<'a>);

impl DeviceWork for HashedSets<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self, i: usize) -> usize {
        4 * self.0.range(i).len()
    }

    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        _: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>> {
        let lay_out = |i| {
            let range = self.0.range(i);
            let count = range.len();
            let (bytes, width): (&[u8], _) = match self.0.hashes() {
                Hashes::U32(hashes) => (bytemuck::cast_slice(&hashes[range]), 4),
                Hashes::U64(hashes) => (bytemuck::cast_slice(&hashes[range]), 8),
            };
            Some(Document {
                bytes,
                stride: width,
                window_bytes: width,
                count,
            })
        };
        range.map(lay_out).collect()
    }

    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        let ranges = || range.clone().map(|i| self.0.range(i));
        let start = ranges().next().map_or(0, |first| first.start);
        let ends = ranges().map(|range| (range.end - start) as i64);
        let offsets: Vec<i64> = [0].into_iter().chain(ends).collect();
        let hashes = start..ranges().next_back().map_or(start, |last| last.end);
        let hashes = match self.0.hashes() {
            Hashes::U32(all) => Hashes::U32(&all[hashes]),
            Hashes::U64(all) => Hashes::U64(&all[hashes]),
        };
        cpu.sign_sets(&ShingleSets::new(hashes, &offsets)?, signatures)
    }
}

/// Texts whose shingles are windows of bytes or characters.
pub(super) struct Texts<'a> {
    pub(super) texts: &'a dyn Documents,
    pub(super) shingler: &'a Shingler,
    pub(super) window: TextWindow,
}

/// Lays out a normalised text; `None` if it has shingles, but fewer units than a window.
pub(super) fn laid_out(bytes: &[u8], window: TextWindow) -> Option<Document<'_>> {
    let (window_bytes, count) = match window {
        TextWindow::Bytes(size) => (size, (bytes.len() + 1).saturating_sub(size)),
        // A window that begins inside of a character is that of the next one.
        TextWindow::Chars(size) => (
            4 * size + 3,
            last_window(bytes, size).map_or(0, |at| at + 1),
        ),
    };
    (count > 0 || bytes.is_empty()).then_some(Document {
        bytes,
        stride: 1,
        window_bytes: window_bytes.min(bytes.len()),
        count,
    })
}

/// Where the last window of `size` characters begins.
fn last_window(utf8: &[u8], size: usize) -> Option<usize> {
    let is_start = |(at, byte): (usize, &u8)| (byte & 0xC0 != 0x80).then_some(at);
    let mut starts = utf8.iter().enumerate().rev().filter_map(is_start);
    starts.nth(size - 1)
}

impl DeviceWork for Texts<'_> {
    fn len(&self) -> usize {
        self.texts.len()
    }

    fn bytes(&self, i: usize) -> usize {
        self.texts.get(i).bytes()
    }

    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        texts: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>> {
        texts.clear(range.clone().map(|i| self.bytes(i)).sum());
        for i in range {
            // Callers check the form of documents.
            if let Input::Text(text) = self.texts.get(i) {
                texts.push(text, self.shingler);
            }
        }
        let texts = &*texts;
        let lay_out = |i| laid_out(texts.bytes(i), self.window);
        (0..texts.len()).map(lay_out).collect()
    }

    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        cpu.sign_documents(&Rows::new(self.texts, range), self.shingler, signatures)
    }
}
