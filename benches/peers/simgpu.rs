//! Signs hashed documents of a file on one thread and says how long each pass took: simgpu's part of
//! the comparison in `run.py`, which starts it.
//!
//!     cargo bench --bench peers -- FILE --scheme affine32 [--num-perm 128] [--docs N] [--repeats R]
//!
//! The file is little-endian: the 8 bytes `SGHASHES`, the number of documents and that of hashes as u64,
//! an offset more than there are documents as i64, the hashes as u64. Schemes of 32 bits take their low
//! halves. One line of JSON comes out.

#![allow(clippy::print_stdout, reason = "a measurement prints its result")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use serde_json::json;
use sha1::{Digest, Sha1};
use simgpu::backend::Backend;
use simgpu::pipeline::{Hashes, ShingleSets, SignaturesMut, Signer, SlotsMut};
use simgpu::scheme::{Scheme, Width};
use simgpu::simd::Isa;

/// Measures how fast hashed documents are signed on one thread
#[derive(Debug, Parser)]
struct Arguments {
    /// Hashed documents, as the head of the source describes them
    file: Option<PathBuf>,

    /// Scheme of the signatures
    #[arg(long, default_value = "affine32")]
    scheme: String,

    /// Number of permutations
    #[arg(long, default_value = "128")]
    num_perm: u32,

    /// Seed of the scheme's draws
    #[arg(long, default_value = "1")]
    seed: u32,

    /// Only the first documents [default: all]
    #[arg(long, value_name = "N")]
    docs: Option<usize>,

    /// Timed passes over the documents, after one that is not
    #[arg(long, default_value = "1")]
    repeats: u32,

    /// Instructions to use [default: the best there are]
    #[arg(long, value_name = "NAME")]
    isa: Option<String>,

    /// Writes the signatures, row by row, little-endian
    #[arg(long, value_name = "FILE")]
    signatures: Option<PathBuf>,

    /// What cargo bench passes, and cargo test does not
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(file) = &arguments.file else {
        println!("benches/peers/run.py measures simgpu beside its peers; this is its part of it");
        return Ok(());
    };
    let scheme = Scheme::named(&arguments.scheme)?
        .with_num_perm(arguments.num_perm)?
        .with_seed(arguments.seed);
    let signer = signer(&scheme, arguments.isa.as_deref())?;
    let documents = Documents::read(file, arguments.docs)?;
    let signed = documents.sign(&*signer, scheme.family().hash_width(), arguments.repeats)?;
    if let Some(path) = &arguments.signatures {
        fs::write(path, &signed.slots)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let line = json!({
        "scheme": arguments.scheme,
        "backend": signer.describe(),
        "num_perm": arguments.num_perm,
        "documents": documents.offsets.len() - 1,
        "shingles": documents.hashes.len(),
        "slot_bytes": signer.slot_width().bytes(),
        "elapsed_s": signed.elapsed_s,
        "sha1": hex(&Sha1::digest(&signed.slots)),
    });
    println!("{line}");
    Ok(())
}

/// The signer that is measured.
fn signer(scheme: &Scheme, isa: Option<&str>) -> anyhow::Result<Box<dyn Signer>> {
    let isa = isa.map_or_else(|| Ok(Isa::best()), Isa::named)?;
    Ok(Backend::Simd.signer_on(scheme, isa)?)
}

/// Hashed documents: the hashes of document `i` are `hashes[offsets[i]..offsets[i + 1]]`.
struct Documents {
    offsets: Vec<i64>,
    hashes: Vec<u64>,
}

/// What came of all passes.
struct Signed {
    /// Seconds of each pass.
    elapsed_s: Vec<f64>,
    /// The signatures of the last one, little-endian.
    slots: Vec<u8>,
}

impl Documents {
    /// The first `docs` documents of a file, or all.
    fn read(path: &Path, docs: Option<usize>) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        ensure!(
            bytes.len() >= 24 && bytes.starts_with(b"SGHASHES"),
            "{shown} holds no hashed documents; run.py writes such files"
        );
        let (words, rest) = bytes.as_chunks::<8>();
        ensure!(rest.is_empty(), "{shown} ends in the middle of a number");
        let mut words = words[1..].iter().map(|word| u64::from_le_bytes(*word));
        let mut count = || words.next().and_then(|count| usize::try_from(count).ok());
        let counts = count().zip(count());
        let Some((documents, len)) = counts.filter(|(documents, len)| {
            documents.checked_add(*len) == Some((bytes.len() / 8).wrapping_sub(4))
        }) else {
            bail!("{shown} is not as long as its head says");
        };
        let taken = docs.unwrap_or(documents);
        ensure!(
            taken <= documents,
            "{shown} has {documents} documents and not {taken}; lower --docs"
        );
        let offsets = words.by_ref().take(documents + 1);
        let offsets: Vec<i64> = offsets.map(u64::cast_signed).take(taken + 1).collect();
        let mut hashes: Vec<u64> = words.skip(documents - taken).collect();
        let end = offsets.last().and_then(|&end| usize::try_from(end).ok());
        let Some(end) = end.filter(|&end| end <= len) else {
            bail!("{shown} has offsets beyond its hashes");
        };
        hashes.truncate(end);
        Ok(Documents { offsets, hashes })
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "schemes of 32 bits take the low halves"
    )]
    fn sign(&self, signer: &dyn Signer, width: Width, repeats: u32) -> anyhow::Result<Signed> {
        let narrow: Vec<u32>;
        let hashes = match width {
            Width::U32 => {
                narrow = self.hashes.iter().map(|&hash| hash as u32).collect();
                Hashes::U32(&narrow)
            }
            Width::U64 => Hashes::U64(&self.hashes),
        };
        let sets = ShingleSets::new(hashes, &self.offsets)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let len = sets.len() * signer.num_perm();
        let mut slots = match signer.slot_width() {
            Width::U32 => Slots::U32(vec![0; len]),
            Width::U64 => Slots::U64(vec![0; len]),
        };
        let mut elapsed_s = Vec::new();
        for _ in 0..=repeats {
            let signatures = SignaturesMut::new(signer.num_perm(), slots.borrow())?;
            let elapsed = pool.install(|| -> simgpu::Result<_> {
                let start = Instant::now();
                signer.sign_sets(&sets, signatures)?;
                Ok(start.elapsed())
            })?;
            elapsed_s.push(elapsed.as_secs_f64());
        }
        elapsed_s.remove(0);
        Ok(Signed {
            elapsed_s,
            slots: slots.to_bytes(),
        })
    }
}

/// Memory for the signatures, which every pass writes anew.
enum Slots {
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Slots {
    fn borrow(&mut self) -> SlotsMut<'_> {
        match self {
            Slots::U32(slots) => SlotsMut::U32(slots),
            Slots::U64(slots) => SlotsMut::U64(slots),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Slots::U32(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
            Slots::U64(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
