//! Signing one set stays on the calling thread. A test binary of its own: other tests start thread pools.

#![allow(clippy::print_stdout, reason = "a skipped test reports it")]

use std::fs;

use simgpu::Error;
use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Signatures, Signer};
use simgpu::scheme::{Hashes, SlotsMut};
use simgpu::scheme::{Scheme, Width, fmix64};
use simgpu::simd::Isa;

/// Lengths up to several of the pieces into which long sets are cut.
const LENGTHS: [usize; 6] = [0, 1, 100, 65_536, 65_537, 200_000];

/// Threads of this process; `None` where the system does not list them.
fn threads() -> Option<usize> {
    fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// One set of hashes in both widths.
struct Set {
    wide: Vec<u64>,
    narrow: Vec<u32>,
}

impl Set {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    fn of(len: usize) -> Self {
        let wide: Vec<u64> = (0..len as u64).map(fmix64).collect();
        let narrow = wide.iter().map(|hash| *hash as u32).collect();
        Set { wide, narrow }
    }

    fn hashes(&self, scheme: &Scheme) -> Hashes<'_> {
        match scheme.family().hash_width() {
            Width::U32 => Hashes::U32(&self.narrow),
            Width::U64 => Hashes::U64(&self.wide),
        }
    }
}

fn sign_one(signer: &dyn Signer, set: Hashes<'_>) -> Signatures {
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    let slots = signatures.push_rows(1).into_slots();
    signer.sign_set(set, slots).unwrap();
    signatures
}

/// Every scheme with every backend of the CPU.
fn signers() -> Vec<(Scheme, Box<dyn Signer>)> {
    let mut signers = Vec::new();
    for name in Scheme::names() {
        let scheme = Scheme::named(name).unwrap().with_num_perm(20).unwrap();
        let scalar = Backend::Scalar.signer(&scheme).unwrap();
        signers.push((scheme.clone(), scalar));
        for isa in Isa::available() {
            let simd = Backend::Simd.signer_on(&scheme, *isa).unwrap();
            signers.push((scheme.clone(), simd));
        }
    }
    signers
}

#[test]
fn one_set_starts_no_thread_pool() {
    let Some(before) = threads() else {
        println!("skipped: the system does not list threads in /proc/self/task");
        return;
    };
    let sets = LENGTHS.map(Set::of);
    let signers = signers();
    let mut signed = Vec::new();
    for (scheme, signer) in &signers {
        for set in &sets {
            signed.push(sign_one(&**signer, set.hashes(scheme)));
        }
        refuses_what_does_not_fit(scheme, &**signer);
    }
    assert_eq!(threads(), Some(before), "signing one set started threads");

    // A batch starts the pool, which shows that the count above would have seen it.
    let mut signed = signed.iter();
    for (scheme, signer) in &signers {
        for set in &sets {
            let hashes = set.hashes(scheme);
            let offsets = [0, hashes.len() as i64];
            let mut batch = Signatures::new(signer.num_perm(), signer.slot_width());
            let sets = ShingleSets::new(hashes, &offsets).unwrap();
            batch.sign(&**signer, &sets).unwrap();
            assert!(signed.next() == Some(&batch), "{scheme} {}", hashes.len());
        }
    }
    assert!(threads() > Some(before), "a batch started no thread pool");
}

/// Hashes and slots of the wrong width or number are errors, as for a batch.
fn refuses_what_does_not_fit(scheme: &Scheme, signer: &dyn Signer) {
    let is_conflict = |hashes: Hashes<'_>, slots: SlotsMut<'_>| {
        matches!(signer.sign_set(hashes, slots), Err(Error::Conflict(_)))
    };
    let set = Set::of(3);
    let (mut narrow, mut wide) = ([0; 20], [0; 20]);
    let other = match scheme.family().hash_width() {
        Width::U32 => Hashes::U64(&set.wide),
        Width::U64 => Hashes::U32(&set.narrow),
    };
    let hashes = set.hashes(scheme);
    match scheme.family().slot_width() {
        Width::U32 => {
            assert!(is_conflict(other, SlotsMut::U32(&mut narrow)));
            assert!(is_conflict(hashes, SlotsMut::U32(&mut narrow[1..])));
            assert!(is_conflict(hashes, SlotsMut::U64(&mut wide)));
        }
        Width::U64 => {
            assert!(is_conflict(other, SlotsMut::U64(&mut wide)));
            assert!(is_conflict(hashes, SlotsMut::U64(&mut wide[1..])));
            assert!(is_conflict(hashes, SlotsMut::U32(&mut narrow)));
        }
    }
}
