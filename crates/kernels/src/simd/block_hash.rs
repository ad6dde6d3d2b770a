//! MurmurHash3_x86_32 of whole blocks, with several seeds in one pass.

use crate::scheme::{fmix32, murmur3_32_step};

/// Computes [`murmur3_32`](crate::scheme::murmur3_32) of blocks of four bytes, passed as little-endian
/// integers, once per seed.
///
/// The chains of the seeds do not wait for each other, and no bytes are copied together first.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the length enters modulo 2^32"
)]
#[inline]
#[doc(hidden)]
pub fn murmur3_32_of_blocks<const N: usize>(
    blocks: impl IntoIterator<Item = u32>,
    seeds: [u32; N],
) -> [u32; N] {
    let mut len = 0u64;
    let mut hashes = seeds;
    for block in blocks {
        hashes = hashes.map(|h| murmur3_32_step(h, block));
        len += 4;
    }
    hashes.map(|h| fmix32(h ^ len as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::murmur3_32;

    #[test]
    fn blocks_hash_as_their_bytes_do() {
        let blocks: Vec<u32> = (0..40).map(fmix32).collect();
        let seeds = [0, 7, 0x9E37_79B9];
        for len in 0..=blocks.len() {
            let blocks = &blocks[..len];
            let bytes: Vec<u8> = blocks
                .iter()
                .flat_map(|block| block.to_le_bytes())
                .collect();
            let expected = seeds.map(|seed| murmur3_32(&bytes, seed));
            let hashes = murmur3_32_of_blocks(blocks.iter().copied(), seeds);
            assert_eq!(hashes, expected, "{len}");
        }
    }
}
