//! Fields that say nothing of whether records are one thing, and hurt: each pair of the same thing differs in them.
//!
//! Such a field is on the levels of chance in the pairs that share all other fields. So is the given name of members of a
//! household, whose surname, street and phone are equal, and the title of the songs of an album: there, the field alone tells
//! the things apart. What tells one from the other:
//!
//! - Numbers, phones and the like are noise: who shares a name and a street shares them, too, or is another one.
//! - A date is noise beside another date that agrees: members of a household differ in both.
//! - A name is noise if hardly any value repeats although others have errors: given names repeat.
//! - Else, a field is noise by [`Evidence::are_things`] alone: what it is beside must be what one thing has, with errors in each
//!   field, and often.
//!
//! Where the last rule lacks little, nobody can tell which of both it is, and [`Evidence::suspect`] says so.

use super::decision::{Compared, DOUBTED, DOUBTED_PAIRS, Evidence};
use super::kinds::{Kind, Noise};
use super::mixture::Mixture;
use super::seen::Seen;
use super::values::Reason;

/// A field that differs where others agree, and whose levels are this near to those of chance, is noise.
const NOISE_BITS: f64 = 0.15;

/// A strong field that agrees in this share of the pairs of the same thing tells noise.
const AGREEING: f64 = 0.5;

/// Such fields, at least; and where the field may tell things apart.
const LEAST_BESIDE: usize = 2;
const MORE_BESIDE: usize = 3;

/// A field has errors if this share of the pairs of the same thing are not equal in it.
const ERRORS: f64 = 0.02;

/// Pairs for each record that twins are not, at least: one birth in sixty is one of twins.
const LEAST_PAIRS: f64 = 0.05;

/// Pairs that lack one other field, too, as a share of those that lack the field alone: of twins, there are more, since
/// brothers and sisters differ in the date of birth as well.
const MOST_RELATED: f64 = 0.5;

/// Strong texts that members of a household do not have in common.
const LEAST_TEXTS: usize = 2;

/// A field that may tell things apart or say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspect {
    pub(crate) field: usize,
    /// The pairs that share all others.
    pub(crate) pairs: f64,
}

impl Evidence {
    /// Sets the fields aside that are noise in what was learned; whether there are any.
    pub(super) fn set_noise_aside(&mut self, compared: &mut Compared) -> bool {
        let noise = self.find_noise();
        for field in noise.iter().rev() {
            self.set_aside(*field, compared);
        }
        !noise.is_empty()
    }

    /// The fields that never agree beyond chance, and not even nearly, where two strong fields agree; none if another field is
    /// doubted, which may be right to differ.
    fn find_noise(&self) -> Vec<usize> {
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
        let used = &self.fields.used;
        let agreeing = Evidence::agreeing(mixture, field);
        let by_kind = match used[field].kind.noise() {
            Noise::AsOneThing => false,
            Noise::Always => true,
            Noise::BesideDate => agreeing
                .iter()
                .any(|(other, _)| used[*other].kind == used[field].kind),
            Noise::IfUnique => {
                used[field].is_unique()
                    && !self.may_stand_crosswise(field)
                    && with_errors(&agreeing) >= LEAST_BESIDE
            }
        };
        agreeing.len() >= LEAST_BESIDE && (by_kind || self.are_things(mixture, field, &agreeing))
    }

    /// Whether pairs that share all fields but one are one thing each, and not things that only this field tells apart, such as
    /// twins: no other field is doubted, it does not agree more often than by chance, the others have a date or two texts and
    /// errors in each, the pairs are many, and those that lack one more field are fewer.
    fn are_things(&self, mixture: &Mixture, field: usize, agreeing: &[(usize, Seen)]) -> bool {
        let Some(pairs) = mixture.pairs_without(field) else {
            return false;
        };
        let kind = |(other, _): &(usize, Seen)| self.fields.used[*other].kind;
        let texts = agreeing.iter().map(kind).filter(|kind| *kind == Kind::Text);
        let has_date = agreeing.iter().map(kind).any(|kind| kind == Kind::Date);
        let records = self.clusters.first.len() as f64;
        let seen = mixture.seen_without(field, field);
        self.only_doubts(&[field])
            && !self.may_stand_crosswise(field)
            && !seen.is_beyond_chance(&self.rates[field])
            && agreeing.len() >= MORE_BESIDE
            && with_errors(agreeing) == agreeing.len()
            && (has_date || texts.count() >= LEAST_TEXTS)
            && pairs >= LEAST_PAIRS * records
            && mixture.most_without_two(field) <= MOST_RELATED * pairs
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
                && agreeing.len() >= MORE_BESIDE
                && with_errors(&agreeing) >= LEAST_BESIDE
        };
        let field = (0..self.fields.used.len()).find(is_suspect)?;
        let pairs = mixture.pairs_without(field)?;
        Some(Suspect { field, pairs })
    }

    /// Takes noise out, so that the next round begins without it.
    fn set_aside(&mut self, field: usize, compared: &mut Compared) {
        self.fields.set_aside(field, Reason::Noise);
        self.doubted.remove(field);
        if let Some((mixture, _)) = &mut self.learned {
            mixture.learned.remove(field);
        }
        // A name that stands crosswise with another one is no noise.
        let places = self.crossed.iter_mut().flatten();
        places
            .filter(|place| **place > field)
            .for_each(|place| *place -= 1);
        compared.levels.remove(field);
        compared.of_random.remove(field);
    }
}

/// How many of these fields have errors.
fn with_errors(fields: &[(usize, Seen)]) -> usize {
    let with_errors = fields.iter().filter(|(_, seen)| seen.equal < 1.0 - ERRORS);
    with_errors.count()
}
