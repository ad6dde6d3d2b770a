//! Cuts streams into chunks of whole records: lines, records of CSV, or elements of a JSON array.
//!
//! **Threads take turns at cutting, and parse at the same time.** A cutter finds where records end without parsing
//! them, so that a chunk of 1 MiB holds whole records and memory is bounded. csv-core and serde_json then parse each
//! record on its own: if cutter and parser disagreed on where a record ends, that one record would be bad, and the
//! others would keep their boundaries. One parser for the whole stream was rejected: it runs on one core.
//!
//! **A file that cannot be cut is never skipped**: a quote that does not end, or that a later line's quote ends, with
//! text behind it; a JSON array without its end; another encoding. `on_bad_record=skip` would lose the rest of the
//! file, or many lines, as one record.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Contents, RecordSpans};
use super::csv::Header;
use super::fields::Wanted;
use super::format::{BYTE_ORDER_MARK, Separators};
use super::jsonl::newlines;
use super::refusal::Refusal;

/// Finds where the records of a stream end. A reader passes the bytes of the stream in a buffer that grows;
/// [`Cutter::contents`] takes its start away.
pub(super) trait Cutter {
    /// Scans `bytes[from..]`; the bytes before were scanned by earlier calls. Returns the end of the last whole
    /// record found by this call.
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal>;

    /// Ends the stream after `bytes`, or says what is missing.
    fn end(&mut self, bytes: &[u8]) -> Result<(), Refusal>;

    /// The records of the start of the buffer, which ends with a record or with the stream; `None` if it has
    /// none.
    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal>;
}

/// Cuts after newlines.
pub(super) struct LineCutter {
    first_number: u64,
}

impl LineCutter {
    pub(super) fn new() -> Self {
        LineCutter { first_number: 1 }
    }
}

impl Cutter for LineCutter {
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal> {
        Ok(memchr::memrchr(b'\n', &bytes[from..]).map(|newline| from + newline + 1))
    }

    fn end(&mut self, _: &[u8]) -> Result<(), Refusal> {
        Ok(())
    }

    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal> {
        let first_number = self.first_number;
        self.first_number += newlines(&bytes);
        Ok((!bytes.is_empty()).then_some(Contents::Lines {
            bytes,
            first_number,
        }))
    }
}

/// Cuts a CSV file between records, like [`csv_core`]: a quote opens a quoted field only at the start of the
/// field.
///
/// Text after the closing quote of a field shows that a quote is missing, or not doubled. If the field is within one
/// line, the record ends with that line, and is bad. If it is not, the lines in it may be records, and the file cannot
/// be cut.
pub(super) struct CsvCutter<'a> {
    separators: Separators,
    state: CsvState,
    /// The start of the current record, and the whole ones.
    start: usize,
    spans: Vec<Range<usize>>,
    line: u64,
    header: Option<Arc<Header>>,
    wanted: Wanted<'a>,
    is_at_start: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CsvState {
    /// Between records.
    Start,
    FieldStart,
    Field,
    Quoted,
    /// After a quote in a quoted field: the end of the quoted part, or the first of two quotes.
    Quote,
    /// After text that follows a closing quote.
    Misquoted,
    /// After a carriage return outside of quotes, which ends the record alone or with a newline.
    Return,
}

impl<'a> CsvCutter<'a> {
    /// Looks for the wanted columns in the header.
    pub(super) fn new(separators: Separators, wanted: Wanted<'a>) -> Self {
        CsvCutter {
            separators,
            state: CsvState::Start,
            start: 0,
            spans: Vec::new(),
            line: 1,
            header: None,
            wanted,
            is_at_start: true,
        }
    }

    /// The state after a byte that ends a field or not.
    fn after(&self, byte: u8, other: CsvState) -> CsvState {
        match byte {
            b'\n' => CsvState::Start,
            b'\r' => CsvState::Return,
            byte if byte == self.separators.delimiter => CsvState::FieldStart,
            _ => other,
        }
    }

    /// Where records begin: at the start of a file, after its byte order mark.
    fn after_mark(&mut self, bytes: &[u8], from: usize) -> usize {
        let is_at_start = std::mem::take(&mut self.is_at_start);
        match is_at_start && bytes.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len(),
            false => from,
        }
    }

    fn finish(&mut self, end: usize) {
        self.spans.push(self.start..end);
        self.state = CsvState::Start;
    }

    /// The state after text that follows a closing quote, if the quotes are those of one line.
    fn misquoted(&self, bytes: &[u8], at: usize) -> Result<CsvState, Refusal> {
        let record = &bytes[self.start..at];
        if memchr::memchr(b'\n', record).is_none() {
            return Ok(CsvState::Misquoted);
        }
        let line = self.line + newlines(&bytes[..self.start]);
        Err(misquoted(&format!(
            "the record that starts on line {line} has text after a closing quote on line {}",
            line + newlines(record)
        )))
    }
}

/// The refusal of a file whose quotes are wrong.
fn misquoted(problem: &str) -> Refusal {
    let remedy = "close each quote where its field ends, and double the quotes in a quoted field";
    Refusal::new(problem, remedy)
}

impl Cutter for CsvCutter<'_> {
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal> {
        let Separators { delimiter, quote } = self.separators;
        let known = self.spans.len();
        let mut at = self.after_mark(bytes, from);
        while let Some(byte) = bytes.get(at).copied() {
            let state = match self.state {
                CsvState::Start if matches!(byte, b'\r' | b'\n') => {
                    at += 1;
                    continue;
                }
                CsvState::Start => {
                    self.start = at;
                    self.state = CsvState::FieldStart;
                    continue;
                }
                CsvState::FieldStart if Some(byte) == quote => CsvState::Quoted,
                CsvState::FieldStart => self.after(byte, CsvState::Field),
                CsvState::Field => {
                    let Some(end) = memchr::memchr3(delimiter, b'\n', b'\r', &bytes[at..]) else {
                        break;
                    };
                    at += end;
                    self.after(bytes[at], CsvState::Field)
                }
                CsvState::Quoted => {
                    // A quoted field began with a quote.
                    let end = quote.and_then(|quote| memchr::memchr(quote, &bytes[at..]));
                    let Some(end) = end else {
                        break;
                    };
                    at += end;
                    CsvState::Quote
                }
                CsvState::Quote if Some(byte) == quote => CsvState::Quoted,
                CsvState::Quote => match self.after(byte, CsvState::Misquoted) {
                    CsvState::Misquoted => self.misquoted(bytes, at)?,
                    state => state,
                },
                CsvState::Misquoted => {
                    let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) else {
                        break;
                    };
                    at += end;
                    self.after(bytes[at], CsvState::Misquoted)
                }
                CsvState::Return => {
                    at += usize::from(byte == b'\n');
                    self.finish(at);
                    continue;
                }
            };
            at += 1;
            match state {
                CsvState::Start => self.finish(at),
                state => self.state = state,
            }
        }
        let new = self.spans.get(known..).and_then(<[_]>::last);
        Ok(new.map(|span| span.end))
    }

    fn end(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        match self.state {
            CsvState::Start => Ok(()),
            CsvState::Quoted => {
                let line = self.line + newlines(&bytes[..self.start]);
                Err(misquoted(&format!(
                    "the record that starts on line {line} opens a quote that is never closed"
                )))
            }
            _ => {
                self.finish(bytes.len());
                Ok(())
            }
        }
    }

    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal> {
        self.start = self.start.saturating_sub(bytes.len());
        let mut spans = std::mem::take(&mut self.spans);
        let first_line = self.line;
        self.line += newlines(&bytes);
        let header = match &self.header {
            Some(header) => header,
            None if spans.is_empty() => return Ok(None),
            None => {
                let header = Header::read(&bytes, spans.remove(0), self.separators, self.wanted)?;
                self.header.insert(Arc::new(header))
            }
        };
        Ok((!spans.is_empty()).then(|| {
            Contents::Records(RecordSpans {
                bytes,
                spans,
                first_line,
                header: Some(Arc::clone(header)),
            })
        }))
    }
}

/// Cuts a JSON array between its elements.
pub(super) struct ArrayCutter {
    state: ArrayState,
    /// Open brackets within the current element.
    depth: u64,
    /// The start of the current element, and the whole ones.
    start: Option<usize>,
    spans: Vec<Range<usize>>,
    has_elements: bool,
    line: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayState {
    /// Before the array.
    Before,
    /// Between strings.
    Inside,
    Text,
    /// After a backslash in a string.
    Escape,
    /// After the array.
    After,
}

impl ArrayCutter {
    pub(super) fn new() -> Self {
        ArrayCutter {
            state: ArrayState::Before,
            depth: 0,
            start: None,
            spans: Vec::new(),
            has_elements: false,
            line: 1,
        }
    }

    /// Ends an element before `end`, where a comma or the end of the array is.
    fn finish(&mut self, bytes: &[u8], end: usize) -> Result<(), Refusal> {
        let is_last = bytes[end] == b']';
        match self.start.take() {
            Some(start) => {
                let element = bytes[start..end].trim_ascii_end();
                self.spans.push(start..start + element.len());
                self.has_elements = true;
                Ok(())
            }
            None if is_last && !self.has_elements => Ok(()),
            None => Err(not_an_array(format!(
                "line {}: a comma in the JSON array has no element {}",
                self.line_at(bytes, end),
                if is_last { "after it" } else { "before it" }
            ))),
        }
    }

    fn line_at(&self, bytes: &[u8], at: usize) -> u64 {
        self.line + newlines(&bytes[..at])
    }

    /// Notes a character of the array outside of strings. Returns whether an element ends.
    fn inside(&mut self, bytes: &[u8], at: usize) -> Result<bool, Refusal> {
        let byte = bytes[at];
        if self.depth == 0 && matches!(byte, b',' | b']') {
            self.finish(bytes, at)?;
            if byte == b']' {
                self.state = ArrayState::After;
            }
            return Ok(true);
        }
        if byte.is_ascii_whitespace() {
            return Ok(false);
        }
        self.start.get_or_insert(at);
        match byte {
            b'"' => self.state = ArrayState::Text,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok(false)
    }
}

/// The refusal of a file that is not one JSON array.
fn not_an_array(problem: impl Into<String>) -> Refusal {
    Refusal::new(problem, "correct the file")
}

impl Cutter for ArrayCutter {
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal> {
        let mut at = from;
        let mut cut = None;
        while at < bytes.len() {
            match self.state {
                ArrayState::Before => {
                    if bytes[at] == b'[' {
                        self.state = ArrayState::Inside;
                    }
                }
                ArrayState::Inside => {
                    if self.inside(bytes, at)? {
                        cut = Some(at + 1);
                    }
                }
                ArrayState::Text => {
                    let special = memchr::memchr2(b'"', b'\\', &bytes[at..]);
                    at += special.unwrap_or(bytes.len() - at);
                    self.state = match bytes.get(at) {
                        Some(b'"') => ArrayState::Inside,
                        Some(_) => ArrayState::Escape,
                        None => break,
                    };
                }
                ArrayState::Escape => self.state = ArrayState::Text,
                ArrayState::After => {
                    if !bytes[at].is_ascii_whitespace() {
                        let line = self.line_at(bytes, at);
                        return Err(not_an_array(format!(
                            "line {line}: text follows the end of the JSON array"
                        )));
                    }
                }
            }
            at += 1;
        }
        Ok(cut)
    }

    fn end(&mut self, _: &[u8]) -> Result<(), Refusal> {
        match self.state {
            ArrayState::After => Ok(()),
            _ => Err(not_an_array(
                "the JSON array is cut off: its last bracket is missing",
            )),
        }
    }

    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal> {
        self.start = self.start.map(|start| start.saturating_sub(bytes.len()));
        let spans = std::mem::take(&mut self.spans);
        let first_line = self.line;
        self.line += newlines(&bytes);
        Ok(
            (!spans.is_empty()).then_some(Contents::Records(RecordSpans {
                bytes,
                spans,
                first_line,
                header: None,
            })),
        )
    }
}
