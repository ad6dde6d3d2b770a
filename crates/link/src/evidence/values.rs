//! The values of the fields: cleaned, numbered, and each field with a kind that is found from them.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::kinds::{Kind, Parts, Sketch};
use crate::words::{is_of_word, keyboard_letter, normalised};
use simgpu::scheme::fmix64;

/// The code of a value that is missing.
pub(crate) const MISSING: u32 = u32::MAX;

/// What stands for a missing value in many tables.
const NULLS: [&str; 8] = ["", "nan", "none", "null", "n a", "na", "unknown", "-"];

/// A field that is missing in more records than this share is not used.
const MOST_MISSING: f64 = 0.98;

/// Records that are looked at to tell whether a field repeats others.
const SAMPLED: usize = 2000;

/// A field is a copy if in more than this share of the records half of its words stand in other fields.
const COPIED: f64 = 0.75;

/// Fields whose values have more parts than this on average have vectors of them.
const SEVERAL_PARTS: f64 = 1.3;

/// The parts of the values of a field, such as words, as vectors of length 1, each part weighted by its rarity.
#[derive(Debug, Default)]
pub(crate) struct WordVectors {
    /// Words and their weights, one value after the other, by ascending word.
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
}

impl WordVectors {
    /// The vector of a value.
    pub(crate) fn vector(&self, value: u32) -> &[(u32, f32)] {
        let value = value as usize;
        let start = if value == 0 { 0 } else { self.ends[value - 1] };
        &self.entries[start..self.ends[value]]
    }

    /// The cosine of two values, from 0 to 1.
    pub(crate) fn cosine(&self, a: u32, b: u32) -> f64 {
        let (mut a, mut b) = (self.vector(a), self.vector(b));
        let mut sum = 0.0;
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            if x.0 == y.0 {
                sum += f64::from(x.1) * f64::from(y.1);
            }
            if x.0 <= y.0 {
                a = rest_a;
            }
            if y.0 <= x.0 {
                b = rest_b;
            }
        }
        sum
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "weights need no more digits"
    )]
    fn from_values(values: &[String], codes: &[u32], parts: Parts) -> Self {
        let mut numbers: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut words: Vec<Vec<u32>> = Vec::with_capacity(values.len());
        for value in values {
            let numbered = parts(value).into_iter().map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(word).or_insert(next)
            });
            let mut numbered: Vec<u32> = numbered.collect();
            numbered.sort_unstable();
            numbered.dedup();
            words.push(numbered);
        }
        let mut records = vec![0_u32; numbers.len()];
        for code in codes.iter().filter(|code| **code != MISSING) {
            for word in &words[*code as usize] {
                records[*word as usize] += 1;
            }
        }
        let all = codes.len() as f64;
        let weight = |word: u32| (1.0 + all / f64::from(records[word as usize].max(1))).ln();
        let mut vectors = WordVectors::default();
        for words in &words {
            let square: f64 = words.iter().map(|word| weight(*word).powi(2)).sum();
            let length = square.sqrt().max(1e-9);
            let entries = words.iter();
            let entries = entries.map(|word| (*word, (weight(*word) / length) as f32));
            vectors.entries.extend(entries);
            vectors.ends.push(vectors.entries.len());
        }
        vectors
    }
}

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

/// Gives the name that stands for a word, if one does.
pub(crate) type Replaced<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

/// The cleaned values of a field, by number.
#[derive(Debug)]
pub(crate) struct Column {
    values: Vec<String>,
    codes: Vec<u32>,
    kind: Kind,
}

impl Column {
    /// Cleans and numbers the values of a field, one per record, by the kind that is set or found.
    pub(crate) fn new(
        texts: &[impl AsRef<str> + Sync],
        set: Option<Kind>,
        replaced: Replaced<'_>,
    ) -> Self {
        let words = texts.par_iter().map(|text| clean(text.as_ref(), replaced));
        let mut cleaned: Vec<String> = words.collect();
        let present = texts
            .iter()
            .zip(&cleaned)
            .filter(|(_, words)| !words.is_empty());
        let kind = set.unwrap_or_else(|| {
            Kind::detect(present.map(|(text, words)| (plain(text.as_ref()), &**words)))
        });
        if !kind.is_of_words() {
            let both = cleaned
                .par_iter_mut()
                .zip(texts)
                .filter(|(words, _)| !words.is_empty());
            both.for_each(|(value, text)| {
                if let Some(cleaned) = kind.clean(&plain(text.as_ref())) {
                    *value = cleaned;
                }
            });
        }
        Column::numbered(kind, &cleaned)
    }

    /// Numbers cleaned values.
    fn numbered(kind: Kind, cleaned: &[String]) -> Self {
        let mut column = Column {
            kind,
            values: Vec::new(),
            codes: Vec::with_capacity(cleaned.len()),
        };
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for value in cleaned {
            if value.is_empty() {
                column.codes.push(MISSING);
                continue;
            }
            let code = *numbers.entry(value).or_insert_with(|| {
                column.values.push(value.clone());
                number(column.values.len() - 1)
            });
            column.codes.push(code);
        }
        column
    }
}

/// A number of values, words or records: there are fewer than 2^32 records, and no more of the others than fit in memory.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rows are numbered by 32 bits"
)]
pub(super) fn number(count: usize) -> u32 {
    count as u32
}

/// A value as it is compared: without accents, in lower case, letters, digits and `@` only, with one blank between words. Empty
/// if it says that a value is missing.
pub(crate) fn clean(text: &str, replaced: Replaced<'_>) -> String {
    let mut spaced = String::with_capacity(text.len());
    for letter in normalised(text) {
        let stays = is_of_word(letter) || letter == '@';
        spaced.push(if stays { letter } else { ' ' });
    }
    let mut cleaned = String::with_capacity(spaced.len());
    for word in spaced.split_ascii_whitespace() {
        if !cleaned.is_empty() {
            cleaned.push(' ');
        }
        cleaned.push_str(replaced(word).unwrap_or(word));
    }
    if NULLS.contains(&&*cleaned) {
        String::new()
    } else {
        cleaned
    }
}

/// A text in lower case and without accents, as kinds read it.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        Cow::Owned(normalised(text).map(keyboard_letter).collect())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// The mean number of parts, where a single part that is not the whole value counts as one more.
fn mean_parts(values: &[String], parts: Parts) -> f64 {
    let count = |value: &String| match &parts(value)[..] {
        [whole] if whole == value => 1.0,
        parts => parts.len().max(2) as f64,
    };
    values.iter().map(count).sum::<f64>() / values.len().max(1) as f64
}

fn mean_words(values: &[String]) -> f64 {
    let words = values.iter().map(|value| value.split(' ').count() as f64);
    words.sum::<f64>() / values.len().max(1) as f64
}

impl Field {
    fn from_column(place: usize, column: Column) -> Self {
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
    fn says_something(&self) -> bool {
        self.missing <= MOST_MISSING && self.values.len() >= 2
    }

    fn unused(self, why: Reason) -> Unused {
        Unused {
            place: self.place,
            kind: (why != Reason::Empty).then_some(self.kind),
            why,
            bits: self.bits(),
            missing: self.missing,
        }
    }

    /// How rare equal values are, in bits, where records have the field.
    fn bits(&self) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str]) -> Column {
        Column::new(values, None, &|_| None)
    }

    #[test]
    fn values_are_cleaned() {
        for (text, expected) in [
            ("  Müller-Lüdenscheidt ", "muller ludenscheidt"),
            ("Ann@Mail.example", "ann@mail example"),
            ("N/A", ""),
            ("(none)", ""),
            ("041 / 76", "041 76"),
            ("नमस्ते", "नमस्ते"),
        ] {
            assert_eq!(clean(text, &|_| None), expected);
        }
        let replaced = |word: &str| (word == "bill").then_some("william");
        assert_eq!(clean("BILL Smith", &replaced), "william smith");
    }

    #[test]
    fn values_are_cleaned_by_their_kind() {
        let texts = [
            "+41 44 668 18 00",
            "044/668 18 00",
            "n/a",
            "044 668 18 01",
            "Ring him!",
        ];
        let column = |set| Column::new(&texts, set, &|_| None);
        let found = column(Some(Kind::Phone));
        assert_eq!(found.codes, [0, 0, MISSING, 1, 2]);
        assert_eq!(found.values, ["446681800", "446681801", "ring him"]);
        assert_eq!(column(Some(Kind::Name)).values.len(), 4);
        assert_eq!(column(None).kind, Kind::Text);
        assert_eq!(Column::new(&texts[..4], None, &|_| None).kind, Kind::Phone);
        let dates = Column::new(
            &["4. März 1980", "１９８０－０３－０４", "1980–03–05"],
            Some(Kind::Date),
            &|_| None,
        );
        assert_eq!(dates.values, ["1980 03 04", "1980 03 05"]);
    }

    #[test]
    fn fields_that_say_nothing_are_not_used() {
        let rows = |of: fn(usize) -> String| -> Column {
            column(
                &(0..100)
                    .map(of)
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|v| &**v)
                    .collect::<Vec<_>>(),
            )
        };
        let fields = Fields::from_columns(
            [
                rows(|row| format!("given{}", row % 7)),
                rows(|row| format!("surname{}", row % 11)),
                rows(|_| "same".to_owned()),
                rows(|row| {
                    if row == 3 {
                        "x".to_owned()
                    } else {
                        String::new()
                    }
                }),
                rows(|row| format!("given{} surname{}", row % 7, row % 11)),
            ]
            .into_iter(),
        );
        assert_eq!(
            fields
                .used
                .iter()
                .map(|field| field.place)
                .collect::<Vec<_>>(),
            [0, 1]
        );
        let unused = fields
            .unused
            .iter()
            .map(|field| (field.place, &field.why, field.kind));
        assert_eq!(
            unused.collect::<Vec<_>>(),
            [
                (2, &Reason::Empty, None),
                (3, &Reason::Empty, None),
                (4, &Reason::Copy(vec![0, 1]), Some(Kind::Name))
            ]
        );
        let copy = &fields.unused[2];
        assert!(copy.missing == 0.0 && copy.bits > 6.0, "{copy:?}");
    }

    #[test]
    fn cosines_weigh_rare_words() {
        let column = column(&[
            "the red fox",
            "the red fox",
            "the red hen",
            "the owl",
            "the fox red",
        ]);
        let vectors = WordVectors::from_values(&column.values, &column.codes, Kind::Text.parts());
        let cosine = |a, b| vectors.cosine(a, b);
        assert!((cosine(0, 0) - 1.0).abs() < 1e-6);
        assert!((cosine(0, 3) - 1.0).abs() < 1e-6);
        assert!(cosine(0, 1) > cosine(0, 2) && cosine(0, 2) > 0.0);
        assert_eq!(cosine(0, 1), cosine(1, 0));
    }
}
