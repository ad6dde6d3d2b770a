//! Whether a question without a question mark is a statement at a place.

use crate::asked::Place;
use crate::items::Variant;
use crate::letters::is_divided;
use crate::part::find_blank;
use crate::sentences::Asks;
use crate::words::Words;

/// Characters that are looked at behind a question.
const AHEAD: usize = 12;

/// Whether a sentence, a line or a quotation begins here.
fn begins(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    let is_word = |c: char| c.is_alphanumeric() && !is_divided(c) || c == '_';
    match before.next() {
        Some(' ') => !before.next().is_some_and(is_word),
        Some(c) => !is_word(c),
        None => true,
    }
}

impl Place<'_> {
    /// Whether the item's open sentence, or the one with a blank, is a statement here: it runs on in words, is the middle of a
    /// longer sentence, has other words in place of the blank, or its answer or a list that is not its own follows at once.
    pub(super) fn is_statement(&self, variant: &Variant) -> bool {
        let question = &self.detail.question;
        if question.asks == Asks::Mark {
            return false;
        }
        if let Some(blank) = question.blank
            && let Some(is_filled) = self.fills(blank)
        {
            return is_filled;
        }
        let text = self.detail.plain().trim_end();
        let ends_in_mark = text.ends_with(['.', '!', '。', '！']);
        let is_open = question.asks == Asks::Open;
        let words = self.part.len();
        let is_last = question
            .sentence
            .last()
            .is_some_and(|last| last + 1 == words);
        if is_open && is_last && (question.blank == Some(words) || !ends_in_mark) {
            let within = question.sentence.first() == Some(&0)
                && self
                    .aligned
                    .get(0)
                    .is_some_and(|at| !begins(self.document.plain, self.document.span(at).start));
            let behind = self.behind();
            let tail = self.tail();
            if runs_on(&behind, &tail)
                || within
                || (!variant.options.is_empty() && lists(&behind, &tail))
            {
                return true;
            }
        }
        is_open
            && is_last
            && variant
                .answers
                .iter()
                .any(|answer| self.is_followed_by(answer))
    }

    /// Whether words stand in the place of the blank; `None` if it is at the end.
    fn fills(&self, blank: usize) -> Option<bool> {
        let text = self.document.plain;
        let span = |at: usize| self.document.span(at);
        let last_left = self.aligned.pairs().take_while(|(i, _)| *i < blank).last();
        let first_right = self.aligned.pairs().find(|(i, _)| *i >= blank);
        let Some((_, left)) = last_left else {
            let (_, right) = first_right?;
            let start = span(right).start;
            let mut before = text[..start].chars().rev().take(AHEAD);
            return Some(!before.any(|c| c == '_') && !begins(text, start));
        };
        if blank >= self.part.len() {
            return None;
        }
        let right = match first_right {
            Some((_, right)) => right,
            None => (left + self.part.len() - blank + 1).min(self.document.len() - 1),
        };
        let between = || &text[span(left).end..span(right).start];
        let is_blank = || {
            let between = between();
            between.contains(['_', '\u{2026}'])
                || between.contains("..")
                || find_blank(between).is_some()
        };
        Some(right > left + 1 && !is_blank())
    }

    /// The first characters behind the last word.
    fn behind(&self) -> Vec<char> {
        let end = self
            .aligned
            .range()
            .map_or(0, |range| self.document.span(range.end - 1).end);
        self.document.plain[end..].chars().take(AHEAD).collect()
    }

    /// What the item itself ends with, beside blanks and stops.
    fn tail(&self) -> Vec<char> {
        let words = &self.detail.words;
        let end = words
            .len()
            .checked_sub(1)
            .map_or(0, |last| words.span(last).end);
        let tail = self.detail.plain()[end..].chars();
        let tail = tail.filter(|c| !":_.\u{2026} \n".contains(*c));
        tail.chain([')', ',']).collect()
    }

    /// Whether the answer is the next words, in the same line and cell.
    fn is_followed_by(&self, answer: &str) -> bool {
        const BEGINNING: usize = 3;
        let document = self.document;
        let Some(range) = self.aligned.range() else {
            return false;
        };
        let answer = Words::read(answer);
        let len = answer.len().min(BEGINNING);
        if len == 0 || range.end + len > document.len() {
            return false;
        }
        let follows = (0..len).all(|i| document.is_word(range.end + i, answer.word(i)));
        let between = document.between(range.end - 1, range.end);
        let mut quotes = between.match_indices(['"', '\'']);
        let ends_cell =
            quotes.any(|(at, _)| between[at + 1..].trim_start().starts_with([';', ',']));
        follows && !between.contains(['\n', '|', '\t']) && !ends_cell
    }
}

/// The longest beginning of such characters, and all shorter ones.
fn beginnings(text: &[char], of: impl Fn(char) -> bool) -> impl Iterator<Item = &[char]> {
    let len = text.iter().take_while(|c| of(**c)).count();
    (0..=len).rev().map(|len| &text[len..])
}

fn skip(text: &[char], of: impl Fn(char) -> bool) -> &[char] {
    &text[text.iter().take_while(|c| of(**c)).count()..]
}

/// Whether a sentence runs on in words: in the same line, or in small letters on the next.
fn runs_on(behind: &[char], tail: &[char]) -> bool {
    let is_space = |c: char| c == ' ' || c == '\u{A0}';
    let unquoted = |text: &[char]| match text {
        ['(' | '（' | '"' | '\'' | '\u{201C}' | '「', rest @ ..] => rest.first().copied(),
        _ => text.first().copied(),
    };
    beginnings(behind, |c| tail.contains(&c) || c == ']' || c == ' ').any(|rest| {
        let after = skip(rest, is_space);
        // Some scripts need no space between two words.
        let runs_on = |c: char| c.is_alphanumeric() && (after.len() < rest.len() || is_divided(c));
        if unquoted(after).is_some_and(runs_on) {
            return true;
        }
        let after = after.strip_prefix(&['\r']).unwrap_or(after);
        let line = after
            .strip_prefix(&['\n'])
            .map(|line| skip(line, |c| c == ' ' || c == '>'));
        line.and_then(unquoted)
            .is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

/// Whether a list follows.
fn lists(behind: &[char], tail: &[char]) -> bool {
    let is_end = |c: char| tail.contains(&c) || c == ':' || c == ']' || c.is_whitespace();
    beginnings(behind, is_end).any(|rest| {
        let Some(line) = rest.strip_prefix(&['\n']) else {
            return false;
        };
        let after = match skip(line, char::is_whitespace) {
            ['-' | '*' | '\u{2022}', rest @ ..] => rest,
            ['(', label, '.' | ')', rest @ ..] | [label, '.' | ')', rest @ ..]
                if label.is_ascii_alphanumeric() =>
            {
                rest
            }
            _ => return false,
        };
        after.first().is_some_and(|c| c.is_whitespace())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().take(AHEAD).collect()
    }

    #[test]
    fn sentences_run_on_in_words() {
        let tail = chars("),");
        for (behind, expected) in [
            (" the end", true),
            (", he said", true),
            (") \"then\"", true),
            ("\nthe end", true),
            ("\n> so it is", true),
            ("\nThe end", false),
            (". The end", false),
            (": red", false),
            ("", false),
        ] {
            assert_eq!(runs_on(&chars(behind), &tail), expected, "{behind:?}");
        }
    }

    #[test]
    fn lists_begin_on_the_next_line() {
        let tail = chars("),");
        for (behind, expected) in [
            (":\n- red", true),
            ("\n\n(a) red", true),
            ("\n1. red", true),
            ("\nAn apple", false),
            (" - red", false),
        ] {
            assert_eq!(lists(&chars(behind), &tail), expected, "{behind:?}");
        }
    }

    #[test]
    fn a_sentence_begins_after_punctuation() {
        assert!(
            begins("x. Red", 3) && begins("Red", 0) && begins("(Red", 1) && begins("a  Red", 3)
        );
        assert!(!begins("a Red", 2) && !begins("aRed", 1));
    }
}
