//! Cleans and numbers the values of a field, and finds their kind.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::codes::{MISSING, number};
use crate::evidence::kinds::{Kind, Parts};
use crate::words::{is_of_word, keyboard_letter, normalised};

/// What stands for a missing value in many tables.
const NULLS: [&str; 8] = ["", "nan", "none", "null", "n a", "na", "unknown", "-"];

/// Gives the name that stands for a word, if one does.
pub(crate) type Replaced<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

/// The cleaned values of a field, by number.
#[derive(Debug)]
pub(crate) struct Column {
    pub(super) values: Vec<String>,
    pub(super) codes: Vec<u32>,
    pub(super) kind: Kind,
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
pub(super) fn mean_parts(values: &[String], parts: Parts) -> f64 {
    let count = |value: &String| match &parts(value)[..] {
        [whole] if whole == value => 1.0,
        parts => parts.len().max(2) as f64,
    };
    values.iter().map(count).sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn mean_words(values: &[String]) -> f64 {
    let words = values.iter().map(|value| value.split(' ').count() as f64);
    words.sum::<f64>() / values.len().max(1) as f64
}
