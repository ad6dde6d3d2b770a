//! `words-v1`, the native hash of word shingles: every word is hashed once, and a shingle combines
//! the hashes of its n words.
//!
//! A text of m words costs m word hashes and m combinations, whatever n is, where hashing the bytes
//! of each shingle would read every word n times. All arithmetic is modulo 2^64:
//!
//! ```text
//! fold(x, m)  = low64(x*m) ^ high64(x*m)
//! word(w)     = h, from h = len(w) ^ SEED, and h = fold(h ^ c, FOLD) for each 8-byte little-endian
//!               chunk c of w, the last one padded with zeros
//! shingle     = fmix64(word(w_1)*STEP^(n-1) + word(w_2)*STEP^(n-2) + .. + word(w_n))
//! ```
//!
//! 32 bits of it are the high half. The values are frozen by vectors/words_v1.json, and what a
//! word is by the version of Unicode that [`UNICODE_VERSION`] names. On real words and on counters
//! in decimal and hexadecimal it loses as many keys as a random function would; the product that is
//! folded, not a truncated one, is what keeps keys apart that differ in the last byte of a chunk.

use super::arithmetic::{folded_product, little_endian};
use super::family::fmix64;

/// The hash of a word before its first chunk, with the length xored in.
pub(crate) const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FOLD: u64 = 0xA076_1D64_78BD_642F;
/// What the sum of a shingle is multiplied by before the next word is added.
pub(crate) const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// The Unicode version whose word boundaries (UAX #29) decide what a word is.
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
/// The sum rolls along: one step drops the first word, shifts and adds the next. Fewer words than
/// `size` are one shingle; no word is none.
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
    let leave = (0..size).fold(1u64, |power, _| power.wrapping_mul(STEP));
    for (gone, come) in words.iter().zip(&words[first..]) {
        sum = sum
            .wrapping_mul(STEP)
            .wrapping_add(*come)
            .wrapping_sub(gone.wrapping_mul(leave));
        emit(fmix64(sum));
    }
}

/// Mixes one chunk into the hash of a word, `x` being their xor.
#[inline(always)]
pub(crate) fn fold(x: u64) -> u64 {
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
