//! Base hashes: from the bytes of a shingle to the u32 or u64 that permutations act on.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use xxhash_rust::xxh32::xxh32;
use xxhash_rust::xxh64::xxh64;

use super::arithmetic::{folded_product, little_endian};
use super::family::{fmix32, fmix64};
use super::sha1;
use super::values::Word;
use super::width::Width;
use super::words_v1;
use crate::error::{Error, Result};

/// How the bytes of one shingle become a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseHash {
    /// [`murmur3_32`] with seed 0: the default for windows of bytes and characters, and for tokens.
    Murmur3_32,
    /// [`murmur3_128`] with seed 0: the same default for 64-bit schemes.
    Murmur3_128,
    /// [`words_v1`]: the default for shingles of words, in 32 and in 64 bits.
    WordsV1,
    /// [`sha1_32`]: datasketch's.
    Sha1_32,
    /// [`sha1_64`]: datasketch's for 64-bit schemes.
    Sha1_64,
    /// XXH32 with seed 0: datatrove's at 32 bits.
    Xxh32,
    /// XXH64 with seed 0: datatrove's.
    Xxh64,
    /// The low half of XXH3's 64 bits with seed 0: an option of text-dedup 0.4.0.
    Xxh3_32,
    /// [`fx_64`]: rensa's.
    Fx64,
    /// The low half of XXH3's 64 bits with a seed: text-dedup's since 0.4.1. Only presets use it; it has no name.
    SeededXxh3_32 {
        /// The seed of the hash.
        seed: u64,
    },
    /// [`murmur3_32`] with a seed, and 1 in place of 0: cuDF's. Only presets use it; it has no name.
    Cudf32 {
        /// The seed of the hash.
        seed: u32,
    },
    /// [`murmur3_128`] with a seed, and 1 in place of 0: cuDF's at 64 bits.
    Cudf64 {
        /// The seed of the hash.
        seed: u64,
    },
}

const NAMES: [(&str, BaseHash); 9] = [
    ("murmur3-32", BaseHash::Murmur3_32),
    ("murmur3-128", BaseHash::Murmur3_128),
    ("words-v1", BaseHash::WordsV1),
    ("sha1-32", BaseHash::Sha1_32),
    ("sha1-64", BaseHash::Sha1_64),
    ("xxh32", BaseHash::Xxh32),
    ("xxh64", BaseHash::Xxh64),
    ("xxh3-32", BaseHash::Xxh3_32),
    ("fx-64", BaseHash::Fx64),
];

impl BaseHash {
    /// The names that [`BaseHash::from_str`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }

    /// Whether its values have this width.
    pub fn yields(self, width: Width) -> bool {
        match self {
            BaseHash::Murmur3_32
            | BaseHash::Sha1_32
            | BaseHash::Xxh32
            | BaseHash::Xxh3_32
            | BaseHash::SeededXxh3_32 { .. }
            | BaseHash::Cudf32 { .. } => width == Width::U32,
            BaseHash::Murmur3_128
            | BaseHash::Sha1_64
            | BaseHash::Xxh64
            | BaseHash::Fx64
            | BaseHash::Cudf64 { .. } => width == Width::U64,
            BaseHash::WordsV1 => true,
        }
    }
}

impl fmt::Display for BaseHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.into_iter().find(|(_, hash)| hash == self);
        f.write_str(match self {
            BaseHash::SeededXxh3_32 { .. } => "seeded-xxh3-32",
            BaseHash::Cudf32 { .. } => "cudf-32",
            BaseHash::Cudf64 { .. } => "cudf-64",
            _ => name.map_or("unnamed", |(name, _)| name),
        })
    }
}

impl FromStr for BaseHash {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        NAMES
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, hash)| hash)
            .ok_or_else(|| Error::UnknownName {
                what: "base hash",
                name: name.to_owned(),
                known: BaseHash::names().collect::<Vec<_>>().join(", "),
            })
    }
}

/// A shingle hash: what a base hash makes of the bytes of a shingle.
pub trait ShingleHash: Word {
    /// Hashes the bytes of one shingle by `hash`. A hash of the other width is cut to its low half, or
    /// extended with zeros.
    fn of_bytes(hash: BaseHash, bytes: &[u8]) -> Self;

    /// Cuts a `words-v1` value to this width: its high half for 32 bits.
    fn of_words(value: u64) -> Self;
}

impl ShingleHash for u32 {
    #[allow(clippy::cast_possible_truncation, reason = "a wider hash is cut")]
    #[inline]
    fn of_bytes(hash: BaseHash, bytes: &[u8]) -> Self {
        match hash {
            BaseHash::Murmur3_32 => murmur3_32(bytes, 0),
            BaseHash::Sha1_32 => sha1_32(bytes),
            BaseHash::Xxh32 => xxh32(bytes, 0),
            BaseHash::Cudf32 { seed } => murmur3_32(bytes, seed).max(1),
            _ => u64::of_bytes(hash, bytes) as u32,
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the high half fits 32 bits"
    )]
    #[inline]
    fn of_words(value: u64) -> Self {
        (value >> 32) as u32
    }
}

impl ShingleHash for u64 {
    #[inline]
    fn of_bytes(hash: BaseHash, bytes: &[u8]) -> Self {
        match hash {
            BaseHash::Murmur3_32 => murmur3_32(bytes, 0).into(),
            BaseHash::Murmur3_128 => murmur3_128(bytes, 0),
            BaseHash::WordsV1 => words_v1::shingle([words_v1::word(bytes)]),
            BaseHash::Sha1_32 | BaseHash::Xxh32 | BaseHash::Cudf32 { .. } => {
                u32::of_bytes(hash, bytes).into()
            }
            BaseHash::Sha1_64 => sha1_64(bytes),
            BaseHash::Xxh64 => xxh64(bytes, 0),
            BaseHash::Xxh3_32 => xxh3_64(bytes) & u64::from(u32::MAX),
            BaseHash::SeededXxh3_32 { seed } => {
                xxh3_64_with_seed(bytes, seed) & u64::from(u32::MAX)
            }
            BaseHash::Fx64 => fx_64(bytes),
            BaseHash::Cudf64 { seed } => murmur3_128(bytes, seed).max(1),
        }
    }

    #[inline]
    fn of_words(value: u64) -> Self {
        value
    }
}

/// MurmurHash3_x86_32 (Appleby, public domain).
#[allow(
    clippy::cast_possible_truncation,
    reason = "the length enters modulo 2^32"
)]
#[inline]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let mut h = seed;
    for block in bytes.as_chunks::<4>().0 {
        h = murmur3_32_step(h, u32::from_le_bytes(*block));
    }
    h ^= murmur3_32_scramble(rest_of_words(bytes));
    fmix32(h ^ bytes.len() as u32)
}

/// The bytes after the last whole word of four bytes, as a little-endian number; 0 if there are none, which scrambling
/// keeps.
///
/// There is no branch on their number, which would be mispredicted.
#[allow(clippy::cast_possible_truncation, reason = "less than 2^24")]
#[inline]
fn rest_of_words(bytes: &[u8]) -> u32 {
    match bytes.last_chunk::<4>() {
        // 64 bits, because a shift by 32 takes all away.
        Some(last) => {
            let last = u64::from(u32::from_le_bytes(*last));
            (last >> (32 - 8 * (bytes.len() % 4))) as u32
        }
        None => little_endian(bytes) as u32,
    }
}

#[inline]
fn murmur3_32_scramble(block: u32) -> u32 {
    block
        .wrapping_mul(0xCC9E_2D51)
        .rotate_left(15)
        .wrapping_mul(0x1B87_3593)
}

/// Mixes one block of four bytes into a running [`murmur3_32`].
#[inline]
pub(crate) fn murmur3_32_step(h: u32, block: u32) -> u32 {
    (h ^ murmur3_32_scramble(block))
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xE654_6B64)
}

/// The first word of MurmurHash3_x64_128 (Appleby, public domain).
#[inline]
pub fn murmur3_128(bytes: &[u8], seed: u64) -> u64 {
    const C1: u64 = 0x87C3_7B91_1142_53D5;
    const C2: u64 = 0x4CF5_AD43_2745_937F;
    let scramble1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scramble2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (seed, seed);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        h1 ^= scramble1(little_endian(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52DC_E729);
        h2 ^= scramble2(little_endian(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5AB5);
    }
    if tail.len() > 8 {
        h2 ^= scramble2(little_endian(&tail[8..]));
    }
    if !tail.is_empty() {
        h1 ^= scramble1(little_endian(&tail[..tail.len().min(8)]));
    }
    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    fmix64(h1).wrapping_add(fmix64(h2))
}

/// The first four bytes of SHA-1, little-endian. [`sha1_32_batch`](crate::simd::sha1_32_batch) hashes many strings
/// faster.
pub fn sha1_32(bytes: &[u8]) -> u32 {
    let [first, _] = sha1::digest(bytes);
    first
}

/// The first eight bytes of SHA-1, little-endian. [`sha1_64_batch`](crate::simd::sha1_64_batch) hashes many strings
/// faster.
pub fn sha1_64(bytes: &[u8]) -> u64 {
    sha1::joined(sha1::digest(bytes))
}

/// rustc-hash's FxHasher since 2.1.1 on 64-bit targets: one `write` of the bytes, then `finish`.
pub fn fx_64(bytes: &[u8]) -> u64 {
    const GUARD: u64 = 0xA409_3822_299F_31D0;
    const MULTIPLIER: u64 = 0xF135_7AEA_2E62_A9C5;
    let (mut s0, mut s1) = (0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344);
    let len = bytes.len();
    // All blocks of 16 bytes but the last, which is read from the end and may overlap.
    for block in bytes.chunks_exact(16).take(len.saturating_sub(1) / 16) {
        let (x, y) = (little_endian(&block[..8]), little_endian(&block[8..]));
        (s0, s1) = (s1, folded_product(s0 ^ x, GUARD ^ y));
    }
    let last = &bytes[len.saturating_sub(16)..];
    let halves = |half: usize| {
        let (low, high) = (&last[..half], &last[last.len() - half..]);
        (little_endian(low), little_endian(high))
    };
    let (low, high) = match last {
        [] => (0, 0),
        [first, ..] if last.len() < 4 => {
            let middle = u64::from(last[len / 2]);
            (u64::from(*first), u64::from(last[len - 1]) << 8 | middle)
        }
        _ => halves(if last.len() < 8 { 4 } else { 8 }),
    };
    let hash = folded_product(s0 ^ low, s1 ^ high) ^ len as u64;
    hash.wrapping_mul(MULTIPLIER).rotate_left(26)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// MurmurHash3_x86_32 as its author writes it: one byte of the tail after the other.
    #[allow(clippy::cast_possible_truncation, reason = "short strings")]
    fn murmur3_32_by_definition(bytes: &[u8], seed: u32) -> u32 {
        let scramble = |k: u32| {
            let k = k.wrapping_mul(0xCC9E_2D51);
            k.rotate_left(15).wrapping_mul(0x1B87_3593)
        };
        let mut h = seed;
        let blocks = bytes.len() / 4;
        for i in 0..blocks {
            let block = bytes[4 * i..].iter().take(4).rev();
            h ^= scramble(block.fold(0, |k, byte| k << 8 | u32::from(*byte)));
            h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
        }
        let mut k = 0;
        for (i, byte) in bytes[4 * blocks..].iter().enumerate().rev() {
            k ^= u32::from(*byte) << (8 * i);
            if i == 0 {
                h ^= scramble(k);
            }
        }
        h ^= bytes.len() as u32;
        h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
        h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
        h ^ h >> 16
    }

    /// Published values of the reference implementation.
    #[test]
    fn murmur3_32_has_the_known_values() {
        let known: [(&[u8], u32, u32); 13] = [
            (b"", 0, 0),
            (b"", 1, 0x514E_28B7),
            (b"", 0xFFFF_FFFF, 0x81F1_6F39),
            (&[0; 4], 0, 0x2362_F9DE),
            (&[0; 3], 0, 0x85F0_B427),
            (&[0; 2], 0, 0x30F4_C306),
            (&[0; 1], 0, 0x514E_28B7),
            (&[0xFF; 4], 0, 0x7629_3B50),
            (b"aaaa", 0x9747_B28C, 0x5A97_808A),
            (b"aaa", 0x9747_B28C, 0x283E_0130),
            (b"aa", 0x9747_B28C, 0x5D21_1726),
            (b"a", 0x9747_B28C, 0x7FA0_9EA6),
            (b"Hello, world!", 0x9747_B28C, 0x2488_4CBA),
        ];
        for (bytes, seed, expected) in known {
            assert_eq!(murmur3_32(bytes, seed), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn murmur3_32_equals_the_definition(
            bytes in proptest::collection::vec(any::<u8>(), 70),
            seed in any::<u32>(),
        ) {
            for len in 0..=bytes.len() {
                let bytes = &bytes[..len];
                for seed in [0, seed] {
                    let expected = murmur3_32_by_definition(bytes, seed);
                    prop_assert_eq!(murmur3_32(bytes, seed), expected);
                }
            }
        }
    }
}
