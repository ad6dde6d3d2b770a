//! The bytes of a `LeanMinHash`.
//!
//! Seed (i64), count (i32, negated in the affine formats), number of the scheme (u8, affine only), slots of 4 or 8 bytes.

use simgpu::scheme::{SlotVec, Values};

use super::byte_order::ByteOrder;
use super::scheme::PermutationScheme;

/// Bytes of the seed and the count, with which every format begins.
pub const SEED_AND_COUNT: usize = 12;

/// What the format does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeanError {
    /// More slots than the count can say.
    TooManySlots,
    /// A slot of the legacy scheme with more than 32 bits.
    WideSlot,
}

/// The start of every format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeanHeader {
    /// The seed of the permutations.
    pub seed: i64,
    count: i32,
}

impl LeanHeader {
    /// Reads the first bytes.
    pub fn read(order: ByteOrder, bytes: [u8; SEED_AND_COUNT]) -> Self {
        let [s0, s1, s2, s3, s4, s5, s6, s7, c0, c1, c2, c3] = bytes;
        LeanHeader {
            seed: i64::from_le_bytes(order.ordered([s0, s1, s2, s3, s4, s5, s6, s7])),
            count: i32::from_le_bytes(order.ordered([c0, c1, c2, c3])),
        }
    }

    /// The number of slots.
    pub fn count(self) -> usize {
        self.count.unsigned_abs() as usize
    }

    /// Whether the number of an affine scheme follows. The legacy scheme has none.
    pub fn has_scheme_code(self) -> bool {
        self.count < 0
    }
}

/// The format of a scheme in a byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeanFormat {
    /// The byte order of all numbers.
    pub order: ByteOrder,
    /// The scheme of the slots.
    pub scheme: PermutationScheme,
}

impl LeanFormat {
    /// Where the slots begin: after seed, count and, in the affine formats, the scheme's number.
    pub fn slots_start(self) -> usize {
        let header = match self.scheme {
            PermutationScheme::Legacy => SEED_AND_COUNT,
            PermutationScheme::Affine32 | PermutationScheme::Affine64 => SEED_AND_COUNT + 1,
        };
        self.order.aligned(header, self.scheme.stored_bytes())
    }

    /// Bytes of a sketch with this number of slots.
    pub fn byte_size(self, slots: usize) -> usize {
        // `struct` aligns a field only where there is one.
        let start = match slots {
            0 => SEED_AND_COUNT,
            _ => self.slots_start(),
        };
        start + slots * self.scheme.stored_bytes()
    }

    /// The bytes of a sketch.
    ///
    /// # Errors
    /// What the format does not hold.
    pub fn to_bytes(self, seed: i64, slots: &SlotVec) -> Result<Vec<u8>, LeanError> {
        let LeanFormat { order, scheme } = self;
        let count = i32::try_from(slots.len()).map_err(|_| LeanError::TooManySlots)?;
        let mut bytes = Vec::with_capacity(self.byte_size(slots.len()));
        bytes.extend(order.ordered(seed.to_le_bytes()));
        // The sign of the count tells the formats apart: datasketch before 2.0 wrote no number of a scheme.
        if scheme == PermutationScheme::Legacy {
            bytes.extend(order.ordered(count.to_le_bytes()));
        } else {
            bytes.extend(order.ordered((-count).to_le_bytes()));
            bytes.push(scheme.code());
        }
        bytes.resize(self.slots_start(), 0);
        match slots {
            Values::U32(slots) => {
                let slots = slots.iter();
                bytes.extend(slots.flat_map(|slot| order.ordered(slot.to_le_bytes())));
            }
            Values::U64(slots) if scheme == PermutationScheme::Affine64 => {
                let slots = slots.iter();
                bytes.extend(slots.flat_map(|slot| order.ordered(slot.to_le_bytes())));
            }
            Values::U64(slots) => {
                for slot in slots {
                    let slot = u32::try_from(*slot).map_err(|_| LeanError::WideSlot)?;
                    bytes.extend(order.ordered(slot.to_le_bytes()));
                }
            }
        }
        Ok(bytes)
    }

    /// The slots with these bytes. Bytes after the last whole slot are left out.
    pub fn read_slots(self, bytes: &[u8]) -> SlotVec {
        let order = self.order;
        let narrow = || {
            let slots = bytes.as_chunks::<4>().0.iter();
            slots.map(|slot| u32::from_le_bytes(order.ordered(*slot)))
        };
        match self.scheme {
            PermutationScheme::Legacy => Values::U64(narrow().map(u64::from).collect()),
            PermutationScheme::Affine32 => Values::U32(narrow().collect()),
            PermutationScheme::Affine64 => {
                let slots = bytes.as_chunks::<8>().0.iter();
                let slots = slots.map(|slot| u64::from_le_bytes(order.ordered(*slot)));
                Values::U64(slots.collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(symbol: &str, scheme: PermutationScheme) -> LeanFormat {
        let order = ByteOrder::from_symbol(symbol).unwrap();
        LeanFormat { order, scheme }
    }

    #[test]
    fn affine_sketches_have_negative_counts() {
        let little = format("<", PermutationScheme::Affine32);
        let bytes = little.to_bytes(7, &Values::U32(vec![1, 0x0203_0405]));
        let expected = [
            7, 0, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255, 1, 1, 0, 0, 0, 5, 4, 3, 2,
        ];
        assert_eq!(bytes.unwrap(), expected);
        let big = format(">", PermutationScheme::Legacy);
        let bytes = big.to_bytes(7, &Values::U64(vec![0x0203_0405]));
        let expected = [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5];
        assert_eq!(bytes.unwrap(), expected);
    }

    #[test]
    fn every_format_reads_what_it_wrote() {
        for symbol in ["@", "=", "<", ">", "!"] {
            for (scheme, slots) in [
                (PermutationScheme::Legacy, Values::U64(vec![3, 1 << 31])),
                (PermutationScheme::Affine32, Values::U32(vec![3, 1 << 31])),
                (PermutationScheme::Affine64, Values::U64(vec![3, 1 << 63])),
            ] {
                let format = format(symbol, scheme);
                let bytes = format.to_bytes(-5, &slots).unwrap();
                assert_eq!(bytes.len(), format.byte_size(2), "{format:?}");
                let header = LeanHeader::read(format.order, *bytes.first_chunk().unwrap());
                assert_eq!((header.seed, header.count()), (-5, 2), "{format:?}");
                let is_affine = scheme != PermutationScheme::Legacy;
                assert_eq!(header.has_scheme_code(), is_affine, "{format:?}");
                let read = format.read_slots(&bytes[format.slots_start()..]);
                assert_eq!(read, slots, "{format:?}");
            }
        }
    }

    #[test]
    fn native_slots_are_aligned() {
        assert_eq!(format("@", PermutationScheme::Affine32).slots_start(), 16);
        assert_eq!(format("=", PermutationScheme::Affine32).slots_start(), 13);
        // No slot, no padding before it.
        assert_eq!(format("@", PermutationScheme::Affine64).byte_size(0), 12);
    }

    #[test]
    fn wide_legacy_slots_are_refused() {
        let slots = Values::U64(vec![1 << 32]);
        let bytes = format("<", PermutationScheme::Legacy).to_bytes(1, &slots);
        assert_eq!(bytes, Err(LeanError::WideSlot));
    }
}
