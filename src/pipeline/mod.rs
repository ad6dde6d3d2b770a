//! The way of a document: documents -> shingle -> sign -> band -> bucket -> pair -> verify ->
//! cluster -> keep. One file an arrow, in that order.

mod document;

mod shingle;

mod sign;

mod packed;

mod estimate;

mod band;

mod bucket;

mod pair;

mod verify;

mod compare;

mod cluster;

mod keep;

#[cfg(feature = "io")]
mod corpus;

#[cfg(feature = "io")]
mod similar;

#[cfg(feature = "io")]
mod dedup;

#[cfg(feature = "io")]
mod all_pairs;

#[cfg(feature = "io")]
mod sign_files;

#[cfg(feature = "io")]
mod report;

mod progress;

#[cfg(feature = "io")]
pub use all_pairs::{PairsFormat, find_pairs, find_pairs_of_signatures};
pub use band::{BandKeys, Banding, ErrorWeights, band_key, check_threshold};
#[cfg(feature = "gpu")]
pub(crate) use band::{check_keys, keys_of_row, keys_of_rows, signed_keys};
pub use bucket::Buckets;
pub use cluster::{Clustering, Clusters, Removal};
pub use compare::{Comparison, compare};
#[cfg(feature = "io")]
pub use corpus::{Corpus, SignatureFile, Source};
#[cfg(feature = "io")]
pub use dedup::{Dedup, dedup};
pub use document::{DocumentBatch, TextBatch, TokenBatch};
pub use estimate::{Cardinality, JaccardEstimate};
pub use keep::KeepPolicy;
pub use packed::{PackedSignatures, SlotBits};
pub use pair::{LargeBuckets, SimilarPair, SimilarPairs, bucketed_positions, similar_pairs};
pub use progress::{Progress, Silent, StageTime, Timings};
#[cfg(feature = "io")]
pub use report::{Counts, Outcome, Parameters};
pub use shingle::{
    Hashes, Normalise, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, StopWords, Unit,
    for_each_word,
};
pub(crate) use sign::lower;
pub use sign::{Signatures, SignaturesMut, Signer, SlotVec, Slots, SlotsMut};
#[cfg(feature = "io")]
pub use sign_files::{SignaturesFormat, sign_files};
#[cfg(feature = "io")]
pub use similar::{Search, Verification};
pub use verify::{ExactSets, Similarity, Unverified, jaccard};
