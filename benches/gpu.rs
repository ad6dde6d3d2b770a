//! The GPU backend on one device: every kernel by itself, with its input on the device, and from host
//! memory to host memory, from shingle hashes and from text.
//!
//!     cargo bench --bench gpu
//!     cargo bench --bench gpu -- --device 1 --megabytes 256
//!
//! Kernel-only figures are of one load, as often in one submission as takes 50 ms; resident ones are of the same
//! with the rows brought back; end-to-end ones of a signer's whole call. Times are the least of all rounds. On a
//! device in software what counts is the figure per second of CPU time, beside that of the scalar backend
//! on one thread. Where a device's bound is known, kernels are compared with it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement talks"
)]

#[allow(dead_code, reason = "what other measurements share is there, too")]
mod support;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use serde_json::{Map, Value, json};
use simgpu::backend::gpu::{
    Adapter, Bounds, GpuOptions, Integers, Workload, adapters, computes, measure,
};
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::{
    Banding, Hashes, ShingleSets, Shingler, Shingling, Signatures, Signer, TextBatch, Unit,
};
use simgpu::scheme::{Scheme, Width, fmix64};
use support::{Results, csv, markdown};

#[derive(Parser)]
struct Arguments {
    /// Only these schemes
    schemes: Vec<String>,

    /// Device, by its number in `simgpu devices`
    #[arg(long, default_value_t = 0)]
    device: usize,

    #[arg(long, default_value_t = 128)]
    num_perm: u32,

    /// Megabytes of text, and of hashes, that are signed from end to end [default: 256, on a device in
    /// software 24]
    #[arg(long)]
    megabytes: Option<usize>,

    /// MiB that are sent to the device at a time
    #[arg(long, default_value_t = 8)]
    load_mib: usize,

    /// Rounds; each measures everything once
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// Where the results go [default: results/<date>-<machine>]
    #[arg(long)]
    results: Option<PathBuf>,

    /// Of what this was built, in JSON, where the machine does not know: it goes to environment.json
    #[arg(long, value_name = "FILE")]
    build: Option<PathBuf>,

    /// Show and keep nothing
    #[arg(long)]
    dry: bool,

    /// What cargo bench passes, and cargo test does not
    #[arg(long, hide = true)]
    bench: bool,
}

/// The schemes that GPUs compute.
const SCHEMES: [&str; 6] = [
    "affine32",
    "affine32-even",
    "mersenne31",
    "mersenne61",
    "affine64",
    "mersenne61-wide",
];

/// Bytes of a document of text, about, and shingles of a set.
const DOCUMENT: usize = 2000;

/// What is signed.
struct Corpus {
    narrow: Vec<u32>,
    wide: Vec<u64>,
    offsets: Vec<i64>,
    texts: TextBatch,
    text_bytes: usize,
}

impl Corpus {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    fn new(megabytes: usize) -> Self {
        let documents = (megabytes * 1_000_000 / (4 * DOCUMENT)).max(1);
        let wide: Vec<u64> = (0..(documents * DOCUMENT) as u64).map(fmix64).collect();
        let text = |i: u64| -> String {
            let words = (0..DOCUMENT as u64 / 8).map(|j| fmix64(i << 20 | j) % 9_000_000);
            words
                .map(|word| format!("{:07} ", word + 1_000_000))
                .collect()
        };
        let mut texts = TextBatch::default();
        let mut text_bytes = 0;
        for i in 0.. {
            if text_bytes >= megabytes * 1_000_000 {
                break;
            }
            let text = text(i);
            text_bytes += text.len();
            texts.push(&text);
        }
        Corpus {
            narrow: wide.iter().map(|x| *x as u32).collect(),
            wide,
            offsets: (0..=documents).map(|i| (i * DOCUMENT) as i64).collect(),
            texts,
            text_bytes,
        }
    }

    fn sets(&self, width: Width) -> anyhow::Result<ShingleSets<'_>> {
        let hashes = match width {
            Width::U32 => Hashes::U32(&self.narrow),
            Width::U64 => Hashes::U64(&self.wide),
        };
        Ok(ShingleSets::new(hashes, &self.offsets)?)
    }
}

/// What was measured of one kernel.
struct Row {
    scheme: String,
    integers: &'static str,
    input: &'static str,
    /// Updates a second.
    kernel: f64,
    /// Those by the bound of the device, where it is known.
    of_bound: Option<f64>,
    resident: f64,
    end_to_end: f64,
    /// Bytes of text or hashes a second, from end to end.
    bytes_per_s: f64,
    /// Updates per second of CPU time, from end to end.
    per_cpu_s: Option<f64>,
}

/// Updates a second that the integer units of a device allow, by the multiply-adds of an update: an H200 has 132
/// multiprocessors at 1.98 GHz, and each begins 64 of them a cycle.
fn bound(adapter: &Adapter, scheme: &str, integers: Integers) -> Option<f64> {
    let multiply_adds = match &*adapter.name {
        "NVIDIA H200" => 132.0 * 64.0 * 1.98e9,
        _ => return None,
    };
    match (scheme, integers) {
        ("affine32", _) => Some(multiply_adds),
        ("mersenne31" | "mersenne61", Integers::U64) => Some(multiply_adds / 2.0),
        _ => None,
    }
}

/// Seconds by the clock, and of CPU time where the system tells: the least of the rounds.
fn time(
    rounds: usize,
    mut run: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<(f64, Option<f64>)> {
    run()?;
    let (mut least_s, mut least_cpu_s) = (f64::INFINITY, None::<f64>);
    for _ in 0..rounds {
        let (start, cpu_before) = (Instant::now(), cpu_s());
        run()?;
        least_s = least_s.min(start.elapsed().as_secs_f64());
        if let (Some(before), Some(after)) = (cpu_before, cpu_s()) {
            let spent_s = after - before;
            least_cpu_s = Some(least_cpu_s.map_or(spent_s, |least| least.min(spent_s)));
        }
    }
    // Ticks of 10 ms: less would say nothing.
    Ok((least_s, least_cpu_s.filter(|spent_s| *spent_s >= 0.1)))
}

/// Seconds of CPU time of this process so far.
fn cpu_s() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let mut ticks = after_name.split_whitespace().skip(11);
    let user: f64 = ticks.next()?.parse().ok()?;
    let system: f64 = ticks.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

fn sign(signer: &dyn Signer, corpus: &Corpus, shingler: Option<&Shingler>) -> anyhow::Result<()> {
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    match shingler {
        Some(shingler) => {
            let new = signatures.push_rows(corpus.texts.len());
            signer.sign_texts(&corpus.texts, shingler, new)?;
        }
        None => signatures.sign(signer, &corpus.sets(signer.slot_width())?)?,
    }
    match signer.notices().pop() {
        Some(notice) => anyhow::bail!(notice),
        None => Ok(()),
    }
}

fn measure_scheme(
    scheme: &Scheme,
    (adapter, integers): (&Adapter, Integers),
    corpus: &Corpus,
    arguments: &Arguments,
) -> anyhow::Result<Vec<Row>> {
    let options = GpuOptions {
        device: Some(arguments.device),
        integers: Some(integers),
        bounds: Bounds {
            input_bytes: arguments.load_mib << 20,
            row_bytes: arguments.load_mib << 20,
            ..Bounds::default()
        },
        ..GpuOptions::default()
    };
    let hardware = Hardware {
        gpu: options.clone(),
        ..Hardware::default()
    };
    let signer = Backend::Gpu.signer_with(scheme, &hardware)?;
    let shingler = Shingler::new(Shingling::of(Unit::Bytes), scheme, None)?;
    let sets = corpus.sets(signer.slot_width())?;
    let num_perm = signer.num_perm() as f64;
    let bound = bound(adapter, &scheme.to_string(), integers);
    let mut rows = Vec::new();
    for input in ["hashes", "text"] {
        let is_text = input == "text";
        // Texts are hashed on the device to 32 bits.
        if is_text && signer.slot_width() == Width::U64 {
            continue;
        }
        let workload = match is_text {
            true => Workload::Texts(&corpus.texts, &shingler),
            false => Workload::Sets(&sets),
        };
        let load = measure(scheme, &options, workload, arguments.rounds)?;
        let shingler = is_text.then_some(&shingler);
        let (elapsed_s, cpu_s) = time(arguments.rounds, || sign(&*signer, corpus, shingler))?;
        let updates = load.shingles as f64 * num_perm;
        let (all, bytes) = match is_text {
            true => (corpus.text_bytes, corpus.text_bytes),
            false => (
                corpus.narrow.len(),
                corpus.narrow.len() * signer.slot_width().bytes(),
            ),
        };
        let all = all as f64 * num_perm;
        rows.push(Row {
            scheme: scheme.to_string(),
            integers: match integers {
                Integers::U32 => "32-bit",
                Integers::U64 => "64-bit",
            },
            input,
            kernel: updates / load.kernel_s,
            of_bound: bound.map(|bound| updates / load.kernel_s / bound),
            resident: updates / load.resident_s,
            end_to_end: all / elapsed_s,
            bytes_per_s: bytes as f64 / elapsed_s,
            per_cpu_s: cpu_s.map(|cpu_s| all / cpu_s),
        });
    }
    Ok(rows)
}

/// Updates per second, and per second of CPU time, when band keys alone come back, in bands of eight.
fn band_keys_rate(
    scheme: &Scheme,
    corpus: &Corpus,
    arguments: &Arguments,
) -> anyhow::Result<(f64, Option<f64>)> {
    let hardware = Hardware {
        gpu: GpuOptions {
            device: Some(arguments.device),
            ..GpuOptions::default()
        },
        ..Hardware::default()
    };
    let signer = Backend::Gpu.signer_with(scheme, &hardware)?;
    let sets = corpus.sets(signer.slot_width())?;
    let banding = Banding::new(signer.num_perm() / 8, 8, signer.num_perm())?;
    let mut keys = vec![0; sets.len() * banding.bands()];
    let (elapsed_s, cpu_s) = time(arguments.rounds, || {
        Ok(signer.band_keys(&sets, banding, &mut keys)?)
    })?;
    if let Some(notice) = signer.notices().pop() {
        anyhow::bail!(notice);
    }
    let updates = corpus.narrow.len() as f64 * signer.num_perm() as f64;
    Ok((updates / elapsed_s, cpu_s.map(|cpu_s| updates / cpu_s)))
}

/// Updates per second of the scalar backend on one thread, for the same sets.
fn scalar_rate(scheme: &Scheme, corpus: &Corpus, rounds: usize) -> anyhow::Result<f64> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let signer = Backend::Scalar.signer(scheme)?;
    let part = Corpus {
        offsets: corpus.offsets.iter().copied().take(101).collect(),
        narrow: corpus.narrow.iter().copied().take(100 * DOCUMENT).collect(),
        wide: Vec::new(),
        texts: TextBatch::default(),
        text_bytes: 0,
    };
    let (elapsed_s, _) = one.install(|| time(rounds, || sign(&*signer, &part, None)))?;
    Ok(part.narrow.len() as f64 * signer.num_perm() as f64 / elapsed_s)
}

/// What is noted of the environment besides the machine: the device, and of what this was built, if that is
/// given.
fn known(adapter: &Adapter, build: Option<&Path>) -> anyhow::Result<Map<String, Value>> {
    let mut known = Map::new();
    if let Some(file) = build {
        let shown = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        known = serde_json::from_str(&text)
            .with_context(|| format!("{shown} is no JSON object; name what --pack wrote"))?;
    }
    let device = json!({
        "name": adapter.name,
        "kind": adapter.kind,
        "driver": adapter.driver,
        "api": adapter.api,
    });
    known.insert("adapter".to_owned(), device);
    Ok(known)
}

/// The ratio to the bound as the last column, if one is known.
fn with_ratios(mut table: Vec<Vec<String>>, title: &str, rows: &[Row]) -> Vec<Vec<String>> {
    if rows.iter().any(|row| row.of_bound.is_some()) {
        let ratio = |row: &Row| row.of_bound.map_or(String::new(), |of| format!("{of:.3}"));
        let column = std::iter::once(title.to_owned()).chain(rows.iter().map(ratio));
        for (line, cell) in table.iter_mut().zip(column) {
            line.push(cell);
        }
    }
    table
}

fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let header = [
        "scheme",
        "integers",
        "from",
        "kernel G updates/s",
        "resident G/s",
        "end to end G/s",
        "end to end GB/s",
        "G updates/CPU-s",
    ];
    let giga = |rate: f64| format!("{:.2}", rate / 1e9);
    let of_row = |row: &Row| {
        vec![
            row.scheme.clone(),
            row.integers.to_owned(),
            row.input.to_owned(),
            giga(row.kernel),
            giga(row.resident),
            giga(row.end_to_end),
            giga(row.bytes_per_s),
            row.per_cpu_s.map_or(String::new(), giga),
        ]
    };
    let header = vec![header.map(str::to_owned).to_vec()];
    header.into_iter().chain(rows.iter().map(of_row)).collect()
}

fn raw(rows: &[Row], num_perm: u32, adapter: &Adapter) -> Vec<Vec<String>> {
    let header = [
        "device",
        "scheme",
        "integers",
        "from",
        "num_perm",
        "kernel_updates_per_s",
        "resident_updates_per_s",
        "end_to_end_updates_per_s",
        "end_to_end_bytes_per_s",
        "updates_per_cpu_s",
    ];
    let whole = |rate: f64| format!("{rate:.0}");
    let of_row = |row: &Row| {
        vec![
            adapter.name.clone(),
            row.scheme.clone(),
            row.integers.to_owned(),
            row.input.to_owned(),
            num_perm.to_string(),
            whole(row.kernel),
            whole(row.resident),
            whole(row.end_to_end),
            whole(row.bytes_per_s),
            row.per_cpu_s.map_or(String::new(), whole),
        ]
    };
    let header = vec![header.map(str::to_owned).to_vec()];
    header.into_iter().chain(rows.iter().map(of_row)).collect()
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.bench {
        println!("to measure the GPU backend: cargo bench --bench gpu");
        return Ok(());
    }
    let adapters = adapters();
    let adapter = adapters
        .get(arguments.device)
        .context("there is no such device; `simgpu devices` lists them")?;
    let results = match arguments.dry {
        true => None,
        false => Some(Results::open_noting(
            known(adapter, arguments.build.as_deref())?,
            arguments.results.clone(),
            &["runs.csv", "summary.md"],
        )?),
    };
    let default_megabytes = if adapter.is_software { 24 } else { 256 };
    let megabytes = arguments.megabytes.unwrap_or(default_megabytes);
    let corpus = Corpus::new(megabytes);
    let mut rows = Vec::new();
    for name in SCHEMES {
        if !arguments.schemes.is_empty() && !arguments.schemes.iter().any(|asked| asked == name) {
            continue;
        }
        let scheme = Scheme::named(name)?.with_num_perm(arguments.num_perm)?;
        for integers in [Integers::U64, Integers::U32] {
            let has_form = integers == Integers::U32 || adapter.has_u64;
            // 64-bit integers change nothing of those that are of 32 bits throughout.
            let is_same = name.starts_with("affine32") && integers == Integers::U64;
            if has_form && !is_same && computes(scheme.family(), integers) {
                let form = (adapter, integers);
                rows.extend(measure_scheme(&scheme, form, &corpus, &arguments)?);
                eprintln!("{name} is measured");
            }
        }
    }
    let affine32 = Scheme::default().with_num_perm(arguments.num_perm)?;
    let scalar = scalar_rate(&affine32, &corpus, arguments.rounds)?;
    let (keys, keys_per_cpu_s) = band_keys_rate(&affine32, &corpus, &arguments)?;
    let text = format!(
        "# Signing on {name} ({kind}, {api}, {driver})\n\nK = {k}, {megabytes} MB of text and of 32-bit hashes in documents of {DOCUMENT}, loads of {load} MiB, the least times of {rounds} rounds. Text is windows of 9 bytes, hashed on the device.\nThe scalar backend signs affine32 at {scalar:.2} G updates/s on one thread of this machine's CPU.\n\n{table}\nWhere band keys of affine32 alone come back, in bands of 8, end to end: {keys:.2} G updates/s{keys_per_cpu_s}.\n",
        keys = keys / 1e9,
        keys_per_cpu_s = keys_per_cpu_s.map_or(String::new(), |rate| format!(
            ", {:.2} per CPU-second",
            rate / 1e9
        )),
        name = adapter.name,
        kind = adapter.kind,
        api = adapter.api,
        driver = adapter.driver,
        k = arguments.num_perm,
        load = arguments.load_mib,
        rounds = arguments.rounds,
        scalar = scalar / 1e9,
        table = markdown(&with_ratios(table(&rows), "kernel/bound", &rows)),
    );
    println!("{text}");
    if let Some(results) = results {
        results.write("summary.md", &text)?;
        let raw = raw(&rows, arguments.num_perm, adapter);
        let raw = with_ratios(raw, "kernel_of_bound", &rows);
        results.write("runs.csv", &csv(&raw)?)?;
        println!("written to {}", results.folder().display());
    }
    Ok(())
}
