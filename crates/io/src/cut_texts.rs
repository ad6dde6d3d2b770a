//! Cuts parts out of the texts of records. All else of a record stays byte for byte: of JSON even the escapes of what is
//! left of a text.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::{BETWEEN_ELEMENTS, Chunk, Contents, Kept, RecordSpans, end_line};
use super::cut_rows::{check_columns, cut_rows};
use super::cuts::{Cuts, Fate, cuts_of_parts, push_without};
use super::fields::{FieldPath, Fields};
use super::format::{BYTE_ORDER_MARK, Format};
use super::json;
use super::jsonl;

impl Chunk {
    /// Refuses texts that cannot be cut. Rows of Parquet are read without their dictionaries when they are copied.
    ///
    /// # Errors
    /// Why they cannot.
    #[doc(hidden)]
    pub fn check_cut(&self, format: Format, fields: &Fields) -> Result<(), String> {
        match &self.contents {
            Contents::Rows { rows, .. } if format == Format::Arrow => check_columns(rows, fields),
            _ => Ok(()),
        }
    }

    /// Copies the records that are not dropped, with one fate per record, and cuts their texts.
    ///
    /// # Errors
    /// Why a text cannot be cut.
    #[doc(hidden)]
    pub fn cut(self: &Arc<Self>, fates: &[Fate<'_>], fields: &Fields) -> Result<Kept, String> {
        let keeps = || fates.iter().map(|fate| !matches!(fate, Fate::Drop));
        let is_whole = |fate: &Fate<'_>| !matches!(fate, Fate::Cut([_, ..]));
        if fates.iter().all(is_whole) {
            return self
                .kept(keeps().collect())
                .map_err(|error| error.to_string());
        }
        let mut cut = Vec::new();
        Ok(match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                for (fate, line) in fates.iter().zip(jsonl::lines(bytes, *first_number)) {
                    if let Fate::Cut(cuts) = fate {
                        cut_json(line.whole, fields, cuts, &mut cut)?;
                        end_line(&mut cut);
                    }
                }
                Kept::Lines(cut)
            }
            Contents::Records(records) => cut_records(records, fates, fields)?,
            Contents::Rows { rows, group, .. } => {
                let rows = cut_rows(rows, fates, fields)?;
                let keeps: Vec<bool> = keeps().collect();
                let rows = arrow_select::filter::filter_record_batch(&rows, &keeps.into());
                Kept::Rows(rows.map_err(|error| error.to_string())?, *group)
            }
            Contents::Text(bytes) => {
                if let Some(Fate::Cut(cuts)) = fates.first() {
                    let mark = if bytes.starts_with(BYTE_ORDER_MARK) {
                        BYTE_ORDER_MARK.len()
                    } else {
                        0
                    };
                    cut.extend_from_slice(&bytes[..mark]);
                    push_without(&bytes[mark..], cuts, &mut cut);
                }
                Kept::Text(cut)
            }
        })
    }
}

fn cut_records(records: &RecordSpans, fates: &[Fate<'_>], fields: &Fields) -> Result<Kept, String> {
    let mut cut = Vec::new();
    let mut parser = records.header.as_ref().map(|header| header.parser());
    for (fate, span) in fates.iter().zip(&records.spans) {
        let Fate::Cut(cuts) = fate else { continue };
        let record = &records.bytes[span.clone()];
        match (&records.header, &mut parser) {
            (Some(header), Some(parser)) => {
                match cuts {
                    [] => cut.extend_from_slice(record),
                    cuts => header.cut(record, parser, cuts, &mut cut)?,
                }
                end_line(&mut cut);
            }
            _ => {
                if !cut.is_empty() {
                    cut.extend_from_slice(BETWEEN_ELEMENTS);
                }
                cut_json(record, fields, cuts, &mut cut)?;
            }
        }
    }
    Ok(match &records.header {
        Some(header) => Kept::Csv(cut, Arc::clone(header)),
        None => Kept::Elements(cut),
    })
}

/// Appends a record of JSON without the cuts of its text.
fn cut_json(record: &[u8], fields: &Fields, cuts: &Cuts, left: &mut Vec<u8>) -> Result<(), String> {
    if cuts.is_empty() {
        left.extend_from_slice(record);
        return Ok(());
    }
    let text = std::str::from_utf8(record).map_err(|error| error.to_string())?;
    let trimmed = text.trim_ascii();
    let mut literals: Vec<Range<usize>> = Vec::new();
    for path in &fields.content {
        if let Some(literal) = string_at(trimmed, path)? {
            let start = literal.as_ptr().addr() - text.as_ptr().addr();
            literals.push(start..start + literal.len());
        }
    }
    let cuts = match &*fields.content {
        // Whatever its length.
        [_] => vec![cuts.to_vec()],
        _ => {
            let length = |literal: &Range<usize>| Ok(json::decode(&text[literal.clone()])?.len());
            let lengths: Vec<usize> = literals.iter().map(length).collect::<Result<_, String>>()?;
            cuts_of_parts(cuts, lengths.into_iter())
        }
    };
    let mut parts: Vec<_> = literals.into_iter().zip(cuts).collect();
    parts.sort_by_key(|(literal, _)| literal.start);
    let mut from = 0;
    for (literal, cuts) in parts {
        left.extend_from_slice(&record[from..literal.start]);
        cut_literal(&text[literal.clone()], &cuts, left);
        from = literal.end;
    }
    left.extend_from_slice(&record[from..]);
    Ok(())
}

/// The string at a path, as it is written; `None` if there is none.
fn string_at<'a>(record: &'a str, path: &FieldPath) -> Result<Option<&'a str>, String> {
    let found = json::field(record, path)?;
    Ok(found.filter(|raw| raw.starts_with('"')))
}

/// A character of a JSON string: its bytes as it is written and as text, and whether it is a lone surrogate, the first of a
/// pair or the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    bytes: usize,
    text: usize,
    lone: Option<Half>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// The first character of what is left of a JSON string.
fn first_written(rest: &str) -> Written {
    let bytes = rest.as_bytes();
    let plain = |bytes, text| Written {
        bytes,
        text,
        lone: None,
    };
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match (bytes.first(), unit(0)) {
        (Some(b'\\'), Some(first @ 0xD800..0xE000)) => {
            let is_first = first < 0xDC00;
            match unit(6) {
                Some(0xDC00..0xE000) if is_first => plain(12, 4),
                _ => Written {
                    bytes: 6,
                    text: 3,
                    lone: Some(if is_first { Half::First } else { Half::Second }),
                },
            }
        }
        (Some(b'\\'), Some(code)) => plain(6, char::from_u32(code).map_or(3, char::len_utf8)),
        (Some(b'\\'), None) => plain(2.min(rest.len()), 1),
        _ => {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            plain(len, len)
        }
    }
}

/// Appends a JSON string without the cuts of its text. Two halves of a pair that come together stay two characters.
fn cut_literal(literal: &str, cuts: &Cuts, left: &mut Vec<u8>) {
    let inner = literal.len() - 1;
    left.push(b'"');
    let (mut at, mut text) = (1, 0);
    let mut cuts = cuts.iter().peekable();
    let mut before = None;
    while at < inner {
        // Up to the next escape, text is written as it is.
        let plain = &literal.as_bytes()[at..inner];
        let plain = &plain[..memchr::memchr(b'\\', plain).unwrap_or(plain.len())];
        let end = text + plain.len();
        let mut next = text;
        while next < end {
            while cuts.next_if(|cut| cut[1] as usize <= next).is_some() {}
            let within = |cut: &&[u32; 2]| cut.map(|at| (at as usize).clamp(next, end));
            let [from, to] = cuts.peek().map_or([end; 2], within);
            if next < from {
                left.extend_from_slice(&plain[next - text..from - text]);
                before = None;
            }
            next = to;
        }
        (at, text) = (at + plain.len(), end);
        if at == inner {
            break;
        }
        let Written {
            bytes,
            text: len,
            lone,
        } = first_written(&literal[at..inner]);
        while cuts.next_if(|cut| cut[1] as usize <= text).is_some() {}
        if cuts.peek().is_none_or(|cut| text < cut[0] as usize) {
            match (before, lone) {
                (Some(Half::First), Some(Half::Second)) => left.extend_from_slice(b"\\ufffd"),
                _ => left.extend_from_slice(&literal.as_bytes()[at..at + bytes]),
            }
            before = lone;
        }
        at += bytes;
        text += len;
    }
    left.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text without the cuts.
    fn without(text: &str, cuts: &Cuts) -> String {
        let mut left = Vec::new();
        push_without(text.as_bytes(), cuts, &mut left);
        String::from_utf8(left).unwrap()
    }

    /// Cuts at borders of characters, from random numbers.
    fn cuts_of(text: &str, numbers: &[usize]) -> Vec<[u32; 2]> {
        let mut borders: Vec<u32> = numbers
            .iter()
            .map(|number| number % (text.len() + 1))
            .filter(|at| text.is_char_boundary(*at))
            .map(|at| u32::try_from(at).unwrap())
            .collect();
        borders.sort_unstable();
        borders.dedup();
        borders
            .chunks_exact(2)
            .map(|pair| [pair[0], pair[1]])
            .collect()
    }

    const PARTS: &[&str] = &[
        "a",
        "b ",
        "é",
        "\u{1F600}",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\u20AC",
        "\\uD83D\\uDE00",
        "\\ud83d",
        "\\ude00",
        "\\u0000",
        "\u{2028}",
    ];

    proptest! {
        #[test]
        fn only_the_text_of_a_record_changes(
            parts in prop::collection::vec(prop::sample::select(PARTS), 0..40),
            others in prop::collection::vec(prop::sample::select(PARTS), 0..10),
            numbers in prop::collection::vec(0..1_000_usize, 0..12),
        ) {
            let literal = format!("\"{}\"", parts.concat());
            let other = format!("\"{}\"", others.concat());
            let text = json::decode(&literal).unwrap().into_owned();
            let cuts = cuts_of(&text, &numbers);
            let fields = Fields { content: vec![FieldPath::new("a.text")], ..Fields::default() };
            let record = format!(" {{\"x\": {other}, \"a\" : {{ \"text\":{literal} , \"y\":1.0}},\"z\": {other}}}\r\n");
            let mut cut = Vec::new();
            cut_json(record.as_bytes(), &fields, &cuts, &mut cut).unwrap();
            let cut = String::from_utf8(cut).unwrap();
            let (before, after) = record.split_once(&format!("\"text\":{literal} ,")).unwrap();
            prop_assert!(cut.starts_with(before) && cut.ends_with(after), "{}", cut);
            let path = FieldPath::new("a.text");
            let left = string_at(cut.trim_ascii(), &path).unwrap().unwrap();
            prop_assert_eq!(json::decode(left).unwrap(), without(&text, &cuts));
        }
    }

    #[test]
    fn cuts_of_joined_fields_are_those_of_each() {
        let cuts = [[0, 2], [3, 5], [6, 9]];
        // "abc", "", "defg": joined to "abc\ndefg".
        let parts = cuts_of_parts(&cuts, [3, 0, 4].into_iter());
        assert_eq!(parts, [vec![[0, 2]], vec![], vec![[0, 1], [2, 4]]]);
        let fields = Fields {
            content: vec![
                FieldPath::new("b"),
                FieldPath::new("none"),
                FieldPath::new("a"),
            ],
            ..Fields::default()
        };
        let mut cut = Vec::new();
        let record = br#"{"a": "defg", "none": null, "b": "abc"}"#;
        cut_json(record, &fields, &[[0, 2], [6, 8]], &mut cut).unwrap();
        assert_eq!(cut, br#"{"a": "de", "none": null, "b": "c"}"#);
    }

    #[test]
    fn chunks_lose_what_is_cut() {
        let cut = |contents, fates: &[Fate<'_>]| {
            let chunk = Arc::new(Chunk {
                file: 0,
                number: 0,
                contents,
            });
            let kept = chunk.cut(fates, &Fields::default()).unwrap();
            kept.parts().collect::<Vec<_>>().concat()
        };
        let lines = Contents::Lines {
            bytes: b"{\"text\": \"abc\"}\n\n{\"text\": \"d\"}\r\n{\"text\": \"ef\"}".to_vec(),
            first_number: 1,
        };
        let fates = [Fate::Cut(&[[1, 2]]), Fate::Drop, Fate::Cut(&[])];
        assert_eq!(
            cut(lines, &fates),
            b"{\"text\": \"ac\"}\n{\"text\": \"ef\"}\n"
        );
        let text = Contents::Text(b"\xEF\xBB\xBFabc".to_vec());
        assert_eq!(cut(text, &[Fate::Cut(&[[0, 1]])]), b"\xEF\xBB\xBFbc");
    }
}
