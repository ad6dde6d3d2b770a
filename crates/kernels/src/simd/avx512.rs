//! AVX-512: 16 lanes, without and with VNNI, the dot products of 16-bit numbers.
#![allow(
    unsafe_code,
    reason = "intrinsics; a value of Avx512 proves the instructions"
)]

use std::arch::asm;
use std::arch::x86_64::*;

use super::kernel::Kernel;
use super::lanes::{Lanes, Row};

/// The proof that this CPU has AVX-512 F, DQ, BW and VL, and, where it says so, VNNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512<const HAS_VNNI: bool>(());

/// `vpmuludq` multiplies the even lanes; the odd ones are shifted down first.
#[derive(Clone, Copy)]
pub(crate) struct Affine {
    a_even: __m512i,
    a_odd: __m512i,
    a_high: __m512i,
    b_even: __m512i,
    b_odd: __m512i,
}

const ODD: __mmask16 = 0xAAAA;

impl<const HAS_VNNI: bool> Avx512<HAS_VNNI> {
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && (!HAS_VNNI || is_x86_feature_detected!("avx512vnni"));
        has_all.then_some(Avx512(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
        fn compiled<K: Kernel>(lanes: Avx512<false>, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,bmi1,bmi2,popcnt")]
        fn compiled_with_vnni<K: Kernel>(lanes: Avx512<true>, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: `self` proves that the CPU has all these instructions.
        unsafe {
            if HAS_VNNI {
                compiled_with_vnni(Avx512(()), kernel)
            } else {
                compiled(Avx512(()), kernel)
            }
        }
    }
}

/// Calls an intrinsic.
macro_rules! intrinsic {
    ($($call:tt)*) => {
        // SAFETY: a value of `Avx512` is at hand, which proves that the CPU has the instruction.
        unsafe { $($call)* }
    };
}

impl<const HAS_VNNI: bool> Avx512<HAS_VNNI> {
    /// Words `first` to `first + 3` of rows 0, 4, 8 and 12.
    #[inline(always)]
    fn quarters(self, rows: &[Row], first: usize) -> __m512i {
        intrinsic!({
            let low = _mm512_castsi128_si512(self.four_words(&rows[0], first));
            let low = _mm512_inserti32x4::<1>(low, self.four_words(&rows[4], first));
            let low = _mm512_inserti32x4::<2>(low, self.four_words(&rows[8], first));
            _mm512_inserti32x4::<3>(low, self.four_words(&rows[12], first))
        })
    }

    #[inline(always)]
    fn four_words(self, row: &Row, first: usize) -> __m128i {
        let words = &row[first..first + 4];
        // SAFETY: 4 words are there, by the slice above; the load needs no alignment.
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    }
}

/// The high halves of products. In assembly: from the intrinsic, the compiler moves the extension of a factor to 32 bits
/// out of loops, and then no longer finds the instruction.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn mul_high16(a: __m512i, b: __m512i) -> __m512i {
    let high;
    // SAFETY: reads and writes only the registers that it names.
    unsafe {
        asm!("vpmulhuw {}, {}, {}", lateout(zmm_reg) high, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    high
}

/// Adds the dot products of pairs of 16-bit numbers. In assembly: the compiler makes two instructions of the intrinsic.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn add_dots(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: reads and writes only the registers that it names.
    unsafe {
        asm!("vpdpwssd {}, {}, {}", inout(zmm_reg) sum, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

impl<const HAS_VNNI: bool> Lanes for Avx512<HAS_VNNI> {
    type U32 = __m512i;
    type U64 = __m512i;
    type U16 = __m512i;
    type Affine = Affine;
    type Bytes = __m512i;
    type Mask = __mmask64;

    const COUNT: usize = 16;
    const REGISTERS: usize = 26;
    const MULTIPLIES_64: bool = true;
    const HAS_DOTS: bool = HAS_VNNI;
    const MASKS_LOADS: bool = true;

    #[inline(always)]
    fn splat(self, number: u32) -> __m512i {
        intrinsic!(_mm512_set1_epi32(number.cast_signed()))
    }

    #[inline(always)]
    fn load(self, numbers: &[u32]) -> __m512i {
        let numbers = &numbers[..16];
        // SAFETY: 16 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, vector: __m512i, numbers: &mut [u32]) {
        let numbers = &mut numbers[..16];
        // SAFETY: 16 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_add_epi32(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_mullo_epi32(a, b))
    }

    #[inline(always)]
    fn mul_wide(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        intrinsic!({
            let even = _mm512_mul_epu32(a, b);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            (
                _mm512_mask_shuffle_epi32::<0xB1>(even, ODD, odd),
                _mm512_mask_shuffle_epi32::<0xB1>(odd, !ODD, even),
            )
        })
    }

    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_min_epu32(a, b))
    }

    #[inline(always)]
    fn below_mask(self, a: __m512i, b: __m512i) -> u64 {
        intrinsic!(_mm512_cmplt_epu32_mask(a, b)).into()
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m512i, bits: u32) -> __m512i {
        intrinsic!(_mm512_sllv_epi32(a, _mm512_set1_epi32(bits.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m512i, bits: u32) -> __m512i {
        intrinsic!(_mm512_srlv_epi32(a, _mm512_set1_epi32(bits.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left(self, a: __m512i, bits: u32) -> __m512i {
        intrinsic!(_mm512_rolv_epi32(a, _mm512_set1_epi32(bits.cast_signed())))
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 16")]
    #[inline(always)]
    fn slide(self, vector: __m512i, next: __m512i, by: usize) -> __m512i {
        intrinsic!({
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let from = _mm512_add_epi32(lanes, _mm512_set1_epi32(by as i32));
            _mm512_permutex2var_epi32(vector, from, next)
        })
    }

    #[inline(always)]
    fn where_below(self, a: __m512i, b: __m512i, x: __m512i, y: __m512i) -> __m512i {
        intrinsic!(_mm512_mask_mov_epi32(y, _mm512_cmplt_epu32_mask(a, b), x))
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 64")]
    #[inline(always)]
    fn fill(self, row: &mut Row, string: &[u8]) {
        let first = intrinsic!(_bzhi_u64(u64::MAX, string.len().min(64) as u32));
        // SAFETY: the load reads only the bytes that the mask selects, which are in the string; it needs no alignment.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(first, string.as_ptr().cast()) };
        self.store(bytes, row);
    }

    #[inline(always)]
    fn four_columns(self, rows: &[Row], first: usize) -> [__m512i; 4] {
        let rows = &rows[..16];
        let quarters = [
            self.quarters(rows, first),
            self.quarters(&rows[1..], first),
            self.quarters(&rows[2..], first),
            self.quarters(&rows[3..], first),
        ];
        intrinsic!({
            let low = [
                _mm512_unpacklo_epi32(quarters[0], quarters[1]),
                _mm512_unpacklo_epi32(quarters[2], quarters[3]),
            ];
            let high = [
                _mm512_unpackhi_epi32(quarters[0], quarters[1]),
                _mm512_unpackhi_epi32(quarters[2], quarters[3]),
            ];
            [
                _mm512_unpacklo_epi64(low[0], low[1]),
                _mm512_unpackhi_epi64(low[0], low[1]),
                _mm512_unpacklo_epi64(high[0], high[1]),
                _mm512_unpackhi_epi64(high[0], high[1]),
            ]
        })
    }

    #[inline(always)]
    fn affine(self, a_low: &[u32], a_high: &[u32], b: &[u64]) -> Affine {
        let a_even = self.load(a_low);
        let (first, second) = (self.load64(b), self.load64(&b[8..]));
        intrinsic!({
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            Affine {
                a_even,
                a_odd: _mm512_srli_epi64::<32>(a_even),
                a_high: self.load(a_high),
                b_even: _mm512_permutex2var_epi64(first, even, second),
                b_odd: _mm512_permutex2var_epi64(first, odd, second),
            }
        })
    }

    #[inline(always)]
    fn mul_add(self, by: &Affine, x: __m512i) -> (__m512i, __m512i) {
        intrinsic!({
            let even = _mm512_add_epi64(_mm512_mul_epu32(by.a_even, x), by.b_even);
            let odd = _mm512_add_epi64(_mm512_mul_epu32(by.a_odd, x), by.b_odd);
            // 0xB1 swaps neighbours: low words move up, high words down, and the mask merges.
            let low = _mm512_mask_shuffle_epi32::<0xB1>(even, ODD, odd);
            let high = _mm512_mask_shuffle_epi32::<0xB1>(odd, !ODD, even);
            (
                low,
                _mm512_add_epi32(high, _mm512_mullo_epi32(by.a_high, x)),
            )
        })
    }

    #[inline(always)]
    fn mul_add_each(self, a: [u32; 2], b: u64, x: __m512i) -> (__m512i, __m512i) {
        intrinsic!({
            let (a_low, b) = (self.splat(a[0]), self.splat64(b));
            let a_high = self.splat(a[1]);
            let x_odd = _mm512_srli_epi64::<32>(x);
            let even = _mm512_add_epi64(_mm512_mul_epu32(a_low, x), b);
            let odd = _mm512_add_epi64(_mm512_mul_epu32(a_low, x_odd), b);
            let low = _mm512_mask_shuffle_epi32::<0xB1>(even, ODD, odd);
            let high = _mm512_mask_shuffle_epi32::<0xB1>(odd, !ODD, even);
            (low, _mm512_add_epi32(high, _mm512_mullo_epi32(a_high, x)))
        })
    }

    #[inline(always)]
    fn least(self, a: __m512i) -> u32 {
        intrinsic!(_mm512_reduce_min_epu32(a))
    }

    #[inline(always)]
    fn least_each(self, vectors: &[__m512i; 8]) -> [u32; 8] {
        let [a, b, c, d, e, f, g, h] = *vectors;
        intrinsic!({
            // Each step halves the lanes of a vector, and puts those of two vectors side by side.
            let two =
                |a, b| _mm512_min_epu32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let four =
                |a, b| _mm512_min_epu32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let (a, b) = (four(two(a, b), two(c, d)), four(two(e, f), two(g, h)));
            let halves = _mm512_min_epu32(
                _mm512_shuffle_i64x2::<0x88>(a, b),
                _mm512_shuffle_i64x2::<0xDD>(a, b),
            );
            let all = _mm512_min_epu32(
                _mm512_shuffle_i64x2::<0x08>(halves, halves),
                _mm512_shuffle_i64x2::<0x0D>(halves, halves),
            );
            let mut least = [0; 8];
            _mm256_storeu_si256(least.as_mut_ptr().cast(), _mm512_castsi512_si256(all));
            least
        })
    }

    #[inline(always)]
    fn least_each64(self, vectors: &[__m512i; 8]) -> [u64; 8] {
        let [a, b, c, d, e, f, g, h] = *vectors;
        intrinsic!({
            let two =
                |a, b| _mm512_min_epu64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let four = |a, b| {
                _mm512_min_epu64(
                    _mm512_shuffle_i64x2::<0x88>(a, b),
                    _mm512_shuffle_i64x2::<0xDD>(a, b),
                )
            };
            let (a, b) = (four(two(a, b), two(c, d)), four(two(e, f), two(g, h)));
            let mut least = [0; 8];
            _mm512_storeu_si512(least.as_mut_ptr().cast(), four(a, b));
            least
        })
    }

    #[inline(always)]
    fn splat16(self, number: u16) -> __m512i {
        intrinsic!(_mm512_set1_epi16(number.cast_signed()))
    }

    #[inline(always)]
    fn load16(self, numbers: &[u16]) -> __m512i {
        let numbers = &numbers[..32];
        // SAFETY: 32 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store16(self, vector: __m512i, numbers: &mut [u16]) {
        let numbers = &mut numbers[..32];
        // SAFETY: 32 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn halves(self, numbers: __m512i) -> __m512i {
        numbers
    }

    #[inline(always)]
    fn add16(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_add_epi16(a, b))
    }

    #[inline(always)]
    fn mul_low16(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_mullo_epi16(a, b))
    }

    #[inline(always)]
    fn mul_high16(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(mul_high16(a, b))
    }

    #[inline(always)]
    fn add_dots(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        if HAS_VNNI {
            // SAFETY: the value proves that the CPU has VNNI, too.
            unsafe { add_dots(sum, a, b) }
        } else {
            intrinsic!(_mm512_add_epi32(sum, _mm512_madd_epi16(a, b)))
        }
    }

    #[inline(always)]
    fn min16(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_min_epu16(a, b))
    }

    #[inline(always)]
    fn max16(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_max_epu16(a, b))
    }

    #[inline(always)]
    fn below_mask16(self, a: __m512i, b: __m512i) -> u64 {
        intrinsic!(_mm512_cmplt_epu16_mask(a, b)).into()
    }

    #[inline(always)]
    fn where_below16(self, a: __m512i, b: __m512i, x: __m512i, y: __m512i) -> __m512i {
        intrinsic!(_mm512_mask_mov_epi16(y, _mm512_cmplt_epu16_mask(a, b), x))
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> __m512i {
        intrinsic!(_mm512_set1_epi64(number.cast_signed()))
    }

    #[inline(always)]
    fn load64(self, numbers: &[u64]) -> __m512i {
        let numbers = &numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store64(self, vector: __m512i, numbers: &mut [u64]) {
        let numbers = &mut numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn add64(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_add_epi64(a, b))
    }

    #[inline(always)]
    fn mul64(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_mullo_epi64(a, b))
    }

    #[inline(always)]
    fn mul_low_words(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_mul_epu32(a, b))
    }

    #[inline(always)]
    fn min64(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_min_epu64(a, b))
    }

    #[inline(always)]
    fn and64(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn shift_right64(self, a: __m512i, bits: u32) -> __m512i {
        intrinsic!(_mm512_srlv_epi64(a, _mm512_set1_epi64(bits.into())))
    }

    #[inline(always)]
    fn xor64(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsic!(_mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn store_high(self, vector: __m512i, words: &mut [u32]) {
        let words = &mut words[..8];
        let high = intrinsic!(_mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(vector)));
        // SAFETY: 8 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), high) }
    }

    #[inline(always)]
    fn high_words(self, low: __m512i, high: __m512i) -> __m512i {
        intrinsic!({
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            _mm512_permutex2var_epi32(low, odd, high)
        })
    }

    #[inline(always)]
    fn load_overlapping(self, bytes: &[u8; 32]) -> __m512i {
        // SAFETY: there are 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        intrinsic!({
            // Each quarter receives the 16 bytes from its first word on, and makes four words of them.
            let from = _mm512_setr_epi32(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
            let quarters = _mm512_permutexvar_epi32(from, _mm512_castsi256_si512(bytes));
            let words = _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
            _mm512_shuffle_epi8(quarters, _mm512_broadcast_i32x4(words))
        })
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: there are 64 bytes; the load needs no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_bytes(self, vector: __m512i, bytes: &mut [u8; 64]) {
        // SAFETY: there are 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn with_bits(self, bytes: __m512i, bits: u8) -> __m512i {
        intrinsic!(_mm512_or_si512(bytes, _mm512_set1_epi8(bits.cast_signed())))
    }

    #[inline(always)]
    fn is(self, bytes: __m512i, byte: u8) -> __mmask64 {
        intrinsic!(_mm512_cmpeq_epi8_mask(
            bytes,
            _mm512_set1_epi8(byte.cast_signed())
        ))
    }

    #[inline(always)]
    fn is_among(self, bytes: __m512i, first: u8, count: u8) -> __mmask64 {
        intrinsic!(_mm512_cmplt_epu8_mask(
            _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed())),
            _mm512_set1_epi8(count.cast_signed())
        ))
    }

    #[inline(always)]
    fn same(self, a: __m512i, b: __m512i) -> __mmask64 {
        intrinsic!(_mm512_cmpeq_epi8_mask(a, b))
    }

    #[inline(always)]
    fn or(self, a: __mmask64, b: __mmask64) -> __mmask64 {
        a | b
    }

    #[inline(always)]
    fn put(self, bytes: __m512i, at: __mmask64, byte: u8) -> __m512i {
        intrinsic!(_mm512_mask_mov_epi8(
            bytes,
            at,
            _mm512_set1_epi8(byte.cast_signed())
        ))
    }

    #[inline(always)]
    fn bits(self, at: __mmask64) -> u64 {
        at
    }

    #[allow(clippy::cast_possible_truncation, reason = "16 bits at a time")]
    #[inline(always)]
    fn places(self, bits: u64, first: u32, places: &mut [u32; 64]) -> usize {
        let mut count = 0;
        for i in 0..4 {
            let bits = (bits >> (16 * i)) as u16;
            let all = intrinsic!(_mm512_add_epi32(
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                _mm512_set1_epi32(first.wrapping_add(16 * i).cast_signed())
            ));
            let set = intrinsic!(_mm512_maskz_compress_epi32(bits, all));
            self.store(set, &mut places[count..]);
            count += bits.count_ones() as usize;
        }
        count
    }
}
