//! The values of the fields: cleaned, numbered, and each field with a kind that is found from them.

mod codes;

mod vectors;

mod column;

mod field;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub(crate) use self::codes::{MISSING, number};
pub(crate) use self::column::Column;
#[cfg(test)]
pub(crate) use self::column::clean;
use self::column::{mean_parts, mean_words};
pub(crate) use self::field::{Field, Reason, Unused};
use self::vectors::WordVectors;
use simgpu::scheme::fmix64;

/// Records that are looked at to tell whether a field repeats others.
const SAMPLED: usize = 2000;

/// A field is a copy if in more than this share of the records half of its words stand in other fields.
const COPIED: f64 = 0.75;

/// Fields whose values have more parts than this on average have vectors of them.
const SEVERAL_PARTS: f64 = 1.3;

/// The fields that are used, and those that are not.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) used: Vec<Field>,
    pub(crate) unused: Vec<Unused>,
}

impl Fields {
    /// Numbers the cleaned values, one column per field, of so many records; finds the kinds; sets copies aside.
    pub(crate) fn from_columns(columns: impl Iterator<Item = Column>) -> Self {
        let mut fields = Fields::default();
        for (place, column) in columns.enumerate() {
            let field = Field::from_column(place, column);
            if field.says_something() {
                fields.used.push(field)
            } else {
                fields.unused.push(field.unused(Reason::Empty))
            }
        }
        fields.set_copies_aside();
        for field in &mut fields.used {
            let parts = field.kind.parts();
            if mean_parts(&field.values, parts) > SEVERAL_PARTS {
                field.words = Some(WordVectors::from_values(&field.values, &field.codes, parts));
            }
        }
        fields
    }

    /// Keeps so many fields: those whose values are rarest.
    pub(crate) fn keep(&mut self, most: usize) {
        let mut worths: Vec<(f64, usize)> = self
            .used
            .iter()
            .map(|field| (field.bits() * (1.0 - field.missing), field.place))
            .collect();
        worths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, place) in worths.iter().skip(most) {
            if let Some(at) = self.used.iter().position(|field| field.place == *place) {
                self.set_aside(at, Reason::Many);
            }
        }
    }

    /// Takes out the field at a place among those that are used.
    pub(crate) fn set_aside(&mut self, at: usize, why: Reason) {
        let unused = self.used.remove(at).unused(why);
        self.unused.push(unused);
    }

    /// Sets fields aside whose words stand in other fields, those with the most words first.
    fn set_copies_aside(&mut self) {
        let records = self.used.first().map_or(0, |field| field.codes.len());
        let mut sample: Vec<usize> = (0..records).collect();
        sample.sort_unstable_by_key(|row| fmix64(*row as u64));
        sample.truncate(SAMPLED);
        let mut order: Vec<(f64, usize)> = self
            .used
            .iter()
            .map(|field| (mean_words(&field.values), field.place))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, place) in order {
            if self.used.len() <= 2 {
                break;
            }
            let Some(at) = self.used.iter().position(|field| field.place == place) else {
                continue;
            };
            if let Some(others) = self.copied_from(at, &sample) {
                self.set_aside(at, Reason::Copy(others));
            }
        }
    }

    /// The places of the fields of which a field is a copy, those with most of its words; `None` if it is none.
    fn copied_from(&self, at: usize, sample: &[usize]) -> Option<Vec<usize>> {
        let (mut looked_at, mut copied) = (0_u32, 0_u32);
        let mut copied_words = vec![0_u32; self.used.len()];
        for row in sample {
            let Some(value) = self.used[at].value(*row) else {
                continue;
            };
            let others = self.used.iter().enumerate();
            let words = others
                .filter(|(other, _)| *other != at)
                .filter_map(|(other, field)| Some((other, field.value(*row)?)))
                .flat_map(|(other, value)| value.split(' ').map(move |word| (word, other)));
            let words: HashMap<&str, usize> = words.collect();
            let known: Vec<usize> = value
                .split(' ')
                .filter_map(|word| words.get(word).copied())
                .collect();
            looked_at += 1;
            copied += u32::from(2 * known.len() >= value.split(' ').count());
            known.iter().for_each(|other| copied_words[*other] += 1);
        }
        if f64::from(copied) <= COPIED * f64::from(looked_at) {
            return None;
        }
        let most = copied_words.iter().max().copied().unwrap_or_default();
        let holds_many =
            |(other, known): (usize, &u32)| (2 * known > most).then_some(self.used[other].place);
        Some(
            copied_words
                .iter()
                .enumerate()
                .filter_map(holds_many)
                .collect(),
        )
    }
}
