//! Where the least k-gram of each window of a text is: its *anchor*.
//!
//! A k-gram has a hash of 32 bits. Each window of w places chooses the place whose hash is the least in its high 18 bits,
//! the leftmost among equals, so that the choice depends on the symbols of the window alone. [`anchor`] is the definition.
//!
//! Hashes of four, then 16 symbols are sums of rotated hashes of four neighbours, and the minima of 4, 16, 64 places those
//! of four neighbours: passes over a block that stays in the first-level cache, each with four loads and one store. Passes
//! that join two neighbours need twice the stores. The low bits of what is compared are the place in the block, so that
//! the minimum says where it is.

use bytemuck::Pod;

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::{Lanes, ROWS};

/// Bits of a place in a block.
const PLACE_BITS: u32 = 14;

/// Selects the place of what is compared.
const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// The most windows that are looked at in one block, and the most places of a window.
pub(crate) const MOST_WINDOWS: usize = 2048;
pub(crate) const MOST_PLACES: usize = 4096;

/// Symbols that are read behind the last one needed, of no effect.
const SLACK: usize = 32 + 2 * ROWS;

/// By how much the hashes of the second, third and fourth part are rotated, by level: if they were the same on all, parts
/// that are exchanged would not change the hash.
const TURNS: [[u32; 3]; 3] = [[7, 13, 22], [5, 19, 26], [3, 11, 17]];

/// What texts are made of.
pub(crate) trait Symbol: Pod + Eq + Default + Send + Sync {
    /// Symbols that the first hash of a place covers.
    const FIRST: usize;

    /// The hash of the first symbols of a k-gram, at most [`Symbol::FIRST`]: the definition.
    #[cfg(test)]
    fn first_hash(symbols: &[Self]) -> u32;

    /// The first hashes of [`Lanes::COUNT`] places, from `width` symbols each.
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[Self], width: usize, hashes: &mut [u32]);
}

/// The factor of the first hash.
const FACTOR: u32 = 0x9E37_79B1;

/// The factor of the first hash of wide symbols.
const FACTOR_64: u64 = 0x9E37_79B1_85EB_CA87;

/// The factor of the last step.
const LAST_FACTOR: u32 = 0x2C1B_3C6D;

#[cfg(test)]
fn mix(word: u32) -> u32 {
    let word = word.wrapping_mul(FACTOR);
    word ^ word >> 15
}

#[inline(always)]
fn mix_lanes<L: Lanes>(lanes: L, word: L::U32) -> L::U32 {
    let word = lanes.mul(word, lanes.splat(FACTOR));
    lanes.xor(word, lanes.shift_right(word, 15))
}

impl Symbol for u8 {
    const FIRST: usize = 4;

    #[cfg(test)]
    fn first_hash(symbols: &[u8]) -> u32 {
        let bytes = symbols.iter().take(Self::FIRST).rev();
        mix(bytes.fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    #[inline(always)]
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u8], width: usize, hashes: &mut [u32]) {
        let Some(bytes) = symbols.first_chunk::<32>() else {
            return;
        };
        let mut words = lanes.load_overlapping(bytes);
        if width < Self::FIRST {
            words = lanes.and(words, lanes.splat((1 << (8 * width)) - 1));
        }
        lanes.store(mix_lanes(lanes, words), hashes);
    }
}

impl Symbol for u32 {
    const FIRST: usize = 1;

    #[cfg(test)]
    fn first_hash(symbols: &[u32]) -> u32 {
        mix(symbols[0])
    }

    #[inline(always)]
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u32], _: usize, hashes: &mut [u32]) {
        lanes.store(mix_lanes(lanes, lanes.load(symbols)), hashes);
    }
}

impl Symbol for u64 {
    const FIRST: usize = 1;

    #[allow(clippy::cast_possible_truncation, reason = "the high half")]
    #[cfg(test)]
    fn first_hash(symbols: &[u64]) -> u32 {
        (symbols[0].wrapping_mul(FACTOR_64) >> 32) as u32
    }

    #[inline(always)]
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u64], _: usize, hashes: &mut [u32]) {
        let factor = lanes.splat64(FACTOR_64);
        for at in [0, L::COUNT / 2] {
            let products = lanes.mul64(lanes.load64(&symbols[at..]), factor);
            lanes.store_high(products, &mut hashes[at..]);
        }
    }
}

/// Lengths of k-grams and windows, in symbols and places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grams {
    /// Symbols of a k-gram.
    pub(crate) gram: usize,
    /// Places of k-grams in a window.
    pub(crate) places: usize,
}

/// Where the three further parts of a whole begin, of which the first part has `width`.
#[inline(always)]
fn offsets(width: usize, whole: usize) -> [usize; 3] {
    [1, 2, 3].map(|part| (part * width).min(whole - width))
}

/// How wide the whole is that a pass makes of parts of this width: four times as wide, or all.
#[inline(always)]
fn joined(width: usize, whole: usize) -> usize {
    whole.min(4 * width)
}

/// The hash of a k-gram.
#[cfg(test)]
fn gram_hash<S: Symbol>(gram: &[S]) -> u32 {
    let mut width = S::FIRST.min(gram.len());
    let places = 0..=gram.len() - width;
    let mut hashes: Vec<u32> = places
        .map(|place| S::first_hash(&gram[place..place + width]))
        .collect();
    let mut level = 0;
    while width < gram.len() {
        let whole = joined(width, gram.len());
        let (offsets, turns) = (offsets(width, whole), TURNS[level % TURNS.len()]);
        let parts = |place: usize| {
            let parts = offsets.iter().zip(turns);
            parts.fold(hashes[place], |sum, (offset, turn)| {
                sum.wrapping_add(hashes[place + offset].rotate_left(turn))
            })
        };
        hashes = (0..=gram.len() - whole).map(parts).collect();
        width = whole;
        level += 1;
    }
    let hash = hashes[0];
    (hash ^ hash >> 15).wrapping_mul(LAST_FACTOR)
}

/// The place of the anchor of a window: the definition.
#[cfg(test)]
pub(crate) fn anchor<S: Symbol>(window: &[S], grams: Grams) -> usize {
    let hash = |place: &usize| gram_hash(&window[*place..*place + grams.gram]) >> PLACE_BITS;
    (0..grams.places).min_by_key(hash).unwrap()
}

/// Windows in a row with the same anchor. Numbers of windows and anchors count from the first window of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) anchor: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Finds the anchors of windows. Reuses its memory from block to block.
#[derive(Debug)]
pub(crate) struct Anchors<S> {
    isa: Isa,
    grams: Grams,
    words: Vec<u32>,
    starts: Vec<u32>,
    /// The end of a text, padded.
    end: Vec<S>,
}

impl<S: Symbol> Anchors<S> {
    /// For windows of at most [`MOST_PLACES`] places.
    pub(crate) fn new(isa: Isa, grams: Grams) -> Self {
        Anchors {
            isa,
            grams,
            words: vec![0; MOST_WINDOWS + grams.places + grams.gram + SLACK],
            starts: vec![0; MOST_WINDOWS + 64],
            end: Vec::new(),
        }
    }

    /// Calls `emit` with the regions of the first `windows` windows of `symbols`, at most [`MOST_WINDOWS`], in order.
    pub(crate) fn regions(&mut self, symbols: &[S], windows: usize, mut emit: impl FnMut(Region)) {
        let Grams { gram, places } = self.grams;
        if places == 1 {
            (0..windows).for_each(|window| {
                emit(Region {
                    anchor: window,
                    first: window,
                    last: window,
                });
            });
            return;
        }
        let reach = windows + gram + places + SLACK;
        let symbols = match symbols.get(..reach) {
            Some(symbols) => symbols,
            None => {
                self.end.clear();
                self.end.extend_from_slice(symbols);
                self.end.resize(reach, S::default());
                &self.end
            }
        };
        let changes = self.isa.run(FindMinima {
            symbols,
            grams: self.grams,
            windows,
            words: &mut self.words,
            starts: &mut self.starts,
        });
        let anchor = |window: usize| (self.words[window] & PLACE) as usize;
        let mut first = 0;
        for start in &self.starts[..changes] {
            let start = *start as usize;
            emit(Region {
                anchor: anchor(first),
                first,
                last: start - 1,
            });
            first = start;
        }
        if windows > 0 {
            emit(Region {
                anchor: anchor(first),
                first,
                last: windows - 1,
            });
        }
    }
}

impl<S: Symbol> Anchors<S> {
    /// Calls `emit` with the regions of a text, in order.
    #[cfg(any(test, feature = "io", feature = "internals"))]
    pub(crate) fn all_regions(&mut self, text: &[S], mut emit: impl FnMut(Region)) {
        let further = self.grams.gram + self.grams.places - 2;
        let windows = text.len().saturating_sub(further);
        let (mut next, mut regions) = (0, Vec::new());
        while next < windows {
            let count = MOST_WINDOWS.min(windows - next);
            regions.clear();
            let symbols = &text[next..next + count + further];
            self.regions(symbols, count, |region| regions.push(region));
            // The last region may go on in the next block.
            if next + count < windows && regions.len() > 1 {
                regions.pop();
            }
            let start = next;
            for region in &regions {
                emit(Region {
                    anchor: start + region.anchor,
                    first: start + region.first,
                    last: start + region.last,
                });
                next = start + region.last + 1;
            }
        }
    }
}

/// Computes the minima of the first windows into `words`, and writes the windows that have another minimum than the one
/// before, of which it returns the number.
struct FindMinima<'a, S> {
    symbols: &'a [S],
    grams: Grams,
    windows: usize,
    words: &'a mut [u32],
    starts: &'a mut [u32],
}

impl<S: Symbol> Kernel for FindMinima<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let FindMinima {
            symbols,
            grams: Grams { gram, places },
            windows,
            words,
            starts,
        } = self;
        let mut width = S::FIRST.min(gram);
        let mut count = windows + places - 1 + gram - width;
        for at in (0..count).step_by(L::COUNT) {
            S::first_hashes(lanes, &symbols[at..], width, &mut words[at..]);
        }
        let mut level = 0;
        while width < gram {
            let whole = joined(width, gram);
            count -= whole - width;
            join(
                lanes,
                words,
                count,
                (width, whole),
                TURNS[level % TURNS.len()],
            );
            width = whole;
            level += 1;
        }
        add_places(lanes, words, count);
        width = 1;
        while width < places {
            let whole = joined(width, places);
            count -= whole - width;
            least(lanes, words, count, (width, whole));
            width = whole;
        }
        changes(lanes, words, windows, starts)
    }
}

/// Replaces `count` hashes by those of four parts, or of two. In place: what is written is never read again.
#[inline(always)]
fn join<L: Lanes>(
    lanes: L,
    words: &mut [u32],
    count: usize,
    (width, whole): (usize, usize),
    turns: [u32; 3],
) {
    let offsets = offsets(width, whole);
    let words = &mut words[..count.next_multiple_of(L::COUNT) + whole - width + L::COUNT];
    for at in (0..count).step_by(L::COUNT) {
        let mut sum = lanes.load(&words[at..]);
        for (offset, turn) in offsets.iter().zip(turns) {
            let part = lanes.load(&words[at + offset..]);
            sum = lanes.add(sum, lanes.rotate_left(part, turn));
        }
        lanes.store(sum, &mut words[at..]);
    }
}

/// Completes `count` hashes, and replaces their low bits by their places.
#[inline(always)]
fn add_places<L: Lanes>(lanes: L, words: &mut [u32], count: usize) {
    let factor = lanes.splat(LAST_FACTOR);
    let hash_bits = lanes.splat(!PLACE);
    let (step, first) = steps::<L>();
    let mut places = lanes.load(&first);
    let step = lanes.splat(step);
    for at in (0..count).step_by(L::COUNT) {
        let hash = lanes.load(&words[at..]);
        let hash = lanes.mul(lanes.xor(hash, lanes.shift_right(hash, 15)), factor);
        lanes.store(
            lanes.add(lanes.and(hash, hash_bits), places),
            &mut words[at..],
        );
        places = lanes.add(places, step);
    }
}

/// The number of lanes, and the first place of each.
#[allow(clippy::cast_possible_truncation, reason = "at most 16")]
fn steps<L: Lanes>() -> (u32, [u32; ROWS]) {
    (L::COUNT as u32, std::array::from_fn(|lane| lane as u32))
}

/// Replaces `count` minima of `width` places by those of `whole` places.
#[inline(always)]
fn least<L: Lanes>(lanes: L, words: &mut [u32], count: usize, (width, whole): (usize, usize)) {
    let [second, third, fourth] = offsets(width, whole);
    let words = &mut words[..count.next_multiple_of(L::COUNT) + whole - width + L::COUNT];
    if fourth == second {
        for at in (0..count).step_by(L::COUNT) {
            let (a, b) = (lanes.load(&words[at..]), lanes.load(&words[at + second..]));
            lanes.store(lanes.min(a, b), &mut words[at..]);
        }
        return;
    }
    for at in (0..count).step_by(L::COUNT) {
        let (a, b) = (lanes.load(&words[at..]), lanes.load(&words[at + second..]));
        let (c, d) = (
            lanes.load(&words[at + third..]),
            lanes.load(&words[at + fourth..]),
        );
        let least = lanes.min(lanes.min(a, b), lanes.min(c, d));
        lanes.store(least, &mut words[at..]);
    }
}

/// Writes the numbers below `count`, from 1 on, whose word differs from the one before, and returns how many they are.
#[allow(clippy::cast_possible_truncation, reason = "a block is short")]
#[inline(always)]
fn changes<L: Lanes>(lanes: L, words: &[u32], count: usize, starts: &mut [u32]) -> usize {
    let mut found = 0;
    for first in (1..count).step_by(64) {
        let mut bits = 0;
        for lane in (0..64).step_by(L::COUNT) {
            let Some(near) = words.get(first + lane - 1..first + lane + L::COUNT) else {
                break;
            };
            let (before, after) = (lanes.load(near), lanes.load(&near[1..]));
            let differ = lanes.are_below(before, after) | lanes.are_below(after, before);
            bits |= differ << lane;
        }
        let left = count - first;
        if left < 64 {
            bits &= (1 << left) - 1;
        }
        if let Some(places) = starts[found..].first_chunk_mut::<64>() {
            found += lanes.places(bits, first as u32, places);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fmix64;

    /// Checks all instruction sets against the definition.
    fn check<S: Symbol>(text: &[S], grams: Grams, windows: usize) {
        let size = grams.gram + grams.places - 1;
        let anchors: Vec<usize> = text
            .windows(size)
            .take(windows)
            .enumerate()
            .map(|(first, window)| first + anchor(window, grams))
            .collect();
        for isa in Isa::available() {
            let mut found = Vec::new();
            let mut next = 0;
            let mut last_anchor = None;
            let text = &text[..windows + size - 1];
            Anchors::new(*isa, grams).regions(text, windows, |region| {
                assert_eq!(region.first, next, "{isa}");
                assert_ne!(last_anchor, Some(region.anchor), "{isa}: {region:?}");
                next = region.last + 1;
                last_anchor = Some(region.anchor);
                found.extend((region.first..=region.last).map(|_| region.anchor));
            });
            assert_eq!(found, anchors, "{isa}: {grams:?}, {windows} windows");
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "any symbols will do")]
    fn check_all(grams: Grams, windows: usize, alphabet: u64) {
        let symbols = |i| fmix64(i) % alphabet;
        let count = (windows + grams.gram + grams.places) as u64;
        let text: Vec<u64> = (0..count).map(symbols).collect();
        check(&text, grams, windows);
        let narrow: Vec<u32> = text.iter().map(|symbol| *symbol as u32).collect();
        check(&narrow, grams, windows);
        let bytes: Vec<u8> = text.iter().map(|symbol| *symbol as u8).collect();
        check(&bytes, grams, windows);
    }

    #[test]
    fn every_isa_finds_the_anchors_of_the_definition() {
        for gram in [1, 2, 3, 4, 5, 8, 13, 16, 24, 25, 32, 40, 64, 70] {
            for places in [1, 2, 3, 4, 5, 8, 9, 16, 27, 69] {
                for windows in [0, 1, 17, 64, 65, 131] {
                    check_all(Grams { gram, places }, windows, 1 << 40);
                    check_all(Grams { gram, places }, windows, 2);
                }
            }
        }
    }

    #[test]
    fn regions_go_on_from_block_to_block() {
        let grams = Grams {
            gram: 4,
            places: 30,
        };
        for alphabet in [1, 2, 200] {
            let symbols =
                (0..3 * MOST_WINDOWS as u64).map(|i| (fmix64(i) % alphabet).to_le_bytes()[0]);
            let text: Vec<u8> = symbols.collect();
            let size = grams.gram + grams.places - 1;
            let windows = text.windows(size).enumerate();
            let anchors: Vec<usize> = windows.map(|(i, of)| i + anchor(of, grams)).collect();
            for isa in Isa::available() {
                let mut found: Vec<usize> = Vec::new();
                let mut last = None;
                Anchors::new(*isa, grams).all_regions(&text, |region| {
                    assert_ne!(last.replace(region.anchor), Some(region.anchor), "{isa}");
                    assert_eq!(region.first, found.len(), "{isa}");
                    found.extend((region.first..=region.last).map(|_| region.anchor));
                });
                assert_eq!(found, anchors, "{isa}, {alphabet}");
            }
        }
    }

    #[test]
    fn blocks_and_windows_may_be_of_the_largest_size() {
        for (gram, places) in [(32, 69), (2, 300), (40, MOST_PLACES)] {
            check_all(Grams { gram, places }, 300, 5);
        }
        check_all(
            Grams {
                gram: 32,
                places: 69,
            },
            MOST_WINDOWS,
            40,
        );
    }
}
