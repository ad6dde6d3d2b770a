//! Kinds of fields: how each is found, cleaned and compared. A file per kind, and one table of them all.
//!
//! | kind | found where | cleaned | close | near | far |
//! |---|---|---|---|---|---|
//! | `date` | years, months and days, in digits or with the month's name | `1980 03 04` | one edit; day and month exchanged; the year off by one; another time of the day | two parts equal; two edits | three edits |
//! | `coordinates` | two decimal degrees, with three digits after the point | latitude and longitude | 100 m | 1 km | 10 km |
//! | `email` | one `@` between other letters | lower case | as names (before the `@` where only that differs); same part before the `@`; one edit | as names; that part with one edit | as names |
//! | `phone` | seven digits or more, with `+`, `(`, groups of numbers or a leading zero | digits without the country's prefix and zeros | one edit; one number ends in the other | two edits | three edits |
//! | `postcode` | forms of letters and digits such as `SW1A 1AA`, `1012 AB`, `12345-6789` | letters and digits | one edit; one begins with the other | all but two letters shared from the beginning | all but three |
//! | `number` | numbers with a currency, a fraction or separated thousands | the number | differ by 1 % | by 5 % | by 20 % |
//! | `identifier` | digits more than letters; or single words of letters and digits | letters and digits | one edit, from three letters on | two, from five | three, from six |
//! | `text` | three words or more on average | words | cosine of the words from 0.65 | 0.4 | 0.2 |
//! | `name` | all others | words | Jaro-Winkler similarity from 0.9, or cosine 0.6 | 0.78 | 0.65 |
//!
//! The first kind of the table that is found is taken. Whole numbers, such as years, house numbers and numeric postcodes, are
//! identifiers: nothing in them tells whether 1999 is almost 2000. A kind that is wrong does little harm: equal values stay equal,
//! and what the other levels say is learned. An edit inserts, deletes or replaces a letter, or exchanges neighbours.

mod coordinates;

mod dates;

mod emails;

mod identifiers;

mod likeness;

mod names;

mod numbers;

mod phones;

mod postcodes;

mod sketches;

mod texts;

use std::borrow::Cow;

use self::likeness::ValueSample;
pub(crate) use self::likeness::{Likeness, ValuePair, jaro_winkler};
pub(crate) use self::sketches::Sketch;

/// Values that are looked at to tell the kind of a field.
const LOOKED_AT: usize = 5000;

/// What the values of a field are, and so how two of them are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A day, with or without a time.
    Date,
    /// Latitude and longitude.
    Coordinates,
    /// An address of e-mail.
    Email,
    /// A number of a phone.
    Phone,
    /// A postcode with letters, or with a part after a hyphen.
    Postcode,
    /// A quantity, such as a price.
    Number,
    /// Digits, or letters and digits, that name something.
    Identifier,
    /// Three words or more on average.
    Text,
    /// A few words.
    Name,
}

/// Splits a value into parts that records of the same thing share.
pub(crate) type Parts = for<'a> fn(&'a str) -> Vec<Cow<'a, str>>;

/// Where a field may be noise: it is at chance where all other fields agree. Then it is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noise {
    /// Where the other fields are such as one thing has, and not what members of a household, or songs of an album, share.
    OfThings,
    /// Everywhere.
    Always,
}

/// How a kind is found, cleaned and compared.
struct KindRow {
    kind: Kind,
    name: &'static str,
    /// Whether values are of this kind.
    is_found: fn(&[ValueSample<'_>]) -> bool,
    /// A plain text as a value of this kind; `None` if it does not have the form, and is compared by its words.
    clean: fn(&str) -> Option<String>,
    /// The likeness of two values that differ.
    likeness: fn(&ValuePair<'_>) -> Likeness,
    parts: Parts,
    noise: Noise,
}

/// All kinds, in the order in which they are looked for.
static KINDS: [KindRow; 9] = [
    dates::ROW,
    coordinates::ROW,
    emails::ROW,
    phones::ROW,
    postcodes::ROW,
    numbers::ROW,
    identifiers::ROW,
    texts::ROW,
    names::ROW,
];

impl Kind {
    /// All kinds, in the order in which they are looked for.
    pub fn all() -> impl Iterator<Item = Kind> {
        KINDS.iter().map(|row| row.kind)
    }

    /// The kind of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Kind::all().find(|kind| kind.name() == name)
    }

    /// Its name, such as `date`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static KindRow {
        let row = KINDS.iter().find(|row| row.kind == self);
        row.unwrap_or(&names::ROW)
    }

    /// The kind of values, each as a plain text and as words.
    pub(crate) fn detect<'a>(values: impl Iterator<Item = (Cow<'a, str>, &'a str)>) -> Self {
        let values: Vec<(Cow<'a, str>, &str)> = values.take(LOOKED_AT).collect();
        let samples = values.iter().map(|(plain, words)| ValueSample {
            plain: plain.trim(),
            words,
        });
        let samples: Vec<ValueSample<'_>> = samples.collect();
        let found = KINDS.iter().find(|row| (row.is_found)(&samples));
        found.unwrap_or(&names::ROW).kind
    }

    /// A plain text as a value of this kind; `None` if it is compared by its words.
    pub(crate) fn clean(self, plain: &str) -> Option<String> {
        (self.row().clean)(plain.trim())
    }

    /// Whether values of this kind are their words.
    pub(crate) fn is_of_words(self) -> bool {
        matches!(self, Kind::Text | Kind::Name)
    }

    /// How two values of this kind are compared.
    pub(crate) fn likeness(self) -> fn(&ValuePair<'_>) -> Likeness {
        self.row().likeness
    }

    /// What splits values of this kind into parts.
    pub(crate) fn parts(self) -> Parts {
        self.row().parts
    }

    /// Where a field of this kind may be noise.
    pub(crate) fn noise(self) -> Noise {
        self.row().noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::values::clean;

    /// The likeness of two values of a kind, for its tests.
    pub(super) fn compare_as(kind: Kind, a: &str, b: &str) -> Likeness {
        let [a, b] = [a, b].map(|text| kind.clean(text).unwrap_or_else(|| text.to_owned()));
        assert_ne!(a, b);
        let pair = |a: &str, b: &str| {
            (kind.likeness())(&ValuePair {
                a,
                b,
                sketches: [a, b].map(Sketch::new),
                cosine: &|| 0.0,
            })
        };
        let likeness = pair(&a, &b);
        assert_eq!(likeness, pair(&b, &a), "{a} {b}");
        likeness
    }

    /// The kind that is found from values, for tests.
    pub(super) fn kind_of(values: &[&str]) -> Kind {
        let words: Vec<String> = values.iter().map(|value| clean(value, &|_| None)).collect();
        let values = values.iter().map(|value| Cow::Owned(value.to_lowercase()));
        Kind::detect(values.zip(words.iter().map(|words| &**words)))
    }
}
