//! Signs shingle sets on one thread: each family on each instruction set, in permutation updates per second
//! (shingles x K).
//!
//!     cargo bench --bench sign -- 'affine32/.*/1000x128'
//!
//! Benchmarks are named `scheme/instructions/SHINGLESxK`, with the number of shingles per document. `simgpu bench`
//! measures in rounds and compares with the ceiling of the CPU. This bench covers many sizes and compares each with
//! its previous run.
//!
//! `fast` and `rensa` do not update every slot for every shingle. For comparison, their updates are counted as if
//! they did.

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use criterion::{BenchmarkId, Criterion, Throughput};
use simgpu::backend::Backend;
use simgpu::pipeline::Signatures;
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use stages::{Documents, chosen};

const SHINGLES: [usize; 6] = [30, 100, 300, 1000, 5000, 50_000];
const NUM_PERMS: [u32; 4] = [64, 128, 256, 1024];

/// Shingles per call: enough to hide the cost of a call, few enough to stay in the cache.
const SHINGLES_PER_CALL: usize = 10_000;

fn main() {
    stages::run(&[bench_sign]);
}

fn bench_sign(criterion: &mut Criterion) {
    let instructions = || std::iter::once(None).chain(Isa::available().iter().copied().map(Some));
    for name in schemes() {
        let mut group = criterion.benchmark_group(name);
        for isa in instructions() {
            let shown = isa.map_or("scalar".to_owned(), |isa| isa.to_string());
            for shingles in chosen(&SHINGLES) {
                let documents = Documents::new((SHINGLES_PER_CALL / shingles).max(1), *shingles);
                for num_perm in chosen(&NUM_PERMS) {
                    let updates = documents.hashes() as u64 * u64::from(*num_perm);
                    group.throughput(Throughput::Elements(updates));
                    let id = BenchmarkId::new(&shown, format!("{shingles}x{num_perm}"));
                    group.bench_function(id, |bencher| {
                        let scheme = Scheme::named(name).and_then(|it| it.with_num_perm(*num_perm));
                        let scheme = scheme.expect("schemes and sizes are known");
                        let signer = match isa {
                            None => Backend::Scalar.signer(&scheme),
                            Some(isa) => Backend::Simd.signer_on(&scheme, isa),
                        };
                        let signer = signer.expect("the instructions are available");
                        let sets = documents.sets(scheme.family().hash_width());
                        let mut signatures =
                            Signatures::new(signer.num_perm(), signer.slot_width());
                        bencher.iter(|| {
                            signatures.clear();
                            signatures.sign(&*signer, &sets)
                        });
                    });
                }
            }
        }
        group.finish();
    }
}

/// One scheme per family. The family of `rensa` exists only as that preset.
fn schemes() -> impl Iterator<Item = &'static str> {
    let families = Scheme::names().filter(|name| {
        let scheme = Scheme::named(name);
        scheme.is_ok_and(|scheme| scheme.preset().is_none())
    });
    families.chain(["rensa"])
}
