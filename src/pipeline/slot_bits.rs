//! Bits per slot of packed signatures.

use crate::error::{Error, Result};

/// Bits per slot of [`PackedSignatures`](super::PackedSignatures).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotBits {
    /// One bit.
    One,
    /// Two bits.
    Two,
    /// Four bits.
    Four,
    /// Eight bits.
    Eight,
    /// Sixteen bits.
    Sixteen,
}

impl SlotBits {
    /// All values, fewest bits first.
    pub const ALL: [SlotBits; 5] = [
        SlotBits::One,
        SlotBits::Two,
        SlotBits::Four,
        SlotBits::Eight,
        SlotBits::Sixteen,
    ];

    /// The value for a number of bits.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless it is 1, 2, 4, 8 or 16.
    pub fn new(bits: u32) -> Result<Self> {
        let known = SlotBits::ALL.into_iter().find(|known| known.get() == bits);
        known.ok_or_else(|| Error::Parameter {
            name: "bits of a slot",
            value: bits.to_string(),
            expected: "1, 2, 4, 8 or 16".to_owned(),
        })
    }

    /// The number of bits.
    pub fn get(self) -> u32 {
        match self {
            SlotBits::One => 1,
            SlotBits::Two => 2,
            SlotBits::Four => 4,
            SlotBits::Eight => 8,
            SlotBits::Sixteen => 16,
        }
    }

    /// Number of 64-bit words for `num_perm` slots.
    pub fn words(self, num_perm: usize) -> usize {
        num_perm.div_ceil(self.slots_per_word())
    }

    pub(super) fn slots_per_word(self) -> usize {
        64 / self.get() as usize
    }

    /// The probability `2^-bits` that two different slots agree in the kept bits.
    pub fn chance(self) -> f64 {
        0.5f64.powi(i32::try_from(self.get()).unwrap_or(0))
    }
}
