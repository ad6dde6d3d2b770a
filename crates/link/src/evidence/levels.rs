//! Levels of likeness of two values: missing, equal, close, near, far, other, or crosswise.

use rayon::prelude::*;

use super::kinds::{Kind, Likeness, Sketch, ValuePair, jaro_winkler};
use super::values::{Field, MISSING};
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

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
        let cosine = &|| self.words.as_ref().map_or(0.0, |words| words.cosine(x, y));
        let sketches = [x, y].map(|code| self.sketches[code as usize]);
        let pair = ValuePair {
            a,
            b,
            sketches,
            cosine,
        };
        match (self.kind.likeness())(&pair) {
            Likeness::Close => CLOSE,
            Likeness::Near => NEAR,
            Likeness::Far => FAR,
            Likeness::Other => OTHER,
        }
    }
}

/// The levels of pairs of records, a row of as many columns as fields for each pair.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(crate) levels: Vec<u8>,
    pub(crate) fields: usize,
}

impl Levels {
    /// Compares all fields of all pairs; `crossed` are the places of fields whose values may stand crosswise.
    pub(crate) fn compare(
        fields: &[Field],
        crossed: &[[usize; 2]],
        pairs: &[[u32; 2]],
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("score", pairs.len() as u64);
        let columns = fields.len().max(1);
        // All codes of a record in one place: records of pairs are far apart.
        let codes = record_codes(fields);
        // Without a field, there are no codes.
        let codes_of = |record: u32| &codes[record as usize * fields.len()..][..fields.len()];
        let mut levels = vec![NONE; pairs.len() * columns];
        let mut done = 0;
        for (rows, pairs) in levels.chunks_mut(BLOCK * columns).zip(pairs.chunks(BLOCK)) {
            rows.par_chunks_mut(columns)
                .zip(pairs)
                .with_min_len(CHUNK)
                .for_each(|(row, pair)| {
                    let codes = pair.map(codes_of);
                    compare_codes(fields, codes, row);
                    cross_all(fields, crossed, *pair, row);
                });
            done += pairs.len() as u64;
            advance(progress, done, 0, 0)?;
        }
        let fields = fields.len();
        Ok(Levels { levels, fields })
    }

    /// The rows of the pairs.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.levels.chunks_exact(self.fields.max(1))
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
fn record_codes(fields: &[Field]) -> Vec<u32> {
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
    let alike = |x: Option<(&str, Sketch)>, y: Option<(&str, Sketch)>| match (x, y) {
        (Some((x, sketch_x)), Some((y, sketch_y))) => {
            let is_alike =
                || sketch_x.most_jaro_winkler(sketch_y) >= CROSSED && jaro_winkler(x, y) >= CROSSED;
            u8::from(x == y || is_alike()) * 2
        }
        _ => 1,
    };
    let value = |field: usize, record: u32| {
        let field = &fields[field];
        let code = field.codes[record as usize];
        let sketch = field.sketches.get(code as usize);
        field.value(record as usize).zip(sketch.copied())
    };
    let one = alike(value(f, a), value(g, b));
    if one > 0 && one + alike(value(g, a), value(f, b)) >= 3 {
        (row[f], row[g]) = (CROSSWISE, NONE);
    }
}

/// What a level is called in reports; equal values by their rarity, from 1.
pub(crate) fn level_name(level: u8) -> String {
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
            let has_names = [field, other].iter().all(|field| field.kind == Kind::Name);
            if has_names && share_in(field, other) >= SHARED && share_in(other, field) >= SHARED {
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
    use crate::evidence::values::{Column, Fields};

    /// The levels of the first value of each field with each other one.
    fn levels(columns: &[&[&str]]) -> Vec<Vec<u8>> {
        let columns = columns
            .iter()
            .map(|values| Column::new(values, None, &|_| None));
        let fields = Fields::from_columns(columns).used;
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
        let columns = [given, surname].map(|values| Column::new(&values, None, &|_| None));
        let fields = Fields::from_columns(columns.into_iter()).used;
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
