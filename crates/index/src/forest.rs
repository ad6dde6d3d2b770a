//! The most similar signatures by common prefixes of bands (Bawa, Condie and Ganesan 2005, *LSH Forest: Self-Tuning
//! Indexes for Similarity Search*).

use std::cmp::Ordering;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::ops::Range;

use super::rows::{PackedRows, RowBytes};
use super::values::{in_bands, narrowed};
use simgpu::error::{Error, Result};
use simgpu::pipeline::Banding;
use simgpu::scheme::{SlotVec, Slots, Width};

/// A forest of prefix trees: finds the `k` signatures that have the longest common prefixes with a query in one of the
/// bands, as datasketch's `MinHashLSHForest` does. It needs no threshold.
///
/// A band is a tree here, and its rows are the depth of the tree. A tree is held as a sorted list of signatures, in which
/// those with a common prefix are neighbours. A signature gets a number, from 0 in the order of insertion, and is found
/// after the next [`index`](LshForest::index); in trees that hold equal slots already, it is found at once.
///
/// ```
/// use simgpu_index::LshForest;
/// use simgpu::pipeline::Banding;
/// use simgpu::scheme::{Slots, Width};
///
/// // Two trees of three slots.
/// let mut forest = LshForest::new(Banding::new(2, 3, 6)?, Width::U32);
/// let far = forest.insert(Slots::U32(&[1, 9, 9, 7, 7, 7]))?;
/// let near = forest.insert(Slots::U32(&[5, 5, 5, 4, 5, 9]))?;
/// forest.index();
///
/// let query = Slots::U32(&[1, 2, 3, 4, 5, 6]);
/// // The second one agrees in two slots of the second tree, the first one in one slot of the first tree.
/// assert_eq!(forest.query(query, 2)?, [near, far]);
/// assert_eq!(forest.query(query, 1)?, [near]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LshForest {
    /// Trees and the values of each.
    trees: Banding,
    width: Width,
    values_per_slot: usize,
    rows: PackedRows,
    /// Of each tree, the numbers of the searchable rows, ordered by their values and then by number.
    sorted: Vec<Vec<u32>>,
}

impl LshForest {
    /// An empty forest with a tree per band, for signatures with slots of this width.
    #[must_use]
    pub fn new(trees: Banding, width: Width) -> Self {
        LshForest::with_slot_values(trees, width, NonZeroUsize::MIN)
    }

    /// An empty forest for sketches whose slots are several numbers each, such as weighted ones (Ioffe 2010). Each number
    /// counts as a row of the banding; prefixes are compared in whole slots.
    #[must_use]
    pub fn with_slot_values(trees: Banding, width: Width, values_per_slot: NonZeroUsize) -> Self {
        LshForest {
            trees,
            width,
            values_per_slot: values_per_slot.get(),
            rows: PackedRows::new(trees.bands() * trees.rows()),
            sorted: vec![Vec::new(); trees.bands()],
        }
    }

    /// Trees, as bands, and their depth, as rows.
    #[must_use]
    pub fn banding(&self) -> Banding {
        self.trees
    }

    /// The width of a slot.
    #[must_use]
    pub fn slot_width(&self) -> Width {
        self.width
    }

    /// Number of signatures.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.live()
    }

    /// Whether there is no signature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slots in trees of a signature; `None` if there is none with this number.
    #[must_use]
    pub fn signature(&self, number: u32) -> Option<SlotVec> {
        self.slots(number, 0..self.trees.bands() * self.trees.rows())
    }

    /// The slots of a signature in a tree; `None` if there is no such signature or tree.
    #[must_use]
    pub fn tree(&self, number: u32, tree: usize) -> Option<SlotVec> {
        let is_tree = tree < self.trees.bands();
        is_tree.then(|| self.slots(number, self.range(tree)))?
    }

    /// The numbers of the searchable signatures in a tree, ordered by their slots and then by number; none if there is no
    /// such tree.
    #[must_use]
    pub fn sorted(&self, tree: usize) -> &[u32] {
        self.sorted.get(tree).map_or(&[], Vec::as_slice)
    }

    /// Adds a signature, whose slots behind the trees are ignored, and returns its number.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the signature has slots of another width, or fewer than the trees; [`Error::FullIndex`]
    /// beyond 2^30 - 2 signatures.
    pub fn insert(&mut self, signature: Slots<'_>) -> Result<u32> {
        let values = in_bands(signature, self.trees, self.width)?;
        let number = self.rows.push(&values)?;
        self.join(number, &values);
        Ok(number)
    }

    /// Makes a row searchable in the trees that have its values already, as datasketch does.
    fn join(&mut self, number: u32, row: &[u64]) {
        for tree in 0..self.sorted.len() {
            let values = &row[self.range(tree)];
            let sorted = &self.sorted[tree];
            let end = sorted.partition_point(|other| self.compare(*other, tree, values).is_le());
            if end > 0 && self.compare(sorted[end - 1], tree, values).is_eq() {
                self.sorted[tree].insert(end, number);
            }
        }
    }

    /// Makes all signatures searchable: sorts each tree, n signatures in O(n log n) steps.
    pub fn index(&mut self) {
        for tree in 0..self.sorted.len() {
            let mut sorted: Vec<u32> = self.rows.numbers().collect();
            sorted.sort_unstable_by(|a, b| self.order(tree, *a, *b));
            self.sorted[tree] = sorted;
        }
    }

    /// Up to `k` searchable signatures, those with the longest common prefixes first. Among those of equal length, the
    /// earlier trees come first; within a tree, smaller slots, and then smaller numbers.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the signature has slots of another width, or fewer than the trees.
    pub fn query(&self, signature: Slots<'_>, k: usize) -> Result<Vec<u32>> {
        let row = in_bands(signature, self.trees, self.width)?;
        Ok(self.nearest(&row, k))
    }

    fn nearest(&self, row: &[u64], most: usize) -> Vec<u32> {
        let mut found = Hits {
            numbers: Vec::new(),
            known: HashSet::new(),
            most,
        };
        let places = (0..self.sorted.len()).map(|tree| {
            let values = &row[self.range(tree)];
            let place = self.sorted[tree]
                .partition_point(|number| self.compare(*number, tree, values).is_lt());
            place..place
        });
        let mut seen: Vec<Range<usize>> = places.collect();
        let depth = self.trees.rows() / self.values_per_slot;
        for slots in (1..=depth).rev() {
            for (tree, seen) in seen.iter_mut().enumerate() {
                let start = self.range(tree).start;
                let prefix = &row[start..start + slots * self.values_per_slot];
                if self.widen(tree, prefix, seen, &mut found).is_none() {
                    return found.numbers;
                }
            }
        }
        found.numbers
    }

    /// Widens the range of a tree to the rows with a shorter prefix and adds those. `None` when there are enough.
    fn widen(
        &self,
        tree: usize,
        prefix: &[u64],
        seen: &mut Range<usize>,
        found: &mut Hits,
    ) -> Option<()> {
        let sorted = &self.sorted[tree];
        let has_prefix = |place: usize| self.compare(sorted[place], tree, prefix).is_eq();
        if seen.start > 0 && has_prefix(seen.start - 1) {
            let before = &sorted[..seen.start];
            let start =
                before.partition_point(|number| self.compare(*number, tree, prefix).is_lt());
            before[start..]
                .iter()
                .try_for_each(|number| found.add(*number))?;
            seen.start = start;
        }
        while seen.end < sorted.len() && has_prefix(seen.end) {
            found.add(sorted[seen.end])?;
            seen.end += 1;
        }
        Some(())
    }

    fn range(&self, tree: usize) -> Range<usize> {
        tree * self.trees.rows()..(tree + 1) * self.trees.rows()
    }

    /// Compares the values of a row in a tree with `prefix`, as far as that goes.
    fn compare(&self, number: u32, tree: usize, prefix: &[u64]) -> Ordering {
        let start = self.range(tree).start;
        self.rows
            .values(number, start..start + prefix.len())
            .cmp(prefix.iter().copied())
    }

    /// The order of two rows in a tree.
    fn order(&self, tree: usize, a: u32, b: u32) -> Ordering {
        let values = |number| self.rows.values(number, self.range(tree));
        values(a).cmp(values(b)).then(a.cmp(&b))
    }

    fn slots(&self, number: u32, range: Range<usize>) -> Option<SlotVec> {
        self.rows
            .is_live(number)
            .then(|| narrowed(self.rows.values(number, range), self.width))
    }

    /// The signatures as bytes, for a file. [`sorted`](LshForest::sorted) tells which are searchable.
    #[must_use]
    pub fn to_bytes(&self) -> RowBytes {
        self.rows.to_bytes()
    }

    /// Takes on what [`to_bytes`](LshForest::to_bytes) and, per tree, [`sorted`](LshForest::sorted) returned, instead of
    /// the signatures that the forest has.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if they cannot be those of a forest of this shape; the forest is as before then.
    pub fn restore(&mut self, bytes: &RowBytes, sorted: Vec<Vec<u32>>) -> Result<()> {
        let values = self.trees.bands() * self.trees.rows();
        let rows = PackedRows::from_bytes(values, self.width, bytes).ok_or(Error::DamagedIndex)?;
        let restored = LshForest {
            rows,
            sorted,
            ..*self
        };
        if !restored.is_sorted() {
            return Err(Error::DamagedIndex);
        }
        *self = restored;
        Ok(())
    }

    /// Whether each tree has known rows in order.
    fn is_sorted(&self) -> bool {
        let is_sorted = |(tree, sorted): (usize, &Vec<u32>)| {
            sorted.iter().all(|number| self.rows.is_live(*number))
                && sorted.is_sorted_by(|a, b| self.order(tree, *a, *b).is_lt())
        };
        self.sorted.len() == self.trees.bands() && self.sorted.iter().enumerate().all(is_sorted)
    }
}

/// The rows that a query found, in the order in which it found them.
struct Hits {
    numbers: Vec<u32>,
    known: HashSet<u32>,
    most: usize,
}

impl Hits {
    /// Adds a row if there are too few. `None` when there are enough.
    fn add(&mut self, number: u32) -> Option<()> {
        if self.numbers.len() < self.most && self.known.insert(number) {
            self.numbers.push(number);
        }
        (self.numbers.len() < self.most).then_some(())
    }
}

#[cfg(test)]
mod tests;
