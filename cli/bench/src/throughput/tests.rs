use std::sync::{Arc, Mutex};

use super::cases::{Builder, Cases};
use super::clock::Clock;
use super::clock::Monotonic;
use super::runner::run_rounds;
use super::runner::{Entrant, RunSchedule, Workload};
use super::sign::{BufferedSigner, RandomHashes, SignHashes, by_definition};
use crate::targets::{ComputeTarget, targets};
use crate::{BenchCorpus, Effort, Plan, Row, Stage, TimedRun};
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{ShingleSets, SignaturesMut, Signer};
use simgpu::progress::Silent;
use simgpu::scheme::SlotsMut;
use simgpu::scheme::{Scheme, Width};
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// A clock advanced by workloads, in units of 2^-20 s, which add up exactly.
#[derive(Default)]
struct Fake(Mutex<u64>);

const UNIT_S: f64 = 1.0 / (1 << 20) as f64;

impl Fake {
    fn advance(&self, units: u64) {
        *self.0.lock().unwrap() += units;
    }
}

impl Clock for Fake {
    fn now_s(&self) -> f64 {
        *self.0.lock().unwrap() as f64 * UNIT_S
    }

    fn reference_s(&self) -> f64 {
        self.advance(100);
        100.0 * UNIT_S
    }
}

/// A pass of a fixed length with given checksums.
struct Sleep<'a> {
    clock: &'a Fake,
    units: u64,
    checksums: Vec<u64>,
}

impl Workload for Sleep<'_> {
    fn pass(&mut self) -> Result<()> {
        self.clock.advance(self.units);
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        match self.checksums.len() {
            0 => Err(Error::Disagreement("all checksums are used up".to_owned())),
            1 => Ok(self.checksums[0]),
            _ => Ok(self.checksums.remove(0)),
        }
    }

    fn ceiling_updates_per_s(&self) -> Option<f64> {
        self.clock.advance(7);
        Some(self.clock.now_s())
    }
}

fn entrant<'a>(clock: &'a Fake, backend: &str, units: u64, checksums: &[u64]) -> Entrant<'a> {
    Entrant {
        run: TimedRun {
            backend: backend.to_owned(),
            scheme: "affine32".to_owned(),
            input: "nothing".to_owned(),
            ..TimedRun::unmeasured(Stage::Sign)
        },
        workload: Box::new(Sleep {
            clock,
            units,
            checksums: checksums.to_vec(),
        }),
        expected: None,
    }
}

const ROUNDS: RunSchedule = RunSchedule {
    rounds: 3,
    run_s: 1000.0 * UNIT_S,
};

fn runs_of(entrants: &mut [Entrant<'_>], clock: &Fake) -> Result<Vec<TimedRun>> {
    let mut runs = Vec::new();
    run_rounds(entrants, ROUNDS, clock, &Silent, &mut |record| {
        if let Row::Run(run) = record {
            runs.push(run);
        }
        Ok(())
    })?;
    Ok(runs)
}

#[test]
fn runs_have_passes_for_their_time() {
    let clock = Fake::default();
    let mut entrants = [
        entrant(&clock, "quick", 10, &[5]),
        entrant(&clock, "slow", 3000, &[5]),
        entrant(&clock, "uneven", 300, &[5]),
    ];
    let runs = runs_of(&mut entrants, &clock).unwrap();
    assert_eq!(runs.len(), 9);
    for (i, run) in (0..).zip(&runs) {
        let (passes, units) = match &*run.backend {
            "quick" => (100, 1000.0),
            "slow" => (1, 3000.0),
            _ => (4, 1200.0),
        };
        let expected = TimedRun {
            backend: run.backend.clone(),
            scheme: "affine32".to_owned(),
            input: "nothing".to_owned(),
            round: i / 3 + 1,
            passes,
            elapsed_s: units * UNIT_S,
            reference_s: Some(200.0 * UNIT_S),
            ceiling_updates_per_s: run.ceiling_updates_per_s,
            checksum: "0000000000000005".to_owned(),
            ..TimedRun::unmeasured(Stage::Sign)
        };
        assert_eq!(*run, expected);
        assert!(run.ceiling_updates_per_s.is_some());
    }
}

#[test]
fn rounds_measure_every_case_in_varying_order() {
    let orders = || {
        let clock = Fake::default();
        let name = |i: u64| i.to_string();
        let mut entrants: Vec<_> = (0..8)
            .map(|i| entrant(&clock, &name(i), 400, &[1]))
            .collect();
        let runs = runs_of(&mut entrants, &clock).unwrap();
        let names: Vec<String> = runs.into_iter().map(|run| run.backend).collect();
        names.chunks(8).map(<[String]>::to_vec).collect::<Vec<_>>()
    };
    let first = orders();
    assert_eq!(first, orders());
    assert!(first[0] != first[1] && first[1] != first[2]);
    for mut order in first {
        order.sort();
        assert_eq!(order.concat(), "01234567");
    }
}

#[test]
fn cases_on_several_threads_have_no_ceiling() {
    let clock = Fake::default();
    let mut entrants = [entrant(&clock, "two", 1000, &[1])];
    entrants[0].run.threads = 2;
    let runs = runs_of(&mut entrants, &clock).unwrap();
    assert!(runs.iter().all(|run| run.ceiling_updates_per_s.is_none()));
}

/// The error of entrants, and the number of runs before it.
fn failure(entrants: &mut [Entrant<'_>], clock: &Fake) -> (String, usize) {
    let mut runs = 0;
    let failed = run_rounds(entrants, ROUNDS, clock, &Silent, &mut |_| {
        runs += 1;
        Ok(())
    });
    let error = failed.unwrap_err();
    assert!(matches!(error, Error::Disagreement(_)), "{error}");
    (error.to_string(), runs)
}

#[test]
fn changing_results_are_an_error() {
    let clock = Fake::default();
    let mut entrants = [entrant(&clock, "unsteady", 1000, &[1, 1, 2])];
    let (message, runs) = failure(&mut entrants, &clock);
    assert!(
        message.contains("affine32 unsteady") && message.contains("round 2"),
        "{message}"
    );
    assert_eq!(runs, 1);
}

#[test]
fn different_results_are_an_error_before_timing() {
    let clock = Fake::default();
    let mut entrants = [
        entrant(&clock, "right", 1000, &[1]),
        entrant(&clock, "wrong", 1000, &[2]),
    ];
    let (message, runs) = failure(&mut entrants, &clock);
    assert!(
        message.contains("affine32 wrong") && message.contains("affine32 right"),
        "{message}"
    );
    assert_eq!(runs, 0);
}

/// A signer with one wrong slot.
struct Wrong(Box<dyn Signer>);

impl Signer for Wrong {
    fn describe(&self) -> String {
        "wrong".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.0.num_perm()
    }

    fn slot_width(&self) -> Width {
        self.0.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let mut slots = signatures.into_slots();
        let matrix = SignaturesMut::new(self.num_perm(), slots.reborrow())?;
        self.0.sign_sets(sets, matrix)?;
        if let SlotsMut::U32(slots) = slots {
            slots[77] ^= 1;
        }
        Ok(())
    }
}

#[test]
fn wrong_kernels_are_an_error() {
    let scheme = Scheme::default();
    let hashes = Arc::new(RandomHashes::new(3, 50, Width::U32));
    let expected = by_definition(&scheme, &hashes.sets().unwrap()).unwrap();
    let right = || Backend::Simd.signer(&scheme).unwrap();
    for (signer, is_right) in [(right(), true), (Box::new(Wrong(right())), false)] {
        let mut entrants = [Entrant {
            run: TimedRun {
                scheme: scheme.to_string(),
                backend: "simd".to_owned(),
                ..TimedRun::unmeasured(Stage::Sign)
            },
            workload: Box::new(SignHashes {
                hashes: hashes.clone(),
                signer: BufferedSigner::new(Arc::from(signer), 3),
                vectors: None,
            }),
            expected: Some(expected),
        }];
        let rounds = RunSchedule {
            rounds: 0,
            run_s: 1e-6,
        };
        let clock = Monotonic::start();
        let measured = run_rounds(&mut entrants, rounds, &clock, &Silent, &mut |_| Ok(()));
        match measured {
            Ok(()) => assert!(is_right),
            Err(error) => {
                assert!(!is_right);
                let message = error.to_string();
                assert!(
                    message.contains("affine32 simd") && message.contains("definition"),
                    "{message}"
                );
            }
        }
    }
}

fn texts(documents: usize) -> BenchCorpus {
    let mut corpus = BenchCorpus::read(None).unwrap();
    let some: TextBatch = corpus.texts.iter().take(documents).collect();
    corpus.texts = some;
    corpus
}

/// The cases of a plan on the targets that this machine has for it.
fn cases_of<'a>(plan: &Plan, corpus: &'a BenchCorpus) -> Result<Cases<'a>> {
    Cases::of(plan, &targets(plan)?.0, corpus)
}

fn cases(plan: &Plan, corpus: &BenchCorpus) -> Vec<TimedRun> {
    let cases = cases_of(plan, corpus).unwrap();
    cases
        .entrants
        .into_iter()
        .map(|entrant| entrant.run)
        .collect()
}

fn tiny() -> Plan {
    Plan {
        effort: Effort::Quick,
        backends: vec![Backend::Scalar, Backend::Simd],
        isas: vec![Isa::best()],
        schemes: vec!["affine32".to_owned(), "rensa".to_owned()],
        num_perms: vec![16],
        lengths: vec![40],
        threads: vec![1],
        ..Plan::default()
    }
}

#[test]
fn plans_restrict_every_axis() {
    let corpus = texts(20);
    let runs = cases(&tiny(), &corpus);
    assert!(runs.iter().all(|run| run.threads == 1));
    assert!(runs.iter().all(|run| [0, 16].contains(&run.num_perm)));
    for run in runs.iter().filter(|run| run.stage == Stage::Sign) {
        assert_eq!((run.shingles, run.documents), (40, 500));
        assert!(["affine32", "rensa"].contains(&&*run.scheme));
        let updates = if run.scheme == "rensa" {
            0
        } else {
            40 * 500 * 16
        };
        assert_eq!(run.updates, updates);
        let hardware = if run.backend == "simd" {
            Isa::best().to_string()
        } else {
            String::new()
        };
        assert_eq!(run.hardware, hardware);
    }
    let count = |stage| runs.iter().filter(|run| run.stage == stage).count();
    assert_eq!(count(Stage::Sign), 4);
    assert_eq!(count(Stage::SignTexts), 4);
    assert_eq!(count(Stage::Shingle), 5);
    assert_eq!(count(Stage::Dedup), 3);
}

#[test]
fn every_effort_has_every_case_once() {
    let corpus = texts(20);
    for effort in [Effort::Quick, Effort::Usual] {
        let plan = Plan {
            effort,
            lengths: vec![20, 30],
            num_perms: vec![8, 16],
            ..Plan::default()
        };
        let mut cases: Vec<_> = cases(&plan, &corpus).iter().map(TimedRun::case).collect();
        let all = cases.len();
        cases.sort();
        cases.dedup();
        assert_eq!(cases.len(), all);
        assert!(all > 30);
    }
}

#[test]
fn axes_out_of_range_are_errors() {
    let corpus = texts(1);
    for plan in [
        Plan {
            lengths: vec![0],
            ..tiny()
        },
        Plan {
            lengths: vec![u64::MAX],
            ..tiny()
        },
        Plan {
            threads: vec![0],
            ..tiny()
        },
        Plan {
            threads: vec![u32::MAX],
            ..tiny()
        },
        Plan {
            num_perms: vec![0],
            ..tiny()
        },
        Plan {
            schemes: vec!["md5".to_owned()],
            ..tiny()
        },
        Plan {
            backends: vec![Backend::Auto],
            ..tiny()
        },
    ] {
        assert!(cases_of(&plan, &corpus).is_err(), "{plan:?}");
    }
}

/// No machine has device 1000.
#[test]
fn missing_devices_are_absences_unless_named() {
    let unnamed = Plan {
        backends: Vec::new(),
        ..tiny()
    };
    // Most test machines have no device, or one emulated by the CPU.
    let (_, absences) = targets(&unnamed).unwrap();
    assert!(absences.iter().all(|absence| absence.what == "gpu"));
    for backends in [vec![], vec![Backend::Gpu], vec![Backend::Hybrid]] {
        let named = Plan {
            device: Some(1000),
            backends,
            ..tiny()
        };
        assert!(matches!(targets(&named), Err(Error::Unsupported(_))));
    }
}

#[test]
fn corpora_without_documents_are_absences() {
    let corpus = texts(0);
    let cases = cases_of(&tiny(), &corpus).unwrap();
    assert!(cases.absences.iter().any(|absence| absence.what == "texts"));
    assert!(
        cases
            .entrants
            .iter()
            .all(|entrant| entrant.run.text_bytes == 0)
    );
}

/// Runs all stages of a small plan once and compares their checksums.
#[test]
fn all_stages_produce_runs() {
    let corpus = texts(60);
    let mut cases = cases_of(&tiny(), &corpus).unwrap();
    let rounds = RunSchedule {
        rounds: 1,
        run_s: 1e-6,
    };
    let mut runs = Vec::new();
    run_rounds(
        &mut cases.entrants,
        rounds,
        &Monotonic::start(),
        &Silent,
        &mut |record| {
            if let Row::Run(run) = record {
                runs.push(run);
            }
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(runs.len(), cases.entrants.len());
    for run in &runs {
        assert!(
            run.passes == 1 && run.round == 1 && run.elapsed_s > 0.0,
            "{run:?}"
        );
        assert!(run.reference_s > Some(0.0) && run.documents > 0, "{run:?}");
        assert_eq!(run.checksum.len(), 16);
    }
    for stage in [
        Stage::Sign,
        Stage::SignTexts,
        Stage::Shingle,
        Stage::Band,
        Stage::Bucket,
        Stage::Verify,
        Stage::Dedup,
    ] {
        assert!(runs.iter().any(|run| run.stage == stage), "{stage:?}");
    }
    let has_ceiling = |run: &TimedRun| run.ceiling_updates_per_s.is_some();
    assert!(
        runs.iter()
            .filter(|run| has_ceiling(run))
            .all(|run| run.stage == Stage::Sign)
    );
}

/// A device that is never used: cases are made without signing where every scheme is known to be signed by the CPU.
fn with_device(is_software: bool) -> Vec<ComputeTarget> {
    let (mut targets, _) = targets(&tiny()).unwrap();
    targets.push(ComputeTarget {
        backend: Backend::Gpu,
        name: "a device".to_owned(),
        is_software,
        ..ComputeTarget::best_of_cpu()
    });
    targets
}

/// What the tables compare: every way to sign a size has the same documents.
#[test]
fn devices_sign_what_the_cpu_signs() {
    let corpus = texts(20);
    let plan = Plan {
        threads: vec![1, 3],
        lengths: vec![40, 400],
        num_perms: vec![16, 32],
        ..tiny()
    };
    for is_software in [true, false] {
        let builder = Builder::new(&plan, &with_device(is_software), &corpus).unwrap();
        let ways = builder.ways(false);
        let threads = |backend| {
            let of_backend = ways.iter().filter(|(target, _)| target.backend == backend);
            of_backend.map(|(_, threads)| *threads).collect::<Vec<_>>()
        };
        assert_eq!(threads(Backend::Scalar), [1]);
        assert_eq!(threads(Backend::Simd), [1, 3]);
        assert_eq!(threads(Backend::Gpu), [3]);
        // Texts and whole runs show how a device depends on the threads that feed it.
        assert_eq!(builder.ways(true).len(), ways.len() + 1);
        let expected = if is_software { 200_000 } else { 4_000_000 };
        assert_eq!(builder.pass_shingles(), expected);
    }
    let without = Builder::new(&plan, &targets(&tiny()).unwrap().0, &corpus).unwrap();
    assert_eq!(
        (without.ways(false).len(), without.ways(true).len()),
        (2, 3)
    );
    assert_eq!(without.pass_shingles(), 20_000);
}

/// The first device of this machine, if any: unsupported schemes are absences, and its steps compute the signatures of
/// the definition.
#[cfg(feature = "gpu")]
#[test]
fn devices_are_measured_step_by_step() {
    if simgpu::backend::gpu::adapters().is_empty() {
        return;
    }
    let corpus = texts(20);
    let plan = Plan {
        backends: vec![Backend::Gpu, Backend::Hybrid],
        schemes: ["affine32", "mersenne61", "affine64", "fast"]
            .map(str::to_owned)
            .to_vec(),
        lengths: vec![40, 5000],
        ..tiny()
    };
    let mut cases = cases_of(&plan, &corpus).unwrap();
    let absent: Vec<&str> = cases
        .absences
        .iter()
        .map(|absence| &*absence.what)
        .collect();
    assert_eq!(absent, ["fast by gpu", "fast by hybrid"]);
    let rounds = RunSchedule {
        rounds: 1,
        run_s: 1e-6,
    };
    let mut steps = 0;
    run_rounds(
        &mut cases.entrants,
        rounds,
        &Monotonic::start(),
        &Silent,
        &mut |record| {
            if let Row::Run(run) = record {
                steps += usize::from(matches!(
                    run.stage,
                    Stage::Upload | Stage::Kernel | Stage::Readback
                ));
            }
            Ok(())
        },
    )
    .unwrap();
    // Three schemes of hashes, and one that hashes text.
    assert_eq!(steps, 12);
}
