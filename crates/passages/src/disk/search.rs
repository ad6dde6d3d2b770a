//! Finds, for every window that occurs earlier, the first place of an equal one.

use std::sync::Arc;

use super::super::lengths::Lengths;
use super::copies::lead_copies;
use super::listed::ListedRegions;
use super::map::{MapWriter, WindowMap};
use super::records::{HashedRegion, LinkTarget, Links, MixedWindows, end_of_words, window_of};
use super::regions::{Hashing, MixedInTexts, cells, places};
use super::shared::{PARTS, SharedPartitions};
use super::text_reader::TextReader;
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};
use simgpu::store::spill::{Partitions, Sorted, Spill};

/// Checkpoints while records of a kind are compared.
const CHECKPOINTS: u64 = 8;

/// What is found while parts are sorted.
struct FoundInParts {
    /// Where windows lead ([`Links`]).
    links: SharedPartitions<3>,
    /// Regions that equal earlier ones whose windows are looked up one by one: links from the earlier ones to these.
    copies: SharedPartitions<3>,
    /// Regions whose windows are looked up one by one ([`MixedWindows`]).
    mixed: SharedPartitions<2>,
}

/// The name of the search, for checkpoints. The state is the number of steps done.
const COMPARE: &str = "compare";

/// A search on disk.
pub(super) struct DiskSearch<'a> {
    pub(super) lengths: &'a Lengths,
    pub(super) spill: &'a Arc<Spill>,
    pub(super) progress: &'a dyn Progress,
}

impl DiskSearch<'_> {
    /// Finds where the windows of documents lead, out of the regions that a first reading gave. Makes checkpoints, and begins
    /// at the last one.
    pub(super) fn map(
        &self,
        listed: ListedRegions,
        reading: &impl TextReader,
    ) -> Result<WindowMap> {
        let end = end_of_words(listed.places);
        let done: u32 = self.spill.state(COMPARE).unwrap_or_default();
        let regions_found = FoundInParts::new(self.spill, end, ["links", "copies", "mixed"]);
        if done < 1 {
            let ListedRegions {
                regions, repeats, ..
            } = listed;
            // They lead back within their documents, whatever the comparison finds.
            for repeat in repeats.finish()?.into_records() {
                regions_found.links.push_all(&[repeat?])?;
            }
            self.compare(regions, &regions_found, 0)?;
            self.spill.checkpoint(COMPARE, &1)?;
        }
        let names = ["cell-links", "cell-copies", "cell-mixed"];
        let cells_found = FoundInParts::new(self.spill, end, names);
        if done < 2 {
            let cells = self.cells(regions_found.mixed.finish()?, reading)?;
            self.compare(cells, &cells_found, 1)?;
            self.spill.checkpoint(COMPARE, &2)?;
        }
        let mut windows = Partitions::new(self.spill, "windows", PARTS, 1 << 32, PARTS);
        if done < 3 {
            self.add_windows(cells_found.mixed.finish()?, &mut windows, reading)?;
            windows.flush()?;
            self.spill.checkpoint(COMPARE, &3)?;
        }
        let links = regions_found.links;
        if done < 4 {
            // From the inside out: windows of mixed cells lead the copies of these cells, and both those of the regions.
            let inside = self.compare_windows(windows.finish()?, end)?.finish()?;
            lead_copies(inside, cells_found.copies.finish()?, &cells_found.links)?;
            let inside = cells_found.links.finish()?;
            lead_copies(inside, regions_found.copies.finish()?, &links)?;
            links.flush()?;
            self.spill.checkpoint(COMPARE, &4)?;
        }
        self.write_map(links.finish()?)
    }

    /// Compares regions, or cells of regions, behind so many steps.
    fn compare(&self, regions: Partitions<6>, found: &FoundInParts, done: u32) -> Result<()> {
        let each = |records: &[[u32; 6]]| found.add_regions(records);
        self.each_part(regions.finish()?, &each, &|| found.flush(), done)?;
        found.flush()
    }

    /// Compares the windows of mixed cells, and returns the links between them.
    fn compare_windows(&self, windows: Sorted<6>, end: u64) -> Result<SharedPartitions<3>> {
        let inside = SharedPartitions::new(self.spill, "inside", end);
        let each = |records: &[[u32; 6]]| inside.push_all(&equal_windows(records));
        self.each_part(windows, &each, &|| inside.flush(), 3)?;
        Ok(inside)
    }

    /// Calls `each` with the sorted records of each part. Makes checkpoints on the way, so that the files of parts that are
    /// done can go: a step that goes on has the other parts alone. `flush` writes all that `each` found.
    fn each_part(
        &self,
        records: Sorted<6>,
        each: &(impl Fn(&[[u32; 6]]) -> Result<()> + Sync),
        flush: &dyn Fn() -> Result<()>,
        done: u32,
    ) -> Result<()> {
        self.progress.begin("compare", PARTS as u64);
        let mut recorded = 0;
        let mut parts_done = |parts| {
            advance(self.progress, parts, 0, 0)?;
            // Each checkpoint makes files of parts that are done superfluous.
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
    fn cells(&self, mixed: Sorted<2>, reading: &impl TextReader) -> Result<Partitions<6>> {
        let mut all = Partitions::new(self.spill, "cells", PARTS, 1 << 32, PARTS);
        read_mixed(mixed, reading, |regions| {
            let mut cells = cells(&regions, self.lengths).into_iter();
            cells.try_for_each(|cell| all.push(&cell.pack()))
        })?;
        Ok(all)
    }

    /// Adds the hashes of the windows of mixed cells, from a reading of the documents.
    fn add_windows(
        &self,
        mixed: Sorted<2>,
        windows: &mut Partitions<6>,
        reading: &impl TextReader,
    ) -> Result<()> {
        read_mixed(mixed, reading, |cells| {
            let mut hashing = Hashing::new(cells.texts, self.lengths.window, cells.base);
            let cells = cells.mixed.iter();
            let mut all = cells.flat_map(|cell| cell.first..cell.first + cell.len);
            all.try_for_each(|window| windows.push(&hashing.window(window)))
        })
    }

    fn write_map(&self, links: Sorted<3>) -> Result<WindowMap> {
        let mut map = MapWriter::new(self.spill.folder())?;
        for record in links.into_records() {
            map.push(Links::unpack(record?))?;
        }
        map.finish(self.spill.memory() / 4)
    }
}

/// Reads the documents, and calls `each` with the texts of some and the mixed regions or cells in them.
fn read_mixed(
    mixed: Sorted<2>,
    reading: &impl TextReader,
    mut each: impl FnMut(MixedInTexts<'_>) -> Result<()>,
) -> Result<()> {
    if mixed.records() == 0 {
        return Ok(());
    }
    let (mut base, mut here) = (0, Vec::new());
    let mut mixed = mixed.into_records().peekable();
    reading.read("read again", &|_| (), &mut |texts, ()| {
        let end = base + places(texts);
        let is_here = |next: &Result<[u32; 2]>| match next {
            Ok(next) => MixedWindows::unpack(*next).first < end,
            Err(_) => true,
        };
        here.clear();
        while let Some(next) = mixed.next_if(is_here) {
            here.push(MixedWindows::unpack(next?));
        }
        each(MixedInTexts {
            texts,
            base,
            mixed: &here,
        })?;
        base = end;
        Ok(())
    })
}

impl FoundInParts {
    /// Nothing yet, or what the last checkpoint has under these names.
    fn new(spill: &Arc<Spill>, end: u64, [links, copies, mixed]: [&str; 3]) -> Self {
        FoundInParts {
            links: SharedPartitions::new(spill, links, end),
            copies: SharedPartitions::new(spill, copies, end),
            mixed: SharedPartitions::new(spill, mixed, end),
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
        let key = |records: &[[u32; 6]]| HashedRegion::unpack(records[0]).key;
        let mut keys: Vec<u64> = Vec::new();
        for same_word in records.chunk_by(|a, b| a[0] == b[0]) {
            // A key is mixed if regions with two hashes have it. Records of one word may have several keys.
            keys.clear();
            keys.extend(same_word.chunk_by(equal).map(key));
            keys.sort_unstable();
            for equal in same_word.chunk_by(equal) {
                let first = HashedRegion::unpack(equal[0]);
                let at = keys.partition_point(|key| *key < first.key);
                let is_mixed = keys.get(at + 1) == Some(&first.key);
                if is_mixed {
                    let windows = MixedWindows {
                        first: first.first,
                        len: first.len,
                    };
                    mixed.push(windows.pack());
                }
                for later in &equal[1..] {
                    let later = HashedRegion::unpack(*later);
                    let link = |first: usize, place: usize| {
                        Links {
                            first,
                            len: later.len,
                            link: LinkTarget::Place(place),
                        }
                        .pack()
                    };
                    // Where the first of its kind leads is not known yet.
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
            link: LinkTarget::Place(place),
        })
    });
    later.map(Links::pack).collect()
}
