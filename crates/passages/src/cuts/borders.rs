//! Where a cut may begin and end: functions that shrink or widen a part of a text to such places.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// The whole characters of a range of bytes.
pub(super) fn whole_characters(
    text: &str,
    Range { mut start, mut end }: Range<usize>,
) -> Range<usize> {
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    start..end.max(start)
}

/// The whole lines, of which white space at both ends does not count.
pub(super) fn whole_lines(
    text: &str,
    from: usize,
    Range { start, end }: Range<usize>,
) -> Range<usize> {
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let start = if text[line..start].trim().is_empty() && line >= from {
        line
    } else {
        text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline + 1)
    };
    let rest = text[end..]
        .find('\n')
        .map_or(text.len(), |newline| end + newline + 1);
    let end = if text[end..rest].trim().is_empty() {
        rest
    } else {
        text[..end].rfind('\n').map_or(0, |newline| newline + 1)
    };
    start..end.max(start)
}

/// A paragraph with the blank lines behind it, if blank lines are before it, or nothing.
pub(super) fn with_blank_lines(text: &str, Range { start, mut end }: Range<usize>) -> Range<usize> {
    let before = text[..start].trim_end_matches('\n').len();
    if before > 0 && start - before < 2 {
        return start..end;
    }
    while let Some(line) = text[end..].find('\n').map(|newline| end + newline + 1) {
        if !text[end..line].trim().is_empty() {
            break;
        }
        end = line;
    }
    start..end
}

/// Shrinks a cut that begins or ends within a tag of HTML or XML: half a tag would swallow the text behind it.
pub(super) fn outside_tags(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    if let Some(tag) = tag_around(text.as_bytes(), start) {
        start = tag.end;
    }
    if let Some(tag) = tag_around(text.as_bytes(), end) {
        end = tag.start;
    }
    start..end.max(start)
}

/// Bytes on each side of a place that are looked through for the ends of a tag.
const TAG: usize = 1000;

/// The tag that goes on both sides of a place, if one does: `<`, then a letter, `/`, `!` or `?`, up to the next `>`.
pub(super) fn tag_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.saturating_sub(TAG);
    let start = from + memchr::memrchr2(b'<', b'>', &text[from..at])?;
    // Other `<` are signs of comparison, not tags.
    let opens = text[start] == b'<'
        && matches!(
            text.get(start + 1),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?')
        );
    let to = text.len().min(at + TAG);
    let end = at + memchr::memchr2(b'<', b'>', &text[at..to])?;
    (opens && text[end] == b'>').then_some(start..end + 1)
}

/// Bytes that are looked through for the end of a run.
const RUN: usize = 200;

/// Shrinks a cut that begins or ends within a run of letters, digits and signs, such as an address, a tag or a name with
/// dots: what is left of two such runs would make another one. Runs are of ASCII, since many scripts have no white space
/// between words, and end with the word that they are a part of; a longer one is no word.
pub(super) fn whole_runs(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let (before, after) = (&text.as_bytes()[..start], &text.as_bytes()[end..]);
    // Only a word with other letters goes on beyond a run.
    let is_other = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii());
    if has_word(before.iter().rev()) {
        let cut = &text[start..end];
        let behind = run(cut.bytes()).unwrap_or(0);
        let word = if is_other(cut.as_bytes().get(behind)) {
            words_of(cut).find(|word| word.end > behind)
        } else {
            None
        };
        let word = word.filter(|word| word.start < behind);
        start += word.map_or(behind, |word| word.end);
    }
    if has_word(after.iter()) {
        let cut = &text[start..end];
        let from = cut.len() - run(cut.bytes().rev()).unwrap_or(0);
        let word = if is_other(cut.as_bytes()[..from].last()) {
            words_of(cut).rev().find(|word| word.start < from)
        } else {
            None
        };
        let word = word.filter(|word| word.end > from);
        end = start + word.map_or(from, |word| word.start);
    }
    start..end
}

/// The words of a text.
fn words_of(text: &str) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let words = text.unicode_word_indices();
    words.map(|(start, word)| start..start + word.len())
}

/// The bytes of the run that comes first; `None` if it is long.
fn run(bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let bytes = bytes.take(RUN).take_while(u8::is_ascii_graphic);
    Some(bytes.count()).filter(|bytes| *bytes < RUN)
}

/// Whether the run that comes first has a letter or digit.
fn has_word<'a>(bytes: impl Iterator<Item = &'a u8>) -> bool {
    let mut bytes = bytes.take(RUN).take_while(|byte| byte.is_ascii_graphic());
    bytes.any(u8::is_ascii_alphanumeric)
}

/// Whether two words would be one if what is between them were cut.
fn is_glued(text: &str, cut: &Range<usize>) -> bool {
    // Two characters on each side tell whether words join.
    let (before, after) = (&text[..cut.start], &text[cut.end..]);
    let edge = |(at, _): (usize, char)| at;
    let from = before
        .char_indices()
        .rev()
        .nth(1)
        .or(before.char_indices().next())
        .map_or(0, edge);
    let to = after.char_indices().nth(2).map_or(after.len(), edge);
    let joined = [&before[from..], &after[..to]].concat();
    let joint = before.len() - from;
    let mut words = joined.unicode_word_indices();
    words.any(|(start, word)| start < joint && joint < start + word.len())
}

/// Leaves what keeps the words around a cut apart: a white space at one of its ends, else its last words.
pub(super) fn unglued(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let is_blank = |char: Option<char>| char.is_some_and(char::is_whitespace);
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    if start == end || before.is_none() || after.is_none() || is_blank(before) || is_blank(after) {
        return start..end;
    }
    let last_blank = text[start..end]
        .chars()
        .next_back()
        .filter(|char| char.is_whitespace());
    let first_blank = text[start..end]
        .chars()
        .next()
        .filter(|char| char.is_whitespace());
    match (last_blank, first_blank) {
        (Some(blank), _) => end -= blank.len_utf8(),
        (None, Some(blank)) => start += blank.len_utf8(),
        (None, None) => {
            while start < end && is_glued(text, &(start..end)) {
                let mut words = text[start..end].unicode_word_indices();
                end = start + words.next_back().map_or(0, |(at, _)| at);
            }
        }
    }
    start..end
}

/// Cuts white space on one side, if there is some on both: the side with fewer ends of lines.
pub(super) fn with_blanks(
    text: &str,
    from: usize,
    Range { start, end }: Range<usize>,
) -> Range<usize> {
    if start == end {
        return start..end;
    }
    let before = from + text[from..start].trim_end().len();
    let after = text.len() - text[end..].trim_start().len();
    let is_first = before == 0;
    match (before < start || is_first, after > end || end == text.len()) {
        _ if is_first && end < text.len() => start..after,
        (true, true) if end == text.len() || after == text.len() => before..end,
        (true, true) => {
            let lines = |range: Range<usize>| text[range].matches('\n').count();
            if lines(before..start) < lines(end..after) {
                before..end
            } else {
                start..after
            }
        }
        _ => start..end,
    }
}
