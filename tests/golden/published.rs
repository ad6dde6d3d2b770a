//! Published values, and the backends that compute them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::documents::TokenBatch;
use simgpu::pipeline::{Scratch, ShingleBatch, ShingleSets, Shingler, Signatures, Signer};
use simgpu::scheme::{Hashes, Scheme, Slots, Width};
use simgpu::simd::Isa;

/// Reads a file of golden values: from vectors/ if the self-test includes it, else from tests/golden/.
pub(super) fn golden(name: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let included = root.join("vectors").join(name);
    let path = if included.exists() {
        included
    } else {
        root.join("tests/golden").join(name)
    };
    let page =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&page).unwrap()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// A number, either as a JSON number or as a string.
pub(super) fn number<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> T {
    let number = value.as_u64();
    let number = number.unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());
    T::try_from(number).unwrap()
}

pub(super) fn numbers<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> Vec<T> {
    list(value).iter().map(number).collect()
}

/// A backend with an instruction set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine(Backend, Isa);

impl Machine {
    fn signer(self, scheme: &Scheme) -> simgpu::Result<Box<dyn Signer>> {
        self.0.signer_on(scheme, self.1)
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.0, self.1)
    }
}

/// The CPU backends with each instruction set of this CPU.
pub(super) fn machines() -> impl Iterator<Item = Machine> {
    let simd = Isa::available()
        .iter()
        .map(|isa| Machine(Backend::Simd, *isa));
    std::iter::once(Machine(Backend::Scalar, Isa::best())).chain(simd)
}

/// Signs one set and returns its slots as u64.
pub(super) fn signature(scheme: &Scheme, backend: Machine, set: &[u64]) -> Vec<u64> {
    let narrow: Vec<u32> = set.iter().map(|x| u32::try_from(*x).unwrap_or(0)).collect();
    let hashes = match scheme.family().hash_width() {
        Width::U32 => Hashes::U32(&narrow),
        Width::U64 => Hashes::U64(set),
    };
    let offsets = [0, i64::try_from(set.len()).unwrap()];
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    signatures(scheme, backend, &sets).remove(0)
}

/// Signs sets and returns the slots of each as u64.
pub(super) fn signatures(
    scheme: &Scheme,
    backend: Machine,
    sets: &ShingleSets<'_>,
) -> Vec<Vec<u64>> {
    let signer = backend.signer(scheme).unwrap();
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signatures.sign(&*signer, sets).unwrap();
    let rows = (0..signatures.len()).map(|i| match signatures.row(i) {
        Slots::U32(slots) => slots.iter().map(|slot| u64::from(*slot)).collect(),
        Slots::U64(slots) => slots.to_vec(),
    });
    rows.collect()
}

/// Shingles lists of tokens.
pub(super) fn shingle_tokens<'a>(
    shingler: &Shingler,
    documents: impl IntoIterator<Item = &'a Value>,
) -> ShingleBatch {
    let mut batch = TokenBatch::default();
    for document in documents {
        for token in list(document) {
            batch.push_token(token.as_str().unwrap().as_bytes());
        }
        batch.finish_document();
    }
    let mut shingles = ShingleBatch::new(shingler.width());
    shingler.shingle_with_digests(&batch, &mut Scratch::default(), &mut shingles);
    shingles
}

pub(super) fn sets_as_u64(batch: &ShingleBatch) -> Vec<Vec<u64>> {
    let sets = batch.sets();
    let set = |i| match sets.hashes() {
        Hashes::U32(x) => x[sets.range(i)].iter().map(|x| u64::from(*x)).collect(),
        Hashes::U64(x) => x[sets.range(i)].to_vec(),
    };
    (0..sets.len()).map(set).collect()
}

pub(super) fn scheme_of(case: &Value, name: &str) -> Scheme {
    let scheme = Scheme::named(name).unwrap();
    let scheme = scheme.with_num_perm(number(&case["num_perm"])).unwrap();
    scheme.with_seed(number(&case["seed"]))
}
