//! Texts without the escapes of their formats, and where each byte was.

use std::borrow::Cow;
use std::ops::Range;

use crate::markup::tag;

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
pub(crate) struct PlainText {
    plain: String,
    escapes: Vec<Escape>,
}

impl PlainText {
    /// The text without escapes: itself if it has none.
    pub(crate) fn read<'a>(&'a mut self, text: &'a str) -> &'a str {
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
    pub(crate) fn plain<'a>(&'a self, text: &'a str) -> &'a str {
        if self.escapes.is_empty() {
            text
        } else {
            &self.plain
        }
    }

    /// The bytes of the text that bytes of the plain text stand for.
    pub(crate) fn original(&self, plain: Range<usize>) -> Range<usize> {
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
