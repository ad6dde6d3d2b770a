//! How fast texts are searched for items, beside shingling alone: on one thread, from memory.
//!
//!     cargo bench --package simgpu-contain
//!     SIMGPU_CONTAIN=abstracts.jsonl:pages.jsonl.zst SIMGPU_ITEMS=questions.jsonl cargo bench --package simgpu-contain
//!
//! Texts are those of the example corpus and of each file of `SIMGPU_CONTAIN`, one every line, in its field `text`. The items
//! have a million n-grams: questions of the files of `SIMGPU_ITEMS`, in their field `question`, and then made-up ones, of
//! distinct words of the texts. Rounds alternate between both; a rate is that of the fastest round, and the ratio is the
//! median of those of the rounds.

#![allow(clippy::print_stdout, reason = "a table is what this program makes")]

#[allow(dead_code, reason = "each bench uses a part of the module")]
#[path = "../../../benches/stages/mod.rs"]
mod stages;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use simgpu::documents::TextBatch;
use simgpu::pipeline::{Shingler, Shingling, Unit};
use simgpu::scheme::{Scheme, fmix64};
use simgpu_contain::{Contain, ItemRecord, Rule, Scratch};

/// N-grams of all items.
const NGRAMS: usize = 1_000_000;

/// Words of an item.
const WORDS: usize = 40;

/// Texts that are shingled at a time, so that memory is used again.
const AT_A_TIME: usize = 200;

/// Bytes of text from each file.
const BYTES: usize = 48 << 20;

fn main() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/driver-docs.jsonl.zst");
    let questions = paths("SIMGPU_ITEMS");
    let questions: Vec<String> = questions
        .iter()
        .flat_map(|path| texts(path, "question"))
        .collect();
    println!("| texts | MB | n-grams | shingling, MB/s | contain, MB/s | ratio | hits |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for path in std::iter::once(example).chain(paths("SIMGPU_CONTAIN")) {
        measure(&path, &questions);
    }
}

/// The files of a variable of the environment.
fn paths(variable: &str) -> Vec<PathBuf> {
    let paths = std::env::var_os(variable).unwrap_or_default();
    let paths = std::env::split_paths(&paths);
    paths.filter(|path| !path.as_os_str().is_empty()).collect()
}

fn measure(path: &Path, questions: &[String]) {
    let texts = texts(path, "text");
    let bytes: usize = texts.iter().map(String::len).sum();
    let contain =
        Contain::new(items(&texts, questions), Rule::default()).expect("items have words");
    let texts: Vec<TextBatch> = texts.chunks(AT_A_TIME).map(batch).collect();
    let shingler = Shingler::new(Shingling::of(Unit::Words), &Scheme::default(), None);
    let shingler = shingler.expect("the default hash fits the scheme");
    let shingle = || {
        for texts in &texts {
            black_box(shingler.shingle(texts));
        }
        0
    };
    let scan = || {
        let mut scratch = Scratch::default();
        let texts = texts.iter().flat_map(TextBatch::iter);
        let found = texts.map(|text| contain.read(text, &mut scratch));
        found.map(|found| black_box(found).hits.len()).sum()
    };
    let (mut best, mut ratios, mut hits) = ([f64::INFINITY; 2], Vec::new(), 0);
    for _ in stages::chosen(&[(); 9]) {
        let (shingling, _) = time(shingle);
        let (scanning, found) = time(scan);
        best = [best[0].min(shingling), best[1].min(scanning)];
        ratios.push(shingling / scanning);
        hits = found;
    }
    ratios.sort_by(f64::total_cmp);
    let [shingling, scanning] = best.map(|seconds| bytes as f64 / 1e6 / seconds);
    println!(
        "| {} | {:.0} | {} | {shingling:.0} | {scanning:.0} | {:.2} | {hits} |",
        path.file_name().unwrap_or_default().display(),
        bytes as f64 / 1e6,
        contain.ngrams(),
        ratios[ratios.len() / 2],
    );
}

fn batch(texts: &[String]) -> TextBatch {
    texts.iter().map(String::as_str).collect()
}

fn time(work: impl Fn() -> usize) -> (f64, usize) {
    let started = Instant::now();
    let found = work();
    (started.elapsed().as_secs_f64(), found)
}

/// The texts of a file of JSON Lines, compressed or not, up to [`BYTES`].
fn texts(path: &Path, field: &str) -> Vec<String> {
    let mut content = std::fs::read(path).expect("a file");
    if path.extension().is_some_and(|ending| ending == "zst") {
        let mut plain = Vec::new();
        let decoder = zstd::Decoder::new(&content[..]);
        let read = decoder.and_then(|mut decoder| decoder.read_to_end(&mut plain));
        read.expect("a zstd file");
        content = plain;
    }
    let mut bytes = 0;
    let lines = content
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let texts = lines.map(|line| {
        let record: serde_json::Value = serde_json::from_slice(line).expect("JSON");
        record[field].as_str().expect("a text").to_owned()
    });
    let texts = texts.take_while(|text| {
        bytes += text.len();
        bytes <= BYTES
    });
    texts.collect()
}

/// Questions, and then items of distinct words of the texts.
#[allow(clippy::cast_possible_truncation, reason = "any words will do")]
fn items(texts: &[String], questions: &[String]) -> Vec<ItemRecord> {
    let words = texts.iter().flat_map(|text| text.split_whitespace());
    // An address is many words, which other texts have in a row, too.
    let words = words.filter(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let words: BTreeSet<&str> = words.collect();
    let words: Vec<&str> = words.into_iter().collect();
    let word = |i: usize| words[fmix64(i as u64) as usize % words.len()];
    let made_up = |i: usize| {
        (i * WORDS..(i + 1) * WORDS)
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let distinct: BTreeSet<&str> = questions.iter().map(String::as_str).collect();
    let ngrams = |text: &&str| text.split_whitespace().count().saturating_sub(4);
    let all_ngrams: usize = distinct.iter().map(ngrams).sum();
    let made_up = (0..NGRAMS.saturating_sub(all_ngrams) / (WORDS - 4)).map(made_up);
    let all = distinct.into_iter().map(str::to_owned).chain(made_up);
    let record = |question| ItemRecord {
        question,
        ..ItemRecord::default()
    };
    all.map(record).collect()
}
