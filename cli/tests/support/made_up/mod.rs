//! Made-up results: tables by formula, as large and noisy as real ones.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::cast_possible_truncation, reason = "numbers are small")]

mod quality;

use serde_json::{Value, json};
use simgpu_bench::{Absence, Stage, Tables, TimedRun};

use quality::Noise;

/// Size and noise of a made-up folder.
#[derive(Clone, Debug)]
pub(crate) struct MadeUp {
    pub(crate) schemes: Vec<&'static str>,
    pub(crate) rounds: u32,
    /// Noise of a run, as a share of its time.
    pub(crate) noise: f64,
    /// Seed of the noise.
    pub(crate) seed: u64,
}

/// The device of the made-up machine.
pub(crate) const DEVICE: &str = "NVIDIA H200 NVL";

impl MadeUp {
    /// The least that fills every table.
    pub(crate) fn small() -> Self {
        MadeUp {
            schemes: vec!["affine32", "fast"],
            rounds: 6,
            noise: 0.02,
            seed: 1,
        }
    }

    /// As much as a long measurement.
    pub(crate) fn realistic() -> Self {
        MadeUp {
            schemes: simgpu_bench::SCHEMES.to_vec(),
            rounds: 12,
            ..MadeUp::small()
        }
    }

    pub(crate) fn tables(&self) -> Tables {
        Tables {
            runs: self.runs(),
            errors: self.errors(),
            candidates: self.candidates(),
            found: self.found(),
            absent: vec![Absence {
                what: "gpu rensa".to_owned(),
                why: "the scheme has no kernel; use simd".to_owned(),
            }],
        }
    }

    fn runs(&self) -> Vec<TimedRun> {
        let mut cases = self.signing();
        cases.extend(self.stages());
        cases.extend(self.peers());
        let rounds = 1..=self.rounds;
        let runs = rounds.flat_map(|round| cases.iter().map(move |case| (round, case)));
        let measured = runs.enumerate().map(|(number, (round, case))| {
            let mut noise = Noise(self.seed.wrapping_mul(1_000_003) + number as u64);
            TimedRun {
                round,
                elapsed_s: case.elapsed_s * (1.0 + self.noise * noise.normal()),
                reference_s: Some(0.001 * (1.0 + 0.01 * noise.normal())),
                ..case.clone()
            }
        });
        measured.collect()
    }

    fn signing(&self) -> Vec<TimedRun> {
        let computers = [
            ("scalar", "", 0.12),
            ("simd", "portable", 0.3),
            ("simd", "avx2", 0.55),
            ("simd", "avx512", 1.0),
            ("gpu", DEVICE, 9.0),
            ("hybrid", DEVICE, 10.0),
        ];
        let mut cases = Vec::new();
        for (i, scheme) in self.schemes.iter().enumerate() {
            let speed = 250e6 / (1.0 + i as f64);
            let on = |(backend, hardware, factor): (&str, &str, f64), shingles, num_perm| {
                let few = 1.0 - 0.3 * (30.0 / shingles as f64);
                let speed = speed * factor * few * 128.0 / f64::from(num_perm);
                let mut case = sign(scheme, shingles, num_perm, speed);
                (case.backend, case.hardware) = (backend.to_owned(), hardware.to_owned());
                if hardware == DEVICE {
                    case.ceiling_updates_per_s = None;
                    case.threads = 16;
                }
                case
            };
            let all = || computers.into_iter();
            cases.extend(all().map(|computer| on(computer, 1000, 128)));
            let swept = all().filter(|(_, hardware, _)| ["avx512", DEVICE].contains(hardware));
            for computer in swept {
                cases.extend([30, 100, 300, 5000, 50_000].map(|length| on(computer, length, 128)));
                cases.extend([64, 256, 512, 1024].map(|slots| on(computer, 1000, slots)));
            }
            let threads = |threads: u32| TimedRun {
                threads,
                ..sign(scheme, 1000, 128, speed * f64::from(threads).powf(0.93))
            };
            cases.extend([2, 4, 8, 16].map(threads));
        }
        cases
    }

    fn stages(&self) -> Vec<TimedRun> {
        let mut cases = Vec::new();
        let sized = |stage, input: &str, documents: u64, ns: f64| TimedRun {
            stage,
            input: input.to_owned(),
            documents,
            elapsed_s: documents as f64 * ns * 1e-9,
            ..blank()
        };
        for (input, ns) in [
            ("words 5 of driver-docs", 4_600.0),
            ("bytes 9 of driver-docs", 15_400.0),
        ] {
            for (threads, speed) in [(1, 1.0), (2, 1.8), (4, 3.4)] {
                cases.push(TimedRun {
                    threads,
                    backend: "simd".to_owned(),
                    hardware: "avx512".to_owned(),
                    scheme: "affine32".to_owned(),
                    num_perm: 128,
                    text_bytes: 23_400_000,
                    checksum: "1f3a".to_owned(),
                    ..sized(Stage::SignTexts, input, 7200, ns / speed)
                });
            }
            let shingle = sized(Stage::Shingle, input, 7200, ns * 0.8);
            cases.push(TimedRun {
                text_bytes: 23_400_000,
                ..shingle
            });
        }
        for documents in [10_000, 100_000, 1_000_000] {
            let log = (documents as f64).log10();
            for (stage, ns) in [
                (Stage::Band, 90.0),
                (Stage::Bucket, 60.0 * log),
                (Stage::Verify, 45.0),
            ] {
                cases.push(TimedRun {
                    num_perm: 128,
                    ..sized(stage, "random signatures", documents, ns)
                });
            }
        }
        for (documents, threads) in [(1800, 1), (3600, 1), (7200, 1), (7200, 2)] {
            cases.push(TimedRun {
                backend: "simd".to_owned(),
                hardware: "avx512".to_owned(),
                scheme: "affine32".to_owned(),
                num_perm: 128,
                threads,
                text_bytes: documents * 3_250,
                ..sized(
                    Stage::Dedup,
                    "driver-docs",
                    documents,
                    30_000.0 / f64::from(threads),
                )
            });
        }
        for (backend, ns) in [("gpu", 9_000.0), ("hybrid", 8_000.0)] {
            let on_device = |stage, input| TimedRun {
                backend: backend.to_owned(),
                hardware: DEVICE.to_owned(),
                scheme: "affine32".to_owned(),
                num_perm: 128,
                threads: 16,
                text_bytes: 23_400_000,
                checksum: "1f3a".to_owned(),
                ..sized(stage, input, 7200, ns)
            };
            cases.extend([
                on_device(Stage::SignTexts, "words 5 of driver-docs"),
                on_device(Stage::SignTexts, "bytes 9 of driver-docs"),
                on_device(Stage::Dedup, "driver-docs"),
            ]);
        }
        for (stage, ns) in [
            (Stage::Upload, 90.0),
            (Stage::Kernel, 14.0),
            (Stage::Readback, 30.0),
        ] {
            cases.push(TimedRun {
                backend: "gpu".to_owned(),
                hardware: DEVICE.to_owned(),
                scheme: "affine32".to_owned(),
                num_perm: 128,
                shingles: 1000,
                ..sized(stage, "random hashes", 20_000, ns)
            });
        }
        cases
    }

    fn peers(&self) -> Vec<TimedRun> {
        let peers = [
            ("rensa 0.5.0", "rensa", 0.62, true),
            ("FastSketchLSH 1.0.1", "fast similarity sketch", 0.25, false),
            ("datasketch 2.0.0", "affine32", 0.03, true),
            (
                "stringzillas 5.3.2",
                "rolling hashes of 8 bytes",
                0.02,
                false,
            ),
        ];
        let mut cases = Vec::new();
        for shingles in [30, 100, 1000, 5000] {
            for num_perm in [64, 128, 256] {
                for (i, (tool, scheme, share, is_batch)) in peers.into_iter().enumerate() {
                    // Some peers are best at small sets.
                    let odd = (shingles + u64::from(num_perm)) as f64 % 7.0 / 10.0;
                    let small = if is_batch && shingles == 30 { 1.8 } else { 1.0 };
                    let speed = 250e6 * share * small * (0.8 + odd) * 128.0 / f64::from(num_perm);
                    cases.push(TimedRun {
                        tool: tool.to_owned(),
                        backend: String::new(),
                        hardware: String::new(),
                        checksum: if i == 2 {
                            "00c0ffee".to_owned()
                        } else {
                            String::new()
                        },
                        ..sign(scheme, shingles, num_perm, speed)
                    });
                }
            }
        }
        for (tool, ns) in [
            ("text-dedup 0.4.0", 1_500_000.0),
            ("datatrove 0.10.1", 6_000_000.0),
        ] {
            cases.push(TimedRun {
                tool: tool.to_owned(),
                stage: Stage::Dedup,
                input: "driver-docs".to_owned(),
                scheme: "its own".to_owned(),
                num_perm: 128,
                documents: 7200,
                text_bytes: 23_400_000,
                elapsed_s: 7200.0 * ns * 1e-9,
                ..blank()
            });
        }
        cases
    }
}

/// The environment of a machine with such results.
pub(crate) fn environment() -> Value {
    json!({
        "date": "2026-01-31",
        "cpu": "Example CPU 9000 @ 3.00GHz",
        "isas": ["portable", "avx2", "avx512"],
        "cores": 16,
        "memory_bytes": 68_719_476_736_u64,
        "os": "linux 6.1.0",
        "architecture": "x86_64",
        "gpus": [{"name": "NVIDIA H200 NVL", "kind": "discrete", "api": "vulkan", "driver": "NVIDIA 570.1"}],
        "simgpu": "0.1.0",
        "rustc": "rustc 1.95.0",
        "target": "x86_64-unknown-linux-gnu",
        "flags": "",
        "target_features": "fxsr,sse,sse2",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "uncommitted_changes": false,
    })
}

fn blank() -> TimedRun {
    TimedRun {
        tool: "simgpu".to_owned(),
        stage: Stage::Sign,
        backend: String::new(),
        hardware: String::new(),
        scheme: String::new(),
        num_perm: 0,
        input: String::new(),
        shingles: 0,
        documents: 0,
        threads: 1,
        updates: 0,
        text_bytes: 0,
        round: 1,
        passes: 1,
        elapsed_s: 1.0,
        reference_s: None,
        ceiling_updates_per_s: None,
        checksum: String::new(),
    }
}

/// Hashes signed with the best instructions at a given speed.
fn sign(scheme: &str, shingles: u64, num_perm: u32, shingles_per_s: f64) -> TimedRun {
    let documents = 4_000_000 / shingles;
    let computes_each = !matches!(scheme, "fast" | "rensa");
    let updates = documents * shingles * u64::from(num_perm);
    TimedRun {
        backend: "simd".to_owned(),
        hardware: "avx512".to_owned(),
        scheme: scheme.to_owned(),
        num_perm,
        input: "random hashes".to_owned(),
        shingles,
        documents,
        updates: if computes_each { updates } else { 0 },
        elapsed_s: (documents * shingles) as f64 / shingles_per_s,
        ceiling_updates_per_s: computes_each.then_some(34e9),
        checksum: format!(
            "{:08x}",
            scheme.len() as u64 * 977 + shingles * u64::from(num_perm)
        ),
        ..blank()
    }
}
