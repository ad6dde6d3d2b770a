//! Where the sources of pieces are, in bytes: requested by places while pieces are found, answered by one more reading.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::super::units::{PassageUnits, PlacedPiece, TextPart, UnitTexts};
use super::records::{Interval, end_of_words};
use super::regions::places;
use super::shared::PARTS;
use super::text_reader::TextReader;
use simgpu::error::Result;
use simgpu::store::spill::{Partitions, Sorted, Spill, Stored, Streams};

/// Words of what is known of a piece or its source: document, start and end as results state them, start and end in bytes, and
/// the hash of all bytes.
const KNOWN: usize = 9;

/// Pieces, without their sources.
pub(crate) struct PieceFiles {
    spill: Arc<Spill>,
    units: PassageUnits,
    /// By piece: what is known of it, and the number of units.
    own: Streams,
    requests: Partitions<4>,
    pub(super) count: usize,
}

/// What is known of a part of texts, of which the first has the number `row` among all.
fn known(texts: &UnitTexts, row: usize, part: &TextPart) -> [u32; KNOWN] {
    let hash = xxh3_128(texts.bytes_of(part));
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a text has less than 4 GiB, and there are fewer documents than 2^32"
    )]
    let [row, start, end, from, to] = [
        row + part.document,
        part.stated.start,
        part.stated.end,
        part.bytes.start,
        part.bytes.end,
    ]
    .map(|number| number as u32);
    let [a, b, c, d]: [u32; 4] = bytemuck::cast(hash);
    [row, start, end, from, to, a, b, c, d]
}

impl PieceFiles {
    /// None yet, or those of the last checkpoint, which are `count`, of texts of so many places.
    pub(super) fn new(
        spill: &Arc<Spill>,
        places: usize,
        units: PassageUnits,
        count: usize,
    ) -> Self {
        PieceFiles {
            units,
            own: Streams::new(spill, "pieces", 1, 2 * PARTS),
            requests: Partitions::new(spill, "asked", PARTS, end_of_words(places), 2 * PARTS),
            spill: Arc::clone(spill),
            count,
        }
    }

    /// Adds the next piece: a part of texts, of which the first has the number `row` among all. Its source has these places.
    pub(super) fn push(
        &mut self,
        texts: &UnitTexts,
        row: usize,
        part: &TextPart,
        source: Range<usize>,
    ) -> Result<()> {
        let own = with_number(part.len, known(texts, row, part));
        self.own.push(0, bytemuck::cast_slice(&own))?;
        let request = Interval {
            start: source.start,
            len: source.len(),
            other: self.count,
        };
        self.count += 1;
        self.requests.push(&request.pack())
    }

    /// Writes everything added so far, for a checkpoint.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.own.flush()?;
        self.requests.flush()
    }

    /// Finds the sources by a reading, if no checkpoint has them, and calls `each` with all pieces in order.
    pub(super) fn for_each(
        self,
        reading: &impl TextReader,
        mut each: impl FnMut(PlacedPiece) -> Result<()>,
    ) -> Result<()> {
        let end = (self.count as u64 >> LOW) + 1;
        let mut found = Partitions::new(&self.spill, "sources", PARTS, end, PARTS);
        if self.spill.state::<()>(SOURCES).is_none() {
            find(self.requests.finish()?, reading, self.units, &mut found)?;
            found.flush()?;
            self.spill.checkpoint(SOURCES, &())?;
        }
        let mut found = found.finish()?.into_records();
        let own = self.own.finish_one()?;
        own.for_each_block(|block| {
            let mut pieces = block.records(Stored::words::<RECORD>);
            pieces.try_for_each(|piece| {
                let (units, own) = numbered(piece?);
                let source = found.next().ok_or_else(|| block.damaged())??;
                each(placed(own, numbered(source).1, units))
            })
        })
    }
}

/// Adds what is known of the sources that are requested, by one reading.
fn find(
    requests: Sorted<4>,
    reading: &impl TextReader,
    units: PassageUnits,
    found: &mut Partitions<RECORD>,
) -> Result<()> {
    let mut requests = requests.into_records().peekable();
    let (mut base, mut row) = (0, 0);
    reading.read("sources", &|_| (), &mut |texts, ()| {
        let end = base + places(texts);
        let (_, ends) = texts.symbols();
        let mut run = 0;
        let is_here = |next: &Result<[u32; 4]>| {
            next.as_ref()
                .map_or(true, |next| Interval::unpack(*next).start < end)
        };
        while let Some(next) = requests.next_if(is_here).transpose()? {
            let next = Interval::unpack(next);
            let at = next.start - base;
            // Each run has one place more than symbols.
            while ends[run] + run <= at {
                run += 1;
            }
            let start = at - run - run.checked_sub(1).map_or(0, |before| ends[before]);
            let part = texts.part(run, start..start + next.len, units);
            found.push(&with_number(next.other, known(texts, row, &part)))?;
        }
        base = end;
        row += texts.len();
        Ok(())
    })
}

/// A piece and its source, from what is known of both.
fn placed(own: [u32; KNOWN], source: [u32; KNOWN], units: usize) -> PlacedPiece {
    let stated = |known: [u32; KNOWN]| known[1] as usize..known[2] as usize;
    let bytes = |known: [u32; KNOWN]| known[3] as usize..known[4] as usize;
    PlacedPiece {
        document: own[0] as usize,
        bytes: bytes(own),
        source_document: source[0] as usize,
        source_bytes: bytes(source),
        stated: [stated(own), stated(source)],
        len: units,
        is_exact: bytes(own).len() == bytes(source).len() && own[5..] == source[5..],
    }
}

/// The name of the search for sources, for checkpoints.
const SOURCES: &str = "sources";

/// Words of a record: a number, and what is known.
const RECORD: usize = 2 + KNOWN;

/// Bits of a number beside the first word.
const LOW: u32 = 8;

/// A record that sorts by a number of less than 40 bits.
#[allow(clippy::cast_possible_truncation, reason = "a number of 40 bits")]
fn with_number(number: usize, known: [u32; KNOWN]) -> [u32; RECORD] {
    let mut record = [0; RECORD];
    record[0] = (number >> LOW) as u32;
    record[1] = number as u32 & ((1 << LOW) - 1);
    record[2..].copy_from_slice(&known);
    record
}

fn numbered([high, low, known @ ..]: [u32; RECORD]) -> (usize, [u32; KNOWN]) {
    ((high as usize) << LOW | low as usize, known)
}
