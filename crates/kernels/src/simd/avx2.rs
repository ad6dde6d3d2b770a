//! AVX2: 8 lanes.
#![allow(
    unsafe_code,
    reason = "intrinsics; a value of Avx2 proves the instructions"
)]

use std::arch::asm;
use std::arch::x86_64::*;

use super::kernel::Kernel;
use super::lanes::Lanes;

/// The proof that this CPU has AVX2, and the bit instructions of its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

/// `vpmuludq` multiplies the even lanes; the odd ones are shifted down first.
#[derive(Clone, Copy)]
pub(crate) struct Affine {
    a_even: __m256i,
    a_odd: __m256i,
    a_high: __m256i,
    b_even: __m256i,
    b_odd: __m256i,
}

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn compiled<K: Kernel>(lanes: Avx2, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: `self` proves that the CPU has all these instructions.
        unsafe { compiled(self, kernel) }
    }
}

/// Calls an intrinsic.
macro_rules! intrinsic {
    ($($call:tt)*) => {
        // SAFETY: a value of `Avx2` is at hand, which proves that the CPU has the instruction.
        unsafe { $($call)* }
    };
}

/// The high halves of products. In assembly: from the intrinsic, the compiler moves the extension of a factor to 32 bits
/// out of loops, and then no longer finds the instruction.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_high16(a: __m256i, b: __m256i) -> __m256i {
    let high;
    // SAFETY: reads and writes only the registers that it names.
    unsafe {
        asm!("vpmulhuw {}, {}, {}", lateout(ymm_reg) high, in(ymm_reg) a, in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    high
}

impl Lanes for Avx2 {
    type U32 = __m256i;
    type U64 = __m256i;
    type U16 = __m256i;
    type Affine = Affine;
    type Bytes = [__m256i; 2];
    type Mask = [__m256i; 2];

    const COUNT: usize = 8;
    const REGISTERS: usize = 12;
    const MULTIPLIES_64: bool = false;

    #[inline(always)]
    fn splat(self, number: u32) -> __m256i {
        intrinsic!(_mm256_set1_epi32(number.cast_signed()))
    }

    #[inline(always)]
    fn load(self, numbers: &[u32]) -> __m256i {
        let numbers = &numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, vector: __m256i, numbers: &mut [u32]) {
        let numbers = &mut numbers[..8];
        // SAFETY: 8 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_add_epi32(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_mullo_epi32(a, b))
    }

    #[inline(always)]
    fn mul_wide(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        intrinsic!({
            let even = _mm256_mul_epu32(a, b);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            (
                _mm256_blend_epi32::<0xAA>(even, _mm256_slli_epi64::<32>(odd)),
                _mm256_blend_epi32::<0xAA>(_mm256_srli_epi64::<32>(even), odd),
            )
        })
    }

    #[inline(always)]
    fn min(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_min_epu32(a, b))
    }

    #[inline(always)]
    fn below_mask(self, a: __m256i, b: __m256i) -> u64 {
        intrinsic!({
            // The comparison is signed.
            let sign = _mm256_set1_epi32(i32::MIN);
            let below = _mm256_cmpgt_epi32(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign));
            let bits = _mm256_movemask_ps(_mm256_castsi256_ps(below));
            bits.cast_unsigned().into()
        })
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m256i, bits: u32) -> __m256i {
        intrinsic!(_mm256_sllv_epi32(a, _mm256_set1_epi32(bits.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m256i, bits: u32) -> __m256i {
        intrinsic!(_mm256_srlv_epi32(a, _mm256_set1_epi32(bits.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left(self, a: __m256i, bits: u32) -> __m256i {
        intrinsic!(_mm256_or_si256(
            _mm256_sllv_epi32(a, _mm256_set1_epi32(bits.cast_signed())),
            _mm256_srlv_epi32(a, _mm256_set1_epi32((32 - bits).cast_signed())),
        ))
    }

    #[inline(always)]
    fn slide(self, vector: __m256i, next: __m256i, by: usize) -> __m256i {
        intrinsic!({
            let middle = _mm256_permute2x128_si256::<0x21>(vector, next);
            match by {
                0 => vector,
                1 => _mm256_alignr_epi8::<4>(middle, vector),
                2 => _mm256_alignr_epi8::<8>(middle, vector),
                3 => _mm256_alignr_epi8::<12>(middle, vector),
                4 => middle,
                5 => _mm256_alignr_epi8::<4>(next, middle),
                6 => _mm256_alignr_epi8::<8>(next, middle),
                7 => _mm256_alignr_epi8::<12>(next, middle),
                _ => next,
            }
        })
    }

    #[inline(always)]
    fn affine(self, a_low: &[u32], a_high: &[u32], b: &[u64]) -> Affine {
        let a_even = self.load(a_low);
        let (first, second) = (self.load64(b), self.load64(&b[4..]));
        intrinsic!({
            // Unpacking goes by halves of a vector; 0xD8 swaps the inner two of its results.
            let (even, odd) = (
                _mm256_unpacklo_epi64(first, second),
                _mm256_unpackhi_epi64(first, second),
            );
            Affine {
                a_even,
                a_odd: _mm256_srli_epi64::<32>(a_even),
                a_high: self.load(a_high),
                b_even: _mm256_permute4x64_epi64::<0xD8>(even),
                b_odd: _mm256_permute4x64_epi64::<0xD8>(odd),
            }
        })
    }

    #[inline(always)]
    fn mul_add(self, by: &Affine, x: __m256i) -> (__m256i, __m256i) {
        intrinsic!({
            let even = _mm256_add_epi64(_mm256_mul_epu32(by.a_even, x), by.b_even);
            let odd = _mm256_add_epi64(_mm256_mul_epu32(by.a_odd, x), by.b_odd);
            // Low words of the odd sums move up, high words of the even ones down.
            let low = _mm256_blend_epi32::<0xAA>(even, _mm256_slli_epi64::<32>(odd));
            let high = _mm256_blend_epi32::<0xAA>(_mm256_srli_epi64::<32>(even), odd);
            (
                low,
                _mm256_add_epi32(high, _mm256_mullo_epi32(by.a_high, x)),
            )
        })
    }

    #[inline(always)]
    fn mul_add_each(self, a: [u32; 2], b: u64, x: __m256i) -> (__m256i, __m256i) {
        intrinsic!({
            let (a_low, b) = (self.splat(a[0]), self.splat64(b));
            let a_high = self.splat(a[1]);
            let x_odd = _mm256_srli_epi64::<32>(x);
            let even = _mm256_add_epi64(_mm256_mul_epu32(a_low, x), b);
            let odd = _mm256_add_epi64(_mm256_mul_epu32(a_low, x_odd), b);
            let low = _mm256_blend_epi32::<0xAA>(even, _mm256_slli_epi64::<32>(odd));
            let high = _mm256_blend_epi32::<0xAA>(_mm256_srli_epi64::<32>(even), odd);
            (low, _mm256_add_epi32(high, _mm256_mullo_epi32(a_high, x)))
        })
    }

    #[inline(always)]
    fn least(self, a: __m256i) -> u32 {
        intrinsic!({
            let four = _mm_min_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a));
            let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0x4E>(four));
            let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0xB1>(two));
            _mm_cvtsi128_si32(one).cast_unsigned()
        })
    }

    #[inline(always)]
    fn least_each(self, vectors: &[__m256i; 8]) -> [u32; 8] {
        let [a, b, c, d, e, f, g, h] = *vectors;
        intrinsic!({
            // Each step halves the lanes of a vector, and puts those of two vectors side by side.
            let two =
                |a, b| _mm256_min_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let four =
                |a, b| _mm256_min_epu32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let (a, b) = (four(two(a, b), two(c, d)), four(two(e, f), two(g, h)));
            let all = _mm256_min_epu32(
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x31>(a, b),
            );
            let mut least = [0; 8];
            _mm256_storeu_si256(least.as_mut_ptr().cast(), all);
            least
        })
    }

    #[inline(always)]
    fn least_each64(self, vectors: &[__m256i; 8]) -> [u64; 8] {
        let mut least = [0; 8];
        intrinsic!({
            let two = |a, b| self.min64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            for (least, vectors) in least.chunks_exact_mut(4).zip(vectors.chunks_exact(4)) {
                let (a, b) = (two(vectors[0], vectors[1]), two(vectors[2], vectors[3]));
                let all = self.min64(
                    _mm256_permute2x128_si256::<0x20>(a, b),
                    _mm256_permute2x128_si256::<0x31>(a, b),
                );
                _mm256_storeu_si256(least.as_mut_ptr().cast(), all);
            }
        });
        least
    }

    #[inline(always)]
    fn splat16(self, number: u16) -> __m256i {
        intrinsic!(_mm256_set1_epi16(number.cast_signed()))
    }

    #[inline(always)]
    fn load16(self, numbers: &[u16]) -> __m256i {
        let numbers = &numbers[..16];
        // SAFETY: 16 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store16(self, vector: __m256i, numbers: &mut [u16]) {
        let numbers = &mut numbers[..16];
        // SAFETY: 16 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn halves(self, numbers: __m256i) -> __m256i {
        numbers
    }

    #[inline(always)]
    fn add16(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_add_epi16(a, b))
    }

    #[inline(always)]
    fn mul_low16(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_mullo_epi16(a, b))
    }

    #[inline(always)]
    fn mul_high16(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(mul_high16(a, b))
    }

    #[inline(always)]
    fn min16(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_min_epu16(a, b))
    }

    #[inline(always)]
    fn max16(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_max_epu16(a, b))
    }

    #[inline(always)]
    fn below_mask16(self, a: __m256i, b: __m256i) -> u64 {
        intrinsic!({
            let not_below = _mm256_cmpeq_epi16(_mm256_max_epu16(a, b), a);
            let bits = !_mm256_movemask_epi8(not_below).cast_unsigned();
            _pext_u32(bits, 0x5555_5555).into()
        })
    }

    #[inline(always)]
    fn where_below16(self, a: __m256i, b: __m256i, x: __m256i, y: __m256i) -> __m256i {
        intrinsic!({
            let not_below = _mm256_cmpeq_epi16(_mm256_max_epu16(a, b), a);
            _mm256_blendv_epi8(x, y, not_below)
        })
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> __m256i {
        intrinsic!(_mm256_set1_epi64x(number.cast_signed()))
    }

    #[inline(always)]
    fn load64(self, numbers: &[u64]) -> __m256i {
        let numbers = &numbers[..4];
        // SAFETY: 4 numbers are there, by the slice above; the load needs no alignment.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store64(self, vector: __m256i, numbers: &mut [u64]) {
        let numbers = &mut numbers[..4];
        // SAFETY: 4 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn add64(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_add_epi64(a, b))
    }

    #[inline(always)]
    fn mul64(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!({
            let high = |v| _mm256_srli_epi64::<32>(v);
            let cross =
                _mm256_add_epi64(_mm256_mul_epu32(high(a), b), _mm256_mul_epu32(a, high(b)));
            _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
        })
    }

    #[inline(always)]
    fn mul_low_words(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_mul_epu32(a, b))
    }

    #[inline(always)]
    fn min64(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!({
            // The comparison is signed.
            let sign = _mm256_set1_epi64x(i64::MIN);
            let above = _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
            _mm256_blendv_epi8(a, b, above)
        })
    }

    #[inline(always)]
    fn and64(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn shift_right64(self, a: __m256i, bits: u32) -> __m256i {
        intrinsic!(_mm256_srlv_epi64(a, _mm256_set1_epi64x(bits.into())))
    }

    #[inline(always)]
    fn xor64(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsic!(_mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn store_high(self, vector: __m256i, words: &mut [u32]) {
        let words = &mut words[..4];
        let high = intrinsic!(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
            vector,
            _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7)
        )));
        // SAFETY: 4 numbers are there, by the slice above; the store needs no alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), high) }
    }

    #[inline(always)]
    fn high_words(self, low: __m256i, high: __m256i) -> __m256i {
        intrinsic!({
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            // Odd words, by halves of a vector.
            let words = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
            _mm256_permute4x64_epi64::<0b11_01_10_00>(words)
        })
    }

    #[inline(always)]
    fn load_overlapping(self, bytes: &[u8; 32]) -> __m256i {
        // SAFETY: there are 32 bytes; the loads need no alignment.
        let (low, high) = unsafe {
            (
                _mm_loadu_si128(bytes.as_ptr().cast()),
                _mm_loadu_si128(bytes.as_ptr().add(4).cast()),
            )
        };
        intrinsic!({
            let words = _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
            _mm256_shuffle_epi8(_mm256_set_m128i(high, low), _mm256_set_m128i(words, words))
        })
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [__m256i; 2] {
        // SAFETY: there are 64 bytes; the loads need no alignment.
        unsafe {
            [
                _mm256_loadu_si256(bytes.as_ptr().cast()),
                _mm256_loadu_si256(bytes.as_ptr().add(32).cast()),
            ]
        }
    }

    #[inline(always)]
    fn store_bytes(self, vector: [__m256i; 2], bytes: &mut [u8; 64]) {
        // SAFETY: there are 64 bytes; the stores need no alignment.
        unsafe {
            _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector[0]);
            _mm256_storeu_si256(bytes.as_mut_ptr().add(32).cast(), vector[1]);
        }
    }

    #[inline(always)]
    fn with_bits(self, bytes: [__m256i; 2], bits: u8) -> [__m256i; 2] {
        intrinsic!({
            let bits = _mm256_set1_epi8(bits.cast_signed());
            [
                _mm256_or_si256(bytes[0], bits),
                _mm256_or_si256(bytes[1], bits),
            ]
        })
    }

    #[inline(always)]
    fn is(self, bytes: [__m256i; 2], byte: u8) -> [__m256i; 2] {
        intrinsic!({
            let byte = _mm256_set1_epi8(byte.cast_signed());
            [
                _mm256_cmpeq_epi8(bytes[0], byte),
                _mm256_cmpeq_epi8(bytes[1], byte),
            ]
        })
    }

    #[inline(always)]
    fn is_among(self, bytes: [__m256i; 2], first: u8, count: u8) -> [__m256i; 2] {
        intrinsic!({
            // Bytes below `first` wrap and become large.
            let first = _mm256_set1_epi8(first.cast_signed());
            let last = _mm256_set1_epi8((count - 1).cast_signed());
            let low = _mm256_sub_epi8(bytes[0], first);
            let high = _mm256_sub_epi8(bytes[1], first);
            [
                _mm256_cmpeq_epi8(_mm256_min_epu8(low, last), low),
                _mm256_cmpeq_epi8(_mm256_min_epu8(high, last), high),
            ]
        })
    }

    #[inline(always)]
    fn same(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        intrinsic!([_mm256_cmpeq_epi8(a[0], b[0]), _mm256_cmpeq_epi8(a[1], b[1]),])
    }

    #[inline(always)]
    fn or(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        intrinsic!([_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])])
    }

    #[inline(always)]
    fn put(self, bytes: [__m256i; 2], at: [__m256i; 2], byte: u8) -> [__m256i; 2] {
        intrinsic!({
            let byte = _mm256_set1_epi8(byte.cast_signed());
            [
                _mm256_blendv_epi8(bytes[0], byte, at[0]),
                _mm256_blendv_epi8(bytes[1], byte, at[1]),
            ]
        })
    }

    #[inline(always)]
    fn bits(self, at: [__m256i; 2]) -> u64 {
        let (low, high) = intrinsic!((_mm256_movemask_epi8(at[0]), _mm256_movemask_epi8(at[1])));
        u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
    }
}
