//! Where windows occur beside their first place, and which of them occur often enough.
//!
//! Each run of windows that leads to earlier ones is an occurrence of these. Sorted by the first places, one sweep counts how
//! many are over each, and knows the first of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::map::{MapWriter, Walker, WindowMap};
use super::records::{Interval, LinkTarget, Links, end_of_words};
use super::shared::PARTS;
use simgpu::error::Result;
use simgpu::store::spill::{Partitions, Spill};

/// A search for the next places of windows that occur often enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextPlaces<'a> {
    /// The least number of occurrences of a window, the first one counted.
    pub(super) least: u32,
    /// The first places of all documents.
    pub(super) starts: &'a [usize],
    /// Whether occurrences in the document of the first place do not stand for it.
    pub(super) other_documents: bool,
}

impl NextPlaces<'_> {
    /// For the first places of windows that occur so often: the next place where the window stands. In memory are 32 bytes
    /// for each occurrence of the most frequent window.
    ///
    /// # Errors
    /// [`Error::Io`](simgpu::Error::Io) if a file cannot be written or read.
    pub(super) fn find(
        self,
        map: &mut WindowMap,
        spill: &Arc<Spill>,
        places: usize,
    ) -> Result<WindowMap> {
        let mut occurrences =
            Partitions::new(spill, "occurrences", PARTS, end_of_words(places), PARTS);
        let mut walker = Walker::default();
        // Each run of windows that leads elsewhere is an occurrence of the windows that it leads to.
        for number in 0..map.blocks() {
            for links in map.block(number)?.iter().flat_map(|block| block.iter()) {
                each_occurrence(map, &mut walker, *links, |occurrence, count| {
                    occurrences.push(&self.pack(occurrence, count))
                })?;
            }
        }
        let mut sweep = Sweep {
            search: self,
            found: MapWriter::new(spill.folder())?,
            at: 0,
            count: 0,
            ends: BinaryHeap::new(),
            next_places: BinaryHeap::new(),
        };
        for record in occurrences.finish()?.into_records() {
            let (occurrence, count) = unpack(record?);
            sweep.advance(occurrence.start)?;
            sweep.add(occurrence, count);
        }
        sweep.advance(usize::MAX)?;
        sweep.found.finish(spill.memory() / 8)
    }

    /// A record of so many occurrences, or of the least number.
    fn pack(&self, occurrence: Interval, count: usize) -> [u32; 5] {
        let [a, b, c, d] = occurrence.pack();
        // More than the least number make no difference.
        let count = match u32::try_from(count) {
            Ok(count) if count < self.least => count,
            _ => self.least,
        };
        [a, b, c, d, count]
    }

    /// The document of a place.
    fn document_of(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place)
    }
}

/// Calls `each` with the first places that windows lead to, the first windows that lead there, and how many do.
fn each_occurrence(
    map: &mut WindowMap,
    walker: &mut Walker,
    links: Links,
    mut each: impl FnMut(Interval, usize) -> Result<()>,
) -> Result<()> {
    let Links { first, len, link } = links;
    let back = match link {
        LinkTarget::Place(start) => {
            return each(
                Interval {
                    start,
                    len,
                    other: first,
                },
                1,
            );
        }
        LinkTarget::Back(back) => back,
    };
    let mut next = 0;
    // Only the first period is looked up: the others lead to the same places.
    while next < back.min(len) {
        let before = walker.segment(map, first - back + next, first)?;
        let end = (next + before.len).min(len);
        // Windows that follow so many steps behind the first one are in the last, shorter repeat or in none.
        let in_last = (len % back).clamp(next, end);
        for (from, to, count) in [(next, in_last, len / back + 1), (in_last, end, len / back)] {
            if from < to {
                let start = before.place + (from - next);
                let other = first + from;
                each(
                    Interval {
                        start,
                        len: to - from,
                        other,
                    },
                    count,
                )?;
            }
        }
        next = end;
    }
    Ok(())
}

fn unpack([a, b, c, d, count]: [u32; 5]) -> (Interval, u64) {
    (Interval::unpack([a, b, c, d]), count.into())
}

/// Passes over occurrences, in the order of their first places.
struct Sweep<'a> {
    search: NextPlaces<'a>,
    found: MapWriter,
    /// All windows before this one are passed.
    at: usize,
    /// The number of occurrences of this window, beside the first.
    count: u64,
    /// Where occurrences end, and how many do.
    ends: BinaryHeap<Reverse<(usize, u64)>>,
    /// How far behind the first place the windows stand, and where they end.
    next_places: BinaryHeap<Reverse<(usize, usize)>>,
}

impl Sweep<'_> {
    fn add(&mut self, occurrence: Interval, count: u64) {
        let Interval { start, other, .. } = occurrence;
        self.count += count;
        self.ends.push(Reverse((occurrence.end(), count)));
        let [first, next] = [start, other].map(|place| self.search.document_of(place));
        if !self.search.other_documents || first != next {
            self.next_places
                .push(Reverse((other - start, occurrence.end())));
        }
    }

    /// Passes all windows before `to`.
    fn advance(&mut self, to: usize) -> Result<()> {
        while self.at < to {
            while let Some(Reverse((end, count))) = self.ends.peek().copied()
                && end <= self.at
            {
                self.ends.pop();
                self.count -= count;
            }
            while let Some(Reverse((_, end))) = self.next_places.peek()
                && *end <= self.at
            {
                self.next_places.pop();
            }
            let Some(Reverse((end, _))) = self.ends.peek() else {
                self.at = to;
                return Ok(());
            };
            // Up to the next end of an occurrence, or of the nearest next place, nothing changes.
            let mut next = to.min(*end);
            if let Some(Reverse((shift, end))) = self.next_places.peek() {
                next = next.min(*end);
                if self.count + 1 >= self.search.least.into() {
                    self.found.push(Links {
                        first: self.at,
                        len: next - self.at,
                        link: LinkTarget::Place(self.at + shift),
                    })?;
                }
            }
            self.at = next;
        }
        Ok(())
    }
}
