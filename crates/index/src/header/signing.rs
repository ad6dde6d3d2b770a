//! How the documents of an index are signed.

use serde::{Deserialize, Serialize};

use simgpu::engine::Engine;
use simgpu::pipeline::Unit;
use simgpu::scheme::words_v1;
use simgpu::search::{Search, Verification};

/// How the documents of an index of kind `lsh` are signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signing {
    pub(super) hash: String,
    pub(super) seed: u32,
    pub(super) num_perm: u32,
    pub(super) bands: usize,
    pub(super) rows: usize,
    /// Bits per slot of the signatures that are kept; 0 if none are.
    slot_bits: u32,
}

impl Signing {
    pub(super) fn new(engine: &Engine, search: &Search) -> Self {
        Signing {
            hash: engine.shingler().hash().to_string(),
            seed: engine.scheme().seed(),
            num_perm: engine.scheme().num_perm_u16().into(),
            bands: search.banding.bands(),
            rows: search.banding.rows(),
            slot_bits: match search.verification {
                Verification::Signature => Search::SLOT_BITS.get(),
                Verification::None | Verification::Exact => 0,
            },
        }
    }
}

/// The version of Unicode by which words are found; `None` if shingles hold no such words.
pub(super) fn unicode_version(unit: &Unit) -> Option<String> {
    let (major, minor, patch) = words_v1::UNICODE_VERSION;
    let has_words = matches!(unit, Unit::Words | Unit::StopWords(_));
    has_words.then(|| format!("{major}.{minor}.{patch}"))
}
