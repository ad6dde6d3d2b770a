//! What was learned, so that every decision can be computed again by hand.

use super::candidates::LeftOut;
use super::decision::Evidence;
use super::kinds::Kind;
use super::levels::{CLOSE, LEVELS, level_name};
use super::values::{Reason, Unused, number};
use super::verdict::Verdict;

/// Classes with fewer pairs than this are left out: they change no odds.
const LEAST_PAIRS: f64 = 1e-6;

/// What the fields of one file say of its records.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct EvidenceReport {
    /// `links`, `nothing to link` or `cannot tell`.
    pub verdict: &'static str,
    /// Records that equal an earlier one in every field although that is no evidence: so many are equal by chance.
    pub equal_by_chance: u64,
    /// All pairs of records, of which one with many copies counts as eight at most.
    pub all_pairs: f64,
    /// What the bounds on candidates left out.
    pub left_out: LeftOut,
    /// The compared fields, in order.
    pub fields: Vec<FieldEvidence>,
    /// What pairs share: no field (chance), sets of fields (related things), or all fields (the same thing).
    pub classes: Vec<ClassEvidence>,
}

/// What a field says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldEvidence {
    /// The place of the field among the compared ones.
    pub field: usize,
    /// `strong` (equality by chance is rare), `weak`, `doubted` (it differs where all others agree), or why it is not used:
    /// `noise` (it never agrees beyond chance where others do), `copy` (its words stand in other fields), `empty`,
    /// `too many fields`.
    pub used: &'static str,
    /// The name of its [`Kind`]; absent if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The places of the fields of which it is a copy; absent otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copy_of: Vec<usize>,
    /// How much equality says: the logarithm to the base 2 of how rare it is by chance. Of texts, closeness counts, too.
    pub bits: f64,
    /// The share of the records that lack the field.
    pub missing: f64,
    /// Whether classes share it or not; other fields count half in classes of related things.
    pub in_classes: bool,
    /// The levels of likeness.
    pub levels: Vec<LevelEvidence>,
}

/// What a level of likeness of a field says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LevelEvidence {
    /// `equal` with a number, greater for rarer values; `close`, `near`, `far`, `other` or `crosswise`.
    pub level: String,
    /// The share of the pairs of the same thing that are on it (m).
    pub of_same: f64,
    /// The share of the pairs of different things that are on it (u).
    pub of_different: f64,
    /// log2(m / u).
    pub points: f64,
    /// For a text: the same for related things, which share other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_points: Option<f64>,
}

/// Pairs of records that share a set of fields.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassEvidence {
    /// The places of the shared fields among the compared ones.
    pub shares: Vec<usize>,
    /// Whether it is the class of the same thing.
    pub is_same: bool,
    /// The expected number of pairs.
    pub pairs: f64,
}

impl FieldEvidence {
    fn from_unused(unused: &Unused) -> Self {
        FieldEvidence {
            field: unused.place,
            used: match unused.why {
                Reason::Empty => "empty",
                Reason::Copy(_) => "copy",
                Reason::Many => "too many fields",
                Reason::Noise => "noise",
            },
            kind: unused.kind.map(Kind::name),
            copy_of: match &unused.why {
                Reason::Copy(others) => others.clone(),
                _ => Vec::new(),
            },
            bits: unused.bits,
            missing: unused.missing,
            in_classes: false,
            levels: Vec::new(),
        }
    }
}

impl Evidence {
    /// What was learned. `copies` counts the equal ones of a record.
    pub(crate) fn report(&self, verdict: &Verdict, copies: impl Fn(u32) -> u64) -> EvidenceReport {
        let equal = self
            .equality
            .iter()
            .filter(|(_, log_odds)| *log_odds <= 0.0);
        let mut fields: Vec<FieldEvidence> = (0..self.rates.len())
            .map(|field| self.field(field))
            .collect();
        fields.extend(self.fields.unused.iter().map(FieldEvidence::from_unused));
        fields.sort_by_key(|field| field.field);
        EvidenceReport {
            verdict: verdict.name(),
            equal_by_chance: equal.map(|(record, _)| copies(*record) - 1).sum(),
            all_pairs: self
                .learned
                .as_ref()
                .map_or(0.0, |(mixture, _)| mixture.all_pairs),
            left_out: self.left_out,
            fields,
            classes: self.classes(),
        }
    }

    fn field(&self, field: usize) -> FieldEvidence {
        let (used, rates) = (&self.fields.used[field], &self.rates[field]);
        let mixture = self.learned.as_ref().map(|(mixture, _)| mixture);
        let is_strong = mixture
            .is_some_and(|mixture| mixture.strong_fields().any(|(strong, _)| strong == field));
        FieldEvidence {
            field: used.place,
            used: match (self.doubted[field], is_strong) {
                (true, _) => "doubted",
                (false, true) => "strong",
                (false, false) => "weak",
            },
            kind: Some(used.kind.name()),
            copy_of: Vec::new(),
            bits: rates.bits,
            missing: used.missing,
            in_classes: mixture.is_some_and(|mixture| mixture.lattice.contains(&field)),
            levels: self.levels(field),
        }
    }

    fn levels(&self, field: usize) -> Vec<LevelEvidence> {
        let Some((mixture, weights)) = &self.learned else {
            return Vec::new();
        };
        let rates = &self.rates[field];
        let same = mixture.same_by_level(field, rates);
        let is_text = mixture.learned[field].related.is_some();
        let seen = (1..LEVELS).filter(|level| rates.u[*level] > 0.0);
        let levels = seen.map(|level| LevelEvidence {
            level: level_name(number(level).to_le_bytes()[0]),
            of_same: same[level],
            of_different: rates.u[level],
            points: weights.shared[field][level].log2(),
            related_points: (is_text && level >= usize::from(CLOSE))
                .then(|| weights.related[field][level].log2()),
        });
        levels.collect()
    }

    fn classes(&self) -> Vec<ClassEvidence> {
        let Some((mixture, _)) = &self.learned else {
            return Vec::new();
        };
        let classes = (0..mixture.classes()).map(|class| {
            let shared = mixture.lattice.iter().enumerate();
            let shared = shared.filter(|(place, _)| class >> place & 1 == 1);
            let mut shares: Vec<usize> = shared
                .map(|(_, field)| self.fields.used[*field].place)
                .collect();
            shares.sort_unstable();
            ClassEvidence {
                shares,
                is_same: class == mixture.same(),
                pairs: mixture.shares[class] * mixture.all_pairs,
            }
        });
        let mut classes: Vec<ClassEvidence> = classes
            .filter(|class| class.is_same || class.pairs >= LEAST_PAIRS)
            .collect();
        classes.sort_by(|a, b| {
            b.pairs
                .total_cmp(&a.pairs)
                .then_with(|| a.shares.cmp(&b.shares))
        });
        classes
    }
}
