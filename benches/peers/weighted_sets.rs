//! Signs weighted sets with simgpu and with the crate dartminhash, in turn. `weighted_sets.py` builds and runs it.
//!
//!     weighted_sets COPIES_PER_UNIT_OF_WEIGHT < sets
//!
//! A line is a set: its elements, which are 64-bit numbers, each followed by its weight. Sets 0 and 1, 2 and 3, and so on
//! are pairs. Prints a line per signer: its name, CPU microseconds per set, and the mean estimate for the pairs. simgpu
//! signs lists of weighted tokens, and, as `hashes`, what dartminhash signs: numbers without repeats, with weights.

use std::hint::black_box;
use std::io;

use cpu_time::ProcessTime;
use dartminhash::dartminhash::MinHashSketch;
use dartminhash::rng_utils::mt_from_seed;
use dartminhash::{DartMinHash, TreeMinHash, jaccard_estimate_from_minhashes};
use simgpu::backend::Backend;
use simgpu::documents::WeightedBatch;
use simgpu::engine::Engine;
use simgpu::pipeline::{ShingleSets, Shingling, Signatures, Signer, Unit, Weighting};
use simgpu::scheme::{Copies, Hashes, Scheme, WeightScale};

type Set = Vec<(u64, f64)>;
type Failure = Box<dyn std::error::Error>;

/// Slots of a signature.
const NUM_PERM: u32 = 128;

/// CPU seconds that the passes of a signer last at least.
const LEAST_S: f64 = 0.03;

fn main() -> Result<(), Failure> {
    let scale = WeightScale::new(std::env::args().nth(1).ok_or("no scale")?.parse()?)?;
    let shingling = Shingling {
        weighting: Weighting::Given(scale),
        ..Shingling::of(Unit::Tokens)
    };
    let sets: Vec<Set> = io::stdin()
        .lines()
        .map(|line| parse(&line?))
        .collect::<Result<_, Failure>>()?;
    let tokens = tokens_of(&sets);

    for name in ["affine32", "affine64", "fast"] {
        let scheme = Scheme::named(name)?.with_num_perm(NUM_PERM)?;
        let engine = Engine::builder()
            .scheme(scheme)
            .shingling(shingling.clone())
            .backend(Backend::Simd)
            .build()?;
        let sign = || engine.sign(&tokens).expect("the weights are valid");
        let estimate = |signed: &Signatures, a: usize, b: usize| signed.estimate(a, b);
        report(name, sets.len(), sign, estimate);
    }
    let signer = Backend::Simd.signer(&Scheme::named("affine32")?.with_num_perm(NUM_PERM)?)?;
    let sign = || sign_hashes(&*signer, &sets, scale).expect("the sets are valid");
    let estimate = |signed: &Signatures, a: usize, b: usize| signed.estimate(a, b);
    report("hashes", sets.len(), sign, estimate);
    let estimate = |signed: &Vec<MinHashSketch>, a: usize, b: usize| {
        jaccard_estimate_from_minhashes(&signed[a], &signed[b])
    };
    let dart = DartMinHash::new_mt(&mut mt_from_seed(1), NUM_PERM.into());
    let sign = || sets.iter().map(|set| dart.sketch(set)).collect();
    report("DartMinHash", sets.len(), sign, estimate);
    let tree = TreeMinHash::new_mt(&mut mt_from_seed(1), NUM_PERM.into());
    let sign = || sets.iter().map(|set| tree.sketch(set)).collect();
    report("TreeMinHash", sets.len(), sign, estimate);
    Ok(())
}

fn parse(line: &str) -> Result<Set, Failure> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let elements = words.chunks_exact(2);
    elements
        .map(|element| Ok((element[0].parse()?, element[1].parse()?)))
        .collect()
}

/// The sets as lists of weighted tokens; a token is the eight bytes of an element.
fn tokens_of(sets: &[Set]) -> WeightedBatch {
    let mut batch = WeightedBatch::default();
    for set in sets {
        for (element, weight) in set {
            batch.push_token(&element.to_le_bytes(), *weight);
        }
        batch.finish_document();
    }
    batch
}

/// Signs sets of 32-bit hashes, the low halves of the elements.
#[allow(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn sign_hashes(
    signer: &dyn Signer,
    sets: &[Set],
    scale: WeightScale,
) -> simgpu::Result<Signatures> {
    let (mut copies, mut offsets) = (Vec::new(), vec![0]);
    for set in sets {
        for (element, weight) in set {
            (*element as u32).for_each_copy(scale.fixed(*weight), |copy| copies.push(copy));
        }
        offsets.push(copies.len() as i64);
    }
    let sets = ShingleSets::new(Hashes::U32(&copies), &offsets)?;
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signatures.sign(signer, &sets)?;
    Ok(signatures)
}

/// Signs all sets once to warm up, then until enough time has passed.
fn report<S>(
    name: &str,
    sets: usize,
    sign: impl Fn() -> S,
    estimate: impl Fn(&S, usize, usize) -> f64,
) {
    let signed = sign();
    let pairs = (0..sets / 2).map(|pair| estimate(&signed, 2 * pair, 2 * pair + 1));
    let mean = pairs.sum::<f64>() / (sets / 2) as f64;
    let start = ProcessTime::now();
    let mut passes = 0;
    while start.elapsed().as_secs_f64() < LEAST_S {
        black_box(sign());
        passes += 1;
    }
    let elapsed_us = start.elapsed().as_secs_f64() * 1e6 / (passes * sets) as f64;
    println!("{name} {elapsed_us} {mean}");
}
