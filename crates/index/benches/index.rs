//! An index on disk: bytes and time per document, what questions take, what additions write.
//!
//!     cargo bench --package simgpu-index --bench index -- exact 1000000
//!     cargo bench --package simgpu-index --bench index -- lsh 1000000
//!     cargo bench --package simgpu-index --bench index -- texts 1000000 >texts.jsonl
//!     cargo bench --package simgpu-index --bench index -- lsh 1000000 DIR
//!
//! Texts of 40 words follow from their numbers: words of uneven frequency, one text in three after one of 20 phrases. The index is
//! in a folder of its own where `TMPDIR` says, and is removed. `texts` prints them, and with DIR an index is asked that
//! `simgpu index build` made of them; it is changed. `benches/peers/index_on_disk.py` does both.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Measure;
use simgpu::scheme::fmix64;
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu_index::{DocumentId, Durability, Index, OnKnownId};

/// Documents of a batch.
const BATCH: u64 = 10_000;

/// Calls between two times at which everything is on disk.
const GROUP: u64 = 100;

/// A text of 40 words.
fn text(number: u64) -> String {
    let mut words = Vec::with_capacity(40);
    let phrase = fmix64(number) % 60;
    for at in 0..40 {
        // The first 20 of 60 numbers are phrases.
        let random = if phrase < 20 && at < 8 {
            fmix64(1 << 60 | phrase << 8 | at)
        } else {
            fmix64(number << 8 | at)
        };
        // The cube of a random share: a few words are in most texts.
        let share = u128::from(random >> 32);
        let word = (share.pow(3) * 50_000) >> 96;
        words.push(format!("w{word}"));
    }
    words.join(" ")
}

/// The text with this number, but for its last two words.
fn edited(number: u64) -> String {
    let text = text(number);
    let mut words: Vec<&str> = text.split(' ').collect();
    words.truncate(38);
    words.extend(["edited", "twice"]);
    words.join(" ")
}

fn id(number: u64) -> String {
    format!("document-{number:08}")
}

fn ids(from: u64, len: u64) -> Vec<DocumentId> {
    (from..from + len)
        .map(|number| id(number).as_str().into())
        .collect()
}

/// Times at shares of all, in microseconds.
fn shares(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |per_mille: usize| {
        let last = times.len().saturating_sub(1);
        format!("{:.1}", times[last * per_mille / 1000].as_secs_f64() * 1e6)
    };
    let [median, p99, p999, most] = [500, 990, 999, 1000].map(at);
    format!("p50 {median} p99 {p99} p99.9 {p999} most {most} µs")
}

/// A number of a file of /proc that describes this process; 0 elsewhere.
fn process_number(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(Path::new("/proc/self").join(file)).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

fn timed<T>(call: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let start = Instant::now();
    let value = call()?;
    Ok((value, start.elapsed()))
}

fn create(folder: &Path, kind: &str) -> Result<Index> {
    let engine = Engine::builder().work_bytes(0).build()?;
    let search = Search::new(0.8, engine.scheme())?;
    let search = match kind {
        "lsh" => Search {
            verification: Verification::Signature,
            ..search
        },
        "contained" => Search {
            candidates: CandidateMethod::Join,
            measure: Measure::Contained,
            ..search
        },
        _ => Search {
            candidates: CandidateMethod::Join,
            ..search
        },
    };
    Index::create(folder, engine, &search)
}

/// Adds documents in batches, and says what that took.
fn build(index: &Index, documents: u64) -> Result<()> {
    let (mut made, start) = (Duration::ZERO, Instant::now());
    let mut from = 0;
    while from < documents {
        let begun = Instant::now();
        let len = BATCH.min(documents - from);
        let texts: Vec<String> = (from..from + len).map(text).collect();
        made += begun.elapsed();
        index.add(&texts, &ids(from, len), OnKnownId::Fail)?;
        from += len;
    }
    index.sync()?;
    let took = start.elapsed().saturating_sub(made).as_secs_f64();
    println!(
        "add             {documents} documents in batches of {BATCH}: {:.1} µs each",
        took * 1e6 / documents as f64
    );
    Ok(())
}

/// Asks for texts one by one.
fn ask(index: &Index, name: &str, texts: impl Iterator<Item = String>) -> Result<()> {
    let (mut times, mut hits) = (Vec::new(), 0);
    for text in texts {
        let (found, took) = timed(|| index.check(&text))?;
        hits += found.len();
        times.push(took);
    }
    let asked = times.len();
    println!("check, {name:9}{}; {hits} hits of {asked}", shares(times));
    Ok(())
}

/// Adds texts one by one, half of them new; the others are known, as they are or edited.
fn add_one_by_one(index: &Index, documents: u64, calls: u64) -> Result<()> {
    let (mut times, mut syncs, mut added) = (Vec::new(), Vec::new(), 0);
    for call in 0..calls {
        let known = fmix64(call) % documents;
        let text = match call % 4 {
            0 => text(known),
            1 => edited(known),
            _ => text(2 * documents + call),
        };
        let id = format!("later-{call}");
        let (hits, took) = timed(|| index.check_or_add(&text, id.as_str().into()))?;
        added += u64::from(hits.is_empty());
        times.push(took);
        if call % GROUP == GROUP - 1 {
            syncs.push(timed(|| index.sync())?.1);
        }
    }
    println!(
        "check_or_add    {}; {added} of {calls} added",
        shares(times)
    );
    println!("sync            {} for {GROUP} calls", shares(syncs));
    Ok(())
}

fn open(folder: &Path) -> Result<(Index, Duration)> {
    let (index, took) = timed(|| Index::open(folder))?;
    Ok((index.durability(Durability::OnSync), took))
}

/// Opens an index five times.
fn open_again(folder: &Path) -> Result<()> {
    let opened = (0..5).map(|_| Ok(open(folder)?.1));
    let opened: Vec<Duration> = opened.collect::<Result<_>>()?;
    println!("open            {}", shares(opened));
    Ok(())
}

/// Asks for new texts, and for known ones that were edited.
fn ask_all(index: &Index, documents: u64) -> Result<()> {
    let calls = 20_000.min(documents);
    let engine = index.engine();
    let signed = (0..2_000).map(|number| {
        let text = text(3 * documents + number);
        Ok(timed(|| engine.sign::<[&str; 1]>(&[&text]))?.1)
    });
    let signed: Vec<Duration> = signed.collect::<Result<_>>()?;
    println!("sign            {}", shares(signed));
    // The second time, blocks are in memory: those of filters, and those of documents.
    for name in ["absent 1", "absent 2"] {
        let new = (0..calls).map(|number| text(3 * documents + number));
        ask(index, name, new)?;
    }
    for name in ["present 1", "present 2"] {
        let known = (0..calls).map(|number| edited(fmix64(number) % documents));
        ask(index, name, known)?;
    }
    Ok(())
}

/// The most memory that the process had since the last call.
fn memory(name: &str) {
    let most = process_number("status", "VmHWM:") / 1024;
    println!("memory, {name:8}{most} MiB at most");
    // Linux begins to count anew.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Makes an index of so many documents.
fn make(folder: &Path, kind: &str, documents: u64) -> Result<()> {
    let index = create(folder, kind)?.durability(Durability::OnSync);
    build(&index, documents)?;
    let took = timed(|| index.compact())?.1;
    println!("compact         {:.1} s", took.as_secs_f64());
    drop(index);
    memory("build");
    Ok(())
}

/// Adds a batch, and says what it writes.
fn add_batch(folder: &Path, documents: u64) -> Result<()> {
    let (index, _) = open(folder)?;
    let before = process_number("io", "write_bytes:");
    let texts: Vec<String> = (0..BATCH)
        .map(|number| text(5 * documents + number))
        .collect();
    let add = || index.add(&texts, &ids(5 * documents, BATCH), OnKnownId::Fail);
    let took = timed(add)?.1 + timed(|| index.sync())?.1;
    let wrote = || (process_number("io", "write_bytes:") - before) / BATCH;
    println!(
        "add {BATCH}       {:.2} s; {} bytes written for each",
        took.as_secs_f64(),
        wrote()
    );
    drop(index);
    println!("add and close   {} bytes written for each", wrote());
    memory("add");
    Ok(())
}

/// Measures an index that has the documents with numbers from 0.
fn measure(folder: &Path, kind: &str, documents: u64) -> Result<()> {
    let per_document = |bytes: u64| bytes as f64 / documents as f64;
    let tables = open(folder)?.0.stats().disk_bytes;
    println!(
        "bytes           {:.1} a document in tables, {:.1} in the folder",
        per_document(tables),
        per_document(folder_bytes(folder))
    );
    open_again(folder)?;
    ask_all(&open(folder)?.0, documents)?;
    memory("query");
    add_batch(folder, documents)?;
    let (index, _) = open(folder)?;
    add_one_by_one(&index, documents, 100_000.min(documents))?;
    drop(index);
    memory("one");
    open_again(folder)?;
    if kind != "lsh" {
        println!("costs           {:?}", open(folder)?.0.query_costs()?);
        memory("costs");
    }
    Ok(())
}

fn run(kind: &str, documents: u64, built: Option<&Path>) -> Result<()> {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load            {}", load.trim());
    if let Some(folder) = built {
        return measure(folder, kind, documents);
    }
    let folder = tempfile::tempdir().map_err(Error::io("create a folder in", "."))?;
    let folder = folder.path().join("index");
    make(&folder, kind, documents)?;
    measure(&folder, kind, documents)
}

/// Writes documents as JSON Lines.
fn print_texts(documents: u64) -> Result<()> {
    let mut lines = BufWriter::new(std::io::stdout().lock());
    let mut write = || {
        for number in 0..documents {
            let (id, text) = (id(number), text(number));
            writeln!(lines, r#"{{"id":"{id}","text":"{text}"}}"#)?;
        }
        lines.flush()
    };
    write().map_err(Error::io("write", "stdout"))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let documents = arguments.get(1).and_then(|number| number.parse().ok());
    // `cargo test` runs it, too, to see that it works.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let documents = documents.unwrap_or(if is_measured { 100_000 } else { 1_000 });
    match arguments.first().map(String::as_str) {
        Some("texts") => print_texts(documents),
        Some(kind) => run(kind, documents, arguments.get(2).map(Path::new)),
        None => ["exact", "contained", "lsh"]
            .into_iter()
            .try_for_each(|kind| {
                println!("{kind}");
                run(kind, documents, None)
            }),
    }
}
