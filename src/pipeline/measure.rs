//! What an exact comparison of two sets counts, and the measures that follow from it.

/// The numbers of distinct elements of two sets, and of those that both have.
///
/// The elements are distinct shingles, whatever they weigh; with
/// [`Weighting::Counts`](super::Weighting::Counts), each occurrence of a shingle is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The elements of the first set, and of the second.
    pub sizes: [u32; 2],
    /// The elements of both.
    pub shared: u32,
}

impl Overlap {
    /// The overlap of sets of documents, which have fewer than 2^32 elements.
    #[doc(hidden)]
    pub fn of(sizes: [usize; 2], shared: usize) -> Self {
        // Saturates: a document has less than 4 GiB of text.
        let count = |elements| u32::try_from(elements).unwrap_or(u32::MAX);
        Overlap {
            sizes: sizes.map(count),
            shared: count(shared),
        }
    }

    /// The same with the other set first.
    #[must_use]
    pub fn swapped(self) -> Self {
        let [first, second] = self.sizes;
        Overlap {
            sizes: [second, first],
            ..self
        }
    }

    /// The Jaccard similarity (MMDS 3.1.1); 0 for two empty sets.
    pub fn jaccard(self) -> f64 {
        let [first, second] = self.sizes.map(u64::from);
        match first + second - u64::from(self.shared) {
            0 => 0.0,
            union => f64::from(self.shared) / union as f64,
        }
    }

    /// What is lost if the first document is removed and the second is kept.
    pub fn loss_of_first(self) -> Loss {
        Loss {
            lost: self.sizes[0] - self.shared,
            shingles: self.sizes[0],
        }
    }
}

/// How similar two documents are, from what their sets of shingles have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// The Jaccard similarity: the share of the shingles of either that both have.
    #[default]
    Jaccard,
    /// The share of the shingles of the smaller document that the larger has (the overlap coefficient): the larger of both
    /// containments. A deduplication keeps the larger one.
    ///
    /// It bounds the Jaccard similarity from above, and says nothing of it from below: a document of s shingles, of which a
    /// share c is in one of l shingles, has the similarity c s / (s + l - c s) with it.
    Contained,
}

impl Measure {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Jaccard => "jaccard",
            Measure::Contained => "contained",
        }
    }

    /// The similarity of two sets; 0 if one is empty.
    pub fn of(self, overlap: Overlap) -> f64 {
        match self {
            Measure::Jaccard => overlap.jaccard(),
            Measure::Contained => match overlap.sizes[0].min(overlap.sizes[1]) {
                0 => 0.0,
                smaller => f64::from(overlap.shared) / f64::from(smaller),
            },
        }
    }

    /// The Jaccard similarity of two documents of this similarity, one of which has `ratio` times the shingles of the other,
    /// at least 1.
    pub fn jaccard_at(self, similarity: f64, ratio: f64) -> f64 {
        match self {
            Measure::Jaccard => similarity,
            Measure::Contained => similarity / (1.0 + ratio - similarity),
        }
    }

    /// At most the number of elements that a set of `len` shares with every set that is similar to it.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sets have far fewer than 2^52 elements; rounded down, to stay on the safe side"
    )]
    pub(crate) fn least_shared(self, len: usize, threshold: f64) -> usize {
        match self {
            // The union holds at least the set.
            Measure::Jaccard => (threshold * len as f64) as usize,
            // The other set may be of any size.
            Measure::Contained => 0,
        }
    }
}

/// What the removal of a document loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// The distinct shingles of the removed document that the kept one lacks.
    pub lost: u32,
    /// All distinct shingles of the removed document; 0 if they were not counted, since both documents are identical.
    pub shingles: u32,
}

impl Loss {
    /// The share of the shingles that is lost; 0 without shingles.
    pub fn share(self) -> f64 {
        match self.shingles {
            0 => 0.0,
            shingles => f64::from(self.lost) / f64::from(shingles),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_follow_from_counts() {
        let overlap = Overlap::of([4, 6], 3);
        let of = |measure: Measure| (measure.of(overlap), measure.of(overlap.swapped()));
        assert_eq!(of(Measure::Jaccard), (3.0 / 7.0, 3.0 / 7.0));
        assert_eq!(of(Measure::Contained), (0.75, 0.75));
        assert_eq!(Measure::Contained.of(Overlap::of([0, 6], 0)), 0.0);
        // Six are one and a half times four.
        assert_eq!(Measure::Contained.jaccard_at(0.75, 1.5), 3.0 / 7.0);
        assert_eq!(Measure::Jaccard.jaccard_at(0.75, 1.5), 0.75);
    }

    #[test]
    fn the_loss_is_that_of_the_first_set() {
        let overlap = Overlap::of([4, 6], 3);
        assert_eq!(overlap.jaccard(), 3.0 / 7.0);
        assert_eq!(overlap.loss_of_first().share(), 0.25);
        assert_eq!(overlap.swapped().loss_of_first().share(), 0.5);
        assert_eq!(overlap.swapped().swapped(), overlap);
        assert_eq!(Overlap::of([0, 0], 0).jaccard(), 0.0);
        assert_eq!(Loss::default().share(), 0.0);
    }
}
