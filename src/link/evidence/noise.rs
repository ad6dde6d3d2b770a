//! Fields that say nothing of whether records are one thing, and hurt: each pair of the same thing differs in them.
//!
//! Such a field is on the levels of chance in the pairs that share all other fields. So is the given name of members of a
//! household, whose surname, street and phone are equal, and the title of the songs of an album: there, the field alone tells
//! the things apart. What tells one from the other:
//!
//! - Numbers, phones and the like are noise: who shares a name and a street shares them, too, or is another one.
//! - A name, a date or a text is noise only where all else is what one thing has, by [`Evidence::are_things`].
//!
//! Where the last rule lacks something, nobody can tell which of both it is, and [`Evidence::suspect`] says so.
//!
//! The rule was found on tables without duplicates: households with errors in all that they share, twins, flatmates with
//! full names that occur once, and members of a club with one date of entry for the family, with and without a column of
//! random words. Uniqueness of the values, or a date alone, linked members of such households.

use super::decision::{DOUBTED, DOUBTED_PAIRS, Evidence};
use super::kinds::{Kind, Noise};
use super::mixture::Mixture;
use super::seen::Seen;

/// A field that differs where others agree, and whose levels are this near to those of chance, is noise.
const NOISE_BITS: f64 = 0.15;

/// A strong field that agrees in this share of the pairs of the same thing tells noise.
const AGREEING: f64 = 0.5;

/// Such fields, at least; and more where the field may tell things apart.
const LEAST_BESIDE: usize = 2;
const MORE_BESIDE: usize = 3;

/// A field has errors if this share of the pairs of the same thing are not equal in it.
const ERRORS: f64 = 0.02;

/// Pairs for each record that twins are not, at least: one birth in sixty is one of twins.
const LEAST_PAIRS: f64 = 0.05;

/// Strong texts that members of a household do not have in common, and the share of their values with a digit, at most: an
/// address has one.
const LEAST_TEXTS: usize = 2;
const MOST_WITH_DIGITS: f64 = 0.5;

/// A field that may tell things apart or say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspect {
    pub(crate) field: usize,
    /// The pairs that share all others.
    pub(crate) pairs: f64,
}

impl Evidence {
    /// The fields that never agree beyond chance, and not even nearly, where two strong fields agree; none if another field is
    /// doubted, which may be right to differ.
    pub(super) fn find_noise(&self) -> Vec<usize> {
        let Some((mixture, _)) = &self.learned else {
            return Vec::new();
        };
        let fields = 0..self.fields.used.len();
        let noise = fields.filter(|field| {
            self.is_at_chance(mixture, *field) && self.may_be_noise(mixture, *field)
        });
        let noise: Vec<usize> = noise.collect();
        match self.only_doubts(&noise) {
            true => noise,
            false => Vec::new(),
        }
    }

    /// Whether no other field is doubted than these.
    fn only_doubts(&self, fields: &[usize]) -> bool {
        let mut doubted = (0..self.doubted.len()).filter(|field| self.doubted[*field]);
        doubted.all(|field| fields.contains(&field))
    }

    /// Whether the levels of a field are those of chance in pairs that share all others.
    fn is_at_chance(&self, mixture: &Mixture, field: usize) -> bool {
        let seen = mixture.seen_without(field, field);
        seen.pairs >= DOUBTED_PAIRS
            && seen.agrees < DOUBTED
            && seen.divergence < NOISE_BITS
            && self.rates[field].bits > 1.0
    }

    /// The strong fields that agree in pairs that share all but one.
    fn agreeing(mixture: &Mixture, lacks: usize) -> Vec<(usize, Seen)> {
        let strong = mixture.strong_fields().map(|(field, _)| field);
        let seen = strong.map(|field| (field, mixture.seen_without(lacks, field)));
        seen.filter(|(field, seen)| *field != lacks && seen.agrees >= AGREEING)
            .collect()
    }

    /// Whether a field at chance is noise, by its kind and the strong fields that agree.
    fn may_be_noise(&self, mixture: &Mixture, field: usize) -> bool {
        let agreeing = Evidence::agreeing(mixture, field);
        agreeing.len() >= LEAST_BESIDE
            && match self.fields.used[field].kind.noise() {
                Noise::Always => true,
                Noise::OfThings => self.are_things(mixture, field, &agreeing),
            }
    }

    /// Whether pairs that share all fields but one are one thing each, and not things that only this field tells apart: no other
    /// field is doubted, it does not agree more often than by chance, three others or more do, with errors in each, the pairs
    /// are more than those of twins, and also more than those that lack one field more, such as brothers and sisters.
    fn are_things(&self, mixture: &Mixture, field: usize, agreeing: &[(usize, Seen)]) -> bool {
        let Some(pairs) = mixture.pairs_without(field) else {
            return false;
        };
        let seen = mixture.seen_without(field, field);
        self.only_doubts(&[field])
            && !self.may_stand_crosswise(field)
            && !seen.is_beyond_chance(&self.rates[field])
            && agreeing.len() >= MORE_BESIDE
            && with_errors(agreeing) == agreeing.len()
            && self.tell_one_thing(agreeing)
            && pairs >= LEAST_PAIRS * self.clusters.first.len() as f64
            && pairs > mixture.most_without_two(field)
    }

    /// Whether these fields are such as no two things share: a date with a given name and a surname, which stand crosswise in
    /// some records, or two texts.
    fn tell_one_thing(&self, agreeing: &[(usize, Seen)]) -> bool {
        let used = &self.fields.used;
        let has = |field: &usize| agreeing.iter().any(|(other, _)| other == field);
        let has_names = self.crossed.iter().any(|places| places.iter().all(has));
        let of_kind = |kind: Kind| {
            let fields = agreeing.iter().map(|(field, _)| &used[*field]);
            fields.filter(move |field| field.kind == kind)
        };
        let texts = of_kind(Kind::Text).filter(|text| text.with_digits() < MOST_WITH_DIGITS);
        has_names && of_kind(Kind::Date).next().is_some() || texts.count() >= LEAST_TEXTS
    }

    /// Whether values of a name may stand in another one.
    fn may_stand_crosswise(&self, field: usize) -> bool {
        self.crossed.iter().flatten().any(|place| *place == field)
    }

    /// The strong field that is at chance where all others agree, with errors, so that it either says nothing or tells related
    /// things apart.
    pub(crate) fn suspect(&self) -> Option<Suspect> {
        let (mixture, _) = self.learned.as_ref()?;
        let is_suspect = |field: &usize| {
            let agreeing = Evidence::agreeing(mixture, *field);
            (self.doubted[*field] || mixture.is_leading(*field))
                && self.only_doubts(&[*field])
                && self.is_at_chance(mixture, *field)
                && with_errors(&agreeing) >= LEAST_BESIDE
        };
        let field = (0..self.fields.used.len()).find(is_suspect)?;
        let pairs = mixture.pairs_without(field)?;
        Some(Suspect { field, pairs })
    }
}

/// How many of these fields have errors.
fn with_errors(fields: &[(usize, Seen)]) -> usize {
    let with_errors = fields.iter().filter(|(_, seen)| seen.equal < 1.0 - ERRORS);
    with_errors.count()
}
