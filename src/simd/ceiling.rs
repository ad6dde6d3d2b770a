//! The ceiling of the vector units of this CPU: per family a loop of only the instructions that one update needs,
//! on registers, each iteration independent of the last. A kernel stays below it for what it does besides:
//! loads, mixing, the ends of sets.
#![allow(unsafe_code, reason = "the loops are assembly")]

use super::Isa;
use super::isa::Kind;
use super::low_part;
use crate::scheme::Family;

/// Measures the updates per second that the vector units allow for documents of `shingles` shingles, on this core
/// at this moment: its clock moves with the load. `None` where no loop exists. Lasts less than half a millisecond.
///
/// `mersenne61` signs long sets by its low part, which needs the instructions of `affine32`.
pub fn updates_per_s(family: Family, isa: Isa, shingles: usize) -> Option<f64> {
    let is_low_part = family == Family::Mersenne61 && shingles >= low_part::from(isa);
    let family = match is_low_part {
        true => Family::Affine32,
        false => family,
    };
    match (isa.0, family) {
        #[cfg(target_arch = "x86_64")]
        (Kind::Avx2(proof), family) => loops::avx2(proof, family),
        #[cfg(target_arch = "x86_64")]
        (Kind::Avx512(proof), family) => loops::avx512(proof, family),
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
        (16, $($line:expr),+) => {
            calibrate!(@loop 16, "mov {k:e}, 0xAAAA", "kmovw k1, {k:e}", "not {k:e}", "kmovw k2, {k:e}"; $($line),+)
        };
        ($lanes:literal, $($line:expr),+) => {
            calibrate!(@loop $lanes, "xor {k:e}, {k:e}"; $($line),+)
        };
        (@loop $lanes:literal, $($prepare:literal),+; $($line:expr),+) => {{
            let mut iterations = ITERATIONS;
            let start = Instant::now();
            // SAFETY: reads and writes only the declared registers. The callers hold a value that proves the
            // instructions.
            unsafe {
                asm!(
                    $($prepare),+,
                    "2:",
                    $($line),+,
                    "dec {iterations}", "jnz 2b", "vzeroupper",
                    k = out(reg) _, iterations = inout(reg) iterations,
                    out("k1") _, out("k2") _,
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

    macro_rules! affine32 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmulld ", $r, "8, ", $r, "12, ", $r, "15\n", "vpaddd ", $r, "8, ", $r, "8, ", $r,
                "13\n", "vpminud ", $r, $low, ", ", $r, $low, ", ", $r, "8\n",
            )
        };
    }

    /// Both products and sums of 64 bits, and the product with the high factor.
    macro_rules! sums {
        ($r:literal) => {
            concat!(
                "vpmuludq ",
                $r,
                "8, ",
                $r,
                "12, ",
                $r,
                "15\n",
                "vpmuludq ",
                $r,
                "9, ",
                $r,
                "13, ",
                $r,
                "15\n",
                "vpaddq ",
                $r,
                "8, ",
                $r,
                "8, ",
                $r,
                "14\n",
                "vpaddq ",
                $r,
                "9, ",
                $r,
                "9, ",
                $r,
                "14\n",
                "vpmulld ",
                $r,
                "10, ",
                $r,
                "14, ",
                $r,
                "15\n",
            )
        };
    }

    macro_rules! mersenne31_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpshufd zmm9{{k2}}, zmm8, 0xB1\n",
                "vpaddd zmm9, zmm9, zmm10\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm9\n",
            )
        };
    }

    macro_rules! mersenne61_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vmovdqa64 zmm11, zmm8\n",
                "vpshufd zmm8{{k1}}, zmm9, 0xB1\n",
                "vpshufd zmm9{{k2}}, zmm11, 0xB1\n",
                "vpaddd zmm9, zmm9, zmm10\n",
                "vpsrld zmm9, zmm9, 29\n",
                "vpaddd zmm8, zmm8, zmm9\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    macro_rules! mersenne31_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpsrlq ymm8, ymm8, 32\n",
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                "vpaddd ymm9, ymm9, ymm10\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", ymm9\n",
            )
        };
    }

    macro_rules! mersenne61_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpsllq ymm11, ymm9, 32\n",
                "vpblendd ymm11, ymm8, ymm11, 0xAA\n",
                "vpsrlq ymm8, ymm8, 32\n",
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                "vpaddd ymm9, ymm9, ymm10\n",
                "vpsrld ymm9, ymm9, 29\n",
                "vpaddd ymm9, ymm9, ymm11\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", ymm9\n",
            )
        };
    }

    macro_rules! affine64_512 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmullq zmm8, zmm12, zmm15\n",
                "vpaddq zmm8, zmm8, zmm13\n",
                "vpminuq ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    macro_rules! mersenne61_wide_512 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmullq zmm8, zmm12, zmm15\n",
                "vpaddq zmm8, zmm8, zmm13\n",
                "vpsrlq zmm9, zmm8, 61\n",
                "vpaddq zmm8, zmm8, zmm9\n",
                "vpandq zmm8, zmm8, zmm14\n",
                "vpminuq ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    pub(super) fn avx2(_: Avx2, family: Family) -> Option<f64> {
        match family {
            Family::Affine32 | Family::Affine32Even => calibrate!(8, eight!(affine32, "ymm")),
            Family::Mersenne31 => calibrate!(8, eight!(mersenne31_256, "ymm")),
            Family::Mersenne61 => calibrate!(8, eight!(mersenne61_256, "ymm")),
            _ => None,
        }
    }

    pub(super) fn avx512(_: Avx512, family: Family) -> Option<f64> {
        match family {
            Family::Affine32 | Family::Affine32Even => calibrate!(16, eight!(affine32, "zmm")),
            Family::Mersenne31 => calibrate!(16, eight!(mersenne31_512, "zmm")),
            Family::Mersenne61 => calibrate!(16, eight!(mersenne61_512, "zmm")),
            Family::Affine64 => calibrate!(8, eight!(affine64_512, "zmm")),
            Family::Mersenne61Wide => calibrate!(8, eight!(mersenne61_wide_512, "zmm")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_rates() {
        for isa in Isa::available() {
            for family in [Family::Affine32, Family::Mersenne31, Family::Mersenne61] {
                let ceiling = updates_per_s(family, *isa, 100);
                assert!(ceiling.is_none_or(|rate| rate.is_finite() && rate > 0.0));
            }
            assert_eq!(updates_per_s(Family::Fast, *isa, 100), None);
            let of_short = updates_per_s(Family::Mersenne61, *isa, 1).is_some();
            let of_long = updates_per_s(Family::Mersenne61, *isa, 1 << 20).is_some();
            assert_eq!(of_short, of_long);
        }
    }
}
