//! A mixture: its classes, their shares, and what was learned of the fields.

use crate::evidence::levels::{CLOSE, LEVELS};
use crate::evidence::rates::Rates;
use crate::evidence::seen::{AllBut, Seen};
use crate::evidence::values::Field;

/// Fields of which classes share subsets, at most.
pub(crate) const LATTICE: usize = 8;

/// The level of close values, as a place.
pub(super) const CLOSE_AT: usize = CLOSE as usize;

/// The fields and what a pair of different things has, in one round.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) rates: &'a [Rates],
    /// Whether values of the field may stand crosswise, and it has that level.
    pub(crate) crossed: &'a [bool],
    /// Whether the field mostly differs where all others agree.
    pub(crate) doubted: &'a [bool],
    /// The number of records.
    pub(crate) records: f64,
}

/// What is learned of a field.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    /// The shares of the pairs of the same thing that have it on the levels equal, close, near, far, other and crosswise.
    pub(crate) same: [f64; 6],
    /// For a text, the shares of related things: close, near, far, other.
    pub(crate) related: Option<[f64; 4]>,
    /// What is seen of it in pairs of the same thing.
    pub(crate) seen: Seen,
}

/// A mixture that was learned.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    /// The fields of which classes share subsets, by descending worth: bit i of a class is field `lattice[i]`.
    pub(crate) lattice: Vec<usize>,
    /// The other fields.
    pub(crate) weak: Vec<usize>,
    /// For each field of the lattice, whether it is strong.
    pub(crate) strong: Vec<bool>,
    /// The share of all pairs that are of each class, 0 for those that are left out; 1 for chance.
    pub(crate) shares: Vec<f64>,
    /// By field.
    pub(crate) learned: Vec<Learned>,
    /// The number of pairs of records.
    pub(crate) all_pairs: f64,
    pub(super) leading_text: Option<usize>,
    /// What is seen where one strong field is lacking that may be, since it is doubted or the leading text.
    pub(super) all_but: Vec<AllBut>,
}

impl Mixture {
    /// The strong fields, and what is learned of them.
    pub(crate) fn strong_fields(&self) -> impl Iterator<Item = (usize, &Learned)> {
        let lattice = self.lattice.iter().zip(&self.strong);
        let strong = lattice.filter(|(_, is_strong)| **is_strong);
        strong.map(|(field, _)| (*field, &self.learned[*field]))
    }

    /// The place of a field in the lattice, if it is strong.
    pub(super) fn strong_place(&self, field: usize) -> Option<usize> {
        let place = self.lattice.iter().position(|other| *other == field)?;
        self.strong[place].then_some(place)
    }

    /// Whether a field is the strong text with the most bits.
    pub(crate) fn is_leading(&self, field: usize) -> bool {
        let place = self.strong_place(field);
        place.is_some() && place == self.leading_text
    }

    /// What is seen of a field in pairs of the same thing, and in those that lack only the field `lacks`.
    pub(crate) fn seen_without(&self, lacks: usize, field: usize) -> Seen {
        let all_but = self.all_but.iter().find(|all_but| all_but.lacks == lacks);
        all_but.map_or(self.learned[field].seen, |all_but| all_but.seen[field])
    }

    /// The number of pairs that share all fields, or lack no other than this one; `None` if it is not strong.
    pub(crate) fn pairs_without(&self, field: usize) -> Option<f64> {
        let class = self.same() ^ 1 << self.strong_place(field)?;
        Some((self.shares[class] + self.shares[self.same()]) * self.all_pairs)
    }

    /// The most pairs that lack a field and one other strong one.
    pub(crate) fn most_without_two(&self, field: usize) -> f64 {
        let Some(lacking) = self.strong_place(field) else {
            return 0.0;
        };
        let others =
            (0..self.lattice.len()).filter(|place| self.strong[*place] && *place != lacking);
        let shares = others.map(|other| self.shares[self.same() ^ 1 << lacking ^ 1 << other]);
        shares.fold(0.0, f64::max) * self.all_pairs
    }

    pub(crate) fn classes(&self) -> usize {
        1 << self.lattice.len()
    }

    /// The class of the same thing.
    pub(crate) fn same(&self) -> usize {
        self.classes() - 1
    }

    /// The shares of the pairs of the same thing by level, equal values split by rarity.
    pub(crate) fn same_by_level(&self, field: usize, rates: &Rates) -> [f64; LEVELS] {
        let same = &self.learned[field].same;
        std::array::from_fn(|level| match level {
            0 => 0.0,
            level if level < CLOSE_AT => same[0] * rates.rarity_shares[level],
            level => same[1 + level - CLOSE_AT],
        })
    }
}
