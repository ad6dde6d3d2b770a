//! Computes base hashes on one thread, in hashes per second: of windows of 9 bytes, of five words (about 30 bytes)
//! and of single words.
//!
//!     cargo bench --bench hash -- 'xxh64|murmur3-128'
//!
//! Word lengths vary as in real text, so some hashes suffer mispredicted branches.

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use simgpu::internals::for_each_word;
use simgpu::scheme::{BaseHash, ShingleHash, Width, words_v1};

fn main() {
    stages::run(&[bench_bytes, bench_words]);
}

/// Shingles per kind and hash.
const SHINGLES: usize = 10_000;

/// Hashes the bytes of shingles with each base hash.
fn bench_bytes(criterion: &mut Criterion) {
    let text = Text::new();
    let windows: Vec<&[u8]> = text.joined.windows(9).take(SHINGLES).collect();
    let five_words = text.words.windows(5).take(SHINGLES);
    let five_words: Vec<&[u8]> = five_words
        .map(|words| &text.joined[words[0].0..words[4].1])
        .collect();
    let mut group = criterion.benchmark_group("hash");
    for name in BaseHash::names() {
        let hash: BaseHash = name.parse().expect("a listed name");
        for (kind, shingles) in [("9-bytes", &windows), ("5-words", &five_words)] {
            group.throughput(Throughput::Elements(shingles.len() as u64));
            group.bench_function(BenchmarkId::new(name, kind), |bencher| {
                if hash.yields(Width::U32) {
                    bencher.iter(|| least::<u32>(black_box(hash), black_box(shingles)));
                } else {
                    bencher.iter(|| least::<u64>(black_box(hash), black_box(shingles)));
                }
            });
        }
    }
    group.finish();
}

/// The two steps of `words-v1`: hashing words, and combining five hashes.
fn bench_words(criterion: &mut Criterion) {
    let text = Text::new();
    let words = text.words.iter().take(SHINGLES);
    let words: Vec<&[u8]> = words.map(|word| &text.joined[word.0..word.1]).collect();
    let hashes: Vec<u64> = words.iter().map(|word| words_v1::word(word)).collect();
    let mut group = criterion.benchmark_group("hash");
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("words-v1/word", |bencher| {
        let hash = |words: &[&[u8]]| words.iter().fold(0, |sum, word| sum ^ words_v1::word(word));
        bencher.iter(|| hash(black_box(&words)));
    });
    group.bench_function("words-v1/5-hashed-words", |bencher| {
        bencher.iter(|| {
            let mut sum = 0;
            words_v1::for_each_shingle(black_box(&hashes), 5, |hash| sum ^= hash);
            sum
        });
    });
    group.finish();
}

/// Returns the least hash, which prevents the compiler from removing any.
fn least<H: ShingleHash>(hash: BaseHash, shingles: &[&[u8]]) -> Option<H> {
    let hashes = shingles.iter().map(|bytes| H::of_bytes(hash, bytes));
    hashes.min()
}

/// Words joined by one space, with their starts and ends.
struct Text {
    joined: Vec<u8>,
    words: Vec<(usize, usize)>,
}

impl Text {
    fn new() -> Self {
        let (mut joined, mut words) = (Vec::new(), Vec::new());
        for document in stages::documents(str::is_ascii) {
            for_each_word(&document, true, |word| {
                let start = joined.len();
                joined.extend_from_slice(word.as_bytes());
                words.push((start, joined.len()));
                joined.push(b' ');
            });
        }
        Text { joined, words }
    }
}
