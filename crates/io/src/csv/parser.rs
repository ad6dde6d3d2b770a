//! Parses the fields of a record.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::encoding::looks_like_in;
use crate::fields::FieldPath;
use crate::format::Separators;
use crate::json::json_string;

/// The id as JSON: an integer if it is written like one, else a string.
pub(super) fn id_json(id: &str) -> String {
    if is_integer(id) {
        id.to_owned()
    } else {
        json_string(id)
    }
}

/// Whether a text is written like an integer.
pub(crate) fn is_integer(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    match digits.as_bytes() {
        [b'0'] => digits == id,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Splits records into fields.
pub(crate) struct Parser {
    reader: Reader,
    pub(super) separators: Separators,
    output: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Parser {
    pub(super) fn new(separators: Separators) -> Self {
        let mut reader = ReaderBuilder::new();
        reader.delimiter(separators.delimiter);
        match separators.quote {
            Some(quote) => reader.quote(quote),
            None => reader.quoting(false),
        };
        Parser {
            reader: reader.build(),
            separators,
            output: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Reads one record; its fields are then those of [`Parser::field`].
    pub(super) fn read(&mut self, record: &[u8]) -> Result<(), String> {
        if self.has_text_after_quote(record) {
            let problem = "text follows the closing quote of a field: a quote in a quoted field must be doubled";
            return Err(problem.to_owned());
        }
        self.reader.reset();
        self.output.resize(record.len(), 0);
        self.ends.resize(16, 0);
        let (mut read, mut written, mut ended) = (0, 0, 0);
        loop {
            let (result, input, output, ends) = self.reader.read_record(
                &record[read..],
                &mut self.output[written..],
                &mut self.ends[ended..],
            );
            read += input;
            written += output;
            ended += ends;
            match result {
                // The next call, without input, ends the record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.output.resize(2 * written + 16, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * ended + 16, 0),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        self.ends.truncate(ended);
        if record[read..].trim_ascii().is_empty() {
            Ok(())
        } else {
            Err("the quotes of the record are wrong".to_owned())
        }
    }

    /// Whether text follows the closing quote of a field. RFC 4180 forbids it; csv-core appends it to the field.
    fn has_text_after_quote(&self, record: &[u8]) -> bool {
        let Separators {
            delimiter,
            quote: Some(quote),
        } = self.separators
        else {
            return false;
        };
        let mut rest = record;
        loop {
            if let Some(quoted) = rest.strip_prefix(&[quote]) {
                rest = quoted;
                while let Some(end) = memchr::memchr(quote, rest) {
                    rest = &rest[end + 1..];
                    match rest.first() {
                        Some(byte) if *byte == quote => rest = &rest[1..],
                        _ => break,
                    }
                }
                match rest.first() {
                    None | Some(b'\r' | b'\n') => return false,
                    Some(byte) if *byte == delimiter => {}
                    Some(_) => return true,
                }
            }
            match memchr::memchr(delimiter, rest) {
                Some(end) => rest = &rest[end + 1..],
                None => return false,
            }
        }
    }

    /// The text of a column.
    pub(super) fn text(&self, column: usize, path: &FieldPath) -> Result<&str, String> {
        std::str::from_utf8(self.field(column)).map_err(|error| {
            let at = error.valid_up_to();
            // Other fields of the record may show that it is UTF-8.
            let fields: Vec<&[u8]> = (0..self.ends.len()).map(|i| self.field(i)).collect();
            let looks_like = looks_like_in(self.field(column), &fields.join(&b'\n'));
            format!("column \"{path}\" holds invalid UTF-8 at byte {at}{looks_like}")
        })
    }

    pub(super) fn field(&self, column: usize) -> &[u8] {
        let start = if column == 0 {
            0
        } else {
            self.ends[column - 1]
        };
        &self.output[start..self.ends[column]]
    }
}
