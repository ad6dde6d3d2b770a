//! One bit per document.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each number below a bound. Threads may set bits at the same time.
#[derive(Debug)]
pub struct Bits(Vec<AtomicU64>);

impl Bits {
    /// `bits` zeros.
    pub fn zeros(bits: u32) -> Self {
        let words = (bits as usize).div_ceil(64);
        Bits((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Sets a bit.
    pub fn set(&self, bit: u32) {
        self.0[bit as usize / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed);
    }

    /// The bits that are set, ascending.
    pub fn ones(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.0).flat_map(|(at, word)| {
            let mut rest = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                // Clears the lowest bit; there is none if the subtraction underflows.
                rest &= rest.checked_sub(1)?;
                Some(64 * at + bit)
            })
        })
    }

    /// Whether a bit is set.
    pub fn get(&self, bit: u32) -> bool {
        self.0[bit as usize / 64].load(Ordering::Relaxed) >> (bit % 64) & 1 == 1
    }

    /// Counts the bits that are set before each word.
    pub fn ranked(self) -> RankedBits {
        let mut ones = 0;
        let before = self.0.iter().map(|word| {
            let before = ones;
            ones += word.load(Ordering::Relaxed).count_ones();
            before
        });
        RankedBits {
            before: before.collect(),
            bits: self,
        }
    }

    /// The number of bits that are set.
    pub fn count(&self) -> u64 {
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        self.0.iter().map(ones).sum()
    }
}

/// Bits of which each that is set has a number: how many are set before it.
#[derive(Debug)]
pub struct RankedBits {
    bits: Bits,
    /// The bits that are set before each word.
    before: Vec<u32>,
}

impl RankedBits {
    /// The bits that are set, ascending.
    pub fn ones(&self) -> impl Iterator<Item = u32> {
        self.bits.ones()
    }

    /// How many bits are set before this one.
    pub fn rank(&self, bit: u32) -> u32 {
        let word = bit as usize / 64;
        let lower = self.bits.0[word].load(Ordering::Relaxed) & ((1 << (bit % 64)) - 1);
        self.before[word] + lower.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_the_number_among_those_that_are_set() {
        let set = [0, 3, 63, 64, 127, 192, 199];
        let bits = Bits::zeros(200);
        set.into_iter().for_each(|bit| bits.set(bit));
        assert_eq!(bits.count(), set.len() as u64);
        let ranked = bits.ranked();
        assert!(ranked.ones().eq(set));
        assert!((0..).zip(set).all(|(rank, bit)| ranked.rank(bit) == rank));
        assert_eq!((ranked.rank(1), ranked.rank(128)), (1, 5));
    }
}
