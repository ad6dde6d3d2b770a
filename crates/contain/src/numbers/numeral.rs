//! Numerals in words, in digits and of Rome.

use super::token::Token;

/// What a word is as a number, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Numeral {
    /// Figures, or figures with letters, such as `7kg`.
    Figures(String),
    /// One to nineteen, and tens.
    Small(u64),
    /// A hundred, thousand, million or billion.
    Scale(u64),
    /// A numeral of Rome.
    Roman(u64),
    /// A figure of Han.
    Han(u64),
    /// A ten, hundred or more of Han.
    HanScale(u64),
}

impl Numeral {
    /// Whether it is a Chinese numeral.
    pub(super) fn is_han(&self) -> bool {
        matches!(self, Numeral::Han(_) | Numeral::HanScale(_))
    }
}

const SMALL: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: &[&str] = &[
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const ORDINALS: &[(&str, &str)] = &[
    ("first", "1st"),
    ("second", "2nd"),
    ("third", "3rd"),
    ("fourth", "4th"),
    ("fifth", "5th"),
    ("sixth", "6th"),
    ("seventh", "7th"),
    ("eighth", "8th"),
    ("ninth", "9th"),
    ("tenth", "10th"),
    ("eleventh", "11th"),
    ("twelfth", "12th"),
];
const SCALES: &[(&str, u64)] = &[
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
];
const HAN: &[char] = &['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
const HAN_SCALES: &[(char, u64)] = &[
    ('十', 10),
    ('百', 100),
    ('千', 1_000),
    ('万', 10_000),
    ('萬', 10_000),
    ('亿', 100_000_000),
    ('億', 100_000_000),
];

pub(super) fn numeral(token: &Token<'_>) -> Option<Numeral> {
    let (word, written) = (&*token.word, token.written);
    let place = |list: &[&str]| list.iter().position(|known| *known == word);
    if word.starts_with(|c: char| c.is_numeric() && !HAN.contains(&c)) {
        return Some(Numeral::Figures(word.to_owned()));
    }
    if let Some(i) = place(SMALL) {
        return Some(Numeral::Small(i as u64));
    }
    if let Some(i) = place(TENS) {
        return Some(Numeral::Small(20 + 10 * i as u64));
    }
    if let Some((_, figures)) = ORDINALS.iter().find(|(known, _)| *known == word) {
        return Some(Numeral::Figures((*figures).to_owned()));
    }
    if let Some((_, scale)) = SCALES.iter().find(|(known, _)| *known == word) {
        return Some(Numeral::Scale(*scale));
    }
    let mut letters = word.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        let letter = if letter == '两' { '二' } else { letter };
        if let Some(i) = HAN.iter().position(|known| *known == letter) {
            return Some(Numeral::Han(i as u64));
        }
        if let Some((_, scale)) = HAN_SCALES.iter().find(|(known, _)| *known == letter) {
            return Some(Numeral::HanScale(*scale));
        }
    }
    roman(written).map(Numeral::Roman)
}

/// The value of a numeral of Rome in capitals.
pub(super) fn roman(written: &str) -> Option<u64> {
    const SIGNS: &[(&str, u64)] = &[
        ("M", 1000),
        ("CM", 900),
        ("D", 500),
        ("CD", 400),
        ("C", 100),
        ("XC", 90),
        ("L", 50),
        ("XL", 40),
        ("X", 10),
        ("IX", 9),
        ("V", 5),
        ("IV", 4),
        ("I", 1),
    ];
    if written.is_empty() || written.len() > 8 || matches!(written, "C" | "D" | "L" | "M") {
        return None;
    }
    let (mut rest, mut value) = (written, 0);
    for (sign, sign_value) in SIGNS {
        while let Some(behind) = rest.strip_prefix(sign) {
            (rest, value) = (behind, value + sign_value);
        }
    }
    // Written back, so that `IIII` and `MIX` with letters in another order are none.
    let mut again = String::new();
    let mut left = value;
    for (sign, sign_value) in SIGNS {
        while left >= *sign_value {
            again.push_str(sign);
            left -= sign_value;
        }
    }
    (rest.is_empty() && again == written).then_some(value)
}
