//! The lanes of the `wide` crate, compiled for the build's target CPU. They run on every CPU.
//!
//! Numbers of 64 bits are plain arrays: baselines have few vector instructions for them, and scalar ones are
//! faster than emulation.

use wide::{u8x16, u16x16, u32x8};

use super::lanes::{Lanes, overlapping};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

/// Low and high words of a and b: sums of 64 bits are built from 32-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Affine {
    a: [u32x8; 2],
    b: [u32x8; 2],
}

impl Lanes for Portable {
    type U32 = u32x8;
    type U64 = [u64; 4];
    type U16 = u16x16;
    type Affine = Affine;
    type Bytes = [u8x16; 4];
    type Mask = [u8x16; 4];

    const COUNT: usize = 8;
    const REGISTERS: usize = 8;
    const MULTIPLIES_64: bool = false;

    #[inline(always)]
    fn splat(self, number: u32) -> u32x8 {
        u32x8::splat(number)
    }

    #[inline(always)]
    fn load(self, numbers: &[u32]) -> u32x8 {
        let mut array = [0; 8];
        array.copy_from_slice(&numbers[..8]);
        u32x8::new(array)
    }

    #[inline(always)]
    fn store(self, vector: u32x8, numbers: &mut [u32]) {
        numbers[..8].copy_from_slice(&vector.to_array());
    }

    #[inline(always)]
    fn add(self, a: u32x8, b: u32x8) -> u32x8 {
        a + b
    }

    #[inline(always)]
    fn mul(self, a: u32x8, b: u32x8) -> u32x8 {
        a * b
    }

    #[inline(always)]
    fn mul_wide(self, a: u32x8, b: u32x8) -> (u32x8, u32x8) {
        a.mul_keep_low_high(b)
    }

    #[inline(always)]
    fn min(self, a: u32x8, b: u32x8) -> u32x8 {
        a.min(b)
    }

    #[inline(always)]
    fn below_mask(self, a: u32x8, b: u32x8) -> u64 {
        a.simd_lt(b).to_bitmask().into()
    }

    #[inline(always)]
    fn xor(self, a: u32x8, b: u32x8) -> u32x8 {
        a ^ b
    }

    #[inline(always)]
    fn and(self, a: u32x8, b: u32x8) -> u32x8 {
        a & b
    }

    #[inline(always)]
    fn shift_left(self, a: u32x8, bits: u32) -> u32x8 {
        a << bits
    }

    #[inline(always)]
    fn shift_right(self, a: u32x8, bits: u32) -> u32x8 {
        a >> bits
    }

    #[inline(always)]
    fn rotate_left(self, a: u32x8, bits: u32) -> u32x8 {
        (a << bits) | (a >> (32 - bits))
    }

    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "numbers are split into words"
    )]
    fn affine(self, a_low: &[u32], a_high: &[u32], b: &[u64]) -> Affine {
        let (mut b_low, mut b_high) = ([0; 8], [0; 8]);
        for (i, b) in b[..8].iter().enumerate() {
            b_low[i] = *b as u32;
            b_high[i] = (*b >> 32) as u32;
        }
        Affine {
            a: [self.load(a_low), self.load(a_high)],
            b: [u32x8::new(b_low), u32x8::new(b_high)],
        }
    }

    #[inline(always)]
    fn mul_add(self, by: &Affine, x: u32x8) -> (u32x8, u32x8) {
        let (low, high) = by.a[0].mul_keep_low_high(x);
        let sum = low + by.b[0];
        // A comparison yields all ones, which is -1, where the sum of low words wrapped.
        let carry = sum.simd_lt(low);
        (sum, high + by.a[1] * x + by.b[1] - carry)
    }

    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "numbers are split into words"
    )]
    fn mul_add_each(self, a: [u32; 2], b: u64, x: u32x8) -> (u32x8, u32x8) {
        let b = [b as u32, (b >> 32) as u32];
        let by = Affine {
            a: a.map(u32x8::splat),
            b: b.map(u32x8::splat),
        };
        self.mul_add(&by, x)
    }

    #[inline(always)]
    fn splat16(self, number: u16) -> u16x16 {
        u16x16::splat(number)
    }

    #[inline(always)]
    fn load16(self, numbers: &[u16]) -> u16x16 {
        let mut array = [0; 16];
        array.copy_from_slice(&numbers[..16]);
        u16x16::new(array)
    }

    #[inline(always)]
    fn store16(self, vector: u16x16, numbers: &mut [u16]) {
        numbers[..16].copy_from_slice(&vector.to_array());
    }

    #[inline(always)]
    fn halves(self, numbers: u32x8) -> u16x16 {
        bytemuck::cast(numbers)
    }

    #[inline(always)]
    fn add16(self, a: u16x16, b: u16x16) -> u16x16 {
        a + b
    }

    #[inline(always)]
    fn mul_low16(self, a: u16x16, b: u16x16) -> u16x16 {
        a * b
    }

    #[inline(always)]
    fn mul_high16(self, a: u16x16, b: u16x16) -> u16x16 {
        a.mul_keep_high(b)
    }

    #[inline(always)]
    fn min16(self, a: u16x16, b: u16x16) -> u16x16 {
        a.min(b)
    }

    #[inline(always)]
    fn max16(self, a: u16x16, b: u16x16) -> u16x16 {
        a.max(b)
    }

    #[inline(always)]
    fn below_mask16(self, a: u16x16, b: u16x16) -> u64 {
        a.simd_lt(b).to_bitmask().into()
    }

    #[inline(always)]
    fn where_below16(self, a: u16x16, b: u16x16, x: u16x16, y: u16x16) -> u16x16 {
        a.simd_lt(b).select(x, y)
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> [u64; 4] {
        [number; 4]
    }

    #[inline(always)]
    fn load64(self, numbers: &[u64]) -> [u64; 4] {
        let mut array = [0; 4];
        array.copy_from_slice(&numbers[..4]);
        array
    }

    #[inline(always)]
    fn store64(self, vector: [u64; 4], numbers: &mut [u64]) {
        numbers[..4].copy_from_slice(&vector);
    }

    #[inline(always)]
    fn add64(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn mul64(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i].wrapping_mul(b[i]))
    }

    #[inline(always)]
    fn mul_low_words(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        let low = u64::from(u32::MAX);
        std::array::from_fn(|i| (a[i] & low) * (b[i] & low))
    }

    #[inline(always)]
    fn min64(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i].min(b[i]))
    }

    #[inline(always)]
    fn and64(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn shift_right64(self, a: [u64; 4], bits: u32) -> [u64; 4] {
        a.map(|number| number >> bits)
    }

    #[inline(always)]
    fn xor64(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] ^ b[i])
    }

    #[inline(always)]
    fn store_high(self, vector: [u64; 4], words: &mut [u32]) {
        words[..4].copy_from_slice(&vector.map(|number| (number >> 32) as u32));
    }

    #[inline(always)]
    fn high_words(self, low: [u64; 4], high: [u64; 4]) -> u32x8 {
        let mut words = [0; 8];
        self.store_high(low, &mut words);
        self.store_high(high, &mut words[4..]);
        u32x8::new(words)
    }

    #[inline(always)]
    fn load_overlapping(self, bytes: &[u8; 32]) -> u32x8 {
        u32x8::new(overlapping(bytes))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [u8x16; 4] {
        let mut quarters = [u8x16::ZERO; 4];
        for (quarter, bytes) in quarters.iter_mut().zip(bytes.as_chunks::<16>().0) {
            *quarter = u8x16::new(*bytes);
        }
        quarters
    }

    #[inline(always)]
    fn store_bytes(self, vector: [u8x16; 4], bytes: &mut [u8; 64]) {
        for (bytes, quarter) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(vector) {
            *bytes = quarter.to_array();
        }
    }

    #[inline(always)]
    fn with_bits(self, bytes: [u8x16; 4], bits: u8) -> [u8x16; 4] {
        bytes.map(|quarter| quarter | u8x16::splat(bits))
    }

    #[inline(always)]
    fn is(self, bytes: [u8x16; 4], byte: u8) -> [u8x16; 4] {
        bytes.map(|quarter| quarter.simd_eq(u8x16::splat(byte)))
    }

    #[inline(always)]
    fn is_among(self, bytes: [u8x16; 4], first: u8, count: u8) -> [u8x16; 4] {
        // Bytes below `first` wrap and become large.
        bytes.map(|quarter| {
            let from = quarter - u8x16::splat(first);
            from.min(u8x16::splat(count - 1)).simd_eq(from)
        })
    }

    #[inline(always)]
    fn same(self, mut a: [u8x16; 4], b: [u8x16; 4]) -> [u8x16; 4] {
        for (a, b) in a.iter_mut().zip(b) {
            *a = a.simd_eq(b);
        }
        a
    }

    #[inline(always)]
    fn or(self, mut a: [u8x16; 4], b: [u8x16; 4]) -> [u8x16; 4] {
        for (a, b) in a.iter_mut().zip(b) {
            *a |= b;
        }
        a
    }

    #[inline(always)]
    fn put(self, mut bytes: [u8x16; 4], at: [u8x16; 4], byte: u8) -> [u8x16; 4] {
        for (bytes, at) in bytes.iter_mut().zip(at) {
            *bytes = (*bytes & !at) | (at & u8x16::splat(byte));
        }
        bytes
    }

    #[inline(always)]
    fn bits(self, at: [u8x16; 4]) -> u64 {
        let quarters = at.iter().rev();
        quarters.fold(0, |bits, quarter| {
            bits << 16 | u64::from(quarter.to_bitmask())
        })
    }
}
