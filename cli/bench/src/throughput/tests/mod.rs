mod fake;

mod rounds;

mod devices;

use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::progress::Silent;
use simgpu::simd::Isa;
use simgpu::{Error, Result};

use super::cases::Cases;
use super::clock::Monotonic;
use super::runner::{RunSchedule, run_rounds};
use crate::targets::targets;
use crate::{BenchCorpus, Effort, Plan, Row, Stage, TimedRun};

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
