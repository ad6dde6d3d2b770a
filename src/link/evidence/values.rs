//! The values of the fields: cleaned, numbered, and each field with a kind that is found from them.

use std::collections::{HashMap, HashSet};

use crate::link::words::{is_of_word, normalised};
use crate::scheme::fmix64;

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

/// Values that are looked at to tell the kind of a field.
const LOOKED_AT: usize = 5000;

/// What the values of a field are, and so how two of them are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A few words: Jaro-Winkler similarity.
    Name,
    /// Three words or more on average: cosine of the words, weighted by rarity.
    Text,
    /// A day: edits, and day and month exchanged.
    Date,
    /// Mostly digits: edits.
    Code,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Name, Kind::Text, Kind::Date, Kind::Code];

    /// The kind of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name: `name`, `text`, `date` or `code`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Code => "code",
        }
    }
}

/// The words of the values of a field, as vectors of length 1, each word weighted by its rarity.
#[derive(Debug, Default)]
pub(crate) struct WordVectors {
    /// Words and their weights, one value after the other, by ascending word.
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
}

impl WordVectors {
    /// The vector of a value.
    pub(crate) fn of(&self, value: u32) -> &[(u32, f32)] {
        let value = value as usize;
        let start = if value == 0 { 0 } else { self.ends[value - 1] };
        &self.entries[start..self.ends[value]]
    }

    /// The cosine of two values, from 0 to 1.
    pub(crate) fn cosine(&self, a: u32, b: u32) -> f64 {
        let (mut a, mut b) = (self.of(a), self.of(b));
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
    fn of_values(values: &[String], codes: &[u32]) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut words: Vec<Vec<u32>> = Vec::with_capacity(values.len());
        for value in values {
            let of_value = value.split(' ').map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(word).or_insert(next)
            });
            let mut of_value: Vec<u32> = of_value.collect();
            of_value.sort_unstable();
            of_value.dedup();
            words.push(of_value);
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
        for of_value in &words {
            let square: f64 = of_value.iter().map(|word| weight(*word).powi(2)).sum();
            let length = square.sqrt().max(1e-9);
            let entries = of_value.iter();
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
    /// The value of each record, or [`MISSING`].
    pub(crate) codes: Vec<u32>,
    /// For each value, how many records have it.
    pub(crate) records: Vec<u32>,
    /// The words of the values, where they have several.
    pub(crate) words: Option<WordVectors>,
    /// Year, month and day of each value, where they are dates; and all digits of it.
    pub(crate) dates: Vec<([String; 3], String)>,
    /// The share of the records that lack it.
    pub(crate) missing: f64,
}

/// Why a field is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unused {
    /// It has fewer than two values, or hardly any record has one.
    Empty,
    /// Its words stand in other fields.
    Copy,
    /// There are too many fields, and its values are among the commonest.
    Many,
}

/// The fields that are used, and those that are not.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) used: Vec<Field>,
    pub(crate) unused: Vec<(usize, Unused)>,
}

impl Fields {
    /// Numbers the cleaned values, one column per field, of so many records; finds the kinds; sets copies aside.
    pub(crate) fn of_columns(columns: impl Iterator<Item = Column>) -> Self {
        let mut fields = Fields::default();
        for (place, column) in columns.enumerate() {
            match Field::of_column(place, column) {
                Some(field) => fields.used.push(field),
                None => fields.unused.push((place, Unused::Empty)),
            }
        }
        fields.set_copies_aside();
        fields.unused.sort_by_key(|(place, _)| *place);
        for field in &mut fields.used {
            if field.kind == Kind::Text || mean_words(&field.values) > 1.3 {
                field.words = Some(WordVectors::of_values(&field.values, &field.codes));
            }
            if field.kind == Kind::Date {
                let dates = field.values.iter().map(|value| parts_of_date(value));
                field.dates = dates.map(|parts| (parts.clone(), parts.concat())).collect();
            }
        }
        fields
    }

    /// Keeps so many fields: those whose values are rarest.
    pub(crate) fn keep(&mut self, most: usize) {
        let mut by_worth: Vec<(f64, usize)> = self
            .used
            .iter()
            .map(|field| (field.rarity(), field.place))
            .collect();
        by_worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, place) in by_worth.iter().skip(most) {
            self.used.retain(|field| field.place != *place);
            self.unused.push((*place, Unused::Many));
        }
        self.unused.sort_by_key(|(place, _)| *place);
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
            if self.is_copy(at, &sample) {
                self.used.remove(at);
                self.unused.push((place, Unused::Copy));
            }
        }
    }

    fn is_copy(&self, at: usize, sample: &[usize]) -> bool {
        let (mut looked_at, mut copied) = (0_u32, 0_u32);
        for row in sample {
            let Some(value) = self.used[at].value(*row) else {
                continue;
            };
            let others = self
                .used
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at);
            let words: HashSet<&str> = others
                .filter_map(|(_, field)| field.value(*row))
                .flat_map(|value| value.split(' '))
                .collect();
            let known = value.split(' ').filter(|word| words.contains(word)).count();
            looked_at += 1;
            copied += u32::from(2 * known >= value.split(' ').count());
        }
        f64::from(copied) > COPIED * f64::from(looked_at)
    }
}

/// Gives the name that stands for a word, if one does.
pub(crate) type Replaced<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

/// The cleaned values of a field, by number.
#[derive(Debug, Default)]
pub(crate) struct Column {
    values: Vec<String>,
    codes: Vec<u32>,
    /// The kind of the field, where it is set.
    kind: Option<Kind>,
}

impl Column {
    /// Sets the kind of the field.
    pub(crate) fn with_kind(self, kind: Option<Kind>) -> Self {
        Column { kind, ..self }
    }

    /// Cleans and numbers the values of a field, one per record.
    pub(crate) fn of(texts: &[String]) -> Self {
        let mut column = Column::default();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for text in texts {
            if text.is_empty() {
                column.codes.push(MISSING);
                continue;
            }
            let code = *numbers.entry(text).or_insert_with(|| {
                column.values.push(text.clone());
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
    match NULLS.contains(&&*cleaned) {
        true => String::new(),
        false => cleaned,
    }
}

fn mean_words(values: &[String]) -> f64 {
    let words = values.iter().map(|value| value.split(' ').count() as f64);
    words.sum::<f64>() / values.len().max(1) as f64
}

impl Field {
    /// `None` if the field says nothing.
    fn of_column(place: usize, column: Column) -> Option<Self> {
        let Column {
            values,
            codes,
            kind: set,
        } = column;
        let mut records = vec![0_u32; values.len()];
        let present = codes.iter().filter(|code| **code != MISSING);
        present.for_each(|code| records[*code as usize] += 1);
        let present: u64 = records.iter().map(|records| u64::from(*records)).sum();
        let missing = 1.0 - present as f64 / codes.len().max(1) as f64;
        if missing > MOST_MISSING || values.len() < 2 {
            return None;
        }
        Some(Field {
            place,
            kind: set.unwrap_or_else(|| kind(&values, &codes)),
            values,
            codes,
            records,
            words: None,
            dates: Vec::new(),
            missing,
        })
    }

    /// The share of the records that have it, in relation to the chance that two values are equal.
    fn rarity(&self) -> f64 {
        let all: f64 = self.records.iter().map(|records| f64::from(*records)).sum();
        let equal = self
            .records
            .iter()
            .map(|records| (f64::from(*records) / all).powi(2));
        -equal.sum::<f64>().log2() * (1.0 - self.missing)
    }

    /// The value of a record.
    pub(crate) fn value(&self, row: usize) -> Option<&str> {
        let code = self.codes[row];
        (code != MISSING).then(|| &*self.values[code as usize])
    }
}

/// The kind of a field, by the values of the first records.
fn kind(values: &[String], codes: &[u32]) -> Kind {
    let present = codes.iter().filter(|code| **code != MISSING);
    let looked_at: Vec<&str> = present
        .take(LOOKED_AT)
        .map(|code| &*values[*code as usize])
        .collect();
    let mean = |of: &dyn Fn(&str) -> f64| {
        looked_at.iter().map(|value| of(value)).sum::<f64>() / looked_at.len() as f64
    };
    let digits = |value: &str| {
        let letters = value.chars().filter(|letter| *letter != ' ');
        let digits = letters.clone().filter(char::is_ascii_digit).count();
        digits as f64 / letters.count().max(1) as f64
    };
    if mean(&|value| f64::from(is_date(value))) > 0.8 {
        Kind::Date
    } else if mean(&|value| value.split(' ').count() as f64) >= 3.0 {
        Kind::Text
    } else if mean(&digits) > 0.5 {
        Kind::Code
    } else {
        Kind::Name
    }
}

/// Whether a value has the form of a date: `1980 3 4`, `4 3 1980` or `19800304`, from 1500 to 2099.
fn is_date(value: &str) -> bool {
    let parts: Vec<&str> = value.split(' ').collect();
    let all_digits = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b' ');
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    all_digits
        && match lengths[..] {
            [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4] => true,
            [8] => ("1500".."2100").contains(&&value[..4]),
            _ => false,
        }
}

/// Year, month and day of a date, each with all digits; the other two are empty if it has no such form.
fn parts_of_date(value: &str) -> [String; 3] {
    let two = |part: &str| format!("{part:0>2}");
    let parts: Vec<&str> = value.split(' ').collect();
    match parts[..] {
        [year, month, day] if year.len() == 4 => [year.to_owned(), two(month), two(day)],
        [day, month, year] => [year.to_owned(), two(month), two(day)],
        [whole] if whole.len() == 8 && whole.is_ascii() => {
            [&whole[..4], &whole[4..6], &whole[6..]].map(str::to_owned)
        }
        _ => [value.to_owned(), String::new(), String::new()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str]) -> Column {
        let cleaned: Vec<String> = values.iter().map(|value| clean(value, &|_| None)).collect();
        Column::of(&cleaned)
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
    fn kinds_are_found_from_values() {
        for (values, expected) in [
            (&["1980-03-04", "1.2.1990", ""][..], Kind::Date),
            (&["19800304", "19991231"], Kind::Date),
            (&["a red book", "the other long book"], Kind::Text),
            (&["041 668 18", "5551234"], Kind::Code),
            (&["Ann", "Bob Ray"], Kind::Name),
        ] {
            let column = column(values);
            assert_eq!(kind(&column.values, &column.codes), expected, "{values:?}");
        }
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
        let fields = Fields::of_columns(
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
        assert_eq!(
            fields.unused,
            [(2, Unused::Empty), (3, Unused::Empty), (4, Unused::Copy)]
        );
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
        let vectors = WordVectors::of_values(&column.values, &column.codes);
        let cosine = |a, b| vectors.cosine(a, b);
        assert!((cosine(0, 0) - 1.0).abs() < 1e-6);
        assert!((cosine(0, 3) - 1.0).abs() < 1e-6);
        assert!(cosine(0, 1) > cosine(0, 2) && cosine(0, 2) > 0.0);
        assert_eq!(cosine(0, 1), cosine(1, 0));
    }
}
