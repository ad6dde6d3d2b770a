//! A part of the documents of a search, before its buckets are made.
//!
//! Memory is one part, the disk has many, and engines such as Spark hand theirs in. Each adds what it knows of its connected
//! documents, by position, to [`PartRecords`]; these alone make buckets, and the similarity that verifies candidate pairs.

use std::borrow::Cow;
use std::sync::Arc;

use super::corpus::Corpus;
use super::observations::{Observations, ObservedSignatures, OpenGroups};
use super::parameters::Search;
use super::signed_sets::SignedSets;
use super::verification::Verification;
use crate::error::Result;
use crate::pipeline::{
    Buckets, ClusterTask, Clusters, Member, PackedSignatures, PairFilter, Prefix, Prefixes, Sets,
    Similarity, Unverified,
};
use crate::store::{ExactSets, NearSets, Texts};

/// A part of a search. Its documents are numbered by ascending row, from 0.
pub(crate) struct Part<'a> {
    pub(crate) documents: PartDocuments,
    /// The documents, where a document's row is its number.
    pub(crate) corpus: Corpus,
    /// The classes of documents in the order of preference, if they are read with their documents.
    pub(crate) classes: Option<Vec<u64>>,
    pub(crate) buckets: Buckets,
    pub(crate) similarity: Box<dyn Similarity + Send>,
    /// What clusters the part if it is one component that memory does not hold: it has no buckets here.
    pub(crate) in_blocks: Option<Box<dyn GreedyInBlocks + 'a>>,
}

impl Part<'_> {
    /// All documents of a search.
    pub(super) fn whole(
        corpus: Corpus,
        buckets: Buckets,
        compared: Compared,
        search: &Search,
        observed: &Observations,
    ) -> Self {
        Part {
            documents: PartDocuments::default(),
            corpus,
            classes: None,
            buckets,
            similarity: compared.similarity(search, observed),
            in_blocks: None,
        }
    }
}

/// Clusters documents that memory does not hold.
pub(crate) trait GreedyInBlocks: Send {
    /// What [`Clusters::greedy`] returns of all of them. The similarity of `task` is not used.
    fn greedy(
        &self,
        task: &ClusterTask<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Clusters>;

    /// The number of distinct shingles of each position, if documents are compared by exact sets.
    fn sizes(&self) -> Result<Vec<(u32, u32)>>;
}

/// A step of the work on all parts.
pub(crate) enum Step<T> {
    /// The result of a part, or of some of its components.
    Result(T),
    /// The work on the first parts is complete, and none has begun on another.
    Done {
        /// Their number.
        parts: usize,
    },
    /// The user stopped the run. No more steps follow.
    Stopped,
}

/// The rows and ids of the documents of a part.
#[derive(Debug, Default)]
pub(crate) struct PartDocuments {
    /// `None` if each is its number.
    rows: Option<Vec<u32>>,
    /// `None` if documents have no ids of their own, or if they are not read with their documents.
    ids: Option<Texts>,
}

impl PartDocuments {
    /// The documents at these rows, which ascend.
    pub(super) fn new(rows: Vec<u32>, ids: Option<Texts>) -> Self {
        PartDocuments {
            rows: Some(rows),
            ids,
        }
    }

    /// The row of a document among all documents.
    pub(crate) fn row(&self, number: u32) -> u32 {
        let rows = self.rows.as_ref();
        rows.map_or(number, |rows| rows[number as usize])
    }

    /// Whether the ids of documents are known.
    pub(crate) fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The id of a document, as JSON; empty if it is not known.
    pub(crate) fn id(&self, number: u32) -> &str {
        self.ids.as_ref().map_or("", |ids| ids.get(number as usize))
    }
}

/// What all parts of a search have in common.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct PartShape {
    #[doc(hidden)]
    pub search: Search,
    #[doc(hidden)]
    pub num_perm: usize,
    /// Whether the shingles of exact sets have weights.
    #[doc(hidden)]
    pub weighted: bool,
    #[doc(hidden)]
    pub buckets: BucketsOf,
}

/// What makes buckets of the documents of a part.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum BucketsOf {
    /// The keys of this many bands.
    Bands(usize),
    /// Shared elements of prefixes.
    Prefixes {
        filter: PairFilter,
        /// The number of elements of all prefixes of the search.
        elements: u64,
    },
}

/// What is known of connected documents, by position.
#[derive(Debug)]
#[doc(hidden)]
pub struct PartRecords {
    pub(super) members: Members,
    pub(super) compared: Compared,
}

/// What makes buckets of documents.
#[derive(Debug)]
pub(super) enum Members {
    /// Keys of bands.
    OfBands(Vec<Member>),
    /// Prefixes of sets.
    OfPrefixes(Prefixes),
}

/// What compares documents, by position.
#[derive(Debug)]
pub(crate) enum Compared {
    /// Nothing: pairs are not verified.
    Nothing,
    Signatures(PackedSignatures),
    Sets(ExactSets),
    /// Sets, each after the packed signature of its document, and the number of slots of a signature.
    SignedSets(ExactSets, usize),
}

/// Where the estimates of compared documents are observed.
#[doc(hidden)]
#[derive(Debug)]
pub enum Observed<'a> {
    /// These are whole components.
    Components(&'a Observations),
    /// These are some of the documents of groups, with the number of each of them there.
    Groups(&'a Arc<OpenGroups>, Vec<u32>),
}

impl PartRecords {
    /// Nothing yet.
    #[doc(hidden)]
    pub fn none(shape: &PartShape) -> Self {
        PartRecords {
            members: match shape.buckets {
                BucketsOf::Bands(_) => Members::OfBands(Vec::new()),
                BucketsOf::Prefixes { filter, elements } => {
                    Members::OfPrefixes(Prefixes::for_part(filter, 0, elements))
                }
            },
            compared: Compared::none(shape),
        }
    }

    /// Adds a document to a bucket, which has two or more in all.
    #[doc(hidden)]
    pub fn add_member(&mut self, member: Member) {
        if let Members::OfBands(members) = &mut self.members {
            members.push(member);
        }
    }

    /// Adds the prefix of a set.
    pub(crate) fn add_prefix(&mut self, position: u32, prefix: &Prefix) {
        if let Members::OfPrefixes(prefixes) = &mut self.members {
            prefixes.push(position, prefix);
        }
    }

    /// Adds what compares a document: the words of its signature, or its exact set.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) for words that are no signature of the search.
    #[doc(hidden)]
    pub fn add_compared(&mut self, position: u32, words: &[u64]) -> Result<()> {
        match &mut self.compared {
            Compared::Nothing => Ok(()),
            Compared::Signatures(packed) => packed.set_row(position as usize, words),
            Compared::Sets(sets) | Compared::SignedSets(sets, _) => sets.insert(position, words),
        }
    }

    /// The number of memberships in buckets of bands.
    #[doc(hidden)]
    pub fn members(&self) -> usize {
        match &self.members {
            Members::OfBands(members) => members.len(),
            Members::OfPrefixes(_) => 0,
        }
    }

    /// Bytes of what compares documents.
    #[doc(hidden)]
    pub fn compared_bytes(&self) -> usize {
        match &self.compared {
            Compared::Nothing => 0,
            Compared::Signatures(packed) => size_of_val(packed.words()),
            Compared::Sets(sets) | Compared::SignedSets(sets, _) => sets.memory_bytes(),
        }
    }

    /// What is known of some of the documents, whose new positions, below `documents`, `position_of` knows.
    #[doc(hidden)]
    pub fn select(
        &self,
        documents: usize,
        position_of: impl Fn(u32) -> Option<u32>,
    ) -> Result<Self> {
        let members = match &self.members {
            Members::OfPrefixes(prefixes) => {
                Members::OfPrefixes(prefixes.select(documents, &position_of))
            }
            Members::OfBands(members) => {
                let members = members.iter().filter_map(|member| {
                    let position = position_of(member.position)?;
                    Some(Member {
                        position,
                        ..*member
                    })
                });
                Members::OfBands(members.collect())
            }
        };
        let compared = self.compared.select(position_of)?;
        Ok(PartRecords { members, compared })
    }

    /// The buckets of `documents`, and what compares them.
    #[doc(hidden)]
    pub fn finish(
        self,
        documents: usize,
        shape: &PartShape,
        observed: &Observations,
    ) -> Result<(Buckets, Box<dyn Similarity + Send>)> {
        let buckets = match self.members {
            Members::OfBands(members) => shape.buckets_of(documents, members)?,
            Members::OfPrefixes(prefixes) => prefixes.among(documents).into_buckets()?,
        };
        Ok((buckets, self.compared.similarity(&shape.search, observed)))
    }
}

impl PartShape {
    /// The buckets of members of bands.
    pub(super) fn buckets_of(&self, documents: usize, members: Vec<Member>) -> Result<Buckets> {
        let bands = match self.buckets {
            BucketsOf::Bands(bands) => bands,
            BucketsOf::Prefixes { .. } => 0,
        };
        Buckets::from_members(documents, bands, members)
    }
}

impl Compared {
    /// Nothing yet.
    fn none(shape: &PartShape) -> Self {
        match shape.search.verification {
            Verification::None => Compared::Nothing,
            Verification::Signature => {
                Compared::Signatures(PackedSignatures::new(shape.num_perm, Search::SLOT_BITS))
            }
            Verification::Exact => {
                let sets = ExactSets::default().weighted(shape.weighted);
                let sets = sets.measured(shape.search.measure);
                Compared::from_sets(sets, &shape.search, shape.num_perm)
            }
        }
    }

    /// Sets, after signatures if the search takes them.
    pub(super) fn from_sets(sets: ExactSets, search: &Search, num_perm: usize) -> Self {
        if search.estimates_index() {
            Compared::SignedSets(sets.after_prefix(search.set_prefix(num_perm)), num_perm)
        } else {
            Compared::Sets(sets)
        }
    }

    /// Signatures, if there are any.
    pub(super) fn from_signatures(signatures: Option<PackedSignatures>) -> Self {
        signatures.map_or(Compared::Nothing, Compared::Signatures)
    }

    fn select(&self, position_of: impl Fn(u32) -> Option<u32>) -> Result<Self> {
        match self {
            Compared::Nothing => Ok(Compared::Nothing),
            Compared::Signatures(all) => {
                let mut packed = PackedSignatures::new(all.num_perm(), all.bits());
                for (row, old) in (0..all.len()).zip(0..) {
                    if let Some(new) = position_of(old) {
                        packed.set_row(new as usize, all.row(row))?;
                    }
                }
                Ok(Compared::Signatures(packed))
            }
            Compared::Sets(all) => Ok(Compared::Sets(select_sets(all, position_of)?)),
            Compared::SignedSets(all, num_perm) => {
                let sets = select_sets(all, position_of)?;
                Ok(Compared::SignedSets(sets, *num_perm))
            }
        }
    }

    /// Compares whole components as the search asks for.
    pub(super) fn similarity(
        self,
        search: &Search,
        observed: &Observations,
    ) -> Box<dyn Similarity + Send> {
        match self {
            Compared::Nothing => Box::new(Unverified),
            Compared::Signatures(packed) => {
                Box::new(ObservedSignatures::counted_in(Cow::Owned(packed), observed))
            }
            Compared::Sets(sets) => match search.within {
                None => Box::new(sets.measured(search.measure)),
                Some(within) => Box::new(NearSets { sets, within }),
            },
            Compared::SignedSets(sets, num_perm) => Box::new(SignedSets { sets, num_perm }),
        }
    }

    /// Calls `run` with what compares documents that stay here. There are no distances among them.
    pub(super) fn with_similarity<T>(
        &self,
        observed: Observed<'_>,
        run: impl FnOnce(&dyn Similarity) -> T,
    ) -> T {
        match self {
            Compared::Nothing => run(&Unverified),
            Compared::Sets(sets) => run(sets),
            Compared::Signatures(packed) => {
                let packed = Cow::Borrowed(packed);
                run(&match observed {
                    Observed::Components(all) => ObservedSignatures::counted_in(packed, all),
                    Observed::Groups(groups, names) => {
                        ObservedSignatures::in_groups(packed, groups, names)
                    }
                })
            }
            Compared::SignedSets(sets, num_perm) => run(&SignedSets {
                sets,
                num_perm: *num_perm,
            }),
        }
    }
}

/// Some of the sets, at the positions that `position_of` knows.
fn select_sets(all: &ExactSets, position_of: impl Fn(u32) -> Option<u32>) -> Result<ExactSets> {
    let mut sets = all.none_of_form();
    for (_, old) in (0..Sets::len(all)).zip(0..) {
        if let Some(new) = position_of(old) {
            sets.insert(new, all.get(old))?;
        }
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Banding, Comparer};

    fn shape(verification: Verification) -> PartShape {
        let banding = Banding::new(2, 1, 64).unwrap();
        PartShape {
            search: Search::through_lsh(0.5, banding, verification),
            num_perm: 64,
            weighted: false,
            buckets: BucketsOf::Bands(2),
        }
    }

    /// Documents that have a key for each band, and a signature or set of equal words.
    fn records(shape: &PartShape, documents: &[(u64, u64, u64)]) -> PartRecords {
        let mut records = PartRecords::none(shape);
        for (position, (first, second, word)) in (0..).zip(documents) {
            for (band, key) in [(0, *first), (1, *second)] {
                records.add_member(Member {
                    band,
                    key,
                    position,
                });
            }
            records.add_compared(position, &[*word; 8]).unwrap();
        }
        records
    }

    /// All similarities of documents in buckets, by position.
    fn compared(documents: usize, shape: &PartShape, records: PartRecords) -> Vec<Option<f64>> {
        let observed = Observations::none(shape.num_perm);
        let (buckets, similarity) = records.finish(documents, shape, &observed).unwrap();
        let positions = buckets.positions();
        let mut comparer = similarity.comparer();
        let pairs = positions
            .iter()
            .flat_map(|a| positions.iter().map(move |b| (*a, *b)));
        let compared = pairs.map(|(a, b)| comparer.compare(a, b, 0.0).unwrap().similarity);
        compared.collect()
    }

    #[test]
    fn a_selection_is_as_if_no_others_had_been_there() {
        let documents = [(1, 5, 7), (1, 6, 8), (2, 6, 7), (3, 5, 9), (2, 9, 7)];
        let chosen = [4, 0, 3, 2];
        for verification in [
            Verification::None,
            Verification::Signature,
            Verification::Exact,
        ] {
            let shape = shape(verification);
            let all = records(&shape, &documents);
            let position_of = |old: u32| {
                let at = chosen.iter().position(|chosen| *chosen == old as usize);
                at.map(|at| u32::try_from(at).unwrap())
            };
            let some = all.select(chosen.len(), position_of).unwrap();
            let alone = records(&shape, &chosen.map(|number| documents[number]));
            assert_eq!(some.members(), alone.members());
            assert_eq!(some.compared_bytes(), alone.compared_bytes());
            assert_eq!(
                compared(chosen.len(), &shape, some),
                compared(chosen.len(), &shape, alone),
                "{verification:?}"
            );
        }
    }

    #[test]
    fn verification_decides_what_compares() {
        let documents = [(1, 5, 7), (1, 5, 8)];
        let of = |verification| {
            let shape = shape(verification);
            compared(2, &shape, records(&shape, &documents))[1]
        };
        assert_eq!(of(Verification::None), None);
        assert_eq!(of(Verification::Exact), Some(0.0));
        assert!(of(Verification::Signature).is_some_and(|estimate| estimate < 1.0));
    }

    #[test]
    fn words_that_are_no_signature_are_refused() {
        let mut records = PartRecords::none(&shape(Verification::Signature));
        assert!(records.add_compared(0, &[1; 7]).is_err());
        assert!(records.add_compared(0, &[1; 9]).is_err());
        assert!(records.add_compared(0, &[1; 8]).is_ok());
    }

    #[test]
    fn what_stays_here_is_observed_in_its_groups() {
        let shape = shape(Verification::Signature);
        let documents = [(1, 5, 7), (1, 5, 7)];
        let counts = |groups: bool| {
            let all = Observations::none(shape.num_perm);
            let open = OpenGroups::new(4, &all);
            let observed = if groups {
                Observed::Groups(&open, vec![3, 1])
            } else {
                Observed::Components(&all)
            };
            let records = records(&shape, &documents);
            let compare = |similarity: &dyn Similarity| {
                let mut comparer: Box<dyn Comparer> = similarity.comparer();
                comparer.compare(0, 1, 0.5).unwrap().similarity
            };
            assert_eq!(
                records.compared.with_similarity(observed, compare),
                Some(1.0)
            );
            drop(open);
            all.counts()
        };
        let (in_groups, whole) = (counts(true), counts(false));
        assert_eq!(in_groups, whole);
        assert_eq!((whole[64], whole[65]), (1, 1));
    }

    #[test]
    fn a_selection_keeps_its_weights() {
        let shape = PartShape {
            weighted: true,
            ..shape(Verification::Exact)
        };
        // Element 7 with weights 1, 8 and 2: the similarity of the last two is a quarter.
        let mut all = PartRecords::none(&shape);
        for (position, weight) in [(0, 1), (1, 8), (2, 2)] {
            all.add_member(Member {
                band: 0,
                key: 5,
                position,
            });
            all.add_compared(position, &[7, weight]).unwrap();
        }
        let some = all.select(2, |old| old.checked_sub(1)).unwrap();
        let quarter = Some(0.25);
        let expected = [Some(1.0), quarter, quarter, Some(1.0)];
        assert_eq!(compared(2, &shape, some), expected);
    }

    #[test]
    fn documents_have_the_rows_and_ids_of_their_part() {
        let mut ids = Texts::default();
        ["\"a\"", "7"].iter().for_each(|id| ids.push(id));
        let part = PartDocuments::new(vec![4, 9], Some(ids));
        assert_eq!((part.row(0), part.row(1)), (4, 9));
        assert_eq!((part.id(0), part.id(1)), ("\"a\"", "7"));
        assert!(part.has_ids());
        let whole = PartDocuments::default();
        assert_eq!((whole.row(3), whole.id(3), whole.has_ids()), (3, "", false));
    }
}
