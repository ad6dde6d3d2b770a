//! Runs that sign, by what they sign.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use simgpu::scheme::DEFAULT_NUM_PERM;

use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;

/// Approximate shingles of a page of text.
const PAGE: u64 = 1000;

/// Documents to sign: those of equal sizes are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SignedSize {
    /// Input.
    pub input: String,
    /// Shingles per document.
    pub shingles: u64,
    /// Slots per signature.
    pub num_perm: u32,
    /// Documents.
    pub documents: u64,
}

impl SignedSize {
    fn of(case: &Case) -> Self {
        SignedSize {
            input: case.input.clone(),
            shingles: case.shingles,
            num_perm: case.num_perm,
            documents: case.documents,
        }
    }
}

/// What simgpu signed from hashes, on the same documents whatever signed them: each input, length and number of slots with
/// the documents that most ways signed, the CPU among them. Tables, charts and the first screen compare these.
#[derive(Debug)]
pub(crate) struct Signed<'a> {
    /// The size that most ways signed.
    pub(crate) base: SignedSize,
    cases: Vec<&'a MeasuredCase<'a>>,
}

impl<'a> Signed<'a> {
    /// `None` if simgpu signed nothing.
    pub(crate) fn of(cases: &'a [MeasuredCase<'a>]) -> Option<Self> {
        let is_sign = |case: &&MeasuredCase<'_>| case.is_own() && case.case.stage == Stage::Sign;
        let signed = || cases.iter().filter(is_sign);
        // Whether the CPU signed a size, and in how many ways it was signed.
        let mut ways: BTreeMap<SignedSize, (bool, usize)> = BTreeMap::new();
        for case in signed() {
            let (is_on_cpu, count) = ways.entry(SignedSize::of(&case.case)).or_default();
            *is_on_cpu |= !case.case.is_on_device();
            *count += 1;
        }
        let sizes = ways.keys().cloned();
        let without_documents = |size: SignedSize| SignedSize {
            documents: 0,
            ..size
        };
        let mut compared: BTreeMap<SignedSize, SignedSize> = BTreeMap::new();
        for size in sizes {
            let best = compared
                .entry(without_documents(size.clone()))
                .or_insert_with(|| size.clone());
            if ways.get(&size) > ways.get(best) {
                *best = size;
            }
        }
        // Break ties by the distance to a page of text and to the default number of slots.
        let distance = |size: &SignedSize| {
            let slots = size.num_perm.abs_diff(DEFAULT_NUM_PERM);
            (size.shingles.abs_diff(PAGE), slots)
        };
        let most = compared
            .values()
            .max_by_key(|size| (ways.get(size), Reverse(distance(size))));
        let is_compared = |case: &&MeasuredCase<'_>| {
            let size = SignedSize::of(&case.case);
            compared.get(&without_documents(size.clone())) == Some(&size)
        };
        Some(Signed {
            base: most.cloned()?,
            cases: signed().filter(is_compared).collect(),
        })
    }

    /// At the base size: one case per scheme, backend and number of threads.
    pub(crate) fn at_base(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|size| size == self.base)
    }

    /// At all lengths, with the slots of the base size.
    pub(crate) fn all_lengths(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|size| (&size.input, size.num_perm) == (&self.base.input, self.base.num_perm))
    }

    /// With all numbers of slots, at the length of the base size.
    pub(crate) fn all_slots(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|size| (&size.input, size.shingles) == (&self.base.input, self.base.shingles))
    }

    fn at(&self, is_there: impl Fn(SignedSize) -> bool) -> Vec<&'a MeasuredCase<'a>> {
        let cases = self.cases.iter().copied();
        cases
            .filter(|case| is_there(SignedSize::of(&case.case)))
            .collect()
    }
}
