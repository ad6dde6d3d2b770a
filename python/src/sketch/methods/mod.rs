//! `MinHash`: its methods in Python.

mod bulk;

use pyo3::exceptions::{PyDeprecationWarning, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use simgpu::pipeline::Scratch;
use simgpu_twins::datasketch::{
    PermutationScheme, empty_slots, estimate_cardinality, is_of_empty_set, lower_slots, ratio,
};

use super::arguments::{
    check_count, drawable, mismatch, read_count, read_permutations, read_strings,
};
use super::arrays::{read_seed, read_slots, to_array};
use super::hashfunc::HashFunc;
use super::minhash::{PyMinHash, unite};
use super::permutations::SharedPermutations;
use super::scheme::{float_error, read_scheme};
use super::state::{from_attributes, from_foreign};
use super::texts::text_signer;
use super::writer::{Writer, read_gpu_mode};
use crate::errors::{OrRaise, warn_as};
use crate::pool;
use crate::progress::Display;

pub(crate) use bulk::{PySketches, restore_minhash};

use bulk::{create, sketch_like};

#[pymethods]
impl PyMinHash {
    // Arguments are those of `__init__`, which a subclass may replace.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs),
        text_signature = "(num_perm=128, seed=1, gpu_mode=\"disable\", hashfunc=None, hashobj=None, hashvalues=None, \
            permutations=None, scheme=None)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        PyMinHash::blank()
    }

    #[pyo3(signature = (num_perm=None, seed=None, gpu_mode="disable", hashfunc=None, hashobj=None, hashvalues=None,
        permutations=None, scheme=None))]
    #[allow(clippy::too_many_arguments, reason = "they are datasketch's")]
    fn __init__(
        slf: &Bound<'_, Self>,
        num_perm: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        gpu_mode: &str,
        hashfunc: Option<&Bound<'_, PyAny>>,
        hashobj: Option<&Bound<'_, PyAny>>,
        hashvalues: Option<&Bound<'_, PyAny>>,
        permutations: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let kind = match scheme {
            Some(scheme) => read_scheme(scheme)?,
            None if hashvalues.is_some() || permutations.is_some() => {
                return Err(PyValueError::new_err(
                    "scheme must be specified explicitly when initializing from existing hash values or permutations: \
                     pass the scheme of the MinHash they came from, or scheme='legacy' for values created by \
                     datasketch before 2.0.0.",
                ));
            }
            None => PermutationScheme::Affine32,
        };
        let count = match (hashvalues, num_perm) {
            (Some(values), _) => check_count(values.len()?)?,
            (None, Some(count)) => read_count(count)?,
            (None, None) => 128,
        };
        let hashfunc = HashFunc::read(kind, hashfunc)?;
        if hashobj.is_some() {
            let category = py.get_type::<PyDeprecationWarning>();
            warn_as(
                py,
                "hashobj is deprecated, use hashfunc instead.",
                &category,
            )?;
        }
        let slots = match hashvalues {
            Some(values) => read_slots(kind, values)?,
            None => empty_slots(kind, count),
        };
        let seed = seed.map_or(Ok(1), read_seed)?;
        let permutations = match permutations {
            Some(given) => read_permutations(kind, seed, slots.len(), given)?,
            None => SharedPermutations::drawn(py, kind, drawable(seed)?, slots.len())?,
        };
        let writer = Writer {
            permutations,
            hashfunc,
            gpu_mode: read_gpu_mode(gpu_mode)?,
        };
        *slf.try_borrow_mut()? = PyMinHash::with_writer(kind, seed, slots, writer);
        Ok(())
    }

    /// The seed of the permutations.
    #[getter(seed)]
    fn get_seed(&self) -> i64 {
        self.seed
    }

    #[setter(seed)]
    fn set_seed(&mut self, seed: &Bound<'_, PyAny>) -> PyResult<()> {
        self.seed = read_seed(seed)?;
        Ok(())
    }

    /// The permutation scheme: ``"affine32"``, ``"affine64"`` or ``"legacy"``.
    #[getter]
    fn scheme<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.kind {
            PermutationScheme::Affine32 => intern!(py, "affine32"),
            PermutationScheme::Affine64 => intern!(py, "affine64"),
            PermutationScheme::Legacy => intern!(py, "legacy"),
        }
    }

    #[setter(scheme)]
    fn set_scheme(slf: &Bound<'_, Self>, scheme: &Bound<'_, PyAny>) -> PyResult<()> {
        let kind = read_scheme(scheme)?;
        let count = PyMinHash::read(slf)?.slots.len();
        PyMinHash::reshape(slf, kind, count)
    }

    /// Number of permutations.
    #[getter(num_perm)]
    fn get_num_perm(&self) -> usize {
        self.slots.len()
    }

    #[setter(num_perm)]
    fn set_num_perm(slf: &Bound<'_, Self>, count: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = read_count(count)?;
        let kind = slf.try_borrow()?.kind;
        PyMinHash::reshape(slf, kind, count)
    }

    /// The hash values: an array of uint32 with affine32 and else of uint64. What is written to it changes the sketch,
    /// until an update, a merge, ``clear`` or an assignment gives the sketch another array.
    #[getter]
    fn hashvalues<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let mut sketch = slf.try_borrow_mut()?;
        if let Some(shown) = &sketch.shown {
            return Ok(shown.bind(py).clone());
        }
        let array = to_array(py, &sketch.slots, true)?;
        sketch.shown = Some(array.clone().unbind());
        Ok(array)
    }

    #[setter]
    fn set_hashvalues(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let slots = read_slots(self.kind, values)?;
        if let Some(writer) = &self.writer
            && writer.permutations.num_perm() != slots.len()
        {
            return Err(mismatch());
        }
        self.slots = slots;
        self.shown = None;
        Ok(())
    }

    /// The coefficients of the permutations: an array of shape (2, num_perm) that sketches share. Read-only; assign
    /// another array to change them.
    #[getter]
    fn permutations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.writer("permutations")?.permutations.array(py)
    }

    #[setter]
    fn set_permutations(&mut self, permutations: &Bound<'_, PyAny>) -> PyResult<()> {
        let (kind, seed, count) = (self.kind, self.seed, self.slots.len());
        let read = read_permutations(kind, seed, count, permutations)?;
        self.writer_mut("permutations")?.permutations = read;
        Ok(())
    }

    /// The hash function.
    #[getter]
    fn hashfunc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.writer("hashfunc")?.hashfunc.callable(py)
    }

    #[setter]
    fn set_hashfunc(&mut self, hashfunc: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = HashFunc::read(self.kind, Some(hashfunc))?;
        self.writer_mut("hashfunc")?.hashfunc = read;
        Ok(())
    }

    /// ``"disable"``, ``"detect"`` or ``"always"``.
    #[getter]
    fn gpu_mode(&self) -> PyResult<&'static str> {
        Ok(self.writer("gpu_mode")?.gpu_mode.name())
    }

    /// datasketch's name of ``gpu_mode``.
    #[getter]
    fn _gpu_mode(&self) -> PyResult<&'static str> {
        self.gpu_mode()
    }

    #[setter(_gpu_mode)]
    fn set_gpu_mode(&mut self, mode: &str) -> PyResult<()> {
        self.writer_mut("gpu_mode")?.gpu_mode = read_gpu_mode(mode)?;
        Ok(())
    }

    /// Adds a token to the set.
    ///
    /// Args:
    ///     b: What the hash function takes: bytes, or any object with a buffer of bytes, by default.
    fn update(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let (kind, hashfunc) = {
            let mut sketch = slf.try_borrow_mut()?;
            let kind = sketch.kind;
            let hashfunc = &sketch.writer("hashfunc")?.hashfunc;
            if let Some(hash) = hashfunc.hash_natively(b) {
                return hash.as_set(kind, |hashes| sketch.lower(py, hashes));
            }
            (kind, hashfunc.clone_ref(py))
        };
        // Not borrowed here: the function may use this sketch.
        let hashes = hashfunc.hash_all(kind, PyTuple::new(py, [b])?.as_any())?;
        slf.try_borrow_mut()?.lower(py, hashes.view())
    }

    /// Adds tokens to the set. If one of them is refused, the sketch does not change.
    ///
    /// Args:
    ///     b: An iterable of tokens; a list is fastest.
    fn update_batch(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let (kind, hashfunc) = {
            let sketch = slf.try_borrow()?;
            (
                sketch.kind,
                sketch.writer("hashfunc")?.hashfunc.clone_ref(py),
            )
        };
        let hashes = hashfunc.hash_all(kind, b)?;
        slf.try_borrow_mut()?.lower_batch(py, &hashes)
    }

    /// Adds the shingles of a text to the set: as ``update`` of the UTF-8 bytes of each shingle.
    ///
    /// Args:
    ///     text: The text.
    ///     shingling: A ``simgpu.Shingling`` or the name of a unit; by default 5 words, joined by a space.
    #[pyo3(signature = (text, shingling=None))]
    fn update_text(
        &mut self,
        py: Python<'_>,
        text: &str,
        shingling: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.detach(py)?;
        let writer = self.writer("permutations")?;
        let (permutations, hash) = (writer.permutations.clone(), writer.hashfunc.native());
        let signer = text_signer(py, hash, permutations.twin(), shingling)?;
        let signed = signer.sign(text, &mut Scratch::default(), &mut self.slots);
        signed.or_raise(py)
    }

    /// Estimates the Jaccard similarity with the set of another sketch, from 0 to 1.
    ///
    /// Args:
    ///     other: A sketch of this module or of datasketch.
    ///
    /// Raises:
    ///     ValueError: The sketches have different schemes, seeds or numbers of permutations.
    fn jaccard(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<f64> {
        let sketch = PyMinHash::read(slf)?;
        let slots = sketch.comparable(other, "compute Jaccard given")?;
        let matches = sketch.slots.view().matches(slots.get().view());
        ratio(matches.or_raise(other.py())?, sketch.slots.len()).map_err(float_error)
    }

    /// Estimates the number of elements of the set.
    fn count(slf: &Bound<'_, Self>) -> PyResult<f64> {
        let sketch = PyMinHash::read(slf)?;
        Ok(estimate_cardinality(sketch.kind, &sketch.slots))
    }

    /// Makes this the sketch of the union with the set of another sketch.
    ///
    /// Args:
    ///     other: A sketch of this module or of datasketch.
    ///
    /// Raises:
    ///     ValueError: The sketches have different schemes, seeds or numbers of permutations.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        if slf.is(other) {
            return Ok(());
        }
        let other = slf.try_borrow()?.comparable(other, "merge")?;
        let mut sketch = slf.try_borrow_mut()?;
        sketch.detach(slf.py())?;
        lower_slots(&mut sketch.slots, other.get());
        Ok(())
    }

    /// A copy of the hash values, as an array.
    fn digest<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        to_array(slf.py(), &PyMinHash::read(slf)?.slots, true)
    }

    /// Whether the set is empty.
    fn is_empty(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let sketch = PyMinHash::read(slf)?;
        Ok(is_of_empty_set(sketch.kind, &sketch.slots))
    }

    /// Empties the set.
    fn clear(&mut self) {
        self.slots = empty_slots(self.kind, self.slots.len());
        self.shown = None;
    }

    /// A copy, which shares the permutations.
    fn copy(slf: &Bound<'_, Self>) -> PyResult<Self> {
        PyMinHash::read(slf)?.copied(slf.py())
    }

    fn __len__(&self) -> usize {
        self.slots.len()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        PyMinHash::equals(slf, other)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let sketch = slf.try_borrow()?;
        Ok(format!(
            "{}(num_perm={}, seed={}, scheme='{}')",
            slf.get_type().name()?,
            sketch.slots.len(),
            sketch.seed,
            sketch.kind.name()
        ))
    }

    /// The sketch of the union of sets.
    ///
    /// Args:
    ///     mhs: Two sketches or more.
    ///
    /// Raises:
    ///     ValueError: Fewer than two, or different schemes, seeds or numbers of permutations.
    #[classmethod]
    #[pyo3(signature = (*mhs))]
    fn union<'py>(
        cls: &Bound<'py, PyType>,
        mhs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let union = unite(mhs, |first| {
            let own = first
                .cast::<PyMinHash>()
                .map(|own| PyMinHash::read(own)?.copied(first.py()));
            own.unwrap_or_else(|_| from_foreign(first))
        })?;
        let message = "The unioning MinHash must have the same seed, number of permutation functions and scheme";
        let union = union.ok_or_else(|| PyValueError::new_err(message))?;
        create(cls, union)
    }

    /// Makes one sketch per set.
    ///
    /// Args:
    ///     b: An iterable of iterables of tokens.
    ///     minhash_kwargs: Arguments of ``MinHash`` for all of them.
    #[classmethod]
    #[pyo3(signature = (b, **minhash_kwargs))]
    fn bulk<'py>(
        cls: &Bound<'py, PyType>,
        b: &Bound<'py, PyAny>,
        minhash_kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let template = cls.call((), minhash_kwargs)?;
        let sets = b.try_iter()?;
        sets.map(|tokens| sketch_like(&template, &tokens?))
            .collect()
    }

    /// Makes one sketch per set, one after the other.
    ///
    /// Args:
    ///     b: An iterable of iterables of tokens.
    ///     minhash_kwargs: Arguments of ``MinHash`` for all of them.
    #[classmethod]
    #[pyo3(signature = (b, **minhash_kwargs))]
    fn generator(
        cls: &Bound<'_, PyType>,
        b: &Bound<'_, PyAny>,
        minhash_kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PySketches> {
        Ok(PySketches {
            template: cls.call((), minhash_kwargs)?.unbind(),
            sets: b.try_iter()?.unbind(),
        })
    }

    /// Makes one sketch per text, on several threads: as ``update_text`` of each.
    ///
    /// Args:
    ///     texts: An iterable of strings.
    ///     shingling: A ``simgpu.Shingling`` or the name of a unit; by default 5 words, joined by a space.
    ///     threads: Number of threads; by default those of the process.
    ///     progress: ``True`` for a bar, or a function of (stage, done, total).
    ///     minhash_kwargs: Arguments of ``MinHash`` for all of them.
    #[classmethod]
    #[pyo3(signature = (texts, shingling=None, *, threads=None, progress=None, **minhash_kwargs))]
    fn bulk_texts(
        cls: &Bound<'_, PyType>,
        texts: &Bound<'_, PyAny>,
        shingling: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
        minhash_kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Self>> {
        let py = cls.py();
        let strings = read_strings(texts)?;
        let texts: Vec<&str> = strings
            .iter()
            .map(|text| text.to_str())
            .collect::<PyResult<_>>()?;
        let template = cls.call((), minhash_kwargs)?;
        let template = PyMinHash::read(template.cast::<PyMinHash>()?)?;
        let writer = template.writer("permutations")?;
        let (hash, permutations) = (writer.hashfunc.native(), &*writer.permutations);
        let signer = text_signer(py, hash, permutations.twin(), shingling)?;
        let (empty, mut display) = (&template.slots, Display::new(progress)?);
        let signed = pool::run(py, threads, &mut display, |progress| {
            signer.sign_all(&texts, empty, progress)
        })?;
        let (kind, seed) = (template.kind, template.seed);
        let sketch = |slots| PyMinHash::with_writer(kind, seed, slots, writer.clone_ref(py));
        Ok(signed.into_iter().map(sketch).collect())
    }

    /// The same sketch as one of datasketch's, of any version.
    ///
    /// Args:
    ///     sketch: A ``datasketch.MinHash`` or ``datasketch.LeanMinHash``.
    #[classmethod]
    fn from_datasketch<'py>(
        cls: &Bound<'py, PyType>,
        sketch: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        create(cls, from_foreign(sketch)?)
    }

    /// Pickles the state for ``restore_minhash``, without what follows from it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let sketch = PyMinHash::read(slf)?;
        let writer = sketch.writer("permutations")?;
        let given = writer.hashfunc.given().map(|given| given.bind(py).clone());
        // Drawn from the seed again, unless they were given or the seed was assigned later.
        let array = if writer.permutations.seed().map(i64::from) == Some(sketch.seed) {
            None
        } else {
            Some(writer.permutations.array(py)?)
        };
        let class = slf.get_type();
        let class = (!class.is(PyType::new::<PyMinHash>(py))).then_some(class);
        let state = PyBytes::new(py, &sketch.state(writer));
        let arguments = match (&given, &array, &class) {
            (None, None, None) => PyTuple::new(py, [state.as_any()])?,
            _ => (state, given, array, class).into_pyobject(py)?,
        };
        let restore = py.import(intern!(py, "simgpu._simgpu"))?;
        let restore = restore.getattr(intern!(py, "restore_minhash"))?;
        let attributes = slf.getattr(intern!(py, "__dict__"))?;
        if attributes.is_truthy()? {
            (restore, arguments, attributes).into_pyobject(py)
        } else {
            (restore, arguments).into_pyobject(py)
        }
    }

    /// Takes on attributes, or a pickle of datasketch's where this class stands in the place of its class.
    fn __setstate__(slf: &Bound<'_, Self>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let attributes = match state.cast::<PyTuple>() {
            Ok(state) => state.get_item(0)?,
            Err(_) => state.clone(),
        };
        if attributes.is_none() {
            return Ok(());
        }
        let attributes = attributes.cast_into::<PyDict>()?.copy()?;
        if attributes.contains(intern!(slf.py(), "hashvalues"))? {
            *slf.try_borrow_mut()? = from_attributes(&attributes)?;
        }
        let own = slf.getattr(intern!(slf.py(), "__dict__"))?;
        own.cast::<PyDict>()?.update(attributes.as_mapping())
    }
}
