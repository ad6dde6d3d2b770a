//! Whether the options and the answer of an item stand beside its question.

use std::ops::Range;

use crate::document::Document;
use crate::items::Variant;
use crate::words::Words;

/// Words of options that tell an item, at least.
const LEAST_WORDS: usize = 4;

/// Options that stand beside a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundOptions {
    /// The end of the last one.
    pub(super) end: usize,
    /// Whether none is missing.
    pub(super) is_exhaustive: bool,
}

/// Whether a variant has options enough to tell it by them.
pub(super) fn tells_options_apart(variant: &Variant) -> bool {
    let words = variant
        .options
        .iter()
        .map(|option| Words::read(option).len());
    let (options, words) = words
        .filter(|words| *words > 0)
        .fold((0, 0), |(options, all), words| (options + 1, all + words));
    options >= 2 && words >= LEAST_WORDS
}

/// The options, if two of them and three of five, with four words in all, stand as they are in the words behind the question, or
/// right before it.
pub(super) fn find_options(
    variant: &Variant,
    document: Document<'_>,
    question: &Range<usize>,
) -> Option<FoundOptions> {
    const BEFORE: usize = 20;
    let options: Vec<Words> = variant
        .options
        .iter()
        .map(|option| Words::read(option))
        .collect();
    let all: usize = options.iter().map(Words::len).sum();
    let behind = question.end..(question.end + all * 3 / 2 + 30).min(document.len());
    let before = question.start.saturating_sub(BEFORE)..question.start;
    let (mut found, mut letters, mut end) = (0, 0, 0);
    let with_words = || options.iter().filter(|option| option.len() > 0);
    for option in with_words() {
        let at = [&behind, &before]
            .into_iter()
            .find_map(|room| find(option, document, room));
        if let Some(at) = at {
            found += 1;
            letters += option.len();
            end = end.max(at + option.len());
        }
    }
    let least = (0.6 * with_words().count() as f64).max(2.0);
    (found as f64 >= least && letters >= LEAST_WORDS).then(|| FoundOptions {
        end,
        is_exhaustive: found == with_words().count(),
    })
}

/// Where all words of a text stand in a range of others.
fn find(text: &Words, document: Document<'_>, room: &Range<usize>) -> Option<usize> {
    let last = room.end.checked_sub(text.len())?;
    (room.start..=last).find(|at| (0..text.len()).all(|i| document.is_word(at + i, text.word(i))))
}

/// Whether an answer stands in the words behind the question or its options.
pub(super) fn answer_follows(answer: &str, document: Document<'_>, end: usize) -> bool {
    const BEHIND: usize = 5;
    let answer = Words::read(answer);
    let room = end..(end + BEHIND + answer.len()).min(document.len());
    answer.len() > 0 && find(&answer, document, &room).is_some()
}
