//! Made-up errors, candidates and pairs found.

use simgpu_bench::{CandidateCount, ErrorCell, PipelineResult, Varied};

use super::{DEVICE, MadeUp};

impl MadeUp {
    pub(super) fn errors(&self) -> Vec<ErrorCell> {
        let mut cells = Vec::new();
        for scheme in &self.schemes {
            for input in ["random", "interval", "progression", "zipf", "edits"] {
                for set_size in [2, 8, 32, 128, 1000, 10_000] {
                    for similarity in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95] {
                        let shared =
                            (2.0 * set_size as f64 * similarity / (1.0 + similarity)).round();
                        let attained = shared / (2.0 * set_size as f64 - shared);
                        let has_repeat = cells.iter().any(|cell: &ErrorCell| {
                            cell.scheme == *scheme
                                && cell.input == input
                                && cell.set_size == set_size
                                && cell.similarity == attained
                        });
                        if !has_repeat {
                            cells.push(self.error(scheme, input, set_size, attained, 128));
                        }
                    }
                }
            }
            cells.extend(
                [16, 64, 256, 1024]
                    .map(|num_perm| self.error(scheme, "random", 1000, 0.5, num_perm)),
            );
            cells.push(self.error(scheme, "random", 1000, 0.5, 128));
        }
        cells.dedup();
        for scheme in &self.schemes {
            for similarity in [0.5, 0.9] {
                let cell = ErrorCell {
                    varied: Varied::Data,
                    trials: 700,
                    ..self.error(scheme, "random", 1000, similarity, 128)
                };
                let by = [
                    ("simd", "avx512"),
                    ("scalar", ""),
                    ("gpu", DEVICE),
                    ("hybrid", DEVICE),
                ];
                cells.extend(by.map(|(backend, hardware)| ErrorCell {
                    backend: backend.to_owned(),
                    hardware: hardware.to_owned(),
                    ..cell.clone()
                }));
            }
        }
        cells.extend([1, 2, 4, 8, 16].map(|slot_bits| {
            let mut cell = self.error("affine32", "random", 1000, 0.5, 128);
            cell.slot_bits = slot_bits;
            let worse = 1.0 + 0.5 / f64::from(slot_bits);
            cell.root_mean_square_error *= worse;
            cell
        }));
        cells
    }

    fn error(
        &self,
        scheme: &str,
        input: &str,
        set_size: u64,
        similarity: f64,
        num_perm: u32,
    ) -> ErrorCell {
        let ideal = (similarity * (1.0 - similarity) / f64::from(num_perm)).sqrt();
        let is_mixed = matches!(scheme, "affine32" | "affine64" | "fast" | "rensa");
        let is_dependent = matches!(scheme, "fast" | "rensa");
        let key = set_size * 31
            + (similarity * 1000.0) as u64
            + input.len() as u64 * 7
            + scheme.len() as u64 * 101;
        let mut noise = Noise(self.seed.wrapping_mul(77) + key);
        let bias = if is_mixed || !matches!(input, "interval" | "progression") || set_size < 8 {
            ideal / 63.0 * noise.normal().clamp(-2.0, 2.0)
        } else {
            -0.067 * 4.0 * similarity * (1.0 - similarity)
        };
        let smaller = if is_dependent && set_size < 200 {
            0.72
        } else {
            1.0
        };
        let spread = ideal * smaller * (1.0 + 0.01 * noise.normal());
        let error = spread.hypot(bias);
        let ratio = (ideal > 0.0).then_some(error / ideal);
        ErrorCell {
            tool: "simgpu".to_owned(),
            backend: "simd".to_owned(),
            hardware: "avx512".to_owned(),
            scheme: scheme.to_owned(),
            has_independent_slots: !is_dependent,
            is_mixed,
            slot_bits: if scheme.contains("64") || scheme.contains("61") {
                64
            } else {
                32
            },
            num_perm,
            input: input.to_owned(),
            varied: if input == "edits" {
                Varied::Data
            } else {
                Varied::Seeds
            },
            set_size,
            similarity,
            trials: 4000,
            bias,
            bias_standard_error: spread / 63.2,
            root_mean_square_error: error,
            error_ratio: ratio,
            error_ratio_low: ratio.map(|ratio| ratio * 0.978),
            error_ratio_high: ratio.map(|ratio| ratio * 1.022),
            coverage: (0.957 - 2.0 * bias.abs()).clamp(0.0, 1.0),
            coverage_expected: 0.957,
            dispersion: ratio.map(|ratio| ratio * ratio),
            fit_p: (!is_dependent).then(|| 0.003 + 0.9 * noise.uniform()),
        }
    }

    pub(super) fn candidates(&self) -> Vec<CandidateCount> {
        let schemes = self.schemes.iter().enumerate();
        let rows = schemes.flat_map(|(i, scheme)| self.candidates_of(scheme, i as u64));
        rows.collect()
    }

    fn candidates_of(&self, scheme: &str, number: u64) -> Vec<CandidateCount> {
        let mut rows = Vec::new();
        for (bands, in_band) in [(16_u32, 8_u32), (32, 4), (9, 13), (20, 5)] {
            for step in 1..=19_u32 {
                let similarity = f64::from(step) / 20.0;
                let share = 1.0 - (1.0 - similarity.powf(in_band.into())).powf(bands.into());
                let reach = 1.96 * (share * (1.0 - share) / 2000.0).sqrt();
                let mut noise =
                    Noise(self.seed + u64::from(step) * 13 + u64::from(bands) + number * 1009);
                let measured = (share + reach * 0.5 * noise.normal()).clamp(0.0, 1.0);
                rows.push(CandidateCount {
                    scheme: scheme.to_owned(),
                    num_perm: 128,
                    bands,
                    rows: in_band,
                    similarity,
                    pairs: 2000,
                    candidates: (measured * 2000.0).round() as u64,
                    expected_share: share,
                    low_share: (share - reach).max(0.0),
                    high_share: (share + reach).min(1.0),
                });
            }
        }
        rows
    }

    pub(super) fn found(&self) -> Vec<PipelineResult> {
        let mut rows = Vec::new();
        for (verification, false_found) in [("exact", 0), ("signature", 21)] {
            for seed in 1..=3 {
                rows.push(PipelineResult {
                    tool: "simgpu".to_owned(),
                    corpus: "driver-docs".to_owned(),
                    scheme: "affine32".to_owned(),
                    num_perm: 128,
                    bands: 16,
                    rows: 8,
                    verification: verification.to_owned(),
                    threshold: 0.8,
                    seed,
                    documents: 7200,
                    true_pairs: 1060,
                    true_found: 1050 + u64::from(seed),
                    false_found,
                    expected_recall: 0.9925,
                    kept: None,
                    kept_by_truth: None,
                    elapsed_s: Some(0.25),
                });
            }
        }
        let kept = |tool: &str, scheme: &str, kept| PipelineResult {
            tool: tool.to_owned(),
            scheme: scheme.to_owned(),
            true_pairs: 0,
            true_found: 0,
            false_found: 0,
            kept: Some(kept),
            kept_by_truth: Some(6_608),
            elapsed_s: None,
            ..rows[3].clone()
        };
        let join = PipelineResult {
            scheme: "exact join".to_owned(),
            num_perm: 0,
            bands: 0,
            rows: 0,
            seed: 0,
            true_found: 1060,
            expected_recall: 1.0,
            kept: Some(6_608),
            kept_by_truth: Some(6_608),
            elapsed_s: Some(0.35),
            ..rows[0].clone()
        };
        let kept = [
            join,
            kept("simgpu", "affine32", 6_612),
            kept("text-dedup 0.4.0", "its own", 6_590),
            kept("datatrove 0.10.1", "its own", 6_581),
        ];
        rows.extend(kept);
        rows
    }
}

/// Reproducible random numbers (SplitMix64).
pub(super) struct Noise(pub(super) u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal with variance 1: the sum of twelve uniform numbers.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
