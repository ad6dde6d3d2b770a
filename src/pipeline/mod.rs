//! The way of a document: documents -> shingle -> sign -> band -> bucket -> pair -> verify ->
//! cluster -> keep. One file an arrow, in that order.

mod document;

mod shingle;

mod sign;

mod band;

mod bucket;

mod pair;

mod verify;

mod cluster;

pub use band::{BandKeys, Banding, ErrorWeights, band_key, check_threshold};
pub use bucket::Buckets;
pub use cluster::{Clustering, Clusters, Removal};
pub use document::{DocumentBatch, TextBatch, TokenBatch};
pub use pair::{LargeBuckets, SimilarPair, SimilarPairs, bucketed_positions, similar_pairs};
pub use shingle::{
    Hashes, Normalise, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, StopWords, Unit,
    for_each_word,
};
pub use sign::{Signatures, SignaturesMut, Signer, Slots, SlotsMut};
pub use verify::{ExactSets, Similarity, Unverified, jaccard};
