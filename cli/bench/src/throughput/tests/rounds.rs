//! Rounds and the results of their cases.

use std::sync::Arc;

use simgpu::backend::Backend;
use simgpu::progress::Silent;
use simgpu::scheme::{Scheme, Width};

use super::fake::{Fake, UNIT_S, Wrong, entrant, failure, runs_of};
use crate::throughput::clock::Monotonic;
use crate::throughput::runner::{Entrant, RunSchedule, run_rounds};
use crate::throughput::sign::{BufferedSigner, RandomHashes, SignHashes, expected_checksum};
use crate::{Stage, TimedRun};

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

#[test]
fn wrong_kernels_are_an_error() {
    let scheme = Scheme::default();
    let hashes = Arc::new(RandomHashes::new(3, 50, Width::U32));
    let expected = expected_checksum(&scheme, &hashes.sets().unwrap()).unwrap();
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
