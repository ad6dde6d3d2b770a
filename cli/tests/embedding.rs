//! The library in other programs, and the commands `compare` and `selftest`.

use std::ops::ControlFlow;
use std::sync::Mutex;

use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::documents::TokenBatch;
use simgpu::engine::Engine;
use simgpu::pipeline::{
    PackedSignatures, ShingleSets, Shingler, Shingling, Signatures, SignaturesMut, SlotBits, Unit,
};
use simgpu::progress::Progress;
use simgpu::scheme::{Hashes, Slots, SlotsMut};
use simgpu::scheme::{Scheme, Width, fmix64, sha1_32};
use simgpu::search::{Dedup, Search, Verification};
use simgpu::simd::Isa;
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

use crate::support::{Place, edited, families, gzip, json_lines, text};

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
        Run::new(&engine, &inputs)
            .batch_bytes(1 << 20)
            .held_bytes(held_bytes)
            .options(RunOptions {
                overwrite: true,
                progress: &stages_seen,
                ..RunOptions::default()
            })
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

// compare

/// Two texts of 96 shingles that share 91: the second has another word in the middle.
fn two_texts() -> Place {
    let place = Place::new();
    let one = text(1, 100);
    let mut words: Vec<&str> = one.split(' ').collect();
    words[50] = "another";
    place.write("one.txt", &one);
    place.write("two.txt", words.join(" "));
    place
}

#[test]
fn compare_prints_exact_and_estimated_similarity() {
    let place = two_texts();
    let json = |command: &str| -> Value {
        let run = place.run(&format!("compare {command} --json")).succeeded();
        assert_eq!(run.stderr, "");
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let report = json("one.txt two.txt");
    for (name, expected) in [
        ("shingles_a", 96.0),
        ("shingles_b", 96.0),
        ("shared", 91.0),
        ("union", 101.0),
        ("jaccard", 91.0 / 101.0),
        ("num_perm", 128.0),
        (
            "candidate_probability",
            1.0 - (1.0 - (91.0f64 / 101.0).powi(8)).powi(16),
        ),
    ] {
        let number = report[name].as_f64().unwrap();
        assert!((number - expected).abs() < 1e-9, "{name}: {number}");
    }
    let of = |name: &str| report[name].as_f64().unwrap();
    assert_eq!(of("estimate"), of("matches") / 128.0);
    assert!((of("estimate") - of("jaccard")).abs() < 4.0 * 0.027);
    let bound = |i: usize| report["interval"][i].as_f64().unwrap();
    assert!(bound(0) < of("estimate") && of("estimate") < bound(1));
    let (estimate, slots) = (of("estimate"), 128.0);
    let standard_error = (estimate * (1.0 - estimate) / slots).sqrt();
    assert!((of("standard_error") - standard_error).abs() < 1e-12);
    // Shingles and signatures have the options of the other commands.
    let other = json("one.txt two.txt --unit chars --size 3 --scheme affine64 --num-perm 64");
    assert_eq!(
        (&other["num_perm"], &other["size"]),
        (&64.into(), &3.into())
    );
    assert_eq!(json("one.txt one.txt")["estimate"], 1.0);
    let page = place.run("compare one.txt two.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    for part in [
        "Jaccard  0.9010",
        "91 of 101",
        "95 % confidence",
        "16 bands of 8 (threshold 0.8)",
    ] {
        assert!(page.contains(part), "{page}");
    }
    let chosen = json("one.txt two.txt --threshold 0.5 --bands 20 --rows 4");
    let shape = ["threshold", "bands", "rows"].map(|name| chosen[name].as_f64().unwrap());
    assert_eq!(shape, [0.5, 20.0, 4.0]);
    assert!(json("one.txt two.txt -t 0.5")["rows"].as_u64().unwrap() < 8);
    // Options of runs over files are refused.
    for option in ["--threads 2", "--batch-mib 1", "--quiet"] {
        place
            .run(&format!("compare one.txt two.txt {option}"))
            .refused(2, &["unexpected argument"]);
    }
}

#[test]
fn compare_prints_every_distance() {
    let place = Place::new();
    place.write("a.txt", "a b a b a c");
    place.write("b.txt", "a b a d");
    let command = "compare a.txt b.txt --size 1";
    let run = place.run(&format!("{command} --json")).succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    // Words with counts: a 3 and 2, b 2 and 1, c 1 and 0, d 0 and 1. All of b but its "d" is in a, in order.
    for (name, expected) in [
        ("occurrences_a", 6.0),
        ("occurrences_b", 4.0),
        ("containment_a", 2.0 / 3.0),
        ("containment_b", 2.0 / 3.0),
        ("bag_jaccard", 3.0 / 7.0),
        ("bag_similarity", 3.0 / 10.0),
        ("cosine", 8.0 / 84f64.sqrt()),
        ("angle_degrees", (8.0 / 84f64.sqrt()).acos().to_degrees()),
        ("l1", 4.0),
        ("l2", 2.0),
        ("linf", 1.0),
        ("length_a", 11.0),
        ("length_b", 7.0),
        ("lcs", 6.0),
        ("edit_distance", 6.0),
    ] {
        let number = report[name].as_f64().unwrap();
        assert!((number - expected).abs() < 1e-9, "{name}: {number}");
    }
    assert_eq!(report["sequence_unit"], "chars");
    assert_eq!(report["hamming"], Value::Null);
    let page = place.run(command).succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    let expected = "
contained  0.6667 of A in B, 0.6667 of B in A
      bag  0.4286 of the greater counts, 0.3000 of all counts: 6 shingles in A, 4 in B
   cosine  0.8729, an angle of 29.21 degrees
       L1  4
       L2  2.0000
     Linf  1
     edit  6 characters inserted or deleted
      LCS  6 characters, of 11 in A and 7 in B
  Hamming  undefined: A has 11 characters, B has 7
";
    assert!(page.ends_with(expected), "{page}");
    // Normalisation counts: these texts differ in white space and case alone.
    place.write("c.txt", "A  B\n\nA D");
    let run = place
        .run("compare b.txt c.txt --lowercase --json")
        .succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["edit_distance"], &report["hamming"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn compare_reads_long_texts_by_words() {
    let place = Place::new();
    let long = "ab ".repeat(40_000);
    place.write("a.txt", &long);
    place.write("b.txt", format!("cd{}", &long[2..]));
    let page = place.run("compare a.txt b.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    let expected = "
     edit  2 words inserted or deleted
      LCS  39999 words, of 40000 in A and 40000 in B
  Hamming  1 of 40000 words
";
    assert!(page.ends_with(expected), "{page}");
    place.write("c.txt", "ab ".repeat(300_001));
    let run = place.run("compare a.txt c.txt").succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    let reason = "not computed: a text has more than 300000 words";
    assert!(
        page.contains(&format!("     edit  {reason}\n      LCS  {reason}\n")),
        "{page}"
    );
    let run = place.run("compare a.txt c.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["lcs"], &report["edit_distance"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn compare_reads_stdin_and_compressed_files() {
    let place = two_texts();
    let expected = place.run("compare one.txt two.txt").succeeded().stdout;
    place.write("two.txt", gzip(&place.read("two.txt")));
    assert_eq!(
        place.run("compare one.txt two.txt").succeeded().stdout,
        expected
    );
    let one = place.read("one.txt");
    let run = place.run_with_stdin("compare - two.txt", &one).succeeded();
    let expected = String::from_utf8(expected).unwrap();
    let actual = String::from_utf8(run.stdout).unwrap();
    assert_eq!(actual, expected.replace("one.txt", "stdin"));
}

#[test]
fn the_similarity_of_two_empty_texts_is_undefined() {
    let place = Place::new();
    place.write("a.txt", "");
    place.write("b.txt", " ?\n");
    place.write("c.txt", "a word");
    let page = place.run("compare a.txt b.txt").succeeded().stdout;
    assert!(String::from_utf8(page).unwrap().contains("undefined"));
    let run = place.run("compare a.txt b.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    for name in [
        "jaccard",
        "estimate",
        "interval",
        "candidate_probability",
        "containment_a",
        "bag_jaccard",
        "bag_similarity",
        "cosine",
        "angle_degrees",
    ] {
        assert_eq!(report[name], Value::Null, "{name}");
    }
    // " ? " as a text of characters: an inserted blank, question mark and blank.
    assert_eq!(report["edit_distance"], 3);
    let run = place.run("compare a.txt c.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["jaccard"], &report["matches"]),
        (&0.0.into(), &0.into())
    );
    assert_eq!(
        (&report["containment_a"], &report["containment_b"]),
        (&Value::Null, &0.0.into())
    );
    let page = place.run("compare a.txt c.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("\ncontained  undefined of A in B, 0.0000 of B in A\n"),
        "{page}"
    );
    assert!(
        page.contains("\n   cosine  undefined: a text has no shingle\n"),
        "{page}"
    );
}

#[test]
fn texts_that_cannot_be_compared_are_errors() {
    let place = two_texts();
    place.write("latin.txt", b"caf\xE9");
    let mut cut = gzip(&place.read("one.txt"));
    cut.truncate(60);
    place.write("cut.gz", cut);
    for (command, code, phrases) in [
        ("one.txt none.txt", 1, ["none.txt", "check the name"]),
        ("one.txt latin.txt", 1, ["latin.txt", "UTF-8 at byte 3"]),
        ("cut.gz one.txt", 1, ["cut.gz", "stream is cut off"]),
        (". one.txt", 1, [".", "check the path"]),
        ("- -", 2, ["one of the two", "stdin"]),
        ("one.txt", 2, ["<B>", "required"]),
        ("one.txt two.txt --unit tokens", 2, ["tokens", "--unit"]),
        ("one.txt two.txt --scheme md5", 2, ["md5", "affine32"]),
        ("one.txt two.txt -t 1.5", 2, ["threshold", "1.5"]),
    ] {
        place
            .run(&format!("compare {command}"))
            .refused(code, &phrases);
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

#[test]
fn edits_show_in_a_comparison() {
    let place = two_texts();
    place.write("two.txt", edited(&text(1, 100), 3, 40));
    let run = place.run("compare one.txt two.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(report["jaccard"].as_f64().unwrap() < 0.5);
}
