//! MurmurHash3_x86_32 of many short byte strings, one per lane.
//!
//! Where the CPU has masked loads, a string is read by one of them, whatever its length. Hashed one by one, short strings
//! cost most by branches on their lengths, which are mispredicted: on an Intel Xeon, a word takes 8 ns and a shingle of
//! five words 12 ns, as against 4 and 5 ns with AVX-512.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::{Lanes, ROWS, Row};
use super::sign::fmix32_lanes;
use super::windows::scramble;
use crate::scheme::murmur3_32;

/// Bytes of a row.
const ROW: usize = size_of::<Row>();

/// Collects strings until there is one for each row. Emits their hashes with seed 0, in order.
#[doc(hidden)]
#[derive(Debug)]
pub struct Murmur3Batch {
    isa: Isa,
    rows: [Row; ROWS],
    lens: [u32; ROWS],
    /// The length of the longest string.
    longest: usize,
    /// The hashes of strings that are longer than a row.
    long: [Option<u32>; ROWS],
    len: usize,
}

impl Murmur3Batch {
    /// `None` where hashing one by one is faster.
    #[doc(hidden)]
    pub fn new(isa: Isa) -> Option<Self> {
        isa.run(HasMaskedLoads).then(|| Murmur3Batch::on(isa))
    }

    fn on(isa: Isa) -> Self {
        Murmur3Batch {
            isa,
            rows: [[0; ROW / 4]; ROWS],
            lens: [0; ROWS],
            longest: 0,
            long: [None; ROWS],
            len: 0,
        }
    }

    /// Adds a string, and emits the hashes of the strings so far if there is one for each row.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the length enters modulo 2^32"
    )]
    #[inline]
    #[doc(hidden)]
    pub fn push(&mut self, string: &[u8], emit: &mut impl FnMut(&[u32])) {
        let lane = self.len;
        let row = &mut self.rows[lane];
        self.isa.run(Fill { row, string });
        self.lens[lane] = string.len() as u32;
        self.longest = self.longest.max(string.len());
        if string.len() > ROW {
            self.long[lane] = Some(murmur3_32(string, 0));
        }
        self.len += 1;
        if self.len == ROWS {
            self.finish(emit);
        }
    }

    /// Emits the hashes of the remaining strings.
    // Inlined, it would slow down each `push`, which seldom calls it.
    #[inline(never)]
    #[doc(hidden)]
    pub fn finish(&mut self, emit: &mut impl FnMut(&[u32])) {
        if self.len == 0 {
            return;
        }
        let mut hashes = [0; ROWS];
        self.isa.run(HashRows {
            rows: &self.rows,
            lens: &self.lens,
            longest: self.longest.min(ROW),
            hashes: &mut hashes,
        });
        if self.longest > ROW {
            for (hash, long) in hashes.iter_mut().zip(&mut self.long) {
                *hash = long.take().unwrap_or(*hash);
            }
        }
        emit(&hashes[..self.len]);
        self.longest = 0;
        self.len = 0;
    }
}

/// Whether rows are filled without branches on lengths.
struct HasMaskedLoads;

impl Kernel for HasMaskedLoads {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> bool {
        L::MASKS_LOADS
    }
}

struct Fill<'a> {
    row: &'a mut Row,
    string: &'a [u8],
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        lanes.fill(self.row, self.string);
    }
}

/// Hashes strings of at most `longest` bytes, which fit a row.
struct HashRows<'a> {
    rows: &'a [Row; ROWS],
    lens: &'a [u32; ROWS],
    longest: usize,
    hashes: &'a mut [u32; ROWS],
}

impl Kernel for HashRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let addend = lanes.splat(0xE654_6B64);
        for first in (0..ROWS).step_by(L::COUNT) {
            let rows = &self.rows[first..];
            let lens = lanes.load(&self.lens[first..]);
            let blocks = lanes.shift_right(lens, 2);
            let mut h = lanes.splat(0);
            let mut block = lanes.splat(0);
            for word in (0..self.longest.div_ceil(4)).step_by(4) {
                for word in lanes.four_columns(rows, word) {
                    // The word after the last block is the rest of the string, and those after it are 0, which
                    // scrambling keeps.
                    h = lanes.xor(h, scramble(lanes, word));
                    let rotated = lanes.rotate_left(h, 13);
                    let twice = lanes.add(rotated, rotated);
                    let five = lanes.add(lanes.add(twice, twice), rotated);
                    h = lanes.where_below(block, blocks, lanes.add(five, addend), h);
                    block = lanes.add(block, lanes.splat(1));
                }
            }
            let hashes = &mut self.hashes[first..];
            lanes.store(fmix32_lanes(lanes, lanes.xor(h, lens)), hashes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fmix64;

    /// A string of any bytes.
    #[allow(clippy::cast_possible_truncation, reason = "any bytes will do")]
    fn string(len: usize, seed: usize) -> Vec<u8> {
        let bytes = (0..len).map(|i| fmix64((i * 1000 + seed) as u64) as u8);
        bytes.collect()
    }

    fn check(strings: &[Vec<u8>]) {
        let expected: Vec<u32> = strings.iter().map(|s| murmur3_32(s, 0)).collect();
        for isa in Isa::available() {
            // Kernels for which no batch is made are right, too.
            let mut batch = Murmur3Batch::on(*isa);
            let mut actual = Vec::new();
            let mut emit = |hashes: &[u32]| actual.extend_from_slice(hashes);
            for string in strings {
                batch.push(string, &mut emit);
            }
            batch.finish(&mut emit);
            assert_eq!(actual, expected, "{isa}");
        }
    }

    #[test]
    fn every_length_in_every_lane() {
        for first in 0..ROWS {
            let strings: Vec<_> = (0..=140 + first).map(|len| string(len, first)).collect();
            check(&strings[first..]);
            let reversed: Vec<_> = strings.into_iter().rev().collect();
            check(&reversed[..=140]);
        }
    }

    #[test]
    fn groups_of_one_length_and_of_any_size() {
        for len in (0..=20).chain([31, 32, 33, 48, 60, 63, 64, 65]) {
            for count in 0..=2 * ROWS {
                check(&(0..count).map(|seed| string(len, seed)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn mixed_lengths() {
        for round in 0..200 {
            let strings = (0..3 * ROWS).map(|i| {
                let random = fmix64((round * 1000 + i) as u64);
                let most = [4, 17, 40, 66, 100][round % 5];
                string(usize::try_from(random % most).unwrap(), i)
            });
            check(&strings.collect::<Vec<_>>());
        }
    }
}
