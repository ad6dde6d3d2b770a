//! Texts of some documents, taken while kept records are written: `samples.jsonl`, which the page shows.
//!
//! All of them together take at most 2 MB, so a long text is cut. What is shown is chosen before the reading, so that no
//! text is read twice.
//!
//! **Texts of a reference, and those of pairs, take a reading of their own.** Nothing of it is copied, and while it is read first, nobody knows
//! which of its documents will be shown; to hold the beginnings of all that share a bucket would take more than the time
//! saved. So those of its files are read again that hold a shown document, each up to the last of these; records are counted,
//! and only chunks with a shown document are parsed.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::second_pass::Placed;
use super::source::FileSource;
use simgpu::documents::{Document, Documents};
use simgpu::error::{Error, Result};
use simgpu_io::{ExampleDocument, OutputFolder, PlaceOfRow, Places};

/// The file of the texts.
pub(super) const SAMPLES: &str = "samples.jsonl";

/// Bytes of the file, at most.
const FILE_BYTES: usize = 2_000_000;

/// Bytes of a line, at most.
const LINE_BYTES: usize = 32 << 10;

/// The beginning of a document's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Tokens are joined by spaces.
    pub(crate) text: String,
    /// Bytes of the whole text.
    pub(crate) bytes: u64,
}

/// Texts by where their documents are.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<PlaceOfRow, Sample>);

impl Samples {
    /// The text of a document.
    pub(crate) fn get(&self, document: &ExampleDocument) -> Option<&Sample> {
        let (reference, file, row) = document.place();
        self.0.get(&(reference, file.to_owned(), row))
    }
}

/// A line of `samples.jsonl`.
#[derive(Serialize)]
struct SampleLine<'a> {
    file: &'a str,
    row: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reference: bool,
    bytes: u64,
    text: &'a str,
}

/// Takes the texts of some documents out of the chunks that pass by.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// The documents, by ascending row.
    rows: Vec<u32>,
    taken: Mutex<BTreeMap<u32, Sample>>,
}

impl Sampler {
    /// For the documents at these rows, of which `taken` has those that a stopped run took.
    pub(super) fn new(mut rows: Vec<u32>, taken: BTreeMap<u32, Sample>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        Sampler {
            rows,
            taken: Mutex::new(taken),
        }
    }

    /// Takes the texts of a chunk.
    pub(super) fn take(&self, source: &FileSource<'_>, placed: &Placed) -> Result<()> {
        let Placed { chunk, rows } = placed;
        let wanted = rows
            .iter()
            .map(|row| row.filter(|row| self.rows.binary_search(row).is_ok()));
        let wanted: Vec<Option<u32>> = if self.has_one_among(rows) {
            wanted.collect()
        } else {
            return Ok(());
        };
        let documents = source.documents_of(chunk, &wanted)?;
        let samples = wanted.iter().flatten().enumerate();
        let samples = samples.map(|(i, row)| (*row, Sample::new(documents.get(i))));
        self.taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(samples);
        Ok(())
    }

    /// Takes the texts of documents of a reference that were not taken.
    pub(super) fn take_of_reference(&self, source: &FileSource<'_>) -> Result<()> {
        self.take_before(source.places.first_input(), source)
    }

    /// Takes the texts that were not taken, by a reading of their own.
    pub(super) fn take_all(&self, source: &FileSource<'_>) -> Result<()> {
        self.take_before(u32::MAX, source)
    }

    /// Takes the texts of documents before a row that were not taken.
    fn take_before(&self, end: u32, source: &FileSource<'_>) -> Result<()> {
        let places = &source.places;
        let taken = self.taken();
        // An index keeps no texts.
        let texts = places.first_of_files()..end;
        let before = self.rows.iter().filter(|row| texts.contains(*row));
        let mut ends: BTreeMap<usize, u32> = BTreeMap::new();
        // Rows ascend, so that the last one of each file stays.
        ends.extend(
            before
                .filter(|row| !taken.contains_key(row))
                .map(|row| (places.file_of(*row), *row)),
        );
        if ends.is_empty() {
            Ok(())
        } else {
            source.read_beginnings(&ends, |placed| self.take(source, &placed))
        }
    }

    /// Whether one of the documents is in a chunk with these rows.
    fn has_one_among(&self, rows: &[Option<u32>]) -> bool {
        let (Some(first), Some(last)) =
            (rows.iter().flatten().next(), rows.iter().flatten().last())
        else {
            return false;
        };
        let next = self.rows.partition_point(|row| row < first);
        self.rows.get(next).is_some_and(|row| row <= last)
    }

    /// The texts so far.
    pub(super) fn taken(&self) -> BTreeMap<u32, Sample> {
        let taken = self.taken.lock();
        taken.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the texts, cut to the bytes that each may take. Returns what is written.
    pub(super) fn write(self, folder: &OutputFolder, places: &Places) -> Result<Samples> {
        let (samples, lines) = self.into_samples(places)?;
        let (mut file, path) = folder.create(SAMPLES)?;
        file.write_all(&lines).map_err(Error::io("write", path))?;
        Ok(samples)
    }

    /// The texts, cut to the bytes that each may take, and the lines that hold them.
    pub(super) fn into_samples(self, places: &Places) -> Result<(Samples, Vec<u8>)> {
        let taken = self.taken.into_inner();
        let taken = taken.unwrap_or_else(PoisonError::into_inner);
        let most = (FILE_BYTES / taken.len().max(1)).min(LINE_BYTES);
        let (mut samples, mut lines) = (Samples::default(), Vec::new());
        for (row, Sample { mut text, bytes }) in taken {
            let reference = row < places.first_input();
            let (file, row) = places.place(row);
            let line = |text: &str| {
                let sample = SampleLine {
                    file,
                    row,
                    reference,
                    bytes,
                    text,
                };
                serde_json::to_string(&sample).map_err(|error| Error::Defect(error.to_string()))
            };
            let rest = line("")?.len() + 1;
            text.truncate(end_within(&text, most.saturating_sub(rest)));
            lines.extend_from_slice(line(&text)?.as_bytes());
            lines.push(b'\n');
            samples
                .0
                .insert((reference, file.to_owned(), row), Sample { text, bytes });
        }
        Ok((samples, lines))
    }
}

impl Sample {
    pub(super) fn new(document: Document<'_>) -> Self {
        match document {
            Document::Text(text) => Sample {
                text: text[..end_of_beginning(text)].to_owned(),
                bytes: text.len() as u64,
            },
            Document::Tokens(tokens) => Sample::from_tokens(tokens),
            Document::Weighted(tokens) => Sample::from_tokens(tokens.map(|(token, _)| token)),
        }
    }

    fn from_tokens<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut sample = Sample::default();
        for (i, token) in tokens.enumerate() {
            let blank = if i > 0 { " " } else { "" };
            sample.bytes += (blank.len() + token.len()) as u64;
            if sample.text.len() < LINE_BYTES {
                sample.text += blank;
                sample.text += &String::from_utf8_lossy(token);
            }
        }
        sample.text.truncate(end_of_beginning(&sample.text));
        sample
    }
}

/// Where the beginning of a text ends that may be shown.
fn end_of_beginning(text: &str) -> usize {
    let mut ends = (0..=LINE_BYTES.min(text.len())).rev();
    ends.find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}

/// The length of the longest beginning of a text that takes at most `most` bytes in JSON.
fn end_within(text: &str, most: usize) -> usize {
    let bytes_of = |letter: char| match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        letter => letter.len_utf8(),
    };
    let mut taken = 0;
    let first_beyond = text.char_indices().find(|(_, letter)| {
        taken += bytes_of(*letter);
        taken > most
    });
    first_beyond.map_or(text.len(), |(at, _)| at)
}
