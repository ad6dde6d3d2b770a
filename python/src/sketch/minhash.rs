//! `MinHash`: what a sketch is, in Rust. Python's methods of it are in `methods`.

use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simgpu::scheme::{Hashes, SlotVec, Values};
use simgpu_twins::datasketch::state::GpuMode;
use simgpu_twins::datasketch::{PermutationScheme, empty_slots, lower_slots};

use super::arguments::drawable;
use super::arrays::{Foreign, copy_from_array};
use super::permutations::SharedPermutations;
use super::writer::Writer;
use crate::errors::OrRaise;

/// A MinHash sketch: estimates the Jaccard similarity of sets.
///
/// Has the name, arguments, values and errors of datasketch 2.0's ``MinHash``.
///
/// Args:
///     num_perm: Number of permutations, which is the number of hash values. Ignored if ``hashvalues`` is given.
///     seed: Seed of the permutations, from 0 to 2**32 - 1.
///     gpu_mode: ``"disable"`` and ``"detect"`` compute on the CPU, with equal values; ``"always"`` makes
///         ``update_batch`` raise ``RuntimeError``.
///     hashfunc: A function of a token that returns an integer of the scheme's width. By default ``sha1_hash32``, and
///         ``sha1_hash64`` with affine64. These, and ``xxhash.xxh32_intdigest`` and ``xxh64_intdigest``, are computed
///         without a call to Python.
///     hashobj: Deprecated and without effect.
///     hashvalues: Initial hash values. Needs ``scheme``.
///     permutations: Coefficients of the permutations, of shape (2, num_perm). Needs ``scheme``.
///     scheme: ``"affine32"`` (the default), ``"affine64"`` or ``"legacy"`` (datasketch before 2.0).
///
/// Raises:
///     ValueError: An argument is out of range, or arguments contradict each other.
#[pyclass(
    subclass,
    weakref,
    dict,
    module = "simgpu.datasketch",
    name = "MinHash"
)]
pub(crate) struct PyMinHash {
    pub(super) kind: PermutationScheme,
    pub(super) seed: i64,
    pub(super) slots: SlotVec,
    /// The array that `hashvalues` returned. Its values count until the next update, because others may write to it.
    pub(super) shown: Option<Py<PyAny>>,
    /// `None` in a `LeanMinHash`.
    pub(super) writer: Option<Writer>,
}

impl PyMinHash {
    /// A sketch before `__init__`.
    pub(crate) fn blank() -> Self {
        PyMinHash::lean(PermutationScheme::Affine32, 1, Values::U32(Vec::new()))
    }

    /// A sketch that can be updated.
    pub(crate) fn with_writer(
        kind: PermutationScheme,
        seed: i64,
        slots: SlotVec,
        writer: Writer,
    ) -> Self {
        PyMinHash {
            kind,
            seed,
            slots,
            shown: None,
            writer: Some(writer),
        }
    }

    /// A sketch that cannot be updated.
    pub(crate) fn lean(kind: PermutationScheme, seed: i64, slots: SlotVec) -> Self {
        PyMinHash {
            kind,
            seed,
            slots,
            shown: None,
            writer: None,
        }
    }

    /// Borrows a sketch to read it.
    pub(crate) fn read<'py>(slf: &Bound<'py, Self>) -> PyResult<PyRef<'py, Self>> {
        let sketch = slf.try_borrow()?;
        if sketch.shown.is_none() {
            return Ok(sketch);
        }
        drop(sketch);
        // A sketch that is borrowed already has taken in what was written.
        if let Ok(mut sketch) = slf.try_borrow_mut() {
            sketch.take_in(slf.py())?;
        }
        Ok(slf.try_borrow()?)
    }

    /// Takes in what was written to the array of hash values, and lets go of it if nobody else holds it.
    fn take_in(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let array = shown.bind(py);
        match &mut self.slots {
            Values::U32(slots) => copy_from_array(array, slots)?,
            Values::U64(slots) => copy_from_array(array, slots)?,
        }
        #[allow(deprecated, reason = "its replacement is unsafe")]
        let is_ours_alone = array.get_refcnt() == 1;
        if is_ours_alone {
            self.shown = None;
        }
        Ok(())
    }

    /// Takes in what was written to the array of hash values, which is no longer that of the sketch.
    pub(super) fn detach(&mut self, py: Python<'_>) -> PyResult<()> {
        self.take_in(py)?;
        self.shown = None;
        Ok(())
    }

    pub(crate) fn kind(&self) -> PermutationScheme {
        self.kind
    }

    pub(crate) fn seed(&self) -> i64 {
        self.seed
    }

    pub(crate) fn slots(&self) -> &SlotVec {
        &self.slots
    }

    pub(super) fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        self.writer("hashfunc")?;
        Ok(PyMinHash {
            kind: self.kind,
            seed: self.seed,
            slots: self.slots.clone(),
            shown: None,
            writer: self.writer.as_ref().map(|writer| writer.clone_ref(py)),
        })
    }

    /// Makes an empty sketch one of another scheme or number of permutations, which its seed draws. A sketch that is not
    /// empty keeps both, because its hash values belong to them.
    pub(super) fn reshape(
        slf: &Bound<'_, Self>,
        kind: PermutationScheme,
        count: usize,
    ) -> PyResult<()> {
        let py = slf.py();
        let sketch = PyMinHash::read(slf)?;
        if sketch.kind == kind && sketch.slots.len() == count {
            return Ok(());
        }
        if sketch.slots != empty_slots(sketch.kind, sketch.slots.len()) {
            return Err(PyValueError::new_err(format!(
                "the sketch has {} hash values of the scheme '{}', which do not fit {count} of '{}'; assign num_perm and \
                 scheme before hashvalues",
                sketch.slots.len(),
                sketch.kind.name(),
                kind.name()
            )));
        }
        let permutations = match &sketch.writer {
            Some(_) => Some(SharedPermutations::drawn(
                py,
                kind,
                drawable(sketch.seed)?,
                count,
            )?),
            None => None,
        };
        drop(sketch);
        let mut sketch = slf.try_borrow_mut()?;
        (sketch.kind, sketch.shown) = (kind, None);
        // A sketch without permutations, such as one before `__init__`, has no number of them.
        if let Some(permutations) = permutations {
            sketch.slots = empty_slots(kind, count);
            sketch.writer_mut("permutations")?.permutations = permutations;
        } else {
            sketch.slots = empty_slots(kind, sketch.slots.len());
        }
        Ok(())
    }

    /// What updates need. An object without it lacks the attribute `name`.
    pub(super) fn writer(&self, name: &str) -> PyResult<&Writer> {
        self.writer.as_ref().ok_or_else(|| {
            PyAttributeError::new_err(format!(
                "a LeanMinHash has no {name}; make a MinHash of its seed, hashvalues and scheme"
            ))
        })
    }

    pub(super) fn writer_mut(&mut self, name: &str) -> PyResult<&mut Writer> {
        self.writer(name)?;
        self.writer
            .as_mut()
            .ok_or_else(|| PyAttributeError::new_err(name.to_owned()))
    }

    /// Lowers the slots to the values of a set of hashes.
    pub(super) fn lower(&mut self, py: Python<'_>, hashes: Hashes<'_>) -> PyResult<()> {
        self.writer("permutations")?;
        self.detach(py)?;
        match &self.writer {
            Some(writer) => writer
                .permutations
                .sign(hashes, &mut self.slots)
                .or_raise(py),
            None => Ok(()),
        }
    }

    /// Lowers the slots to the values of a batch of tokens.
    pub(super) fn lower_batch(&mut self, py: Python<'_>, hashes: &SlotVec) -> PyResult<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        if self.writer("_gpu_mode")?.gpu_mode == GpuMode::Always {
            return Err(PyRuntimeError::new_err(
                "GPU mode 'always' requested but sketches are computed on the CPU; give gpu_mode='detect', or sign \
                 many documents at once with simgpu.Signer",
            ));
        }
        self.lower(py, hashes.view())
    }

    /// Whether two sketches have the same class, scheme, seed and slots.
    pub(crate) fn equals(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(same) = other.cast::<PyMinHash>() else {
            return Ok(false);
        };
        let (left, right) = (PyMinHash::read(slf)?, PyMinHash::read(same)?);
        Ok(slf.get_type().is(other.get_type())
            && left.kind == right.kind
            && left.seed == right.seed
            && left.slots == right.slots)
    }

    /// The slots of a sketch that this one can be compared with. `action` begins the message of a refusal.
    pub(super) fn comparable<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        action: &str,
    ) -> PyResult<OtherSlots<'py>> {
        let check = |kind: Option<PermutationScheme>, seed: i64, len: usize| {
            let differs = if kind != Some(self.kind) {
                "permutation schemes"
            } else if seed != self.seed {
                "seeds"
            } else if len != self.slots.len() {
                "numbers of permutation functions"
            } else {
                return Ok(());
            };
            let message = format!("Cannot {action} MinHash with different {differs}");
            Err(PyValueError::new_err(message))
        };
        if let Ok(own) = other.cast::<PyMinHash>() {
            let own = PyMinHash::read(own)?;
            check(Some(own.kind), own.seed, own.slots.len())?;
            return Ok(OtherSlots::Own(own));
        }
        let foreign = Foreign::new(other)?;
        check(foreign.kind, self.seed, self.slots.len())?;
        check(foreign.kind, foreign.seed()?, foreign.len()?)?;
        let slots = foreign.slots(self.kind)?;
        check(foreign.kind, self.seed, slots.len())?;
        Ok(OtherSlots::Read(slots))
    }
}

/// The slots of another sketch: borrowed from one of this module, or read from one of another class.
pub(super) enum OtherSlots<'py> {
    Own(PyRef<'py, PyMinHash>),
    Read(SlotVec),
}

impl OtherSlots<'_> {
    pub(super) fn get(&self) -> &SlotVec {
        match self {
            OtherSlots::Own(sketch) => &sketch.slots,
            OtherSlots::Read(slots) => slots,
        }
    }
}

/// The first of several sketches, made by `begin`, lowered to the slots of the others; `None` if they do not fit.
pub(crate) fn unite(
    sketches: &Bound<'_, PyTuple>,
    begin: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<PyMinHash>,
) -> PyResult<Option<PyMinHash>> {
    if sketches.len() < 2 {
        return Err(PyValueError::new_err("Cannot union less than 2 MinHash"));
    }
    let mut union = begin(&sketches.get_item(0)?)?;
    for sketch in sketches.iter().skip(1) {
        let Ok(other) = union.comparable(&sketch, "union") else {
            return Ok(None);
        };
        lower_slots(&mut union.slots, other.get());
    }
    Ok(Some(union))
}
