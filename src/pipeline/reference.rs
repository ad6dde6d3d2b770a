//! Which candidate pairs a search with a reference compares.
//!
//! The documents of a reference are the first of a search, and stay there: none is removed, and no two of them are
//! compared. What knows this is the source of candidates, so that every clustering and every search for pairs does.

/// What a search with a reference compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub enum Pairing {
    /// Distinct documents of the input with all others: what repeats a document of the reference is removed for it, and
    /// needs no comparison.
    #[default]
    Distinct,
    /// Documents of the input with all others, also those that repeat a document of the reference.
    Input,
    /// Documents of the input with those of the reference.
    Across,
}

/// The documents of a reference among those of a search, by number: by position, or by row.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Reference {
    /// The documents of the reference are those with lower numbers.
    documents: u32,
    /// A bit for each of them that a document of the input repeats; empty if none does, or if that does not matter.
    repeated: Vec<u64>,
    pairing: Pairing,
}

impl Reference {
    /// The reference of the documents below this number.
    #[doc(hidden)]
    pub fn new(documents: u32, pairing: Pairing) -> Self {
        Reference {
            documents,
            repeated: Vec::new(),
            pairing,
        }
    }

    /// Notes that a document of the input repeats this one, which may be of the reference.
    #[doc(hidden)]
    pub fn repeat(&mut self, document: u32) {
        if self.is_reference(document) && self.pairing != Pairing::Distinct {
            let words = (self.documents as usize).div_ceil(64);
            self.repeated.resize(words, 0);
            self.repeated[document as usize / 64] |= 1 << (document % 64);
        }
    }

    /// Whether it matters that documents of the input repeat some of the reference.
    pub(crate) fn is_repeated(&self) -> bool {
        !self.repeated.is_empty()
    }

    /// Whether a document is of the reference.
    pub(crate) fn is_reference(&self, document: u32) -> bool {
        document < self.documents
    }

    /// Whether a document is of the input, or stands for one that is.
    pub(crate) fn is_input(&self, document: u32) -> bool {
        let word = self.repeated.get(document as usize / 64);
        !self.is_reference(document) || word.is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// Whether two documents are compared.
    pub(crate) fn compares(&self, a: u32, b: u32) -> bool {
        let across = |a, b| self.is_reference(a) && self.is_input(b);
        match self.pairing {
            Pairing::Distinct | Pairing::Input => self.is_input(a) || self.is_input(b),
            Pairing::Across => across(a, b) || across(b, a),
        }
    }

    /// Whether two of these documents are compared. They are two or more.
    pub(crate) fn compares_some(&self, mut documents: impl Iterator<Item = u32> + Clone) -> bool {
        let has_input = documents.clone().any(|document| self.is_input(document));
        has_input
            && match self.pairing {
                Pairing::Distinct | Pairing::Input => true,
                Pairing::Across => documents.any(|document| self.is_reference(document)),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference of three documents, of which the second one is repeated.
    fn reference(pairing: Pairing) -> Reference {
        let mut reference = Reference::new(3, pairing);
        // Repeats of documents of the input say nothing of the reference.
        [1, 4]
            .into_iter()
            .for_each(|number| reference.repeat(number));
        reference
    }

    fn compared(pairing: Pairing) -> Vec<(u32, u32)> {
        let reference = reference(pairing);
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let compared: Vec<_> = pairs.filter(|(a, b)| reference.compares(*a, *b)).collect();
        assert!(compared.iter().all(|(a, b)| reference.compares(*b, *a)));
        compared
    }

    #[test]
    fn no_two_documents_of_a_reference_are_compared() {
        let with_input = [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
        assert_eq!(compared(Pairing::Distinct), with_input);
        let mut with_repeated = [&with_input[..], &[(0, 1), (1, 2)]].concat();
        with_repeated.sort_unstable();
        assert_eq!(compared(Pairing::Input), with_repeated);
        with_repeated.retain(|pair| *pair != (3, 4));
        assert_eq!(compared(Pairing::Across), with_repeated);
    }

    #[test]
    fn a_bucket_counts_if_it_holds_a_compared_pair() {
        for pairing in [Pairing::Distinct, Pairing::Input, Pairing::Across] {
            let reference = reference(pairing);
            for mask in 0u32..32 {
                let members = (0..5).filter(|bit| mask >> bit & 1 == 1);
                if mask.count_ones() < 2 {
                    continue;
                }
                let pairs = compared(pairing);
                let is_in = |number: u32| mask >> number & 1 == 1;
                let some = pairs.iter().any(|(a, b)| is_in(*a) && is_in(*b));
                assert_eq!(
                    reference.compares_some(members),
                    some,
                    "{pairing:?} {mask:b}"
                );
            }
        }
    }
}
