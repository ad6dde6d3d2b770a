//! Greedy clustering: removes each document that is similar to a kept one before it in keep order.
//!
//! **Why the bound on a bucket.** Many dissimilar documents that share boilerplate are all kept, and would all be
//! compared with each other.
//!
//! **Small groups first, each on one thread.** A document is compared only with those that a chain of shared buckets
//! connects with it. In most corpora nearly all groups so connected have a few documents. Only the others are visited in
//! order, block by block, by one thread that writes down what it keeps.

use std::borrow::Cow;

use super::bucket::{Buckets, shares};
use super::cluster::{ClusterTask, Clusters, Omitted};
use super::components::{Components, SharedComponents};
use super::removal::Removal;
use super::verify::{Comparer, Verified, batches, reaches};
use crate::error::{Result, row_number};
use crate::threads::{
    collect_blocks, even_block, map_blocks, sort, sort_by_key, try_collect_blocks,
};

/// Which documents are decided at the same time. The result does not depend on it.
#[derive(Clone, Copy, Debug)]
struct Grouping {
    /// The most documents of a small group.
    small: usize,
    /// The least documents whose groups are looked at between two calls of `advance`.
    batch: usize,
    /// Documents per block.
    block: usize,
}

const GROUPING: Grouping = Grouping {
    small: 64,
    batch: 1 << 14,
    block: 1024,
};

/// Partners above which one document's comparisons are divided among threads.
const MANY: usize = 1024;

/// Places whose groups are worth a job, 10 µs or more.
const PLACES: usize = 1 << 10;

/// Documents that are known to be kept, before all others in keep order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptBefore<'a> {
    /// The positions below this one are those of kept documents.
    pub(crate) positions: u32,
    /// How many more are kept in each bucket, beyond those that later documents are compared with; empty if none are.
    pub(crate) unlisted: &'a [u32],
}

impl Clusters {
    /// Visits documents in keep order, and removes each that shares a bucket with a kept document and is similar to
    /// it. [`Removal::kept`] is the most similar of these kept documents; ties go to the first in keep order. A
    /// document that shares no bucket stays.
    ///
    /// Each document is compared only with kept ones: in each of its buckets, with the first of them, as many as the
    /// task allows. So time and memory grow with the number of documents and of kept ones in
    /// a bucket, not with the square of a group of similar documents.
    ///
    /// Calls `advance` now and then with the number of documents visited.
    ///
    /// # Errors
    /// The errors of [`ClusterTask::similarity`] and of `advance`.
    ///
    /// # Panics
    /// If `similarity` or `ranks` lack a position of the buckets.
    pub fn greedy(
        buckets: Buckets,
        task: &ClusterTask<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let none = KeptBefore::default();
        Clusters::greedy_in_groups(buckets, task, none, GROUPING, advance)
    }

    /// The same among documents of which some are known to be kept: they are not compared with each other, and not
    /// counted. Documents come in the order of positions.
    pub(crate) fn greedy_after(
        buckets: Buckets,
        task: &ClusterTask<'_>,
        kept: KeptBefore<'_>,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        Clusters::greedy_in_groups(buckets, task, kept, GROUPING, advance)
    }

    fn greedy_in_groups(
        buckets: Buckets,
        task: &ClusterTask<'_>,
        kept: KeptBefore<'_>,
        grouping: Grouping,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let mut order: Vec<u32> = (0..).take(buckets.positions().len()).collect();
        let reference = buckets.reference_len();
        if task.ranks.is_some() {
            let key = |index: &u32| task.rank(buckets.positions()[*index as usize]);
            sort_by_key(&mut order[reference..], key);
        }
        let mut greedy = Greedy {
            kept: vec![0; buckets.count()],
            last: vec![0; buckets.count()],
            buckets,
            task,
            visited: 0,
            clusters: Clusters::default(),
        };
        let known = order.partition_point(|index| greedy.position(*index) < kept.positions);
        // Those of the reference are kept, too. The known ones among them come first.
        let not_compared = known.max(reference);
        let places: Vec<u32> = match kept.unlisted {
            [] => {
                let small = task.listed(grouping.small);
                let grouping = Grouping { small, ..grouping };
                greedy.decide_small_groups(&order, not_compared, grouping, advance)?
            }
            // Buckets have kept more documents than are held, so that the size of a group says nothing of them.
            _ => (0..).take(order.len()).collect(),
        };
        let among_places = |end: usize| places.partition_point(|place| (*place as usize) < end);
        let [known, not_compared] = [known, not_compared].map(among_places);
        let order: Vec<u32> = places.iter().map(|place| order[*place as usize]).collect();
        order[..known].iter().for_each(|index| greedy.list(*index));
        for (kept, unlisted) in greedy.kept.iter_mut().zip(kept.unlisted) {
            *kept += unlisted;
        }
        greedy.clusters.omitted = Omitted::default();
        // Documents of the reference that no earlier block has listed.
        let unlisted = &order[known..not_compared];
        unlisted.iter().for_each(|index| greedy.list(*index));
        for block in order[not_compared..].chunks(grouping.block) {
            greedy.visit(block, advance)?;
            advance(u64::from(greedy.visited))?;
        }
        let mut clusters = greedy.clusters;
        let removals = &mut clusters.removals;
        sort_by_key(removals, |removal| removal.document);
        Ok(clusters)
    }

    /// Adds the comparisons of a document.
    fn add_comparisons(&mut self, found: &NearKept) {
        self.compared += found.compared;
        self.similar += found.similar;
    }
}

/// The state after some documents in keep order.
///
/// A bucket's kept documents are listed in place of its members, first kept first, as many as a further one is compared
/// with.
struct Greedy<'a> {
    task: &'a ClusterTask<'a>,
    buckets: Buckets,
    /// The number of kept documents of each bucket.
    kept: Vec<u32>,
    /// One more than the number of the last visited document of each bucket.
    last: Vec<u32>,
    /// The number of visited documents, those of decided groups included.
    visited: u32,
    clusters: Clusters,
}

/// The kept documents found for one document so far.
#[derive(Clone, Copy, Debug, Default)]
struct NearKept {
    /// The most similar kept document by index, and what the comparison of the document with it returned.
    best: Option<(u32, Verified)>,
    compared: u64,
    similar: u64,
}

/// Some documents of small groups, and which documents are not decided yet.
#[derive(Debug, Default)]
struct Decided {
    clusters: Clusters,
    /// The number of documents.
    documents: u32,
    /// The places in keep order of those of larger groups.
    undecided: Vec<u32>,
}

impl Decided {
    fn with(mut self, mut more: Decided) -> Self {
        self.clusters.compared += more.clusters.compared;
        self.clusters.similar += more.clusters.similar;
        self.clusters.removals.append(&mut more.clusters.removals);
        self.documents += more.documents;
        self.undecided.append(&mut more.undecided);
        self
    }
}

impl Greedy<'_> {
    /// Decides the small groups, of so few documents that a bucket lists all kept ones. The first `not_compared` documents in
    /// keep order are kept. Returns the places in `order` of the documents of larger groups.
    fn decide_small_groups(
        &mut self,
        order: &[u32],
        not_compared: usize,
        grouping: Grouping,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Vec<u32>> {
        let grouped = self.grouped(order)?;
        let mut undecided = Vec::new();
        let mut rest = &grouped[..];
        while let Some((last, _)) = rest.get(grouping.batch).or(rest.last()) {
            let (batch, after) = rest.split_at(rest.partition_point(|(root, _)| root <= last));
            rest = after;
            let groups: Vec<&[(u32, u32)]> = batch.chunk_by(|(a, _), (b, _)| a == b).collect();
            let decide = |group: &[(u32, u32)], comparer: &mut dyn Comparer| {
                let places = group.iter().map(|(_, place)| *place);
                if group.len() > grouping.small {
                    return Ok(Decided {
                        undecided: places.collect(),
                        ..Decided::default()
                    });
                }
                let kept = group.partition_point(|(_, place)| (*place as usize) < not_compared);
                let group = places.map(|place| (order[place as usize], NearKept::default()));
                self.decide_small_group(&group.collect::<Vec<_>>(), kept, comparer)
            };
            let decided = map_blocks(groups.len(), even_block(groups.len()), |range| {
                let mut comparer = self.task.similarity.comparer();
                groups[range]
                    .iter()
                    .try_fold(Decided::default(), |all, group| {
                        Ok(all.with(decide(group, &mut *comparer)?))
                    })
            });
            let decided = decided
                .into_iter()
                .try_fold(Decided::default(), |all, more: Result<Decided>| {
                    more.map(|more| all.with(more))
                })?;
            self.clusters.add(&decided.clusters, |position| position);
            self.visited += decided.documents;
            undecided.extend(decided.undecided);
            advance(u64::from(self.visited))?;
        }
        sort(&mut undecided);
        Ok(undecided)
    }

    /// The root of each document's group, and its place in `order`, sorted. A chain of shared buckets connects the
    /// documents of a group.
    fn grouped(&self, order: &[u32]) -> Result<Vec<(u32, u32)>> {
        let groups = SharedComponents::new(order.len());
        self.buckets.for_each_neighbours(|a, b| groups.unite(a, b));
        let places = 0..row_number(order.len())?;
        let mut grouped = collect_blocks(order.len(), PLACES, |range| {
            // All places are row numbers.
            let places = (places.start..).skip(range.start).zip(&order[range]);
            places
                .map(|(place, index)| (groups.root(*index), place))
                .collect()
        });
        sort(&mut grouped);
        Ok(grouped)
    }

    /// Decides a group that is small.
    fn decide_small_group(
        &self,
        group: &[(u32, NearKept)],
        not_compared: usize,
        comparer: &mut dyn Comparer,
    ) -> Result<Decided> {
        let mut decided = Decided {
            documents: row_number(group.len())?,
            ..Decided::default()
        };
        let found = self.decide_group(group, not_compared, comparer)?;
        for ((index, _), found) in group.iter().zip(found) {
            decided.clusters.add_comparisons(&found);
            let removal = self.removal(*index, &found);
            decided.clusters.removals.extend(removal);
        }
        Ok(decided)
    }

    /// Decides a block of documents, which are in keep order.
    ///
    /// First all of them, in parallel, are compared with the kept documents of earlier blocks. What is left depends
    /// on other documents of the block only if they share a bucket. So the block falls into groups that share none,
    /// which are decided in parallel, each in order. Every document is thus compared with exactly the kept ones
    /// before it that are listed in a bucket it shares, however the documents are cut into blocks.
    fn visit(&mut self, block: &[u32], advance: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let mut found = Vec::with_capacity(block.len());
        for batch in batches(block, |index| self.most_kept_partners(*index)) {
            found.append(&mut self.compare_with_kept(batch)?);
            advance(u64::from(self.visited))?;
        }
        let groups = self.groups(block);
        let decided = try_collect_blocks(groups.len(), even_block(groups.len()), |range| {
            let mut comparer = self.task.similarity.comparer();
            let decide = |group: &Vec<usize>| {
                let group = group.iter().map(|at| (block[*at], found[*at]));
                self.decide_group(&group.collect::<Vec<_>>(), 0, &mut *comparer)
            };
            groups[range]
                .iter()
                .map(decide)
                .collect::<Result<Vec<Vec<NearKept>>>>()
        })?;
        for (at, decided) in groups.iter().flatten().zip(decided.into_iter().flatten()) {
            found[*at] = decided;
        }
        for (index, found) in block.iter().zip(found) {
            self.apply(*index, found);
        }
        Ok(())
    }

    fn position(&self, index: u32) -> u32 {
        self.buckets.positions()[index as usize]
    }

    /// The listed kept documents of a bucket.
    fn listed(&self, bucket: u32) -> &[u32] {
        let kept = self.kept[bucket as usize] as usize;
        &self.buckets.members(bucket)[..self.task.listed(kept)]
    }

    fn most_kept_partners(&self, index: u32) -> usize {
        let buckets = self.buckets.row(index).iter();
        buckets.map(|bucket| self.listed(*bucket).len()).sum()
    }

    fn compare_with_kept(&self, batch: &[u32]) -> Result<Vec<NearKept>> {
        try_collect_blocks(batch.len(), even_block(batch.len()).max(16), |range| {
            let (mut comparer, mut partners) = (self.task.similarity.comparer(), Vec::new());
            let compare = |index: &u32| {
                partners.clear();
                for bucket in self.buckets.row(*index) {
                    partners.extend_from_slice(self.listed(*bucket));
                }
                self.buckets.choose(*index, &mut partners);
                let mut found = NearKept::default();
                self.compare(*index, &partners, &mut *comparer, &mut found)?;
                Ok(found)
            };
            batch[range].iter().map(compare).collect()
        })
    }

    /// Compares a document with kept ones.
    fn compare(
        &self,
        index: u32,
        partners: &[u32],
        comparer: &mut dyn Comparer,
        found: &mut NearKept,
    ) -> Result<()> {
        if partners.len() > MANY {
            let parts = map_blocks(partners.len(), MANY, |range| {
                let mut found = NearKept::default();
                let mut comparer = self.task.similarity.comparer();
                self.compare(index, &partners[range], &mut *comparer, &mut found)?;
                Ok(found)
            });
            for part in parts.into_iter().collect::<Result<Vec<_>>>()? {
                found.compared += part.compared;
                found.similar += part.similar;
                self.improve(found, part.best);
            }
            return Ok(());
        }
        let (document, threshold) = (self.position(index), self.task.threshold);
        for partner in partners {
            let kept = self.position(*partner);
            // Several documents in a row are often compared with the same kept one.
            let verified = if partners.len() == 1 {
                comparer.compare(kept, document, threshold)?.swapped()
            } else {
                comparer.compare(document, kept, threshold)?
            };
            found.compared += 1;
            if reaches(verified.similarity, threshold) {
                found.similar += 1;
                self.improve(found, Some((*partner, verified)));
            }
        }
        Ok(())
    }

    /// Replaces the best kept document by a more similar one, or by one as similar that is kept earlier.
    fn improve(&self, found: &mut NearKept, other: Option<(u32, Verified)>) {
        let Some((other, verified)) = other else {
            return;
        };
        let is_better = found.best.is_none_or(|(best, best_verified)| {
            // `None` is never among numbers: a similarity computes all or none.
            let similarity_order = verified.similarity.partial_cmp(&best_verified.similarity);
            let rank_order = || self.rank(best).cmp(&self.rank(other));
            similarity_order.is_some_and(|order| order.then_with(rank_order).is_gt())
        });
        if is_better {
            found.best = Some((other, verified));
        }
    }

    fn rank(&self, index: u32) -> u32 {
        self.task.rank(self.position(index))
    }

    /// The groups of two or more documents of a block that are connected by shared buckets, as ascending numbers
    /// within the block.
    fn groups(&mut self, block: &[u32]) -> Vec<Vec<usize>> {
        let mut components = Components::new(block.len());
        let first = self.visited;
        for index in block {
            for bucket in self.buckets.row(*index) {
                let last = &mut self.last[*bucket as usize];
                let before = std::mem::replace(last, self.visited + 1);
                if before > first {
                    components.unite(before - first - 1, self.visited - first);
                }
            }
            self.visited += 1;
        }
        let roots = (0..)
            .take(block.len())
            .map(|number| components.root(number));
        let roots: Vec<usize> = roots.map(|root| root as usize).collect();
        let mut sizes = vec![0_u32; block.len()];
        roots.iter().for_each(|root| sizes[*root] += 1);
        // Most documents are alone: they get no list.
        let mut members = vec![Vec::new(); block.len()];
        for (at, root) in roots.into_iter().enumerate() {
            if sizes[root] > 1 {
                members[root].push(at);
            }
        }
        members.retain(|group| !group.is_empty());
        members
    }

    /// Decides the documents of a group in order: compares each with the kept ones before it in the group, after what was found
    /// for it among the kept documents of earlier blocks. The first `not_compared` are kept.
    fn decide_group(
        &self,
        group: &[(u32, NearKept)],
        not_compared: usize,
        comparer: &mut dyn Comparer,
    ) -> Result<Vec<NearKept>> {
        // The documents kept in this group, and the buckets in which each is listed.
        let mut kept_here: Vec<(u32, Cow<'_, [u32]>)> = Vec::new();
        let mut partners = Vec::new();
        let mut decided = Vec::with_capacity(group.len());
        for (at, (index, found)) in group.iter().enumerate() {
            let (row, mut found) = (self.buckets.row(*index), *found);
            if at >= not_compared {
                partners.clear();
                let sharing = kept_here.iter().filter(|(_, listed)| shares(row, listed));
                partners.extend(sharing.map(|(kept, _)| *kept));
                self.buckets.choose(*index, &mut partners);
                self.compare(*index, &partners, comparer, &mut found)?;
            }
            if found.best.is_none() {
                kept_here.push((*index, self.listed_row(row, &kept_here)));
            }
            decided.push(found);
        }
        Ok(decided)
    }

    /// The buckets of `row` in which its document is listed if it is kept after all documents of earlier blocks and
    /// after `kept_here`.
    fn listed_row<'a>(
        &self,
        row: &'a [u32],
        kept_here: &[(u32, Cow<'_, [u32]>)],
    ) -> Cow<'a, [u32]> {
        let before = |bucket: &u32| self.kept[*bucket as usize] as usize;
        let is_surely_listed = |bucket| self.task.lists(before(bucket) + kept_here.len());
        if row.iter().all(is_surely_listed) {
            return Cow::Borrowed(row);
        }
        let is_listed = |bucket: &&u32| {
            let has =
                |(other, _): &&(u32, _)| self.buckets.row(*other).binary_search(bucket).is_ok();
            let here = kept_here.iter().filter(has).count();
            self.task.lists(before(bucket) + here)
        };
        row.iter().filter(is_listed).copied().collect()
    }

    /// Removes or keeps the next document in keep order.
    fn apply(&mut self, index: u32, found: NearKept) {
        self.clusters.add_comparisons(&found);
        for bucket in self.buckets.row(index) {
            let unlisted = self.task.unlisted(self.kept[*bucket as usize]);
            self.clusters.omitted.pairs += u64::from(unlisted);
        }
        match self.removal(index, &found) {
            Some(removal) => self.clusters.removals.push(removal),
            None => self.list(index),
        }
    }

    /// The removal of a document; `None` if it is kept.
    fn removal(&self, index: u32, found: &NearKept) -> Option<Removal> {
        let (kept, verified) = found.best?;
        Some(Removal {
            document: self.position(index),
            kept: self.position(kept),
            is_identical: false,
            similarity: verified.similarity,
            overlap: verified.overlap,
            via: None,
        })
    }

    /// Lists a kept document in its buckets.
    fn list(&mut self, index: u32) {
        for band in 0..self.buckets.row(index).len() {
            let bucket = self.buckets.row(index)[band];
            let kept = &mut self.kept[bucket as usize];
            let at = *kept as usize;
            *kept += 1;
            if self.task.lists(at) {
                self.buckets.members_mut(bucket)[at] = index;
            } else {
                // The first that is not listed.
                self.clusters.omitted.buckets += u64::from(self.task.unlisted(*kept) == 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::band::{BandKeys, KeyRows};
    use super::super::banding::Banding;
    use super::super::cluster::tests::{Made, made};
    use super::super::reference::{Pairing, Reference};
    use super::super::verify::Similarity;
    use super::*;

    /// The definition: all documents in keep order, each compared with every kept one that shares a listed bucket. The first
    /// ones, of a reference, are kept.
    fn expected_kept(
        made: &Made,
        ranks: &[u32],
        most: usize,
        reference: u32,
    ) -> (Vec<Removal>, u64) {
        let rank = |document: u32| ranks[document as usize];
        let mut order: Vec<u32> = (0..).take(made.keys.len()).collect();
        order.sort_by_key(|document| rank(*document));
        let mut kept: Vec<u32> = Vec::new();
        let (mut removals, mut omitted) = (Vec::new(), 0);
        for document in order {
            if document < reference {
                kept.push(document);
                continue;
            }
            let row = &made.keys[document as usize];
            let mut best: Option<(f64, u32)> = None;
            let mut partners = Vec::new();
            for (band, key) in row.iter().enumerate() {
                let shares = |other: &&u32| made.keys[**other as usize][band] == *key;
                let sharing: Vec<u32> = kept.iter().filter(shares).copied().collect();
                omitted += sharing.len().saturating_sub(most) as u64;
                partners.extend(sharing.into_iter().take(most));
            }
            // In keep order, so that the first of equal ones wins.
            partners.sort_by_key(|other| rank(*other));
            for other in partners {
                let similarity = made.similarity(document, other);
                if similarity >= 0.5
                    && best.is_none_or(|(best_similarity, _)| similarity > best_similarity)
                {
                    best = Some((similarity, other));
                }
            }
            match best {
                None => kept.push(document),
                Some((similarity, kept)) => removals.push(Removal {
                    document,
                    kept,
                    is_identical: false,
                    similarity: Some(similarity),
                    overlap: None,
                    via: None,
                }),
            }
        }
        removals.sort_by_key(|removal| removal.document);
        (removals, omitted)
    }

    /// One block, and no small groups.
    const IN_ORDER: Grouping = Grouping {
        small: 0,
        batch: 1,
        block: usize::MAX,
    };

    fn grouping() -> impl Strategy<Value = Grouping> {
        let small = prop_oneof![Just(0usize), 1usize..8, Just(usize::MAX)];
        let sizes = (small, 1usize..10, 1usize..30);
        sizes.prop_map(|(small, batch, block)| Grouping {
            small,
            batch,
            block,
        })
    }

    /// The ranks of documents of which the first are of a reference.
    fn ranks_after(reference: u32, made: &Made) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(made.keys.len()).collect();
        let key = |document: &u32| {
            if *document < reference {
                (false, *document)
            } else {
                (true, made.ranks[*document as usize])
            }
        };
        order.sort_by_key(key);
        let mut ranks = vec![0; order.len()];
        for (rank, document) in (0..).zip(order) {
            ranks[document as usize] = rank;
        }
        ranks
    }

    proptest! {
        #[test]
        fn greedy_equals_the_definition_for_any_grouping(
            made in made(),
            most in prop_oneof![1usize..4, Just(usize::MAX)],
            grouping in grouping(),
            reference in prop_oneof![Just(0u32), 1u32..20],
        ) {
            let (ranks, has_reference) = (ranks_after(reference, &made), reference > 0);
            let (expected, omitted) = expected_kept(&made, &ranks, most, reference);
            let task = ClusterTask {
                ranks: Some(&ranks),
                ..ClusterTask::new(&made, 0.5).bounded(most)
            };
            let of = |grouping| {
                let none = KeptBefore::default();
                let reference = Reference::new(reference, Pairing::Distinct);
                let buckets = made.buckets_against(has_reference.then_some(reference));
                let go_on = &mut |_| Ok(());
                Clusters::greedy_in_groups(buckets, &task, none, grouping, go_on).unwrap()
            };
            let clusters = of(grouping);
            prop_assert_eq!(&clusters.removals, &expected);
            prop_assert_eq!(clusters.omitted.pairs, omitted);
            prop_assert_eq!(clusters, of(IN_ORDER));
        }
    }

    /// Documents in two goes: the second with what the first one kept.
    fn in_two_goes(made: &Made, most: usize, cut: usize, grouping: Grouping) -> Clusters {
        let all: Vec<u32> = (0..).take(made.keys.len()).collect();
        let (first, second) = all.split_at(cut);
        let of = |documents: &[u32], known: usize| {
            let part = made.part(documents);
            let task = ClusterTask::new(&part, 0.5).bounded(most);
            let known = KeptBefore {
                positions: u32::try_from(known).unwrap(),
                unlisted: &[],
            };
            let (buckets, go_on) = (part.buckets(), &mut |_| Ok(()));
            let found = Clusters::greedy_in_groups(buckets, &task, known, grouping, go_on).unwrap();
            let mut named = Clusters::default();
            named.add(&found, |position| documents[position as usize]);
            named
        };
        let mut found = of(first, 0);
        let is_removed = |position: &&u32| {
            found
                .removals
                .iter()
                .any(|removal| removal.document == **position)
        };
        let kept: Vec<u32> = first
            .iter()
            .filter(|position| !is_removed(position))
            .copied()
            .collect();
        let later = of(&[&kept, second].concat(), kept.len());
        found.add(&later, |position| position);
        found
    }

    proptest! {
        #[test]
        fn greedy_in_two_goes_equals_one(
            made in made(),
            most in prop_oneof![1usize..4, Just(usize::MAX)],
            cut in any::<prop::sample::Index>(),
            grouping in grouping(),
        ) {
            let task = ClusterTask::new(&made, 0.5).bounded(most);
            let whole = Clusters::greedy(made.buckets(), &task, &mut |_| Ok(())).unwrap();
            let cut = 1 + cut.index(made.keys.len());
            prop_assert_eq!(in_two_goes(&made, most, cut, grouping), whole);
        }
    }

    /// All documents are similar, so each is compared with the only kept one.
    struct AllSimilar;

    impl Similarity for AllSimilar {
        fn comparer(&self) -> Box<dyn Comparer + '_> {
            Box::new(AllSimilar)
        }
    }

    impl Comparer for AllSimilar {
        fn compare(&mut self, _: u32, _: u32, _: f64) -> Result<Verified> {
            Ok(Verified::by(0.9))
        }
    }

    #[test]
    fn comparisons_grow_with_documents_not_pairs() {
        let documents = 5000;
        let mut keys = BandKeys::new(Banding::new(3, 1, 3).unwrap());
        keys.push_rows(&KeyRows::new(3, vec![7; 3 * documents]));
        let buckets = Buckets::of(keys, &mut |_| Ok(())).unwrap();
        let task = ClusterTask::new(&AllSimilar, 0.5);
        let connected = Clusters::connected(&buckets, &task, &mut |_| Ok(())).unwrap();
        let greedy = Clusters::greedy(buckets, &task, &mut |_| Ok(())).unwrap();
        for clusters in [greedy, connected] {
            assert_eq!(clusters.compared, documents as u64 - 1);
            assert!(clusters.removals.iter().all(|removal| removal.kept == 0));
            assert_eq!(clusters.removals.len(), documents - 1);
        }
    }
}
