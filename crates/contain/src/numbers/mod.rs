//! Numbers in figures, in words, of Rome and of China: `17`, `seventeen`, `XVII` and `十七` are one value.

mod token;

mod numeral;

#[cfg(test)]
mod tests;

use std::ops::Range;

use self::numeral::{Numeral, numeral};
pub(crate) use self::token::Token;

/// Whether a word is a number or a part of one.
pub(crate) fn is_number(token: &Token<'_>) -> bool {
    numeral(token).is_some() || token.word == "and"
}

/// Whether a word in any case is one of a number in words.
pub(crate) fn is_in_words(written: &str) -> bool {
    let word = written.to_ascii_lowercase().into();
    let numeral = numeral(&Token {
        word,
        written,
        following: "",
    });
    matches!(numeral, Some(Numeral::Small(_) | Numeral::Scale(_)))
}

/// The numbers among words, in their order, each as its figures: those in words and of Han as one each, `2½` as 2, 1 and 2.
pub(crate) fn values<'a>(tokens: impl Iterator<Item = Token<'a>>) -> Vec<String> {
    let numbers = numbers(tokens).into_iter();
    numbers.map(|number| number.value).collect()
}

/// A number among words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// Its figures.
    pub(crate) value: String,
    /// Whether it is a numeral of Rome.
    pub(crate) is_roman: bool,
    /// Its words. Both numbers of a fraction in one character have its word.
    pub(crate) words: Range<usize>,
}

/// The numbers among words, and where they are.
pub(crate) fn numbers<'a>(tokens: impl Iterator<Item = Token<'a>>) -> Vec<Number> {
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
        if !self.is_continued_by(&numeral) {
            self.end();
        }
        if self.rest.is_none() {
            (self.words.start, self.is_han) = (at, numeral.is_han());
        }
        let end = self.words.end;
        self.words.end = at + 1;
        let rest = self.rest.unwrap_or(0);
        match numeral {
            Numeral::Figures(figures) => self.add_figures(&figures),
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

    /// Adds figures, which begin a number.
    fn add_figures(&mut self, figures: &str) {
        match figures.parse() {
            // Figures before a scale are a number: 5 million.
            Ok(value) if !figures.starts_with('0') => {
                self.rest = Some(value);
                self.is_in_figures = true;
            }
            _ => {
                let words = self.words.clone();
                let parts = parts(figures).into_iter();
                self.found.extend(parts.map(|value| Number {
                    value,
                    is_roman: false,
                    words: words.clone(),
                }));
            }
        }
    }

    /// Whether a numeral belongs to the number in progress, or begins one where there is none.
    fn is_continued_by(&self, numeral: &Numeral) -> bool {
        match (numeral, self.rest) {
            (_, None) => true,
            _ if numeral.is_han() != self.is_han => false,
            (Numeral::Figures(_) | Numeral::Roman(_), _) => false,
            (Numeral::Small(value), Some(rest)) => {
                // Twenty-one is one number, and so is two hundred and five; five six is two.
                let last = rest % 100;
                let is_ten = !self.is_in_figures && last >= 20 && last % 10 == 0;
                self.is_scaled || is_ten && (1..10).contains(value)
            }
            (Numeral::Han(_) | Numeral::Scale(_) | Numeral::HanScale(_), _) => true,
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
