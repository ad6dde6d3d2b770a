//! Many trials of one kind of pair.

use rayon::prelude::*;

use super::cell::{Errors, Estimates, Outcome};
use super::input::{Input, Pairs, shared_sizes};
use super::random::Random;
use super::signing::Signing;
use crate::bench::{Absence, ErrorCell, Varied};
use simgpu::Result;
use simgpu::pipeline::{PackedSignatures, Signatures, Signer, SlotBits};

/// Pairs of sets of one size, of one input, at several similarities, and how often they are signed.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// What sets are made of.
    pub input: &'a Input,
    /// What is drawn anew for each trial.
    pub varied: Varied,
    /// Elements of each set.
    pub set_size: usize,
    /// Similarities that are asked for; the nearest that sets of this size can have are taken.
    pub similarities: &'a [f64],
    /// Slots of a signature.
    pub num_perm: u32,
    /// What is kept of slots, beside all of them.
    pub slot_bits: &'a [SlotBits],
    /// Signatures of each pair, or pairs.
    pub trials: usize,
}

/// What came of one trial.
struct Trial {
    similarities: Vec<f64>,
    /// Slots that agree, `[signings, kept, pairs]`.
    matches: Vec<usize>,
}

impl Series<'_> {
    /// Signs all pairs by each of `signings`: a cell for each, each similarity and each number of bits that are kept.
    /// None where the input is too small. The same numbers for any number of threads.
    ///
    /// # Errors
    /// What signing fails with.
    pub fn measure(&self, signings: &[Signing]) -> Result<Vec<ErrorCell>> {
        let shared = shared_sizes(self.set_size, self.similarities);
        let draw = |trial: u64| {
            let mut random = Random::of(&[self.set_size as u64, trial]);
            self.input.draw(self.set_size, &shared, &mut random)
        };
        let Some(pairs) = draw(0).filter(|_| self.trials > 1) else {
            return Ok(Vec::new());
        };
        let open = |signing: &Signing, seed| (signing.open)(self.num_perm, seed);
        let results: Result<Vec<Trial>> = match self.varied {
            Varied::Seeds => (0..self.trials)
                .into_par_iter()
                .map(|trial| {
                    let seed = self.seed(trial as u64);
                    let signers = signings.iter().map(|signing| open(signing, seed));
                    self.trial(signings, &signers.collect::<Result<Vec<_>>>()?, &pairs)
                })
                .collect(),
            Varied::Data => {
                let seed = self.seed(0);
                let signers = signings.iter().map(|signing| open(signing, seed));
                let signers = signers.collect::<Result<Vec<_>>>()?;
                let draws = (0..self.trials as u64).into_par_iter().filter_map(draw);
                draws
                    .map(|pairs| self.trial(signings, &signers, &pairs))
                    .collect()
            }
        };
        self.cells(signings, &results?)
    }

    /// Says that nothing came of it.
    pub(super) fn absence(&self) -> Absence {
        Absence {
            what: format!("errors of {}, sets of {}", self.input.name(), self.set_size),
            why: "the corpus has too few shingles for such a set; name a larger one with --input"
                .to_owned(),
        }
    }

    /// The seed of a trial, another for each input, set size and number of slots.
    #[allow(clippy::cast_possible_truncation, reason = "a seed has 32 bits")]
    fn seed(&self, trial: u64) -> u32 {
        let name = self.input.name().bytes().map(u64::from);
        let mut key: Vec<u64> = name.collect();
        key.extend([self.set_size as u64, u64::from(self.num_perm), trial]);
        Random::of(&key).next_u64() as u32
    }

    /// What is kept of slots: all, then so many bits.
    fn kept(&self) -> impl Iterator<Item = Option<SlotBits>> {
        std::iter::once(None).chain(self.slot_bits.iter().copied().map(Some))
    }

    fn trial(
        &self,
        signings: &[Signing],
        signers: &[Box<dyn Signer>],
        pairs: &Pairs,
    ) -> Result<Trial> {
        let others = 1..=pairs.similarities.len();
        let mut matches = Vec::new();
        for (signing, signer) in signings.iter().zip(signers) {
            let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
            signatures.sign(&**signer, &pairs.sets(signing.hash_width)?)?;
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

    /// A cell for each column of the trials' matches.
    fn cells(&self, signings: &[Signing], trials: &[Trial]) -> Result<Vec<ErrorCell>> {
        let estimates = |bits| Ok((bits, Estimates::new(self.num_perm, bits)?));
        let kept = self.kept().map(estimates).collect::<Result<Vec<_>>>()?;
        let pairs = trials.first().map_or(0, |trial| trial.similarities.len());
        // What was asked for can come to the same.
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
        for (scheme, signing) in signings.iter().enumerate() {
            for (of_kept, (bits, estimates)) in kept.iter().enumerate() {
                for pair in shown.iter().copied() {
                    let column = (scheme * kept.len() + of_kept) * pairs + pair;
                    let outcome = |trial: &Trial| {
                        Some(Outcome {
                            matches: *trial.matches.get(column)?,
                            similarity: *trial.similarities.get(pair)?,
                        })
                    };
                    let outcomes: Vec<Outcome> = trials.iter().filter_map(outcome).collect();
                    let slot_bits = bits.map_or(signing.slot_bits, SlotBits::get);
                    cells.push(self.cell(signing, slot_bits, estimates.errors(&outcomes)));
                }
            }
        }
        Ok(cells)
    }

    fn cell(&self, signing: &Signing, slot_bits: u32, errors: Errors) -> ErrorCell {
        let ratio = |end: usize| errors.ratio.and_then(|ratio| ratio.get(end).copied());
        ErrorCell {
            tool: "simgpu".to_owned(),
            scheme: signing.name.clone(),
            has_independent_slots: signing.has_independent_slots,
            is_mixed: signing.is_mixed,
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
            fit_p: errors.fit_p.filter(|_| signing.has_independent_slots),
        }
    }
}
