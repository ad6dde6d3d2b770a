//! JSON as it is written: the members of an object without a parsed copy, and strings.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::FieldPath;
use simgpu_base::encoding::{NUL_BYTES, OPEN_LINE};

/// A string as JSON.
#[doc(hidden)]
pub fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The names of the members of an object.
pub(super) fn keys(object: &str) -> serde_json::Result<Vec<String>> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, _)) = map.next_entry::<&RawValue, IgnoredAny>()? {
                keys.extend(decode(key.get()).map(Cow::into_owned));
            }
            Ok(keys)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(Keys)
}

pub(super) fn kind(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The JSON of the value at the path; `None` if it is missing.
pub(super) fn field<'a>(record: &'a str, path: &FieldPath) -> Result<Option<&'a str>, String> {
    let mut value = record;
    for segment in path.segments() {
        if !value.trim_start().starts_with('{') {
            // A record that is not an object must still be valid JSON.
            let valid = serde_json::from_str::<IgnoredAny>(value);
            let valid = valid.map_err(|error| invalid_json(value, &error));
            if value.len() == record.len() {
                let hint = if value.trim_start().starts_with('[') {
                    "; a file that is one JSON array must end in .json"
                } else {
                    ""
                };
                return Err(match valid {
                    Ok(_) => format!("the record is {}, not an object{hint}", kind(value)),
                    Err(problem) => format!("{problem}{hint}"),
                });
            }
            valid?;
            return Ok(None);
        }
        match member(value, segment).map_err(|error| invalid_json(value, &error))? {
            Some(inner) => value = inner.get(),
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

pub(super) fn invalid_json(text: &str, error: &serde_json::Error) -> String {
    if text.contains('\0') && text.chars().all(|c| c == '\0' || c.is_whitespace()) {
        return format!(
            "the line holds, as where the program that wrote it crashed, nothing but{NUL_BYTES}"
        );
    }
    // Of a record of several lines, the first one ends too early; so does a file that was cut off.
    let line = text.trim();
    let is_open = line.starts_with('{') && line.ends_with(['{', '[', ',', ':']);
    let ends_in_string = || error.to_string().starts_with("EOF while parsing a string");
    if error.is_eof() && (line == "[" || is_open) && !ends_in_string() {
        return OPEN_LINE.to_owned();
    }
    let has_zeros = text.starts_with('\0') || text.ends_with('\0');
    if has_zeros && serde_json::from_str::<IgnoredAny>(text.trim_matches('\0')).is_ok() {
        return format!("before or after the record are{NUL_BYTES}");
    }
    // The first control character may be another.
    if let Some(at) = text.find('\0')
        && error.to_string().starts_with("control character")
        && (error.line(), error.column().abs_diff(at + 1)) <= (1, 1)
    {
        return format!("at column {}, the record holds{NUL_BYTES}", at + 1);
    }
    if error.is_eof() && ends_in_string() {
        return "invalid JSON: the line ends within a string; if the next line continues it, the line break must be written \\n; if not, the \
                record is cut off"
            .to_owned();
    }
    let problem = foreign_value(text, error).unwrap_or_else(|| error.to_string());
    // A record is one line, so the line number says nothing.
    let problem = problem.replace(" at line 1 column ", " at column ");
    format!("invalid JSON: {problem}")
}

/// What other programs write that JSON does not have, where parsing failed.
fn foreign_value(text: &str, error: &serde_json::Error) -> Option<String> {
    if error.is_eof() {
        return None;
    }
    let before = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let line = before.map(str::len).sum::<usize>();
    let failed = (line + error.column().saturating_sub(1)).min(text.len());
    let failed = (0..=failed).rev().find(|at| text.is_char_boundary(*at))?;
    let is_of_word = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '+' | MARK);
    let start = text[..failed].trim_end_matches(is_of_word).len();
    // Where a value begins, and not within a string.
    let before = text[..start].trim_end().chars().next_back();
    if before.is_some_and(|it| !matches!(it, ':' | ',' | '[' | '{')) {
        return None;
    }
    let column = start.saturating_sub(line) + 1;
    let found = &text[start..];
    let place = format!(" at line {} column {column}", error.line());
    let numbers = ["NaN", "Infinity", "-Infinity"];
    if let Some(number) = numbers.iter().find(|number| found.starts_with(**number)) {
        return Some(format!(
            "{number}{place} is no number of JSON; write null in its place"
        ));
    }
    found.starts_with(MARK).then(|| {
        format!("there is a byte order mark{place}, as where files were joined; remove the mark")
    })
}

const MARK: char = '\u{FEFF}';

/// The last member called `name` in an object.
pub(super) fn member<'a>(object: &'a str, name: &str) -> serde_json::Result<Option<&'a RawValue>> {
    struct Member<'n>(&'n str);
    impl<'de> Visitor<'de> for Member<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<&RawValue>()? {
                if name_of(key) == self.0 {
                    found = Some(map.next_value()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(object);
    let found = deserializer.deserialize_map(Member(name))?;
    deserializer.end()?;
    Ok(found)
}

/// The name that a key of an object writes. Nearly no key has an escape; one that is no text names nothing that is asked for.
pub(super) fn name_of(key: &RawValue) -> Cow<'_, str> {
    let written = key.get();
    if written.contains('\\') {
        decode(written).unwrap_or(Cow::Borrowed(written))
    } else {
        Cow::Borrowed(&written[1..written.len() - 1])
    }
}

/// The text of a JSON string, with U+FFFD for each lone surrogate.
pub(super) fn decode(literal: &str) -> Result<Cow<'_, str>, String> {
    struct Bytes;
    impl<'de> Visitor<'de> for Bytes {
        type Value = Cow<'de, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(replace_surrogates(Cow::Borrowed(bytes)))
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok(replace_surrogates(Cow::Owned(bytes.to_owned())))
        }
    }
    serde_json::Deserializer::from_str(literal)
        .deserialize_bytes(Bytes)
        .map_err(|error| invalid_json(literal, &error))
}

/// Replaces each lone surrogate, which serde_json decodes to three bytes of invalid UTF-8, by U+FFFD.
fn replace_surrogates(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    let bytes = match bytes {
        Cow::Borrowed(borrowed) => match std::str::from_utf8(borrowed) {
            Ok(text) => return Cow::Borrowed(text),
            Err(_) => borrowed.to_owned(),
        },
        Cow::Owned(owned) => match String::from_utf8(owned) {
            Ok(text) => return Cow::Owned(text),
            Err(error) => error.into_bytes(),
        },
    };
    let mut repaired = bytes;
    for i in 0..repaired.len().saturating_sub(2) {
        if let [0xED, 0xA0..=0xBF, 0x80..=0xBF] = repaired[i..i + 3] {
            repaired[i..i + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    Cow::Owned(String::from_utf8_lossy(&repaired).into_owned())
}
