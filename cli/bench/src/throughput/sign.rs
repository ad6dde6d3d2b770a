//! Shingle hashes and texts to signatures.

use std::sync::Arc;

use super::checksum::checksum_of_slots;
use super::runner::Workload;
use crate::targets::check_notices;
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::internals::ceiling;
use simgpu::pipeline::{ShingleSets, Shingler, Signatures, SignaturesMut, Signer};
use simgpu::scheme::Hashes;
use simgpu::scheme::{Family, Scheme, Width, fmix64};
use simgpu::simd::Isa;

/// Documents with the same number of random shingle hashes each.
#[derive(Debug)]
pub(super) struct RandomHashes {
    hashes: HashVec,
    offsets: Vec<i64>,
}

#[derive(Debug)]
enum HashVec {
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl RandomHashes {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    pub(super) fn new(documents: usize, shingles: usize, width: Width) -> Self {
        let hashes = (0..(documents * shingles) as u64).map(fmix64);
        RandomHashes {
            hashes: match width {
                Width::U32 => HashVec::U32(hashes.map(|hash| hash as u32).collect()),
                Width::U64 => HashVec::U64(hashes.collect()),
            },
            offsets: (0..=documents).map(|i| (i * shingles) as i64).collect(),
        }
    }

    pub(super) fn sets(&self) -> Result<ShingleSets<'_>> {
        let hashes = match &self.hashes {
            HashVec::U32(hashes) => Hashes::U32(hashes),
            HashVec::U64(hashes) => Hashes::U64(hashes),
        };
        ShingleSets::new(hashes, &self.offsets)
    }
}

/// A signer with signatures that every pass overwrites.
pub(super) struct BufferedSigner {
    signer: Arc<dyn Signer>,
    signatures: Signatures,
}

impl BufferedSigner {
    pub(super) fn new(signer: Arc<dyn Signer>, documents: usize) -> Self {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signatures.push_rows(documents);
        BufferedSigner { signer, signatures }
    }

    fn sign(
        &mut self,
        sign: impl FnOnce(&dyn Signer, SignaturesMut<'_>) -> Result<()>,
    ) -> Result<()> {
        let num_perm = self.signatures.num_perm();
        let rows = SignaturesMut::new(num_perm, self.signatures.slots_mut())?;
        sign(&*self.signer, rows)
    }

    fn checksum(&self) -> Result<u64> {
        check_notices(&*self.signer)?;
        Ok(checksum_of_slots(self.signatures.slots()))
    }
}

/// Checksum of the definition's signatures, computed on all threads.
pub(super) fn expected_checksum(scheme: &Scheme, sets: &ShingleSets<'_>) -> Result<u64> {
    let scalar = Backend::Scalar.signer(scheme)?;
    let mut signatures = Signatures::new(scalar.num_perm(), scalar.slot_width());
    signatures.sign(&*scalar, sets)?;
    Ok(checksum_of_slots(signatures.slots()))
}

/// Shingle hashes in memory to signatures.
pub(super) struct SignHashes {
    pub(super) hashes: Arc<RandomHashes>,
    pub(super) signer: BufferedSigner,
    /// What determines the ceiling besides the signer: family, instruction set and shingles per document. `None` unless
    /// `simd` signs.
    pub(super) vectors: Option<(Family, Isa, usize)>,
}

impl Workload for SignHashes {
    fn pass(&mut self) -> Result<()> {
        let sets = self.hashes.sets()?;
        self.signer
            .sign(|signer, rows| signer.sign_sets(&sets, rows))
    }

    fn checksum(&mut self) -> Result<u64> {
        self.signer.checksum()
    }

    fn ceiling_updates_per_s(&self) -> Option<f64> {
        let (family, isa, shingles) = self.vectors?;
        let permutations = self.signer.signer.num_perm();
        ceiling::updates_per_s(family, isa, shingles, permutations)
    }
}

/// Texts in memory to signatures.
pub(super) struct SignTexts {
    pub(super) texts: Arc<TextBatch>,
    pub(super) shingler: Shingler,
    pub(super) signer: BufferedSigner,
}

impl Workload for SignTexts {
    fn pass(&mut self) -> Result<()> {
        let (texts, shingler) = (&self.texts, &self.shingler);
        self.signer
            .sign(|signer, rows| signer.sign_documents(&**texts, shingler, rows))
    }

    fn checksum(&mut self) -> Result<u64> {
        self.signer.checksum()
    }
}
