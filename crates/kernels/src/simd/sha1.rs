//! SHA-1 of many short byte strings, one per lane.
//!
//! A string of at most 55 bytes is one block. The rounds of a block wait for each other, but not for those of the
//! strings in other lanes. So lanes beat the SHA-1 instructions of a CPU: on an AMD EPYC of 2022, 100 strings of 6 bytes
//! take 2.2 microseconds with AVX-512, 2.8 with AVX2, 4.1 with portable lanes, and 4.6 one by one with SHA-NI.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use crate::scheme::sha1;

/// The most lanes of any instruction set.
const LANES: usize = 16;

/// With fewer strings, hashing one by one is faster than a vector that is mostly idle.
const FEWEST: usize = 4;

/// Appends [`sha1_32`](crate::scheme::sha1_32) of each string to `hashes`.
///
/// ```
/// # use simgpu_kernels as simgpu;
/// use simgpu::scheme::sha1_32;
/// use simgpu::simd::{Isa, sha1_32_batch};
///
/// let tokens = ["minhash", "is", "sound"].map(str::as_bytes);
/// let mut hashes = Vec::new();
/// sha1_32_batch(Isa::best(), tokens, &mut hashes);
/// assert_eq!(hashes, tokens.map(sha1_32));
/// ```
pub fn sha1_32_batch<'a>(
    isa: Isa,
    strings: impl IntoIterator<Item = &'a [u8]>,
    hashes: &mut Vec<u32>,
) {
    each_sha1(isa, strings, |[first, _]| hashes.push(first));
}

/// Appends [`sha1_64`](crate::scheme::sha1_64) of each string to `hashes`.
pub fn sha1_64_batch<'a>(
    isa: Isa,
    strings: impl IntoIterator<Item = &'a [u8]>,
    hashes: &mut Vec<u64>,
) {
    each_sha1(isa, strings, |words| hashes.push(sha1::joined(words)));
}

fn each_sha1<'a>(
    isa: Isa,
    strings: impl IntoIterator<Item = &'a [u8]>,
    mut emit: impl FnMut([u32; 2]),
) {
    let mut batch = Sha1Batch::new(isa);
    for string in strings {
        batch.push(string, &mut emit);
    }
    batch.finish(&mut emit);
}

/// Collects strings until there is one for each lane. Emits, in order, the first eight bytes of each digest as two
/// little-endian words.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sha1Batch {
    isa: Isa,
    lanes: usize,
    /// Word j of the block of string i is at `[j][i]`.
    blocks: [[u32; LANES]; 16],
    /// The digests of strings that take more than one block.
    long: [Option<[u32; 2]>; LANES],
    len: usize,
}

impl Sha1Batch {
    #[doc(hidden)]
    pub fn new(isa: Isa) -> Self {
        Sha1Batch {
            isa,
            lanes: isa.run(CountLanes),
            blocks: [[0; LANES]; 16],
            long: [None; LANES],
            len: 0,
        }
    }

    /// Adds a string, and emits the digests of the strings so far if there is one for each lane.
    #[inline]
    #[doc(hidden)]
    pub fn push(&mut self, string: &[u8], emit: &mut impl FnMut([u32; 2])) {
        let lane = self.len;
        if string.len() <= sha1::ONE_BLOCK {
            self.lay_out(string, lane);
        } else {
            self.long[lane] = Some(sha1::digest(string));
        }
        self.len += 1;
        if self.len == self.lanes {
            self.finish(emit);
        }
    }

    /// Writes the padded block of a string into a lane that is zero.
    #[allow(clippy::cast_possible_truncation, reason = "at most 55 bytes")]
    #[inline]
    fn lay_out(&mut self, string: &[u8], lane: usize) {
        let (words, tail) = string.as_chunks::<4>();
        for (word, row) in words.iter().zip(&mut self.blocks) {
            row[lane] = u32::from_be_bytes(*word);
        }
        self.blocks[words.len()][lane] = sha1::last_word(tail);
        self.blocks[15][lane] = 8 * string.len() as u32;
    }

    /// Emits the digests of the remaining strings.
    #[doc(hidden)]
    pub fn finish(&mut self, emit: &mut impl FnMut([u32; 2])) {
        let mut digests = [[0; LANES]; 2];
        if self.len >= FEWEST {
            self.isa.run(Sha1 {
                blocks: &self.blocks,
                digests: &mut digests,
            });
        } else {
            let [first, second] = &mut digests;
            let lanes = first.iter_mut().zip(second).enumerate();
            for (lane, (first, second)) in lanes.take(self.len) {
                let block = self.blocks.each_ref().map(|row| row[lane]);
                [*first, *second] = sha1::digest_of_block(&block);
            }
        }
        let [first, second] = digests;
        let lanes = self.long.iter_mut().zip(first.into_iter().zip(second));
        for (long, (first, second)) in lanes.take(self.len) {
            emit(long.take().unwrap_or([first, second]));
        }
        self.blocks = [[0; LANES]; 16];
        self.len = 0;
    }
}

/// The number of lanes of an instruction set.
struct CountLanes;

impl Kernel for CountLanes {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        L::COUNT
    }
}

/// The first two words of the digests of one-block messages.
struct Sha1<'a> {
    blocks: &'a [[u32; LANES]; 16],
    digests: &'a mut [[u32; LANES]; 2],
}

impl Kernel for Sha1<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut w = self.blocks.each_ref().map(|row| lanes.load(row));
        let start = sha1::START.map(|word| lanes.splat(word));
        let mut state = start;
        for word in w {
            state = round(lanes, state, choose(lanes, state), sha1::K[0], word);
        }
        for i in 16..20 {
            let word = next_word(lanes, &mut w, i);
            state = round(lanes, state, choose(lanes, state), sha1::K[0], word);
        }
        for i in 20..40 {
            let word = next_word(lanes, &mut w, i);
            state = round(lanes, state, parity(lanes, state), sha1::K[1], word);
        }
        for i in 40..60 {
            let word = next_word(lanes, &mut w, i);
            state = round(lanes, state, majority(lanes, state), sha1::K[2], word);
        }
        for i in 60..80 {
            let word = next_word(lanes, &mut w, i);
            state = round(lanes, state, parity(lanes, state), sha1::K[3], word);
        }
        for (i, digests) in self.digests.iter_mut().enumerate() {
            lanes.store(lanes.add(state[i], start[i]), digests);
            for word in digests {
                *word = word.swap_bytes();
            }
        }
    }
}

/// Word `i` of the message schedule, which replaces word `i - 16`.
#[inline(always)]
fn next_word<L: Lanes>(lanes: L, w: &mut [L::U32; 16], i: usize) -> L::U32 {
    let near = lanes.xor(w[(i - 3) % 16], w[(i - 8) % 16]);
    let far = lanes.xor(w[(i - 14) % 16], w[i % 16]);
    w[i % 16] = lanes.rotate_left(lanes.xor(near, far), 1);
    w[i % 16]
}

#[inline(always)]
fn round<L: Lanes>(
    lanes: L,
    state: [L::U32; 5],
    mixed: L::U32,
    k: u32,
    word: L::U32,
) -> [L::U32; 5] {
    let [a, b, c, d, e] = state;
    let constant = lanes.add(word, lanes.splat(k));
    let sum = lanes.add(lanes.add(e, mixed), constant);
    [
        lanes.add(lanes.rotate_left(a, 5), sum),
        a,
        lanes.rotate_left(b, 30),
        c,
        d,
    ]
}

/// `(b & c) | (!b & d)`.
#[inline(always)]
fn choose<L: Lanes>(lanes: L, [_, b, c, d, _]: [L::U32; 5]) -> L::U32 {
    lanes.xor(d, lanes.and(b, lanes.xor(c, d)))
}

#[inline(always)]
fn parity<L: Lanes>(lanes: L, [_, b, c, d, _]: [L::U32; 5]) -> L::U32 {
    lanes.xor(lanes.xor(b, c), d)
}

/// `(b & c) | (b & d) | (c & d)`.
#[inline(always)]
fn majority<L: Lanes>(lanes: L, [_, b, c, d, _]: [L::U32; 5]) -> L::U32 {
    lanes.xor(lanes.and(b, c), lanes.and(d, lanes.xor(b, c)))
}

#[cfg(test)]
mod tests {
    use ::sha1::{Digest, Sha1 as Whole};

    use super::*;

    /// A string of any bytes.
    #[allow(clippy::cast_possible_truncation, reason = "any bytes will do")]
    fn string(len: usize, seed: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 + seed * 7 + len) as u8).collect()
    }

    /// By the whole hash of the crate, padding included.
    fn expected(strings: &[Vec<u8>]) -> Vec<u64> {
        let first = |string: &Vec<u8>| {
            let digest = Whole::digest(string);
            u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
        };
        strings.iter().map(first).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "the first four bytes")]
    fn check(strings: &[Vec<u8>]) {
        let expected = expected(strings);
        let low: Vec<u32> = expected.iter().map(|hash| *hash as u32).collect();
        for isa in Isa::available() {
            let (mut narrow, mut wide) = (Vec::new(), Vec::new());
            sha1_32_batch(*isa, strings.iter().map(Vec::as_slice), &mut narrow);
            sha1_64_batch(*isa, strings.iter().map(Vec::as_slice), &mut wide);
            assert!(narrow == low && wide == expected, "{isa}");
        }
    }

    #[test]
    fn every_length_in_every_lane() {
        for first in 0..LANES {
            let strings: Vec<_> = (0..=130 + first).map(|len| string(len, first)).collect();
            check(&strings[first..]);
        }
    }

    #[test]
    fn batches_of_any_size() {
        for len in [0, 3, 6, 55, 56] {
            for count in 0..=3 * LANES {
                check(&(0..count).map(|seed| string(len, seed)).collect::<Vec<_>>());
            }
        }
    }

    /// Computed by Python's hashlib.
    #[test]
    fn digests_equal_those_of_hashlib() {
        let strings = [
            &b""[..],
            b"abc",
            b"minhash",
            &[b'x'; 55],
            &[b'x'; 56],
            &[0xFF; 130],
        ];
        let mut hashes = Vec::new();
        sha1_64_batch(Isa::best(), strings, &mut hashes);
        assert_eq!(hashes, HASHLIB);
    }

    const HASHLIB: [u64; 6] = [
        0x0D4B_6B5E_EEA3_39DA,
        0x6A81_0647_363E_99A9,
        0x9D39_AF24_1A5B_C520,
        0x4724_A081_BA34_F7CE,
        0x5299_257C_3605_1390,
        0x6037_5D74_D707_5297,
    ];
}
