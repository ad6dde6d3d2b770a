//! The library in other programs, and the commands `compare` and `selftest`.

mod comparison;

use std::ops::ControlFlow;
use std::sync::Mutex;

use simgpu::backend::Backend;
use simgpu::documents::TokenBatch;
use simgpu::engine::Engine;
use simgpu::pipeline::{
    PackedSignatures, ShingleSets, Shingler, Shingling, Signatures, SignaturesMut, SlotBits, Unit,
};
use simgpu::progress::Progress;
use simgpu::scheme::{Hashes, Scheme, Slots, SlotsMut, Width, fmix64, sha1_32};
use simgpu::search::{Dedup, Search, Verification};
use simgpu::simd::Isa;
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

use crate::support::{Place, families, gzip, json_lines, text};

/// Hashes of both widths, with repeats.
struct Pool {
    narrow: Vec<u32>,
    wide: Vec<u64>,
}

impl Pool {
    fn new(len: u64) -> Self {
        let wide: Vec<u64> = (0..len).map(|i| fmix64(i % 300)).collect();
        let low = |hash: &u64| u32::try_from(hash & u64::from(u32::MAX)).unwrap();
        Pool {
            narrow: wide.iter().map(low).collect(),
            wide,
        }
    }

    fn part(&self, width: Width, range: std::ops::Range<usize>) -> Hashes<'_> {
        match width {
            Width::U32 => Hashes::U32(&self.narrow[range]),
            Width::U64 => Hashes::U64(&self.wide[range]),
        }
    }
}

#[test]
fn sets_sign_alike_alone_together_and_merged() {
    let pool = Pool::new(500);
    for name in Scheme::names() {
        let scheme = Scheme::named(name).unwrap().with_num_perm(33).unwrap();
        let width = scheme.family().hash_width();
        for backend in [Backend::Scalar, Backend::Simd] {
            let signer = backend.signer(&scheme).unwrap();
            let one = |range| {
                let mut signatures = Signatures::new(33, signer.slot_width());
                let slots = signatures.push_rows(1).into_slots();
                signer.sign_set(pool.part(width, range), slots).unwrap();
                signatures
            };
            let offsets = [0, 200, 200, 500];
            let sets = ShingleSets::new(pool.part(width, 0..500), &offsets).unwrap();
            let mut many = Signatures::new(33, signer.slot_width());
            many.sign(&*signer, &sets).unwrap();
            for (i, range) in [0..200, 200..200, 200..500].into_iter().enumerate() {
                assert_eq!(many.row(i), one(range).row(0), "{name} {backend}");
            }
            let mut union = one(0..200);
            union.merge(&one(200..500)).unwrap();
            assert_eq!(union, one(0..500), "{name} {backend}");
            // NeMo's empty set is all zeros.
            if scheme.empty_slot() == scheme.family().empty_slot() {
                union.merge(&one(0..0)).unwrap();
                assert_eq!(union, one(0..500), "{name} {backend}");
            }
        }
    }
}

/// Records each stage with its total and its last reported progress.
#[derive(Default)]
struct Stages(Mutex<Vec<(&'static str, u64, u64)>>);

impl Progress for Stages {
    fn begin(&self, stage: &'static str, total: u64) {
        self.0.lock().unwrap().push((stage, total, 0));
    }

    fn advance(&self, done: u64, _: u64, _: u64) -> ControlFlow<()> {
        let mut stages = self.0.lock().unwrap();
        stages.last_mut().unwrap().2 = done;
        ControlFlow::Continue(())
    }
}

#[test]
fn progress_of_every_stage_reaches_its_total() {
    let place = Place::new();
    place.write("docs/a.jsonl", json_lines(families(20, 3, 40)));
    place.write("docs/b.jsonl.gz", gzip(&json_lines(families(10, 2, 40))));
    let engine = Engine::builder().build().unwrap();
    let inputs = Inputs::find(&[place.path("docs")], None).unwrap();
    let mut search = Search::new(0.8, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    for held_bytes in [0, 1 << 20] {
        let stages_seen = Stages::default();
        Run {
            batch_bytes: 1 << 20,
            held_bytes,
            options: RunOptions {
                overwrite: true,
                progress: &stages_seen,
                ..RunOptions::default()
            },
            ..Run::new(&engine, &inputs)
        }
        .dedup(&Dedup::new(search.clone()), &place.path("out"))
        .unwrap();
        let stages = stages_seen.0.into_inner().unwrap();
        let names: Vec<&str> = stages.iter().map(|(stage, _, _)| *stage).collect();
        assert_eq!(names, ["read", "bucket", "compare", "write"]);
        for (stage, total, done) in stages {
            assert!(total > 0 && done == total, "{stage}: {done} of {total}");
        }
    }
}

#[test]
fn threads_sign_into_the_callers_memory() {
    let texts: Vec<String> = (0..64).map(|seed| text(seed, 30)).collect();
    let scheme = Scheme::default();
    let shingler = Shingler::new(Shingling::default(), &scheme, None).unwrap();
    let signer = Backend::Auto.signer(&scheme).unwrap();
    let expected = Signatures::of_documents(&*signer, &texts, &shingler).unwrap();
    let mut slots = vec![0; 64 * 128];
    std::thread::scope(|scope| {
        for (texts, rows) in texts.chunks(9).zip(slots.chunks_mut(9 * 128)) {
            let (signer, shingler) = (&signer, &shingler);
            scope.spawn(move || {
                let rows = SignaturesMut::new(128, SlotsMut::U32(rows)).unwrap();
                signer.sign_documents(&texts, shingler, rows).unwrap();
            });
        }
    });
    assert_eq!(expected.slots(), Slots::U32(&slots));
    let packed = PackedSignatures::of(&expected, SlotBits::Eight);
    assert_eq!(packed.jaccard_estimate(3, 3).jaccard(), 1.0);
    assert!(packed.jaccard_estimate(3, 4).jaccard() < 0.1);
}

#[test]
fn a_token_shingler_accepts_tokens_and_refuses_texts() {
    let scheme = Scheme::named("datasketch").unwrap();
    let shingler = Shingler::new(Shingling::of(Unit::Tokens), &scheme, None).unwrap();
    let texts = ["one two", ""];
    let mut tokens = TokenBatch::default();
    for token in ["one", "two"] {
        tokens.push_token(token.as_bytes());
    }
    tokens.finish_document();
    tokens.finish_document();
    let shingles = shingler.shingle(&tokens);
    let words = ["one", "two"].map(|token| sha1_32(token.as_bytes()));
    for backend in [Backend::Scalar, Backend::Simd] {
        let signer = backend.signer(&scheme).unwrap();
        let error = Signatures::of_documents(&*signer, &texts, &shingler).unwrap_err();
        assert!(error.to_string().contains("; give token documents"));
        let mut signatures = Signatures::new(128, Width::U32);
        signatures.sign(&*signer, &shingles.sets()).unwrap();
        let mut expected = [0; 128];
        signer
            .sign_set(Hashes::U32(&words), SlotsMut::U32(&mut expected))
            .unwrap();
        assert_eq!(signatures.row(0), Slots::U32(&expected));
        assert_eq!(signatures.row(1), Slots::U32(&[u32::MAX; 128]));
    }
}

// selftest

#[test]
fn selftest_finds_the_published_values() {
    let place = Place::new();
    let lines = |command: &str| -> Vec<String> {
        let run = place.run(command).succeeded();
        assert_eq!(run.stderr, "");
        let page = String::from_utf8(run.stdout).unwrap();
        page.lines().map(str::to_owned).collect()
    };
    let mut all = lines("selftest");
    let last = all.pop().unwrap();
    let isas = Isa::available().iter().map(|isa| format!(", simd ({isa})"));
    // Devices, if any, follow the CPU.
    let unsupported = all.iter().filter(|line| line.contains("unsupported"));
    let unsupported = unsupported.count();
    let passed = format!("all {} checks passed on: scalar", all.len() - unsupported);
    assert!(last.starts_with(&(passed + &isas.collect::<String>())));
    all.retain(|line| !line.starts_with("gpu"));
    assert!(
        all.iter()
            .all(|line| line.contains("  ok  ") && line.len() <= 80)
    );
    for backend in ["scalar", "simd"] {
        for scheme in Scheme::names().chain(["texts"]) {
            let found = all.iter().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(backend) && words.any(|word| word == scheme)
            });
            assert!(found, "{backend} {scheme}: {all:?}");
        }
    }
    let words = |line: &String| line.split_whitespace().map(str::to_owned).collect();
    let all: Vec<Vec<String>> = all.iter().map(words).collect();
    let mut scalar = lines("selftest --backend scalar");
    assert!(scalar.pop().unwrap().ends_with("passed on: scalar"));
    let scalar: Vec<Vec<String>> = scalar.iter().map(words).collect();
    assert!(scalar.len() < all.len());
    assert!(scalar.iter().all(|line| all.contains(line)));
    place
        .run("selftest --backend abacus")
        .refused(2, &["abacus", "scalar"]);
    let help = place.run("selftest --help").succeeded().stdout;
    let help = String::from_utf8(help).unwrap();
    // Undo the line breaks of the help.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("scalar and simd on every instruction set"),
        "{help}"
    );
}
