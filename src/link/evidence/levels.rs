//! Levels of likeness of two values: missing, equal, close, near, far, other, or crosswise.

use rapidfuzz::distance::{jaro_winkler, osa};
use rayon::prelude::*;

use super::values::{Field, Kind, MISSING};
use crate::error::Result;
use crate::progress::{Progress, advance};

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
const CHUNK: usize = 1 << 10;

/// Pairs between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 18;

impl Field {
    /// The level of two values, each by its code.
    fn level(&self, [x, y]: [u32; 2]) -> u8 {
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
        let [a, b] = [x, y].map(|code| &*self.values[code as usize]);
        let cosine = || self.words.as_ref().map_or(0.0, |words| words.cosine(x, y));
        match self.kind {
            Kind::Text => level_of(cosine(), TEXTS),
            Kind::Date => dates(&self.dates[x as usize], &self.dates[y as usize]),
            Kind::Code => codes(a, b),
            Kind::Name if cosine() >= REORDERED => CLOSE,
            Kind::Name => level_of(names(a, b), NAMES),
        }
    }
}

/// The level of two dates, each with its parts and all its digits.
fn dates((parts, all): &([String; 3], String), (others, other_all): &([String; 3], String)) -> u8 {
    let ([year, month, day], [other_year, other_month, other_day]) = (parts, others);
    let is_exchanged = year == other_year && month == other_day && day == other_month;
    let equal = parts
        .iter()
        .zip(others)
        .filter(|(part, other)| part == other);
    match edits(all, other_all) {
        0 | 1 => CLOSE,
        _ if is_exchanged => CLOSE,
        2 => NEAR,
        _ if equal.count() >= 2 => NEAR,
        3 => FAR,
        _ => OTHER,
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
    pub(crate) fn of(
        fields: &[Field],
        crossed: &[[usize; 2]],
        pairs: &[[u32; 2]],
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("score", pairs.len() as u64);
        let columns = fields.len().max(1);
        // All codes of a record in one place: records of pairs are far apart.
        let codes = of_records(fields);
        let of_record = |record: u32| &codes[record as usize * columns..][..fields.len()];
        let mut of_pairs = vec![NONE; pairs.len() * columns];
        let mut done = 0;
        for (rows, pairs) in of_pairs
            .chunks_mut(BLOCK * columns)
            .zip(pairs.chunks(BLOCK))
        {
            rows.par_chunks_mut(columns)
                .zip(pairs)
                .with_min_len(CHUNK)
                .for_each(|(row, pair)| {
                    let codes = pair.map(of_record);
                    compare_codes(fields, codes, row);
                    cross_all(fields, crossed, *pair, row);
                });
            done += pairs.len() as u64;
            advance(progress, done, 0, 0)?;
        }
        let fields = fields.len();
        Ok(Levels { of_pairs, fields })
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

/// Compares all fields of two records.
pub(crate) fn compare(fields: &[Field], crossed: &[[usize; 2]], pair: [u32; 2], row: &mut [u8]) {
    for (level, field) in row.iter_mut().zip(fields) {
        *level = field.level(pair.map(|record| field.codes[record as usize]));
    }
    cross_all(fields, crossed, pair, row);
}

fn compare_codes(fields: &[Field], [a, b]: [&[u32]; 2], row: &mut [u8]) {
    for (((level, field), x), y) in row.iter_mut().zip(fields).zip(a).zip(b) {
        *level = field.level([*x, *y]);
    }
}

fn cross_all(fields: &[Field], crossed: &[[usize; 2]], pair: [u32; 2], row: &mut [u8]) {
    for places in crossed {
        cross(fields, *places, pair, row);
    }
}

/// The codes of all fields of each record, one after the other.
fn of_records(fields: &[Field]) -> Vec<u32> {
    let records = fields.first().map_or(0, |field| field.codes.len());
    let mut codes = Vec::with_capacity(records * fields.len());
    for record in 0..records {
        codes.extend(fields.iter().map(|field| field.codes[record]));
    }
    codes
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

/// What a level is called in reports; equal values by their rarity, from 1.
pub(crate) fn name(level: u8) -> String {
    match level {
        NONE => "missing".to_owned(),
        CLOSE => "close".to_owned(),
        NEAR => "near".to_owned(),
        FAR => "far".to_owned(),
        OTHER => "other".to_owned(),
        CROSSWISE => "crosswise".to_owned(),
        rarity => format!("equal {rarity}"),
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
    let known: std::collections::HashSet<&str> =
        other.values.iter().map(|value| &**value).collect();
    let values = field.values.iter().zip(&field.records);
    let shared = values.filter(|(value, _)| known.contains(&***value));
    let records: u64 = shared.map(|(_, records)| u64::from(*records)).sum();
    records as f64 / field.codes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::evidence::values::{Column, Fields, clean};

    /// The levels of the first value of each field with each other one.
    fn levels(columns: &[&[&str]]) -> Vec<Vec<u8>> {
        let columns = columns.iter().map(|values| {
            let cleaned: Vec<String> = values.iter().map(|value| clean(value, &|_| None)).collect();
            Column::of(&cleaned)
        });
        let fields = Fields::of_columns(columns).used;
        let others = 1..super::super::values::number(fields[0].codes.len());
        others
            .map(|other| {
                fields
                    .iter()
                    .map(|field| field.level([field.codes[0], field.codes[other as usize]]))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn names_fall_on_levels_by_likeness() {
        let of = levels(&[&[
            "martha",
            "martha",
            "marhta",
            "marta lee",
            "margot",
            "bob",
            "",
        ]]);
        assert_eq!(of.concat(), [EQUAL, CLOSE, NEAR, NEAR, OTHER, NONE]);
    }

    #[test]
    fn dates_forgive_exchanged_parts_and_edits() {
        let of = levels(&[&[
            "1980-03-04",
            "1980-03-04",
            "1980-04-03",
            "1980-03-05",
            "1980-03-27",
            "1991-03-04",
            "1980-12-25",
            "1955-12-25",
        ]]);
        assert_eq!(of.concat(), [EQUAL, CLOSE, CLOSE, NEAR, NEAR, OTHER, OTHER]);
    }

    #[test]
    fn longer_codes_may_have_more_edits() {
        let of = levels(&[&["123456", "123457", "123467", "129999", "12", ""]]);
        assert_eq!(of.concat(), [CLOSE, NEAR, OTHER, OTHER, NONE]);
    }

    #[test]
    fn texts_fall_on_levels_by_cosine() {
        let of = levels(&[&[
            "a tall red oak tree",
            "tree oak red tall a",
            "a tall red oak",
            "an elm by the river",
            "",
        ]]);
        assert_eq!(of.concat(), [CLOSE, CLOSE, OTHER, NONE]);
    }

    #[test]
    fn exchanged_names_stand_crosswise() {
        let given = ["ann", "lee", "bob", "kim", "lee"];
        let surname = ["lee", "ann", "ray", "ann", "kim"];
        let columns = [given, surname].map(|values| Column::of(&values.map(str::to_owned)));
        let fields = Fields::of_columns(columns.into_iter()).used;
        let crossed = crossed(&fields);
        assert_eq!(crossed, [[0, 1]]);
        let row = |pair| {
            let mut row = [0; 2];
            compare(&fields, &crossed, pair, &mut row);
            row
        };
        assert_eq!(row([0, 1]), [CROSSWISE, NONE]);
        assert_eq!(row([0, 2]), [OTHER, OTHER]);
        assert_eq!(row([0, 3]), [OTHER, OTHER]);
    }
}
