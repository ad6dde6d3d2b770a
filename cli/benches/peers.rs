//! Signs the documents of a file and prints the time of each pass. `benches/peers/run.py` runs it to
//! compare simgpu with other tools.
//!
//!     cargo bench --bench peers -- FILE --scheme affine32 [--num-perm 128] [--docs N] [--repeats R]
//!     cargo bench --bench peers -- FILE --texts [--unit bytes] ...
//!
//! A file of hashed documents is little-endian: the 8 bytes `SGHASHES`; the number of documents n and the number of
//! hashes as u64; n + 1 offsets as i64; the hashes as u64. Schemes with 32-bit hashes take the low halves. A file of
//! texts is JSON Lines with a field `text`. The output is one line of JSON.

#![allow(clippy::print_stdout, reason = "a measurement prints its result")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use serde::Deserialize;
use serde_json::json;
use sha1::{Digest, Sha1};
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{ShingleSets, Shingler, Shingling, SignaturesMut, Signer, Unit};
use simgpu::scheme::{Hashes, SlotsMut};
use simgpu::scheme::{Scheme, Width};
use simgpu::simd::Isa;

/// Measures how fast documents are signed
#[derive(Debug, Parser)]
struct Arguments {
    /// Hashed documents or texts, in the formats described in the source
    file: Option<PathBuf>,

    /// The file holds texts
    #[arg(long)]
    texts: bool,

    /// Shingle unit of texts: bytes or words [default: that of the scheme]
    #[arg(long, value_name = "UNIT", requires = "texts")]
    unit: Option<String>,

    /// Scheme of the signatures
    #[arg(long, default_value = "affine32")]
    scheme: String,

    /// Number of permutations
    #[arg(long, default_value = "128")]
    num_perm: u32,

    /// Seed of the coefficients
    #[arg(long, default_value = "1")]
    seed: u32,

    /// Number of threads
    #[arg(long, default_value = "1")]
    threads: usize,

    /// Number of documents to sign, from the first [default: all]
    #[arg(long, value_name = "N")]
    docs: Option<usize>,

    /// Timed passes over the documents, after an untimed one
    #[arg(long, default_value = "1")]
    repeats: u32,

    /// Instruction set [default: the best of this CPU]
    #[arg(long, value_name = "NAME")]
    isa: Option<String>,

    /// File for the signatures: slots row by row, little-endian
    #[arg(long, value_name = "FILE")]
    signatures: Option<PathBuf>,

    /// Passed by cargo bench, not by cargo test
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(file) = &arguments.file else {
        println!("benches/peers/run.py compares simgpu with its peers and runs this program");
        return Ok(());
    };
    let scheme = Scheme::named(&arguments.scheme)?
        .with_num_perm(arguments.num_perm)?
        .with_seed(arguments.seed);
    let isa = arguments.isa.as_deref();
    let isa = isa.map_or_else(|| Ok(Isa::best()), Isa::named)?;
    let signer = Backend::Simd.signer_on(&scheme, isa)?;
    let work = if arguments.texts {
        let texts = read_texts(file, arguments.docs)?;
        let shingling = shingling(&scheme, arguments.unit.as_deref())?;
        let shingler = Shingler::new(shingling, &scheme, None)?.with_isa(isa);
        Work::Texts { texts, shingler }
    } else {
        let documents = Documents::read(file, arguments.docs)?;
        Work::Hashed(documents.of_width(scheme.family().hash_width()))
    };
    let signed = work.sign(&*signer, arguments.repeats, arguments.threads)?;
    if let Some(path) = &arguments.signatures {
        fs::write(path, &signed.slots)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let line = json!({
        "isa": isa.to_string(),
        "documents": work.len(),
        "shingles": work.shingles(),
        "slot_bytes": signer.slot_width().bytes(),
        "elapsed_s": signed.elapsed_s,
        "sha1": hex(&Sha1::digest(&signed.slots)),
    });
    println!("{line}");
    Ok(())
}

fn shingling(scheme: &Scheme, unit: Option<&str>) -> anyhow::Result<Shingling> {
    Ok(match unit {
        None => Shingling::of_scheme(scheme),
        Some("words") => Shingling::of(Unit::Words),
        Some("bytes") => Shingling::of(Unit::Bytes),
        Some(other) => bail!("unknown unit {other}; choose bytes or words"),
    })
}

/// The first `docs` texts of a file, or all.
fn read_texts(path: &Path, docs: Option<usize>) -> anyhow::Result<TextBatch> {
    #[derive(Deserialize)]
    struct JsonLine {
        text: String,
    }
    let shown = path.display();
    let file = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let mut texts = TextBatch::default();
    for line in file.lines().take(docs.unwrap_or(usize::MAX)) {
        let json: JsonLine = serde_json::from_str(line)
            .with_context(|| format!("{shown} is not JSON Lines with texts"))?;
        texts.push(&json.text);
    }
    Ok(texts)
}

/// Documents to sign.
enum Work {
    Hashed(Documents),
    Texts {
        texts: TextBatch,
        shingler: Shingler,
    },
}

/// Result of all passes.
struct Signed {
    /// Seconds of each pass.
    elapsed_s: Vec<f64>,
    /// Slots of the last pass, little-endian.
    slots: Vec<u8>,
}

impl Work {
    /// Number of documents.
    fn len(&self) -> usize {
        match self {
            Work::Hashed(documents) => documents.offsets.len() - 1,
            Work::Texts { texts, .. } => texts.len(),
        }
    }

    /// Number of shingles in all documents.
    fn shingles(&self) -> usize {
        match self {
            Work::Hashed(documents) => documents.hashes.borrow().len(),
            Work::Texts { texts, shingler } => shingler.shingle(texts).sets().hashes().len(),
        }
    }

    /// Signs all documents once to warm up, then `repeats` times, always into the same memory.
    fn sign(&self, signer: &dyn Signer, repeats: u32, threads: usize) -> anyhow::Result<Signed> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build()?;
        let len = self.len() * signer.num_perm();
        let mut slots = match signer.slot_width() {
            Width::U32 => Numbers::U32(vec![0; len]),
            Width::U64 => Numbers::U64(vec![0; len]),
        };
        let mut elapsed_s = Vec::new();
        for _ in 0..=repeats {
            let signatures = SignaturesMut::new(signer.num_perm(), slots.borrow_mut())?;
            let elapsed = pool.install(|| -> simgpu::Result<_> {
                let start = Instant::now();
                match self {
                    Work::Hashed(documents) => signer.sign_sets(&documents.sets()?, signatures)?,
                    Work::Texts { texts, shingler } => {
                        signer.sign_documents(texts, shingler, signatures)?;
                    }
                }
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

/// Hashed documents: the hashes of document `i` are `hashes[offsets[i]..offsets[i + 1]]`.
struct Documents {
    offsets: Vec<i64>,
    hashes: Numbers,
}

impl Documents {
    /// The first `docs` documents of a file, or all.
    fn read(path: &Path, docs: Option<usize>) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        ensure!(
            bytes.len() >= 24 && bytes.starts_with(b"SGHASHES"),
            "{shown} does not hold hashed documents; run.py writes such files"
        );
        let (words, rest) = bytes.as_chunks::<8>();
        ensure!(rest.is_empty(), "{shown} ends in the middle of a number");
        let mut words = words[1..].iter().map(|word| u64::from_le_bytes(*word));
        let mut count = || words.next().and_then(|count| usize::try_from(count).ok());
        let counts = count().zip(count());
        let Some((documents, len)) = counts.filter(|(documents, len)| {
            documents.checked_add(*len) == Some((bytes.len() / 8).wrapping_sub(4))
        }) else {
            bail!("the length of {shown} differs from that in its header");
        };
        let taken = docs.unwrap_or(documents);
        ensure!(
            taken <= documents,
            "{shown} has only {documents} documents; lower --docs"
        );
        let offsets = words.by_ref().take(documents + 1);
        let offsets: Vec<i64> = offsets.map(u64::cast_signed).take(taken + 1).collect();
        let mut hashes: Vec<u64> = words.skip(documents - taken).collect();
        let end = offsets.last().and_then(|&end| usize::try_from(end).ok());
        let Some(end) = end.filter(|&end| end <= len) else {
            bail!("{shown} has offsets beyond its hashes");
        };
        hashes.truncate(end);
        Ok(Documents {
            offsets,
            hashes: Numbers::U64(hashes),
        })
    }

    /// Converts hashes to the width of a scheme.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "schemes with 32-bit hashes take the low halves"
    )]
    fn of_width(mut self, width: Width) -> Self {
        if let (Width::U32, Numbers::U64(hashes)) = (width, &self.hashes) {
            let low = hashes.iter().map(|&hash| hash as u32);
            self.hashes = Numbers::U32(low.collect());
        }
        self
    }

    fn sets(&self) -> simgpu::Result<ShingleSets<'_>> {
        ShingleSets::new(self.hashes.borrow(), &self.offsets)
    }
}

/// Hashes or slots.
enum Numbers {
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Numbers {
    fn borrow(&self) -> Hashes<'_> {
        match self {
            Numbers::U32(hashes) => Hashes::U32(hashes),
            Numbers::U64(hashes) => Hashes::U64(hashes),
        }
    }

    fn borrow_mut(&mut self) -> SlotsMut<'_> {
        match self {
            Numbers::U32(slots) => SlotsMut::U32(slots),
            Numbers::U64(slots) => SlotsMut::U64(slots),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Numbers::U32(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
            Numbers::U64(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
