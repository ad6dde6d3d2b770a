//! SHA-1 (FIPS 180-4), of which base hashes take the first bytes.

use sha1::{Digest, Sha1, block_api};

use super::arithmetic::little_endian;

/// Bytes of the longest message that fits in one block: its padding takes nine.
pub(crate) const ONE_BLOCK: usize = 55;

/// The state before the first block.
pub(crate) const START: [u32; 5] = [
    0x6745_2301,
    0xEFCD_AB89,
    0x98BA_DCFE,
    0x1032_5476,
    0xC3D2_E1F0,
];

/// The constants of the rounds, twenty rounds each.
pub(crate) const K: [u32; 4] = [0x5A82_7999, 0x6ED9_EBA1, 0x8F1B_BCDC, 0xCA62_C1D6];

/// The first eight bytes of the digest of `bytes`, as two little-endian words.
#[inline]
pub(crate) fn digest(bytes: &[u8]) -> [u32; 2] {
    if bytes.len() > ONE_BLOCK {
        let digest = Sha1::digest(bytes);
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| digest[at + i]));
        return [word(0), word(4)];
    }
    let mut block = [0; 64];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    block[56..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    compress(&block)
}

/// The digest of one padded block, given as big-endian words; as [`digest`] returns it.
pub(crate) fn digest_of_block(words: &[u32; 16]) -> [u32; 2] {
    let mut block = [0; 64];
    for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    compress(&block)
}

#[inline]
fn compress(block: &[u8; 64]) -> [u32; 2] {
    let mut state = START;
    block_api::compress(&mut state, std::slice::from_ref(block));
    [state[0].swap_bytes(), state[1].swap_bytes()]
}

/// The big-endian word of the last bytes of a message, at most three, and the one bit that follows them.
#[allow(clippy::cast_possible_truncation, reason = "at most four bytes")]
#[inline]
pub(crate) fn last_word(tail: &[u8]) -> u32 {
    let bytes = little_endian(tail) as u32 | 0x80 << (8 * tail.len());
    bytes.swap_bytes()
}

/// Two little-endian words as one number.
#[inline]
#[doc(hidden)]
pub fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
