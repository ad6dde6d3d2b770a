//! The permutations of sketches, which share them: a cache per thread, and the numpy array of the coefficients.

use std::cell::RefCell;
use std::sync::Arc;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use simgpu::scheme::{Hashes, SlotVec, Word};
use simgpu_twins::datasketch::{PermutationScheme, Permutations};

use crate::errors::OrRaise;

/// Drawn permutations that each thread remembers.
const REMEMBERED: usize = 16;

/// No more permutations than this many are remembered: 1 MiB of coefficients.
const MOST_REMEMBERED: usize = 1 << 16;

thread_local! {
    /// The permutations drawn last, the latest first. One per thread needs no lock, which a fork could leave held.
    static CACHE: RefCell<Vec<Arc<SharedPermutations>>> = const { RefCell::new(Vec::new()) };
}

/// K permutations of a scheme, and what Python sees of them.
pub(crate) struct SharedPermutations {
    twin: Permutations,
    /// The numpy array of shape (2, K), made when first asked for.
    array: PyOnceLock<Py<PyAny>>,
}

impl SharedPermutations {
    fn new(twin: Permutations) -> Arc<Self> {
        Arc::new(SharedPermutations {
            twin,
            array: PyOnceLock::new(),
        })
    }

    /// The permutations that numpy's `RandomState(seed)` draws.
    pub(crate) fn drawn(
        py: Python<'_>,
        kind: PermutationScheme,
        seed: u32,
        num_perm: usize,
    ) -> PyResult<Arc<Self>> {
        let is_wanted = |known: &Arc<Self>| {
            let known = &known.twin;
            known.scheme() == kind && known.seed() == Some(seed) && known.num_perm() == num_perm
        };
        let known = CACHE.with_borrow_mut(|cache| {
            let position = cache.iter().position(is_wanted)?;
            cache[..=position].rotate_right(1);
            Some(cache[0].clone())
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Self::new(Permutations::drawn(kind, seed, num_perm).or_raise(py)?);
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
        kind: PermutationScheme,
        seed: i64,
        a: Vec<u64>,
        b: Vec<u64>,
    ) -> PyResult<Arc<Self>> {
        if let Ok(seed) = u32::try_from(seed) {
            let drawn = SharedPermutations::drawn(py, kind, seed, a.len())?;
            if (drawn.twin.a(), drawn.twin.b()) == (&*a, &*b) {
                return Ok(drawn);
            }
        }
        Ok(Self::new(Permutations::given(kind, a, b)))
    }

    /// The permutations themselves.
    pub(crate) fn twin(&self) -> &Permutations {
        &self.twin
    }

    pub(crate) fn num_perm(&self) -> usize {
        self.twin.num_perm()
    }

    /// The seed that draws these permutations; `None` if they were given.
    pub(crate) fn seed(&self) -> Option<u32> {
        self.twin.seed()
    }

    /// Lowers `slots` to the values of a set, as [`Permutations::sign`].
    pub(crate) fn sign(&self, hashes: Hashes<'_>, slots: &mut SlotVec) -> simgpu::Result<()> {
        self.twin.sign(hashes, slots)
    }

    /// The coefficients as a read-only array of shape (2, K), of the type of hash values. All sketches with these
    /// permutations share it.
    pub(crate) fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (a, b) = (self.twin.a(), self.twin.b());
        let array = self
            .array
            .get_or_try_init(py, || match self.twin.scheme() {
                PermutationScheme::Affine32 => matrix::<u32>(py, a, b),
                PermutationScheme::Legacy | PermutationScheme::Affine64 => matrix::<u64>(py, a, b),
            })?;
        Ok(array.bind(py).clone())
    }

    /// Whether `object` is the array that [`SharedPermutations::array`] returned.
    pub(crate) fn is_array(&self, object: &Bound<'_, PyAny>) -> bool {
        let array = self.array.get(object.py());
        array.is_some_and(|array| array.is(object))
    }
}

fn matrix<W: Word + numpy::Element>(py: Python<'_>, a: &[u64], b: &[u64]) -> PyResult<Py<PyAny>> {
    let values: Vec<W> = a.iter().chain(b).map(|value| W::cut(*value)).collect();
    let array = numpy::PyArray1::from_vec(py, values).reshape([2, a.len()])?;
    let array: Bound<'_, PyArray2<W>> = array;
    array.try_readwrite()?.make_nonwriteable();
    Ok(array.into_any().unbind())
}
