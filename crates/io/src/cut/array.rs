//! Cuts a JSON array.

use std::ops::Range;

use super::Cutter;
use crate::chunk::{Contents, RecordSpans};
use crate::jsonl::newlines;
use crate::refusal::Refusal;
use simgpu_base::encoding::NUL_BYTES;

/// Cuts a JSON array between its elements.
pub(crate) struct ArrayCutter {
    state: ArrayState,
    /// Open brackets within the current element.
    depth: u64,
    /// The start of the current element, and the whole ones.
    pub(super) start: Option<usize>,
    pub(super) spans: Vec<Range<usize>>,
    has_elements: bool,
    pub(super) line: u64,
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
    pub(crate) fn new() -> Self {
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
    pub(super) fn finish(&mut self, bytes: &[u8], end: usize) -> Result<(), Refusal> {
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
                                format!("line {line}: the JSON array is followed by{NUL_BYTES}");
                            return Err(Refusal::new(problem, ""));
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
