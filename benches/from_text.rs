//! From text in memory to signatures, on one core: words of 5 and bytes of 9 on every instruction set,
//! the way in two parts and as a whole.
//!
//!     cargo bench --bench from_text
//!     cargo bench --bench from_text -- --any-text corpus.jsonl
//!
//! The whole is what a signer does with texts: a document is cut, hashed and signed before the next one
//! is looked at, into memory that is there already. Times are the least of all rounds.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement talks"
)]

#[allow(dead_code, reason = "what other measurements share is there, too")]
mod support;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use simgpu::backend::Backend;
use simgpu::pipeline::{
    DocumentBatch, Scratch, ShingleBatch, Shingler, Shingling, Signatures, SignaturesMut, Signer,
    TextBatch, Unit,
};
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use support::{Keeping, corpora, corpus_name, csv, markdown, pin};

/// Measures the way from text to signatures on one core
#[derive(Parser)]
struct Arguments {
    /// Files of JSON Lines, plain or zstd, with a field `text`, or folders of them
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/driver-docs.jsonl.zst"))]
    corpora: Vec<PathBuf>,

    /// Documents that are not ASCII as well
    #[arg(long)]
    any_text: bool,

    /// Megabytes of text that are measured
    #[arg(long, default_value_t = 8.0)]
    megabytes: f64,

    /// Rounds; each measures everything once
    #[arg(long, default_value_t = 15)]
    rounds: usize,

    #[arg(long, default_value_t = 128)]
    num_perm: u32,

    #[arg(long, default_value = "affine32")]
    scheme: String,

    /// Only these instructions
    #[arg(long)]
    isa: Vec<String>,

    #[command(flatten)]
    keeping: Keeping,
}

/// One way to cut texts on one instruction set, and the least time of each part of the way.
struct Entrant {
    corpus: String,
    unit: Unit,
    isa: Isa,
    bytes: usize,
    shingles: usize,
    least: [f64; PARTS.len()],
}

const PARTS: [&str; 5] = ["shingle", "with digests", "sign", "texts", "2 threads"];

/// What is measured on one corpus: texts, their shingles, and room for what comes of them.
struct Work {
    texts: TextBatch,
    documents: DocumentBatch,
    shingler: Shingler,
    signer: Box<dyn Signer>,
    scratch: Scratch,
    shingles: ShingleBatch,
    signatures: Signatures,
}

impl Work {
    fn new(texts: TextBatch, scheme: &Scheme, unit: Unit, isa: Isa) -> anyhow::Result<Self> {
        let shingler = Shingler::new(Shingling::of(unit), scheme, None)?.with_isa(isa);
        let signer = Backend::Simd.signer_on(scheme, isa)?;
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signatures.push_rows(texts.len());
        Ok(Work {
            signer,
            scratch: Scratch::default(),
            shingles: ShingleBatch::new(shingler.width()),
            shingler,
            documents: DocumentBatch::Texts(texts.clone()),
            texts,
            signatures,
        })
    }

    /// Seconds that a part of the way takes.
    fn measure(&mut self, part: &str, two: &rayon::ThreadPool) -> anyhow::Result<f64> {
        let start = Instant::now();
        match part {
            "shingle" => {
                self.shingles.clear();
                for text in self.texts.iter() {
                    self.shingler
                        .shingle_onto(text, &mut self.scratch, &mut self.shingles);
                }
            }
            "with digests" => {
                self.shingles.clear();
                self.shingler.shingle_with_digests(
                    &self.documents,
                    &mut self.scratch,
                    &mut self.shingles,
                );
            }
            "sign" => {
                let rows = rows(&mut self.signatures)?;
                self.signer.sign_sets(&self.shingles.sets(), rows)?;
            }
            "texts" => self.sign_texts()?,
            _ => two.install(|| self.sign_texts())?,
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn sign_texts(&mut self) -> anyhow::Result<()> {
        let rows = rows(&mut self.signatures)?;
        Ok(self.signer.sign_texts(&self.texts, &self.shingler, rows)?)
    }
}

/// The signatures, to be written again.
fn rows(signatures: &mut Signatures) -> simgpu::Result<SignaturesMut<'_>> {
    SignaturesMut::new(signatures.num_perm(), signatures.slots_mut())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.keeping.is_bench {
        println!("to measure the way from text: cargo bench --bench from_text");
        return Ok(());
    }
    // Before the main thread is pinned, or they would be, too.
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let files = ["from_text.csv", "from_text.md"];
    let results = arguments.keeping.open(&files)?;
    let pinned = pin();
    let scheme = Scheme::named(&arguments.scheme)?.with_num_perm(arguments.num_perm)?;
    let isas = match arguments.isa.as_slice() {
        [] => Isa::available().to_vec(),
        named => named
            .iter()
            .map(|name| Isa::named(name))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build()?;
    let mut entrants = Vec::new();
    for file in corpora(&arguments.corpora)? {
        let texts = read(&file, &arguments)?;
        for unit in [Unit::Words, Unit::Bytes] {
            for isa in &isas {
                let work = Work::new(texts.clone(), &scheme, unit.clone(), *isa)?;
                let corpus = corpus_name(&file);
                entrants.push(one.install(|| enter(work, corpus, *isa, &two, arguments.rounds))?);
            }
        }
    }
    let text = format!(
        "# From text to signatures, one core{}\n\n{}, K = {}, the least times of {} rounds; shingle alone, signing alone, and texts to signatures.\n\n{}",
        pinned,
        scheme,
        arguments.num_perm,
        arguments.rounds,
        markdown(&table(&entrants))
    );
    println!("{text}");
    if let Some(results) = results {
        results.write("from_text.md", &text)?;
        results.write("from_text.csv", &csv(&raw(&entrants, &arguments))?)?;
        println!("written to {}", results.folder().display());
    }
    Ok(())
}

fn enter(
    mut work: Work,
    corpus: String,
    isa: Isa,
    two: &rayon::ThreadPool,
    rounds: usize,
) -> anyhow::Result<Entrant> {
    let mut least = [f64::INFINITY; PARTS.len()];
    for _ in 0..=rounds {
        for (part, least) in PARTS.iter().zip(&mut least) {
            *least = least.min(work.measure(part, two)?);
        }
    }
    let sets = work.shingles.sets();
    Ok(Entrant {
        corpus,
        unit: work.shingler.shingling().unit.clone(),
        isa,
        bytes: work.texts.iter().map(str::len).sum(),
        shingles: (0..sets.len()).map(|i| sets.range(i).len()).sum(),
        least,
    })
}

/// The first documents of a corpus, a few megabytes.
fn read(file: &Path, arguments: &Arguments) -> anyhow::Result<TextBatch> {
    let opened = std::fs::File::open(file).with_context(|| file.display().to_string())?;
    let plain: Box<dyn Read> = match file.extension().is_some_and(|ending| ending == "zst") {
        true => Box::new(zstd::Decoder::new(opened)?),
        false => Box::new(opened),
    };
    let mut texts = TextBatch::default();
    let mut bytes = 0;
    for line in BufReader::new(plain).lines() {
        let record: serde_json::Value = serde_json::from_str(&line?)?;
        let text = record["text"].as_str().context("a record without text")?;
        if arguments.any_text || text.is_ascii() {
            texts.push(text);
            bytes += text.len();
        }
        if bytes as f64 >= arguments.megabytes * 1e6 {
            break;
        }
    }
    Ok(texts)
}

fn table(entrants: &[Entrant]) -> Vec<Vec<String>> {
    let header = [
        "corpus",
        "unit",
        "instructions",
        "bytes/shingle",
        "shingle MB/s",
        "ns/shingle",
        "with digests MB/s",
        "sign ns/shingle",
        "texts MB/s",
        "texts ns/shingle",
        "2 threads MB/s",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for entrant in entrants {
        let [shingle, digests, sign, texts, two] = entrant.least;
        let rate = |elapsed: f64| format!("{:.0}", entrant.bytes as f64 / elapsed / 1e6);
        let each = |elapsed: f64| format!("{:.2}", 1e9 * elapsed / entrant.shingles as f64);
        rows.push(vec![
            entrant.corpus.clone(),
            entrant.unit.to_string(),
            entrant.isa.to_string(),
            format!("{:.2}", entrant.bytes as f64 / entrant.shingles as f64),
            rate(shingle),
            each(shingle),
            rate(digests),
            each(sign),
            rate(texts),
            each(texts),
            rate(two),
        ]);
    }
    rows
}

fn raw(entrants: &[Entrant], arguments: &Arguments) -> Vec<Vec<String>> {
    let header = [
        "corpus",
        "scheme",
        "unit",
        "instructions",
        "num_perm",
        "bytes",
        "shingles",
        "part",
        "least_s",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for entrant in entrants {
        for (part, least) in PARTS.iter().zip(entrant.least) {
            rows.push(vec![
                entrant.corpus.clone(),
                arguments.scheme.clone(),
                entrant.unit.to_string(),
                entrant.isa.to_string(),
                arguments.num_perm.to_string(),
                entrant.bytes.to_string(),
                entrant.shingles.to_string(),
                (*part).to_owned(),
                format!("{least:.6}"),
            ]);
        }
    }
    rows
}
