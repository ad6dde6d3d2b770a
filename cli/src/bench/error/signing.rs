//! What signs, as the measurement sees it.

use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::pipeline::Signer;
use simgpu::scheme::{Family, Scheme, Width};

/// A signing function whose estimates are measured: a scheme, or anything else that signs.
#[allow(
    missing_debug_implementations,
    reason = "a function has nothing to show"
)]
pub struct Signing {
    /// Its name.
    pub name: String,
    /// Whether slots are independent of each other by design.
    pub has_independent_slots: bool,
    /// Whether it mixes shingle hashes before it permutes them.
    pub is_mixed: bool,
    /// Width of the hashes it takes.
    pub hash_width: Width,
    /// Bits of a slot.
    pub slot_bits: u32,
    /// Its signer, for a number of slots and a seed.
    pub open: Box<Open>,
}

/// Makes a signer of so many slots, with the coefficients of a seed.
pub type Open = dyn Fn(u32, u32) -> Result<Box<dyn Signer>> + Send + Sync;

impl Signing {
    /// That of a scheme, on lanes of the CPU; every other backend computes the same bits.
    pub fn of(scheme: Scheme) -> Self {
        let family = scheme.family();
        Signing {
            name: scheme.to_string(),
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
            open: Box::new(move |num_perm, seed| {
                let scheme = scheme.clone().with_num_perm(num_perm)?;
                Backend::Simd.signer(&scheme.with_seed(seed))
            }),
        }
    }
}
