//! What an exact comparison of two sets counts.

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
    pub(crate) fn of(sizes: [usize; 2], shared: usize) -> Self {
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
