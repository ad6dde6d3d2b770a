//! MurmurHash3_x86_32 of every window of a byte string, one window per lane.
//!
//! A window of n words shares each scrambled word with n - 1 other windows: all words are scrambled once, and a
//! window combines every fourth.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use super::sign::fmix32_lanes;

/// Windows at a time: they and their words stay in the first-level cache.
const BATCH: usize = 1024;

/// Bytes that one load reads.
const LOAD: usize = 32;

/// Bytes of a line of the cache.
const CACHE_LINE: usize = 64;

/// Memory that is reused from text to text.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Windows {
    /// Scrambled words, later overwritten by hashes. Two lists would now and then alias, so that the CPU lets a
    /// load from one wait for a store to the other.
    words: Vec<u32>,
    /// The end of the text, padded with zeros.
    end: Vec<u8>,
}

impl Windows {
    /// Calls `emit` with the hashes of all windows of `size` bytes in order, some at a time. A shorter text is
    /// one window; an empty one has none.
    #[doc(hidden)]
    pub fn hash(
        &mut self,
        isa: Isa,
        bytes: &[u8],
        size: usize,
        seed: u32,
        mut emit: impl FnMut(&[u32]),
    ) {
        let size = size.min(bytes.len());
        if size == 0 {
            return;
        }
        let windows = bytes.len() - size + 1;
        let words = BATCH + size + LOAD + CACHE_LINE;
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        // Aligned, because a vector across two lines costs two accesses.
        let aligned = self.words.as_ptr().align_offset(CACHE_LINE).min(CACHE_LINE);
        let words = &mut self.words[aligned..];
        for first in (0..windows).step_by(BATCH) {
            let count = BATCH.min(windows - first);
            let reach = BATCH + size + LOAD;
            let bytes = match bytes.get(first..first + reach) {
                Some(bytes) => bytes,
                None => {
                    self.end.clear();
                    self.end.extend_from_slice(&bytes[first..]);
                    self.end.resize(reach, 0);
                    &self.end
                }
            };
            isa.run(HashWindows {
                bytes,
                size,
                seed,
                count,
                words,
            });
            emit(&words[..count]);
        }
    }
}

/// Hashes the first `count` windows of `bytes`, and more up to a whole vector, into `words`.
struct HashWindows<'a> {
    bytes: &'a [u8],
    size: usize,
    seed: u32,
    count: usize,
    words: &'a mut [u32],
}

impl Kernel for HashWindows<'_> {
    type Output = ();

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the length enters modulo 2^32"
    )]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let HashWindows {
            bytes,
            size,
            seed,
            count,
            words,
        } = self;
        let whole = size - size % 4;
        // Words up to the last one of the last window.
        let needed = match whole {
            0 => 0,
            _ => count.next_multiple_of(L::COUNT) + whole - 4,
        };
        for at in (0..needed).step_by(L::COUNT) {
            let word = load(lanes, &bytes[at..]);
            lanes.store(scramble(lanes, word), &mut words[at..]);
        }
        let addend = lanes.splat(0xE654_6B64);
        let tail = lanes.splat((1 << (8 * (size % 4))) - 1);
        let len = lanes.splat(size as u32);
        for at in (0..count).step_by(L::COUNT) {
            let mut h = lanes.splat(seed);
            for word in (at..at + whole).step_by(4) {
                h = lanes.xor(h, lanes.load(&words[word..]));
                h = lanes.rotate_left(h, 13);
                let four = lanes.add(lanes.add(h, h), lanes.add(h, h));
                h = lanes.add(lanes.add(four, h), addend);
            }
            if whole < size {
                let word = lanes.and(load(lanes, &bytes[at + whole..]), tail);
                h = lanes.xor(h, scramble(lanes, word));
            }
            lanes.store(fmix32_lanes(lanes, lanes.xor(h, len)), &mut words[at..]);
        }
    }
}

#[inline(always)]
fn load<L: Lanes>(lanes: L, bytes: &[u8]) -> L::U32 {
    match bytes.first_chunk::<LOAD>() {
        Some(bytes) => lanes.load_overlapping(bytes),
        None => unreachable!("the bytes reach one load beyond the last window"),
    }
}

#[inline(always)]
pub(super) fn scramble<L: Lanes>(lanes: L, word: L::U32) -> L::U32 {
    let word = lanes.mul(word, lanes.splat(0xCC9E_2D51));
    let word = lanes.rotate_left(word, 15);
    lanes.mul(word, lanes.splat(0x1B87_3593))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{fmix64, murmur3_32};

    #[allow(clippy::cast_possible_truncation, reason = "any byte will do")]
    #[test]
    fn every_isa_equals_the_definition() {
        let text: Vec<u8> = (0..3 * BATCH as u64).map(|i| fmix64(i) as u8).collect();
        let check = |isa: Isa, text: &[u8], size: usize, seed: u32| {
            let mut hashes = Vec::new();
            Windows::default().hash(isa, text, size, seed, |some| hashes.extend_from_slice(some));
            let mut expected = Vec::new();
            if !text.is_empty() {
                let size = size.min(text.len());
                expected.extend(text.windows(size).map(|window| murmur3_32(window, seed)));
            }
            assert!(hashes == expected, "{isa}: {size} of {}", text.len());
        };
        for isa in Isa::available() {
            for size in 1..=40 {
                for len in 0..=300 {
                    check(*isa, &text[..len], size, 0);
                }
                for len in [BATCH - 1, BATCH, BATCH + 1, BATCH + size, text.len()] {
                    check(*isa, &text[..len], size, 7);
                }
            }
            for size in [64, 1000, 1023, 1024, 1025, 2000, 3000, 5000] {
                check(*isa, &text, size, 0);
            }
        }
    }
}
