//! Random numbers that are the same everywhere.

/// SplitMix64 (Steele, Lea, Flood 2014, *Fast splittable pseudorandom number generators*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a key: other keys, other numbers.
    pub fn of(key: &[u64]) -> Self {
        let mut random = Random(0);
        for part in key {
            random.0 ^= part;
            random.0 = random.next_u64();
        }
        random
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is above 0: the upper half of a product (Lemire 2019). It is off a uniform one by
    /// less than one in 2^64 / end.
    #[allow(clippy::cast_possible_truncation, reason = "it is below `end`")]
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }
}
