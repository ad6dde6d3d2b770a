//! One bit per document.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each number below a bound. Threads may set bits at the same time.
#[derive(Debug)]
pub(crate) struct Bits(Vec<AtomicU64>);

impl Bits {
    /// `bits` zeros.
    pub(crate) fn zeros(bits: u32) -> Self {
        let words = (bits as usize).div_ceil(64);
        Bits((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Sets a bit.
    pub(crate) fn set(&self, bit: u32) {
        self.0[bit as usize / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed);
    }

    /// The bits that are set, ascending.
    pub(crate) fn ones(&self) -> impl Iterator<Item = u32> {
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
    pub(crate) fn get(&self, bit: u32) -> bool {
        self.0[bit as usize / 64].load(Ordering::Relaxed) >> (bit % 64) & 1 == 1
    }

    /// The number of bits that are set.
    pub(crate) fn count(&self) -> u64 {
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        self.0.iter().map(ones).sum()
    }
}
