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
use super::json::REMOVE_ZEROS;
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

    /// Forgets the bytes of a record that is too long to be kept. The next scan goes through the bytes after them. Returns the
    /// line on which the record starts.
    fn forget(&mut self, bytes: &[u8]) -> u64;
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

    fn forget(&mut self, _: &[u8]) -> u64 {
        self.first_number
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
pub(super) fn fitting(
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
pub(super) fn delimiter_name(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => char::from(other).to_string(),
    }
}

/// The same in a message, and for a shell.
pub(super) fn quoted_delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => delimiter_name(delimiter),
        other => format!("'{}'", delimiter_name(other)),
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
                        if bytes[at] == 0 {
                            let problem =
                                format!("line {line}: NUL bytes follow the end of the JSON array");
                            return Err(Refusal::new(problem, REMOVE_ZEROS));
                        }
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

    fn forget(&mut self, bytes: &[u8]) -> u64 {
        if let Some(start) = &mut self.start {
            self.line += newlines(&bytes[..*start]);
            *start = 0;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;

    const CSV: Separators = Separators {
        delimiter: b',',
        quote: Some(b'"'),
    };

    /// The records of a stream that comes in pieces of so many bytes, with the line of each.
    fn cut(
        cutter: &mut dyn Cutter,
        text: &str,
        piece: usize,
    ) -> Result<Vec<(u64, String)>, Refusal> {
        let (mut bytes, mut from, mut all) = (Vec::new(), 0, Vec::new());
        let mut take = |cutter: &mut dyn Cutter, bytes: Vec<u8>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            match cutter.contents(bytes)? {
                None => {}
                Some(Contents::Lines {
                    bytes,
                    first_number,
                }) => {
                    let lines = super::super::jsonl::lines(&bytes, first_number);
                    all.extend(lines.map(|line| (line.number, text(line.whole))));
                }
                Some(Contents::Records(records)) => {
                    for span in records.spans {
                        let line = records.first_line + newlines(&records.bytes[..span.start]);
                        all.push((line, text(&records.bytes[span])));
                    }
                }
                Some(other) => panic!("{other:?}"),
            }
            Ok(())
        };
        for piece in text.as_bytes().chunks(piece) {
            bytes.extend_from_slice(piece);
            let end = cutter.scan(&bytes, from)?;
            from = bytes.len();
            if let Some(end) = end {
                let rest = bytes.split_off(end);
                take(cutter, std::mem::replace(&mut bytes, rest))?;
                from -= end;
            }
        }
        cutter.end(&bytes)?;
        take(cutter, bytes)?;
        Ok(all)
    }

    fn assert_cut(make: &dyn Fn() -> Box<dyn Cutter>, text: &str, expected: &[(u64, &str)]) {
        for piece in 1..=text.len() {
            let found = cut(&mut *make(), text, piece);
            let found = found.unwrap_or_else(|refusal| panic!("{text:?}: {refusal:?}"));
            let found = found.iter().map(|(line, record)| (*line, &**record));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{text:?} {piece}");
        }
    }

    fn assert_refused(make: &dyn Fn() -> Box<dyn Cutter>, text: &str, problem: &str) {
        for piece in 1..=text.len() {
            let refusal = cut(&mut *make(), text, piece).unwrap_err();
            let told = refusal.for_file(std::path::Path::new("x")).to_string();
            assert!(told.contains(problem), "{text:?} {piece}: {told}");
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let lines = || Box::new(LineCutter::new()) as Box<dyn Cutter>;
        let text = "a\n\nb\r\n  \nc";
        assert_cut(&lines, text, &[(1, "a\n"), (3, "b\r\n"), (5, "c")]);
    }

    #[test]
    fn csv_is_cut_between_records() {
        let fields = Fields::default();
        let csv = || -> Box<dyn Cutter> {
            let fields: &'static Fields = Box::leak(Box::new(fields.clone()));
            Box::new(CsvCutter::new(CSV, Wanted::Document(fields)))
        };
        let text = "\u{feff}text,id\r\na,1\r\n\r\n\"b \"\"x\"\"\nc\",2\r\nd\"e,3\rf,4\n\"\",5";
        let expected = [
            (2, "a,1\r\n"),
            (4, "\"b \"\"x\"\"\nc\",2\r\n"),
            (6, "d\"e,3\r"),
            (6, "f,4\n"),
            (7, "\"\",5"),
        ];
        assert_cut(&csv, text, &expected);
        assert_cut(&csv, "text\n\"a\"b\nc\n", &[(2, "\"a\"b\n"), (3, "c\n")]);
        assert_cut(&csv, "text\n", &[]);
        assert_refused(
            &csv,
            "text\na\n\"b\nc\n",
            "line 3 opens a quote that is never closed",
        );
        let problem = "starts on line 2 has text after a closing quote on line 3";
        assert_refused(&csv, "text\n\"a\nb\"c\nd\n", problem);
    }

    #[test]
    fn arrays_are_cut_between_elements() {
        let array = || Box::new(ArrayCutter::new()) as Box<dyn Cutter>;
        let text = " [ {\"a\": \"],\\\"\"} ,\n[1, [2]]\n,\"x\" , 3]\n ";
        let expected = [
            (1, "{\"a\": \"],\\\"\"}"),
            (2, "[1, [2]]"),
            (3, "\"x\""),
            (3, "3"),
        ];
        assert_cut(&array, text, &expected);
        assert_cut(&array, "[ ]", &[]);
        for (text, problem) in [
            (
                "[1,]",
                "line 1: a comma in the JSON array has no element after it",
            ),
            (
                "[1,\n,2]",
                "line 2: a comma in the JSON array has no element before it",
            ),
            ("[,1]", "no element before it"),
            ("[1]\n2", "line 2: text follows the end"),
            ("[1, 2", "its last bracket is missing"),
            ("[\"]", "its last bracket is missing"),
        ] {
            assert_refused(&array, text, problem);
        }
    }
}
