//! Finds repeated passages on one thread, in bytes per second: of a corpus with the share of repeats of real ones, and of
//! the texts of a file of JSON Lines, if one is named. The anchors alone stand beside their ceiling: the bytes of which the
//! vector units can hash the places, shift them by lanes, and compare them, without loads and stores.
//!
//!     cargo bench --package simgpu-passages
//!     SIMGPU_PASSAGES=corpus.jsonl cargo bench --package simgpu-passages

#[allow(dead_code, reason = "each bench uses a part of the module")]
#[path = "../../../benches/stages/mod.rs"]
mod stages;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use simgpu::internals::ceiling;
use simgpu::progress::Silent;
use simgpu::simd::Isa;
use simgpu_passages::{PassageSearch, Symbols, count_regions};

fn main() {
    stages::run(&[bench_anchors, bench_search]);
}

/// Texts, one after another, and their ends.
struct Corpus {
    name: &'static str,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Corpus {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    fn empty(name: &'static str) -> Self {
        Corpus {
            name,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Half of the text is copied from before, in parts of about 1,000 bytes.
    fn made_up() -> Self {
        let mut corpus = Corpus::empty("made-up");
        let mut state = 1_u64;
        let mut random = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % end
        };
        for _ in 0..4_000 {
            let mut text = Vec::new();
            for _ in 0..4 {
                let len = 500 + random(1_000);
                let before = corpus.bytes.len();
                if random(2) == 0 && before > len {
                    let from = random(before - len);
                    text.extend_from_slice(&corpus.bytes[from..from + len]);
                } else {
                    text.extend((0..len).map(|_| b"etaoin shrdlu cmfwyp"[random(20)]));
                }
            }
            corpus.push(&text);
        }
        corpus
    }

    /// The field `text` of each line of a file.
    fn from_file() -> Option<Self> {
        let path = std::env::var_os("SIMGPU_PASSAGES")?;
        let lines = std::fs::read_to_string(path).expect("a file of JSON Lines");
        let mut corpus = Corpus::empty("file");
        for line in lines.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
            corpus.push(record["text"].as_str().expect("a text").as_bytes());
        }
        Some(corpus)
    }
}

/// The least length of passages, in symbols.
const LENGTH: NonZeroUsize = NonZeroUsize::MIN.saturating_add(99);

/// Finds the anchors of windows of 100 symbols on each instruction set.
fn bench_anchors(criterion: &mut Criterion) {
    let bytes = Corpus::made_up().bytes;
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(bytemuck::pod_read_unaligned)
        .collect();
    let mut group = criterion.benchmark_group("anchors");
    for isa in Isa::available() {
        for (name, symbols, places) in [
            ("bytes", Symbols::Bytes(&bytes), bytes.len()),
            ("words", Symbols::U64(&words), words.len()),
        ] {
            group.throughput(Throughput::Elements(places as u64));
            group.bench_function(BenchmarkId::new(name, isa), |bencher| {
                bencher.iter(|| count_regions(*isa, black_box(symbols), LENGTH));
            });
        }
        group.throughput(Throughput::Elements(bytes.len() as u64));
        if ceiling::anchors_per_s(*isa).is_some() {
            group.bench_function(BenchmarkId::new("ceiling", isa), |bencher| {
                bencher.iter_custom(|iterations| {
                    let rates = (0..16).filter_map(|_| ceiling::anchors_per_s(*isa));
                    let rate = rates.fold(1.0, f64::max);
                    Duration::from_secs_f64(iterations as f64 * bytes.len() as f64 / rate)
                });
            });
        }
    }
    group.finish();
}

/// Finds passages of 100 bytes on each instruction set.
fn bench_search(criterion: &mut Criterion) {
    let corpora = [Some(Corpus::made_up()), Corpus::from_file()];
    let mut group = criterion.benchmark_group("passages");
    for corpus in corpora.into_iter().flatten() {
        group.throughput(Throughput::Bytes(corpus.bytes.len() as u64));
        for isa in Isa::available() {
            let search = PassageSearch::new(LENGTH).with_isa(*isa);
            group.bench_function(BenchmarkId::new(corpus.name, isa), |bencher| {
                bencher.iter(|| {
                    let symbols = Symbols::Bytes(black_box(&corpus.bytes));
                    search.find(symbols, &corpus.ends, &Silent)
                });
            });
        }
    }
    group.finish();
}
