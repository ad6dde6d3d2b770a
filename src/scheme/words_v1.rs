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
//! 32 bits of it are the high half. The values are frozen by tests/golden/words_v1.json, and what a
//! word is by the version of Unicode that [`UNICODE_VERSION`] names. On real words and on counters
//! in decimal and hexadecimal it loses as many keys as a random function would; the product that is
//! folded, not a truncated one, is what keeps keys apart that differ in the last byte of a chunk.

use super::base_hash::little_endian;
use super::family::fmix64;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FOLD: u64 = 0xA076_1D64_78BD_642F;
const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// The Unicode version whose word boundaries (UAX #29) decide what a word is.
pub const UNICODE_VERSION: (u64, u64, u64) = unicode_segmentation::UNICODE_VERSION;

/// The hash of one word.
pub fn word(bytes: &[u8]) -> u64 {
    word_with_start(bytes, Start::of(bytes, bytes.len()))
}

/// The first two chunks of a word, padded with zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start([u64; 2]);

impl Start {
    /// Bytes of a word that it holds.
    pub(crate) const LEN: usize = 16;

    /// The start of the word that is the first `len` bytes of `onwards`.
    ///
    /// Where 16 bytes can be read they are, and cut to the word by a mask: words are short, and a
    /// copy whose length varies costs a mispredicted branch a word.
    #[allow(clippy::cast_possible_truncation, reason = "at most 8 bytes are kept")]
    #[inline]
    pub(crate) fn of(onwards: &[u8], len: usize) -> Start {
        let bytes = match onwards.first_chunk::<16>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 16];
                bytes[..onwards.len()].copy_from_slice(onwards);
                bytes
            }
        };
        let (first, second) = bytes.split_at(8);
        let cut = |chunk: &[u8], kept: usize| {
            let chunk = chunk
                .first_chunk()
                .map_or(0, |chunk| u64::from_le_bytes(*chunk));
            chunk & u64::MAX.unbounded_shr(64 - 8 * kept.min(8) as u32)
        };
        Start([cut(first, len), cut(second, len.saturating_sub(8))])
    }

    pub(crate) fn to_le_bytes(self) -> [u8; 16] {
        (u128::from(self.0[1]) << 64 | u128::from(self.0[0])).to_le_bytes()
    }
}

/// The hash of one word whose start has been read.
#[inline]
pub(crate) fn word_with_start(bytes: &[u8], Start([first, second]): Start) -> u64 {
    let len = bytes.len();
    let seed = len as u64 ^ SEED;
    let one = fold(seed ^ first);
    let two = fold(one ^ second);
    if len > Start::LEN {
        let (chunks, tail) = bytes[Start::LEN..].as_chunks::<8>();
        let all = chunks
            .iter()
            .fold(two, |h, chunk| fold(h ^ u64::from_le_bytes(*chunk)));
        return if tail.is_empty() {
            all
        } else {
            fold(all ^ little_endian(tail))
        };
    }
    // All three are at hand; choosing is cheaper than branching on a length.
    let short = if len == 0 { seed } else { one };
    std::hint::select_unpredictable(len > 8, two, short)
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

#[allow(clippy::cast_possible_truncation, reason = "the two halves are folded")]
#[inline]
fn fold(x: u64) -> u64 {
    let product = u128::from(x) * u128::from(FOLD);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_word_does_not_count() {
        let text: Vec<u8> = (1..80).collect();
        for len in 0..40 {
            for end in len..text.len() {
                let start = Start::of(&text[..end], len);
                let onwards = word_with_start(&text[..len], start);
                assert_eq!(onwards, word(&text[..len]), "{len} of {end}");
            }
        }
    }

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
