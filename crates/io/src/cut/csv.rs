//! Cuts CSV.

use std::ops::Range;
use std::sync::Arc;

use super::Cutter;
use crate::chunk::{Contents, RecordSpans};
use crate::csv::Header;
use crate::fields::Wanted;
use crate::format::{BYTE_ORDER_MARK, Separators};
use crate::jsonl::newlines;
use crate::refusal::Refusal;

/// Cuts a CSV file between records, like [`csv_core`]: a quote opens a quoted field only at the start of the
/// field.
///
/// Text after the closing quote of a field shows that a quote is missing, or not doubled. If the field is within one
/// line, the record ends with that line, and is bad. If it is not, the lines in it may be records, and the file cannot
/// be cut.
pub(crate) struct CsvCutter<'a> {
    separators: Separators,
    state: CsvState,
    /// The start of the current record, and the whole ones.
    pub(super) start: usize,
    pub(super) spans: Vec<Range<usize>>,
    pub(super) line: u64,
    pub(super) header: Option<Arc<Header>>,
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
    pub(crate) fn new(separators: Separators, wanted: Wanted<'a>) -> Self {
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

    /// The header at the start of a file, or why it has not what is wanted; `None` if `start` ends before it does.
    pub(crate) fn header(
        mut self,
        start: &[u8],
        is_whole: bool,
    ) -> Option<Result<Header, Refusal>> {
        // Errors of later records are reported when those are read.
        let scanned = self.scan(start, 0).map(|_| ());
        let ended = scanned.and_then(|()| if is_whole { self.end(start) } else { Ok(()) });
        let Some(span) = self.spans.first() else {
            return ended.err().map(Err);
        };
        Some(Header::read(
            start,
            span.clone(),
            self.separators,
            self.wanted,
        ))
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
        if is_at_start && bytes.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            from
        }
    }

    /// The refusal of a header at the start of `bytes`, with another remedy if another delimiter is one.
    fn with_delimiter(&self, refusal: Refusal, bytes: &[u8]) -> Refusal {
        match fitting(bytes, true, self.separators, self.wanted) {
            Some(fitting) => {
                let delimiter = quoted_delimiter(fitting.delimiter);
                refusal.with_remedy(format!(
                    "pass `delimiter={delimiter}`; if other files have another, convert these first, for one is for all files: \
                     `python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter=\"{}\"))' \
                     < FILE > NEW`",
                    fitting.delimiter.escape_ascii()
                ))
            }
            None => refusal,
        }
    }

    pub(super) fn finish(&mut self, end: usize) {
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
                let header = Header::read(&bytes, spans.remove(0), self.separators, self.wanted)
                    .map_err(|refusal| self.with_delimiter(refusal, &bytes))?;
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

    fn forget(&mut self, bytes: &[u8]) -> u64 {
        self.line += newlines(&bytes[..self.start]);
        self.start = 0;
        self.line
    }
}

/// The delimiters that are tried.
const USUAL: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The separators with the one usual delimiter, other than the stated one, by which the header has all wanted columns; `None`
/// if there is none, or several.
pub(crate) fn fitting(
    start: &[u8],
    is_whole: bool,
    stated: Separators,
    wanted: Wanted<'_>,
) -> Option<Separators> {
    let others = USUAL
        .into_iter()
        .filter(|other| *other != stated.delimiter && Some(*other) != stated.quote);
    let mut fitting = others
        .map(|delimiter| Separators {
            delimiter,
            ..stated
        })
        .filter(|other| {
            let header = CsvCutter::new(*other, wanted).header(start, is_whole);
            header.is_some_and(|header| header.is_ok())
        });
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// What a delimiter is called as a value of an option.
pub(crate) fn delimiter_name(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => char::from(other).to_string(),
    }
}

/// The same in a message, and for a shell.
pub(crate) fn quoted_delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => delimiter_name(delimiter),
        other => format!("'{}'", delimiter_name(other)),
    }
}
