//! The bands of an index as bytes, which `MinHashLSH` and `MinHashLSHForest` hand out and take back.

use std::collections::HashMap;

use simgpu::scheme::{SlotVec, Slots, Values, Width};

/// How sketches hold their slots. Bands of different layouts are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLayout {
    /// The width of a value.
    pub width: Width,
    /// Values per slot: 1, or 2 in weighted sketches.
    pub values_per_slot: usize,
}

impl SlotLayout {
    /// The layout of an index of names ([`BandNames`]), one per band.
    pub const NAMES: SlotLayout = SlotLayout {
        width: Width::U64,
        values_per_slot: 1,
    };

    /// Bytes of a value, and values per slot.
    pub fn pair(self) -> (usize, usize) {
        (self.width.bytes(), self.values_per_slot)
    }

    /// The layout with this pair; `None` if no sketch has it.
    pub fn from_pair(value_bytes: usize, values_per_slot: usize) -> Option<Self> {
        let width = match value_bytes {
            4 => Width::U32,
            8 => Width::U64,
            _ => return None,
        };
        // The bound keeps what follows from a damaged pickle from overflowing.
        (1..=1 << 20)
            .contains(&values_per_slot)
            .then_some(SlotLayout {
                width,
                values_per_slot,
            })
    }
}

/// The bytes that datasketch makes of slots: each with its bytes in reverse order.
pub fn swapped_bytes(slots: Slots<'_>) -> Vec<u8> {
    match slots {
        Values::U32(slots) => slots
            .iter()
            .flat_map(|slot| slot.swap_bytes().to_ne_bytes())
            .collect(),
        Values::U64(slots) => slots
            .iter()
            .flat_map(|slot| slot.swap_bytes().to_ne_bytes())
            .collect(),
    }
}

/// The slots that [`swapped_bytes`] wrote; `None` if it cannot have written these bytes.
pub fn slots_from_swapped(bytes: &[u8], width: Width) -> Option<SlotVec> {
    match width {
        Width::U32 => {
            let (slots, rest) = bytes.as_chunks();
            let slots = slots
                .iter()
                .map(|slot| u32::from_ne_bytes(*slot).swap_bytes());
            rest.is_empty().then(|| Values::U32(slots.collect()))
        }
        Width::U64 => {
            let (slots, rest) = bytes.as_chunks();
            let slots = slots
                .iter()
                .map(|slot| u64::from_ne_bytes(*slot).swap_bytes());
            rest.is_empty().then(|| Values::U64(slots.collect()))
        }
    }
}

/// Numbers the byte strings that a hash function makes of bands, in the order of their first use.
#[derive(Debug, Default)]
pub struct BandNames {
    numbers: HashMap<Vec<u8>, u64>,
    names: Vec<Vec<u8>>,
}

impl BandNames {
    /// The number of a name, a new one if the name is new.
    pub fn number(&mut self, name: Vec<u8>) -> u64 {
        let names = &mut self.names;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u64 - 1
        })
    }

    /// The number of a name that has one.
    pub fn find(&self, name: &[u8]) -> Option<u64> {
        self.numbers.get(name).copied()
    }

    /// The name of a number.
    pub fn name(&self, number: u64) -> Option<&[u8]> {
        let number = usize::try_from(number).ok()?;
        self.names.get(number).map(Vec::as_slice)
    }

    /// All names, by number.
    pub fn all(&self) -> &[Vec<u8>] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back_from_their_bytes() {
        for slots in [
            Values::U32(vec![1, 0x0203_0405]),
            Values::U64(vec![1, 1 << 63]),
        ] {
            let bytes = swapped_bytes(slots.view());
            let read = slots_from_swapped(&bytes, slots.width());
            assert_eq!(read.as_ref(), Some(&slots));
            assert_eq!(slots_from_swapped(&bytes[1..], slots.width()), None);
        }
        let bytes = swapped_bytes(Values::U32(&[0x0203_0405]));
        assert_eq!(bytes, 0x0203_0405u32.swap_bytes().to_ne_bytes());
    }

    #[test]
    fn equal_names_have_one_number() {
        let mut names = BandNames::default();
        let numbers = [b"a", b"b", b"a"].map(|name| names.number(name.to_vec()));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!((names.find(b"b"), names.find(b"c")), (Some(1), None));
        assert_eq!(names.name(1), Some(&b"b"[..]));
        assert_eq!(names.name(2), None);
    }

    #[test]
    fn unknown_layouts_are_refused() {
        for layout in [(4, 1), (8, 2)] {
            let read = SlotLayout::from_pair(layout.0, layout.1);
            assert_eq!(read.map(SlotLayout::pair), Some(layout));
        }
        for (value_bytes, values) in [(2, 1), (8, 0), (8, (1 << 20) + 1)] {
            assert_eq!(SlotLayout::from_pair(value_bytes, values), None);
        }
    }
}
