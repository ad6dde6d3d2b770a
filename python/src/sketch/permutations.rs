//! The permutations of a sketch, drawn from a seed or given, and their process-wide cache.

use std::cell::RefCell;
use std::sync::Arc;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::Signer;
use simgpu::scheme::{
    Hashes, MAX_NUM_PERM, Permutations as Drawn, SlotsMut, Values, Word, fmix32, fmix64,
    mersenne61_wide,
};

use super::kind::{Kind, SlotVec, lower};
use crate::errors::OrRaise;

/// Drawn permutations that each thread remembers.
const REMEMBERED: usize = 16;

/// No more permutations than this many are remembered: 1 MiB of coefficients.
const MOST_REMEMBERED: usize = 1 << 16;

/// Slots of a row on the stack.
const ROW: usize = 256;

thread_local! {
    /// The permutations drawn last, the latest first. One per thread needs no lock, which a fork could leave held.
    static CACHE: RefCell<Vec<Arc<Permutations>>> = const { RefCell::new(Vec::new()) };
}

/// K permutations of a scheme.
pub(crate) struct Permutations {
    kind: Kind,
    coefficients: Coefficients,
    /// Signs with vector instructions; `None` if the library has no signer for these coefficients.
    signer: Option<Box<dyn Signer>>,
    /// The numpy array of shape (2, K), made when first asked for.
    array: PyOnceLock<Py<PyAny>>,
}

enum Coefficients {
    Drawn { seed: u32, drawn: Drawn },
    Given { a: Vec<u64>, b: Vec<u64> },
}

impl Permutations {
    /// The permutations that numpy's `RandomState(seed)` draws.
    pub(crate) fn drawn(
        py: Python<'_>,
        kind: Kind,
        seed: u32,
        num_perm: usize,
    ) -> PyResult<Arc<Self>> {
        let is_wanted = |known: &Arc<Self>| {
            known.kind == kind && known.seed() == Some(seed) && known.num_perm() == num_perm
        };
        let known = CACHE.with_borrow_mut(|cache| {
            let position = cache.iter().position(is_wanted)?;
            cache[..=position].rotate_right(1);
            Some(cache[0].clone())
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Arc::new(Permutations {
            kind,
            coefficients: Coefficients::Drawn {
                seed,
                drawn: Drawn::draw(kind.family(), kind.draws(), seed, num_perm),
            },
            signer: signer(py, kind, seed, num_perm)?,
            array: PyOnceLock::new(),
        });
        if num_perm <= MOST_REMEMBERED {
            // What falls out is dropped after the borrow: dropping an array may run Python.
            let _dropped = CACHE.with_borrow_mut(|cache| {
                cache.insert(0, made.clone());
                cache.split_off(cache.len().min(REMEMBERED))
            });
        }
        Ok(made)
    }

    /// Permutations with these coefficients. Those that `seed` draws are recognised.
    pub(crate) fn given(
        py: Python<'_>,
        kind: Kind,
        seed: i64,
        a: Vec<u64>,
        b: Vec<u64>,
    ) -> PyResult<Arc<Self>> {
        if let Ok(seed) = u32::try_from(seed) {
            let drawn = Permutations::drawn(py, kind, seed, a.len())?;
            if (drawn.a(), drawn.b()) == (&*a, &*b) {
                return Ok(drawn);
            }
        }
        // The library refuses coefficients that no seed draws, such as those above the modulus.
        let checked = Drawn::from_coefficients(kind.family(), &a, &b).ok();
        let signer = checked.and_then(|permutations| {
            let signer = Backend::Simd.signer_of(&permutations, &Hardware::default());
            signer.ok()
        });
        Ok(Arc::new(Permutations {
            kind,
            coefficients: Coefficients::Given { a, b },
            signer,
            array: PyOnceLock::new(),
        }))
    }

    pub(crate) fn num_perm(&self) -> usize {
        self.a().len()
    }

    /// The seed that draws these permutations; `None` if they were given.
    pub(crate) fn seed(&self) -> Option<u32> {
        match &self.coefficients {
            Coefficients::Drawn { seed, .. } => Some(*seed),
            Coefficients::Given { .. } => None,
        }
    }

    fn a(&self) -> &[u64] {
        match &self.coefficients {
            Coefficients::Drawn { drawn, .. } => drawn.a(),
            Coefficients::Given { a, .. } => a,
        }
    }

    fn b(&self) -> &[u64] {
        match &self.coefficients {
            Coefficients::Drawn { drawn, .. } => drawn.b(),
            Coefficients::Given { b, .. } => b,
        }
    }

    /// The coefficients as a read-only array of shape (2, K), of the type of hash values. All sketches with these
    /// permutations share it.
    pub(crate) fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array.get_or_try_init(py, || match self.kind {
            Kind::Affine32 => matrix::<u32>(py, self.a(), self.b()),
            Kind::Legacy | Kind::Affine64 => matrix::<u64>(py, self.a(), self.b()),
        })?;
        Ok(array.bind(py).clone())
    }

    /// Whether `object` is the array that [`Permutations::array`] returned.
    pub(crate) fn is_array(&self, object: &Bound<'_, PyAny>) -> bool {
        let array = self.array.get(object.py());
        array.is_some_and(|array| array.is(object))
    }

    /// Lowers `slots` to the values of a set. 32-bit hashes serve affine32 and legacy, 64-bit ones affine64 and
    /// legacy.
    pub(crate) fn sign(&self, hashes: Hashes<'_>, slots: &mut SlotVec) -> simgpu::Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        match (&self.signer, hashes, slots) {
            (Some(signer), Hashes::U32(_), slots) => {
                let (mut short, mut long) = ([0; ROW], Vec::new());
                let row = row_of(slots.len(), &mut short, &mut long);
                signer.sign_set(hashes, SlotsMut::U32(row))?;
                match slots {
                    Values::U32(slots) => lower(slots, row.iter().copied()),
                    Values::U64(slots) => lower(slots, row.iter().copied().map(u64::from)),
                }
            }
            (Some(signer), Hashes::U64(_), Values::U64(slots)) if self.kind == Kind::Affine64 => {
                let (mut short, mut long) = ([0; ROW], Vec::new());
                let row = row_of(slots.len(), &mut short, &mut long);
                signer.sign_set(hashes, SlotsMut::U64(row))?;
                lower(slots, row.iter().copied());
            }
            (_, Hashes::U32(hashes), slots) => {
                let hashes = hashes.iter().map(|hash| u64::from(*hash));
                self.sign_by_definition(hashes, slots);
            }
            (_, Hashes::U64(hashes), slots) => {
                self.sign_by_definition(hashes.iter().copied(), slots);
            }
        }
        Ok(())
    }

    /// Lowers `slots` one value at a time: for coefficients and hashes that the library does not sign with.
    fn sign_by_definition(&self, hashes: impl Iterator<Item = u64>, slots: &mut SlotVec) {
        let pairs = || self.a().iter().copied().zip(self.b().iter().copied());
        for hash in hashes {
            match slots {
                Values::U32(slots) => {
                    let mixed = fmix32(Word::cut(hash));
                    let value = |(a, b)| u32::cut(a).wrapping_mul(mixed).wrapping_add(Word::cut(b));
                    lower(slots, pairs().map(value));
                }
                Values::U64(slots) if self.kind == Kind::Affine64 => {
                    let mixed = fmix64(hash);
                    let value = |(a, b): (u64, u64)| a.wrapping_mul(mixed).wrapping_add(b);
                    lower(slots, pairs().map(value));
                }
                Values::U64(slots) => {
                    let value = |(a, b)| mersenne61_wide(a, b, hash) & u64::from(u32::MAX);
                    lower(slots, pairs().map(value));
                }
            }
        }
    }
}

/// A row of `len` slots: on the stack if it is short, which saves an allocation per update.
fn row_of<'a, W: Word>(len: usize, short: &'a mut [W; ROW], long: &'a mut Vec<W>) -> &'a mut [W] {
    if len <= ROW {
        return &mut short[..len];
    }
    long.resize(len, W::default());
    long
}

/// The library's signer on the CPU, if it signs with this many permutations.
fn signer(
    py: Python<'_>,
    kind: Kind,
    seed: u32,
    num_perm: usize,
) -> PyResult<Option<Box<dyn Signer>>> {
    let count = u32::try_from(num_perm).ok();
    let Some(count) = count.filter(|count| *count <= MAX_NUM_PERM) else {
        return Ok(None);
    };
    let scheme = kind.preset().and_then(|scheme| scheme.with_num_perm(count));
    let scheme = scheme.or_raise(py)?.with_seed(seed);
    Backend::Simd.signer(&scheme).or_raise(py).map(Some)
}

fn matrix<W: Word + numpy::Element>(py: Python<'_>, a: &[u64], b: &[u64]) -> PyResult<Py<PyAny>> {
    let values: Vec<W> = a.iter().chain(b).map(|value| W::cut(*value)).collect();
    let array = numpy::PyArray1::from_vec(py, values).reshape([2, a.len()])?;
    let array: Bound<'_, PyArray2<W>> = array;
    array.try_readwrite()?.make_nonwriteable();
    Ok(array.into_any().unbind())
}
