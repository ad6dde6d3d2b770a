//! The operations of a vector unit that kernels are written in.

/// The most lanes of any instruction set.
pub(super) const ROWS: usize = 16;

/// The first 64 bytes of a string as little-endian words, filled up with zeros.
pub(super) type Row = [u32; 16];

/// A vector unit. A value proves that the CPU has its instructions. Arithmetic is modulo 2^32 or 2^64.
#[doc(hidden)]
pub trait Lanes: Copy {
    /// [`Lanes::COUNT`] numbers of 32 bits.
    type U32: Copy;

    /// Half as many numbers of 64 bits.
    type U64: Copy;

    /// Twice as many numbers of 16 bits.
    type U16: Copy;

    /// The factors and addends of [`Lanes::COUNT`] sums `a*x + b` of 64 bits, in the layout of `mul_add`.
    type Affine: Copy;

    /// 64 bytes.
    type Bytes: Copy;

    /// A selection of 64 bytes.
    type Mask: Copy;

    /// Number of 32-bit lanes in a vector.
    const COUNT: usize;

    /// Vector registers for the accumulators and coefficients of a kernel.
    const REGISTERS: usize;

    /// Whether `mul64` is one instruction.
    const MULTIPLIES_64: bool;

    /// Whether `add_dots` is one instruction.
    const HAS_DOTS: bool = false;

    /// Whether `fill` is one load and one store, without branches.
    const MASKS_LOADS: bool = false;

    fn splat(self, number: u32) -> Self::U32;

    /// Reads the first [`Lanes::COUNT`] numbers.
    fn load(self, numbers: &[u32]) -> Self::U32;

    /// Writes the first [`Lanes::COUNT`] numbers.
    fn store(self, vector: Self::U32, numbers: &mut [u32]);

    fn add(self, a: Self::U32, b: Self::U32) -> Self::U32;

    fn mul(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Low and high words of the products.
    fn mul_wide(self, a: Self::U32, b: Self::U32) -> (Self::U32, Self::U32);

    fn min(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// One bit per lane, the first one lowest: whether a is less than b.
    fn below_mask(self, a: Self::U32, b: Self::U32) -> u64;

    fn xor(self, a: Self::U32, b: Self::U32) -> Self::U32;

    fn and(self, a: Self::U32, b: Self::U32) -> Self::U32;

    fn shift_left(self, a: Self::U32, bits: u32) -> Self::U32;

    fn shift_right(self, a: Self::U32, bits: u32) -> Self::U32;

    fn rotate_left(self, a: Self::U32, bits: u32) -> Self::U32;

    /// The lanes of a vector and the next one that begin `by` lanes behind its first, at most all of them.
    #[inline(always)]
    fn slide(self, vector: Self::U32, next: Self::U32, by: usize) -> Self::U32 {
        let mut both = [0; 2 * ROWS];
        self.store(vector, &mut both);
        self.store(next, &mut both[Self::COUNT..]);
        self.load(&both[by..])
    }

    /// `x` where a is less than b, else `y`.
    #[inline(always)]
    fn where_below(self, a: Self::U32, b: Self::U32, x: Self::U32, y: Self::U32) -> Self::U32 {
        let below = self.below_mask(a, b);
        let (mut chosen, mut others) = ([0; ROWS], [0; ROWS]);
        self.store(x, &mut chosen);
        self.store(y, &mut others);
        for (lane, (chosen, other)) in chosen.iter_mut().zip(others).enumerate() {
            if below >> lane & 1 == 0 {
                *chosen = other;
            }
        }
        self.load(&chosen)
    }

    /// Replaces a row by that of a string.
    #[inline(always)]
    fn fill(self, row: &mut Row, string: &[u8]) {
        let mut bytes = [0; size_of::<Row>()];
        let len = string.len().min(bytes.len());
        bytes[..len].copy_from_slice(&string[..len]);
        for (word, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }

    /// Words `first` to `first + 3` of the first [`Lanes::COUNT`] rows. `first` is a multiple of 4, and less than 16.
    #[inline(always)]
    fn four_columns(self, rows: &[Row], first: usize) -> [Self::U32; 4] {
        std::array::from_fn(|i| {
            let mut column = [0; ROWS];
            for (word, row) in column.iter_mut().zip(rows) {
                *word = row[first + i];
            }
            self.load(&column)
        })
    }

    /// Prepares the first [`Lanes::COUNT`] factors, passed as words, and addends.
    fn affine(self, a_low: &[u32], a_high: &[u32], b: &[u64]) -> Self::Affine;

    /// Low and high words of `a*x + b`; x is the same in all lanes.
    fn mul_add(self, by: &Self::Affine, x: Self::U32) -> (Self::U32, Self::U32);

    /// Low and high words of `a*x + b`; a, in words, and b are the same in all lanes.
    fn mul_add_each(self, a: [u32; 2], b: u64, x: Self::U32) -> (Self::U32, Self::U32);

    /// The least of all lanes.
    #[inline(always)]
    fn least(self, a: Self::U32) -> u32 {
        let mut lanes = [u32::MAX; ROWS];
        self.store(a, &mut lanes);
        lanes[..Self::COUNT]
            .iter()
            .fold(u32::MAX, |least, lane| least.min(*lane))
    }

    /// The least of all lanes of each vector.
    #[inline(always)]
    fn least_each(self, vectors: &[Self::U32; 8]) -> [u32; 8] {
        let mut least = [0; 8];
        for (least, vector) in least.iter_mut().zip(vectors) {
            *least = self.least(*vector);
        }
        least
    }

    fn splat16(self, number: u16) -> Self::U16;

    /// Reads the first `2 * Lanes::COUNT` numbers.
    fn load16(self, numbers: &[u16]) -> Self::U16;

    /// Writes the first `2 * Lanes::COUNT` numbers.
    fn store16(self, vector: Self::U16, numbers: &mut [u16]);

    /// The halves of numbers, the low one first.
    fn halves(self, numbers: Self::U32) -> Self::U16;

    fn add16(self, a: Self::U16, b: Self::U16) -> Self::U16;

    /// The low halves of the products.
    fn mul_low16(self, a: Self::U16, b: Self::U16) -> Self::U16;

    /// The high halves of the products.
    fn mul_high16(self, a: Self::U16, b: Self::U16) -> Self::U16;

    /// For each lane, the sum and both products of the signed halves of a and b.
    #[inline(always)]
    fn add_dots(self, sum: Self::U32, a: Self::U32, b: Self::U32) -> Self::U32 {
        let (mut sums, mut left, mut right) = ([0; ROWS], [0; ROWS], [0; ROWS]);
        self.store(sum, &mut sums);
        self.store(a, &mut left);
        self.store(b, &mut right);
        let half = |word: u32, bits: u32| (word << (16 - bits)).cast_signed() >> 16;
        for (sum, (a, b)) in sums.iter_mut().zip(left.into_iter().zip(right)) {
            for bits in [0, 16] {
                *sum = sum.wrapping_add_signed(half(a, bits) * half(b, bits));
            }
        }
        self.load(&sums)
    }

    fn min16(self, a: Self::U16, b: Self::U16) -> Self::U16;

    fn max16(self, a: Self::U16, b: Self::U16) -> Self::U16;

    /// One bit per lane, the first one lowest: whether a is less than b.
    fn below_mask16(self, a: Self::U16, b: Self::U16) -> u64;

    /// `x` where a is less than b, else `y`.
    fn where_below16(self, a: Self::U16, b: Self::U16, x: Self::U16, y: Self::U16) -> Self::U16;

    fn splat64(self, number: u64) -> Self::U64;

    fn load64(self, numbers: &[u64]) -> Self::U64;

    fn store64(self, vector: Self::U64, numbers: &mut [u64]);

    fn add64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    fn mul64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// The products of the low words.
    fn mul_low_words(self, a: Self::U64, b: Self::U64) -> Self::U64;

    fn min64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// The least of all lanes.
    #[inline(always)]
    fn least64(self, a: Self::U64) -> u64 {
        let mut lanes = [u64::MAX; ROWS / 2];
        self.store64(a, &mut lanes);
        lanes[..Self::COUNT / 2]
            .iter()
            .fold(u64::MAX, |least, lane| least.min(*lane))
    }

    /// The least of all lanes of each vector.
    #[inline(always)]
    fn least_each64(self, vectors: &[Self::U64; 8]) -> [u64; 8] {
        let mut least = [0; 8];
        for (least, vector) in least.iter_mut().zip(vectors) {
            *least = self.least64(*vector);
        }
        least
    }

    fn and64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    fn xor64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    fn shift_right64(self, a: Self::U64, bits: u32) -> Self::U64;

    /// Writes the high words of half as many numbers as [`Lanes::COUNT`].
    fn store_high(self, vector: Self::U64, words: &mut [u32]);

    /// The high words of numbers in two vectors.
    fn high_words(self, low: Self::U64, high: Self::U64) -> Self::U32;

    /// The little-endian words that begin at the first [`Lanes::COUNT`] bytes. Neighbours share three bytes.
    fn load_overlapping(self, bytes: &[u8; 32]) -> Self::U32;

    fn load_bytes(self, bytes: &[u8; 64]) -> Self::Bytes;

    fn store_bytes(self, vector: Self::Bytes, bytes: &mut [u8; 64]);

    /// Sets bits in each byte.
    fn with_bits(self, bytes: Self::Bytes, bits: u8) -> Self::Bytes;

    /// Selects the bytes that are `byte`.
    fn is(self, bytes: Self::Bytes, byte: u8) -> Self::Mask;

    /// Selects the bytes among the `count` from `first` on.
    fn is_among(self, bytes: Self::Bytes, first: u8, count: u8) -> Self::Mask;

    /// Selects the bytes that are the same in both.
    fn same(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;

    fn or(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// Replaces the selected bytes by `byte`.
    fn put(self, bytes: Self::Bytes, at: Self::Mask, byte: u8) -> Self::Bytes;

    /// One bit per byte, the first one lowest.
    fn bits(self, at: Self::Mask) -> u64;

    /// Writes the positions of the set bits, counted from `first`, and returns their number. The rest of
    /// `places` is undefined.
    ///
    /// Writes eight at a time from a table, set or not: a loop that ends with the last set bit would be
    /// mispredicted every time.
    #[allow(clippy::cast_possible_truncation, reason = "eight bits at a time")]
    #[inline(always)]
    fn places(self, bits: u64, first: u32, places: &mut [u32; 64]) -> usize {
        let mut count = 0;
        for i in 0..8 {
            let bits = (bits >> (8 * i)) as u8;
            if let Some(room) = places[count..].first_chunk_mut::<8>() {
                for (place, bit) in room.iter_mut().zip(BITS[usize::from(bits)]) {
                    *place = first.wrapping_add(8 * i).wrapping_add(u32::from(bit));
                }
            }
            count += bits.count_ones() as usize;
        }
        count
    }
}

/// For each byte, the positions of its set bits.
#[allow(clippy::cast_possible_truncation, reason = "below 8")]
static BITS: [[u8; 8]; 256] = {
    let mut bits = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                bits[byte][count] = bit as u8;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    bits
};

/// The little-endian words that begin at the first `N` bytes.
#[inline(always)]
pub(super) fn overlapping<const N: usize>(bytes: &[u8; 32]) -> [u32; N] {
    std::array::from_fn(|i| {
        u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]])
    })
}
