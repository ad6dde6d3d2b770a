//! The signing kernels on one core: every family on every instruction set, against the scalar
//! definition and against what the ports of this CPU allow.
//!
//!     cargo bench --bench kernels
//!
//! The bound is measured between the kernels' own runs: a loop of the instructions that one update of
//! a kernel needs and no others, on registers alone, each independent of the last.
#![allow(unsafe_code, reason = "the calibration loops are instructions by name")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement talks"
)]

#[allow(dead_code, reason = "what other stages share is there, too")]
mod stages;
#[allow(dead_code, reason = "what other measurements share is there, too")]
mod support;

use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use simgpu::backend::Backend;
use simgpu::pipeline::{Signatures, SignaturesMut, Signer, Slots};
use simgpu::scheme::{Scheme, fmix64};
use simgpu::simd::Isa;
use stages::Documents;
use support::{Keeping, csv, markdown, median, pin};

/// Measures the signing kernels on one core
#[derive(Parser)]
struct Arguments {
    /// Only these schemes
    schemes: Vec<String>,

    /// Rounds; each measures everything once, and a ratio is taken within its round
    #[arg(long, default_value_t = 15)]
    rounds: usize,

    #[arg(long, default_value_t = 128)]
    num_perm: u32,

    /// Shingles of a document
    #[arg(long, default_value_t = 1000)]
    shingles: usize,

    #[command(flatten)]
    keeping: Keeping,
}

/// Seconds that one measurement takes, about.
const SLICE_S: f64 = 0.02;

/// Documents of so many shingles: two, or as many as 20 000 shingles make.
fn documents_of(shingles: usize) -> Arc<Documents> {
    Arc::new(Documents::new((20_000 / shingles).max(2), shingles))
}

/// A way to sign that is measured.
struct Entrant {
    documents: Arc<Documents>,
    scheme: Scheme,
    name: String,
    isa: Option<Isa>,
    signer: Box<dyn Signer>,
    /// Times that the documents are signed in one measurement.
    repeats: usize,
    /// Updates per second in each round.
    rates: Vec<f64>,
    /// The bound in each round, where there is one.
    bounds: Vec<f64>,
    checksum: u64,
}

impl Entrant {
    fn new(scheme: &Scheme, isa: Option<Isa>, documents: &Arc<Documents>) -> anyhow::Result<Self> {
        let signer = match isa {
            None => Backend::Scalar.signer(scheme)?,
            Some(isa) => Backend::Simd.signer_on(scheme, isa)?,
        };
        Ok(Entrant {
            documents: Arc::clone(documents),
            scheme: scheme.clone(),
            name: isa.map_or("scalar".to_owned(), |isa| isa.to_string()),
            isa,
            signer,
            repeats: 1,
            rates: Vec::new(),
            bounds: Vec::new(),
            checksum: 0,
        })
    }

    /// Seconds for all repeats.
    fn sign(&mut self) -> anyhow::Result<f64> {
        let sets = self.documents.sets(self.scheme.family().hash_width());
        let num_perm = self.signer.num_perm();
        let mut signatures = Signatures::new(num_perm, self.signer.slot_width());
        signatures.push_rows(sets.len());
        let start = Instant::now();
        for _ in 0..self.repeats {
            let rows = SignaturesMut::new(num_perm, signatures.slots_mut())?;
            self.signer.sign_sets(&sets, rows)?;
        }
        let elapsed = start.elapsed().as_secs_f64();
        self.checksum = checksum(signatures.slots());
        Ok(elapsed)
    }

    fn updates(&self) -> f64 {
        (self.documents.hashes() * self.scheme.num_perm() * self.repeats) as f64
    }
}

fn checksum(slots: Slots<'_>) -> u64 {
    let add = |sum: u64, slot: u64| fmix64(sum ^ slot);
    match slots {
        Slots::U32(slots) => slots.iter().fold(0, |sum, slot| add(sum, (*slot).into())),
        Slots::U64(slots) => slots.iter().fold(0, |sum, slot| add(sum, *slot)),
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.keeping.is_bench {
        println!("to measure the signing kernels: cargo bench --bench kernels");
        return Ok(());
    }
    let files = ["kernels.csv", "kernels.md"];
    let results = arguments.keeping.open(&files)?;
    let pinned = pin();
    let documents = documents_of(arguments.shingles);
    let schemes = match arguments.schemes.as_slice() {
        [] => [
            "affine32",
            "affine32-even",
            "mersenne31",
            "mersenne61",
            "affine64",
            "mersenne61-wide",
        ]
        .map(str::to_owned)
        .to_vec(),
        named => named.to_vec(),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build()?;
    let mut entrants = Vec::new();
    for name in &schemes {
        let Ok(scheme) = Scheme::named(name) else {
            eprintln!("{name} is not known");
            continue;
        };
        let scheme = scheme.with_num_perm(arguments.num_perm)?;
        entrants.push(Entrant::new(&scheme, None, &documents)?);
        for isa in Isa::available() {
            entrants.push(Entrant::new(&scheme, Some(*isa), &documents)?);
        }
    }
    let scheme = Scheme::named("mersenne61")?.with_num_perm(arguments.num_perm)?;
    let mut by_length = Vec::new();
    // Portable lanes take the low part from the first few shingles on.
    let isas = Isa::available().iter().skip(1);
    for isa in isas.filter(|_| arguments.schemes.is_empty()) {
        for length in LENGTHS {
            let documents = documents_of(length);
            by_length.push(Entrant::new(&scheme, Some(*isa), &documents)?);
        }
    }
    pool.install(|| {
        measure(&mut entrants, arguments.rounds)?;
        measure(&mut by_length, arguments.rounds)
    })?;
    let mut text = format!(
        "# Signing kernels, one core{}\n\nK = {}, {} shingles a document, medians of {} rounds; a ratio is the median of the ratios within a round.\n\n{}",
        pinned,
        arguments.num_perm,
        arguments.shingles,
        arguments.rounds,
        markdown(&table(&entrants))
    );
    if !by_length.is_empty() {
        text += "\n## mersenne61 by the length of documents\n\nDocuments of 300 shingles are signed by the direct form, long ones by the low part of the value.\n\n";
        text += &markdown(&table_by_length(&by_length));
    }
    println!("{text}");
    if let Some(results) = results {
        results.write("kernels.md", &text)?;
        entrants.append(&mut by_length);
        results.write("kernels.csv", &csv(&raw(&entrants))?)?;
        println!("written to {}", results.folder().display());
    }
    Ok(())
}

fn measure(entrants: &mut [Entrant], rounds: usize) -> anyhow::Result<()> {
    for entrant in entrants.iter_mut() {
        let once = entrant.sign()?;
        let once = once.min(entrant.sign()?);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let repeats = (SLICE_S / once).ceil() as usize;
        entrant.repeats = repeats.max(1);
    }
    for _ in 0..rounds {
        for entrant in entrants.iter_mut() {
            let before = bound(entrant);
            let elapsed = entrant.sign()?;
            let rate = entrant.updates() / elapsed;
            entrant.rates.push(rate);
            // The clock moves with the load: the bound is the mean of one before and one after.
            if let (Some(before), Some(after)) = (before, bound(entrant)) {
                entrant.bounds.push((before + after) / 2.0);
            }
        }
    }
    Ok(())
}

fn table(entrants: &[Entrant]) -> Vec<Vec<String>> {
    let header = [
        "scheme",
        "instructions",
        "G updates/s",
        "x scalar",
        "of the bound",
        "checksum",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for entrant in entrants {
        let scalar = entrants
            .iter()
            .find(|other| other.isa.is_none() && other.scheme == entrant.scheme)
            .unwrap_or(entrant);
        let ratio = |to: &[f64]| {
            let ratios = entrant.rates.iter().zip(to).map(|(rate, to)| rate / to);
            median(&mut ratios.collect::<Vec<_>>())
        };
        let mut rates = entrant.rates.clone();
        let bound = match entrant.bounds.as_slice() {
            [] => String::new(),
            bounds => format!("{:.0} %", 100.0 * ratio(bounds)),
        };
        rows.push(vec![
            entrant.scheme.to_string(),
            entrant.name.clone(),
            format!("{:.2}", median(&mut rates) / 1e9),
            format!("{:.2}", ratio(&scalar.rates)),
            bound,
            format!("{:016x}", entrant.checksum),
        ]);
    }
    rows
}

/// Lengths at which mersenne61 is measured; the second one is still of the direct form.
const LENGTHS: [usize; 8] = [100, 300, 500, 700, 1000, 2000, 5000, 50_000];

fn table_by_length(entrants: &[Entrant]) -> Vec<Vec<String>> {
    let header = ["instructions", "shingles", "G updates/s", "x direct form"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for entrants in entrants.chunks(LENGTHS.len()) {
        let direct = &entrants[1].rates;
        for entrant in entrants {
            let ratios = entrant.rates.iter().zip(direct).map(|(rate, to)| rate / to);
            rows.push(vec![
                entrant.name.clone(),
                entrant.documents.shingles.to_string(),
                format!("{:.2}", median(&mut entrant.rates.clone()) / 1e9),
                format!("{:.2}", median(&mut ratios.collect::<Vec<_>>())),
            ]);
        }
    }
    rows
}

fn raw(entrants: &[Entrant]) -> Vec<Vec<String>> {
    let header = [
        "scheme",
        "instructions",
        "num_perm",
        "shingles",
        "round",
        "updates_per_s",
        "bound_updates_per_s",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for entrant in entrants {
        for (round, rate) in entrant.rates.iter().enumerate() {
            rows.push(vec![
                entrant.scheme.to_string(),
                entrant.name.clone(),
                entrant.scheme.num_perm().to_string(),
                entrant.documents.shingles.to_string(),
                round.to_string(),
                format!("{rate:.0}"),
                entrant
                    .bounds
                    .get(round)
                    .map_or(String::new(), |bound| format!("{bound:.0}")),
            ]);
        }
    }
    rows
}

/// Updates per second of the calibration loop for a family and an instruction set.
fn bound(entrant: &Entrant) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        let isa = entrant.isa?.to_string();
        calibration::updates_per_s(&entrant.scheme.family(), &isa)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = entrant;
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod calibration {
    use std::arch::asm;
    use std::time::Instant;

    use simgpu::scheme::Family;

    const ITERATIONS: u64 = 400_000;

    /// Runs the instructions of one vector of updates on each of eight accumulators, again and again:
    /// registers 12 to 15 hold x and the coefficients, 8 to 11 are for what comes between. What comes after is
    /// compiled for SSE, and would wait for the upper halves of registers that are left full.
    macro_rules! calibrate {
        (16, $($line:expr),+) => {
            calibrate!(@loop 16, "mov {k:e}, 0xAAAA", "kmovw k1, {k:e}", "not {k:e}", "kmovw k2, {k:e}"; $($line),+)
        };
        ($lanes:literal, $($line:expr),+) => {
            calibrate!(@loop $lanes, "xor {k:e}, {k:e}"; $($line),+)
        };
        (@loop $lanes:literal, $($prepare:literal),+; $($line:expr),+) => {{
            let mut left = ITERATIONS;
            let start = Instant::now();
            // SAFETY: reads and writes registers only, which are declared; the caller has found the
            // instructions to be there.
            unsafe {
                asm!(
                    $($prepare),+,
                    "2:",
                    $($line),+,
                    "dec {left}", "jnz 2b", "vzeroupper",
                    k = out(reg) _, left = inout(reg) left,
                    out("k1") _, out("k2") _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                );
            }
            let _ = left;
            Some((ITERATIONS * 8 * $lanes) as f64 / start.elapsed().as_secs_f64())
        }};
    }

    /// A list of instructions for each of the eight accumulators.
    macro_rules! eight {
        ($instructions:ident, $r:literal) => {
            concat!(
                $instructions!($r, "0"),
                $instructions!($r, "1"),
                $instructions!($r, "2"),
                $instructions!($r, "3"),
                $instructions!($r, "4"),
                $instructions!($r, "5"),
                $instructions!($r, "6"),
                $instructions!($r, "7")
            )
        };
    }

    macro_rules! affine32 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmulld ", $r, "8, ", $r, "12, ", $r, "15\n", "vpaddd ", $r, "8, ", $r, "8, ", $r,
                "13\n", "vpminud ", $r, $low, ", ", $r, $low, ", ", $r, "8\n",
            )
        };
    }

    /// Both products and sums of 64 bits, and the high factor's share.
    macro_rules! sums {
        ($r:literal) => {
            concat!(
                "vpmuludq ",
                $r,
                "8, ",
                $r,
                "12, ",
                $r,
                "15\n",
                "vpmuludq ",
                $r,
                "9, ",
                $r,
                "13, ",
                $r,
                "15\n",
                "vpaddq ",
                $r,
                "8, ",
                $r,
                "8, ",
                $r,
                "14\n",
                "vpaddq ",
                $r,
                "9, ",
                $r,
                "9, ",
                $r,
                "14\n",
                "vpmulld ",
                $r,
                "10, ",
                $r,
                "14, ",
                $r,
                "15\n",
            )
        };
    }

    macro_rules! mersenne31_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpshufd zmm9{{k2}}, zmm8, 0xB1\n",
                "vpaddd zmm9, zmm9, zmm10\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm9\n",
            )
        };
    }

    macro_rules! mersenne61_512 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vmovdqa64 zmm11, zmm8\n",
                "vpshufd zmm8{{k1}}, zmm9, 0xB1\n",
                "vpshufd zmm9{{k2}}, zmm11, 0xB1\n",
                "vpaddd zmm9, zmm9, zmm10\n",
                "vpsrld zmm9, zmm9, 29\n",
                "vpaddd zmm8, zmm8, zmm9\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    macro_rules! mersenne31_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpsrlq ymm8, ymm8, 32\n",
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                "vpaddd ymm9, ymm9, ymm10\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", ymm9\n",
            )
        };
    }

    macro_rules! mersenne61_256 {
        ($r:literal, $low:literal) => {
            concat!(
                sums!($r),
                "vpsllq ymm11, ymm9, 32\n",
                "vpblendd ymm11, ymm8, ymm11, 0xAA\n",
                "vpsrlq ymm8, ymm8, 32\n",
                "vpblendd ymm9, ymm8, ymm9, 0xAA\n",
                "vpaddd ymm9, ymm9, ymm10\n",
                "vpsrld ymm9, ymm9, 29\n",
                "vpaddd ymm9, ymm9, ymm11\n",
                "vpminud ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", ymm9\n",
            )
        };
    }

    macro_rules! affine64_512 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmullq zmm8, zmm12, zmm15\n",
                "vpaddq zmm8, zmm8, zmm13\n",
                "vpminuq ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    macro_rules! mersenne61_wide_512 {
        ($r:literal, $low:literal) => {
            concat!(
                "vpmullq zmm8, zmm12, zmm15\n",
                "vpaddq zmm8, zmm8, zmm13\n",
                "vpsrlq zmm9, zmm8, 61\n",
                "vpaddq zmm8, zmm8, zmm9\n",
                "vpandq zmm8, zmm8, zmm14\n",
                "vpminuq ",
                $r,
                $low,
                ", ",
                $r,
                $low,
                ", zmm8\n",
            )
        };
    }

    pub(super) fn updates_per_s(family: &Family, isa: &str) -> Option<f64> {
        match (family, isa) {
            (Family::Affine32, "avx512") => calibrate!(16, eight!(affine32, "zmm")),
            (Family::Affine32, "avx2") => calibrate!(8, eight!(affine32, "ymm")),
            (Family::Mersenne31, "avx512") => calibrate!(16, eight!(mersenne31_512, "zmm")),
            (Family::Mersenne31, "avx2") => calibrate!(8, eight!(mersenne31_256, "ymm")),
            (Family::Mersenne61, "avx512") => calibrate!(16, eight!(mersenne61_512, "zmm")),
            (Family::Mersenne61, "avx2") => calibrate!(8, eight!(mersenne61_256, "ymm")),
            (Family::Affine64, "avx512") => calibrate!(8, eight!(affine64_512, "zmm")),
            (Family::Mersenne61Wide, "avx512") => calibrate!(8, eight!(mersenne61_wide_512, "zmm")),
            _ => None,
        }
    }
}
