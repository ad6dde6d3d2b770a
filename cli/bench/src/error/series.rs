//! Many trials of one kind of pair.

use rayon::prelude::*;

use super::cell::{Errors, Estimates, TrialOutcome};
use super::input::{SetPairs, SetSource, shared_sizes};
use super::random::SplitMix64;
use super::signing_function::SigningFunction;
use crate::targets::check_notices;
use crate::{Absence, ErrorCell, Varied};
use simgpu::Result;
use simgpu::pipeline::{PackedSignatures, Signatures, Signer, SlotBits};

/// Pairs of sets of one size and input at several similarities, and the number of trials.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Kind of elements.
    pub input: &'a SetSource,
    /// What each trial draws anew.
    pub varied: Varied,
    /// Elements per set.
    pub set_size: usize,
    /// Requested similarities; sets have the closest ones that their size allows.
    pub similarities: &'a [f64],
    /// Slots per signature.
    pub num_perm: u32,
    /// Numbers of bits to keep per slot, in addition to whole slots.
    pub slot_bits: &'a [SlotBits],
    /// Number of trials.
    pub trials: usize,
}

/// Result of one trial.
struct Trial {
    similarities: Vec<f64>,
    /// Matching slots, `[functions, kept, pairs]`.
    matches: Vec<usize>,
}

impl Series<'_> {
    /// Signs all pairs with each of `functions`. Returns one cell per function, similarity and number of kept bits; none
    /// if the input is too small. Cells do not depend on the number of threads.
    ///
    /// # Errors
    /// Errors of signing.
    pub fn measure(&self, functions: &[SigningFunction]) -> Result<Vec<ErrorCell>> {
        let shared = shared_sizes(self.set_size, self.similarities);
        let draw = |trial: u64| {
            let mut random = SplitMix64::of(&[self.set_size as u64, trial]);
            self.input.draw(self.set_size, &shared, &mut random)
        };
        let Some(pairs) = draw(0).filter(|_| self.trials > 1) else {
            return Ok(Vec::new());
        };
        let new_signer =
            |function: &SigningFunction, seed| (function.new_signer)(self.num_perm, seed);
        let results: Result<Vec<Trial>> = match self.varied {
            Varied::Seeds => (0..self.trials)
                .into_par_iter()
                .map(|trial| {
                    let seed = self.seed(trial as u64);
                    let signers = functions.iter().map(|function| new_signer(function, seed));
                    self.trial(functions, &signers.collect::<Result<Vec<_>>>()?, &pairs)
                })
                .collect(),
            Varied::Data => {
                let seed = self.seed(0);
                let signers = functions.iter().map(|function| new_signer(function, seed));
                let signers = signers.collect::<Result<Vec<_>>>()?;
                let draws = (0..self.trials as u64).into_par_iter().filter_map(draw);
                let trials = draws
                    .map(|pairs| self.trial(functions, &signers, &pairs))
                    .collect();
                signers
                    .iter()
                    .try_for_each(|signer| check_notices(&**signer))?;
                trials
            }
        };
        self.cells(functions, &results?)
    }

    /// The absence of a series without trials.
    pub(super) fn absence(&self) -> Absence {
        Absence {
            what: format!("errors of {}, sets of {}", self.input.name(), self.set_size),
            why: "the corpus has too few shingles for a set of this size; name a larger one with --input"
                .to_owned(),
        }
    }

    /// Seed of a trial; differs between inputs, set sizes and numbers of slots.
    #[allow(clippy::cast_possible_truncation, reason = "a seed has 32 bits")]
    fn seed(&self, trial: u64) -> u32 {
        let name = self.input.name().bytes().map(u64::from);
        let mut key: Vec<u64> = name.collect();
        key.extend([self.set_size as u64, u64::from(self.num_perm), trial]);
        SplitMix64::of(&key).next_u64() as u32
    }

    /// Whole slots (`None`), then each number of kept bits.
    fn kept(&self) -> impl Iterator<Item = Option<SlotBits>> {
        std::iter::once(None).chain(self.slot_bits.iter().copied().map(Some))
    }

    fn trial(
        &self,
        functions: &[SigningFunction],
        signers: &[Box<dyn Signer>],
        pairs: &SetPairs,
    ) -> Result<Trial> {
        let others = 1..=pairs.similarities.len();
        let mut matches = Vec::new();
        for (function, signer) in functions.iter().zip(signers) {
            let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
            signatures.sign(&**signer, &pairs.sets(function.hash_width)?)?;
            for kept in self.kept() {
                let packed = kept.map(|bits| PackedSignatures::of(&signatures, bits));
                let count = |other| match &packed {
                    None => signatures.matches(0, other),
                    Some(packed) => packed.matches(0, other),
                };
                matches.extend(others.clone().map(count));
            }
        }
        Ok(Trial {
            similarities: pairs.similarities.clone(),
            matches,
        })
    }

    /// One cell per distinct column of matches.
    fn cells(&self, functions: &[SigningFunction], trials: &[Trial]) -> Result<Vec<ErrorCell>> {
        let estimates = |bits| Ok((bits, Estimates::new(self.num_perm, bits)?));
        let kept = self.kept().map(estimates).collect::<Result<Vec<_>>>()?;
        let pairs = trials.first().map_or(0, |trial| trial.similarities.len());
        // Two requested similarities can have one closest similarity.
        let is_repeat = |pair: usize| {
            let is_same = |earlier: usize| {
                let of = |trial: &Trial, pair: usize| trial.similarities.get(pair).copied();
                trials
                    .iter()
                    .all(|trial| of(trial, earlier) == of(trial, pair))
            };
            (0..pair).any(is_same)
        };
        let shown: Vec<usize> = (0..pairs).filter(|pair| !is_repeat(*pair)).collect();
        let mut cells = Vec::new();
        for (scheme, function) in functions.iter().enumerate() {
            for (form, (bits, estimates)) in kept.iter().enumerate() {
                for pair in shown.iter().copied() {
                    let column = (scheme * kept.len() + form) * pairs + pair;
                    let outcome = |trial: &Trial| {
                        Some(TrialOutcome {
                            matches: *trial.matches.get(column)?,
                            similarity: *trial.similarities.get(pair)?,
                        })
                    };
                    let outcomes: Vec<TrialOutcome> = trials.iter().filter_map(outcome).collect();
                    let slot_bits = bits.map_or(function.slot_bits, SlotBits::get);
                    cells.push(self.cell(function, slot_bits, estimates.errors(&outcomes)));
                }
            }
        }
        Ok(cells)
    }

    fn cell(&self, function: &SigningFunction, slot_bits: u32, errors: Errors) -> ErrorCell {
        let ratio = |end: usize| errors.ratio.and_then(|ratio| ratio.get(end).copied());
        ErrorCell {
            tool: "simgpu".to_owned(),
            backend: function.backend.clone(),
            hardware: function.hardware.clone(),
            scheme: function.name.clone(),
            has_independent_slots: function.has_independent_slots,
            is_mixed: function.is_mixed,
            slot_bits,
            num_perm: self.num_perm,
            input: self.input.name().to_owned(),
            varied: self.varied,
            set_size: self.set_size as u64,
            similarity: errors.similarity,
            trials: errors.trials,
            bias: errors.bias,
            bias_standard_error: errors.bias_standard_error,
            root_mean_square_error: errors.root_mean_square_error,
            error_ratio: ratio(0),
            error_ratio_low: ratio(1),
            error_ratio_high: ratio(2),
            coverage: errors.coverage,
            coverage_expected: errors.coverage_expected,
            dispersion: errors.dispersion,
            fit_p: errors.fit_p.filter(|_| function.has_independent_slots),
        }
    }
}
