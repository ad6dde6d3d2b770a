//! Numbers in figures, in words, of Rome and of China: `17`, `seventeen`, `XVII` and `十七` are one value.

use std::borrow::Cow;
use std::ops::Range;

/// A word of a text.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// In lower case.
    pub(super) word: Cow<'a, str>,
    /// As it stands in the text.
    pub(super) written: &'a str,
    /// The text that follows it.
    pub(super) following: &'a str,
}

impl<'a> Token<'a> {
    /// The word that stands at these bytes of a text.
    pub(super) fn new(word: Cow<'a, str>, text: &'a str, span: Range<usize>) -> Self {
        Token {
            word,
            written: &text[span.clone()],
            following: &text[span.end..],
        }
    }
}

/// What a word is as a number, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Numeral {
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

fn numeral(token: &Token<'_>) -> Option<Numeral> {
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
fn roman(written: &str) -> Option<u64> {
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

/// Whether a word is a number or a part of one.
pub(super) fn is_number(token: &Token<'_>) -> bool {
    numeral(token).is_some() || token.word == "and"
}

/// Whether a word in any case is one of a number in words.
pub(super) fn is_in_words(written: &str) -> bool {
    let word = written.to_ascii_lowercase().into();
    let numeral = numeral(&Token {
        word,
        written,
        following: "",
    });
    matches!(numeral, Some(Numeral::Small(_) | Numeral::Scale(_)))
}

/// The numbers among words, in their order, each as its figures: those in words and of Han as one each, `2½` as 2, 1 and 2.
pub(super) fn values<'a>(tokens: impl Iterator<Item = Token<'a>>) -> Vec<String> {
    let numbers = numbers(tokens).into_iter();
    numbers.map(|number| number.value).collect()
}

/// A number among words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its figures.
    pub(super) value: String,
    /// Whether it is a numeral of Rome.
    pub(super) is_roman: bool,
    /// Its words. Both numbers of a fraction in one character have its word.
    pub(super) words: Range<usize>,
}

/// The numbers among words, and where they are.
pub(super) fn numbers<'a>(tokens: impl Iterator<Item = Token<'a>>) -> Vec<Number> {
    let mut reading = Reading::default();
    let mut following = "";
    for (at, token) in tokens.enumerate() {
        if reading.is_ended_by(following) {
            reading.end();
        }
        following = token.following;
        match numeral(&token) {
            Some(numeral) => reading.add(numeral, at),
            None if token.word == "and" && reading.is_scaled => {}
            None => reading.end(),
        }
    }
    reading.end();
    reading.found
}

/// Numbers while their words are read.
#[derive(Debug, Default)]
struct Reading {
    found: Vec<Number>,
    /// What is complete of the number in progress: thousands and more.
    complete: u64,
    /// The rest of it.
    rest: Option<u64>,
    /// Its words.
    words: Range<usize>,
    /// Where its last hundred or more ended, if more words follow it.
    at_scale: Option<AtScale>,
    /// Whether its last word was a hundred or more.
    is_scaled: bool,
    is_in_figures: bool,
    is_han: bool,
}

/// A number in progress before the words that follow a hundred or more.
#[derive(Clone, Copy, Debug)]
struct AtScale {
    rest: u64,
    /// The end of its words.
    end: usize,
    /// The word that follows.
    next: usize,
}

impl Reading {
    /// Adds the numeral of a word.
    fn add(&mut self, numeral: Numeral, at: usize) {
        let is_han = matches!(numeral, Numeral::Han(_) | Numeral::HanScale(_));
        let goes_on = match (&numeral, self.rest) {
            (_, None) => true,
            _ if is_han != self.is_han => false,
            (Numeral::Figures(_) | Numeral::Roman(_), _) => false,
            (Numeral::Small(value), Some(rest)) => {
                let last = rest % 100;
                let is_ten = !self.is_in_figures && last >= 20 && last % 10 == 0;
                self.is_scaled || is_ten && (1..10).contains(value)
            }
            (Numeral::Han(_) | Numeral::Scale(_) | Numeral::HanScale(_), _) => true,
        };
        if !goes_on {
            self.end();
        }
        if self.rest.is_none() {
            (self.words.start, self.is_han) = (at, is_han);
        }
        let end = self.words.end;
        self.words.end = at + 1;
        let rest = self.rest.unwrap_or(0);
        match numeral {
            Numeral::Figures(figures) => match figures.parse() {
                // Figures before a scale are a number: 5 million.
                Ok(value) if !figures.starts_with('0') => {
                    self.rest = Some(value);
                    self.is_in_figures = true;
                }
                _ => {
                    let words = self.words.clone();
                    let parts = parts(&figures).into_iter();
                    self.found.extend(parts.map(|value| Number {
                        value,
                        is_roman: false,
                        words: words.clone(),
                    }));
                }
            },
            Numeral::Roman(value) => {
                self.rest = Some(value);
                self.end();
                if let Some(number) = self.found.last_mut() {
                    number.is_roman = true;
                }
            }
            Numeral::Small(value) => {
                if self.is_scaled {
                    self.at_scale = Some(AtScale {
                        rest,
                        end,
                        next: at,
                    });
                }
                self.rest = Some(rest.saturating_add(value));
                self.is_scaled = false;
            }
            Numeral::Han(value) => {
                // 二〇二四 is read figure by figure.
                let is_figure = self.rest.is_some() && !self.is_scaled;
                let before = if is_figure {
                    rest.saturating_mul(10)
                } else {
                    rest
                };
                self.rest = Some(before.saturating_add(value));
                self.is_scaled = false;
            }
            Numeral::Scale(scale) => {
                self.divide(scale);
                self.scale(scale, 1_000);
            }
            Numeral::HanScale(scale) => self.scale(scale, 10_000),
        }
    }

    /// Whether the text between two words ends the number: a sentence or bracket does, and so does a comma unless it follows a scale.
    fn is_ended_by(&self, following: &str) -> bool {
        const ENDS: &str = ".!?;:()[]\u{2014}\u{2026}。！？；：，、（）";
        let ends = |c: char| ENDS.contains(c) || c == ',' && !self.is_scaled;
        let mut between = following.chars().take_while(|c| !c.is_alphanumeric());
        self.rest.is_some() && between.any(ends)
    }

    /// Ends the number before the words that a scale belongs to, if there is one before it that is not larger: one hundred and
    /// two hundred.
    fn divide(&mut self, scale: u64) {
        let larger = scale.saturating_mul(1_000);
        let has_room = match scale {
            100 => self.rest.is_none_or(|rest| rest < 100),
            _ => self.complete < scale || self.complete.is_multiple_of(larger),
        };
        let Some(before) = self.at_scale.filter(|_| !has_room) else {
            return;
        };
        let (rest, end) = (self.rest, self.words.end);
        (self.rest, self.words.end) = (Some(before.rest), before.end);
        self.end();
        self.rest = rest.map(|rest| rest - before.rest);
        self.words = before.next..end;
    }

    /// Multiplies what the scale belongs to. Scales from `large` on take all before them.
    fn scale(&mut self, scale: u64, large: u64) {
        let rest = self.rest.unwrap_or(0);
        self.is_in_figures = false;
        if scale >= large {
            // A thousand million takes the thousand, a million and one thousand does not take the million.
            let (taken, kept) = if self.complete < scale {
                (self.complete.saturating_add(rest), 0)
            } else {
                (rest, self.complete)
            };
            let scaled = taken.max(1).saturating_mul(scale);
            self.complete = kept.saturating_add(scaled);
            self.rest = Some(0);
            self.at_scale = None;
        } else {
            // A scale of Han belongs to the figure right before it.
            let last = if self.is_han { rest % 10 } else { rest };
            let scaled = last.max(1).saturating_mul(scale);
            self.rest = Some((rest - last).saturating_add(scaled));
        }
        self.is_scaled = true;
    }

    /// Ends the number in progress.
    fn end(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.found.push(Number {
                value: self.complete.saturating_add(rest).to_string(),
                is_roman: false,
                words: self.words.clone(),
            });
        }
        (self.complete, self.is_scaled, self.at_scale) = (0, false, None);
        (self.is_in_figures, self.is_han) = (false, false);
    }
}

/// The figures of a word: of a fraction in one character, those of both its sides.
fn parts(figures: &str) -> Vec<String> {
    use unicode_normalization::UnicodeNormalization;

    let written: String = figures.nfkc().collect();
    written.split('\u{2044}').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    fn read(text: &str) -> String {
        let words = Words::read_plain(text);
        let token = |i: usize| Token::new(words.word(i).into(), text, words.span(i));
        values((0..words.len()).map(token)).join(" ")
    }

    #[test]
    fn numbers_have_one_value_however_they_are_written() {
        for (text, expected) in [
            ("seventeen goats", "17"),
            ("twenty five or 25", "25 25"),
            ("one hundred and twelve", "112"),
            ("one hundred eighty two", "182"),
            ("two thousand three hundred forty", "2340"),
            ("5 million and 3", "5000000 3"),
            ("five six", "5 6"),
            ("XVII VII I II", "17 7 1 2"),
            ("IIII VX MIX", "1009"),
            ("05 7kg 5", "05 7kg 5"),
            ("five hundred six thousand", "506000"),
            ("3070 nine 20 two", "3070 9 20 2"),
            ("5 million twenty five", "5000025"),
            ("one thousand million", "1000000000"),
            ("18446744073709551615 hundred five", "18446744073709551615"),
            ("one hundred and two hundred", "100 200"),
            ("from two thousand to three thousand", "2000 3000"),
            ("two thousand and three thousand two", "2000 3002"),
            ("one thousand one hundred and two hundred", "1100 200"),
            ("five hundred twenty-two thousand", "522000"),
            ("$50 per one hundred. One thousand widgets", "50 100 1000"),
            ("ninety, five, or ninety-five", "90 5 95"),
            ("two thousand, three hundred (five)", "2300 5"),
            ("twenty\n> five", "25"),
            ("one hundred。five", "100 5"),
            ("one hundred: five", "100 5"),
            ("一百。二十", "100 20"),
            ("two hundred five thousand, hundred thousand", "305000"),
            ("nine hundred five thousand hundred hundred", "915000"),
            ("one million two hundred five thousand, thousand", "1206000"),
            ("½", "1 2"),
            ("2 ½", "2 1 2"),
            ("seventh 7th", "7th 7th"),
            ("十 七", "17"),
            ("一 百 二 十", "120"),
            ("二 〇 二 四", "2024"),
            ("三 万 五 千", "35000"),
            ("none of these", ""),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
