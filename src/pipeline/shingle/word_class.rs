//! Word-boundary classes of characters whose rules are simple (UAX #29).

/// Word-boundary class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter (`ALetter`).
    Letter,
    /// A digit (`Numeric`).
    Digit,
    /// Non-ASCII `MidNumLet`: joins two letters or two digits.
    Quote,
    /// Not part of a word, and joined by nothing. Includes the ASCII characters that join others.
    Other,
    /// Any character whose rules need more than its neighbours. `unicode_segmentation` decides.
    Complex,
}

/// Size of the table: nearly all characters of texts in Western languages.
const TABLED: usize = 0x2300;

#[allow(clippy::cast_possible_truncation, reason = "the table is small")]
static CLASSES: [Class; TABLED] = {
    let mut classes = [Class::Complex; TABLED];
    let mut c = 0;
    while c < TABLED {
        classes[c] = class_by_range(c as u32);
        c += 1;
    }
    classes
};

/// The class of a character by the word-break property of Unicode 17. A simple character without the property is
/// [`Class::Other`] if it is not alphanumeric. Tests compare the table with `unicode_segmentation`.
const fn class_by_range(c: u32) -> Class {
    match c {
        0x30..=0x39 => Class::Digit,
        0x41..=0x5A | 0x61..=0x7A => Class::Letter,
        0..=0x7F => Class::Other,
        // Latin-1 except soft hyphen, middle dot, cedilla and numbers.
        0xAA | 0xB5 | 0xBA => Class::Letter,
        0xA0..=0xAC | 0xAE..=0xB1 | 0xB4 | 0xB6 | 0xBB | 0xBF | 0xD7 | 0xF7 => Class::Other,
        0xC0..=0x2C1 => Class::Letter,
        // Letters of Greek and Cyrillic.
        0x386
        | 0x388..=0x38A
        | 0x38C
        | 0x38E..=0x3A1
        | 0x3A3..=0x3F5
        | 0x3F7..=0x481
        | 0x48A..=0x52F => Class::Letter,
        // Latin Extended Additional.
        0x1E00..=0x1EFF => Class::Letter,
        // Dashes, quotes, daggers, bullets, ellipses, per mille.
        0x2018 | 0x2019 => Class::Quote,
        0x2010..=0x2017 | 0x201A..=0x2023 | 0x2025 | 0x2026 | 0x2030..=0x203E => Class::Other,
        // Currencies, trade mark, arrows, mathematics.
        0x20A0..=0x20C0 | 0x2122 | 0x2190..=0x22FF => Class::Other,
        // Squares, triangles, circles, Braille.
        0x25A0..=0x25FF | 0x2800..=0x28FF => Class::Other,
        // Hangul syllables.
        0xAC00..=0xD7A3 => Class::Letter,
        _ => Class::Complex,
    }
}

/// The class of a character.
#[inline]
fn class_of(c: u32) -> Class {
    match CLASSES.get(c as usize) {
        Some(class) => *class,
        None => class_by_range(c),
    }
}

/// Class and length in bytes of the character at `at` in UTF-8 text.
#[inline]
pub(super) fn class_at(text: &[u8], at: usize) -> (Class, usize) {
    let byte = |i: usize| text.get(at + i).map_or(0, |byte| u32::from(*byte));
    let low = |i: usize| byte(i) & 0x3F;
    match byte(0) {
        first @ 0..0x80 => (class_of(first), 1),
        first @ 0x80..0xE0 => (class_of((first & 0x1F) << 6 | low(1)), 2),
        first @ 0xE0..0xF0 => (class_of((first & 0xF) << 12 | low(1) << 6 | low(2)), 3),
        _ => (Class::Complex, 4),
    }
}

/// The class of the character that ends before `at`; [`Class::Other`] at the start of the text.
#[inline]
pub(super) fn class_before(text: &[u8], at: usize) -> Class {
    let before = text[..at].iter().rposition(|byte| byte & 0xC0 != 0x80);
    before.map_or(Class::Other, |at| class_at(text, at).0)
}

/// The class of the character at `at`; [`Class::Other`] at the end of the text.
#[inline]
pub(super) fn class_after(text: &[u8], at: usize) -> Class {
    match text.get(at) {
        Some(_) => class_at(text, at).0,
        None => Class::Other,
    }
}

#[cfg(test)]
pub(super) fn is_simple(c: char) -> bool {
    !c.is_ascii() && class_of(c.into()) != Class::Complex
}
