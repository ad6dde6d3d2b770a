//! The stages, one file an arrow, in flow order: documents -> shingle -> sign -> band -> bucket -> pair ->
//! verify -> cluster -> keep. No file, no format, no flag.

mod shingle;

mod sign;

mod slot_bits;

mod packed;

mod estimate;

mod banding;

mod band;

mod bucket;

mod candidates;

mod verify;

mod compare;

mod tune;

mod cluster;

mod keep;

pub use band::BandKeys;
pub use banding::{Banding, ErrorWeights, band_key, check_threshold};
#[cfg(feature = "gpu")]
pub(crate) use banding::{check_keys, keys_of_row};
pub use bucket::Buckets;
pub use candidates::{CandidateSource, LargeBuckets, LshBuckets, Omitted, Verify};
pub use cluster::{Clustering, Clusters, Removal};
pub use compare::{Comparison, compare};
pub use estimate::{Cardinality, JaccardEstimate};
pub use keep::KeepPolicy;
pub use packed::PackedSignatures;
#[cfg(feature = "internals")]
pub use shingle::for_each_word;
pub use shingle::{
    Normalise, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, StopWords, Unit,
};
pub(crate) use sign::lower;
pub use sign::{Signatures, SignaturesMut, Signer};
#[cfg(feature = "gpu")]
pub(crate) use sign::{keys_of_rows, signed_keys};
pub use slot_bits::SlotBits;
pub use tune::{BandingEffect, Tuning, tune};
pub use verify::{SimilarPair, SimilarPairs, Similarity, Unverified, jaccard, similar_pairs};
