//! Connected components of similar documents.
//!
//! The next document on the way to the kept one explains a removal. To name the most similar neighbour instead was
//! rejected, because it takes all pairs to find it.

use std::collections::{HashSet, VecDeque};

use super::bucket::Buckets;
use super::cluster::{ClusterTask, Clusters};
use super::components::Components;
use super::removal::Removal;
use super::verify::{Comparer, Verified, batches, reaches};
use crate::error::Result;
use crate::threads::{even_block, sort_by_key, try_collect_blocks};

/// Documents above which a bucket is searched by all threads together.
const LARGE: usize = 4096;

impl Clusters {
    /// Keeps the first document in keep order of each connected component of similar candidate pairs, and computes
    /// the similarity of the others to it.
    ///
    /// Compares only what may connect two components: in a bucket, no two documents that are already connected. So a
    /// bucket of m documents, all similar, takes m - 1 comparisons. In each bucket only as many
    /// documents as the task allows are compared with all those not connected to them.
    ///
    /// Calls `advance` now and then with the number of bands searched.
    ///
    /// # Errors
    /// The errors of [`ClusterTask::similarity`] and of `advance`.
    ///
    /// # Panics
    /// If `similarity` or `ranks` lack a position of the buckets.
    pub fn connected(
        buckets: &Buckets,
        task: &ClusterTask<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let documents = buckets.positions().len();
        let mut search = ConnectedSearch {
            buckets,
            task,
            components: Components::new(documents),
            edges: Vec::new(),
            clusters: Clusters::default(),
        };
        for band in 0..buckets.bands() {
            search.connect(band, advance)?;
            advance(band as u64 + 1)?;
        }
        search.finish()
    }
}

/// Two similar documents by index, and what their comparison returned.
type Edge = (u32, u32, Verified);

struct ConnectedSearch<'a> {
    buckets: &'a Buckets,
    task: &'a ClusterTask<'a>,
    components: Components,
    /// A spanning forest of the components.
    edges: Vec<Edge>,
    clusters: Clusters,
}

/// What the search of one bucket found.
#[derive(Default)]
struct Spanned {
    edges: Vec<Edge>,
    compared: u64,
    similar: u64,
    omitted: u64,
}

impl ConnectedSearch<'_> {
    /// Connects the components that similar pairs of a band connect. The buckets of a band hold different documents
    /// and are searched in parallel; what they find is added in order, so that the forest is always the same.
    fn connect(&mut self, band: usize, advance: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let len = |bucket: &u32| self.buckets.members(*bucket).len();
        let (large, small): (Vec<u32>, Vec<u32>) = self
            .buckets
            .numbers_of_band(band)
            .partition(|bucket| len(bucket) > LARGE);
        let mut spanned = Vec::new();
        for batch in batches(&small, len) {
            let found = try_collect_blocks(batch.len(), even_block(batch.len()), |range| {
                let mut comparer = self.task.similarity.comparer();
                let buckets = batch[range].iter();
                buckets
                    .map(|bucket| self.span(*bucket, &mut *comparer, &mut || Ok(())))
                    .collect::<Result<Vec<Option<Spanned>>>>()
            })?;
            spanned.extend(found.into_iter().flatten());
            advance(band as u64)?;
        }
        let mut comparer = self.task.similarity.comparer();
        for bucket in large {
            let mut after_document = || advance(band as u64);
            spanned.extend(self.span(bucket, &mut *comparer, &mut after_document)?);
        }
        for found in spanned {
            self.clusters.compared += found.compared;
            self.clusters.similar += found.similar;
            self.clusters.omitted.pairs += found.omitted;
            self.clusters.omitted.buckets += u64::from(found.omitted > 0);
            for edge in found.edges {
                if self.components.unite(edge.0, edge.1) {
                    self.edges.push(edge);
                }
            }
        }
        Ok(())
    }

    /// Searches a bucket for similar pairs that connect components; `None` if there is only one.
    ///
    /// Walks through the similar documents breadth first: each document reached is compared with all that are not.
    /// Pairs that share an earlier bucket were compared, or left out, there.
    fn span(
        &self,
        bucket: u32,
        comparer: &mut dyn Comparer,
        after_document: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Spanned>> {
        let root = |index: u32| self.components.root(index);
        let members = self.buckets.members(bucket);
        let first = root(members[0]);
        if members.iter().all(|index| root(*index) == first) {
            return Ok(None);
        }
        let mut rest = members.to_vec();
        // Those of a reference come last: nothing is left to compare once all others are reached.
        let order = |index: &u32| (!self.buckets.is_input(*index), self.rank(*index));
        rest.sort_unstable_by_key(order);
        let mut spanned = Spanned::default();
        let mut compared_documents = 0;
        let mut reached = HashSet::new();
        let mut queue = VecDeque::new();
        while let Some(first) = rest.first()
            && self.buckets.is_input(*first)
        {
            reached.insert(root(*first));
            move_reached(&mut rest, &mut queue, |index| {
                reached.contains(&root(index))
            });
            while let Some(index) = queue.pop_front()
                && !rest.is_empty()
            {
                let partners = self.most_partners(index, &rest);
                if partners.is_empty() {
                    continue;
                }
                if !self.task.lists(compared_documents) {
                    queue.push_front(index);
                    spanned.omitted = self.omitted(queue.make_contiguous(), &rest);
                    return Ok(Some(spanned));
                }
                compared_documents += 1;
                let similar =
                    self.similar(bucket, index, partners, comparer, &mut spanned.compared)?;
                spanned.similar += similar.len() as u64;
                for (other, verified) in similar {
                    if reached.insert(root(other)) {
                        spanned.edges.push((index, other, verified));
                    }
                }
                move_reached(&mut rest, &mut queue, |index| {
                    reached.contains(&root(index))
                });
                after_document()?;
            }
        }
        Ok(Some(spanned))
    }

    /// The documents of `rest` that a document may be compared with: those of the input come first.
    fn most_partners<'b>(&self, index: u32, rest: &'b [u32]) -> &'b [u32] {
        if self.buckets.is_input(index) {
            rest
        } else {
            &rest[..rest.partition_point(|other| self.buckets.is_input(*other))]
        }
    }

    /// The number of pairs of `reached` documents and the `rest`, and among the rest, without those of two documents of a
    /// reference.
    fn omitted(&self, reached: &[u32], rest: &[u32]) -> u64 {
        let is_of_reference = |index: &&u32| !self.buckets.is_input(**index);
        let in_reference = |all: &[u32]| all.iter().filter(is_of_reference).count() as u64;
        let pairs = |reached: u64, rest: u64| reached * rest + rest * rest.saturating_sub(1) / 2;
        pairs(reached.len() as u64, rest.len() as u64)
            - pairs(in_reference(reached), in_reference(rest))
    }

    /// The documents of `rest` that are similar to document `index`.
    fn similar(
        &self,
        bucket: u32,
        index: u32,
        rest: &[u32],
        comparer: &mut dyn Comparer,
        compared: &mut u64,
    ) -> Result<Vec<(u32, Verified)>> {
        let is_new = |other: &u32| {
            self.buckets.compares(index, *other)
                && self.buckets.first_shared(index, *other) == Some(bucket)
        };
        let partners = rest.iter().copied().filter(is_new);
        let partners: Vec<u32> = partners
            .filter(|other| self.buckets.may_be_similar(index, *other))
            .collect();
        *compared += partners.len() as u64;
        let compare = |comparer: &mut dyn Comparer, other: u32| {
            let (a, b) = (self.position(index), self.position(other));
            let verified = comparer.compare(a, b, self.task.threshold)?;
            let is_similar = reaches(verified.similarity, self.task.threshold);
            Ok(is_similar.then_some((other, verified)))
        };
        let similar: Vec<Option<_>> = if partners.len() > LARGE {
            try_collect_blocks(partners.len(), LARGE / 8, |range| {
                let mut own = self.task.similarity.comparer();
                let partners = partners[range].iter();
                partners
                    .map(|other| compare(&mut *own, *other))
                    .collect::<Result<_>>()
            })?
        } else {
            let compared = partners.iter().map(|other| compare(comparer, *other));
            compared.collect::<Result<_>>()?
        };
        Ok(similar.into_iter().flatten().collect())
    }

    fn position(&self, index: u32) -> u32 {
        self.buckets.positions()[index as usize]
    }

    fn rank(&self, index: u32) -> u32 {
        self.task.rank(self.position(index))
    }

    /// Keeps the first document of each component, and computes the similarities of the others to it.
    fn finish(self) -> Result<Clusters> {
        let documents = self.buckets.positions().len();
        let mut kept: Vec<u32> = (0..).take(documents).collect();
        for index in (0..).take(documents) {
            let first = &mut kept[self.components.root(index) as usize];
            if self.rank(index) < self.rank(*first) {
                *first = index;
            }
        }
        let forest = Forest::of(&self.edges, documents);
        let mut removals: Vec<Removal> = Vec::with_capacity(self.edges.len());
        let mut queue = VecDeque::new();
        for root in (0..).take(documents) {
            if self.components.root(root) != root {
                continue;
            }
            let first = kept[root as usize];
            queue.push_back((first, None));
            while let Some((index, parent)) = queue.pop_front() {
                for (other, verified) in forest.neighbours(index) {
                    if Some(other) == parent {
                        continue;
                    }
                    queue.push_back((other, Some(index)));
                    if !self.buckets.is_input(other) {
                        continue;
                    }
                    removals.push(Removal {
                        document: self.position(other),
                        kept: self.position(first),
                        is_identical: false,
                        similarity: verified.similarity,
                        overlap: verified.overlap,
                        via: Some((self.position(index), verified.similarity)),
                    });
                }
            }
        }
        let mut clusters = self.clusters;
        let is_far =
            |removal: &&mut Removal| removal.via.is_some_and(|(via, _)| via != removal.kept);
        let mut far: Vec<&mut Removal> = removals.iter_mut().filter(is_far).collect();
        let pairs = far.iter().map(|removal| (removal.kept, removal.document));
        let pairs: Vec<_> = pairs.collect();
        let compared = self.task.similarity.verify_pairs(&pairs)?;
        for (removal, verified) in far.iter_mut().zip(compared) {
            removal.similarity = verified.similarity;
            removal.overlap = verified.swapped().overlap;
        }
        sort_by_key(&mut removals, |removal| removal.document);
        clusters.removals = removals;
        Ok(clusters)
    }
}

/// Moves the documents that `is_reached` marks from `rest` to the end of `queue`, in order.
fn move_reached(rest: &mut Vec<u32>, queue: &mut VecDeque<u32>, is_reached: impl Fn(u32) -> bool) {
    rest.retain(|index| {
        let is_reached = is_reached(*index);
        if is_reached {
            queue.push_back(*index);
        }
        !is_reached
    });
}

/// The neighbours of each document in the spanning forest: each edge appears on both sides.
struct Forest {
    starts: Vec<usize>,
    /// With each, the comparison of it with the document.
    neighbours: Vec<(u32, Verified)>,
}

impl Forest {
    fn of(edges: &[Edge], documents: usize) -> Self {
        let mut starts = vec![0; documents + 1];
        for (a, b, _) in edges {
            starts[*a as usize + 1] += 1;
            starts[*b as usize + 1] += 1;
        }
        for i in 0..documents {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![(0, Verified::default()); starts[documents]];
        for (a, b, verified) in edges {
            for (from, to, verified) in [(*a, *b, verified.swapped()), (*b, *a, *verified)] {
                neighbours[next[from as usize]] = (to, verified);
                next[from as usize] += 1;
            }
        }
        Forest { starts, neighbours }
    }

    fn neighbours(&self, index: u32) -> impl Iterator<Item = (u32, Verified)> {
        let index = index as usize;
        let range = self.starts[index]..self.starts[index + 1];
        self.neighbours[range].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cluster::tests::{Made, made};
    use super::*;

    /// The kept document of each document: the first in keep order of its component of similar candidate pairs.
    fn expected_kept(made: &Made) -> Vec<u32> {
        let documents: Vec<u32> = (0..).take(made.keys.len()).collect();
        let mut kept = documents.clone();
        let similar = |a: u32, b: u32| {
            let (keys_a, keys_b) = (&made.keys[a as usize], &made.keys[b as usize]);
            keys_a.iter().zip(keys_b).any(|(a, b)| a == b) && made.similarity(a, b) >= 0.5
        };
        let rank = |document: u32| made.ranks[document as usize];
        // As many rounds as a chain is long.
        for _ in &documents {
            for a in &documents {
                for b in &documents {
                    let first = kept[*b as usize];
                    if similar(*a, *b) && rank(first) < rank(kept[*a as usize]) {
                        kept[*a as usize] = first;
                    }
                }
            }
        }
        kept
    }

    proptest! {
        #[test]
        fn connected_equals_the_definition(made in made()) {
            let task = ClusterTask { ranks: Some(&made.ranks), ..ClusterTask::new(&made, 0.5) };
            let buckets = made.buckets();
            let clusters = Clusters::connected(&buckets, &task, &mut |_| Ok(())).unwrap();
            let expected = expected_kept(&made);
            let mut kept: Vec<u32> = (0..).take(expected.len()).collect();
            for removal in &clusters.removals {
                kept[removal.document as usize] = removal.kept;
                let Some((via, similarity)) = removal.via else { panic!() };
                prop_assert_eq!(expected[via as usize], removal.kept);
                let link_similarity = made.similarity(removal.document, via);
                prop_assert!(link_similarity >= 0.5 && similarity == Some(link_similarity));
                let kept_similarity = made.similarity(removal.document, removal.kept);
                prop_assert_eq!(removal.similarity, Some(kept_similarity));
            }
            prop_assert_eq!(kept, expected);
            prop_assert_eq!(clusters.omitted.pairs, 0);
        }

        #[test]
        fn bounded_buckets_lose_no_pair_uncounted(made in made(), most in 1usize..4) {
            let free = ClusterTask::new(&made, 0.5);
            let buckets = made.buckets();
            let bounded = Clusters::connected(&buckets, &free.bounded(most), &mut |_| Ok(())).unwrap();
            let all = Clusters::connected(&buckets, &free, &mut |_| Ok(())).unwrap();
            prop_assert!(bounded.removals.len() <= all.removals.len());
            if bounded.omitted.pairs == 0 {
                prop_assert_eq!(bounded.removals, all.removals);
            }
        }
    }
}
