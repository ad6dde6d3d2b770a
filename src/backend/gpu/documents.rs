//! What a device signs: sets of hashes, or texts, one document at a time.
//!
//! Word hashes are not sent: a shingle hash has 4 bytes, a word hash 8, and to join word hashes takes at most 7 % of
//! shingling (`results/2026-11-22-amd-epyc-2-cores/device.md`). So the CPU makes shingles of words. A text shorter
//! than a window is signed by the CPU, too.

use std::ops::Range;

use super::load::Document;
use crate::documents::{Document as Input, DocumentRange, Documents};
use crate::error::Result;
use crate::pipeline::device::TextWindow;
use crate::pipeline::{
    DeviceBatch, NormalisedTexts, ShingleBatch, ShingleSets, Shingler, SignaturesMut, Signer,
};
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

/// Lays out sets of hashes, one after the other.
fn laid_out_sets<'d>(sets: ShingleSets<'d>, range: Range<usize>) -> Vec<Option<Document<'d>>> {
    let lay_out = |i| {
        let range = sets.range(i);
        let count = range.len();
        let (bytes, width): (&'d [u8], _) = match sets.hashes() {
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

/// Sets of shingle hashes.
impl DeviceWork for ShingleSets<'_> {
    fn len(&self) -> usize {
        ShingleSets::len(self)
    }

    fn bytes(&self, i: usize) -> usize {
        4 * self.range(i).len()
    }

    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        _: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>> {
        laid_out_sets(*self, range)
    }

    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        let ranges = || range.clone().map(|i| self.range(i));
        let start = ranges().next().map_or(0, |first| first.start);
        let ends = ranges().map(|range| (range.end - start) as i64);
        let offsets: Vec<i64> = [0].into_iter().chain(ends).collect();
        let hashes = start..ranges().next_back().map_or(start, |last| last.end);
        let hashes = match self.hashes() {
            Hashes::U32(all) => Hashes::U32(&all[hashes]),
            Hashes::U64(all) => Hashes::U64(&all[hashes]),
        };
        cpu.sign_sets(&ShingleSets::new(hashes, &offsets)?, signatures)
    }
}

/// Texts whose shingles are windows of bytes or characters.
pub(crate) struct Texts<'a> {
    pub(super) texts: &'a dyn Documents,
    pub(super) shingler: &'a Shingler,
    pub(super) window: TextWindow,
}

/// Lays out a normalised text; `None` if it has shingles, but fewer units than a window.
fn laid_out(bytes: &[u8], window: TextWindow) -> Option<Document<'_>> {
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
        cpu.sign_documents(
            &DocumentRange::new(self.texts, range),
            self.shingler,
            signatures,
        )
    }
}

/// Sets of shingle hashes that a run hands over.
impl DeviceWork for ShingleBatch {
    fn len(&self) -> usize {
        self.sets().len()
    }

    fn bytes(&self, i: usize) -> usize {
        self.sets().bytes(i)
    }

    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        _: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>> {
        laid_out_sets(self.sets(), range)
    }

    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        self.sets().sign_on(cpu, range, signatures)
    }
}

impl From<ShingleBatch> for DeviceBatch {
    fn from(sets: ShingleBatch) -> Self {
        DeviceBatch::Sets(sets)
    }
}

/// Normalised texts that a run hands over.
pub(super) struct ChosenTexts {
    pub(super) texts: NormalisedTexts,
    /// The texts that are documents.
    pub(super) chosen: Vec<usize>,
    /// Shingles normalised texts.
    pub(super) shingler: Shingler,
    pub(super) window: TextWindow,
}

impl DeviceWork for ChosenTexts {
    fn len(&self) -> usize {
        self.chosen.len()
    }

    fn bytes(&self, i: usize) -> usize {
        self.texts.bytes(self.chosen[i]).len()
    }

    fn lay_out<'d>(
        &'d self,
        range: Range<usize>,
        _: &'d mut NormalisedTexts,
    ) -> Vec<Option<Document<'d>>> {
        let chosen = self.chosen[range].iter();
        let texts = chosen.map(|i| self.texts.bytes(*i));
        texts.map(|text| laid_out(text, self.window)).collect()
    }

    fn sign_on(
        &self,
        cpu: &dyn Signer,
        range: Range<usize>,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        let texts: Vec<_> = self.chosen[range]
            .iter()
            .map(|i| self.texts.text(*i))
            .collect();
        cpu.sign_documents(&&texts[..], &self.shingler, signatures)
    }
}

impl From<ChosenTexts> for DeviceBatch {
    fn from(ChosenTexts { texts, chosen, .. }: ChosenTexts) -> Self {
        DeviceBatch::Texts { texts, chosen }
    }
}
