//! Shared by the benches of single stages: criterion settings, random numbers and texts.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use criterion::Criterion;
use serde_json::Value;
use simgpu::pipeline::{ShingleSets, Signatures};
use simgpu::scheme::{Hashes, SlotsMut};
use simgpu::scheme::{Width, fmix64};

/// Runs benches with criterion on this thread and prints the results.
///
/// Measurements are short, because there are hundreds of benchmarks. Lengthen them by `--warm-up-time`,
/// `--measurement-time` and `--sample-size`. A regular expression selects benchmarks.
pub(crate) fn run(benches: &[fn(&mut Criterion)]) {
    // The global pool contains the calling thread only. Nothing else may create it first.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let built = pool.use_current_thread().build_global();
    built.expect("the pool is the first one");
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .nresamples(10_000)
        .without_plots()
        .configure_from_args();
    for bench in benches {
        bench(&mut criterion);
    }
    criterion.final_summary();
}

/// All `sizes` under `cargo bench`. Only the first under `cargo test`, which just checks that the bench runs.
pub(crate) fn chosen<T>(sizes: &[T]) -> &[T] {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    match sizes {
        [first, _, ..] if !is_measured => std::slice::from_ref(first),
        _ => sizes,
    }
}

/// Signatures with slots `fmix64(slot(row, k))`.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits are random")]
pub(crate) fn signatures(
    rows: usize,
    num_perm: usize,
    width: Width,
    slot: impl Fn(u64, u64) -> u64,
) -> Signatures {
    let mut signatures = Signatures::new(num_perm, width);
    let slots = (0..rows as u64).flat_map(|row| (0..num_perm as u64).map(move |k| (row, k)));
    let values = slots.map(|(row, k)| fmix64(slot(row, k)));
    match signatures.push_rows(rows).into_slots() {
        SlotsMut::U32(slots) => slots
            .iter_mut()
            .zip(values)
            .for_each(|(to, x)| *to = x as u32),
        SlotsMut::U64(slots) => slots.iter_mut().zip(values).for_each(|(to, x)| *to = x),
    }
    signatures
}

/// Documents with the same number of shingles each, hashed to both widths.
pub(crate) struct Documents {
    pub(crate) shingles: usize,
    narrow: Vec<u32>,
    wide: Vec<u64>,
    offsets: Vec<i64>,
}

impl Documents {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits are random")]
    pub(crate) fn new(documents: usize, shingles: usize) -> Self {
        let wide: Vec<u64> = (0..(documents * shingles) as u64).map(fmix64).collect();
        Documents {
            shingles,
            narrow: wide.iter().map(|hash| *hash as u32).collect(),
            wide,
            offsets: (0..=documents).map(|i| (i * shingles) as i64).collect(),
        }
    }

    /// Number of shingles in all documents.
    pub(crate) fn hashes(&self) -> usize {
        self.wide.len()
    }

    pub(crate) fn sets(&self, width: Width) -> ShingleSets<'_> {
        let hashes = match width {
            Width::U32 => Hashes::U32(&self.narrow),
            Width::U64 => Hashes::U64(&self.wide),
        };
        ShingleSets::new(hashes, &self.offsets).expect("offsets ascend")
    }
}

/// The first 256 KiB of example documents for which `is_wanted` holds.
pub(crate) fn documents(is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/driver-docs.jsonl.zst");
    let file = File::open(path).expect("the example corpus is in the repository");
    let decoder = zstd::Decoder::new(file).expect("the example corpus is a zstd file");
    let mut documents = Vec::new();
    let mut bytes = 0;
    for line in BufReader::new(decoder).lines() {
        let record: Value = line
            .map_err(serde_json::Error::io)
            .and_then(|line| serde_json::from_str(&line))
            .expect("each line is a record");
        let text = record["text"].as_str().unwrap_or_default();
        if is_wanted(text) {
            bytes += text.len();
            documents.push(text.to_owned());
        }
        if bytes >= 1 << 18 {
            break;
        }
    }
    documents
}
