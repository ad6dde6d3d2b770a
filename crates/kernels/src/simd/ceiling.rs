//! The ceiling of the vector units of this CPU: per family a loop of only the instructions that one update needs,
//! on registers, each iteration independent of the last. A kernel stays below it for what it does besides:
//! loads, mixing, the ends of sets, and by chunks, finding the chunk of the least key.
#![allow(unsafe_code, reason = "the loops are assembly")]

use super::chunks::{self, ByChunks};
use super::isa::{Isa, Kind};
use super::sign::{Affine64, Mersenne31, Mersenne61, Mersenne61Wide};
use crate::scheme::Family;

/// Measures the updates per second that the vector units allow for documents of `shingles` shingles, on this core
/// at this moment: its clock moves with the load. `None` where no loop exists. Lasts less than a millisecond.
///
/// Where a set is signed by chunks, that is the loop of the keys for all shingles, and that of values for one chunk of each
/// piece.
pub fn updates_per_s(
    family: Family,
    isa: Isa,
    shingles: usize,
    permutations: usize,
) -> Option<f64> {
    let chunks = match family {
        Family::Mersenne31 => chunked::<Mersenne31>(isa, shingles, permutations),
        Family::Mersenne61 => chunked::<Mersenne61>(isa, shingles, permutations),
        Family::Affine64 => chunked::<Affine64>(isa, shingles, permutations),
        Family::Mersenne61Wide => chunked::<Mersenne61Wide>(isa, shingles, permutations),
        _ => None,
    };
    let values = values_per_s(family, isa)?;
    let Some((halves, share)) = chunks else {
        return Some(values);
    };
    let keys = keys_per_s(halves, isa)?;
    Some(1.0 / (1.0 / keys + share / values))
}

/// Halves of a factor of a key, and the share of shingles that are evaluated, where a set is signed by chunks.
fn chunked<F: ByChunks>(isa: Isa, shingles: usize, permutations: usize) -> Option<(usize, f64)> {
    let share = chunks::evaluated::<F>(isa, shingles, permutations)?;
    Some((F::HALVES, share))
}

fn values_per_s(family: Family, isa: Isa) -> Option<f64> {
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2(proof) => loops::values_of_avx2(proof, family),
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512(_) | Kind::Avx512Vnni(_) => {
            loops::values_of_avx512(super::avx512::Avx512::detect()?, family)
        }
        _ => None,
    }
}

fn keys_per_s(halves: usize, isa: Isa) -> Option<f64> {
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2(proof) => loops::keys_of_avx2(proof, halves),
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512(proof) => loops::keys_of_avx512(proof, halves),
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512Vnni(proof) => loops::keys_of_vnni(proof, halves),
        _ => None,
    }
}

/// Measures the places per second that the vector units allow the search for anchors of 32-grams in windows of 100 bytes
/// (`simd::minima`): three joins of hashes, four of minima of neighbours, and one of five minima. `None` where no loop exists.
pub fn anchors_per_s(isa: Isa) -> Option<f64> {
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2(proof) => loops::anchors_of_avx2(proof),
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512(_) | Kind::Avx512Vnni(_) => {
            loops::anchors_of_avx512(super::avx512::Avx512::detect()?)
        }
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
mod loops {
    use std::arch::asm;
    use std::time::Instant;

    use super::super::avx2::Avx2;
    use super::super::avx512::Avx512;
    use crate::scheme::Family;

    const ITERATIONS: u64 = 20_000;

    /// Repeats the instructions of one vector of updates on each of eight accumulators. Registers 12 to 15 hold x
    /// and the coefficients, 8 to 11 intermediate values. The code after it is compiled for SSE and would wait for
    /// upper halves of registers that are not cleared.
    macro_rules! calibrate {
        ($lanes:literal, $($line:expr),+) => {{
            let mut iterations = ITERATIONS;
            let start = Instant::now();
            // SAFETY: reads and writes only the declared registers. The callers hold a value that proves the
            // instructions.
            unsafe {
                asm!(
                    "2:",
                    $($line),+,
                    "dec {iterations}", "jnz 2b", "vzeroupper",
                    iterations = inout(reg) iterations,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                );
            }
            let _ = iterations;
            Some((ITERATIONS * 8 * $lanes) as f64 / start.elapsed().as_secs_f64())
        }};
    }

    /// A list of instructions for each of the eight accumulators.
    macro_rules! eight {
        ($instructions:ident, $r:literal) => {
            concat!(
                $instructions!($r, "0"),
                $instructions!($r, "1"),
                $instructions!($r, "2"),
                $instructions!($r, "3"),
                $instructions!($r, "4"),
                $instructions!($r, "5"),
                $instructions!($r, "6"),
                $instructions!($r, "7")
            )
        };
    }

    /// Instructions on registers of the class `$r`, each with its target and its operands.
    macro_rules! lines {
        ($r:literal; $($name:literal $to:literal $a:literal $b:literal),+) => {
            concat!($($name, " ", $r, $to, ", ", $r, $a, ", ", $r, $b, "\n"),+)
        };
    }

    /// An instruction with a number: a shift or a shuffle.
    macro_rules! by {
        ($r:literal; $name:literal $to:literal $a:literal $number:literal) => {
            concat!($name, " ", $r, $to, ", ", $r, $a, ", ", $number, "\n")
        };
    }

    macro_rules! affine32 {
        ($r:literal, $low:literal) => {
            lines!($r; "vpmulld" "8" "12" "15", "vpaddd" "8" "8" "13", "vpminud" $low $low "8")
        };
    }

    /// Both products and sums of 64 bits, and the product with the high factor.
    macro_rules! sums {
        ($r:literal) => {
            lines!($r; "vpmuludq" "8" "12" "15", "vpmuludq" "9" "13" "15", "vpaddq" "8" "8" "14",
                "vpaddq" "9" "9" "14", "vpmulld" "10" "14" "15")
        };
    }

    macro_rules! mersenne31_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                lines!($r; "vpermt2d" "9" "11" "8", "vpaddd" "9" "9" "10", "vpminud" $low $low "9"),
            )
        };
    }

    macro_rules! mersenne61_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vmovdqa64 zmm11, zmm8\n",
                lines!($r; "vpermt2d" "8" "14" "9", "vpermt2d" "9" "14" "11", "vpaddd" "9" "9" "10"),
                by!($r; "vpsrld" "9" "9" "29"),
                lines!($r; "vpaddd" "8" "8" "9", "vpminud" $low $low "8"),
            )
        };
    }

    macro_rules! mersenne31_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                by!($r; "vpsrlq" "8" "8" "32"),
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                lines!($r; "vpaddd" "9" "9" "10", "vpminud" $low $low "9"),
            )
        };
    }

    macro_rules! mersenne61_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                by!($r; "vpsllq" "11" "9" "32"),
                "vpblendd ymm11, ymm8, ymm11, 0xAA\n",
                by!($r; "vpsrlq" "8" "8" "32"),
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                lines!($r; "vpaddd" "9" "9" "10"),
                by!($r; "vpsrld" "9" "9" "29"),
                lines!($r; "vpaddd" "9" "9" "11", "vpminud" $low $low "9"),
            )
        };
    }

    macro_rules! affine64_512 {
        ($r:literal, $low:literal) => {
            lines!($r; "vpmullq" "8" "12" "15", "vpaddq" "8" "8" "13", "vpminuq" $low $low "8")
        };
    }

    macro_rules! mersenne61_wide_512 {
        ($r:literal, $low:literal) => {
            concat!(
                lines!($r; "vpmullq" "8" "12" "15", "vpaddq" "8" "8" "13"),
                by!($r; "vpsrlq" "9" "8" "61"),
                lines!($r; "vpaddq" "8" "8" "9", "vpandq" "8" "8" "14", "vpminuq" $low $low "8"),
            )
        };
    }

    /// Keys by words, of factors of two, three and four halves, and shingles of two, two and four.
    macro_rules! words2 {
        ($r:literal, $low:literal) => {
            lines!($r; "vpmullw" "8" "12" "15", "vpmullw" "9" "13" "14", "vpmulhuw" "10" "12" "14",
                "vpaddw" "8" "8" "9", "vpaddw" "10" "10" "13", "vpaddw" "8" "8" "10", "vpminuw" $low $low "8")
        };
    }

    macro_rules! words3 {
        ($r:literal, $low:literal) => {
            concat!(
                lines!($r; "vpmulhuw" "11" "13" "15", "vpaddw" "11" "11" "12"),
                words2!($r, "11"),
                lines!($r; "vpminuw" $low $low "11"),
            )
        };
    }

    macro_rules! words4 {
        ($r:literal, $low:literal) => {
            concat!(
                lines!($r; "vpmullw" "8" "12" "15", "vpmullw" "9" "13" "14", "vpmulhuw" "10" "12" "14",
                    "vpaddw" "8" "8" "9", "vpaddw" "10" "10" "13"),
                lines!($r; "vpmullw" "9" "12" "14", "vpmullw" "11" "13" "15", "vpaddw" "8" "8" "10",
                    "vpaddw" "9" "9" "11"),
                lines!($r; "vpmulhuw" "10" "13" "15", "vpmulhuw" "11" "12" "15", "vpaddw" "8" "8" "9",
                    "vpaddw" "10" "10" "11", "vpaddw" "8" "8" "10", "vpminuw" $low $low "8"),
            )
        };
    }

    /// Keys by dots, of shingles of one word and of two.
    macro_rules! dots1 {
        ($r:literal, $low:literal) => {
            concat!(
                "vmovdqa64 zmm8, zmm13\n",
                lines!($r; "vpdpwssd" "8" "12" "15"),
                by!($r; "vpslld" "8" "8" "16"),
                lines!($r; "vpdpwssd" "8" "14" "15", "vpminud" $low $low "8"),
            )
        };
    }

    macro_rules! dots2 {
        ($r:literal, $low:literal) => {
            concat!(
                "vmovdqa64 zmm8, zmm13\n",
                lines!($r; "vpdpwssd" "8" "12" "15", "vpdpwssd" "8" "12" "14"),
                by!($r; "vpslld" "8" "8" "16"),
                lines!($r; "vpdpwssd" "8" "14" "15", "vpdpwssd" "8" "13" "15", "vpminud" $low $low "8"),
            )
        };
    }

    /// A hash, rotated and added to another.
    macro_rules! join_512 {
        ($r:literal) => {
            concat!(by!($r; "vprold" "9" "9" "7"), lines!($r; "vpaddd" "8" "8" "9"))
        };
    }

    macro_rules! join_256 {
        ($r:literal) => {
            concat!(
                by!($r; "vpslld" "10" "9" "7"),
                by!($r; "vpsrld" "9" "9" "25"),
                lines!($r; "vpor" "9" "9" "10", "vpaddd" "8" "8" "9"),
            )
        };
    }

    /// Lanes that begin in a vector and end in the next one.
    macro_rules! slide_512 {
        ($r:literal) => {
            concat!("valignd ", $r, "9, ", $r, "12, ", $r, "13, 4\n")
        };
    }

    /// The same by half a vector.
    macro_rules! half_256 {
        ($r:literal) => {
            concat!("vperm2i128 ", $r, "9, ", $r, "12, ", $r, "13, 0x21\n")
        };
    }

    macro_rules! slide_256 {
        ($r:literal) => {
            concat!(
                half_256!($r),
                "vpalignr ",
                $r,
                "9, ",
                $r,
                "9, ",
                $r,
                "12, 4\n"
            )
        };
    }

    macro_rules! nothing {
        ($r:literal) => {
            ""
        };
    }

    macro_rules! least {
        ($r:literal) => {
            lines!($r; "vpminud" "8" "8" "9")
        };
    }

    /// The first hash, three that are added to it, the last step, and the minima: those of neighbours, and of five. Between
    /// them, slides of lanes: those by one or two places, by four, and by eight.
    macro_rules! anchors {
        ($r:literal, $low:literal, $join:ident, $xor:literal, $and:literal, $few:ident, $four:ident, $eight:ident) => {
            concat!(
                lines!($r; "vpshufb" "8" "12" "15", "vpmulld" "8" "8" "13"),
                by!($r; "vpsrld" "9" "8" "15"),
                lines!($r; $xor "8" "8" "9"),
                $four!($r), $join!($r), $eight!($r), $join!($r), $join!($r),
                by!($r; "vpsrld" "9" "8" "15"),
                lines!($r; $xor "8" "8" "9", "vpmulld" "8" "8" "14", $and "8" "8" "15", "vpaddd" "8" "8" "13"),
                $few!($r), least!($r), $few!($r), least!($r), $four!($r), least!($r), $eight!($r), least!($r),
                lines!($r; "vpminud" "9" "8" "12", "vpminud" "10" "13" "14", "vpminud" "9" "9" "10",
                    "vpminud" $low $low "9"),
            )
        };
    }

    macro_rules! anchors_512 {
        ($r:literal, $low:literal) => {
            anchors!(
                $r, $low, join_512, "vpxord", "vpandd", slide_512, slide_512, slide_512
            )
        };
    }

    macro_rules! anchors_256 {
        ($r:literal, $low:literal) => {
            anchors!(
                $r, $low, join_256, "vpxor", "vpand", slide_256, half_256, nothing
            )
        };
    }

    pub(super) fn anchors_of_avx2(_: Avx2) -> Option<f64> {
        calibrate!(8, eight!(anchors_256, "ymm"))
    }

    pub(super) fn anchors_of_avx512(_: Avx512<false>) -> Option<f64> {
        calibrate!(16, eight!(anchors_512, "zmm"))
    }

    pub(super) fn values_of_avx2(_: Avx2, family: Family) -> Option<f64> {
        match family {
            Family::Affine32 | Family::Affine32Even => calibrate!(8, eight!(affine32, "ymm")),
            Family::Mersenne31 => calibrate!(8, eight!(mersenne31_256, "ymm")),
            Family::Mersenne61 => calibrate!(8, eight!(mersenne61_256, "ymm")),
            _ => None,
        }
    }

    pub(super) fn values_of_avx512(_: Avx512<false>, family: Family) -> Option<f64> {
        match family {
            Family::Affine32 | Family::Affine32Even => calibrate!(16, eight!(affine32, "zmm")),
            Family::Mersenne31 => calibrate!(16, eight!(mersenne31_512, "zmm")),
            Family::Mersenne61 => calibrate!(16, eight!(mersenne61_512, "zmm")),
            Family::Affine64 => calibrate!(8, eight!(affine64_512, "zmm")),
            Family::Mersenne61Wide => calibrate!(8, eight!(mersenne61_wide_512, "zmm")),
            _ => None,
        }
    }

    pub(super) fn keys_of_avx2(_: Avx2, halves: usize) -> Option<f64> {
        match halves {
            2 => calibrate!(16, eight!(words2, "ymm")),
            3 => calibrate!(16, eight!(words3, "ymm")),
            _ => calibrate!(16, eight!(words4, "ymm")),
        }
    }

    pub(super) fn keys_of_avx512(_: Avx512<false>, halves: usize) -> Option<f64> {
        match halves {
            2 => calibrate!(32, eight!(words2, "zmm")),
            3 => calibrate!(32, eight!(words3, "zmm")),
            _ => calibrate!(32, eight!(words4, "zmm")),
        }
    }

    /// Factors of two halves have no dots.
    pub(super) fn keys_of_vnni(_: Avx512<true>, halves: usize) -> Option<f64> {
        match halves {
            2 => calibrate!(32, eight!(words2, "zmm")),
            3 => calibrate!(16, eight!(dots1, "zmm")),
            _ => calibrate!(16, eight!(dots2, "zmm")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_rates() {
        for isa in Isa::available() {
            for family in [
                Family::Affine32,
                Family::Mersenne31,
                Family::Mersenne61,
                Family::Affine64,
                Family::Mersenne61Wide,
            ] {
                let of = |shingles| updates_per_s(family, *isa, shingles, 128);
                assert!(of(1).is_none_or(|rate| rate.is_finite() && rate > 0.0));
                assert!(of(1 << 20).is_none_or(|rate| rate.is_finite() && rate > 0.0));
                assert_eq!(of(1).is_some(), of(1 << 20).is_some());
            }
            assert!(anchors_per_s(*isa).is_none_or(|rate| rate.is_finite() && rate > 0.0));
            assert_eq!(updates_per_s(Family::Fast, *isa, 100, 128), None);
        }
    }
}
