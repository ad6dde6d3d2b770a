use std::collections::BTreeSet;

use super::*;
use simgpu::scheme::{Width, fmix64};

const NUM_PERM: usize = 12;

/// Signatures of few distinct slots, so that many share bands, and sizes from 1 to 60, many of them twice.
fn sets(count: usize) -> (Signatures, Vec<u64>) {
    let slot = |place: usize| (fmix64(place as u64) % 3) as u32;
    let slots: Vec<u32> = (0..count * NUM_PERM).map(slot).collect();
    let size = |row: usize| 1 + fmix64(row as u64 + 77) % 60;
    let sizes = (0..count).map(size).collect();
    (Signatures::from_slots(NUM_PERM, slots).unwrap(), sizes)
}

fn ensemble(threshold: f64, partitions: usize, count: usize) -> LshEnsemble {
    let (signatures, sizes) = sets(count);
    let containment = Containment {
        max_rows: 4,
        ..Containment::new(threshold)
    };
    LshEnsemble::new(containment, partitions, &signatures, &sizes).unwrap()
}

/// The ratios of datasketch, and the banding for each.
fn bandings(threshold: f64) -> Vec<(f64, Banding)> {
    let steps = (0..10).map(|step| (-5.0 + 10.0 * f64::from(step) / 9.0).exp());
    let containment = Containment {
        max_rows: 4,
        ..Containment::new(threshold)
    };
    let banding = |ratio| (ratio, containment.banding(NUM_PERM, ratio).unwrap());
    steps.map(banding).collect()
}

/// The sets in an ensemble.
struct IndexedSets<'a> {
    signatures: &'a Signatures,
    sizes: &'a [u64],
}

impl IndexedSets<'_> {
    /// Searches set by set for those like a query of this size: the banding for the partition of each, and a
    /// shared band of it.
    fn compare(&self, ensemble: &LshEnsemble, query: &[u32], size: u64) -> Vec<u32> {
        let bandings = bandings(0.5);
        let is_found = |row: &usize| {
            let own_size = self.sizes[*row];
            let upper = ensemble.upper_sizes().find(|upper| *upper >= own_size);
            let ratio = upper.unwrap() as f64 / size as f64;
            let at_least = bandings.iter().find(|(step, _)| *step >= ratio);
            let (_, banding) = at_least.unwrap_or(&bandings[9]);
            let Slots::U32(slots) = self.signatures.row(*row) else {
                return false;
            };
            let bands = slots
                .chunks(banding.rows())
                .zip(query.chunks(banding.rows()));
            bands.take(banding.bands()).any(|(a, b)| a == b)
        };
        let found = (0..self.sizes.len()).filter(is_found);
        found.map(|row| u32::try_from(row).unwrap()).collect()
    }
}

#[test]
fn ensembles_find_what_a_comparison_of_all_sets_finds() {
    for (partitions, count) in [(1, 1), (1, 80), (2, 80), (5, 80), (16, 200), (100, 50)] {
        let ensemble = ensemble(0.5, partitions, count);
        let (signatures, sizes) = sets(count);
        assert_eq!((ensemble.len(), ensemble.is_empty()), (count, false));
        for query in 0..20u64 {
            let slot = |place: u64| (fmix64(query << 8 | place) % 3) as u32;
            let slots: Vec<u32> = (0..12).map(slot).collect();
            for size in [1, 2, 7, 25, 60, 300, 100_000] {
                let found = ensemble.query(Slots::U32(&slots), size).unwrap();
                let sets = IndexedSets {
                    signatures: &signatures,
                    sizes: &sizes,
                };
                assert_eq!(found, sets.compare(&ensemble, &slots, size));
            }
        }
    }
}

#[test]
fn partitions_cover_all_sizes() {
    let (_, sizes) = sets(80);
    let distinct = sizes.iter().collect::<BTreeSet<_>>().len();
    assert!(distinct < sizes.len());
    for (partitions, expected) in [(1, 1), (3, 3), (500, distinct)] {
        let uppers: Vec<u64> = ensemble(0.5, partitions, 80).upper_sizes().collect();
        assert!(uppers.is_sorted_by(|a, b| a < b));
        assert_eq!(uppers.len(), expected);
        assert_eq!(uppers.last(), sizes.iter().max());
    }
}

/// Those of datasketch 2.0 for 64 slots and up to 8 rows.
#[test]
fn bandings_are_those_of_datasketch() {
    for (threshold, expected) in [
        (
            0.5,
            [
                (1, 8),
                (1, 8),
                (1, 8),
                (1, 8),
                (12, 5),
                (19, 2),
                (13, 1),
                (41, 1),
                (64, 1),
                (64, 1),
            ],
        ),
        (
            0.8,
            [
                (1, 8),
                (1, 8),
                (1, 8),
                (1, 8),
                (1, 8),
                (16, 4),
                (21, 3),
                (21, 3),
                (21, 3),
                (21, 3),
            ],
        ),
    ] {
        let containment = Containment::new(threshold);
        let bandings = ratios().map(|ratio| containment.banding(64, ratio).unwrap());
        let bandings: Vec<_> = bandings.map(|b| (b.bands(), b.rows())).collect();
        assert_eq!(bandings, expected);
    }
}

#[test]
fn ratios_are_those_of_datasketch() {
    let ratios: Vec<f64> = ratios().collect();
    assert_eq!(ratios.len(), 10);
    assert!((ratios[0].ln() + 5.0).abs() < 1e-12 && (ratios[9].ln() - 5.0).abs() < 1e-12);
    assert!((ratios[5].ln() - 5.0 / 9.0).abs() < 1e-12);
}

#[test]
fn an_empty_ensemble_finds_nothing() {
    let none = Signatures::new(NUM_PERM, Width::U32);
    let ensemble = LshEnsemble::new(Containment::new(0.5), 16, &none, &[]).unwrap();
    assert!(ensemble.is_empty());
    assert!(ensemble.query(Slots::U32(&[0; 12]), 5).unwrap().is_empty());
}

#[test]
fn parameters_out_of_range_are_errors() {
    let (signatures, sizes) = sets(3);
    let good = Containment {
        max_rows: 12,
        ..Containment::new(1.0)
    };
    let of = |containment, partitions, sizes: &[u64]| {
        LshEnsemble::new(containment, partitions, &signatures, sizes)
    };
    assert!(of(good, 1, &sizes).is_ok());
    assert!(of(good, 0, &sizes).is_err());
    assert!(of(good, 1, &sizes[..2]).is_err());
    assert!(of(good, 1, &[4, 0, 4]).is_err());
    assert!(
        of(
            Containment {
                max_rows: 13,
                ..good
            },
            1,
            &sizes
        )
        .is_err()
    );
    assert!(
        of(
            Containment {
                max_rows: 0,
                ..good
            },
            1,
            &sizes
        )
        .is_err()
    );
    for threshold in [-0.1, 1.1, f64::NAN] {
        assert!(Containment::new(threshold).banding(12, 1.0).is_err());
    }
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(good.banding(12, ratio).is_err());
    }
    assert!(good.banding(0, 1.0).is_err());
    let ensemble = of(good, 2, &sizes).unwrap();
    assert!(ensemble.query(Slots::U32(&[0; 12]), 0).is_err());
    assert!(ensemble.query(Slots::U64(&[0; 12]), 1).is_err());
    assert!(ensemble.query(Slots::U32(&[0; 3]), 1).is_err());
}
