//! The stages that are timed.

use serde::{Deserialize, Serialize};

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Shingle hashes in memory to signatures.
    Sign,
    /// Texts in memory to signatures.
    SignTexts,
    /// Texts to shingle hashes.
    Shingle,
    /// Signatures to band keys.
    Band,
    /// The keys of one band to buckets of shared keys.
    Bucket,
    /// Candidate pairs, as many as documents, to similarities of their signatures.
    Verify,
    /// Files to files without near-duplicates.
    Dedup,
    /// Shingle hashes or texts to the memory of a GPU.
    Upload,
    /// The kernel of a GPU, on data in its memory.
    Kernel,
    /// Signatures from the memory of a GPU.
    Readback,
}

impl Stage {
    /// The name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sign => "sign",
            Stage::SignTexts => "sign-texts",
            Stage::Shingle => "shingle",
            Stage::Band => "band",
            Stage::Bucket => "bucket",
            Stage::Verify => "verify",
            Stage::Dedup => "dedup",
            Stage::Upload => "upload",
            Stage::Kernel => "kernel",
            Stage::Readback => "readback",
        }
    }
}
