//! Measures from which length of sets on chunks are faster than a loop that evaluates all shingles, on one thread.
//!
//!     cargo bench --bench thresholds --features internals
//!
//! For each family and instruction set it prints how many times as fast chunks are, by length: the least ratio of three kinds of
//! sets (distinct shingles, each shingle twice, 15 distinct ones), each the least time of many. The last two columns are the
//! length from which no ratio is below .95, and the one that the kernels use.

#![allow(clippy::print_stdout, reason = "a table is what this program makes")]

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use std::hint::black_box;
use std::time::Instant;

use simgpu::internals::thresholds::{BothWays, threshold};
use simgpu::scheme::{Family, fmix64};
use simgpu::simd::Isa;

const FAMILIES: [Family; 4] = [
    Family::Mersenne61,
    Family::Mersenne61Wide,
    Family::Mersenne31,
    Family::Affine64,
];

/// Lengths of sets. No shorter set can be signed by chunks.
const LENGTHS: [u64; 15] = [
    16, 24, 32, 48, 64, 96, 136, 208, 320, 500, 800, 1000, 2000, 5000, 20_000,
];

/// The shingles of a set by their number.
type Kind = fn(u64, u64) -> u64;

const KINDS: [Kind; 3] = [|_, i| i, |len, i| i % (len / 2), |_, i| fmix64(i) % 15];

fn main() {
    for num_perm in stages::chosen(&[128, 40]) {
        println!("\n{num_perm} permutations");
        print!("{:16}{:11}", "family", "isa");
        LENGTHS.iter().for_each(|len| print!("{len:>7}"));
        println!("   from    now");
        for family in FAMILIES {
            for isa in Isa::available() {
                measure(family, *isa, *num_perm);
            }
        }
    }
}

fn measure(family: Family, isa: Isa, num_perm: usize) {
    print!("{:16}{:11}", format!("{family:?}"), isa.to_string());
    let random = |seed: u64| (0..num_perm as u64).map(move |k| fmix64(k ^ seed << 32) >> 34);
    let factors: Vec<u64> = random(1).map(|a| 2 * a + 1).collect();
    let both = BothWays::new(family, &factors, &random(2).collect::<Vec<_>>())
        .expect("a family that is signed by chunks");
    let mut from = None;
    for len in stages::chosen(&LENGTHS) {
        let ratios = KINDS.map(|kind| {
            let set: Vec<u64> = (0..*len).map(|i| fmix64(kind(*len, i) ^ 7 << 50)).collect();
            ratio(&both, isa, num_perm, &set)
        });
        let least = ratios.into_iter().fold(f64::INFINITY, f64::min);
        print!("{least:>7.2}");
        match least {
            0.95.. => from = from.or(Some(*len)),
            _ => from = None,
        }
    }
    let from = from.map_or("never".to_owned(), |from| from.to_string());
    let now = threshold(family, isa).expect("a family that is signed by chunks");
    println!("{from:>7}{now:>7}");
}

/// How many times as fast chunks are.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits are random")]
fn ratio(both: &BothWays, isa: Isa, num_perm: usize, set: &[u64]) -> f64 {
    match both {
        BothWays::U32(lower) => {
            let set: Vec<u32> = set.iter().map(|x| *x as u32).collect();
            let mut row = vec![0; num_perm];
            ratio_of(set.len(), |chunks| {
                lower(isa, chunks, black_box(&set), black_box(&mut row));
            })
        }
        BothWays::U64(lower) => {
            let mut row = vec![0; num_perm];
            ratio_of(set.len(), |chunks| {
                lower(isa, chunks, black_box(set), black_box(&mut row));
            })
        }
    }
}

/// The least seconds of one way in those of the other. The ways take turns, so that a slow moment meets both.
fn ratio_of(len: usize, mut lower: impl FnMut(bool)) -> f64 {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..(200_000 / len).clamp(20, 1000) {
        for (way, least) in least.iter_mut().enumerate() {
            let start = Instant::now();
            lower(way == 1);
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least[0] / least[1]
}
