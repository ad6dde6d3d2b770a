//! Computes band keys and finds buckets on one thread, in keys per second.
//!
//!     cargo bench --bench band -- bucket

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use std::cell::LazyCell;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use simgpu::pipeline::{BandKeys, Banding, Buckets};
use simgpu::scheme::Width;
use stages::chosen;

const NUM_PERM: usize = 128;

/// Signatures per batch: about as in 16 MiB of text.
const ROWS: usize = 4000;

/// The default, many narrow bands, and one very wide band.
const BANDINGS: [(usize, usize); 3] = [(16, 8), (32, 4), (1, 128)];

const KEYS: [u32; 2] = [10_000, 1_000_000];

fn main() {
    stages::run(&[bench_keys, bench_buckets]);
}

/// Computes the keys of all bands for one batch.
fn bench_keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("band");
    for (width, shown) in [(Width::U32, "32-bit"), (Width::U64, "64-bit")] {
        let slot = |row, k| row << 32 | k;
        let signatures = stages::signatures(ROWS, NUM_PERM, width, slot);
        for (bands, slots) in BANDINGS {
            let banding = Banding::new(bands, slots, NUM_PERM).expect("there are enough slots");
            group.throughput(Throughput::Elements((bands * ROWS) as u64));
            let id = BenchmarkId::new(shown, format!("{bands}x{slots}"));
            group.bench_function(id, |bencher| {
                let push = |mut keys: BandKeys| {
                    keys.push(&signatures);
                    keys
                };
                bencher.iter_batched(|| BandKeys::new(banding), push, BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

/// Finds the buckets of one band. A tenth of the documents share their key with one other document.
fn bench_buckets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bucket");
    for documents in chosen(&KEYS) {
        let keys = LazyCell::new(|| {
            let distinct = u64::from(documents / 20 * 19);
            let slot = |row, _| row % distinct;
            let signatures = stages::signatures(*documents as usize, 1, Width::U64, slot);
            let banding = Banding::new(1, 1, 1).expect("there is one slot");
            let mut keys = BandKeys::new(banding);
            keys.push(&signatures);
            keys
        });
        group.throughput(Throughput::Elements(u64::from(*documents)));
        group.bench_function(documents.to_string(), |bencher| {
            let keys = LazyCell::force(&keys);
            let find = |keys| Buckets::of(keys, &mut |_| Ok(()));
            bencher.iter_batched(|| keys.clone(), find, BatchSize::LargeInput);
        });
    }
    group.finish();
}
