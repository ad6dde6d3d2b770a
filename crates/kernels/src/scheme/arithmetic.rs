//! Arithmetic that several base hashes share.

/// Multiplies to 128 bits and xors the two halves.
#[allow(clippy::cast_possible_truncation, reason = "the halves are folded")]
#[inline]
pub(super) fn folded_product(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

/// Spreads a number over 64 bits, so that the high bits depend on all of it: where hashes are expected, callers may
/// pass numbers that are none.
#[inline]
#[doc(hidden)]
pub fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Reads up to eight bytes as a little-endian number: byte i is multiplied by 2^(8i).
///
/// Two overlapping reads of a fixed length: a copy of a variable length would be a call.
#[inline]
pub(super) fn little_endian(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        u64::from(low) | u64::from(high) << (8 * (len - 4))
    } else if len > 0 {
        let at = |i: usize| u64::from(bytes[i]) << (8 * i);
        at(0) | at(len / 2) | at(len - 1)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_reads_equal_the_sum_of_bytes() {
        let bytes = [0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10];
        for len in 0..=8 {
            let sum = |sum, byte: &u8| sum << 8 | u64::from(*byte);
            let expected = bytes[..len].iter().rev().fold(0, sum);
            assert_eq!(little_endian(&bytes[..len]), expected, "{len}");
        }
    }
}
