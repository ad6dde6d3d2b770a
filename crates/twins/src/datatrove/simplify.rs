//! datatrove's `simplify_text`, with Python's own answers about characters.
//!
//! Python, its package `regex` and this program may follow different versions of Unicode. So no table is used here:
//! Python answers once for each character that occurs ([`Character`]). What depends on more than one character is
//! written here (numbers, white space), or is rare and left to Python ([`Simplified::ByPython`]).

use std::collections::{HashMap, HashSet};

/// What simplification changes: the fields of datatrove's `TextNormConfig`.
#[derive(Clone, Copy, Debug)]
pub struct Simplification {
    /// Lowercases.
    pub lowercase: bool,
    /// Replaces runs of whitespace by one space.
    pub norm_whitespace: bool,
    /// Removes punctuation.
    pub remove_punctuation: bool,
    /// Removes diacritics.
    pub norm_unicode_diacritics: bool,
    /// Replaces each number by `0`.
    pub norm_numbers: bool,
    /// Replaces names of days by `WEEKDAY`.
    pub norm_weekdays: bool,
    /// Replaces names of months by `MONTH`.
    pub norm_monthnames: bool,
}

/// What Python says about one character.
#[derive(Debug)]
pub struct Character {
    /// `str.lower()`, if it is another string.
    pub lower: Option<Box<str>>,
    /// Its canonical decomposition without nonspacing marks (Mn), if it is another string.
    pub decomposed: Option<Box<str>>,
    /// Whether it is a decimal digit (Nd).
    pub is_digit: bool,
    /// Whether datatrove replaces it by a space.
    pub is_punctuation: bool,
    /// Whether its decomposition has a mark that is kept and changes places with its neighbours.
    pub reorders: bool,
}

/// The outcome of [`Simplifier::simplify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simplified {
    /// The text is written.
    Done,
    /// Python has not yet been asked about some characters.
    Unknown,
    /// The text has a character whose treatment depends on its neighbours: leave it to Python.
    ByPython,
}

/// The working memory of [`Simplifier::simplify`].
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Lowercase, with numbers normalised.
    lowered: String,
    /// The result.
    pub(super) simplified: String,
}

/// Characters that Python must be asked about.
#[derive(Debug, Default)]
pub(super) struct UnknownCharacters {
    pub(super) characters: HashSet<char>,
    /// Whether the current text has one.
    in_text: bool,
}

impl UnknownCharacters {
    fn add(&mut self, c: char) {
        self.characters.insert(c);
        self.in_text = true;
    }
}

/// Simplifies texts with the characters known so far.
#[derive(Debug)]
pub(super) struct Simplifier {
    options: Simplification,
    /// Those below 128, by code.
    ascii: Vec<Character>,
    /// Bytes that remain as they are when lowercased, if they are not in a number.
    unchanged_in_lower: [bool; 256],
    /// Bytes that remain as they are after that, and are not white space.
    unchanged_in_reduce: [bool; 256],
    others: HashMap<char, Character>,
}

impl Simplifier {
    /// A simplifier that knows the ASCII characters.
    pub(super) fn new(options: Simplification, ascii: Vec<Character>) -> Self {
        let mut simplifier = Simplifier {
            options,
            ascii,
            unchanged_in_lower: [false; 256],
            unchanged_in_reduce: [false; 256],
            others: HashMap::new(),
        };
        for (code, character) in simplifier.ascii.iter().enumerate() {
            let is_space = u8::try_from(code).is_ok_and(|byte| is_space(byte.into()));
            simplifier.unchanged_in_lower[code] = character.lower.is_none() && !character.is_digit;
            simplifier.unchanged_in_reduce[code] =
                character.decomposed.is_none() && !character.is_punctuation && !is_space;
        }
        simplifier
    }

    /// Remembers Python's answer about `c`.
    pub(super) fn learn(&mut self, c: char, character: Character) {
        self.others.insert(c, character);
    }

    fn about(&self, c: char) -> Option<&Character> {
        self.ascii.get(c as usize).or_else(|| self.others.get(&c))
    }

    /// Simplifies `text` into `buffers.simplified`, or adds to `unknown` what Python must be asked first.
    pub(super) fn simplify(
        &self,
        text: &str,
        buffers: &mut Buffers,
        unknown: &mut UnknownCharacters,
    ) -> Simplified {
        // Whether a sigma ends a word depends on its neighbours.
        if self.options.lowercase && text.contains('Σ') {
            return Simplified::ByPython;
        }
        unknown.in_text = false;
        self.lower(text, &mut buffers.lowered, unknown);
        self.name_dates(&mut buffers.lowered);
        let reorders = self.reduce(&buffers.lowered, &mut buffers.simplified, unknown);
        match (unknown.in_text, reorders) {
            (true, _) => Simplified::Unknown,
            (false, true) => Simplified::ByPython,
            (false, false) => Simplified::Done,
        }
    }

    /// Lowercases and normalises numbers.
    fn lower(&self, text: &str, out: &mut String, unknown: &mut UnknownCharacters) {
        out.clear();
        let mut numbers = Numbers::new(self.options.norm_numbers);
        let mut rest = text;
        loop {
            // Inside a number, each character decides how the number goes on.
            if let NumberState::Outside = numbers.state {
                rest = move_unchanged(rest, &self.unchanged_in_lower, out);
            }
            let Some(c) = next(&mut rest) else { break };
            // The text is read to its end, so that Python is asked about all its unknown characters at once.
            let Some(character) = self.about(c) else {
                unknown.add(c);
                continue;
            };
            let lower = character.lower.as_deref();
            let Some(lower) = lower.filter(|_| self.options.lowercase) else {
                numbers.push(c, character.is_digit, out);
                continue;
            };
            for c in lower.chars() {
                match self.about(c) {
                    Some(character) => numbers.push(c, character.is_digit, out),
                    None => unknown.add(c),
                }
            }
        }
        numbers.finish(out);
    }

    /// Replaces names of days and months. No name ends with the beginning of another, so the order does not matter.
    fn name_dates(&self, text: &mut String) {
        const DAYS: [&str; 7] = [
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
        ];
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let mut replace = |names: &[&str], by| {
            for name in names {
                if text.contains(name) {
                    *text = text.replace(name, by);
                }
            }
        };
        if self.options.norm_weekdays {
            replace(&DAYS, "WEEKDAY");
        }
        if self.options.norm_monthnames {
            replace(&MONTHS, "MONTH");
        }
    }

    /// Removes punctuation, surplus white space and diacritics. Returns whether marks would have to be reordered.
    fn reduce(&self, text: &str, out: &mut String, unknown: &mut UnknownCharacters) -> bool {
        out.clear();
        let mut reorders = false;
        // Whether a space is due before the next character that is none.
        let mut space = false;
        let mut rest = text;
        loop {
            if !space {
                rest = move_unchanged(rest, &self.unchanged_in_reduce, out);
            }
            let Some(c) = next(&mut rest) else { break };
            let Some(character) = self.about(c) else {
                unknown.add(c);
                continue;
            };
            let is_removed = self.options.remove_punctuation && character.is_punctuation;
            if self.options.norm_whitespace {
                if is_removed || is_space(c) {
                    space = true;
                    continue;
                }
                if std::mem::take(&mut space) {
                    out.push(' ');
                }
            } else if is_removed {
                out.push(' ');
                continue;
            }
            if !self.options.norm_unicode_diacritics {
                out.push(c);
                continue;
            }
            reorders |= character.reorders;
            match &character.decomposed {
                Some(decomposed) => out.push_str(decomposed),
                None => out.push(c),
            }
        }
        trim(out);
        reorders
    }
}

/// Moves the longest start of `text` whose bytes are `unchanged` to `out`. Returns the rest.
#[inline]
fn move_unchanged<'a>(text: &'a str, unchanged: &[bool; 256], out: &mut String) -> &'a str {
    let mut bytes = text.bytes();
    let end = bytes.position(|byte| !unchanged[usize::from(byte)]);
    // Only ASCII is unchanged, so this is a boundary of characters.
    let (start, rest) = text.split_at(end.unwrap_or(text.len()));
    out.push_str(start);
    rest
}

/// Takes the first character of `text`.
#[inline]
fn next(text: &mut &str) -> Option<char> {
    let mut chars = text.chars();
    let c = chars.next();
    *text = chars.as_str();
    c
}

/// Python's `str.isspace` of one character.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Python's `str.strip()`, in place.
fn trim(text: &mut String) {
    text.truncate(text.trim_end_matches(is_space).len());
    let start = text.len() - text.trim_start_matches(is_space).len();
    text.drain(..start);
}

/// Replaces numbers by `0`: digits, and a decimal separator and more digits if there are any.
struct Numbers {
    is_on: bool,
    state: NumberState,
}

/// How much of a number was read.
#[derive(Clone, Copy)]
enum NumberState {
    Outside,
    Whole,
    /// After a whole number and this separator, which is not yet written.
    Separator(char),
    Fraction,
}

impl Numbers {
    fn new(is_on: bool) -> Self {
        Numbers {
            is_on,
            state: NumberState::Outside,
        }
    }

    #[inline]
    fn push(&mut self, c: char, is_digit: bool, out: &mut String) {
        if !self.is_on {
            return out.push(c);
        }
        self.state = match (self.state, is_digit) {
            (NumberState::Outside, true) => {
                out.push('0');
                NumberState::Whole
            }
            (NumberState::Separator(_), true) => NumberState::Fraction,
            (state, true) => state,
            (NumberState::Whole, false) if is_separator(c) => NumberState::Separator(c),
            (state, false) => {
                if let NumberState::Separator(separator) = state {
                    out.push(separator);
                }
                out.push(c);
                NumberState::Outside
            }
        };
    }

    fn finish(self, out: &mut String) {
        if let NumberState::Separator(separator) = self.state {
            out.push(separator);
        }
    }
}

/// The decimal separators of datatrove's `NUMBERS_PATTERN`.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '،' | '٫' | '⎖' | '⎗' | '⎘')
}
