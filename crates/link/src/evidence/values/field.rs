//! A field: its distinct values, and what equal ones say.

use rayon::prelude::*;

use super::codes::MISSING;
use super::column::Column;
use super::vectors::WordVectors;
use crate::evidence::kinds::{Kind, Sketch};

/// A field that is missing in more records than this share is not used.
const MOST_MISSING: f64 = 0.98;

/// A field: the values of all distinct records.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its place among the compared fields.
    pub(crate) place: usize,
    pub(crate) kind: Kind,
    /// The distinct values, by first appearance.
    pub(crate) values: Vec<String>,
    /// The letters of each value.
    pub(crate) sketches: Vec<Sketch>,
    /// The value of each record, or [`MISSING`].
    pub(crate) codes: Vec<u32>,
    /// For each value, how many records have it.
    pub(crate) records: Vec<u32>,
    /// The parts of the values, where they have several.
    pub(crate) words: Option<WordVectors>,
    /// The share of the records that lack it.
    pub(crate) missing: f64,
}

/// A field that is not used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unused {
    /// Its place among the compared fields.
    pub(crate) place: usize,
    pub(crate) why: Reason,
    /// Its kind; `None` for an empty one.
    pub(crate) kind: Option<Kind>,
    /// How rare equal values are, in bits.
    pub(crate) bits: f64,
    /// The share of the records that lack it.
    pub(crate) missing: f64,
}

/// Why a field is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It has fewer than two values, or hardly any record has one.
    Empty,
    /// Its words stand in other fields: their places.
    Copy(Vec<usize>),
    /// There are too many fields, and its values are among the commonest.
    Many,
    /// It never agrees beyond chance where others do.
    Noise,
}

impl Field {
    pub(super) fn from_column(place: usize, column: Column) -> Self {
        let Column {
            values,
            codes,
            kind,
        } = column;
        let mut records = vec![0_u32; values.len()];
        let present = codes.iter().filter(|code| **code != MISSING);
        present.for_each(|code| records[*code as usize] += 1);
        let present: u64 = records.iter().map(|records| u64::from(*records)).sum();
        let missing = 1.0 - present as f64 / codes.len().max(1) as f64;
        Field {
            place,
            kind,
            sketches: values.par_iter().map(|value| Sketch::new(value)).collect(),
            values,
            codes,
            records,
            words: None,
            missing,
        }
    }

    /// Whether it has several values, in records enough.
    pub(super) fn says_something(&self) -> bool {
        self.missing <= MOST_MISSING && self.values.len() >= 2
    }

    pub(super) fn unused(self, why: Reason) -> Unused {
        Unused {
            place: self.place,
            kind: (why != Reason::Empty).then_some(self.kind),
            why,
            bits: self.bits(),
            missing: self.missing,
        }
    }

    /// How rare equal values are, in bits, where records have the field.
    pub(super) fn bits(&self) -> f64 {
        let all: f64 = self.records.iter().map(|records| f64::from(*records)).sum();
        let equal = self
            .records
            .iter()
            .map(|records| (f64::from(*records) / all).powi(2));
        match equal.sum::<f64>() {
            0.0 => 0.0,
            equal => -equal.log2(),
        }
    }

    /// The share of the records with a value that has a digit.
    pub(crate) fn with_digits(&self) -> f64 {
        let values = self.values.iter().zip(&self.records);
        let has_digit = |value: &str| value.bytes().any(|byte| byte.is_ascii_digit());
        let with_digits = values.filter(|(value, _)| has_digit(value));
        let records: u64 = with_digits.map(|(_, records)| u64::from(*records)).sum();
        records as f64 / self.codes.len().max(1) as f64
    }

    /// The value of a record.
    pub(crate) fn value(&self, row: usize) -> Option<&str> {
        let code = self.codes[row];
        (code != MISSING).then(|| &*self.values[code as usize])
    }
}
