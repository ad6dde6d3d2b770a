//! Whether a GPU is worth it: a quick measurement, once a process for a scheme.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::device::{adapters, lock};
use super::{Gpu, GpuOptions, kernel};
use crate::error::Result;
use crate::pipeline::{
    Hashes, ShingleSets, Shingler, Signatures, SignaturesMut, Signer, TextBatch,
};
use crate::scheme::{Family, Permutations, Width, fmix64};

/// What decides who is faster.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    device: usize,
    family: Family,
    num_perm: usize,
    cpu: String,
}

/// Seconds that each took for the same sets.
#[derive(Clone, Copy, Debug)]
struct Answer {
    gpu: Duration,
    cpu: Duration,
}

/// A signer that was chosen among two, and why.
struct Chosen {
    signer: Box<dyn Signer>,
    why: String,
}

/// The faster of a GPU and `cpu`, which alone is there if the machine has no adapter but software, or its
/// device cannot compute the family.
pub(in crate::backend) fn choose(
    permutations: &Permutations,
    empty: u64,
    options: &GpuOptions,
    cpu: impl Fn() -> Box<dyn Signer>,
) -> Box<dyn Signer> {
    let number = options.device.unwrap_or(0);
    let adapters = adapters();
    let Some(adapter) = adapters.get(number).filter(|adapter| !adapter.is_software) else {
        return cpu();
    };
    let family = permutations.family();
    if kernel::check(family, adapter.integers()).is_err() {
        return cpu();
    }
    let gpu = match Gpu::new(permutations, empty, options, cpu(), false) {
        Ok(gpu) => gpu,
        Err(error) => return Box::new(Chosen::new(cpu(), error.to_string())),
    };
    faster(number, family, gpu, cpu())
}

fn faster(device: usize, family: Family, gpu: Gpu, cpu: Box<dyn Signer>) -> Box<dyn Signer> {
    static ANSWERS: Mutex<Vec<(Question, Answer)>> = Mutex::new(Vec::new());
    let question = Question {
        device,
        family,
        num_perm: cpu.num_perm(),
        cpu: cpu.describe(),
    };
    let known = |answers: &[(Question, Answer)]| {
        let of_it = answers.iter().find(|(asked, _)| *asked == question);
        of_it.map(|(_, answer)| *answer)
    };
    let mut answers = lock(&ANSWERS);
    let answer = match known(&answers) {
        Some(answer) => answer,
        None => match (time(&gpu), time(&*cpu)) {
            (Ok(gpu), Ok(cpu)) => {
                let answer = Answer { gpu, cpu };
                answers.push((question, answer));
                answer
            }
            // Its errors show where the sets are the user's.
            _ => return cpu,
        },
    };
    drop(answers);
    // What failed while it was measured is slower than anything.
    let has_failed = !gpu.notices().is_empty();
    let ratio = answer.cpu.as_secs_f64() / answer.gpu.as_secs_f64().max(f64::MIN_POSITIVE);
    let signer: Box<dyn Signer> = match ratio > 1.0 && !has_failed {
        true => Box::new(gpu),
        false => {
            let why = format!("{ratio:.2} times as fast as it: {}", gpu.describe());
            return Box::new(Chosen::new(cpu, why));
        }
    };
    Box::new(Chosen::new(
        signer,
        format!("{ratio:.2} times as fast as {}", cpu.describe()),
    ))
}

/// The least of three times for 2^20 shingles, after one that is not counted.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
fn time(signer: &dyn Signer) -> Result<Duration> {
    const SET: usize = 1 << 10;
    let wide: Vec<u64> = (0..1 << 20).map(fmix64).collect();
    let narrow: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
    let offsets: Vec<i64> = (0..=(wide.len() / SET) as i64)
        .map(|i| i * SET as i64)
        .collect();
    // The families of which there are kernels have slots as wide as their hashes.
    let hashes = match signer.slot_width() {
        Width::U32 => Hashes::U32(&narrow),
        Width::U64 => Hashes::U64(&wide),
    };
    let sets = ShingleSets::new(hashes, &offsets)?;
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    let mut least = Duration::MAX;
    for round in 0..4 {
        signatures.clear();
        let start = Instant::now();
        signatures.sign(signer, &sets)?;
        if round > 0 {
            least = least.min(start.elapsed());
        }
    }
    Ok(least)
}

impl Chosen {
    fn new(signer: Box<dyn Signer>, why: String) -> Self {
        Chosen { signer, why }
    }
}

impl Signer for Chosen {
    fn describe(&self) -> String {
        format!("{}, by measurement ({})", self.signer.describe(), self.why)
    }

    fn num_perm(&self) -> usize {
        self.signer.num_perm()
    }

    fn slot_width(&self) -> Width {
        self.signer.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        self.signer.sign_sets(sets, signatures)
    }

    fn sign_texts(
        &self,
        texts: &TextBatch,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        self.signer.sign_texts(texts, shingler, signatures)
    }

    fn notices(&self) -> Vec<String> {
        self.signer.notices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::simd::Simd;
    use crate::scheme::Scheme;
    use crate::simd::Isa;

    /// A software adapter is measured here, which `auto` never does.
    #[test]
    fn whichever_is_chosen_signs_the_same_and_says_why() {
        let scheme = Scheme::default().with_num_perm(16).unwrap();
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = || Box::new(Simd::new(&permutations, empty, Isa::best()));
        let Ok(gpu) = Gpu::new(&permutations, empty, &GpuOptions::default(), cpu(), false) else {
            return;
        };
        let chosen = faster(0, scheme.family(), gpu, cpu());
        assert!(
            chosen.describe().contains("by measurement"),
            "{}",
            chosen.describe()
        );
        let sign = |signer: &dyn Signer| {
            let mut signatures = Signatures::new(16, Width::U32);
            let sets = ShingleSets::new(Hashes::U32(&[1, 2, 3]), &[0, 2, 2, 3]).unwrap();
            signatures.sign(signer, &sets).unwrap();
            signatures
        };
        assert_eq!(sign(&*chosen), sign(&*cpu()));
    }

    #[test]
    fn software_is_never_chosen() {
        let scheme = Scheme::default();
        for adapter in adapters().iter().filter(|adapter| adapter.is_software) {
            let options = GpuOptions {
                device: Some(adapter.number),
                ..GpuOptions::default()
            };
            let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
            let cpu =
                || -> Box<dyn Signer> { Box::new(Simd::new(&permutations, empty, Isa::best())) };
            let chosen = choose(&permutations, empty, &options, cpu);
            assert_eq!(chosen.describe(), cpu().describe());
        }
    }
}
