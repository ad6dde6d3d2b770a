//! NEON: 4 lanes.
#![allow(
    unsafe_code,
    reason = "intrinsics; a value of Neon proves the instructions"
)]

use std::arch::aarch64::*;

use super::kernel::Kernel;
use super::lanes::{Lanes, overlapping};

/// The proof that this CPU has NEON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neon(());

/// `umlal` multiplies half a vector of words into a whole one of sums.
#[derive(Clone, Copy)]
pub(crate) struct Affine {
    a_low: [uint32x2_t; 2],
    a_high: uint32x4_t,
    b: [uint64x2_t; 2],
}

impl Neon {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "neon")]
        fn compiled<K: Kernel>(lanes: Neon, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: `self` proves that the CPU has these instructions.
        unsafe { compiled(self, kernel) }
    }
}

/// Calls an intrinsic.
macro_rules! intrinsic {
    ($($call:tt)*) => {
        // SAFETY: a value of `Neon` is at hand, which proves that the CPU has the instruction.
        unsafe { $($call)* }
    };
}

impl Lanes for Neon {
    type U32 = uint32x4_t;
    type U64 = uint64x2_t;
    type U16 = uint16x8_t;
    type Affine = Affine;
    type Bytes = [uint8x16_t; 4];
    type Mask = [uint8x16_t; 4];

    const COUNT: usize = 4;
    const REGISTERS: usize = 26;
    const MULTIPLIES_64: bool = false;

    #[inline(always)]
    fn splat(self, number: u32) -> uint32x4_t {
        intrinsic!(vdupq_n_u32(number))
    }

    #[inline(always)]
    fn load(self, numbers: &[u32]) -> uint32x4_t {
        let numbers = &numbers[..4];
        // SAFETY: 4 numbers are there, by the slice above.
        unsafe { vld1q_u32(numbers.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, vector: uint32x4_t, numbers: &mut [u32]) {
        let numbers = &mut numbers[..4];
        // SAFETY: 4 numbers are there, by the slice above.
        unsafe { vst1q_u32(numbers.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsic!(vaddq_u32(a, b))
    }

    #[inline(always)]
    fn mul(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsic!(vmulq_u32(a, b))
    }

    #[inline(always)]
    fn mul_wide(self, a: uint32x4_t, b: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        intrinsic!({
            let first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(a), vget_low_u32(b)));
            let second = vreinterpretq_u32_u64(vmull_high_u32(a, b));
            (vuzp1q_u32(first, second), vuzp2q_u32(first, second))
        })
    }

    #[inline(always)]
    fn min(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsic!(vminq_u32(a, b))
    }

    #[inline(always)]
    fn below_mask(self, a: uint32x4_t, b: uint32x4_t) -> u64 {
        const WEIGHTS: [u32; 4] = [1, 2, 4, 8];
        intrinsic!({
            let weights = vld1q_u32(WEIGHTS.as_ptr());
            vaddvq_u32(vandq_u32(vcltq_u32(a, b), weights)).into()
        })
    }

    #[inline(always)]
    fn xor(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsic!(veorq_u32(a, b))
    }

    #[inline(always)]
    fn and(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsic!(vandq_u32(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: uint32x4_t, bits: u32) -> uint32x4_t {
        intrinsic!(vshlq_u32(a, vdupq_n_s32(bits.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: uint32x4_t, bits: u32) -> uint32x4_t {
        intrinsic!(vshlq_u32(a, vdupq_n_s32(-bits.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left(self, a: uint32x4_t, bits: u32) -> uint32x4_t {
        intrinsic!(vorrq_u32(
            vshlq_u32(a, vdupq_n_s32(bits.cast_signed())),
            vshlq_u32(a, vdupq_n_s32(bits.cast_signed() - 32)),
        ))
    }

    #[inline(always)]
    fn slide(self, vector: uint32x4_t, next: uint32x4_t, by: usize) -> uint32x4_t {
        intrinsic!(match by {
            0 => vector,
            1 => vextq_u32::<1>(vector, next),
            2 => vextq_u32::<2>(vector, next),
            3 => vextq_u32::<3>(vector, next),
            _ => next,
        })
    }

    #[inline(always)]
    fn affine(self, a_low: &[u32], a_high: &[u32], b: &[u64]) -> Affine {
        let a_low = self.load(a_low);
        Affine {
            a_low: intrinsic!([vget_low_u32(a_low), vget_high_u32(a_low)]),
            a_high: self.load(a_high),
            b: [self.load64(b), self.load64(&b[2..])],
        }
    }

    #[inline(always)]
    fn mul_add(self, by: &Affine, x: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        intrinsic!({
            let x_half = vget_low_u32(x);
            let first = vreinterpretq_u32_u64(vmlal_u32(by.b[0], by.a_low[0], x_half));
            let second = vreinterpretq_u32_u64(vmlal_u32(by.b[1], by.a_low[1], x_half));
            let high = vuzp2q_u32(first, second);
            (vuzp1q_u32(first, second), vmlaq_u32(high, by.a_high, x))
        })
    }

    #[inline(always)]
    fn mul_add_each(self, a: [u32; 2], b: u64, x: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        intrinsic!({
            let (a_low, b) = (vdup_n_u32(a[0]), vdupq_n_u64(b));
            let first = vreinterpretq_u32_u64(vmlal_u32(b, a_low, vget_low_u32(x)));
            let second = vreinterpretq_u32_u64(vmlal_u32(b, a_low, vget_high_u32(x)));
            let high = vuzp2q_u32(first, second);
            (
                vuzp1q_u32(first, second),
                vmlaq_u32(high, vdupq_n_u32(a[1]), x),
            )
        })
    }

    #[inline(always)]
    fn least(self, a: uint32x4_t) -> u32 {
        intrinsic!(vminvq_u32(a))
    }

    #[inline(always)]
    fn splat16(self, number: u16) -> uint16x8_t {
        intrinsic!(vdupq_n_u16(number))
    }

    #[inline(always)]
    fn load16(self, numbers: &[u16]) -> uint16x8_t {
        let numbers = &numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above.
        unsafe { vld1q_u16(numbers.as_ptr()) }
    }

    #[inline(always)]
    fn store16(self, vector: uint16x8_t, numbers: &mut [u16]) {
        let numbers = &mut numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above.
        unsafe { vst1q_u16(numbers.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn halves(self, numbers: uint32x4_t) -> uint16x8_t {
        intrinsic!(vreinterpretq_u16_u32(numbers))
    }

    #[inline(always)]
    fn add16(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        intrinsic!(vaddq_u16(a, b))
    }

    #[inline(always)]
    fn mul_low16(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        intrinsic!(vmulq_u16(a, b))
    }

    #[inline(always)]
    fn mul_high16(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        intrinsic!({
            let first = vreinterpretq_u16_u32(vmull_u16(vget_low_u16(a), vget_low_u16(b)));
            let second = vreinterpretq_u16_u32(vmull_high_u16(a, b));
            vuzp2q_u16(first, second)
        })
    }

    #[inline(always)]
    fn min16(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        intrinsic!(vminq_u16(a, b))
    }

    #[inline(always)]
    fn max16(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        intrinsic!(vmaxq_u16(a, b))
    }

    #[inline(always)]
    fn below_mask16(self, a: uint16x8_t, b: uint16x8_t) -> u64 {
        const WEIGHTS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        intrinsic!({
            let weights = vld1q_u16(WEIGHTS.as_ptr());
            vaddvq_u16(vandq_u16(vcltq_u16(a, b), weights)).into()
        })
    }

    #[inline(always)]
    fn where_below16(
        self,
        a: uint16x8_t,
        b: uint16x8_t,
        x: uint16x8_t,
        y: uint16x8_t,
    ) -> uint16x8_t {
        intrinsic!(vbslq_u16(vcltq_u16(a, b), x, y))
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> uint64x2_t {
        intrinsic!(vdupq_n_u64(number))
    }

    #[inline(always)]
    fn load64(self, numbers: &[u64]) -> uint64x2_t {
        let numbers = &numbers[..2];
        // SAFETY: 2 numbers are there, by the slice above.
        unsafe { vld1q_u64(numbers.as_ptr()) }
    }

    #[inline(always)]
    fn store64(self, vector: uint64x2_t, numbers: &mut [u64]) {
        let numbers = &mut numbers[..2];
        // SAFETY: 2 numbers are there, by the slice above.
        unsafe { vst1q_u64(numbers.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn add64(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!(vaddq_u64(a, b))
    }

    #[inline(always)]
    fn mul64(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!({
            let swapped = vrev64q_u32(vreinterpretq_u32_u64(b));
            let cross = vpaddlq_u32(vmulq_u32(vreinterpretq_u32_u64(a), swapped));
            vmlal_u32(vshlq_n_u64::<32>(cross), vmovn_u64(a), vmovn_u64(b))
        })
    }

    #[inline(always)]
    fn mul_low_words(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!(vmull_u32(vmovn_u64(a), vmovn_u64(b)))
    }

    #[inline(always)]
    fn min64(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!(vbslq_u64(vcltq_u64(a, b), a, b))
    }

    #[inline(always)]
    fn and64(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!(vandq_u64(a, b))
    }

    #[inline(always)]
    fn shift_right64(self, a: uint64x2_t, bits: u32) -> uint64x2_t {
        intrinsic!(vshlq_u64(a, vdupq_n_s64(-i64::from(bits))))
    }

    #[inline(always)]
    fn xor64(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        intrinsic!(veorq_u64(a, b))
    }

    #[inline(always)]
    fn store_high(self, vector: uint64x2_t, words: &mut [u32]) {
        let words = &mut words[..2];
        // SAFETY: 2 numbers are there, by the slice above.
        unsafe { vst1_u32(words.as_mut_ptr(), vshrn_n_u64::<32>(vector)) }
    }

    #[inline(always)]
    fn high_words(self, low: uint64x2_t, high: uint64x2_t) -> uint32x4_t {
        intrinsic!(vuzp2q_u32(
            vreinterpretq_u32_u64(low),
            vreinterpretq_u32_u64(high)
        ))
    }

    #[inline(always)]
    fn load_overlapping(self, bytes: &[u8; 32]) -> uint32x4_t {
        self.load(&overlapping::<4>(bytes))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [uint8x16_t; 4] {
        // SAFETY: there are 64 bytes.
        unsafe { [0, 16, 32, 48].map(|at| vld1q_u8(bytes.as_ptr().add(at))) }
    }

    #[inline(always)]
    fn store_bytes(self, vector: [uint8x16_t; 4], bytes: &mut [u8; 64]) {
        for (bytes, quarter) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(vector) {
            // SAFETY: there are 16 bytes.
            unsafe { vst1q_u8(bytes.as_mut_ptr(), quarter) }
        }
    }

    #[inline(always)]
    fn with_bits(self, bytes: [uint8x16_t; 4], bits: u8) -> [uint8x16_t; 4] {
        bytes.map(|quarter| intrinsic!(vorrq_u8(quarter, vdupq_n_u8(bits))))
    }

    #[inline(always)]
    fn is(self, bytes: [uint8x16_t; 4], byte: u8) -> [uint8x16_t; 4] {
        bytes.map(|quarter| intrinsic!(vceqq_u8(quarter, vdupq_n_u8(byte))))
    }

    #[inline(always)]
    fn is_among(self, bytes: [uint8x16_t; 4], first: u8, count: u8) -> [uint8x16_t; 4] {
        // Bytes below `first` wrap and become large.
        bytes.map(|quarter| {
            intrinsic!(vcltq_u8(
                vsubq_u8(quarter, vdupq_n_u8(first)),
                vdupq_n_u8(count)
            ))
        })
    }

    #[inline(always)]
    fn same(self, mut a: [uint8x16_t; 4], b: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        for (a, b) in a.iter_mut().zip(b) {
            *a = intrinsic!(vceqq_u8(*a, b));
        }
        a
    }

    #[inline(always)]
    fn or(self, mut a: [uint8x16_t; 4], b: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        for (a, b) in a.iter_mut().zip(b) {
            *a = intrinsic!(vorrq_u8(*a, b));
        }
        a
    }

    #[inline(always)]
    fn put(self, mut bytes: [uint8x16_t; 4], at: [uint8x16_t; 4], byte: u8) -> [uint8x16_t; 4] {
        for (bytes, at) in bytes.iter_mut().zip(at) {
            *bytes = intrinsic!(vbslq_u8(at, vdupq_n_u8(byte), *bytes));
        }
        bytes
    }

    #[inline(always)]
    fn bits(self, at: [uint8x16_t; 4]) -> u64 {
        // One weight per byte; pairwise sums until a byte holds eight weights.
        const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        intrinsic!({
            let weights = vld1q_u8(WEIGHTS.as_ptr());
            let [a, b, c, d] = at.map(|quarter| vandq_u8(quarter, weights));
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
        })
    }
}
