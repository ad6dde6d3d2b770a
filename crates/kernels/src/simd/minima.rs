//! Where the least k-gram of each window of a text is: its *anchor*.
//!
//! A k-gram has a hash of 32 bits. Each window of w places chooses the place whose hash is the least in its high 18 bits,
//! the leftmost among equals, so that the choice depends on the symbols of the window alone. `anchors` is the definition.
//!
//! The hash of a k-gram is a sum of two of its parts, one of them rotated, and so on down to hashes of at most four bytes. So
//! the hashes of all places double their width step by step, and so do minima of neighbours. Both stay in registers up to
//! 16 symbols and 16 places: a step takes 16 places, shifts them against those before by lanes, and passes them on. In a
//! block that stays in the first-level cache, one pass makes hashes of 16 symbols, one those of k-grams and the minima of 16
//! places, and one the minima of windows. The low bits of what is compared are the place in the block, so that the minimum
//! says where it is.

use bytemuck::Pod;

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::{Lanes, ROWS};

/// Bits of a place in a block.
const PLACE_BITS: u32 = 14;

/// Selects the place of what is compared.
const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// The most windows that are looked at in one block, and the most places of a window.
#[doc(hidden)]
pub const MOST_WINDOWS: usize = 2048;
#[doc(hidden)]
pub const MOST_PLACES: usize = 4096;

/// Places that a step takes: the lanes of one to four vectors.
const STEP: usize = ROWS;

/// Symbols that are read behind the last one needed, of no effect: the rest of a step, four steps, and one load.
const SLACK: usize = 5 * STEP + 32;

/// By how much the hash of the second part is rotated, by level: up to 2^5 parts of a hash are all rotated by different
/// numbers of bits.
const TURNS: [u32; 5] = [13, 26, 20, 3, 7];

/// What texts are made of.
#[doc(hidden)]
pub trait Symbol: Pod + Eq + Default + Send + Sync {
    /// Symbols that the first hash of a place covers.
    const FIRST: usize;

    /// The hash of the first symbols of a k-gram, at most [`Symbol::FIRST`]: the definition.
    #[cfg(test)]
    fn first_hash(symbols: &[Self]) -> u32;

    /// The first hashes of [`Lanes::COUNT`] places, from `width` symbols each.
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[Self], width: usize) -> L::U32;
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
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u8], width: usize) -> L::U32 {
        let Some(bytes) = symbols.first_chunk::<32>() else {
            return lanes.splat(0);
        };
        let mut words = lanes.load_overlapping(bytes);
        if width < Self::FIRST {
            words = lanes.and(words, lanes.splat((1 << (8 * width)) - 1));
        }
        mix_lanes(lanes, words)
    }
}

impl Symbol for u32 {
    const FIRST: usize = 1;

    #[cfg(test)]
    fn first_hash(symbols: &[u32]) -> u32 {
        mix(symbols[0])
    }

    #[inline(always)]
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u32], _: usize) -> L::U32 {
        mix_lanes(lanes, lanes.load(symbols))
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
    fn first_hashes<L: Lanes>(lanes: L, symbols: &[u64], _: usize) -> L::U32 {
        let factor = lanes.splat64(FACTOR_64);
        let low = lanes.mul64(lanes.load64(symbols), factor);
        let high = lanes.mul64(lanes.load64(&symbols[L::COUNT / 2..]), factor);
        lanes.high_words(low, high)
    }
}

/// Lengths of k-grams and windows, in symbols and places.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Grams {
    /// Symbols of a k-gram.
    #[doc(hidden)]
    pub gram: usize,
    /// Places of k-grams in a window.
    #[doc(hidden)]
    pub places: usize,
}

/// The hash of a k-gram.
#[cfg(test)]
fn gram_hash<S: Symbol>(gram: &[S]) -> u32 {
    let mut width = S::FIRST.min(gram.len());
    let places = 0..=gram.len() - width;
    let mut hashes: Vec<u32> = places
        .map(|place| S::first_hash(&gram[place..place + width]))
        .collect();
    let mut turns = TURNS.iter().cycle();
    while width < gram.len() {
        let whole = gram.len().min(2 * width);
        let turn = *turns.next().unwrap();
        let sum = |place: usize| {
            let second: u32 = hashes[place + whole - width];
            hashes[place].wrapping_add(second.rotate_left(turn))
        };
        hashes = (0..=gram.len() - whole).map(sum).collect();
        width = whole;
    }
    let hash = hashes[0];
    (hash ^ hash >> 15).wrapping_mul(LAST_FACTOR)
}

/// The anchors of all windows of a text: the definition.
#[cfg(test)]
pub(crate) fn anchors<S: Symbol>(text: &[S], grams: Grams) -> Vec<usize> {
    let hashes = text.windows(grams.gram).map(gram_hash);
    let hashes: Vec<u32> = hashes.map(|hash| hash >> PLACE_BITS).collect();
    let windows = hashes.windows(grams.places).enumerate();
    let anchor = |(first, hashes): (usize, &[u32])| {
        first
            + (0..grams.places)
                .min_by_key(|place| hashes[*place])
                .unwrap()
    };
    windows.map(anchor).collect()
}

/// Windows in a row with the same anchor. Numbers of windows and anchors count from the first window of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Region {
    #[doc(hidden)]
    pub anchor: usize,
    #[doc(hidden)]
    pub first: usize,
    #[doc(hidden)]
    pub last: usize,
}

/// Finds the anchors of windows. Reuses its memory from block to block.
#[derive(Debug)]
#[doc(hidden)]
pub struct Anchors<S> {
    isa: Isa,
    grams: Grams,
    words: Vec<u32>,
    starts: Vec<u32>,
    /// The end of a text, padded.
    end: Vec<S>,
}

impl<S: Symbol> Anchors<S> {
    /// For windows of at most [`MOST_PLACES`] places.
    #[doc(hidden)]
    pub fn new(isa: Isa, grams: Grams) -> Self {
        Anchors {
            isa,
            grams,
            words: vec![0; MOST_WINDOWS + 64 + grams.places + grams.gram + SLACK],
            starts: vec![0; MOST_WINDOWS + 64],
            end: Vec::new(),
        }
    }

    /// Calls `emit` with the regions of the first `windows` windows of `symbols`, at most [`MOST_WINDOWS`], in order. Symbols
    /// behind these windows have no effect; without some, what is read is copied.
    #[doc(hidden)]
    pub fn regions(&mut self, symbols: &[S], windows: usize, mut emit: impl FnMut(Region)) {
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
    #[doc(hidden)]
    pub fn all_regions(&mut self, text: &[S], mut emit: impl FnMut(Region)) {
        let further = self.grams.gram + self.grams.places - 2;
        let windows = text.len().saturating_sub(further);
        let (mut next, mut regions) = (0, Vec::new());
        while next < windows {
            let count = MOST_WINDOWS.min(windows - next);
            regions.clear();
            self.regions(&text[next..], count, |region| regions.push(region));
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
        let count = windows + places - 1;
        let (mut width, mut level) = (S::FIRST.min(gram), 0);
        if gram > STEP {
            hash_doubled(lanes, symbols, count + gram - STEP, words);
            level = (STEP / width).ilog2() as usize;
            width = STEP;
        } else {
            hash_first(lanes, symbols, count + gram - width, width, words);
        }
        while 2 * width < gram {
            join(lanes, words, count + gram - 2 * width, width, level);
            (width, level) = (2 * width, level + 1);
        }
        let last = (width < gram).then_some(SecondPart {
            offset: gram - width,
            level,
        });
        width = 1;
        if places >= STEP {
            least_of_step(lanes, words, windows + places - STEP, last);
            width = STEP;
        } else {
            place(lanes, words, count, last);
        }
        while PARTS * width < places {
            least(lanes, words, windows + places - PARTS * width, width);
            width *= PARTS;
        }
        let offsets = std::array::from_fn(|part| (part * width).min(places - width));
        least_of_windows(lanes, words, windows, offsets, starts)
    }
}

/// How the numbers of two places become one.
trait Join: Copy {
    fn join<L: Lanes>(self, lanes: L, first: L::U32, second: L::U32) -> L::U32;
}

/// The sum of hashes, of which the second is rotated as on this level.
#[derive(Clone, Copy)]
struct Turned(usize);

impl Join for Turned {
    #[inline(always)]
    fn join<L: Lanes>(self, lanes: L, first: L::U32, second: L::U32) -> L::U32 {
        let turn = TURNS[self.0 % TURNS.len()];
        lanes.add(first, lanes.rotate_left(second, turn))
    }
}

#[derive(Clone, Copy)]
struct Least;

impl Join for Least {
    #[inline(always)]
    fn join<L: Lanes>(self, lanes: L, first: L::U32, second: L::U32) -> L::U32 {
        lanes.min(first, second)
    }
}

/// [`STEP`] numbers, in as many vectors as it takes. No closure has lanes in it, since those are not always inlined.
#[derive(Clone, Copy)]
struct Step<L: Lanes>([L::U32; STEP / 4]);

impl<L: Lanes> Step<L> {
    const VECTORS: usize = STEP / L::COUNT;

    #[inline(always)]
    fn zero(lanes: L) -> Self {
        Step([lanes.splat(0); STEP / 4])
    }

    #[inline(always)]
    fn store(self, lanes: L, words: &mut [u32]) {
        let words = &mut words[..STEP];
        for i in 0..Self::VECTORS {
            lanes.store(self.0[i], &mut words[i * L::COUNT..]);
        }
    }

    /// Vector `i` of two steps.
    #[inline(always)]
    fn vector(before: Self, after: Self, i: usize) -> L::U32 {
        match i.checked_sub(Self::VECTORS) {
            None => before.0[i],
            Some(i) => after.0[i],
        }
    }

    /// Joins the numbers of the step before with those that stand `by` places behind each, up to those of this step, which
    /// becomes the one before.
    #[inline(always)]
    fn pass(self, lanes: L, before: &mut Self, by: usize, join: impl Join) -> Self {
        let (vectors, shift) = (by / L::COUNT, by % L::COUNT);
        let mut joined = self;
        for i in 0..Self::VECTORS {
            let mut behind = Self::vector(*before, self, i + vectors);
            if shift > 0 {
                let next = Self::vector(*before, self, i + vectors + 1);
                behind = lanes.slide(behind, next, shift);
            }
            joined.0[i] = join.join(lanes, before.0[i], behind);
        }
        *before = self;
        joined
    }
}

/// Writes the first hashes of `count` places.
#[inline(always)]
fn hash_first<L: Lanes, S: Symbol>(
    lanes: L,
    symbols: &[S],
    count: usize,
    width: usize,
    words: &mut [u32],
) {
    for at in (0..count).step_by(L::COUNT) {
        lanes.store(
            S::first_hashes(lanes, &symbols[at..], width),
            &mut words[at..],
        );
    }
}

/// Writes hashes of [`STEP`] symbols, `count` of them.
#[inline(always)]
fn hash_doubled<L: Lanes, S: Symbol>(lanes: L, symbols: &[S], count: usize, words: &mut [u32]) {
    let mut before = [Step::zero(lanes); 4];
    let passes = (STEP / S::FIRST).ilog2() as usize;
    for at in (0..count + passes * STEP).step_by(STEP) {
        let mut hashes = Step::zero(lanes);
        for i in 0..Step::<L>::VECTORS {
            let symbols = &symbols[at + i * L::COUNT..];
            hashes.0[i] = S::first_hashes(lanes, symbols, S::FIRST);
        }
        for (level, before) in before.iter_mut().enumerate().take(passes) {
            hashes = hashes.pass(lanes, before, S::FIRST << level, Turned(level));
        }
        if let Some(at) = at.checked_sub(passes * STEP) {
            hashes.store(lanes, &mut words[at..]);
        }
    }
}

/// Replaces `count` hashes by those of parts of twice the width. In place: what is written is never read again.
#[inline(always)]
fn join<L: Lanes>(lanes: L, words: &mut [u32], count: usize, width: usize, level: usize) {
    for at in (0..count).step_by(L::COUNT) {
        let (first, second) = (lanes.load(&words[at..]), lanes.load(&words[at + width..]));
        let hash = Turned(level).join(lanes, first, second);
        lanes.store(hash, &mut words[at..]);
    }
}

/// The numbers of lanes.
const LANE_NUMBERS: [u32; ROWS] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The part that completes a hash.
#[derive(Clone, Copy)]
struct SecondPart {
    /// How far it is behind the first one.
    offset: usize,
    /// The level on which the two are joined.
    level: usize,
}

/// Completes the hashes of a vector of places by second parts, if there are any, and replaces their low bits by their
/// places.
#[allow(clippy::cast_possible_truncation, reason = "a block is short")]
#[inline(always)]
fn placed<L: Lanes>(lanes: L, words: &[u32], at: usize, second: Option<SecondPart>) -> L::U32 {
    let mut hash = lanes.load(&words[at..]);
    if let Some(SecondPart { offset, level }) = second {
        hash = Turned(level).join(lanes, hash, lanes.load(&words[at + offset..]));
    }
    let mixed = lanes.xor(hash, lanes.shift_right(hash, 15));
    let hash = lanes.mul(mixed, lanes.splat(LAST_FACTOR));
    let places = lanes.add(lanes.load(&LANE_NUMBERS), lanes.splat(at as u32));
    lanes.add(lanes.and(hash, lanes.splat(!PLACE)), places)
}

/// Replaces `count` hashes by hashes with places.
#[inline(always)]
fn place<L: Lanes>(lanes: L, words: &mut [u32], count: usize, second: Option<SecondPart>) {
    for at in (0..count).step_by(L::COUNT) {
        lanes.store(placed(lanes, words, at, second), &mut words[at..]);
    }
}

/// Replaces hashes by the minima of [`STEP`] hashes with places, `count` of them.
#[inline(always)]
fn least_of_step<L: Lanes>(lanes: L, words: &mut [u32], count: usize, second: Option<SecondPart>) {
    const PASSES: usize = STEP.ilog2() as usize;
    let mut before = [Step::zero(lanes); PASSES];
    for at in (0..count + PASSES * STEP).step_by(STEP) {
        let mut minima = Step::zero(lanes);
        for i in 0..Step::<L>::VECTORS {
            minima.0[i] = placed(lanes, words, at + i * L::COUNT, second);
        }
        for (level, before) in before.iter_mut().enumerate() {
            minima = minima.pass(lanes, before, 1 << level, Least);
        }
        if let Some(at) = at.checked_sub(PASSES * STEP) {
            minima.store(lanes, &mut words[at..]);
        }
    }
}

/// Minima that are joined at a time.
const PARTS: usize = 5;

/// The least of a vector of minima and those that stand so far behind.
#[inline(always)]
fn least_of<L: Lanes>(lanes: L, words: &[u32], offsets: [usize; PARTS]) -> L::U32 {
    let mut least = lanes.load(&words[offsets[0]..]);
    for offset in &offsets[1..] {
        least = lanes.min(least, lanes.load(&words[*offset..]));
    }
    least
}

/// Replaces minima of `width` places by those of [`PARTS`] times as many, `count` of them.
#[inline(always)]
fn least<L: Lanes>(lanes: L, words: &mut [u32], count: usize, width: usize) {
    let offsets = std::array::from_fn(|part| part * width);
    for at in (0..count).step_by(L::COUNT) {
        let least = least_of(lanes, &words[at..], offsets);
        lanes.store(least, &mut words[at..]);
    }
}

/// Replaces minima by those of the first windows, which join the minima at these offsets. Writes the windows that have
/// another than the one before, and returns their number.
#[allow(clippy::cast_possible_truncation, reason = "a block is short")]
#[inline(always)]
fn least_of_windows<L: Lanes>(
    lanes: L,
    words: &mut [u32],
    windows: usize,
    offsets: [usize; PARTS],
    starts: &mut [u32],
) -> usize {
    let mut found = 0;
    let mut before = least_of(lanes, words, offsets);
    for first in (0..windows).step_by(64) {
        let mut bits = 0;
        for lane in (0..64).step_by(L::COUNT) {
            let least = least_of(lanes, &words[first + lane..], offsets);
            lanes.store(least, &mut words[first + lane..]);
            let earlier = lanes.slide(before, least, L::COUNT - 1);
            let differ = lanes.below_mask(earlier, least) | lanes.below_mask(least, earlier);
            bits |= differ << lane;
            before = least;
        }
        // The first window starts a region, whatever was before.
        bits &= if first == 0 { !1 } else { !0 };
        let left = windows - first;
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
        let text = &text[..windows + size - 1];
        let anchors = anchors(text, grams);
        for isa in Isa::available() {
            let mut found = Vec::new();
            let mut next = 0;
            let mut last_anchor = None;
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
        const WINDOWS: [usize; 7] = [131, 1, 17, 64, 0, 65, 30];
        let check_both = |gram: usize, places: usize| {
            let windows = WINDOWS[(gram + places) % WINDOWS.len()];
            check_all(Grams { gram, places }, windows, 1 << 40);
            check_all(Grams { gram, places }, windows, 2);
        };
        for gram in 1..=70 {
            for places in [1, 2, 4, 15, 16, 27, 69] {
                check_both(gram, places);
            }
        }
        for places in 1..=90 {
            for gram in [1, 2, 4, 16, 17, 25, 32] {
                check_both(gram, places);
            }
        }
        for places in [159, 160, 161, 399, 400, 401] {
            check_both(32, places);
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
            let anchors = anchors(&text, grams);
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
