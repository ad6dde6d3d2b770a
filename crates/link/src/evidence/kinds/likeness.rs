//! How alike two values are.

use std::borrow::Cow;

use rapidfuzz::distance::{jaro_winkler, osa};

use super::sketches::Sketch;

/// No kind tells more edits apart.
const MOST_EDITS: usize = 3;

/// How alike two values are that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    Close,
    Near,
    Far,
    Other,
}

/// Two values that differ.
pub(crate) struct ValuePair<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    pub(crate) sketches: [Sketch; 2],
    /// The cosine of their words, 0 if the field has single words only.
    pub(crate) cosine: &'a dyn Fn() -> f64,
}

impl ValuePair<'_> {
    /// The edits between both values, if there are at most [`MOST_EDITS`]; else more than these.
    pub(super) fn edits(&self) -> usize {
        let [a, b] = self.sketches;
        match a.least_edits(b) {
            0..=MOST_EDITS => edits(self.a, self.b),
            least => least,
        }
    }

    /// The Jaro-Winkler similarity of both values, at most.
    pub(super) fn most_jaro_winkler(&self) -> f64 {
        let [a, b] = self.sketches;
        a.most_jaro_winkler(b)
    }
}

/// A value from which the kind of its field is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSample<'a> {
    /// In lower case and without accents.
    pub(super) plain: &'a str,
    /// Its words, with one blank between them.
    pub(super) words: &'a str,
}

/// The mean of what is measured of each value.
pub(super) fn mean(values: &[ValueSample<'_>], of: impl Fn(ValueSample<'_>) -> f64) -> f64 {
    let sum: f64 = values.iter().map(|value| of(*value)).sum();
    sum / values.len().max(1) as f64
}

/// The share of the values of a form.
pub(super) fn share(values: &[ValueSample<'_>], is_of_form: impl Fn(&str) -> bool) -> f64 {
    mean(values, |value| f64::from(is_of_form(value.plain)))
}

/// The letters and digits of a text.
pub(super) fn letters(text: &str) -> String {
    text.chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect()
}

/// The likeness of a measure that grows with it, by its least values.
pub(super) fn from(similarity: f64, [close, near, far]: [f64; 3]) -> Likeness {
    match similarity {
        s if s >= close => Likeness::Close,
        s if s >= near => Likeness::Near,
        s if s >= far => Likeness::Far,
        _ => Likeness::Other,
    }
}

/// The likeness of a measure that falls with it, by its greatest values.
pub(super) fn up_to(distance: f64, bounds: [f64; 3]) -> Likeness {
    from(-distance, bounds.map(|bound| -bound))
}

/// The Jaro-Winkler similarity of two names.
pub(crate) fn jaro_winkler(a: &str, b: &str) -> f64 {
    if a.is_ascii() && b.is_ascii() {
        jaro_winkler::similarity(a.bytes(), b.bytes())
    } else {
        jaro_winkler::similarity(a.chars(), b.chars())
    }
}

/// Insertions, deletions, replacements and exchanges of neighbours.
pub(super) fn edits(a: &str, b: &str) -> usize {
    if a.is_ascii() && b.is_ascii() {
        osa::distance(a.bytes(), b.bytes())
    } else {
        osa::distance(a.chars(), b.chars())
    }
}

/// The value itself as its only part.
pub(super) fn whole(value: &str) -> Vec<Cow<'_, str>> {
    vec![Cow::Borrowed(value)]
}

/// The words of a value.
pub(crate) fn words(value: &str) -> Vec<Cow<'_, str>> {
    value.split(' ').map(Cow::Borrowed).collect()
}
