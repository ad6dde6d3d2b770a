//! Devices that fail: the CPU signs what is missing, and the values are the same.
#![cfg(all(feature = "gpu", feature = "internals"))]

#[path = "support/gpu.rs"]
mod support;

use simgpu::backend::Backend;
use simgpu::backend::gpu::{Bounds, GpuOptions, Hooks};
use simgpu::scheme::Scheme;
use support::{Sets, gpu, has_adapter, signer, tiny, within};

/// Loses the device between two loads of one call. What it signed before counts, and the CPU signs the rest.
#[test]
fn a_lost_device_changes_no_value() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[300, 0, 5000, 1, 70_000, 12, 900], 4);
    for name in ["affine32", "mersenne61-wide"] {
        let scheme = Scheme::named(name).unwrap().with_num_perm(20).unwrap();
        let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
        for backend in [Backend::Gpu, Backend::Hybrid] {
            for lose_after in 1..6 {
                let options = GpuOptions {
                    hooks: Hooks {
                        bounds: tiny(),
                        lose_after: Some(lose_after),
                        ..Hooks::default()
                    },
                    ..GpuOptions::default()
                };
                let signer = signer(backend, &scheme, options);
                assert!(sets.sign(&*signer) == expected, "{name} {lose_after}");
                let notices = signer.notices();
                // In a hybrid run on busy cores, the CPU may sign so much that the device gets fewer loads.
                let least = usize::from(backend == Backend::Gpu);
                assert!((least..=1).contains(&notices.len()), "{notices:?}");
                assert!(
                    notices.iter().all(|notice| notice.contains("lost")),
                    "{notices:?}"
                );
                // One notice only, and the signer goes on.
                assert!(sets.sign(&*signer) == expected, "{name} {lose_after}");
                assert!(notices.len() + signer.notices().len() <= 1);
            }
        }
    }
}

#[test]
fn a_device_that_times_out_changes_no_value() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[300_000, 0, 5000], 5);
    let scheme = Scheme::default();
    let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
    let bounds = Bounds {
        timeout: std::time::Duration::ZERO,
        ..Bounds::default()
    };
    let signer = gpu(&scheme, within(bounds));
    assert!(sets.sign(&*signer) == expected);
    let notices = signer.notices();
    assert!(
        notices.len() == 1 && notices[0].contains("no answer"),
        "{notices:?}"
    );
}
