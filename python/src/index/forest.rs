//! `MinHashLSHForest`: the most similar sketches by common prefixes of bands (Bawa, Condie and Ganesan 2005).

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use numpy::PyArray1;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use simgpu::pipeline::Banding;
use simgpu::scheme::{Values, Width};
use simgpu_index::{LshForest, RowBytes};
use simgpu_twins::datasketch::bands::{SlotLayout, slots_from_swapped, swapped_bytes};

use super::keys::{Keys, Sought};
use super::sketch::{Sketch, sketch_of};
use super::{Keyed, band_bytes, check_layout, check_scheme, locate, lock, refusal};

/// The native part of `simgpu.datasketch.MinHashLSHForest`. `_begin` sets the parameters.
#[pyclass(
    name = "MinHashLSHForest",
    module = "simgpu._simgpu",
    frozen,
    subclass,
    weakref
)]
pub(crate) struct MinHashLshForest {
    trees: AtomicUsize,
    depth: AtomicUsize,
    state: Mutex<KeyedForest>,
}

#[derive(Default)]
struct KeyedForest {
    keys: Keys,
    /// `None` until the first key is added.
    contents: Option<ForestContents>,
    scheme: Option<String>,
}

/// The forest, whose numbers are those of the keys.
struct ForestContents {
    values_per_slot: NonZeroUsize,
    forest: LshForest,
}

impl Keyed for KeyedForest {
    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl ForestContents {
    fn layout(&self) -> SlotLayout {
        SlotLayout {
            width: self.forest.slot_width(),
            values_per_slot: self.values_per_slot.get(),
        }
    }
}

#[pymethods]
impl MinHashLshForest {
    // Arguments are those of `__init__`, which a subclass may replace.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        MinHashLshForest {
            trees: AtomicUsize::new(0),
            depth: AtomicUsize::new(0),
            state: Mutex::default(),
        }
    }

    /// Makes this an empty forest.
    fn _begin(&self, py: Python<'_>, num_perm: i64, l: i64) -> PyResult<()> {
        let sizes = usize::try_from(num_perm).ok().zip(usize::try_from(l).ok());
        let Some((num_perm, trees)) = sizes.filter(|sizes| sizes.0 > 0 && sizes.1 > 0) else {
            return Err(PyValueError::new_err("num_perm and l must be positive"));
        };
        if trees > num_perm {
            return Err(PyValueError::new_err("l cannot be greater than num_perm"));
        }
        self.trees.store(trees, Ordering::Relaxed);
        self.depth.store(num_perm / trees, Ordering::Relaxed);
        let earlier = std::mem::take(&mut *lock(py, &self.state));
        drop(earlier);
        Ok(())
    }

    /// The number of prefix trees.
    #[getter]
    fn l(&self) -> usize {
        self.trees.load(Ordering::Relaxed)
    }

    /// The depth of a prefix tree: its number of slots.
    #[getter]
    fn k(&self) -> usize {
        self.depth.load(Ordering::Relaxed)
    }

    #[getter]
    fn _minhash_scheme(&self, py: Python<'_>) -> Option<String> {
        lock(py, &self.state).scheme.clone()
    }

    /// Adds a key with its sketch. Call ``index`` to make it searchable.
    ///
    /// Raises ValueError if the key exists, or if the sketch is too short or of another scheme or kind of slots than
    /// those before.
    fn add(&self, key: Bound<'_, PyAny>, minhash: &Bound<'_, PyAny>) -> PyResult<()> {
        let sketch = self.read(minhash)?;
        self.add_sketch(key, sketch)
    }

    /// Adds a key with the bytes of its trees.
    fn _add_bands(
        &self,
        key: Bound<'_, PyAny>,
        bands: Vec<Vec<u8>>,
        scheme: Option<String>,
    ) -> PyResult<()> {
        let slots = self.l() * self.k();
        let bytes = bands.concat();
        let layout = match bytes.len() / slots.max(1) {
            4 => SlotLayout {
                width: Width::U32,
                values_per_slot: 1,
            },
            per_slot => SlotLayout {
                width: Width::U64,
                values_per_slot: (per_slot / 8).max(1),
            },
        };
        let values = slots_from_swapped(&bytes, layout.width)
            .filter(|values| values.len() == slots * layout.values_per_slot);
        let values = values.ok_or_else(|| {
            PyValueError::new_err(format!(
                "the trees of a key do not fit {} trees of {} slots; add its sketch again",
                self.l(),
                self.k()
            ))
        })?;
        let sketch = Sketch {
            values,
            layout,
            scheme,
        };
        self.add_sketch(key, sketch)
    }

    /// Makes all keys searchable.
    fn index(&self, py: Python<'_>) {
        if let Some(contents) = &mut lock(py, &self.state).contents {
            contents.forest.index();
        }
    }

    /// Up to ``k`` keys with the longest common prefixes with a sketch, longest first.
    fn query<'py>(&self, minhash: &Bound<'py, PyAny>, k: i64) -> PyResult<Bound<'py, PyList>> {
        let py = minhash.py();
        let Some(most) = usize::try_from(k).ok().filter(|most| *most > 0) else {
            return Err(PyValueError::new_err("k must be positive"));
        };
        let sketch = self.read(minhash)?;
        let state = lock(py, &self.state);
        check_scheme(state.scheme.as_deref(), sketch.scheme.as_deref())?;
        let contents = state.contents.as_ref();
        let contents = contents.filter(|contents| contents.layout() == sketch.layout);
        let numbers = contents.map(|contents| contents.forest.query(sketch.values.view(), most));
        let numbers = numbers.unwrap_or_else(|| Ok(Vec::new())).map_err(refusal)?;
        let keys: Vec<_> = numbers
            .iter()
            .filter_map(|number| state.keys.get(py, *number))
            .collect();
        drop(state);
        PyList::new(py, keys)
    }

    /// The hash values of a key, without those that are in no tree. Raises KeyError if there is none.
    fn get_minhash_hashvalues<'py>(&self, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let mut sought = Sought::new(key)?;
        let (state, number) = locate(py, &self.state, &mut sought)?;
        let (Some(number), Some(contents)) = (number, &state.contents) else {
            drop(state);
            return Err(PyKeyError::new_err(format!(
                "The provided key does not exist in the LSHForest: {}",
                sought.key.str()?
            )));
        };
        let is_weighted = contents.layout().values_per_slot != 1;
        let values = contents.forest.signature(number);
        drop(state);
        if is_weighted {
            return Err(PyValueError::new_err(
                "the forest holds weighted sketches; keep their hash values elsewhere",
            ));
        }
        Ok(match values.unwrap_or(Values::U64(Vec::new())) {
            Values::U32(values) => PyArray1::from_vec(py, values).into_any(),
            Values::U64(values) => PyArray1::from_vec(py, values).into_any(),
        })
    }

    /// Whether no key is searchable.
    fn is_empty(&self, py: Python<'_>) -> bool {
        let state = lock(py, &self.state);
        state
            .contents
            .as_ref()
            .is_none_or(|contents| contents.forest.sorted(0).is_empty())
    }

    fn __contains__(&self, key: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        Ok(locate(py, &self.state, &mut Sought::new(key)?)?.1.is_some())
    }

    /// The bytes of the trees of a key; `None` if there is none.
    fn _bands_of<'py>(&self, key: Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        let py = key.py();
        let (state, number) = locate(py, &self.state, &mut Sought::new(key)?)?;
        let bytes = number
            .zip(state.contents.as_ref())
            .map(|(number, contents)| {
                let trees = (0..self.l()).filter_map(|tree| contents.forest.tree(number, tree));
                let bytes = trees.map(|values| swapped_bytes(values.view()));
                bytes.collect::<Vec<_>>()
            });
        drop(state);
        Ok(bytes.map(|bytes| band_bytes(py, bytes.into_iter())))
    }

    /// The keys in the order in which they were added.
    fn _stored_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = lock(py, &self.state).keys.objects(py);
        PyList::new(py, keys)
    }

    /// The number of keys.
    fn _key_count(&self, py: Python<'_>) -> usize {
        lock(py, &self.state).keys.len()
    }

    /// The bytes in a tree of the searchable keys, sorted, each once.
    fn _sorted_bytes<'py>(&self, py: Python<'py>, tree: usize) -> Vec<Bound<'py, PyBytes>> {
        let state = lock(py, &self.state);
        let mut bytes: Vec<Vec<u8>> = Vec::new();
        if let Some(ForestContents { forest, .. }) = &state.contents {
            let numbers = forest.sorted(tree).iter();
            let values = numbers.filter_map(|number| forest.tree(*number, tree));
            bytes = values.map(|values| swapped_bytes(values.view())).collect();
        }
        drop(state);
        bytes.dedup();
        band_bytes(py, bytes.into_iter())
    }

    /// Everything but the parameters, for pickles: scheme, keys, layout, widths, words and the sorted rows.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = lock(py, &self.state);
        let (scheme, keys) = (state.scheme.clone(), state.keys.objects(py));
        let contents = state.contents.as_ref().map(|contents| {
            let RowBytes { widths, words } = contents.forest.to_bytes();
            let trees = || (0..self.l()).map(|tree| contents.forest.sorted(tree));
            let numbers = trees().flatten();
            let sorted: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
            let lengths: Vec<usize> = trees().map(<[u32]>::len).collect();
            (contents.layout().pair(), widths, words, sorted, lengths)
        });
        drop(state);
        let contents = contents.map(|(layout, widths, words, sorted, lengths)| {
            let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes);
            (layout, bytes(widths), bytes(words), bytes(sorted), lengths)
        });
        (scheme, PyList::new(py, keys)?, contents).into_pyobject(py)
    }

    /// Takes on what `_state` returned. The forest must be empty.
    fn _set_state(&self, py: Python<'_>, state: Pickled<'_>) -> PyResult<()> {
        let (scheme, keys, contents) = state;
        let contents = contents
            .map(|contents| self.unpickled(contents, keys.len()))
            .transpose()?;
        for key in keys {
            let mut sought = Sought::new(key)?;
            let (mut state, first) = locate(py, &self.state, &mut sought)?;
            state.keys.push(&sought, first);
        }
        let mut state = lock(py, &self.state);
        (state.scheme, state.contents) = (scheme, contents);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A locked forest is in use, so its keys are no garbage.
        match self.state.try_lock() {
            Ok(state) => state.keys.traverse(&visit),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let cleared = self
            .state
            .try_lock()
            .map(|mut state| std::mem::take(&mut *state));
        drop(cleared);
    }
}

/// What `_state` returns.
type Pickled<'py> = (Option<String>, Bound<'py, PyList>, Option<PickledContents>);
type PickledContents = ((usize, usize), Vec<u8>, Vec<u8>, Vec<u8>, Vec<usize>);

impl MinHashLshForest {
    fn add_sketch(&self, key: Bound<'_, PyAny>, sketch: Sketch) -> PyResult<()> {
        let py = key.py();
        {
            let mut state = lock(py, &self.state);
            check_scheme(state.scheme.as_deref(), sketch.scheme.as_deref())?;
            state.scheme = state.scheme.take().or(sketch.scheme);
        }
        let mut sought = Sought::new(key)?;
        let (mut state, first) = locate(py, &self.state, &mut sought)?;
        if first.is_some() {
            return Err(PyValueError::new_err(
                "The given key has already been added",
            ));
        }
        let state = &mut *state;
        let contents = match &mut state.contents {
            Some(contents) => contents,
            empty => empty.insert(self.contents(sketch.layout)?),
        };
        check_layout(contents.layout(), sketch.layout)?;
        let inserted = contents.forest.insert(sketch.values.view());
        inserted.map_err(refusal)?;
        state.keys.push(&sought, None);
        Ok(())
    }

    /// Reads a sketch that has the slots of the trees, or more.
    fn read(&self, minhash: &Bound<'_, PyAny>) -> PyResult<Sketch> {
        let refused = || PyValueError::new_err("The num_perm of MinHash out of range");
        let slots = self.k() * self.l();
        if slots == 0 {
            return Err(PyRuntimeError::new_err(
                "the forest has no parameters yet; call super().__init__() in the __init__ of its class",
            ));
        }
        if minhash.len()? < slots {
            return Err(refused());
        }
        let sketch = sketch_of(minhash)?;
        if sketch.values.len() < slots * sketch.layout.values_per_slot {
            return Err(refused());
        }
        Ok(sketch)
    }

    /// An empty forest.
    fn contents(&self, layout: SlotLayout) -> PyResult<ForestContents> {
        let values_per_slot =
            NonZeroUsize::new(layout.values_per_slot).unwrap_or(NonZeroUsize::MIN);
        let depth = self.k().saturating_mul(values_per_slot.get());
        let trees = Banding::new(self.l(), depth, self.l().saturating_mul(depth));
        let trees = trees.map_err(refusal)?;
        Ok(ForestContents {
            values_per_slot,
            forest: LshForest::with_slot_values(trees, layout.width, values_per_slot),
        })
    }

    /// Checks and takes on the contents of a pickle.
    fn unpickled(&self, contents: PickledContents, keys: usize) -> PyResult<ForestContents> {
        let (layout, widths, words, sorted, lengths) = contents;
        let refused =
            || PyValueError::new_err("the pickle of the forest is damaged; write it again");
        let layout = SlotLayout::from_pair(layout.0, layout.1).ok_or_else(refused)?;
        let (numbers, rest) = sorted.as_chunks::<4>();
        let total = lengths
            .iter()
            .try_fold(0usize, |sum, length| sum.checked_add(*length));
        if total != Some(numbers.len()) || !rest.is_empty() {
            return Err(refused());
        }
        let mut numbers = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let sorted = lengths
            .iter()
            .map(|length| numbers.by_ref().take(*length).collect())
            .collect();
        let mut contents = self.contents(layout)?;
        let restored = contents.forest.restore(&RowBytes { widths, words }, sorted);
        restored.map_err(|_| refused())?;
        if contents.forest.len() != keys {
            return Err(refused());
        }
        Ok(contents)
    }
}
