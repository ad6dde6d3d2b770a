//! Anything that signs, as the measurement sees it.

use crate::targets::ComputeTarget;
use simgpu::Result;
use simgpu::internals::RandomPermutations;
use simgpu::pipeline::Signer;
use simgpu::scheme::{Family, Scheme, Width};

/// A scheme, or anything else that signs, whose estimates are measured.
#[allow(
    missing_debug_implementations,
    reason = "functions do not implement it"
)]
pub struct SigningFunction {
    /// Name in the tables.
    pub name: String,
    /// The backend that signs, and its instruction set or device; empty if it is none of simgpu's.
    pub backend: String,
    #[allow(missing_docs, reason = "described with the backend")]
    pub hardware: String,
    /// Whether slots are independent by design.
    pub has_independent_slots: bool,
    /// Whether it mixes shingle hashes before permuting them.
    pub is_mixed: bool,
    /// Width of shingle hashes.
    pub hash_width: Width,
    /// Bits per slot.
    pub slot_bits: u32,
    /// Creates its signer.
    pub new_signer: Box<NewSigner>,
}

/// Creates a signer from a number of slots and a seed.
pub(super) type NewSigner = dyn Fn(u32, u32) -> Result<Box<dyn Signer>> + Send + Sync;

impl SigningFunction {
    /// A scheme on the backend `simd`; all backends compute the same bits.
    pub fn of(scheme: Scheme) -> Self {
        SigningFunction::on(scheme, ComputeTarget::best_of_cpu())
    }

    /// A scheme on a target that supports it.
    pub(crate) fn on(scheme: Scheme, target: ComputeTarget) -> Self {
        let family = scheme.family();
        SigningFunction {
            name: scheme.to_string(),
            backend: target.backend.to_string(),
            hardware: target.name.clone(),
            has_independent_slots: !matches!(family, Family::Fast | Family::RMinHash),
            is_mixed: matches!(
                family,
                Family::Affine32 | Family::Affine64 | Family::Fast | Family::RMinHash
            ),
            hash_width: family.hash_width(),
            slot_bits: match family.slot_width() {
                Width::U32 => 32,
                Width::U64 => 64,
            },
            new_signer: Box::new(move |num_perm, seed| {
                let scheme = scheme.clone().with_num_perm(num_perm)?;
                target.signer(&scheme.with_seed(seed))
            }),
        }
    }

    /// True random permutations: the ideal, which costs too much for large sets.
    pub fn permutations() -> Self {
        SigningFunction {
            name: "permutations".to_owned(),
            backend: String::new(),
            hardware: String::new(),
            has_independent_slots: true,
            is_mixed: true,
            hash_width: Width::U64,
            slot_bits: 32,
            new_signer: Box::new(|num_perm, seed| {
                Ok(Box::new(RandomPermutations::new(num_perm, seed)))
            }),
        }
    }
}
