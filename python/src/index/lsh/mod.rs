//! `MinHashLSH`: candidates of a sketch by equal bands.

mod keyed;

mod rows;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::PyTraverseError;
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use simgpu_index::RowBytes;
use simgpu_twins::datasketch::bands::{SlotLayout, slots_from_swapped};

use super::keys::Sought;
use super::{band_bytes, locate, lock};

use keyed::{KeyedIndex, LshContents, SketchRow};

/// The native part of `simgpu.datasketch.MinHashLSH`: sketches in memory, found by equal bands.
///
/// `_begin` sets the parameters, because the arguments of a subclass's `__init__` are its own.
#[pyclass(
    name = "MinHashLSH",
    module = "simgpu._simgpu",
    frozen,
    subclass,
    weakref
)]
pub(crate) struct MinHashLsh {
    num_perm: AtomicUsize,
    bands: AtomicUsize,
    rows: AtomicUsize,
    prepickle: AtomicBool,
    state: Mutex<KeyedIndex>,
}

#[pymethods]
impl MinHashLsh {
    // Arguments are those of `__init__`, which a subclass may replace.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        MinHashLsh {
            num_perm: AtomicUsize::new(0),
            bands: AtomicUsize::new(0),
            rows: AtomicUsize::new(0),
            prepickle: AtomicBool::new(false),
            state: Mutex::new(KeyedIndex::new(None)),
        }
    }

    /// Makes this an empty index.
    fn _begin(
        &self,
        py: Python<'_>,
        num_perm: usize,
        bands: usize,
        rows: usize,
        prepickle: bool,
        hashfunc: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        if bands == 0 || rows == 0 || bands.saturating_mul(rows) > num_perm {
            return Err(PyValueError::new_err(format!(
                "params are {bands} bands of {rows} rows; give at least one each, and a product of at most num_perm, \
                 {num_perm}"
            )));
        }
        self.num_perm.store(num_perm, Ordering::Relaxed);
        self.bands.store(bands, Ordering::Relaxed);
        self.rows.store(rows, Ordering::Relaxed);
        self.prepickle.store(prepickle, Ordering::Relaxed);
        let earlier = std::mem::replace(&mut *lock(py, &self.state), KeyedIndex::new(hashfunc));
        drop(earlier);
        Ok(())
    }

    /// Forgets all keys and queries.
    fn _forget(&self, py: Python<'_>) {
        let hashfunc = self.hashfunc(py);
        let earlier = std::mem::replace(&mut *lock(py, &self.state), KeyedIndex::new(hashfunc));
        drop(earlier);
    }

    /// The number of bands.
    #[getter]
    fn b(&self) -> usize {
        self.bands.load(Ordering::Relaxed)
    }

    /// The number of slots per band.
    #[getter]
    fn r(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// The number of slots of a sketch.
    #[getter]
    fn h(&self) -> usize {
        self.num_perm.load(Ordering::Relaxed)
    }

    /// Whether keys are pickled before they are inserted.
    #[getter]
    fn prepickle(&self) -> bool {
        self.prepickle.load(Ordering::Relaxed)
    }

    /// The function from the bytes of a band to those that are compared, if any.
    #[getter]
    fn hashfunc(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let state = lock(py, &self.state);
        state
            .hashfunc
            .as_ref()
            .map(|hashfunc| hashfunc.clone_ref(py))
    }

    #[getter]
    fn _minhash_scheme(&self, py: Python<'_>) -> Option<String> {
        lock(py, &self.state).scheme.clone()
    }

    #[setter(_minhash_scheme)]
    fn set_minhash_scheme(&self, py: Python<'_>, scheme: Option<String>) {
        lock(py, &self.state).scheme = scheme;
    }

    /// Inserts a key with its sketch.
    ///
    /// Raises ValueError if the key exists (unless ``check_duplication`` is false, which adds the sketch to those of
    /// the key), or if the sketch has another length, scheme or kind of slots than those of the index.
    #[pyo3(signature = (key, minhash, check_duplication = true))]
    fn insert(
        &self,
        key: Bound<'_, PyAny>,
        minhash: &Bound<'_, PyAny>,
        check_duplication: bool,
    ) -> PyResult<()> {
        let py = key.py();
        let sketch = self.read(minhash)?;
        self.learn_scheme(py, sketch.scheme)?;
        let row = self.row(py, sketch.values, sketch.layout)?;
        self.insert_row(key, row, check_duplication)
    }

    /// Inserts many keys with their sketches: a sequence of sketches, an array of shape (n, num_perm) of uint32 or
    /// uint64, or an object with such an array as ``slots``.
    ///
    /// Raises as ``insert`` does; the keys before the one that raises are inserted.
    #[pyo3(signature = (keys, minhashes, check_duplication = true))]
    fn insert_many(
        &self,
        keys: &Bound<'_, PyAny>,
        minhashes: &Bound<'_, PyAny>,
        check_duplication: bool,
    ) -> PyResult<()> {
        let py = keys.py();
        let keys = keys.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let batch = self.batch(minhashes)?;
        if keys.len() != batch.len() {
            return Err(PyValueError::new_err(format!(
                "there are {} keys and {} sketches; give one sketch per key",
                keys.len(),
                batch.len()
            )));
        }
        for (index, key) in keys.into_iter().enumerate() {
            let row = self.row_of_batch(py, &batch, index)?;
            self.insert_row(key, row, check_duplication)?;
        }
        Ok(())
    }

    /// The keys that share a band with a sketch, as a list in the order of their insertion.
    fn query<'py>(&self, minhash: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = minhash.py();
        let row = self.row_to_look_up(minhash)?;
        self.found(py, &row, self.b())
    }

    /// A list of the results of ``query`` for many sketches, given as to ``insert_many``.
    fn query_many<'py>(&self, minhashes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = minhashes.py();
        let batch = self.batch(minhashes)?;
        let results = PyList::empty(py);
        for index in 0..batch.len() {
            let row = self.row_of_batch(py, &batch, index)?;
            results.append(self.found(py, &row, self.b())?)?;
        }
        Ok(results)
    }

    /// The keys that share one of the first ``b`` bands with a sketch.
    fn _query_b<'py>(&self, minhash: &Bound<'py, PyAny>, b: usize) -> PyResult<Bound<'py, PyList>> {
        let row = self.row_to_look_up(minhash)?;
        if b > self.b() {
            return Err(PyValueError::new_err(
                "b must be less or equal to the number of hash tables",
            ));
        }
        self.found(minhash.py(), &row, b)
    }

    /// Remembers a query for ``collect_query_buffer``.
    fn add_to_query_buffer(&self, minhash: &Bound<'_, PyAny>) -> PyResult<()> {
        let row = self.row_to_look_up(minhash)?;
        lock(minhash.py(), &self.state).buffered.push(row);
        Ok(())
    }

    /// The keys that all remembered queries find, as a list in the order of their insertion; forgets the queries.
    fn collect_query_buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut state = lock(py, &self.state);
        let buffered = std::mem::take(&mut state.buffered);
        let results = buffered.iter().map(|row| state.candidates(row, self.b()));
        let results: PyResult<Vec<_>> = results.collect();
        let keys = results.map(|results| {
            let common = results.into_iter().reduce(|mut common, result| {
                common.retain(|number| result.binary_search(number).is_ok());
                common
            });
            state.objects(py, &common.unwrap_or_default())
        });
        drop(state);
        self.list(py, keys?)
    }

    /// Removes a key with all its sketches. Raises ValueError if there is none.
    fn remove(&self, key: Bound<'_, PyAny>) -> PyResult<()> {
        let py = key.py();
        let mut sought = Sought::new(self.stored(key)?)?;
        let (mut state, first) = locate(py, &self.state, &mut sought)?;
        let Some(first) = first else {
            return Err(PyValueError::new_err("The given key does not exist"));
        };
        if let KeyedIndex {
            contents: Some(contents),
            keys,
            ..
        } = &mut *state
        {
            for number in keys.numbers_of(first) {
                contents.index.remove(number);
            }
        }
        let removed = state.keys.remove(first);
        state.compact_if_worthwhile();
        drop(state);
        drop(removed);
        Ok(())
    }

    fn __contains__(&self, key: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        let mut sought = Sought::new(self.stored(key)?)?;
        Ok(locate(py, &self.state, &mut sought)?.1.is_some())
    }

    /// Whether the index holds no key.
    fn is_empty(&self, py: Python<'_>) -> bool {
        lock(py, &self.state).contents.is_none()
    }

    /// Inserts the keys of another index with equal parameters.
    fn _merge_native(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, Self>,
        check_overlap: bool,
    ) -> PyResult<()> {
        let (py, this, other) = (slf.py(), slf.get(), other.get());
        let other_scheme = lock(py, &other.state).scheme.clone();
        if check_overlap {
            for key in other.stored_keys(py) {
                if this.number_of(key.into_bound(py))?.is_some() {
                    return Err(PyValueError::new_err(
                        "The keys are overlapping, duplicate key exists.",
                    ));
                }
            }
        }
        this.learn_scheme(py, other_scheme)?;
        for (key, row) in other.entries(py) {
            this.insert_stored(key.into_bound(py), row, false)?;
        }
        Ok(())
    }

    /// The number of keys in each bucket of a band, by the bytes of the band.
    fn _counts<'py>(&self, py: Python<'py>, band: usize) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for (bytes, count) in self.counts(py, band) {
            counts.set_item(PyBytes::new(py, &bytes), count)?;
        }
        Ok(counts)
    }

    /// Inserts a key, as it is stored, with the bytes of its bands: those of one sketch or of several in turn.
    fn _insert_bands(
        &self,
        key: &Bound<'_, PyAny>,
        bands: Vec<Vec<u8>>,
        layout: (usize, usize),
    ) -> PyResult<()> {
        let layout = SlotLayout::from_pair(layout.0, layout.1);
        let is_hashed = lock(key.py(), &self.state).hashfunc.is_some();
        let row_of = |bands: &[Vec<u8>]| {
            if is_hashed {
                return (bands.len() == self.b()).then(|| SketchRow::Hashed(bands.to_vec()));
            }
            let layout = layout?;
            let values = slots_from_swapped(&bands.concat(), layout.width)?;
            let is_whole = values.len() == self.b() * self.r() * layout.values_per_slot;
            is_whole.then_some(SketchRow::Slots(values, layout))
        };
        for bands in bands.chunks(self.b().max(1)) {
            let row = row_of(bands);
            let row = row.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the bands of a key do not fit {} bands of {} slots; insert its sketch again",
                    self.b(),
                    self.r()
                ))
            })?;
            self.insert_stored(key.clone(), row, false)?;
        }
        Ok(())
    }

    /// The keys in one bucket of a band.
    fn _bucket<'py>(
        &self,
        py: Python<'py>,
        band: usize,
        bytes: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        let state = lock(py, &self.state);
        let found = state.contents.as_ref().and_then(|contents| {
            let values = match state.hashfunc {
                None => slots_from_swapped(bytes, contents.index.slot_width())?,
                Some(_) => vec![state.names.find(bytes)?].into(),
            };
            // Bytes of another length are in no bucket.
            contents.index.bucket(band, values.view()).ok()
        });
        let found = state.keys.firsts_of(found.unwrap_or_default());
        let keys = state.objects(py, &found);
        drop(state);
        PyList::new(py, keys)
    }

    /// The bytes of the bands of a key as it is stored; `None` if there is none.
    fn _bands_of<'py>(&self, key: Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        let py = key.py();
        let mut sought = Sought::new(key)?;
        let (state, first) = locate(py, &self.state, &mut sought)?;
        let bands = first.map(|first| state.bytes_of_key(first, self.b()));
        drop(state);
        Ok(bands.map(|bands| band_bytes(py, bands.into_iter())))
    }

    /// The keys as they are stored, in the order of their insertion.
    fn _stored_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.stored_keys(py))
    }

    /// The number of keys.
    fn _key_count(&self, py: Python<'_>) -> usize {
        lock(py, &self.state).keys.len()
    }

    /// Everything but the parameters, for pickles: scheme, keys, names, layout, widths and words.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = lock(py, &self.state);
        let scheme = state.scheme.clone();
        let keys = state.keys.objects(py);
        let names = state.names.all().to_vec();
        let contents = state.contents.as_ref();
        let layout = contents.map_or(SlotLayout::NAMES, LshContents::layout);
        let rows = contents.map(|contents| contents.index.to_bytes());
        drop(state);
        let RowBytes { widths, words } = rows.unwrap_or_default();
        let names: Vec<_> = names.iter().map(|name| PyBytes::new(py, name)).collect();
        (
            scheme,
            PyList::new(py, keys)?,
            names,
            layout.pair(),
            PyBytes::new(py, &widths),
            PyBytes::new(py, &words),
        )
            .into_pyobject(py)
    }

    /// Takes on what `_state` returned. The index must be empty.
    fn _set_state(&self, py: Python<'_>, state: Pickled<'_>) -> PyResult<()> {
        self.restore(py, state)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A locked index is in use, so its keys are no garbage.
        match self.state.try_lock() {
            Ok(state) => {
                visit.call(&state.hashfunc)?;
                state.keys.traverse(&visit)
            }
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        let cleared = std::mem::replace(&mut *state, KeyedIndex::new(None));
        drop(state);
        drop(cleared);
    }
}

/// What `_state` returns.
type Pickled<'py> = (
    Option<String>,
    Bound<'py, PyList>,
    Vec<Vec<u8>>,
    (usize, usize),
    Vec<u8>,
    Vec<u8>,
);
