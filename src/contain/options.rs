//! Whether the options and the answer of an item stand beside its question.

use std::ops::Range;

use super::document::Document;
use super::items::Variant;
use super::words::Words;

/// The end of the options, if two of them and three of five, with four words in all, stand as they are in the words behind the
/// question, or right before it.
pub(super) fn options_end(
    variant: &Variant,
    document: Document<'_>,
    question: &Range<usize>,
) -> Option<usize> {
    const BEFORE: usize = 20;
    let options: Vec<Words> = variant
        .options
        .iter()
        .map(|option| Words::of(option))
        .collect();
    let all: usize = options.iter().map(Words::len).sum();
    let behind = question.end..(question.end + all * 3 / 2 + 30).min(document.len());
    let before = question.start.saturating_sub(BEFORE)..question.start;
    let (mut found, mut letters, mut end) = (0, 0, 0);
    for option in options.iter().filter(|option| option.len() > 0) {
        let at = [&behind, &before]
            .into_iter()
            .find_map(|room| find(option, document, room));
        if let Some(at) = at {
            found += 1;
            letters += option.len();
            end = end.max(at + option.len());
        }
    }
    let least = (0.6 * variant.options.len() as f64).max(2.0);
    (found as f64 >= least && letters >= 4).then_some(end)
}

/// Where all words of a text stand in a range of others.
fn find(text: &Words, document: Document<'_>, room: &Range<usize>) -> Option<usize> {
    let last = room.end.checked_sub(text.len())?;
    (room.start..=last).find(|at| (0..text.len()).all(|i| document.is_word(at + i, text.word(i))))
}

/// Whether an answer stands in the words behind the question or its options.
pub(super) fn answer_follows(answer: &str, document: Document<'_>, end: usize) -> bool {
    const BEHIND: usize = 5;
    let answer = Words::of(answer);
    let room = end..(end + BEHIND + answer.len()).min(document.len());
    answer.len() > 0 && find(&answer, document, &room).is_some()
}
