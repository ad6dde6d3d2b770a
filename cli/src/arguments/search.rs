//! Which pairs a search finds, and how it finds them.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use simgpu::engine::Engine;
use simgpu::error::Conflict;
use simgpu::pipeline::{Distance, Measure, Weighting, Within};
use simgpu::scheme::Scheme;
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu_index::{Index, IndexKind};

use super::banding::{BandingArguments, one_of_two};
use super::numbers::whole_number;
use super::signing::SigningArguments;
use crate::options::{Given, Mode};
use crate::usage;

/// Which pairs to search for.
#[derive(Clone, Debug, Args)]
pub struct SearchArguments {
    /// Which pairs become candidates.
    #[command(flatten)]
    pub banding: BandingArguments,

    /// How similar two documents are [default: jaccard]
    #[arg(long, value_enum, value_name = "MEASURE", help_heading = "Search")]
    pub measure: Option<MeasureArgument>,

    /// How to verify candidate pairs [default: exact; signature with --signatures]
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Search")]
    pub verify: Option<VerifyArgument>,

    /// How to find candidate pairs [default: auto; lsh if --bands, --scheme, --hash, --num-perm, --seed or
    /// --backend is not at its default]
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Search")]
    pub candidates: Option<CandidatesArgument>,

    /// Maximum memory for the shingles of an exact join, and for the counts of --weights rarity, in MiB; above it, join
    /// spills to disk, and auto finds candidates through LSH
    #[arg(
        long,
        value_name = "MIB",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "2048",
        help_heading = "Search"
    )]
    pub join_mib: NonZeroUsize,
}

/// The value of `--measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeasureArgument {
    /// Share of the shingles of either document that both have
    Jaccard,
    /// Share of the shingles of the smaller document that the larger has; dedup keeps the document with the most shingles,
    /// and --threshold 1 removes only what is contained whole
    Contained,
}

/// The value of `--candidates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CandidatesArgument {
    /// Documents with a band of equal signature slots; misses some similar pairs, and needs little memory
    Lsh,
    /// Documents with a rare shingle in common (exact join); misses no similar pair
    Join,
    /// The exact join for tokens where it costs about as much as LSH, else LSH
    Auto,
}

/// The value of `--distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DistanceArgument {
    /// Places at which two lists of equal length have different tokens; lists of different lengths are never near
    Hamming,
    /// Sum, over all tokens, of the difference between their counts in the two lists
    L1,
}

/// The value of `--verify`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VerifyArgument {
    /// Accept every candidate pair
    None,
    /// Estimate the similarity from the signatures
    Signature,
    /// Read the documents again and compute their Jaccard similarity
    Exact,
}

impl SearchArguments {
    /// The same, with what is not given as in the search of an index, for signatures of this scheme.
    pub(crate) fn with_defaults_from(&self, index: &Index, scheme: &Scheme, given: &Given) -> Self {
        let known = index.search();
        let mut search = self.clone();
        let banding = &mut search.banding;
        if !given.has_any(&["threshold"]) {
            banding.threshold = known.threshold;
        }
        let fits = banding.threshold.to_bits() == known.threshold.to_bits()
            && scheme.num_perm() == index.engine().scheme().num_perm();
        if banding.bands.is_none() && fits {
            banding.bands = Some(known.banding.bands());
            banding.rows = Some(known.banding.rows());
        }
        search.measure.get_or_insert(match known.measure {
            Measure::Jaccard => MeasureArgument::Jaccard,
            Measure::Contained => MeasureArgument::Contained,
        });
        if matches!(search.candidates, None | Some(CandidatesArgument::Auto)) {
            search.candidates = Some(match index.kind() {
                IndexKind::Lsh => CandidatesArgument::Lsh,
                IndexKind::Exact => CandidatesArgument::Join,
            });
        }
        search
    }

    /// The search. `sign` has the options of signatures; `None` if they are stored. `within` is the distance to search
    /// by, if any.
    ///
    /// # Errors
    /// A usage error for options that contradict each other.
    pub(crate) fn resolve(
        &self,
        scheme: &Scheme,
        sign: Option<&SigningArguments>,
        within: Option<Within>,
    ) -> anyhow::Result<Search> {
        let measure = match self.measure {
            Some(MeasureArgument::Contained) => Measure::Contained,
            Some(MeasureArgument::Jaccard) | None => Measure::Jaccard,
        };
        let (threshold, banding) = self.banding.resolve(scheme, measure)?;
        let candidates = match within {
            Some(_) => method_within(self.candidates)?,
            None => candidate_method(
                self.candidates,
                self.banding.bands.is_some()
                    || sign.is_none_or(SigningArguments::asks_for_signatures),
            ),
        };
        let join_bytes = self.join_mib.get().saturating_mul(1 << 20);
        let verification = match self.verify {
            Some(VerifyArgument::None) => Verification::None,
            Some(VerifyArgument::Signature) => Verification::Signature,
            Some(VerifyArgument::Exact) => Verification::Exact,
            None if sign.is_none() => Verification::Signature,
            None => Verification::Exact,
        };
        if candidates == CandidateMethod::Join && verification != Verification::Exact {
            let conflict = match within {
                Some(_) => Conflict::DistanceNotJoined,
                None => Conflict::JoinNotExact,
            };
            return Err(usage(conflict.into()));
        }
        Ok(Search {
            measure,
            within,
            candidates,
            join_bytes,
            ..Search::through_lsh(threshold, banding, verification)
        })
    }
}

/// The modes that the method leads to. `within` is the distance to search by, if any.
pub fn modes_of_method(
    named: Option<CandidatesArgument>,
    within: Option<Within>,
) -> &'static [Mode] {
    match (within, named) {
        (Some(_), _) => &[Mode::Distance, Mode::NoSimilarity, Mode::NoBuckets],
        (None, Some(CandidatesArgument::Join)) => &[Mode::Join, Mode::NoBuckets],
        (None, _) => &[],
    }
}

/// The method that finds candidates; without a name, LSH if an option asks for signatures or bands.
pub fn candidate_method(named: Option<CandidatesArgument>, asks_for_lsh: bool) -> CandidateMethod {
    match named {
        Some(CandidatesArgument::Join) => CandidateMethod::Join,
        Some(CandidatesArgument::Lsh) => CandidateMethod::Lsh,
        None if asks_for_lsh => CandidateMethod::Lsh,
        Some(CandidatesArgument::Auto) | None => CandidateMethod::Auto,
    }
}

/// The method that finds candidates within a distance: an exact join.
///
/// # Errors
/// A usage error for LSH.
pub fn method_within(named: Option<CandidatesArgument>) -> anyhow::Result<CandidateMethod> {
    match named {
        Some(CandidatesArgument::Lsh) => Err(usage(Conflict::DistanceNotJoined.into())),
        _ => Ok(CandidateMethod::Join),
    }
}

/// The modes that the method leads to, once it is known which shingles the engine makes.
///
/// # Errors
/// A usage error for a search that the engine does not support.
pub fn modes_of_search(search: &Search, engine: &Engine) -> anyhow::Result<&'static [Mode]> {
    let counts = engine.shingler().shingling().weighting == Weighting::Rarity;
    Ok(match search.method(engine).map_err(usage)? {
        CandidateMethod::Lsh if !counts => &[Mode::NoJoin],
        _ => &[],
    })
}

/// The distance to search by, and the greatest one of a pair.
///
/// # Errors
/// A usage error for one without the other.
pub fn requested_distance(
    distance: Option<DistanceArgument>,
    within: Option<u64>,
) -> anyhow::Result<Option<Within>> {
    match (distance, within) {
        (None, None) => Ok(None),
        (Some(distance), Some(most)) => Ok(Some(Within {
            distance: match distance {
                DistanceArgument::Hamming => Distance::Hamming,
                DistanceArgument::L1 => Distance::L1,
            },
            most,
        })),
        (Some(_), None) => Err(one_of_two("distance", "within")),
        (None, Some(_)) => Err(one_of_two("within", "distance")),
    }
}
