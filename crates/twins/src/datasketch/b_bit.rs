//! Sketches of the lowest `b` bits of each slot (Li and König 2010), and their pickled state.

use simgpu::scheme::{SlotVec, Values, Word};

use super::floats::{FloatError, divide, power, ratio};
use super::scheme::PermutationScheme;

/// Bytes of seed (i64), b (u8), r (f64) and count (i32), little-endian, with which every state begins.
pub const PARAMETERS: usize = 21;

/// A sketch of the lowest bits of each slot.
#[derive(Clone, Debug, PartialEq)]
pub struct BBitSketch {
    /// The scheme of the slots.
    pub scheme: PermutationScheme,
    /// The seed of the permutations.
    pub seed: i64,
    /// Bits per slot, at most 32.
    pub bits: u8,
    /// The ratio of the sizes of set and universe.
    pub r: f64,
    /// The bits of each slot.
    pub slots: Vec<u32>,
}

impl BBitSketch {
    /// What keeps two sketches from being compared, as datasketch calls it.
    pub fn difference(&self, other: &BBitSketch) -> Option<&'static str> {
        if self.bits != other.bits {
            Some("b values")
        } else if self.scheme != other.scheme {
            Some("permutation schemes")
        } else if self.seed != other.seed {
            Some("set of permutations")
        } else if self.slots.len() != other.slots.len() {
            Some("numbers of hash values")
        } else {
            None
        }
    }

    /// Estimates the Jaccard similarity by theorem 1 of Li and König, as datasketch computes it. The sketches have no
    /// [`BBitSketch::difference`].
    ///
    /// # Errors
    /// What Python's floats raise.
    pub fn estimate(&self, other: &BBitSketch) -> Result<f64, FloatError> {
        let pairs = self.slots.iter().zip(&other.slots);
        let matches = pairs.filter(|(left, right)| left == right).count();
        let matching = ratio(matches, self.slots.len())?;
        let (a1, a2) = (chance(self.r, self.bits)?, chance(other.r, other.bits)?);
        let (c1, c2) = if self.r == 0.0 && other.r == 0.0 {
            (a1, a2)
        } else {
            let scale = divide(1.0, self.r + other.r)?;
            let c1 = (a1 * other.r + a2 * self.r) * scale;
            (c1, (a1 * self.r + a2 * other.r) * scale)
        };
        divide(matching - c1, 1.0 - c2)
    }

    /// Number of bytes of the state.
    pub fn byte_size(&self) -> usize {
        let blocks = SlotBlocks::new(self.bits).blocks(self.slots.len());
        header_bytes(self.scheme) + 8 * blocks
    }

    /// The bytes of the state. `None` if there are more slots than its count can say.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let count = i32::try_from(self.slots.len()).ok()?;
        let mut state = Vec::with_capacity(self.byte_size());
        state.extend(self.seed.to_le_bytes());
        state.push(self.bits);
        state.extend(self.r.to_le_bytes());
        // The sign of the count tells whether the number of a scheme follows.
        if self.scheme == PermutationScheme::Legacy {
            state.extend(count.to_le_bytes());
        } else {
            state.extend((-count).to_le_bytes());
            state.push(self.scheme.code());
        }
        let layout = SlotBlocks::new(self.bits);
        for slots in self.slots.chunks(layout.slots_per_block()) {
            state.extend(layout.block(slots).to_le_bytes());
        }
        Some(state)
    }
}

/// The lowest bits of each slot.
pub fn lowest_bits(slots: &SlotVec, bits: u8) -> Vec<u32> {
    let mask = (1u64 << bits) - 1;
    match slots {
        Values::U32(slots) => slots.iter().map(|slot| slot & u32::cut(mask)).collect(),
        Values::U64(slots) => slots.iter().map(|slot| u32::cut(slot & mask)).collect(),
    }
}

/// Bytes of a state before the blocks.
pub fn header_bytes(scheme: PermutationScheme) -> usize {
    match scheme {
        PermutationScheme::Legacy => PARAMETERS,
        PermutationScheme::Affine32 | PermutationScheme::Affine64 => PARAMETERS + 1,
    }
}

/// How a state packs slots into blocks of 64 bits: from the high end, each in a power of two of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBlocks {
    slot_bits: usize,
}

impl SlotBlocks {
    /// The blocks of slots with this number of bits.
    pub fn new(bits: u8) -> Self {
        let slot_bits = match bits {
            1 => 1,
            2 => 2,
            // datasketch packs slots of no bits as it does those of 3.
            0..=4 => 4,
            5..=8 => 8,
            9..=16 => 16,
            _ => 32,
        };
        SlotBlocks { slot_bits }
    }

    fn slots_per_block(self) -> usize {
        64 / self.slot_bits
    }

    /// The number of blocks of this number of slots.
    pub fn blocks(self, slots: usize) -> usize {
        slots.div_ceil(self.slots_per_block())
    }

    fn shift(self, slot: usize) -> usize {
        (self.slots_per_block() - 1 - slot) * self.slot_bits
    }

    fn block(self, slots: &[u32]) -> u64 {
        let shifted = slots.iter().enumerate();
        shifted.fold(0, |block, (i, slot)| {
            block | u64::from(*slot) << self.shift(i)
        })
    }

    /// The slots of a block. Those of the last block may be more than were packed.
    pub fn slots(self, block: u64) -> impl Iterator<Item = u32> {
        let mask = (1u64 << self.slot_bits) - 1;
        (0..self.slots_per_block()).map(move |i| u32::cut(block >> self.shift(i) & mask))
    }
}

/// The chance that the lowest bits of different values agree, as datasketch computes it.
fn chance(r: f64, bits: u8) -> Result<f64, FloatError> {
    let values = (1u64 << bits) as f64;
    if r == 0.0 {
        return Ok(1.0 / values);
    }
    let numerator = r * power(1.0 - r, values - 1.0)?;
    divide(numerator, 1.0 - power(1.0 - r, 2.0 * f64::from(bits))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(bits: u8, slots: Vec<u32>) -> BBitSketch {
        BBitSketch {
            scheme: PermutationScheme::Affine32,
            seed: 1,
            bits,
            r: 0.0,
            slots,
        }
    }

    #[test]
    fn slots_fill_blocks_from_the_high_end() {
        let state = sketch(1, vec![1, 0, 1, 1]).to_bytes().unwrap();
        assert_eq!(state.len(), PARAMETERS + 1 + 8);
        assert_eq!(state[17..22], [252, 255, 255, 255, 1]);
        assert_eq!(state[22..], [0, 0, 0, 0, 0, 0, 0, 0b1011_0000]);
    }

    #[test]
    fn blocks_return_the_slots_packed() {
        for bits in 1..=32 {
            let most = u32::MAX >> (32 - bits);
            let slots: Vec<u32> = (0..70).map(|i| (i * 0x0123_4567) & most).collect();
            let layout = SlotBlocks::new(bits);
            let blocks = slots.chunks(layout.slots_per_block());
            let blocks: Vec<u64> = blocks.map(|slots| layout.block(slots)).collect();
            assert_eq!(blocks.len(), layout.blocks(slots.len()));
            let read = blocks.iter().flat_map(|block| layout.slots(*block));
            assert!(read.take(70).eq(slots), "{bits}");
        }
    }

    #[test]
    fn chance_agreements_are_subtracted() {
        let (a, b) = (sketch(1, vec![0, 1, 1, 0]), sketch(1, vec![0, 1, 1, 1]));
        // 3 of 4 agree, and half of the others do by chance.
        assert_eq!(a.estimate(&b), Ok(0.5));
        assert_eq!(a.estimate(&a), Ok(1.0));
        let empty = sketch(1, Vec::new());
        assert_eq!(empty.estimate(&empty), Err(FloatError::DivisionByZero));
        // No bit says anything.
        let none = sketch(0, vec![0]);
        assert_eq!(none.estimate(&none), Err(FloatError::DivisionByZero));
    }

    #[test]
    fn differences_are_named() {
        let a = sketch(1, vec![0]);
        assert_eq!(a.difference(&a), None);
        assert_eq!(a.difference(&sketch(2, vec![0])), Some("b values"));
        let longer = sketch(1, vec![0, 1]);
        assert_eq!(a.difference(&longer), Some("numbers of hash values"));
    }
}
