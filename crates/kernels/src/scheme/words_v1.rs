//! `words-v1`, the default hash of word shingles: hashes every word once, and combines the hashes of the n
//! words of a shingle.
//!
//! A text of m words costs m word hashes and m combinations for any n; hashing the bytes of each shingle would
//! read every word n times. All arithmetic is modulo 2^64:
//!
//! ```text
//! fold(x, m)  = low64(x*m) ^ high64(x*m)
//! word(w)     = h, from h = len(w) ^ SEED, and h = fold(h ^ c, FOLD) for each 8-byte little-endian
//!               chunk c of w, the last one padded with zeros
//! shingle     = fmix64(word(w_1)*STEP^(n-1) + word(w_2)*STEP^(n-2) + .. + word(w_n))
//! ```
//!
//! A 32-bit hash is the high half. vectors/words_v1.json freezes the values, and [`UNICODE_VERSION`] the word
//! boundaries. On real words and on counters in decimal and hexadecimal, it collides as often as a random
//! function would. The folded product matters: a truncated product makes words collide that differ in the last
//! byte of a chunk.

use super::arithmetic::{folded_product, little_endian};
use super::family::fmix64;

/// The hash of a word before its first chunk, to which its length is xored.
#[doc(hidden)]
pub const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FOLD: u64 = 0xA076_1D64_78BD_642F;
/// Multiplies the sum of a shingle before the next word is added.
pub(crate) const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// The Unicode version that decides word boundaries (UAX #29).
pub const UNICODE_VERSION: (u64, u64, u64) = unicode_segmentation::UNICODE_VERSION;

/// The hash of one word.
pub fn word(bytes: &[u8]) -> u64 {
    let chunks = bytes.chunks(8);
    chunks.fold(bytes.len() as u64 ^ SEED, |h, chunk| {
        fold(h ^ little_endian(chunk))
    })
}

/// The hash of a shingle, from the hashes of its words in order.
pub fn shingle(words: impl IntoIterator<Item = u64>) -> u64 {
    let combine = |sum: u64, word| sum.wrapping_mul(STEP).wrapping_add(word);
    fmix64(words.into_iter().fold(0, combine))
}

/// The hashes of all shingles of `size` consecutive words, from the words' hashes.
///
/// The sum rolls along: one step drops the first word, shifts, and adds the next. Fewer words than `size` form
/// one shingle; no words form none.
#[inline]
pub fn for_each_shingle(words: &[u64], size: usize, mut emit: impl FnMut(u64)) {
    if words.is_empty() {
        return;
    }
    let first = words.len().min(size);
    let mut sum = 0u64;
    for word in &words[..first] {
        sum = sum.wrapping_mul(STEP).wrapping_add(*word);
    }
    emit(fmix64(sum));
    if first == words.len() {
        return;
    }
    let weight = (0..size).fold(1u64, |power, _| power.wrapping_mul(STEP));
    for (dropped, added) in words.iter().zip(&words[first..]) {
        sum = sum
            .wrapping_mul(STEP)
            .wrapping_add(*added)
            .wrapping_sub(dropped.wrapping_mul(weight));
        emit(fmix64(sum));
    }
}

/// Mixes the xor of a word's hash and its next chunk.
#[inline(always)]
#[doc(hidden)]
pub fn fold(x: u64) -> u64 {
    folded_product(x, FOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolling_equals_the_definition() {
        let words: Vec<u64> = (0..40u64).map(|i| word(&i.to_le_bytes())).collect();
        for size in 1..9 {
            for len in 0..words.len() {
                let mut rolled = Vec::new();
                for_each_shingle(&words[..len], size, |value| rolled.push(value));
                let direct: Vec<u64> = match len {
                    0 => vec![],
                    short if short < size => vec![shingle(words[..short].iter().copied())],
                    _ => words[..len]
                        .windows(size)
                        .map(|window| shingle(window.iter().copied()))
                        .collect(),
                };
                assert_eq!(rolled, direct, "{size} of {len}");
            }
        }
    }
}
