//! Devices of software.

use simgpu::backend::Backend;
use simgpu::progress::Silent;

use super::{cases_of, texts, tiny};
use crate::targets::{ComputeTarget, targets};
use crate::throughput::cases::Builder;
use crate::throughput::clock::Monotonic;
use crate::throughput::runner::{RunSchedule, run_rounds};
use crate::{Plan, Row, Stage};

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
            let same_backend = ways.iter().filter(|(target, _)| target.backend == backend);
            same_backend
                .map(|(_, threads)| *threads)
                .collect::<Vec<_>>()
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
