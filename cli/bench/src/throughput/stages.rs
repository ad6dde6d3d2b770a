//! The stages around signing: shingling, banding, buckets, verification.

use std::sync::Arc;

use super::checksum::{checksum, checksum_of_slots};
use super::runner::Workload;
use simgpu::Result;
use simgpu::documents::{Document, TextBatch};
use simgpu::pipeline::{
    BandKeys, Banding, Buckets, Scratch, ShingleBatch, Shingler, Signatures, Similarity,
};
use simgpu::scheme::{Hashes, Slots, SlotsMut};
use simgpu::scheme::{Width, fmix64};

/// Texts to shingle hashes.
pub(super) struct Shingle {
    texts: Arc<TextBatch>,
    shingler: Shingler,
    scratch: Scratch,
    shingles: ShingleBatch,
}

impl Shingle {
    pub(super) fn new(texts: Arc<TextBatch>, shingler: Shingler) -> Self {
        Shingle {
            texts,
            scratch: Scratch::default(),
            shingles: ShingleBatch::new(shingler.width()),
            shingler,
        }
    }

    /// Number of shingles in all texts, and their checksum.
    pub(super) fn count_and_checksum(&mut self) -> Result<(u64, u64)> {
        self.pass()?;
        let count = self.shingles.sets().hashes().len() as u64;
        Ok((count, self.checksum()?))
    }
}

impl Workload for Shingle {
    fn pass(&mut self) -> Result<()> {
        self.shingles.clear();
        for text in self.texts.iter() {
            self.shingler
                .shingle_onto(Document::Text(text), &mut self.scratch, &mut self.shingles);
        }
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        Ok(checksum_of_slots(match self.shingles.sets().hashes() {
            Hashes::U32(hashes) => Slots::U32(hashes),
            Hashes::U64(hashes) => Slots::U64(hashes),
        }))
    }
}

/// Signatures to band keys.
pub(super) struct Band {
    signatures: Arc<Signatures>,
    keys: BandKeys,
}

impl Band {
    pub(super) fn new(signatures: Arc<Signatures>, banding: Banding) -> Self {
        Band {
            signatures,
            keys: BandKeys::new(banding),
        }
    }
}

impl Workload for Band {
    fn pass(&mut self) -> Result<()> {
        let mut keys = BandKeys::new(self.keys.banding());
        keys.push(&self.signatures);
        self.keys = keys;
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        let bands = 0..self.keys.banding().bands();
        let keys = bands.flat_map(|band| self.keys.column(band));
        Ok(checksum(keys.copied()))
    }
}

/// The keys of one band to buckets.
pub(super) struct Bucket {
    keys: BandKeys,
    buckets: Option<Buckets>,
}

impl Bucket {
    /// A tenth of the documents share their key with one other.
    ///
    /// # Errors
    /// None: this banding is valid.
    pub(super) fn new(documents: u32) -> Result<Self> {
        let distinct = u64::from(documents / 20 * 19).max(1);
        let slot = |document, _| fmix64(document % distinct);
        let signatures = signatures(documents, 1, Width::U64, slot);
        let mut keys = BandKeys::new(Banding::new(1, 1, 1)?);
        keys.push(&signatures);
        Ok(Bucket {
            keys,
            buckets: None,
        })
    }
}

impl Workload for Bucket {
    fn pass(&mut self) -> Result<()> {
        // The copy takes a small part of the time of the sort.
        self.buckets = Some(Buckets::of(self.keys.clone(), &mut |_| Ok(()))?);
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        let positions = self.buckets.iter().flat_map(Buckets::positions);
        Ok(checksum(positions.map(|position| u64::from(*position))))
    }
}

/// Signatures to the similarities of candidate pairs, as many as there are documents.
pub(super) struct Verify {
    signatures: Arc<Signatures>,
    pairs: Vec<(u32, u32)>,
    similarities: Vec<Option<f64>>,
}

impl Verify {
    /// Pairs in the order of a band: sorted by first document, with a random second one.
    pub(super) fn new(signatures: Arc<Signatures>) -> Self {
        let documents = signatures.len() as u64;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a remainder of documents, whose numbers are u32"
        )]
        let any = |i: u64| (fmix64(i) % documents) as u32;
        let pairs = (0..documents).map(|i| (any(2 * i), any(2 * i + 1)));
        let mut pairs: Vec<_> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        Verify {
            signatures,
            pairs,
            similarities: Vec::new(),
        }
    }
}

impl Workload for Verify {
    fn pass(&mut self) -> Result<()> {
        self.similarities = self.signatures.of_pairs(&self.pairs)?;
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        Ok(checksum(
            self.similarities.iter().flatten().map(|s| s.to_bits()),
        ))
    }
}

/// Signatures of documents; any two agree in 9/16 of their slots.
pub(super) fn random_signatures(documents: u32, num_perm: usize) -> Signatures {
    signatures(documents, num_perm, Width::U32, |document, k| {
        let differs = fmix64(document << 32 | k).is_multiple_of(4);
        fmix64(k + u64::from(differs) * (document << 32))
    })
}

/// Signatures whose slots are `slot(document, k)`.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
fn signatures(
    documents: u32,
    num_perm: usize,
    width: Width,
    slot: impl Fn(u64, u64) -> u64,
) -> Signatures {
    let mut signatures = Signatures::new(num_perm, width);
    let documents = u64::from(documents);
    let values = (0..documents).flat_map(|document| {
        let slot = &slot;
        (0..num_perm as u64).map(move |k| slot(document, k))
    });
    match signatures.push_rows(documents as usize).into_slots() {
        SlotsMut::U32(slots) => slots
            .iter_mut()
            .zip(values)
            .for_each(|(to, x)| *to = x as u32),
        SlotsMut::U64(slots) => slots.iter_mut().zip(values).for_each(|(to, x)| *to = x),
    }
    signatures
}
