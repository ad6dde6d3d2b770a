//! Finds where the records of a text begin and end.

use std::ops::Range;

use crate::format::Separators;

impl Separators {
    /// Where the fields of a record are, with their quotes.
    pub(super) fn spans(self, record: &[u8]) -> Vec<Range<usize>> {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let mut start = record.iter().take_while(|byte| is_end(byte)).count();
        let mut spans = Vec::new();
        loop {
            let mut end = start;
            if let Some(quote) = self.quote.filter(|quote| record.get(start) == Some(quote)) {
                end += 1;
                while let Some(next) = memchr::memchr(quote, &record[end..]) {
                    end += next + 1;
                    if record.get(end) != Some(&quote) {
                        break;
                    }
                    end += 1;
                }
            }
            let is_border = |byte: &u8| *byte == self.delimiter || is_end(byte);
            let more = record[end..].iter().position(is_border);
            end = more.map_or(record.len(), |more| end + more);
            spans.push(start..end);
            match record.get(end) {
                Some(byte) if *byte == self.delimiter => start = end + 1,
                _ => return spans,
            }
        }
    }

    /// Appends a field that was written as `before`, with quotes if it had some, or if it needs them now: where it begins
    /// with a quote, or `is_alone` in its record and empty.
    pub(super) fn push_field(
        self,
        text: &[u8],
        before: &[u8],
        is_alone: bool,
        left: &mut Vec<u8>,
    ) -> Result<(), String> {
        let Some(quote) = self.quote else {
            if is_alone && text.is_empty() {
                let problem = "nothing is left of the only field of a record, and without quotes that is no record";
                return Err(problem.to_owned());
            }
            left.extend_from_slice(text);
            return Ok(());
        };
        let had_quotes = before.first() == Some(&quote);
        if !had_quotes && text.first() != Some(&quote) && !(is_alone && text.is_empty()) {
            left.extend_from_slice(text);
            return Ok(());
        }
        left.push(quote);
        for byte in text {
            left.extend(std::iter::repeat_n(
                *byte,
                if *byte == quote { 2 } else { 1 },
            ));
        }
        left.push(quote);
        Ok(())
    }
}
