//! Reproducible random numbers.

/// SplitMix64 (Steele, Lea, Flood 2014, *Fast splittable pseudorandom number generators*).
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a key.
    pub(crate) fn of(key: &[u64]) -> Self {
        let mut random = SplitMix64(0);
        for part in key {
            random.0 ^= part;
            random.0 = random.next_u64();
        }
        random
    }

    /// The next number.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end` > 0: the upper half of a product (Lemire 2019). Probabilities deviate from uniform ones by
    /// less than end / 2^64.
    #[allow(clippy::cast_possible_truncation, reason = "the result is below `end`")]
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }
}
