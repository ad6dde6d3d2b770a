//! A hash of a few bytes. It decides nothing: all that it finds is compared.

const FACTORS: [u64; 4] = [
    0x2D35_8DCC_AA6C_78A5,
    0x8BB8_4B93_962E_ACC9,
    0x4B33_A62E_D433_D4A3,
    0x4D5A_2DA5_1DE1_AA47,
];

#[allow(clippy::cast_possible_truncation, reason = "both halves are used")]
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => 0,
    }
}

/// A hash of 64 bits. Two products at a time, since their latency is what costs.
#[inline(always)]
pub(super) fn hash(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    if len < 16 {
        let mut padded = [0; 16];
        padded[..len].copy_from_slice(bytes);
        let (low, high) = (word(&padded, 0), word(&padded, 8));
        let folded = fold(low ^ FACTORS[0] ^ seed, high ^ FACTORS[1]);
        return fold(folded ^ len as u64, FACTORS[2]);
    }
    let (mut even, mut odd) = (seed ^ FACTORS[3], len as u64 ^ FACTORS[2]);
    let mut at = 0;
    while at + 32 < len {
        even = fold(word(bytes, at) ^ FACTORS[0], word(bytes, at + 8) ^ even);
        odd = fold(
            word(bytes, at + 16) ^ FACTORS[1],
            word(bytes, at + 24) ^ odd,
        );
        at += 32;
    }
    if len - at > 16 {
        odd = fold(word(bytes, at) ^ FACTORS[1], word(bytes, at + 8) ^ odd);
    }
    even = fold(
        word(bytes, len - 16) ^ FACTORS[0],
        word(bytes, len - 8) ^ even,
    );
    fold(even ^ FACTORS[2], odd ^ FACTORS[3])
}
