//! Byte orders and alignments as Python's `struct` has them.

/// A byte order of Python's `struct`: big-endian or little-endian, with the native alignment or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteOrder {
    is_big: bool,
    is_aligned: bool,
}

impl ByteOrder {
    /// The byte order of pickles.
    pub const NATIVE: ByteOrder = ByteOrder {
        is_big: cfg!(target_endian = "big"),
        is_aligned: true,
    };

    /// The byte order of `@`, `=`, `<`, `>` or `!`; the empty string is `@`.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        let native = ByteOrder::NATIVE;
        Some(match symbol {
            "@" | "" => native,
            "=" => ByteOrder {
                is_aligned: false,
                ..native
            },
            "<" => ByteOrder {
                is_big: false,
                is_aligned: false,
            },
            ">" | "!" => ByteOrder {
                is_big: true,
                is_aligned: false,
            },
            _ => return None,
        })
    }

    /// Where a field of `size` bytes may begin, from `offset` on.
    pub(super) fn aligned(self, offset: usize, size: usize) -> usize {
        match (self.is_aligned, size) {
            (false, _) => offset,
            // On some 32-bit machines a field of 8 bytes may begin at a multiple of 4.
            (true, 8) => offset.next_multiple_of(align_of::<u64>()),
            (true, size) => offset.next_multiple_of(size),
        }
    }

    /// The bytes of a number that was made little-endian, in this order.
    pub(super) fn ordered<const N: usize>(self, mut little: [u8; N]) -> [u8; N] {
        if self.is_big {
            little.reverse();
        }
        little
    }
}
