//! Finds, for every window that occurs earlier, the first place of an equal one.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::known::MOST_SYMBOLS;
use super::super::lengths::Lengths;
use super::super::pass::too_long;
use super::super::units::UnitTexts;
use super::map::{MapWriter, WindowMap};
use super::records::{Link, Links, Region, Windows, end_of_words, window_of};
use super::regions::{Hashing, Regions, cells, places};
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};
use simgpu::store::spill::{Partitions, Sorted, Spill, Stored, Streams};

/// Files that records are distributed to.
const PARTS: usize = 32;

/// Checkpoints while records of a kind are compared.
const CHECKPOINTS: u64 = 8;

/// The most windows of a link to a place.
const MOST_LINKS: usize = 2048;

/// Documents that can be read again, in the same order.
pub(crate) trait Reading {
    /// Calls `map` with the texts of some documents in a row, on all threads, and `each` with them and the result, in order.
    ///
    /// # Errors
    /// Those of reading and of `each`.
    fn read<T: Send>(
        &self,
        stage: &'static str,
        map: &(impl Fn(&UnitTexts) -> T + Sync),
        each: &mut dyn FnMut(&UnitTexts, T) -> Result<()>,
    ) -> Result<()>;
}

/// Records that all threads add to.
struct Shared<const N: usize>(Mutex<Partitions<N>>);

impl<const N: usize> Shared<N> {
    fn new(spill: &Arc<Spill>, name: &str, end: u64) -> Self {
        Shared(Mutex::new(Partitions::new(
            spill,
            name,
            PARTS,
            end,
            4 * PARTS,
        )))
    }

    fn push_all(&self, records: &[[u32; N]]) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().try_for_each(|record| all.push(record))
    }

    /// Writes everything pushed so far, for a checkpoint.
    fn flush(&self) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.flush()
    }

    fn finish(self) -> Result<Sorted<N>> {
        self.0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .finish()
    }
}

/// What is found while parts are sorted.
struct FoundInParts {
    /// Where windows lead ([`Links`]).
    links: Shared<3>,
    /// Regions that equal earlier ones whose windows are looked up one by one: links from the earlier ones to these.
    copies: Shared<3>,
    /// Regions whose windows are looked up one by one ([`Windows`]).
    mixed: Shared<2>,
}

/// The name of the search, for checkpoints. The state is the number of steps done.
const COMPARE: &str = "compare";

/// A search on disk.
pub(super) struct Search<'a> {
    pub(super) lengths: &'a Lengths,
    pub(super) spill: &'a Arc<Spill>,
    pub(super) progress: &'a dyn Progress,
}

impl Search<'_> {
    /// Finds where the windows of documents lead, out of the regions that a first reading gave. Makes checkpoints, and begins
    /// at the last one.
    pub(super) fn map(&self, listed: Listed, reading: &impl Reading) -> Result<WindowMap> {
        let end = end_of_words(listed.places);
        let done: u32 = self.spill.state(COMPARE).unwrap_or_default();
        let of_regions = FoundInParts::new(self.spill, end, ["links", "copies", "mixed"]);
        if done < 1 {
            let Listed {
                regions, repeats, ..
            } = listed;
            for repeat in repeats.finish()?.into_records() {
                of_regions.links.push_all(&[repeat?])?;
            }
            self.compare(regions, (0, &of_regions))?;
            self.spill.checkpoint(COMPARE, &1)?;
        }
        let of_cells = ["cell-links", "cell-copies", "cell-mixed"];
        let of_cells = FoundInParts::new(self.spill, end, of_cells);
        if done < 2 {
            let cells = self.cells(of_regions.mixed.finish()?, reading)?;
            self.compare(cells, (1, &of_cells))?;
            self.spill.checkpoint(COMPARE, &2)?;
        }
        let mut windows = Partitions::new(self.spill, "windows", PARTS, 1 << 32, PARTS);
        if done < 3 {
            self.add_windows(of_cells.mixed.finish()?, &mut windows, reading)?;
            windows.flush()?;
            self.spill.checkpoint(COMPARE, &3)?;
        }
        let links = of_regions.links;
        if done < 4 {
            let inside = self.compare_windows(windows.finish()?, end)?.finish()?;
            self.lead_copies(inside, of_cells.copies.finish()?, &of_cells.links)?;
            let inside = of_cells.links.finish()?;
            self.lead_copies(inside, of_regions.copies.finish()?, &links)?;
            links.flush()?;
            self.spill.checkpoint(COMPARE, &4)?;
        }
        self.write_map(links.finish()?)
    }

    /// Compares regions, or cells of regions, behind so many steps.
    fn compare(&self, regions: Partitions<6>, (done, found): (u32, &FoundInParts)) -> Result<()> {
        let each = |records: &[[u32; 6]]| found.add_regions(records);
        self.each_part(regions.finish()?, &each, (done, &|| found.flush()))?;
        found.flush()
    }

    /// Compares the windows of mixed cells, and returns the links between them.
    fn compare_windows(&self, windows: Sorted<6>, end: u64) -> Result<Shared<3>> {
        let inside = Shared::new(self.spill, "inside", end);
        let each = |records: &[[u32; 6]]| inside.push_all(&equal_windows(records));
        self.each_part(windows, &each, (3, &|| inside.flush()))?;
        Ok(inside)
    }

    /// Calls `each` with the sorted records of each part. Makes checkpoints on the way, so that the files of parts that are
    /// done can go: a step that goes on has the other parts alone. `flush` writes all that `each` found.
    fn each_part(
        &self,
        records: Sorted<6>,
        each: &(impl Fn(&[[u32; 6]]) -> Result<()> + Sync),
        (done, flush): (u32, &dyn Fn() -> Result<()>),
    ) -> Result<()> {
        self.progress.begin("compare", PARTS as u64);
        let mut recorded = 0;
        let mut parts_done = |parts| {
            advance(self.progress, parts, 0, 0)?;
            let all = PARTS as u64;
            if parts - recorded < all / CHECKPOINTS || parts == all {
                return Ok(());
            }
            recorded = parts;
            flush()?;
            self.spill.checkpoint(COMPARE, &done)
        };
        records.map(each, &mut parts_done).map(drop)
    }

    /// The cells of mixed regions, from a reading of the documents.
    fn cells(&self, mixed: Sorted<2>, reading: &impl Reading) -> Result<Partitions<6>> {
        let mut all = Partitions::new(self.spill, "cells", PARTS, 1 << 32, PARTS);
        read_mixed(mixed, reading, |texts, regions, base| {
            let mut cells = cells(texts, regions, base, self.lengths).into_iter();
            cells.try_for_each(|cell| all.push(&cell.pack()))
        })?;
        Ok(all)
    }

    /// Adds the hashes of the windows of mixed cells, from a reading of the documents.
    fn add_windows(
        &self,
        mixed: Sorted<2>,
        windows: &mut Partitions<6>,
        reading: &impl Reading,
    ) -> Result<()> {
        read_mixed(mixed, reading, |texts, cells, base| {
            let mut hashing = Hashing::new(texts, self.lengths.window, base);
            let mut all = cells.iter().flat_map(|of| of.first..of.first + of.len);
            all.try_for_each(|window| windows.push(&hashing.window(window)))
        })
    }

    /// Adds where the windows of mixed regions lead, and leads the copies of these regions to the same places.
    fn lead_copies(&self, inside: Sorted<3>, copies: Sorted<3>, links: &Shared<3>) -> Result<()> {
        let inside = Joining {
            records: inside.into_records(),
            next: None,
        };
        let mut inside = Joined {
            records: inside.peekable(),
            held: Vec::new(),
        };
        for copy in copies.into_records() {
            let copy = Links::of(copy?);
            let Link::Place(of) = copy.link else {
                continue;
            };
            let (from, to) = (copy.first, copy.first + copy.len);
            inside.advance(to, from, |passed| links.push_all(&[passed.pack()]))?;
            let mut next = from;
            let lead = |first: usize, end: usize, place: usize| {
                let led = Links {
                    first: of + (first - from),
                    len: end - first,
                    link: Link::Place(place),
                };
                if first < end {
                    links.push_all(&[led.pack()])
                } else {
                    Ok(())
                }
            };
            for held in &inside.held {
                let (first, end) = (held.first.max(from), (held.first + held.len).min(to));
                if let (Link::Place(place), true) = (held.link, first < end) {
                    lead(next, first, next)?;
                    lead(first, end, place + (first - held.first))?;
                    next = end;
                }
            }
            lead(next, to, next)?;
        }
        inside.finish(|passed| links.push_all(&[passed.pack()]))
    }

    fn write_map(&self, links: Sorted<3>) -> Result<WindowMap> {
        let mut map = MapWriter::new(self.spill.folder())?;
        for record in links.into_records() {
            map.push(Links::of(record?))?;
        }
        map.finish(self.spill.memory() / 4)
    }
}

/// Links in order; those that go on where the last ones ended are one with them.
struct Joining<I> {
    records: I,
    next: Option<Links>,
}

impl<I: Iterator<Item = Result<[u32; 3]>>> Iterator for Joining<I> {
    type Item = Result<Links>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(record) = self.records.next() else {
                return self.next.take().map(Ok);
            };
            let links = match record {
                Ok(record) => Links::of(record),
                Err(error) => return Some(Err(error)),
            };
            if let Some(last) = &mut self.next
                && last.len < MOST_LINKS
                && let (Link::Place(to), Link::Place(place)) = (last.link, links.link)
                && (last.first + last.len, to + last.len) == (links.first, place)
            {
                last.len += links.len;
                continue;
            }
            if let Some(last) = self.next.replace(links) {
                return Some(Ok(last));
            }
        }
    }
}

/// Links by their first windows, of which those that may still be asked for are held.
struct Joined<I: Iterator> {
    records: std::iter::Peekable<I>,
    held: Vec<Links>,
}

impl<I: Iterator<Item = Result<Links>>> Joined<I> {
    /// Holds all links that begin before `to` and end behind `from`, which never descends. Passes on each link once.
    fn advance(
        &mut self,
        to: usize,
        from: usize,
        mut pass: impl FnMut(Links) -> Result<()>,
    ) -> Result<()> {
        self.held.retain(|links| links.first + links.len > from);
        let is_before = |next: &Result<Links>| next.as_ref().map_or(true, |next| next.first < to);
        while let Some(links) = self.records.next_if(is_before).transpose()? {
            pass(links)?;
            if links.first + links.len > from {
                self.held.push(links);
            }
        }
        Ok(())
    }

    /// Passes on the links that are left.
    fn finish(mut self, mut pass: impl FnMut(Links) -> Result<()>) -> Result<()> {
        self.records.try_for_each(|next| pass(next?))
    }
}

/// Reads the documents, and calls `each` with the texts of some, the mixed regions in them, and the first place.
fn read_mixed(
    mixed: Sorted<2>,
    reading: &impl Reading,
    mut each: impl FnMut(&UnitTexts, &[Windows], usize) -> Result<()>,
) -> Result<()> {
    if mixed.records() == 0 {
        return Ok(());
    }
    let (mut base, mut here) = (0, Vec::new());
    let mut mixed = mixed.into_records().peekable();
    reading.read("read again", &|_| (), &mut |texts, ()| {
        let end = base + places(texts);
        let is_here = |next: &Result<[u32; 2]>| match next {
            Ok(next) => Windows::of(*next).first < end,
            Err(_) => true,
        };
        here.clear();
        while let Some(next) = mixed.next_if(is_here) {
            here.push(Windows::of(next?));
        }
        each(texts, &here, base)?;
        base = end;
        Ok(())
    })
}

impl FoundInParts {
    /// Nothing yet, or what the last checkpoint has under these names.
    fn new(spill: &Arc<Spill>, end: u64, [links, copies, mixed]: [&str; 3]) -> Self {
        FoundInParts {
            links: Shared::new(spill, links, end),
            copies: Shared::new(spill, copies, end),
            mixed: Shared::new(spill, mixed, end),
        }
    }

    /// Writes everything found so far, for a checkpoint.
    fn flush(&self) -> Result<()> {
        self.links.flush()?;
        self.copies.flush()?;
        self.mixed.flush()
    }

    /// Compares the regions of one part, which are sorted by keys and hashes.
    fn add_regions(&self, records: &[[u32; 6]]) -> Result<()> {
        let (mut links, mut copies, mut mixed) = (Vec::new(), Vec::new(), Vec::new());
        let equal = |a: &[u32; 6], b: &[u32; 6]| a[1..4] == b[1..4];
        let key = |records: &[[u32; 6]]| Region::of(records[0]).key;
        let mut keys: Vec<u64> = Vec::new();
        for of_word in records.chunk_by(|a, b| a[0] == b[0]) {
            keys.clear();
            keys.extend(of_word.chunk_by(equal).map(key));
            keys.sort_unstable();
            for equal in of_word.chunk_by(equal) {
                let first = Region::of(equal[0]);
                let at = keys.partition_point(|key| *key < first.key);
                let is_mixed = keys.get(at + 1) == Some(&first.key);
                if is_mixed {
                    let windows = Windows {
                        first: first.first,
                        len: first.len,
                    };
                    mixed.push(windows.pack());
                }
                for later in &equal[1..] {
                    let later = Region::of(*later);
                    let link = |first: usize, place: usize| {
                        Links {
                            first,
                            len: later.len,
                            link: Link::Place(place),
                        }
                        .pack()
                    };
                    if is_mixed {
                        copies.push(link(first.first, later.first))
                    } else {
                        links.push(link(later.first, first.first))
                    }
                }
            }
        }
        self.links.push_all(&links)?;
        self.copies.push_all(&copies)?;
        self.mixed.push_all(&mixed)
    }
}

/// The links of windows to the first of those that are equal. The records are sorted by hashes.
fn equal_windows(records: &[[u32; 6]]) -> Vec<[u32; 3]> {
    let equal = records.chunk_by(|a, b| a[..4] == b[..4]);
    let later = equal.flat_map(|equal| {
        let place = window_of(equal[0]);
        equal[1..].iter().map(move |later| Links {
            first: window_of(*later),
            len: 1,
            link: Link::Place(place),
        })
    });
    later.map(Links::pack).collect()
}

/// The regions of all documents, on disk.
pub(super) struct Listed {
    regions: Partitions<6>,
    repeats: Partitions<3>,
    /// The first place of each document, until all are listed.
    starts: Option<Streams>,
    /// The number of places so far.
    pub(super) places: usize,
}

impl Listed {
    /// Files that its records are distributed to.
    pub(super) const PARTS: usize = PARTS;

    /// None yet, or those of the last checkpoint, with so many places.
    pub(super) fn new(spill: &Arc<Spill>, places: usize) -> Self {
        Listed {
            regions: Partitions::new(spill, "regions", PARTS, 1 << 32, 2 * PARTS),
            repeats: Partitions::new(spill, "repeats", 1, 1 << 32, 2 * PARTS),
            starts: Some(Streams::new(spill, "starts", 1, 2 * PARTS)),
            places,
        }
    }

    /// Writes everything added so far, for a checkpoint.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.regions.flush()?;
        self.repeats.flush()?;
        self.starts.as_mut().map_or(Ok(()), Streams::flush)
    }

    /// Ends the adding, and returns the first places of all documents.
    pub(super) fn end(&mut self) -> Result<Vec<usize>> {
        let mut all = Vec::new();
        let Some(starts) = self.starts.take() else {
            return Ok(all);
        };
        let starts = starts.finish_one()?;
        starts.for_each_block(|block| {
            let mut records = block.records(Stored::words);
            records.try_for_each(|record| {
                let [start]: [u64; 1] = bytemuck::cast::<[u32; 2], _>(record?);
                // They were places before.
                all.push(usize::try_from(start).map_err(|_| block.damaged())?);
                Ok(())
            })
        })?;
        // For a run that goes on.
        starts.keep();
        Ok(all)
    }

    /// Adds the regions of the next documents.
    pub(super) fn add(&mut self, found: &Regions) -> Result<()> {
        let base = self.places;
        if let Some(starts) = &mut self.starts {
            for start in &found.starts {
                let start = (base + start) as u64;
                starts.push(0, bytemuck::bytes_of(&start))?;
            }
        }
        for region in &found.regions {
            let first = base + region.first;
            self.regions.push(&Region { first, ..*region }.pack())?;
        }
        for links in &found.repeats {
            let first = base + links.first;
            self.repeats.push(&Links { first, ..*links }.pack())?;
        }
        self.places += found.places;
        if self.places > MOST_SYMBOLS {
            Err(too_long())
        } else {
            Ok(())
        }
    }
}
