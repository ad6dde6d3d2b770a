//! The regions of texts: windows in a row that choose the same anchor.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_128;

use super::super::hash::hash;
use super::super::lengths::Lengths;
use super::super::search::Symbols;
use super::super::units::UnitTexts;
use super::records::{HashedRegion, LinkTarget, Links, MixedWindows, pack_window};
use simgpu::simd::Isa;
use simgpu::simd::minima::{Anchors, Region as AnchorRegion, Symbol};

/// The regions of some documents, and the windows that repeat those right before them.
#[derive(Debug, Default)]
pub(super) struct Regions {
    pub(super) regions: Vec<HashedRegion>,
    pub(super) repeats: Vec<Links>,
    /// The first place of each document.
    pub(super) starts: Vec<usize>,
    /// The number of places.
    pub(super) places: usize,
}

/// The number of places of texts: their symbols, and one behind each run, so that windows of two runs never follow each
/// other.
pub(super) fn places(texts: &UnitTexts) -> usize {
    let (symbols, ends) = texts.symbols();
    ends.len() + with_symbols(symbols).len()
}

/// The symbols of texts as bytes, and the bytes of each.
fn with_symbols(symbols: Symbols<'_>) -> SymbolBytes<'_> {
    match symbols {
        Symbols::Bytes(symbols) => SymbolBytes::new(symbols),
        Symbols::U32(symbols) => SymbolBytes::new(symbols),
        Symbols::U64(symbols) => SymbolBytes::new(symbols),
    }
}

/// Symbols of any width as bytes.
#[derive(Clone, Copy)]
struct SymbolBytes<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> SymbolBytes<'a> {
    fn new<S: Symbol>(symbols: &'a [S]) -> Self {
        SymbolBytes {
            bytes: bytemuck::cast_slice(symbols),
            width: size_of::<S>(),
        }
    }

    fn len(self) -> usize {
        self.bytes.len() / self.width
    }

    fn get(self, symbols: Range<usize>) -> &'a [u8] {
        &self.bytes[symbols.start * self.width..symbols.end * self.width]
    }
}

/// The regions of texts, whose first place is 0.
pub(super) fn regions(texts: &UnitTexts, lengths: &Lengths) -> Regions {
    let (symbols, ends) = texts.symbols();
    let found = match symbols {
        Symbols::Bytes(symbols) => regions_in(symbols, ends, lengths),
        Symbols::U32(symbols) => regions_in(symbols, ends, lengths),
        Symbols::U64(symbols) => regions_in(symbols, ends, lengths),
    };
    let mut runs = texts.documents();
    runs.pop();
    Regions {
        starts: runs
            .into_iter()
            .map(|run| first_place(texts, run))
            .collect(),
        places: places(texts),
        ..found
    }
}

/// The place of the first symbol of a run, from that of the first document on.
pub(super) fn first_place(texts: &UnitTexts, run: usize) -> usize {
    texts.run_symbols(run).start + run
}

fn regions_in<S: Symbol>(symbols: &[S], ends: &[usize], lengths: &Lengths) -> Regions {
    let mut found = Regions::default();
    let mut anchors = Anchors::new(Isa::best(), lengths.grams);
    let mut start = 0;
    for (run, end) in ends.iter().enumerate() {
        let text = &symbols[start..*end];
        let mut repeats = RegionRepeats::default();
        anchors.all_regions(text, |found_region| {
            let region = region(text, lengths, found_region, start + run);
            if !repeats.repeats(region, &mut found.repeats) {
                found.regions.push(region);
            }
        });
        repeats.end(&mut found.repeats);
        start = *end;
    }
    found
}

/// The record of a region of a text that begins at the place `start`.
fn region<S: Symbol>(
    text: &[S],
    lengths: &Lengths,
    found: AnchorRegion,
    start: usize,
) -> HashedRegion {
    let AnchorRegion {
        anchor,
        first,
        last,
    } = found;
    let gram = bytemuck::cast_slice(&text[anchor..anchor + lengths.grams.gram]);
    let all = bytemuck::cast_slice(&text[first..last + lengths.window]);
    HashedRegion {
        key: hash(gram, 0) >> (64 - HashedRegion::KEY),
        hash: hash_of_all(all),
        first: start + first,
        len: last + 1 - first,
    }
}

/// Mixed regions or cells of some texts.
pub(super) struct MixedInTexts<'a> {
    pub(super) texts: &'a UnitTexts,
    /// The first place of the texts.
    pub(super) base: usize,
    /// In order.
    pub(super) mixed: &'a [MixedWindows],
}

/// The cells of mixed regions: the windows of a region are divided by the place of the anchor in them, and the key of a cell
/// is a hash of the symbols that all of them have in common.
pub(super) fn cells(regions: &MixedInTexts<'_>, lengths: &Lengths) -> Vec<HashedRegion> {
    match regions.texts.symbols().0 {
        Symbols::Bytes(symbols) => cells_in(symbols, regions, lengths),
        Symbols::U32(symbols) => cells_in(symbols, regions, lengths),
        Symbols::U64(symbols) => cells_in(symbols, regions, lengths),
    }
}

fn cells_in<S: Symbol>(
    symbols: &[S],
    regions: &MixedInTexts<'_>,
    lengths: &Lengths,
) -> Vec<HashedRegion> {
    let (_, ends) = regions.texts.symbols();
    let base = regions.base;
    // As many cells as windows of a cell, about.
    let size = lengths.grams.places.isqrt();
    let mut anchors = Anchors::new(Isa::best(), lengths.grams);
    let (mut found, mut run) = (Vec::new(), 0);
    for region in regions.mixed {
        // Each run has one place more than symbols.
        while ends[run] + run <= region.first - base {
            run += 1;
        }
        let (shift, mut first) = (base + run, region.first - base - run);
        let (end, mut anchor) = (first + region.len, first);
        // All windows of the region have the anchor of the first one, which the record lacks.
        let window = &symbols[first..first + lengths.window];
        anchors.regions(window, 1, |region| anchor += region.anchor);
        while first < end {
            let (from, to) = lengths.core_of(size, anchor, first);
            // The last window of the cell begins where the core begins.
            let last = from.min(end - 1);
            let core = bytemuck::cast_slice(&symbols[from..to]);
            let all = bytemuck::cast_slice(&symbols[first..last + lengths.window]);
            found.push(HashedRegion {
                key: hash(core, 1 + (anchor - from) as u64) >> (64 - HashedRegion::KEY),
                hash: hash_of_all(all),
                first: first + shift,
                len: last + 1 - first,
            });
            first = last + 1;
        }
    }
    found
}

/// 96 bits of a hash.
#[allow(clippy::cast_possible_truncation, reason = "bits of a hash")]
fn hash_of_all(bytes: &[u8]) -> [u32; 3] {
    let hash = xxh3_128(bytes);
    [64, 32, 0].map(|bits| (hash >> bits) as u32)
}

/// Finds regions that equal the one right before, as in text with a short period: each of their windows equals the one so
/// many places before.
#[derive(Default)]
struct RegionRepeats {
    last: Option<HashedRegion>,
    len: usize,
}

impl RegionRepeats {
    fn repeats(&mut self, region: HashedRegion, found: &mut Vec<Links>) -> bool {
        let same = |last: &HashedRegion| (last.hash, last.len) == (region.hash, region.len);
        if self.last.as_ref().is_some_and(same) {
            self.len += region.len;
            return true;
        }
        self.end(found);
        self.last = Some(region);
        false
    }

    fn end(&mut self, found: &mut Vec<Links>) {
        if let (Some(last), 1..) = (self.last.take(), self.len) {
            found.push(Links {
                first: last.first + last.len,
                len: self.len,
                link: LinkTarget::Back(last.len),
            });
        }
        self.len = 0;
    }
}

/// Finds the symbols of windows of texts, whose first place is `base`, in ascending order.
pub(super) struct Hashing<'a> {
    symbols: SymbolBytes<'a>,
    ends: &'a [usize],
    window: usize,
    base: usize,
    run: usize,
}

impl<'a> Hashing<'a> {
    pub(super) fn new(texts: &'a UnitTexts, window: usize, base: usize) -> Self {
        let (symbols, ends) = texts.symbols();
        Hashing {
            symbols: with_symbols(symbols),
            ends,
            window,
            base,
            run: 0,
        }
    }

    /// The record of a window.
    pub(super) fn window(&mut self, place: usize) -> [u32; 6] {
        let at = place - self.base;
        // Each run has one place more than symbols.
        while self.ends[self.run] + self.run <= at {
            self.run += 1;
        }
        let at = at - self.run;
        pack_window(xxh3_128(self.symbols.get(at..at + self.window)), place)
    }
}
