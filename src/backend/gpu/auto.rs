//! The choice of `auto`: measures a GPU against the CPU, once per process and scheme.
//!
//! To sign first and search for a GPU later was rejected: the measurement would compete with the run's own threads.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::adapter::adapters;
use super::device::lock;
use super::shader::{Integers, computes};
use super::signer::Gpu;
use crate::backend::hardware::Hardware;
use crate::documents::Documents;
use crate::error::Result;
use crate::pipeline::{
    Banding, DeviceSigner, DeviceUse, ShingleSets, Shingler, Signatures, SignaturesMut, Signer,
};
use crate::scheme::{Family, Permutations, Width, fmix64};
use crate::scheme::{Hashes, SlotsMut};

/// What the outcome of a measurement depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contest {
    device: usize,
    family: Family,
    num_perm: usize,
    cpu: String,
    threads: usize,
}

/// The signer that was chosen of two, and why.
struct Chosen {
    signer: Box<dyn Signer>,
    why: String,
}

/// The least number of updates for which a search for a GPU pays; one update computes one slot for one shingle.
///
/// The search, and opening and measuring a device, take 0.1 to 0.5 s; one core signs this many updates in about
/// as long. With 128 permutations it is 280 MB of English in words.
const WORTH_UPDATES: u64 = 6_000_000_000;

/// Whether a GPU could save more time than the search for it takes. True for an unknown number of updates.
fn is_worth_a_search(updates: Option<u64>) -> bool {
    updates.is_none_or(|updates| updates >= WORTH_UPDATES)
}

/// The faster of a GPU and the CPU, for `updates` updates, if known. The CPU alone is considered if every adapter is
/// software, or the device cannot compute the family.
pub(in crate::backend) fn choose(
    permutations: &Permutations,
    empty: u64,
    hardware: &Hardware,
    updates: Option<u64>,
    cpu: &dyn Fn() -> Box<dyn Signer>,
) -> Box<dyn Signer> {
    let options = &hardware.gpu;
    let (number, family) = (options.device.unwrap_or(0), permutations.family());
    // The search for adapters is slow, and in vain for such a family.
    if !computes(family, Integers::U64) {
        return cpu();
    }
    if !is_worth_a_search(updates) {
        return Box::new(Chosen::new(cpu(), "input too small for a GPU".to_owned()));
    }
    let adapters = adapters();
    let Some(adapter) = adapters.get(number).filter(|adapter| !adapter.is_software) else {
        return cpu();
    };
    if !computes(family, adapter.integers()) {
        return cpu();
    }
    let gpu = match Gpu::new(permutations, empty, options, cpu(), false) {
        Ok(gpu) => gpu,
        Err(error) => {
            let why = format!("the GPU {} cannot be used: {error}", adapter.name);
            return Box::new(Chosen::new(cpu(), why));
        }
    };
    faster(number, family, gpu, cpu())
}

fn faster(device: usize, family: Family, gpu: Gpu, cpu: Box<dyn Signer>) -> Box<dyn Signer> {
    /// The GPU's speed divided by the CPU's.
    static RATIOS: Mutex<Vec<(Contest, f64)>> = Mutex::new(Vec::new());
    let contest = Contest {
        device,
        family,
        num_perm: cpu.num_perm(),
        cpu: cpu.describe(),
        threads: rayon::current_num_threads(),
    };
    let known = lock(&RATIOS)
        .iter()
        .find_map(|(past, ratio)| (*past == contest).then_some(*ratio));
    // The lock is not held during a measurement, which runs on threads that may want it too.
    let ratio = match known {
        Some(ratio) => ratio,
        None => match (shingles_per_s(&gpu), shingles_per_s(&*cpu)) {
            (Ok(gpu_speed), Ok(cpu_speed)) => {
                // The CPU had to finish the GPU's work: not a measurement to keep.
                if let Some(notice) = gpu.notices().pop() {
                    return Box::new(Chosen::new(cpu, notice));
                }
                gpu.0.channel.forget_use();
                let ratio = gpu_speed / cpu_speed;
                lock(&RATIOS).push((contest, ratio));
                ratio
            }
            // The errors will show with the user's own sets.
            _ => return cpu,
        },
    };
    if ratio > 1.0 {
        let why = format!("measured: {ratio:.2} times as fast as {}", cpu.describe());
        Box::new(Chosen::new(Box::new(gpu), why))
    } else {
        let why = format!("measured: {} is {ratio:.2} times as fast", gpu.describe());
        Box::new(Chosen::new(cpu, why))
    }
}

/// Measures how fast sets of 1,024 shingles are signed. The number of sets grows until signing lasts long
/// enough: a few sets do not fill a large device.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
fn shingles_per_s(signer: &dyn Signer) -> Result<f64> {
    const SET: usize = 1 << 10;
    const LONG_ENOUGH: Duration = Duration::from_millis(20);
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    let mut sign = |sets: usize| -> Result<Duration> {
        let wide: Vec<u64> = (0..(sets * SET) as u64).map(fmix64).collect();
        let narrow: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
        let offsets: Vec<i64> = (0..=sets).map(|i| (i * SET) as i64).collect();
        // The families that devices compute have slots as wide as their hashes.
        let hashes = match signer.slot_width() {
            Width::U32 => Hashes::U32(&narrow),
            Width::U64 => Hashes::U64(&wide),
        };
        let sets = ShingleSets::new(hashes, &offsets)?;
        let mut least = Duration::MAX;
        // The first round makes buffers and compiles shaders.
        for round in 0..3 {
            signatures.clear();
            let start = Instant::now();
            signatures.sign(signer, &sets)?;
            if round > 0 {
                least = least.min(start.elapsed());
            }
        }
        Ok(least)
    };
    let mut sets = 16;
    loop {
        let took = sign(sets)?;
        if took >= LONG_ENOUGH || sets >= 1 << 14 {
            return Ok((sets * SET) as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE));
        }
        sets *= 4;
    }
}

impl Chosen {
    fn new(signer: Box<dyn Signer>, why: String) -> Self {
        Chosen { signer, why }
    }
}

impl Signer for Chosen {
    fn describe(&self) -> String {
        format!("{} ({})", self.signer.describe(), self.why)
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

    fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
        self.signer.sign_set(set, slots)
    }

    fn sign_documents(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        self.signer.sign_documents(documents, shingler, signatures)
    }

    fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
        self.signer.band_keys(sets, banding, keys)
    }

    fn device_use(&self) -> Option<DeviceUse> {
        self.signer.device_use()
    }

    fn device_signer(&self) -> Option<DeviceSigner<'_>> {
        self.signer.device_signer()
    }

    fn notices(&self) -> Vec<String> {
        self.signer.notices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::GpuOptions;
    use crate::backend::simd::Simd;
    use crate::scheme::Scheme;
    use crate::simd::Isa;

    /// Measures a software adapter too, which `auto` never does.
    #[test]
    fn the_choice_says_why_and_signs_the_same() {
        let scheme = Scheme::default().with_num_perm(16).unwrap();
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = || Box::new(Simd::new(&permutations, empty, Isa::best()));
        let Ok(gpu) = Gpu::new(&permutations, empty, &GpuOptions::default(), cpu(), false) else {
            return;
        };
        let chosen = faster(0, scheme.family(), gpu, cpu());
        assert!(
            chosen.describe().contains("measured: "),
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
        // Three documents, one without shingles, if a device was chosen at all.
        let hash_bytes = chosen.device_use().map(|used| used.hash_bytes);
        assert!(hash_bytes.is_none_or(|bytes| bytes == 12), "{hash_bytes:?}");
    }

    #[test]
    fn software_is_never_chosen() {
        let scheme = Scheme::default();
        for adapter in adapters().iter().filter(|adapter| adapter.is_software) {
            let mut hardware = Hardware::default();
            hardware.gpu.device = Some(adapter.number);
            let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
            let cpu =
                || -> Box<dyn Signer> { Box::new(Simd::new(&permutations, empty, Isa::best())) };
            let chosen = choose(&permutations, empty, &hardware, None, &cpu);
            assert_eq!(chosen.describe(), cpu().describe());
        }
    }
}
