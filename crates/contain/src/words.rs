//! The words of a text as items and documents are compared by: lower case, NFKC, without punctuation.
//!
//! HTML entities, tags, escapes of JSON and signs of LaTeX are undone first, since a document may hold an item in any of these
//! forms. A word is a run of letters and digits; scripts that write no spaces between words are divided (`letters.rs`).
//! Apostrophes within a word and commas within a number vanish; all other punctuation separates. Every word knows its bytes in
//! the text as it is.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::letters::{Joins, letter_at};
use super::markup::tag;

/// The words of a text, and where each is.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// All words, one after another.
    letters: String,
    /// Where each word ends in `letters`.
    ends: Vec<usize>,
    /// Bytes of the text.
    spans: Vec<Range<usize>>,
}

impl Words {
    pub(super) fn read(text: &str) -> Self {
        let mut plain = PlainText::default();
        let mut words = Words::read_plain(plain.read(text));
        for span in &mut words.spans {
            *span = plain.original(span.clone());
        }
        words
    }

    /// The same of a text whose escapes stand for themselves.
    pub(super) fn read_plain(text: &str) -> Self {
        let (mut words, mut at) = (Words::default(), 0);
        while let Some(start) = word_start(text, at, text.len()) {
            at = push_word(text, start, &mut words.letters);
            words.ends.push(words.letters.len());
            words.spans.push(start..at);
        }
        words
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn word(&self, i: usize) -> &str {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[i]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.word(i))
    }

    /// All words, with a blank between two.
    pub(super) fn joined(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }

    /// The bytes of a word in the text.
    pub(super) fn span(&self, i: usize) -> Range<usize> {
        self.spans[i].clone()
    }

    /// The bytes of all words of this range, which is not empty.
    pub(super) fn span_of(&self, words: Range<usize>) -> Range<usize> {
        self.spans[words.start].start..self.spans[words.end - 1].end
    }
}

/// Where the first word begins between two bytes of a text.
pub(super) fn word_start(text: &str, mut at: usize, end: usize) -> Option<usize> {
    while at < end {
        let letter = letter_at(text, at);
        if letter.is_some_and(|letter| letter.joins != Joins::Mark) {
            return Some(at);
        }
        at += width_at(text.as_bytes(), at);
    }
    None
}

/// Appends the letters of the word that begins at a byte of a text. Returns its end.
pub(super) fn push_word(text: &str, at: usize, letters: &mut String) -> usize {
    let end = word_end(text, at);
    push_letters(&text[at..end], letters);
    end
}

/// Appends the letters of a word: in lower case, in the compatibility form NFKC, without apostrophes, commas and marks.
fn push_letters(word: &str, letters: &mut String) {
    let before = letters.len();
    if word.is_ascii() {
        for run in word.split(['\'', ',']) {
            letters.push_str(run);
        }
        letters[before..].make_ascii_lowercase();
        return;
    }
    if is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        let lower = word.chars().flat_map(char::to_lowercase);
        letters.extend(lower.filter(|c| c.is_alphanumeric()));
    } else if !word.nfkc().any(|c| c == FRACTION_SLASH) {
        let lower = word.nfkc().flat_map(char::to_lowercase);
        letters.extend(lower.filter(|c| c.is_alphanumeric()));
    }
    if letters.len() == before {
        // A fraction, whose figures side by side would be another number, or a letter that NFKC makes a mark of.
        letters.push_str(word);
    }
}

/// What NFKC puts between the figures of a fraction such as a half.
const FRACTION_SLASH: char = '\u{2044}';

/// The end of the word that begins at a byte of a text.
pub(super) fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    if let Some(end) = grouped_number(bytes, at) {
        return end;
    }
    let mut word: Option<Joins> = None;
    while let Some(letter) = letter_at(text, at) {
        let is_mark = letter.joins == Joins::Mark;
        if word.is_some_and(|before| !is_mark && !letter.joins.continues(before)) {
            return at;
        }
        if !is_mark {
            word = Some(letter.joins);
        }
        at += letter.width;
        if word != Some(Joins::Run) {
            continue;
        }
        // Most letters of most texts.
        let ascii = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric());
        at += ascii.count();
        if letter_at(text, at).is_none() {
            let mark = apostrophe(&bytes[at..]);
            let behind = letter_at(text, at + mark);
            if mark == 0 || behind.is_none_or(|letter| letter.joins != Joins::Run) {
                return at;
            }
            at += mark;
        }
    }
    at
}

/// Whether the word that begins at a byte of a text is this one.
pub(super) fn is_word(text: &str, at: usize, word: &str) -> bool {
    let rest = &text.as_bytes()[at..];
    if let Some((letters, behind)) = rest.split_at_checked(word.len())
        && word.is_ascii()
        && letters.is_ascii()
        && behind.first().is_none_or(ends_word)
    {
        return letters.eq_ignore_ascii_case(word.as_bytes());
    }
    let mut letters = String::new();
    push_word(text, at, &mut letters);
    letters == word
}

/// Whether every word ends before such a byte.
pub(super) fn ends_word(byte: &u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"',".contains(byte)
}

/// The width of the character that begins here.
fn width_at(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        0..0x80 => 1,
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// The width of an apostrophe at the beginning; 0 without one.
fn apostrophe(bytes: &[u8]) -> usize {
    match bytes {
        [b'\'', ..] => 1,
        [0xE2, 0x80, 0x99, ..] | [0xEF, 0xBC, 0x87, ..] => 3,
        _ => 0,
    }
}

/// The end of a number like 12,345,678 that begins here, if there is one.
fn grouped_number(bytes: &[u8], at: usize) -> Option<usize> {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = (0..4).take_while(|i| is_digit(at + i)).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    let (mut end, mut found) = (at + digits, None);
    while bytes.get(end) == Some(&b',') && (1..=3).all(|i| is_digit(end + i)) {
        end += 4;
        if !is_digit(end) {
            found = Some(end);
        }
    }
    found
}

/// A part of a text that stands for something else.
#[derive(Debug)]
struct Escape {
    /// Where its value begins in the plain text, and its bytes.
    plain: usize,
    len: usize,
    /// Its bytes in the text.
    span: Range<usize>,
}

/// A text without escapes. Its memory is used again from text to text.
#[derive(Debug, Default)]
pub(super) struct PlainText {
    plain: String,
    escapes: Vec<Escape>,
}

impl PlainText {
    /// The text without escapes: itself if it has none.
    pub(super) fn read<'a>(&'a mut self, text: &'a str) -> &'a str {
        let bytes = text.as_bytes();
        self.plain.clear();
        self.escapes.clear();
        let mut last = 0;
        for at in memchr::memchr3_iter(b'&', b'\\', b'<', bytes) {
            if at < last {
                continue;
            }
            let escape = match bytes[at] {
                b'&' => entity(&text[at..]),
                b'<' => tag(&bytes[at..]).map(|tag| (tag.value().into(), tag.len)),
                _ => escape(&text[at..]).map(|(c, len)| (String::from(c).into(), len)),
            };
            let Some((value, len)) = escape else {
                continue;
            };
            self.plain.push_str(&text[last..at]);
            self.escapes.push(Escape {
                plain: self.plain.len(),
                len: value.len(),
                span: at..at + len,
            });
            self.plain.push_str(&value);
            last = at + len;
        }
        if !self.escapes.is_empty() {
            self.plain.push_str(&text[last..]);
        }
        self.plain(text)
    }

    /// The text that was read last, without escapes.
    pub(super) fn plain<'a>(&'a self, text: &'a str) -> &'a str {
        if self.escapes.is_empty() {
            text
        } else {
            &self.plain
        }
    }

    /// The bytes of the text that bytes of the plain text stand for.
    pub(super) fn original(&self, plain: Range<usize>) -> Range<usize> {
        self.byte(plain.start).start..self.byte(plain.end - 1).end
    }

    /// The bytes of the text that a byte of the plain text stands for.
    fn byte(&self, at: usize) -> Range<usize> {
        let before = self.escapes.partition_point(|escape| escape.plain <= at);
        let Some(escape) = before.checked_sub(1).map(|last| &self.escapes[last]) else {
            return at..at + 1;
        };
        match at - escape.plain {
            within if within < escape.len => escape.span.clone(),
            behind => {
                let at = escape.span.end + behind - escape.len;
                at..at + 1
            }
        }
    }
}

/// The value of an HTML entity at the beginning, and its bytes.
fn entity(text: &str) -> Option<(Cow<'_, str>, usize)> {
    const LONGEST: usize = 10;
    let inner = text.as_bytes()[1..].iter().take(LONGEST);
    let len = 2 + inner
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#')
        .count();
    let entity = text.get(..len).filter(|entity| entity.ends_with(';'))?;
    let value = html_escape::decode_html_entities(entity);
    (value != entity).then_some((value, len))
}

/// The value of what a backslash begins, and its bytes.
fn escape(text: &str) -> Option<(char, usize)> {
    latex_sign(text).or_else(|| json_escape(text))
}

/// The sign that a command of LaTeX stands for, and its bytes. Within JSON it has two backslashes.
fn latex_sign(text: &str) -> Option<(char, usize)> {
    let backslashes = text.bytes().take(3).take_while(|byte| *byte == b'\\');
    let backslashes = backslashes.count();
    if backslashes > 2 {
        return None;
    }
    let command = &text[backslashes..];
    let letters = command.bytes().take_while(u8::is_ascii_alphabetic).count();
    let sign = match &command[..letters] {
        "times" | "cdot" | "ast" => '×',
        "div" => '÷',
        "le" | "leq" | "leqslant" => '≤',
        "ge" | "geq" | "geqslant" => '≥',
        "ne" | "neq" => '≠',
        "pm" => '±',
        _ => return None,
    };
    Some((sign, backslashes + letters))
}

/// The value of an escape of JSON at the beginning, and its bytes. The commands of LaTeX that begin alike are none.
fn json_escape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().get(1)? {
        b'u' => {
            let digits = text.get(2..6)?;
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let code = u32::from_str_radix(digits, 16).ok()?;
            Some((
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            ))
        }
        byte @ (b'"' | b'\\' | b'/') => Some(((*byte).into(), 2)),
        byte @ (b'n' | b'r' | b't') if !is_latex(&text[2..]) => {
            Some((if *byte == b'n' { '\n' } else { ' ' }, 2))
        }
        _ => None,
    }
}

/// Whether a command of LaTeX goes on so after its first letter n, r or t.
fn is_latex(rest: &str) -> bool {
    const RESTS: &[&str] = &[
        "eq", "e", "u", "abla", "ot", "eg", "i", "exists", "heta", "imes", "au", "o", "an", "ho",
        "angle", "floor", "ceil", "frac", "sum",
    ];
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let word = &rest[..end.unwrap_or(rest.len())];
    const BEGINNINGS: &[&str] = &["ext", "riangle", "ight"];
    RESTS.contains(&word) || BEGINNINGS.iter().any(|it| word.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Words::read(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        for (text, expected) in [
            ("Don't pay $1,000.50!", "dont pay 1000 50"),
            ("Janet’s 12,345,678 ducks'", "janets 12345678 ducks"),
            ("1,0000 1234,567 a1,000", "1 0000 1234 567 a1 000"),
            ("snake_case ÉTÉ", "snake case été"),
            (
                "a&amp;b &lt;p&gt; c&#x27;s &rsquo; caf&eacute;",
                "a b p cs café",
            ),
            ("x<br/>y</ p>z<td >w", "x y p z w"),
            (
                r#"<P>Which <b>of</b> <a href="x.html?a>b" class=c>these</a><SPAN STYLE='x'> is <img src=i.png />not</Span>?"#,
                "which of these is not",
            ),
            ("if a <b and b> c, x<y>z", "if a b and b c x y z"),
            (r#"one\ntwo \"three\" \u00e9t\u00e9"#, "one two three été"),
            (
                r"\nabla \text{x} \theta \right \rightarrow",
                "nabla text x theta right rightarrow",
            ),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn spans_are_bytes_of_the_text_as_it_is() {
        let text = r"caf&eacute; &amp; d\u00e9j\u00e0<br>vu l’été";
        let words = Words::read(text);
        let spans: Vec<&str> = (0..words.len()).map(|i| &text[words.span(i)]).collect();
        assert_eq!(spans, ["caf&eacute;", r"d\u00e9j\u00e0", "vu", "l’été"]);
    }

    proptest::proptest! {
        #[test]
        fn words_of_any_text_are_within_it(text in r#"[a-cA-C1é&;#x\\nu"'’,.<>/br \n_]{0,40}"#) {
            let words = Words::read(&text);
            let mut end = 0;
            for i in 0..words.len() {
                let span = words.span(i);
                assert!(end <= span.start && span.start < span.end && text.is_char_boundary(span.start));
                assert!(text.is_char_boundary(span.end));
                assert!(words.word(i).chars().all(char::is_alphanumeric) && !words.word(i).is_empty());
                end = span.end;
            }
        }

        #[test]
        fn words_are_compared_in_place(text in "[aAbé1İﬃⅢ\u{307}’',. -]{0,30}") {
            let words = Words::read_plain(&text);
            for i in 0..words.len() {
                let span = words.span(i);
                assert_eq!(word_end(&text, span.start), span.end);
                for other in words.iter().chain(["a", "1", "1000", "i\u{307}", "ffi", "iii"]) {
                    assert_eq!(is_word(&text, span.start, other), words.word(i) == other);
                }
            }
        }
    }
}
