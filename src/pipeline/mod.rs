//! The stages in flow order, one source file per stage: documents -> shingle -> sign -> band -> bucket ->
//! candidates -> verify -> cluster. The stages work in memory and know neither files nor formats.
//!
//! [`Shingler`] cuts documents into [`ShingleSets`], and a [`Signer`] turns sets into [`Signatures`].
//! [`BandKeys`] and [`Buckets`] find candidate pairs, [`similar_pairs`] verifies them, and [`Clusters`] chooses
//! documents to remove. [`Clusters`] has an example of the whole flow. To sign documents only, use
//! [`Engine`](crate::engine::Engine); to remove duplicates in one call, use [`search`](crate::search).

mod shingle;

mod sign;

mod slot_bits;

mod packing;

mod estimate;

mod quadrature;

mod banding;

mod least_error;

mod band;

mod reference;

mod bucket;

mod candidates;

mod criterion;

mod overlap;

mod prefix_filter;

mod prefixes;

mod measure;

mod verify;

mod distance;

mod compare;

mod detection;

mod tune;

mod shingle_sizes;

mod cluster;

mod components;

mod greedy;

mod connectivity;

mod listed;

mod keep;

mod removal;

pub use band::BandKeys;
pub(crate) use band::KeyRows;
pub use banding::{Banding, ErrorWeights, band_key, check_threshold};
pub use bucket::Buckets;
#[doc(hidden)]
pub use bucket::Member;
pub use candidates::CandidateSource;
pub use cluster::{ClusterTask, Clustering, Clusters, Omitted};
pub use compare::{Comparison, SequenceComparison, SequenceUnit, compare};
#[doc(hidden)]
pub use components::Components;
pub(crate) use components::SharedComponents;
pub use criterion::{Criterion, Distance, Within};
pub use detection::{Detection, Precision};
pub use distance::{
    Bag, BagComparison, VectorComparison, edit_distance, hamming_distance,
    longest_common_subsequence,
};
#[doc(hidden)]
pub use estimate::binomial_interval;
pub use estimate::{Cardinality, JaccardEstimate};
pub(crate) use greedy::KeptBefore;
pub(crate) use keep::KeepOrder;
pub use keep::KeepPolicy;
#[doc(hidden)]
pub use least_error::ErrorRanges;
#[doc(hidden)]
pub use listed::ListedPairs;
pub use measure::{Loss, Measure, Overlap};
pub use packing::PackedSignatures;
pub(crate) use prefix_filter::WEIGHT_ROUNDING;
#[doc(hidden)]
pub use prefix_filter::{PairFilter, PlacedElement, SetSummary};
#[doc(hidden)]
pub use prefixes::Element;
pub(crate) use prefixes::{Prefix, PrefixFinder, PrefixScratch, SmallSizes, compared_among};
pub use prefixes::{Prefixes, Sets};
#[doc(hidden)]
pub use reference::{Pairing, Reference};
pub use removal::{Dropped, Removal};
#[doc(hidden)]
pub use removal::{NamedRow, Removed, VerificationNames};
pub(crate) use shingle::NormalisedTexts;
pub(crate) use shingle::Rarities;
#[doc(hidden)]
pub use shingle::for_each_word;
#[doc(hidden)]
pub use shingle::{Mixed, UnitPlaces, place_code_tokens, place_lines, place_paragraphs};
pub use shingle::{
    Normalise, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, StopWords, Unit, Weighting,
};
pub use shingle_sizes::{SizeEffect, SizeRule, SizeSurvey, survey_sizes};
pub(crate) use sign::DeviceBatch;
#[doc(hidden)]
pub use sign::{DeviceSigner, keys_of_rows};
pub use sign::{DeviceUse, Signatures, SignaturesMut, Signer};
pub(crate) use sign::{SignedRows, UnfinishedRows};
pub use slot_bits::SlotBits;
pub use tune::{BandingEffect, Tuning, tune};
pub use verify::{
    Comparer, SimilarBlock, SimilarPair, Similarity, Unverified, Verified, jaccard, similar_pairs,
};

/// What signing on a device needs of the stages.
#[cfg(feature = "gpu")]
pub(crate) mod device {
    pub(crate) use super::banding::{check_keys, keys_of_row};
    pub(crate) use super::shingle::device::TextWindow;
    pub(crate) use super::sign::{SignOnDevice, signed_keys};
}
