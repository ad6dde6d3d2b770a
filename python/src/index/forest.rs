//! `MinHashLSHForest`: the most similar sketches by common prefixes of bands (Bawa, Condie and Ganesan 2005).

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering as Atomically};

use numpy::PyArray1;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::keys::{Keys, Sought};
use super::rows::Rows;
use super::sketch::{Layout, Sketch, sketch_of};
use super::{
    Keyed, band_bytes, check_layout, check_room, check_scheme, locate, lock, swapped_bytes,
    values_of_bytes,
};

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Keys,
    /// `None` until the first key is added.
    contents: Option<Contents>,
    scheme: Option<String>,
}

struct Contents {
    layout: Layout,
    /// Values of a tree in a row.
    values_per_tree: usize,
    rows: Rows,
    /// Of each tree, the numbers of the searchable rows, ordered by their values and then by number.
    sorted: Vec<Vec<u32>>,
}

impl Keyed for State {
    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl Contents {
    fn range(&self, tree: usize) -> Range<usize> {
        tree * self.values_per_tree..(tree + 1) * self.values_per_tree
    }

    /// Compares the values of a row in a tree with `prefix`, as far as that goes.
    fn compare(&self, number: u32, tree: usize, prefix: &[u64]) -> Ordering {
        let start = self.range(tree).start;
        self.rows
            .values(number, start..start + prefix.len())
            .cmp(prefix.iter().copied())
    }

    /// Makes all rows searchable.
    fn index(&mut self) {
        for tree in 0..self.sorted.len() {
            let range = self.range(tree);
            let mut sorted: Vec<u32> = self.rows.numbers().collect();
            sorted.sort_unstable_by(|a, b| {
                let values = |number| self.rows.values(number, range.clone());
                values(*a).cmp(values(*b)).then(a.cmp(b))
            });
            self.sorted[tree] = sorted;
        }
    }

    /// Makes a row searchable in the trees that have its values already. datasketch shows such rows at once, too.
    fn join(&mut self, number: u32, row: &[u64]) {
        for tree in 0..self.sorted.len() {
            let values = &row[self.range(tree)];
            let sorted = &self.sorted[tree];
            let end = sorted.partition_point(|other| self.compare(*other, tree, values).is_le());
            if end > 0 && self.compare(sorted[end - 1], tree, values).is_eq() {
                self.sorted[tree].insert(end, number);
            }
        }
    }

    /// Up to `most` rows: those with the longest common prefixes first.
    fn nearest(&self, row: &[u64], most: usize) -> Vec<u32> {
        let mut found = Found {
            numbers: Vec::new(),
            known: HashSet::new(),
            most,
        };
        let places = (0..self.sorted.len()).map(|tree| {
            let values = &row[self.range(tree)];
            let place = self.sorted[tree]
                .partition_point(|number| self.compare(*number, tree, values).is_lt());
            place..place
        });
        let mut seen: Vec<Range<usize>> = places.collect();
        let depth = self.values_per_tree / self.layout.values_per_slot;
        for slots in (1..=depth).rev() {
            for (tree, seen) in seen.iter_mut().enumerate() {
                let start = self.range(tree).start;
                let prefix = &row[start..start + slots * self.layout.values_per_slot];
                if self.widen(tree, prefix, seen, &mut found).is_none() {
                    return found.numbers;
                }
            }
        }
        found.numbers
    }

    /// Widens the range of a tree to the rows with a shorter prefix and adds those. `None` when there are enough.
    fn widen(
        &self,
        tree: usize,
        prefix: &[u64],
        seen: &mut Range<usize>,
        found: &mut Found,
    ) -> Option<()> {
        let sorted = &self.sorted[tree];
        let has_prefix = |place: usize| self.compare(sorted[place], tree, prefix).is_eq();
        if seen.start > 0 && has_prefix(seen.start - 1) {
            let before = &sorted[..seen.start];
            let start =
                before.partition_point(|number| self.compare(*number, tree, prefix).is_lt());
            before[start..]
                .iter()
                .try_for_each(|number| found.add(*number))?;
            seen.start = start;
        }
        while seen.end < sorted.len() && has_prefix(seen.end) {
            found.add(sorted[seen.end])?;
            seen.end += 1;
        }
        Some(())
    }
}

/// The rows that a query found, in the order in which it found them.
struct Found {
    numbers: Vec<u32>,
    known: HashSet<u32>,
    most: usize,
}

impl Found {
    /// Adds a row. `None` when there are enough.
    fn add(&mut self, number: u32) -> Option<()> {
        if self.known.insert(number) {
            self.numbers.push(number);
        }
        (self.numbers.len() < self.most).then_some(())
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
        self.trees.store(trees, Atomically::Relaxed);
        self.depth.store(num_perm / trees, Atomically::Relaxed);
        let earlier = std::mem::take(&mut *lock(py, &self.state));
        drop(earlier);
        Ok(())
    }

    /// The number of prefix trees.
    #[getter]
    fn l(&self) -> usize {
        self.trees.load(Atomically::Relaxed)
    }

    /// The depth of a prefix tree: its number of slots.
    #[getter]
    fn k(&self) -> usize {
        self.depth.load(Atomically::Relaxed)
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
            4 => Layout {
                value_bytes: 4,
                values_per_slot: 1,
            },
            per_slot => Layout {
                value_bytes: 8,
                values_per_slot: (per_slot / 8).max(1),
            },
        };
        let values = values_of_bytes(&bytes, layout)
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
            contents.index();
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
        let contents = state
            .contents
            .as_ref()
            .filter(|contents| contents.layout == sketch.layout);
        let numbers = contents.map(|contents| contents.nearest(&sketch.values, most));
        let numbers = numbers.unwrap_or_default();
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
        let layout = contents.layout;
        let mut values = Vec::new();
        contents.rows.copy_to(number, &mut values);
        drop(state);
        if layout.values_per_slot != 1 {
            return Err(PyValueError::new_err(
                "the forest holds weighted sketches; keep their hash values elsewhere",
            ));
        }
        if layout.value_bytes == 8 {
            return Ok(PyArray1::from_vec(py, values).into_any());
        }
        #[allow(clippy::cast_possible_truncation, reason = "values of four bytes")]
        let values: Vec<u32> = values.into_iter().map(|value| value as u32).collect();
        Ok(PyArray1::from_vec(py, values).into_any())
    }

    /// Whether no key is searchable.
    fn is_empty(&self, py: Python<'_>) -> bool {
        let state = lock(py, &self.state);
        state
            .contents
            .as_ref()
            .is_none_or(|contents| contents.sorted[0].is_empty())
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
                let trees = (0..self.l()).map(|tree| {
                    swapped_bytes(
                        contents.rows.values(number, contents.range(tree)),
                        contents.layout,
                    )
                });
                trees.collect::<Vec<_>>()
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
        if let Some(contents) = &state.contents
            && let Some(sorted) = contents.sorted.get(tree)
        {
            let values = |number: &u32| contents.rows.values(*number, contents.range(tree));
            bytes = sorted
                .iter()
                .map(|number| swapped_bytes(values(number), contents.layout))
                .collect();
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
            let Layout {
                value_bytes,
                values_per_slot,
            } = contents.layout;
            let (widths, words) = contents.rows.to_bytes();
            let numbers = contents.sorted.iter().flatten();
            let sorted: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
            let lengths: Vec<usize> = contents.sorted.iter().map(Vec::len).collect();
            (
                (value_bytes, values_per_slot),
                widths,
                words,
                sorted,
                lengths,
            )
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
        let new = || self.contents(Rows::new(sketch.values.len()), sketch.layout);
        let contents = state.contents.get_or_insert_with(new);
        check_layout(contents.layout, sketch.layout)?;
        check_room(&contents.rows)?;
        let number = contents.rows.push(&sketch.values);
        contents.join(number, &sketch.values);
        state.keys.push(&sought, None);
        Ok(())
    }

    /// Reads a sketch, cut to the slots of the trees.
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
        let mut sketch = sketch_of(minhash)?;
        let values = slots * sketch.layout.values_per_slot;
        if sketch.values.len() < values {
            return Err(refused());
        }
        sketch.values.truncate(values);
        Ok(sketch)
    }

    fn contents(&self, rows: Rows, layout: Layout) -> Contents {
        Contents {
            layout,
            values_per_tree: self.k() * layout.values_per_slot,
            rows,
            sorted: vec![Vec::new(); self.l()],
        }
    }

    /// Checks and takes on the contents of a pickle.
    fn unpickled(&self, contents: PickledContents, keys: usize) -> PyResult<Contents> {
        let ((value_bytes, values_per_slot), widths, words, sorted, lengths) = contents;
        let refused =
            || PyValueError::new_err("the pickle of the forest is damaged; write it again");
        if !matches!(value_bytes, 4 | 8) || !(1..=1 << 20).contains(&values_per_slot) {
            return Err(refused());
        }
        let layout = Layout {
            value_bytes,
            values_per_slot,
        };
        let values = self.k() * self.l() * values_per_slot;
        let rows = Rows::from_bytes(values, &widths, &words).ok_or_else(refused)?;
        let (numbers, rest) = sorted.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let is_known = |number: u32| (number as usize) < keys;
        let fits = rows.next_number() == keys
            && rest.is_empty()
            && lengths.len() == self.l()
            && lengths
                .iter()
                .try_fold(0usize, |sum, length| sum.checked_add(*length))
                == Some(numbers.len())
            && numbers.clone().all(is_known);
        if !fits {
            return Err(refused());
        }
        let mut contents = self.contents(rows, layout);
        contents.sorted = lengths
            .iter()
            .map(|length| numbers.by_ref().take(*length).collect())
            .collect();
        Ok(contents)
    }
}
