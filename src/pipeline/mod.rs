//! The stages, one file an arrow, in flow order: documents -> shingle -> sign -> band -> bucket -> pair ->
//! verify -> cluster -> keep. No file, no format, no flag.

mod shingle;

mod sign;

mod packed;

mod estimate;

mod band;

mod bucket;

mod candidates;

mod verify;

mod compare;

mod tune;

mod cluster;

mod keep;

pub use band::{BandKeys, Banding, ErrorWeights, band_key, check_threshold};
#[cfg(feature = "gpu")]
pub(crate) use band::{check_keys, keys_of_row, keys_of_rows, signed_keys};
pub use bucket::Buckets;
pub use candidates::{LargeBuckets, SimilarPair, SimilarPairs, bucketed_positions, similar_pairs};
pub use cluster::{Clustering, Clusters, Removal};
pub use compare::{Comparison, compare};
pub use estimate::{Cardinality, JaccardEstimate};
pub use keep::KeepPolicy;
pub use packed::{PackedSignatures, SlotBits};
pub use shingle::{
    Hashes, Normalise, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, StopWords, Unit,
    for_each_word,
};
pub(crate) use sign::lower;
pub use sign::{Signatures, SignaturesMut, Signer, SlotVec, Slots, SlotsMut};
pub use tune::{BandingEffect, Tuning, tune};
pub use verify::{ExactSets, Similarity, Unverified, jaccard};
