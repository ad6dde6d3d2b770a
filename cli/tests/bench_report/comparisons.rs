//! `simgpu bench compare`.

use simgpu_bench::compare::{FolderComparison, Verdict, compare};
use simgpu_bench::{ErrorCell, Stage, Tables, TimedRun};

use super::places::{folder, place};
use crate::support::made_up::MadeUp;

// Comparison of two folders

/// Compares made-up runs with runs changed by a function.
fn compared(noise: f64, change: impl Fn(&mut TimedRun)) -> FolderComparison {
    let place = place();
    let made_up = |seed| MadeUp {
        noise,
        seed,
        ..MadeUp::realistic()
    };
    let a = folder(&place, "a", made_up(1).tables());
    let mut tables = made_up(2).tables();
    tables.runs.iter_mut().for_each(change);
    let b = folder(
        &place,
        "b",
        Tables {
            errors: a.tables.errors.clone(),
            ..tables
        },
    );
    compare(&a, &b)
}

/// Names and verdicts of the cases with a difference.
fn differing(comparison: &FolderComparison) -> Vec<String> {
    let differs = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    let changes = comparison
        .cases
        .iter()
        .filter(|change| differs(change.verdict));
    changes
        .map(|change| format!("{} {}", change.case.describe(), change.verdict))
        .collect()
}

#[test]
fn equal_runs_are_equal() {
    for noise in [0.0, 0.01, 0.05, 0.2] {
        let comparison = compared(noise, |_| ());
        let all = comparison.cases.len();
        assert!(all > 150);
        assert!(
            comparison.count(Verdict::Equal) * 100 >= all * 98,
            "{noise}: {:?}",
            differing(&comparison)
        );
        assert!(comparison.cells.iter().all(|change| change.is_equal));
    }
}

fn is_planted(run: &TimedRun) -> bool {
    run.stage == Stage::Sign
        && run.scheme == "affine32"
        && run.hardware == "avx2"
        && run.tool == "simgpu"
}

#[test]
fn cases_slower_by_a_fifth_are_named() {
    let comparison = compared(0.02, |run| {
        run.elapsed_s *= if is_planted(run) { 1.2 } else { 1.0 }
    });
    let expected = "sign affine32 simd avx2 on random hashes, 1000 shingles, K = 128, 4000 documents, 1 thread slower";
    assert_eq!(differing(&comparison), [expected]);
    assert!(comparison.to_string().contains("; 1 slower, 0 faster"));
}

#[test]
fn slower_clocks_slow_no_case_down() {
    let comparison = compared(0.02, |run| {
        // A device has its own clock.
        if !run.case().is_on_device() {
            run.elapsed_s *= 1.3;
        }
        run.reference_s = run.reference_s.map(|reference| reference * 1.3);
    });
    assert_eq!(differing(&comparison), Vec::<String>::new());
    assert!(
        comparison
            .to_string()
            .contains("A fixed loop took 1.29 times as long in B;"),
        "{comparison}"
    );
}

#[test]
fn slow_thirds_of_the_rounds_are_noise() {
    let comparison = compared(0.01, |run| {
        run.elapsed_s *= if run.round <= 4 { 1.2 } else { 1.0 }
    });
    assert!(
        differing(&comparison).is_empty(),
        "{:?}",
        differing(&comparison)
    );
}

#[test]
fn different_checksums_come_first() {
    let comparison = compared(0.02, |run| {
        if is_planted(run) {
            run.checksum = "bad".to_owned();
        }
    });
    let text = comparison.to_string();
    let (before, _) = text.split_once("Rule:").unwrap();
    assert!(
        before.contains("computed different results in 1 cases") && before.contains("simd avx2"),
        "{before}"
    );
}

#[test]
fn comparisons_know_the_errors_of_devices() {
    let place = place();
    let tables = MadeUp::small().tables();
    let on_device = tables.errors.iter().filter(|cell| cell.backend == "gpu");
    let on_device = on_device.count();
    let a = folder(&place, "a", tables.clone());
    let worse = |cell: &ErrorCell| ErrorCell {
        bias: cell.bias + if cell.backend == "gpu" { 1.0 } else { 0.0 },
        ..cell.clone()
    };
    let errors = tables.errors.iter().map(worse).collect();
    let b = folder(
        &place,
        "b",
        Tables {
            errors,
            ..tables.clone()
        },
    );
    let comparison = compare(&a, &b);
    let changed = comparison.cells.iter().filter(|change| !change.is_equal);
    assert!(changed.clone().all(|change| change.cell.backend == "gpu"));
    assert_eq!(changed.count(), on_device);
    assert!(
        comparison.to_string().contains("| gpu NVIDIA H200 NVL "),
        "{comparison}"
    );
    // Not measured, they are only in one folder; the fastest of another CPU stands for that of this one.
    let mut elsewhere = tables.errors.clone();
    elsewhere.retain(|cell| cell.backend != "gpu");
    for cell in elsewhere.iter_mut().filter(|cell| cell.backend == "simd") {
        cell.hardware = "neon".to_owned();
    }
    let c = folder(
        &place,
        "c",
        Tables {
            errors: elsewhere,
            ..tables
        },
    );
    assert_eq!(compare(&a, &c).only_cells, [on_device, 0]);
}

#[test]
fn comparisons_show_every_difference() {
    let place = place();
    let small = MadeUp {
        schemes: vec!["affine32"],
        ..MadeUp::small()
    };
    let a = folder(&place, "a", small.tables());
    let mut tables = MadeUp { seed: 2, ..small }.tables();
    tables.errors = a.tables.errors.clone();
    tables.errors[0].bias += 1.0;
    tables.errors.remove(1);
    tables.found[0].true_found = 7;
    tables.runs.retain(|run| run.stage != Stage::Kernel);
    for run in tables.runs.iter_mut().filter(|run| is_planted(run)) {
        run.elapsed_s *= 1.2;
    }
    let b = folder(&place, "b", tables);
    let text = compare(&a, &b)
        .to_string()
        .replace(&place.path().display().to_string(), "results");
    insta::assert_snapshot!("comparison", text);
}
