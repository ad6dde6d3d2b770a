//! JSON: splits bytes into lines and parses the fields of a record.
//!
//! **serde_json parses records.** It validates whole lines and decodes lone surrogates, which simd-json and sonic-rs
//! reject. sonic-rs skips values without checking their escapes and overflows its stack on deep nesting. serde
//! visitors decode 0.8 to 1.6 GB/s per core without an intermediate value, and parsing takes a seventh of the first
//! pass.

mod plain;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::absent_field::{joining, not_found};
use super::encoding::looks_like;
use super::fields::{FieldPath, Fields, WeightsField, push_joined};
use super::format::BYTE_ORDER_MARK;
use super::ids::Id;
use super::json::{decode, field, json_string, keys, kind, name_of};
use super::refusal::listed;
use plain::parse_plain;
use simgpu::documents::{DocumentBatch, TokenBatch};

/// A line that is not blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// The line number, from 1.
    pub(super) number: u64,
    /// The bytes of the line, with its terminator.
    pub(super) whole: &'a [u8],
    /// The bytes of the record, without surrounding white space.
    pub(super) record: &'a [u8],
}

/// The lines of `bytes` that are not blank. The first line of `bytes` has the number `first_number`.
pub(super) fn lines(bytes: &[u8], first_number: u64) -> impl Iterator<Item = Line<'_>> {
    let ends = memchr::memchr_iter(b'\n', bytes).map(|newline| newline + 1);
    let unterminated = (bytes.last() != Some(&b'\n')).then_some(bytes.len());
    let mut start = 0;
    let whole = ends.chain(unterminated).map(move |end| {
        let line = &bytes[start..end];
        start = end;
        line
    });
    (first_number..).zip(whole).filter_map(|(number, whole)| {
        let whole = match number {
            1 => whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole),
            _ => whole,
        };
        let record = whole.trim_ascii();
        (!record.is_empty()).then_some(Line {
            number,
            whole,
            record,
        })
    })
}

/// The number of newlines.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Appends the document of a record to `documents` and returns its id. Messages call the record `place`: a line, or an
/// element.
///
/// The last of repeated keys wins. A lone surrogate escape becomes U+FFFD.
pub(super) fn parse(
    record: &[u8],
    place: &str,
    fields: &Fields,
    documents: &mut DocumentBatch,
) -> Result<Id, String> {
    let record = utf_8(record, place)?;
    if let DocumentBatch::Texts(texts) = documents
        && let [content] = &fields.content[..]
        && let ([content], [id]) = (content.segments(), fields.id.segments())
        && let Some(id) = texts.push_with(|text| {
            let id = parse_plain(record, content, id, text)?;
            (id.is_some() || !fields.id_required).then_some(id)
        })
    {
        return Ok(id.map_or(Id::None, Id::Json));
    }
    parse_any(record, fields, documents)
}

/// A record as text. Messages call it `place`.
pub(super) fn utf_8<'a>(record: &'a [u8], place: &str) -> Result<&'a str, String> {
    std::str::from_utf8(record).map_err(|error| {
        let at = error.valid_up_to();
        format!(
            "invalid UTF-8 at byte {at} of the {place}{}",
            looks_like(record)
        )
    })
}

/// Parses any record, or says what is wrong with it.
fn parse_any(record: &str, fields: &Fields, documents: &mut DocumentBatch) -> Result<Id, String> {
    let mut content = Vec::with_capacity(fields.content.len());
    for path in &fields.content {
        let raw = field(record, path)?;
        content.push((path, raw));
    }
    let id = match field(record, &fields.id)? {
        None if fields.id_required => {
            return Err(not_found(record, "id field", &fields.id, "id_field"));
        }
        None | Some("null") => Id::None,
        Some(raw) if raw.starts_with('"') => Id::Json(json_string(&decode(raw)?)),
        // A number, as written.
        Some(raw) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Id::Json(raw.to_owned())
        }
        Some(raw) => Id::Unusable(kind(raw).to_owned()),
    };
    let id = id.checked(fields.id_required, &format!("id field \"{}\"", fields.id))?;
    match documents {
        DocumentBatch::Texts(texts) => {
            let text = joined(record, &content)?;
            texts.push(&text);
        }
        DocumentBatch::Tokens(tokens) => {
            let (path, array) = array_of(record, &content)?;
            push_tokens(path, array, tokens)?;
            tokens.finish_document();
        }
        DocumentBatch::Weighted(tokens) => {
            let Some(weights) = &fields.weights else {
                return Err("there is no field of weights".to_owned());
            };
            let (path, array) = array_of(record, &content)?;
            let numbers = weights_of(record, weights)?;
            tokens.push_with(&numbers, |tokens| push_tokens(path, array, tokens))?;
        }
    }
    Ok(id)
}

/// The one field of the content, which is an array.
fn array_of<'a>(
    record: &str,
    content: &[(&'a FieldPath, Option<&'a str>)],
) -> Result<(&'a FieldPath, &'a str), String> {
    match content.first() {
        Some((path, Some(raw))) if raw.starts_with('[') => Ok((path, raw)),
        Some((path, Some(raw))) => Err(format!(
            "field \"{path}\" is {}, not an array of strings or numbers",
            kind(raw)
        )),
        _ => Err(missing(record, content, "tokens_field")),
    }
}

/// The weights of the tokens of a record.
fn weights_of(record: &str, weights: &WeightsField) -> Result<Vec<f64>, String> {
    let path = &weights.path;
    let Some(raw) = field(record, path)? else {
        return Err(not_found(record, "field", path, "weights_field"));
    };
    if !raw.starts_with('[') {
        return Err(format!(
            "field \"{path}\" is {}, not an array of numbers",
            kind(raw)
        ));
    }
    let numbers: Vec<f64> = serde_json::from_str(raw)
        .map_err(|error| format!("field \"{path}\" holds other values than numbers ({error})"))?;
    weights.check(&numbers)?;
    Ok(numbers)
}

/// The text of the fields, which are JSON; joined, if there are several.
fn joined<'a>(
    record: &str,
    content: &[(&FieldPath, Option<&'a str>)],
) -> Result<Cow<'a, str>, String> {
    let decoded = |(path, raw): (&FieldPath, &'a str)| {
        if raw.starts_with('"') {
            decode(raw)
        } else {
            Err(format!(
                "field \"{path}\" is {}, not a string{}",
                kind(raw),
                joining(raw, path, "text_field")
            ))
        }
    };
    if let [(path, Some(raw))] = content
        && *raw != "null"
    {
        return decoded((path, raw));
    }
    let mut text = String::new();
    let mut has_text = false;
    for (path, raw) in content {
        if let Some(raw) = raw.filter(|raw| *raw != "null") {
            push_joined(&mut text, 0, &decoded((path, raw))?);
            has_text = true;
        }
    }
    if has_text {
        Ok(Cow::Owned(text))
    } else {
        Err(missing(record, content, "text_field"))
    }
}

/// Says that a record has no text.
fn missing(record: &str, content: &[(&FieldPath, Option<&str>)], parameter: &str) -> String {
    let names: Vec<String> = content
        .iter()
        .map(|(path, _)| format!("\"{path}\""))
        .collect();
    match content {
        [(_, Some(_))] => format!("field {} is null", names.join("")),
        [(path, _)] => not_found(record, "field", path, parameter),
        _ => format!(
            "the fields {} are missing or null; {}",
            names.join(" and "),
            listed("field", &keys(record).unwrap_or_default())
        ),
    }
}

/// Appends the tokens of an array to the current document, or abandons the document.
fn push_tokens(path: &FieldPath, array: &str, batch: &mut TokenBatch) -> Result<(), String> {
    let tokens: Vec<&RawValue> = serde_json::from_str(array).map_err(|error| error.to_string())?;
    for token in tokens {
        let token = token.get();
        if token.starts_with('"') {
            match decode(token) {
                Ok(token) => batch.push_token(token.as_bytes()),
                Err(problem) => {
                    batch.abandon_document();
                    return Err(problem);
                }
            }
        } else if token.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            batch.push_token(token.as_bytes());
        } else {
            batch.abandon_document();
            return Err(format!(
                "field \"{path}\" holds {} among its tokens, not only strings and numbers",
                kind(token)
            ));
        }
    }
    Ok(())
}

/// The value at a path as text: a string decoded, a number or a boolean as written. `None` if it is absent or
/// null.
pub(super) fn text_of_field(record: &[u8], path: &FieldPath) -> Result<Option<String>, String> {
    let value = value_of(raw_of_field(record, path)?, path, "")?;
    Ok(value.map(|(text, _)| text.into_owned()))
}

/// A value of a field as text, and whether it is a string. `None` if it is absent or null. `parameter` names the field.
pub(super) fn value_of<'a>(
    value: Option<&'a str>,
    path: &FieldPath,
    parameter: &str,
) -> Result<Option<(Cow<'a, str>, bool)>, String> {
    match value {
        None | Some("null") => Ok(None),
        Some(raw) if raw.starts_with('"') => Ok(Some((decode(raw)?, true))),
        Some(raw) if raw.starts_with(['{', '[']) => Err(format!(
            "field {:?} is {}, not a number, a date or a string{}",
            path.to_string(),
            kind(raw),
            joining(raw, path, parameter)
        )),
        Some(raw) => Ok(Some((raw.into(), false))),
    }
}

/// The value at a path as JSON; `None` if it is absent.
pub(super) fn raw_of_field<'a>(
    record: &'a [u8],
    path: &FieldPath,
) -> Result<Option<&'a str>, String> {
    field(utf_8(record, "record")?, path)
}

/// The members of an object with these names, as JSON, in one reading: the last of equal ones. `None` if it is no object or
/// invalid.
pub(super) fn members<'a>(record: &'a [u8], names: &[&str]) -> Option<Vec<Option<&'a str>>> {
    struct Members<'n>(&'n [&'n str]);
    impl<'de> Visitor<'de> for Members<'_> {
        type Value = Vec<Option<&'de str>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = vec![None; self.0.len()];
            while let Some(key) = map.next_key::<&RawValue>()? {
                let key = name_of(key);
                if self.0.iter().any(|name| *name == key) {
                    let value: &RawValue = map.next_value()?;
                    let named = self.0.iter().zip(&mut found);
                    named
                        .filter(|(name, _)| **name == key)
                        .for_each(|(_, found)| *found = Some(value.get()));
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    let record = std::str::from_utf8(record).ok()?;
    let mut deserializer = serde_json::Deserializer::from_str(record);
    let found = deserializer.deserialize_map(Members(names)).ok()?;
    deserializer.end().ok()?;
    Some(found)
}

#[cfg(test)]
mod tests;
