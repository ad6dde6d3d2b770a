//! Verifies candidate pairs on one thread, in pairs per second: by signatures, packed signatures and exact sets.
//!
//!     cargo bench --bench verify -- 'packed/.*/128'
//!
//! Pairs are in the order of a band: sorted by first document, with a random second one.

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use criterion::{BenchmarkId, Criterion, Throughput};
use simgpu::pipeline::{PackedSignatures, Similarity, SlotBits};
use simgpu::scheme::{Width, fmix64};
use simgpu::store::ExactSets;
use stages::chosen;

const DOCUMENTS: u32 = 2000;
/// Pairs per call for signatures. Exact sets are slower and get a tenth.
const PAIRS: u64 = 10_000;
const NUM_PERMS: [usize; 4] = [64, 128, 256, 1024];

/// Shingles per document.
const SET_SIZES: [u64; 3] = [30, 300, 3000];

fn main() {
    stages::run(&[bench_signatures, bench_packed, bench_exact]);
}

fn bench_signatures(criterion: &mut Criterion) {
    let pairs = pairs(PAIRS);
    let mut group = criterion.benchmark_group("signatures");
    group.throughput(Throughput::Elements(pairs.len() as u64));
    for (width, shown) in [(Width::U32, "32-bit"), (Width::U64, "64-bit")] {
        for num_perm in chosen(&NUM_PERMS) {
            let signatures = stages::signatures(DOCUMENTS as usize, *num_perm, width, slot);
            let id = BenchmarkId::new(shown, num_perm);
            group.bench_function(id, |bencher| bencher.iter(|| signatures.of_pairs(&pairs)));
        }
    }
    group.finish();
}

fn bench_packed(criterion: &mut Criterion) {
    let pairs = pairs(PAIRS);
    let mut group = criterion.benchmark_group("packed");
    group.throughput(Throughput::Elements(pairs.len() as u64));
    for num_perm in chosen(&NUM_PERMS) {
        let signatures = stages::signatures(DOCUMENTS as usize, *num_perm, Width::U32, slot);
        for bits in SlotBits::ALL {
            let packed = PackedSignatures::of(&signatures, bits);
            let id = BenchmarkId::new(format!("{}-bit", bits.get()), num_perm);
            group.bench_function(id, |bencher| bencher.iter(|| packed.of_pairs(&pairs)));
        }
    }
    group.finish();
}

fn bench_exact(criterion: &mut Criterion) {
    let pairs = pairs(PAIRS / 10);
    let mut group = criterion.benchmark_group("exact");
    group.throughput(Throughput::Elements(pairs.len() as u64));
    for size in chosen(&SET_SIZES) {
        let sets = exact_sets(*size);
        let id = size.to_string();
        group.bench_function(id, |bencher| bencher.iter(|| sets.of_pairs(&pairs)));
    }
    group.finish();
}

/// A slot of a document. Three of four documents have the same value, so two agree in 9/16 of all slots.
fn slot(document: u64, k: u64) -> u64 {
    let differs = fmix64(document << 32 | k).is_multiple_of(4);
    k + u64::from(differs) * (document << 32)
}

/// Sets that contain each element of the universe with probability 2/3. Similarities are about 1/2.
fn exact_sets(size: u64) -> ExactSets {
    let universe: Vec<u64> = (0..size * 3 / 2).map(fmix64).collect();
    let mut sets = ExactSets::default();
    for document in 0..DOCUMENTS {
        let has = |element: &u64| !fmix64(element ^ u64::from(document)).is_multiple_of(3);
        let set: Vec<u64> = universe.iter().copied().filter(has).collect();
        let inserted = sets.insert(document, &set);
        inserted.expect("sets in memory are not written to disk");
    }
    sets
}

fn pairs(number: u64) -> Vec<(u32, u32)> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the remainder is below DOCUMENTS, a u32"
    )]
    let any = |i: u64| (fmix64(i) % u64::from(DOCUMENTS)) as u32;
    let pairs = (0..number).map(|i| (any(2 * i), any(2 * i + 1)));
    let mut pairs: Vec<_> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    pairs
}
