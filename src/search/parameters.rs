//! The parameters of a search for similar documents.

use std::collections::BTreeMap;

use super::corpus::Corpus;
use super::keys::Banded;
use super::observations::Observations;
use super::verification::Verification;
use crate::engine::Engine;
use crate::error::{Conflict, Result};
use crate::pipeline::{Banding, Criterion, Detection, Measure, SlotBits, Within, check_threshold};
#[cfg(doc)]
use crate::pipeline::{Distance, Prefixes, Weighting};
use crate::progress::Counts;
use crate::scheme::Scheme;

/// The method that finds candidate pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CandidateMethod {
    /// Locality-sensitive hashing: documents that share a bucket (MMDS 3.4). Misses some similar pairs, streams, and
    /// needs little memory.
    Lsh,
    /// An exact join: documents that share a rare shingle ([`Prefixes`], MMDS 3.9). Misses no similar pair, and holds
    /// all shingles in memory. Only with [`Verification::Exact`].
    Join,
    /// [`CandidateMethod::Join`] for lists of tokens, if they fit in [`Search::join_bytes`] and rare tokens leave few
    /// candidates: it then costs about as much as LSH. Otherwise [`CandidateMethod::Lsh`]. This depends on the
    /// documents and the parameters alone.
    #[default]
    Auto,
}

impl CandidateMethod {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CandidateMethod::Lsh => "lsh",
            CandidateMethod::Join => "join",
            CandidateMethod::Auto => "auto",
        }
    }
}

/// The parameters of a search for similar pairs. [`Search::new`] supplies defaults; change fields as needed.
#[derive(Clone, Debug)]
pub struct Search {
    /// The least similarity of a similar pair, above 0 and up to 1.
    pub threshold: f64,
    /// How similar two documents are; default [`Measure::Jaccard`]. [`Measure::Contained`] takes [`Verification::Exact`] and
    /// shingles without weights, and no distance. Through LSH it finds what its Jaccard similarity lets it find: choose a
    /// banding for that ([`Search::measured`]). A deduplication with it compares documents by their number of distinct
    /// shingles, largest first, with [`Clustering::Greedy`](crate::pipeline::Clustering::Greedy).
    pub measure: Measure,
    /// The greatest distance of a similar pair, in place of the threshold; default `None`. Only for
    /// [`pairs`](super::pairs()) of lists of single tokens, which are found by [`CandidateMethod::Join`]. The engine's
    /// shingling has [`Weighting::Places`] for [`Distance::Hamming`] and [`Weighting::Counts`] for [`Distance::L1`].
    pub within: Option<Within>,
    /// The number of bands, and of rows (slots) per band.
    pub banding: Banding,
    /// The verification of candidate pairs; default [`Verification::Exact`].
    pub verification: Verification,
    /// The verification of pairs with a document of an index that a deduplication of files is run against, if it is another one;
    /// default `None`. Only [`Verification::Signature`], next to [`Verification::Exact`]: such an index has no shingles, and pairs
    /// among the inputs stay exact.
    pub index_verification: Option<Verification>,
    /// The method that finds candidate pairs; default [`CandidateMethod::Auto`].
    pub candidates: CandidateMethod,
    /// The most bytes of memory for the shingles of an exact join, and for the counts of [`Weighting::Rarity`]; default
    /// 2 GiB. [`CandidateMethod::Auto`] takes LSH if shingles and index need more. [`CandidateMethod::Join`] then goes on
    /// on disk, in a run over files, or is an error.
    pub join_bytes: usize,
}

/// The default of [`Search::join_bytes`].
const JOIN_BYTES: usize = 2 << 30;

impl Search {
    /// The bits kept per slot for verification by signature. At a similarity of 0.8 they raise the standard error of an
    /// estimate by a quarter of a percent, for a quarter of the memory or less.
    #[doc(hidden)]
    pub const SLOT_BITS: SlotBits = SlotBits::Eight;

    /// A search for pairs of at least `threshold` similarity, with the banding of [`Banding::for_scheme`].
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1].
    pub fn new(threshold: f64, scheme: &Scheme) -> Result<Self> {
        let banding = Banding::for_scheme(threshold, scheme)?;
        Ok(Search {
            candidates: CandidateMethod::default(),
            ..Search::through_lsh(threshold, banding, Verification::default())
        })
    }

    /// The banding for a threshold of a measure: for [`Measure::Contained`] that of the Jaccard similarity of a document at
    /// the threshold with one of [`Search::BANDED_RATIO`] times its shingles.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1].
    pub fn banding_for(measure: Measure, threshold: f64, scheme: &Scheme) -> Result<Banding> {
        check_threshold(threshold)?;
        let jaccard = measure.jaccard_at(threshold, Search::BANDED_RATIO);
        Banding::for_scheme(jaccard, scheme)
    }

    /// How many times the shingles of a contained document the other one has, in a pair for which bands are chosen.
    pub const BANDED_RATIO: f64 = 2.0;

    /// The same by another measure, with the banding for it.
    ///
    /// # Errors
    /// As [`Search::banding_for`].
    pub fn measured(self, measure: Measure, scheme: &Scheme) -> Result<Self> {
        Ok(Search {
            measure,
            banding: Search::banding_for(measure, self.threshold, scheme)?,
            ..self
        })
    }

    /// A search with [`CandidateMethod::Lsh`].
    pub fn through_lsh(threshold: f64, banding: Banding, verification: Verification) -> Self {
        Search {
            threshold,
            measure: Measure::default(),
            within: None,
            banding,
            verification,
            index_verification: None,
            candidates: CandidateMethod::Lsh,
            join_bytes: JOIN_BYTES,
        }
    }

    /// How likely a similar pair is to be found by LSH, with signatures of `num_perm` slots. Where signatures verify the pairs with
    /// an index alone, it is that of these pairs, the lesser one.
    pub fn detection(&self, num_perm: usize) -> Detection {
        let detection = Detection::of_candidates(self.banding, num_perm);
        if self.verification == Verification::Signature || self.estimates_index() {
            detection.estimated(self.threshold, Search::SLOT_BITS)
        } else {
            detection
        }
    }

    /// Whether signatures verify the pairs with documents of an index, and no others.
    #[doc(hidden)]
    pub fn estimates_index(&self) -> bool {
        self.verification == Verification::Exact
            && self.index_verification == Some(Verification::Signature)
    }

    /// Words before the hashes of an exact set: a packed signature, if it may be compared with that of a document of an index.
    pub(crate) fn set_prefix(&self, num_perm: usize) -> usize {
        if self.estimates_index() {
            Search::SLOT_BITS.words(num_perm)
        } else {
            0
        }
    }

    /// The probability that a pair with a similarity equal to the threshold is found; with [`Measure::Contained`], of a
    /// document in one of [`Search::BANDED_RATIO`] times its shingles.
    #[doc(hidden)]
    pub fn recall_at_threshold(&self, num_perm: usize) -> f64 {
        self.recall_at_ratio(num_perm, Search::BANDED_RATIO)
    }

    /// The same for a document and one of `ratio` times its shingles. [`Measure::Jaccard`] does not depend on it.
    pub fn recall_at_ratio(&self, num_perm: usize, ratio: f64) -> f64 {
        let jaccard = self.measure.jaccard_at(self.threshold, ratio);
        match self.candidates {
            CandidateMethod::Join => 1.0,
            CandidateMethod::Lsh | CandidateMethod::Auto => {
                self.detection(num_perm).probability(jaccard)
            }
        }
    }

    /// [`Search::recall_at_ratio`] by the ratio of sizes; empty if it does not matter.
    pub fn recall_by_size_ratio(&self, num_perm: usize) -> BTreeMap<u32, f64> {
        const RATIOS: [u32; 5] = [1, 2, 5, 10, 100];
        let recall = |ratio: u32| (ratio, self.recall_at_ratio(num_perm, ratio.into()));
        match (self.measure, self.candidates) {
            (Measure::Jaccard, _) | (_, CandidateMethod::Join) => BTreeMap::new(),
            (Measure::Contained, _) => RATIOS.map(recall).into(),
        }
    }

    /// The counts of documents of a run, before it compares them.
    pub(crate) fn counts(&self, corpus: &Corpus) -> Counts {
        let is_exact = self.verification == Verification::Exact
            && self.within.is_none()
            && self.measure == Measure::Jaccard;
        Counts {
            equal_shingles: is_exact.then_some(0),
            ..corpus.counts()
        }
    }

    /// The search with an exact join.
    #[doc(hidden)]
    pub fn joined(&self) -> Search {
        Search {
            candidates: CandidateMethod::Join,
            ..self.clone()
        }
    }

    /// The search with LSH.
    pub(crate) fn through_bands(&self) -> Search {
        Search {
            candidates: CandidateMethod::Lsh,
            ..self.clone()
        }
    }

    /// What makes two documents similar.
    #[doc(hidden)]
    pub fn criterion(&self) -> Criterion {
        let criterion = match self.measure {
            Measure::Jaccard => Criterion::Jaccard(self.threshold),
            Measure::Contained => Criterion::Contained(self.threshold),
        };
        self.within.map_or(criterion, Criterion::Within)
    }

    /// The least value of a similar pair: its similarity or, within a distance, the negative distance.
    #[doc(hidden)]
    pub fn least(&self) -> f64 {
        match self.criterion() {
            Criterion::Jaccard(threshold) | Criterion::Contained(threshold) => threshold,
            Criterion::Within(within) => -(within.most as f64),
        }
    }

    /// The error of a join that needs too much memory.
    pub(crate) fn join_too_large(&self) -> Conflict {
        let mib = self.join_bytes >> 20;
        match self.within {
            None => Conflict::JoinMemory { mib },
            Some(_) => Conflict::DistanceMemory { mib },
        }
    }

    /// The method that finds candidates, if `engine` shingles the documents: [`CandidateMethod::Auto`] only if this
    /// depends on the documents.
    ///
    /// # Errors
    /// [`Conflict::JoinNotExact`] for a join with another verification than [`Verification::Exact`]. Within a distance,
    /// [`Conflict::DistanceNotJoined`] for another method or verification, [`Conflict::DistanceOfShingles`] if the
    /// engine takes no single tokens, and [`Conflict::DistanceWeighting`] if their weighting is not that of the
    /// distance. With [`Measure::Contained`], [`Conflict::ContainedNotExact`] for another verification,
    /// [`Conflict::ContainedDistance`] for a distance, and [`Conflict::ContainedWeights`] for weights.
    pub fn method(&self, engine: &Engine) -> Result<CandidateMethod> {
        let is_exact = self.verification == Verification::Exact;
        self.check_measure(engine)?;
        if let Some(within) = self.within {
            within.distance.check(engine.shingler().shingling())?;
            if !is_exact || self.candidates == CandidateMethod::Lsh {
                return Err(Conflict::DistanceNotJoined.into());
            }
            return Ok(CandidateMethod::Join);
        }
        match self.candidates {
            CandidateMethod::Join if !is_exact => Err(Conflict::JoinNotExact.into()),
            // Through LSH, documents of little weight are found less often than stated.
            CandidateMethod::Auto if is_exact && engine.shingler().needs_rarities() => {
                Ok(CandidateMethod::Auto)
            }
            CandidateMethod::Auto if !is_exact || !engine.takes_tokens() => {
                Ok(CandidateMethod::Lsh)
            }
            method => Ok(method),
        }
    }

    /// Refuses what a measure does not support.
    fn check_measure(&self, engine: &Engine) -> Result<()> {
        match self.measure {
            Measure::Jaccard => Ok(()),
            Measure::Contained if self.within.is_some() => Err(Conflict::ContainedDistance.into()),
            Measure::Contained if self.verification != Verification::Exact => {
                Err(Conflict::ContainedNotExact.into())
            }
            Measure::Contained if engine.shingler().takes_weights() => {
                Err(Conflict::ContainedWeights.into())
            }
            Measure::Contained => Ok(()),
        }
    }

    /// The share of truly similar pairs to expect among `pairs` that runs report as similar, if they observed this
    /// (`ComponentSearch::observed` of `simgpu-files`), and `known` pairs are of identical documents. `None` without
    /// verification, without similar pairs, and if what was observed does not tell.
    pub fn precision_of(
        &self,
        num_perm: usize,
        observed: &[u64],
        known: u64,
        pairs: u64,
    ) -> Option<f64> {
        let all = Observations::none(num_perm);
        all.add(observed);
        let is_estimated = self.verification == Verification::Signature;
        self.expected_precision(num_perm, is_estimated.then_some(&all), [known, pairs])
    }

    /// The share of truly similar pairs to expect among those that a run reports as similar: 1 if they are verified
    /// exactly, `None` if not at all, or if what was observed does not tell. Of `pairs` reported ones, `known` are pairs
    /// of identical documents, which are not observed. `None`, too, where signatures verify the pairs with an index alone.
    #[doc(hidden)]
    pub fn expected_precision(
        &self,
        num_perm: usize,
        observed: Option<&Observations>,
        [known, pairs]: [u64; 2],
    ) -> Option<f64> {
        match self.verification {
            Verification::None => None,
            Verification::Exact => (!self.estimates_index()).then_some(1.0),
            Verification::Signature => {
                let counts = observed?.counts();
                let (groups, matches) = counts.split_last()?;
                let detection = self.detection(num_perm);
                let precision = detection.precision(self.threshold, matches, *groups as f64);
                match precision {
                    Some(precision) => precision.with_known(known, pairs).stated(),
                    None => (known > 0).then_some(1.0),
                }
            }
        }
    }

    /// Bytes of memory per document of a run through LSH, without the id: band keys, row, length, digest, and the
    /// packed signature if [`Search::verification`] needs it.
    pub fn bytes_per_document(&self, num_perm: usize) -> usize {
        8 * self.banding.bands() + self.bytes_without_keys(num_perm)
    }

    /// The same without band keys.
    pub(super) fn bytes_without_keys(&self, num_perm: usize) -> usize {
        let signature = match self.verification {
            // The signature, and the group of the document.
            Verification::Signature => size_of::<u64>() * (Search::SLOT_BITS.words(num_perm) + 1),
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        signature + row + length + digest
    }

    /// An empty collector of what the search needs of signed documents.
    #[doc(hidden)]
    pub fn banded(&self, num_perm: usize) -> Banded {
        let packs = self.verification == Verification::Signature;
        Banded::new(self.banding, packs.then_some((num_perm, Search::SLOT_BITS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::pipeline::{Distance, Shingling, Unit, Weighting};

    fn engine(unit: Unit, weighting: Weighting) -> Engine {
        let shingling = Shingling {
            weighting,
            ..Shingling::of(unit)
        };
        Engine::builder()
            .shingling(shingling)
            .work_bytes(1)
            .build()
            .unwrap()
    }

    #[test]
    fn the_method_depends_on_units_and_verification() {
        use CandidateMethod::{Auto, Join, Lsh};
        let tokens = engine(Unit::Tokens, Weighting::Equal);
        let words = engine(Unit::Words, Weighting::Equal);
        let rare = engine(Unit::Words, Weighting::Rarity);
        let exact = Verification::Exact;
        let of = |engine: &Engine, candidates, verification| {
            let search = Search {
                candidates,
                verification,
                ..Search::new(0.8, engine.scheme()).unwrap()
            };
            search.method(engine)
        };
        for (engine, asked, verification, expected) in [
            (&tokens, Auto, exact, Auto),
            (&tokens, Auto, Verification::Signature, Lsh),
            (&tokens, Auto, Verification::None, Lsh),
            (&words, Auto, exact, Lsh),
            (&rare, Auto, exact, Auto),
            (&rare, Auto, Verification::Signature, Lsh),
            (&words, Join, exact, Join),
            (&tokens, Lsh, exact, Lsh),
        ] {
            assert_eq!(of(engine, asked, verification).unwrap(), expected);
        }
        for verification in [Verification::None, Verification::Signature] {
            let refused = of(&tokens, Join, verification);
            assert!(matches!(
                refused,
                Err(Error::Conflict(Conflict::JoinNotExact))
            ));
        }
    }

    #[test]
    fn distances_need_an_exact_join_of_their_elements() {
        let within = Within {
            distance: Distance::L1,
            most: 3,
        };
        let counts = engine(Unit::Tokens, Weighting::Counts);
        let search = Search {
            within: Some(within),
            ..Search::new(0.8, counts.scheme()).unwrap()
        };
        assert_eq!(search.method(&counts).unwrap(), CandidateMethod::Join);
        assert!((search.least() + 3.0).abs() < f64::EPSILON);
        assert!(matches!(
            search.join_too_large(),
            Conflict::DistanceMemory { mib: 2048 }
        ));
        let signed = Search {
            verification: Verification::Signature,
            ..search.clone()
        };
        for refused in [&search.through_bands(), &signed] {
            let refused = refused.method(&counts);
            assert!(matches!(
                refused,
                Err(Error::Conflict(Conflict::DistanceNotJoined))
            ));
        }
        assert!(
            search
                .method(&engine(Unit::Tokens, Weighting::Equal))
                .is_err()
        );
        assert!(
            search
                .method(&engine(Unit::Words, Weighting::Counts))
                .is_err()
        );
    }

    #[test]
    fn a_join_misses_nothing_and_bands_do() {
        let banding = Banding::new(8, 4, 32).unwrap();
        let search = Search::through_lsh(0.7, banding, Verification::Exact);
        // 1 - (1 - s^rows)^bands, MMDS 3.4.2.
        let expected = 1.0 - (1.0 - 0.7f64.powi(4)).powi(8);
        assert!((search.recall_at_threshold(32) - expected).abs() < 1e-9);
        assert!((search.joined().recall_at_threshold(32) - 1.0).abs() < f64::EPSILON);
        assert!((search.least() - 0.7).abs() < f64::EPSILON);
        assert!(matches!(
            search.join_too_large(),
            Conflict::JoinMemory { mib: 2048 }
        ));
        // Estimates miss half of the pairs at the threshold.
        let signed = Search {
            verification: Verification::Signature,
            ..search
        };
        assert!(signed.recall_at_threshold(32) < 0.8 * expected);
    }

    #[test]
    fn precision_is_known_exactly_or_observed() {
        let banding = Banding::new(8, 4, 32).unwrap();
        let of = |verification| Search::through_lsh(0.7, banding, verification);
        let precision = |verification, known| {
            let observed = Observations::none(32);
            of(verification).expected_precision(32, Some(&observed), known)
        };
        assert_eq!(precision(Verification::None, [3, 5]), None);
        assert_eq!(precision(Verification::Exact, [3, 5]), Some(1.0));
        // Nothing was compared: only identical documents are known.
        assert_eq!(precision(Verification::Signature, [3, 3]), Some(1.0));
        assert_eq!(precision(Verification::Signature, [0, 3]), None);
    }

    #[test]
    fn memory_per_document_adds_up() {
        let banding = Banding::new(8, 4, 32).unwrap();
        let bytes =
            |verification| Search::through_lsh(0.7, banding, verification).bytes_per_document(32);
        // Keys, row, length and digest; then 32 slots of 8 bits and a group.
        assert_eq!(bytes(Verification::Exact), 8 * 8 + 4 + 4 + 32);
        assert_eq!(
            bytes(Verification::Signature),
            bytes(Verification::None) + 32 + 8
        );
    }
}
