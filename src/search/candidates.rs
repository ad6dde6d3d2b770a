//! The choice between LSH and an exact join.
//!
//! **The join is the default for tokens only.** It misses nothing; LSH at a threshold of 0.8 misses up to 1.1 % of the
//! pairs of four corpora of texts. But for texts at 0.8 the join takes 1.05 (abstracts), 1.4 (API pages, licences) and
//! 2.0 (terms of service) times the CPU time of LSH with exact verification, because to read counters at random places
//! costs more than signing. For sets of tokens it takes 0.7 to 1.5 times the time of LSH while it meets at most as many pairs
//! of equal shingles as there are shingles, and then more with each pair.

use std::ops::ControlFlow;

use super::context::Context;
use super::corpus::Corpus;
use super::parameters::{CandidateMethod, Search};
use super::part::Compared;
use crate::error::Result;
use crate::pipeline::{Buckets, Prefixes, Reference, Sets};
use crate::progress::{Progress, advance, grouped};
use crate::store::ExactSets;

/// The join's pairs of equal prefix elements, per shingle, up to which [`CandidateMethod::Auto`] chooses it.
///
/// Each takes 40 to 130 ns, filters and comparisons included, where LSH takes some 150 ns per shingle. CPU of whole runs
/// (`pairs --unit tokens`, one thread) on two shared cores of a Zen 4 EPYC, over 240,000 sets of 35 draws from 20,000 tokens,
/// by Zipf's law and by a flatter one, in the release profile:
///
/// | sets, threshold | pairs per shingle | join, s | LSH, s |
/// |---|---|---|---|
/// | Zipf, 0.85 | 4.7 | 3.37 | 1.08 |
/// | Zipf, 0.8 | 8.5 | 5.33 | 1.18 |
/// | flatter, 0.9 | 6.6 | 2.66 | 1.16 |
/// | flatter, 0.8 | 14.9 | 5.59 | 1.17 |
/// | flatter, 0.7 | 24.8 | 9.69 | 1.21 |
///
/// Over sets of words, in an earlier development profile:
///
/// | sets, threshold | pairs per shingle | join, s | LSH, s |
/// |---|---|---|---|
/// | abstracts, 0.9 | 1.0 | 1.05 | 0.85 |
/// | abstracts, 0.8 | 6.2 | 1.55 | 0.88 |
/// | abstracts, 0.7 | 18.6 | 2.88 | 0.90 |
/// | driver documentation, 0.9 | 0.6 | 1.38 | 1.52 |
/// | driver documentation, 0.8 | 8.7 | 2.75 | 2.87 |
/// | licences, 0.8 | 2.7 | 0.69 | 0.48 |
/// | licences, 0.7 | 7.3 | 1.41 | 0.56 |
/// | licences, 0.5 | 28.5 | 5.13 | 3.35 |
/// | licences, five words, 0.5 | 0.9 | 0.64 | 0.67 |
const CHEAP_JOIN_PER_SHINGLE: u64 = 1;

/// The same for small corpora, where a join takes half a second more at most, whatever its pairs are.
const CHEAP_JOIN: u64 = 4_000_000;

/// A join of held sets that could be made.
pub(super) struct Join {
    sets: ExactSets,
    prefixes: Prefixes,
    reference: Option<Reference>,
    cost: JoinCost,
}

/// What a join costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinCost {
    /// Words of all exact sets.
    pub(super) words: u64,
    /// Bytes of the prefixes in memory.
    pub(super) prefix_bytes: u64,
    /// The pairs of equal elements in two prefixes.
    pub(super) shared_elements: u64,
}

impl JoinCost {
    /// Bytes of memory of the sets and their prefixes.
    fn bytes(&self) -> u64 {
        size_of::<u64>() as u64 * self.words + self.prefix_bytes
    }

    /// Whether sets and prefixes fit in memory.
    pub(super) fn fits(&self, search: &Search) -> bool {
        self.bytes() <= search.join_bytes as u64
    }

    /// Why [`CandidateMethod::Auto`] takes LSH instead; `None` if it takes the join.
    pub(super) fn reason_for_lsh(&self, search: &Search) -> Option<String> {
        if !self.fits(search) {
            return Some("the index of an exact join needs more memory than `join_mib`".to_owned());
        }
        let most = CHEAP_JOIN.max(CHEAP_JOIN_PER_SHINGLE * self.words);
        let shared = self.shared_elements;
        (shared > most).then(|| {
            let pairs = grouped(shared);
            format!("an exact join would meet {pairs} pairs of equal shingles")
        })
    }
}

/// Why a run takes LSH whose exact sets were dropped.
pub(super) const LARGE_SETS: &str =
    "the shingles of an exact join need more memory than `join_mib`";

/// Says why [`CandidateMethod::Auto`] takes LSH.
pub(super) fn tell_of_lsh(progress: &dyn Progress, reason: &str) {
    progress.tell(&format!("candidates: LSH, because {reason}"));
}

impl Join {
    /// Decides between a join of the held sets and LSH, for which it returns the sets. If the search names the join, one
    /// that `is_bounded` and does not fit in memory is an error.
    pub(super) fn choose(
        held: Option<ExactSets>,
        is_bounded: bool,
        corpus: &Corpus,
        context: &mut Context<'_>,
    ) -> Result<ControlFlow<Join, Option<ExactSets>>> {
        let (search, progress) = (context.search, context.progress);
        let Some(sets) = held else {
            tell_of_lsh(progress, LARGE_SETS);
            return Ok(ControlFlow::Continue(None));
        };
        let reference = corpus.reference_of(Sets::len(&sets), context.pairing);
        let join = Join::of(sets, reference, context)?;
        let cost = join.cost;
        let is_join = search.candidates == CandidateMethod::Join;
        if is_join && is_bounded && !cost.fits(search) {
            return Err(search.join_too_large().into());
        }
        let reason = cost.reason_for_lsh(search).filter(|_| !is_join);
        if let Some(reason) = reason {
            tell_of_lsh(progress, &reason);
            return Ok(ControlFlow::Continue(Some(join.sets)));
        }
        progress.tell(&format!(
            "candidates: exact join; its shingles and index take {} MB",
            grouped(cost.bytes().div_ceil(1_000_000))
        ));
        Ok(ControlFlow::Break(join))
    }

    fn of(
        sets: ExactSets,
        reference: Option<Reference>,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        let (search, progress) = (context.search, context.progress);
        progress.begin("join", 2 * Sets::len(&sets) as u64);
        let prefixes = context.timings.time("join", 0, || {
            let advance = &mut |done| advance(progress, done, 0, 0);
            Prefixes::of(&sets, search.criterion(), advance)
        })?;
        let cost = JoinCost {
            words: (sets.memory_bytes() / size_of::<u64>()) as u64,
            prefix_bytes: prefixes.bytes(),
            shared_elements: prefixes.shared_elements_of(reference.as_ref()),
        };
        Ok(Join {
            sets,
            prefixes,
            reference,
            cost,
        })
    }

    /// At least the number of candidate pairs.
    pub(super) fn most_pairs(&self) -> u64 {
        let small = self.prefixes.pairs_by_size();
        self.cost.shared_elements.saturating_add(small)
    }

    /// The buckets, and what compares their documents.
    pub(super) fn finish(self) -> Result<(Buckets, Compared)> {
        let buckets = self.prefixes.into_buckets()?.against(self.reference);
        Ok((buckets, Compared::Sets(self.sets)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Documents;
    use crate::error::{Conflict, Error};
    use crate::pipeline::Banding;
    use crate::pipeline::Scratch;
    use crate::progress::{Silent, Timings};
    use crate::search::tests::{Told, batch, engine_of_tokens, families, groups, jaccard, joined};
    use crate::search::verification::Verification;

    #[test]
    fn a_join_is_taken_while_it_is_small_or_cheap() {
        let banding = Banding::new(2, 1, 2).unwrap();
        let mut search = Search::through_lsh(0.5, banding, Verification::Exact);
        search.join_bytes = 1000;
        let cost = |words, prefix_bytes, shared_elements| JoinCost {
            words,
            prefix_bytes,
            shared_elements,
        };
        let takes = |cost: JoinCost| cost.reason_for_lsh(&search).is_none();
        assert!(takes(cost(100, 200, CHEAP_JOIN)));
        assert!(!takes(cost(100, 201, 0)));
        assert!(!takes(cost(100, 200, CHEAP_JOIN + 1)));
        search.join_bytes = usize::MAX;
        let many = 3 * CHEAP_JOIN;
        let cheap = CHEAP_JOIN_PER_SHINGLE * many;
        let takes = |cost: JoinCost| cost.reason_for_lsh(&search).is_none();
        assert!(takes(cost(many, 0, cheap)));
        assert!(!takes(cost(many, 0, cheap + 1)));
    }

    /// Chooses for three sets, two of which are similar, with this bound on memory.
    fn choose(
        method: CandidateMethod,
        is_bounded: bool,
        join_bytes: usize,
    ) -> (Result<ControlFlow<u64, bool>>, Told) {
        let banding = Banding::new(2, 1, 2).unwrap();
        let search = Search {
            candidates: method,
            join_bytes,
            ..Search::through_lsh(0.5, banding, Verification::Exact)
        };
        let told = Told::new();
        let mut sets = ExactSets::default();
        for (position, set) in [(0, [1, 2, 3]), (1, [2, 3, 4]), (2, [7, 8, 9])] {
            sets.insert(position, &set).unwrap();
        }
        let timings = &mut Timings::default();
        let context = &mut Context {
            search: &search,
            pairing: crate::pipeline::Pairing::default(),
            progress: &told,
            timings,
        };
        let chosen = Join::choose(Some(sets), is_bounded, &Corpus::default(), context);
        let chosen = chosen.map(|chosen| match chosen {
            ControlFlow::Break(join) => ControlFlow::Break(join.most_pairs()),
            ControlFlow::Continue(sets) => ControlFlow::Continue(sets.is_some()),
        });
        (chosen, told)
    }

    #[test]
    fn a_join_that_does_not_fit_is_refused_or_left_out() {
        const ENOUGH: usize = 1 << 20;
        // The nine hashes fit, but not with their index.
        const TOO_SMALL: usize = 9 * 8;
        let auto = CandidateMethod::Auto;
        let (chosen, told) = choose(auto, true, ENOUGH);
        assert!(chosen.unwrap().is_break() && told.has("candidates: exact join"));
        let (chosen, told) = choose(auto, true, TOO_SMALL);
        assert!(matches!(chosen, Ok(ControlFlow::Continue(true))));
        assert!(told.has("candidates: LSH") && told.has("`join_mib`"));
        let join = CandidateMethod::Join;
        assert!(choose(join, true, ENOUGH).0.unwrap().is_break());
        let (refused, _) = choose(join, true, TOO_SMALL);
        assert!(matches!(
            refused,
            Err(Error::Conflict(Conflict::JoinMemory { mib: 0 }))
        ));
        // Without a bound of its own, it has the memory of the run.
        assert!(choose(join, false, TOO_SMALL).0.unwrap().is_break());
    }

    #[test]
    fn candidates_are_at_least_the_similar_pairs() {
        let engine = engine_of_tokens();
        let scratch = &mut Scratch::default();
        for (seed, threshold) in [(1, 0.5), (2, 0.8), (3, 0.3)] {
            let lists = families(seed, 60);
            let documents = batch(&lists);
            let search = joined(threshold, &engine);
            let mut sets = ExactSets::default();
            let mut distinct = Vec::new();
            for row in groups(&lists).into_keys() {
                let mut set = Vec::new();
                let document = documents.get(row as usize);
                engine.shingler().exact_list(document, scratch, &mut set);
                sets.insert(u32::try_from(distinct.len()).unwrap(), &set)
                    .unwrap();
                distinct.push(row as usize);
            }
            let context = &mut Context {
                search: &search,
                pairing: crate::pipeline::Pairing::default(),
                progress: &Silent,
                timings: &mut Timings::default(),
            };
            let join = Join::of(sets, None, context).unwrap();
            let similar = |(a, b): (usize, usize)| {
                jaccard(&lists[a], &lists[b]).is_some_and(|known| known >= threshold)
            };
            let pairs = distinct
                .iter()
                .enumerate()
                .flat_map(|(at, a)| distinct[at + 1..].iter().map(move |b| (*a, *b)));
            let similar = pairs.filter(|pair| similar(*pair)).count() as u64;
            assert!(similar > 4 && join.most_pairs() >= similar);
        }
    }
}
