//! Levels of likeness of two values: missing, equal, close, near, far, other, or crosswise.

use rapidfuzz::distance::{jaro_winkler, osa};
use rayon::prelude::*;

use super::values::{Field, Kind, MISSING, parts_of_date};

/// The level of a pair of which a record lacks the field.
pub(crate) const NONE: u8 = 0;

/// The level of equal values; their rarity splits it into levels up to [`CLOSE`].
pub(crate) const EQUAL: u8 = 1;

/// The least level of values that differ.
pub(crate) const CLOSE: u8 = 20;
pub(crate) const NEAR: u8 = CLOSE + 1;
pub(crate) const FAR: u8 = CLOSE + 2;
pub(crate) const OTHER: u8 = CLOSE + 3;

/// The level of a value that is close to the other record's value of another field, and the reverse.
pub(crate) const CROSSWISE: u8 = CLOSE + 4;

/// The number of levels.
pub(crate) const LEVELS: usize = CROSSWISE as usize + 1;

/// Least Jaro-Winkler similarities of names that are close, near and far.
const NAMES: [f64; 3] = [0.9, 0.78, 0.65];

/// The least cosine of the words of names that are close in any order.
const REORDERED: f64 = 0.6;

/// Least cosines of texts.
const TEXTS: [f64; 3] = [0.65, 0.4, 0.2];

/// The least Jaro-Winkler similarity of names that stand crosswise.
const CROSSED: f64 = 0.88;

/// The least share of the values of a field that must stand in another one, for values to stand crosswise.
const SHARED: f64 = 0.02;

/// Pairs that a thread compares at a time.
const CHUNK: usize = 1 << 13;

/// Compares the values of a field.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    field: &'a Field,
    /// Year, month and day of each value, where the field is a date; and all digits.
    dates: Vec<([String; 3], String)>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn of(field: &'a Field) -> Self {
        let dates = match field.kind {
            Kind::Date => {
                let values = field.values.iter();
                let dates = values.map(|value| {
                    let parts = parts_of_date(value);
                    let all = parts.concat();
                    (parts, all)
                });
                dates.collect()
            }
            _ => Vec::new(),
        };
        Comparison { field, dates }
    }

    /// The level of the values of two records.
    pub(crate) fn level(&self, a: u32, b: u32) -> u8 {
        let [x, y] = [a, b].map(|record| self.field.codes[record as usize]);
        if x == MISSING || y == MISSING {
            NONE
        } else if x == y {
            EQUAL
        } else {
            self.unequal(x, y)
        }
    }

    /// The level of two values that differ.
    fn unequal(&self, x: u32, y: u32) -> u8 {
        let [a, b] = [x, y].map(|code| &*self.field.values[code as usize]);
        match self.field.kind {
            Kind::Text => {
                let words = self.field.words.as_ref();
                level_of(words.map_or(0.0, |words| words.cosine(x, y)), TEXTS)
            }
            Kind::Date => self.dates_level(x as usize, y as usize),
            Kind::Code => codes(a, b),
            Kind::Name => {
                let words = self.field.words.as_ref();
                if words.is_some_and(|words| words.cosine(x, y) >= REORDERED) {
                    return CLOSE;
                }
                level_of(names(a, b), NAMES)
            }
        }
    }

    fn dates_level(&self, x: usize, y: usize) -> u8 {
        let ([year, month, day], all) = &self.dates[x];
        let ([other_year, other_month, other_day], other_all) = &self.dates[y];
        let edits = edits(all, other_all);
        let is_exchanged = year == other_year && month == other_day && day == other_month;
        let equal = [year == other_year, month == other_month, day == other_day];
        let equal = equal.into_iter().filter(|is_equal| *is_equal).count();
        match edits {
            _ if is_exchanged => CLOSE,
            0 | 1 => CLOSE,
            _ if equal >= 2 => NEAR,
            2 => NEAR,
            3 => FAR,
            _ => OTHER,
        }
    }
}

/// The level of a similarity.
fn level_of(similarity: f64, [close, near, far]: [f64; 3]) -> u8 {
    match similarity {
        s if s >= close => CLOSE,
        s if s >= near => NEAR,
        s if s >= far => FAR,
        _ => OTHER,
    }
}

/// The Jaro-Winkler similarity of two names.
fn names(a: &str, b: &str) -> f64 {
    match a.is_ascii() && b.is_ascii() {
        true => jaro_winkler::similarity(a.bytes(), b.bytes()),
        false => jaro_winkler::similarity(a.chars(), b.chars()),
    }
}

/// Insertions, deletions, replacements and exchanges of neighbours.
fn edits(a: &str, b: &str) -> usize {
    match a.is_ascii() && b.is_ascii() {
        true => osa::distance(a.bytes(), b.bytes()),
        false => osa::distance(a.chars(), b.chars()),
    }
}

/// The level of two codes: longer ones may have more edits.
fn codes(a: &str, b: &str) -> u8 {
    let shorter = a.chars().count().min(b.chars().count());
    match edits(a, b) {
        0 | 1 if shorter >= 3 => CLOSE,
        0..=2 if shorter >= 5 => NEAR,
        0..=3 if shorter >= 6 => FAR,
        _ => OTHER,
    }
}

/// The levels of pairs of records, a row of as many columns as fields for each pair.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(crate) of_pairs: Vec<u8>,
    pub(crate) fields: usize,
}

impl Levels {
    /// Compares all fields of all pairs; `crossed` are the places of fields whose values may stand crosswise.
    pub(crate) fn of(fields: &[Field], crossed: &[[usize; 2]], pairs: &[[u32; 2]]) -> Self {
        let comparisons: Vec<Comparison<'_>> = fields.iter().map(Comparison::of).collect();
        let mut of_pairs = vec![NONE; pairs.len() * fields.len()];
        of_pairs
            .par_chunks_mut(CHUNK * fields.len().max(1))
            .zip(pairs.par_chunks(CHUNK))
            .for_each(|(rows, pairs)| {
                for (row, [a, b]) in rows.chunks_exact_mut(fields.len()).zip(pairs) {
                    for (level, comparison) in row.iter_mut().zip(&comparisons) {
                        *level = comparison.level(*a, *b);
                    }
                    for places in crossed {
                        cross(fields, *places, [*a, *b], row);
                    }
                }
            });
        let fields = fields.len();
        Levels { of_pairs, fields }
    }

    /// Takes a field out.
    pub(crate) fn remove(&mut self, field: usize) {
        let fields = self.fields;
        let mut place = 0;
        self.of_pairs.retain(|_| {
            place += 1;
            (place - 1) % fields != field
        });
        self.fields -= 1;
    }

    /// The rows of the pairs.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.of_pairs.chunks_exact(self.fields.max(1))
    }
}

/// Gives the first of two fields the level [`CROSSWISE`], and the other one none, if their values are alike crosswise and not
/// straight.
fn cross(fields: &[Field], [f, g]: [usize; 2], [a, b]: [u32; 2], row: &mut [u8]) {
    let differs = |level: u8| level == NONE || level >= NEAR;
    if !differs(row[f]) || !differs(row[g]) {
        return;
    }
    let alike = |x: Option<&str>, y: Option<&str>| match (x, y) {
        (Some(x), Some(y)) => u8::from(x == y || names(x, y) >= CROSSED) * 2,
        _ => 1,
    };
    let value = |field: usize, record: u32| fields[field].value(record as usize);
    let one = alike(value(f, a), value(g, b));
    if one > 0 && one + alike(value(g, a), value(f, b)) >= 3 {
        (row[f], row[g]) = (CROSSWISE, NONE);
    }
}

/// The pairs of names of which values of one stand in the other, both ways.
pub(crate) fn crossed(fields: &[Field]) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for (f, field) in fields.iter().enumerate() {
        for (g, other) in fields.iter().enumerate().skip(f + 1) {
            let are_names = [field, other].iter().all(|field| field.kind == Kind::Name);
            if are_names && share_in(field, other) >= SHARED && share_in(other, field) >= SHARED {
                pairs.push([f, g]);
            }
        }
    }
    pairs
}

/// The share of the records whose value of a field is a value of another field.
fn share_in(field: &Field, other: &Field) -> f64 {
    let known: std::collections::HashSet<&str> = other.values.iter().map(|value| &**value).collect();
    let values = field.values.iter().zip(&field.records);
    let shared = values.filter(|(value, _)| known.contains(&***value));
    let records: u64 = shared.map(|(_, records)| u64::from(*records)).sum();
    records as f64 / field.codes.len().max(1) as f64
}
