//! Reads sketches into rows, inserts them and looks them up.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use simgpu::pipeline::Banding;
use simgpu::scheme::{SlotVec, Values};
use simgpu_index::{LshIndex, RowBytes};
use simgpu_twins::datasketch::bands::{SlotLayout, swapped_bytes};

use super::keyed::{KeyedIndex, LshContents, SketchRow};
use super::{MinHashLsh, Pickled};
use crate::index::keys::Sought;
use crate::index::sketch::{Sketch, matrix_of, scheme_of, sketch_of};
use crate::index::{check_layout, check_scheme, locate, lock, refusal};

/// Sketches between two looks for signals.
const SIGNALS: usize = 1024;

/// Many sketches.
pub(super) enum SketchBatch<'py> {
    Array {
        values: SlotVec,
        layout: SlotLayout,
        count: usize,
    },
    Sketches(Vec<Bound<'py, PyAny>>),
}

impl SketchBatch<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            SketchBatch::Array { count, .. } => *count,
            SketchBatch::Sketches(sketches) => sketches.len(),
        }
    }
}

impl MinHashLsh {
    /// Reads a sketch of the length of the index.
    pub(super) fn read(&self, minhash: &Bound<'_, PyAny>) -> PyResult<Sketch> {
        let length = minhash.len()?;
        self.check_length(length)?;
        let sketch = sketch_of(minhash)?;
        if sketch.values.len() != length * sketch.layout.values_per_slot {
            return Err(PyValueError::new_err(
                "hashvalues has another length than the sketch; give an array with an entry per slot",
            ));
        }
        Ok(sketch)
    }

    fn check_length(&self, length: usize) -> PyResult<()> {
        if length == self.h() {
            return Ok(());
        }
        if self.h() == 0 {
            return Err(PyRuntimeError::new_err(
                "the index has no parameters yet; call super().__init__() in the __init__ of its class",
            ));
        }
        Err(PyValueError::new_err(format!(
            "Expecting minhash with length {}, got {length}",
            self.h()
        )))
    }

    /// Refuses another scheme than that of the index, or remembers the first one.
    pub(super) fn learn_scheme(&self, py: Python<'_>, scheme: Option<String>) -> PyResult<()> {
        let mut state = lock(py, &self.state);
        check_scheme(state.scheme.as_deref(), scheme.as_deref())?;
        state.scheme = state.scheme.take().or(scheme);
        Ok(())
    }

    /// Calls `hashfunc`, if there is one, with each band of a sketch.
    pub(super) fn row(
        &self,
        py: Python<'_>,
        values: SlotVec,
        layout: SlotLayout,
    ) -> PyResult<SketchRow> {
        let hashfunc = match &lock(py, &self.state).hashfunc {
            None => return Ok(SketchRow::Slots(values, layout)),
            Some(hashfunc) => hashfunc.clone_ref(py),
        };
        let per_band = self.r() * layout.values_per_slot;
        let hashed = |band: usize| {
            let band = values.view().range(band * per_band..(band + 1) * per_band);
            let bytes = swapped_bytes(band);
            let hashed = hashfunc.bind(py).call1((PyBytes::new(py, &bytes),))?;
            hashed
                .cast::<PyBytes>()
                .map(|bytes| bytes.as_bytes().to_vec())
                .map_err(|_| {
                    PyTypeError::new_err(
                        "hashfunc did not return bytes; give a function from bytes to bytes",
                    )
                })
        };
        (0..self.b())
            .map(hashed)
            .collect::<PyResult<_>>()
            .map(SketchRow::Hashed)
    }

    pub(super) fn row_to_look_up(&self, minhash: &Bound<'_, PyAny>) -> PyResult<SketchRow> {
        let py = minhash.py();
        let sketch = self.read(minhash)?;
        check_scheme(
            lock(py, &self.state).scheme.as_deref(),
            sketch.scheme.as_deref(),
        )?;
        self.row(py, sketch.values, sketch.layout)
    }

    /// Reads many sketches, whose schemes must fit the index.
    pub(super) fn batch<'py>(&self, minhashes: &Bound<'py, PyAny>) -> PyResult<SketchBatch<'py>> {
        let py = minhashes.py();
        let slots = minhashes.getattr_opt(intern!(py, "slots"))?;
        let is_array = slots.is_some() || minhashes.hasattr(intern!(py, "__array_interface__"))?;
        if !is_array {
            let sketches = minhashes.try_iter()?.collect::<PyResult<_>>()?;
            return Ok(SketchBatch::Sketches(sketches));
        }
        self.learn_scheme(py, scheme_of(minhashes)?)?;
        let (values, layout, shape) = matrix_of(slots.as_ref().unwrap_or(minhashes), 2)?;
        self.check_length(shape[1])?;
        Ok(SketchBatch::Array {
            values,
            layout,
            count: shape[0],
        })
    }

    /// Reads a sketch of a batch, and looks for signals now and then.
    pub(super) fn row_of_batch(
        &self,
        py: Python<'_>,
        batch: &SketchBatch<'_>,
        index: usize,
    ) -> PyResult<SketchRow> {
        if index.is_multiple_of(SIGNALS) {
            py.check_signals()?;
        }
        match batch {
            SketchBatch::Array { values, layout, .. } => {
                let width = self.h() * layout.values_per_slot;
                let row = values.view().range(index * width..(index + 1) * width);
                let row = match row {
                    Values::U32(row) => row.to_vec().into(),
                    Values::U64(row) => row.to_vec().into(),
                };
                self.row(py, row, *layout)
            }
            SketchBatch::Sketches(sketches) => {
                let sketch = self.read(&sketches[index])?;
                self.learn_scheme(py, sketch.scheme)?;
                self.row(py, sketch.values, sketch.layout)
            }
        }
    }

    /// A key as it is stored.
    pub(super) fn stored<'py>(&self, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !self.prepickle() {
            return Ok(key);
        }
        let py = key.py();
        py.import(intern!(py, "pickle"))?
            .call_method1(intern!(py, "dumps"), (key,))
    }

    pub(super) fn insert_row(
        &self,
        key: Bound<'_, PyAny>,
        row: SketchRow,
        check: bool,
    ) -> PyResult<()> {
        self.insert_stored(self.stored(key)?, row, check)
    }

    /// Inserts a key as it is stored.
    pub(super) fn insert_stored(
        &self,
        key: Bound<'_, PyAny>,
        row: SketchRow,
        check: bool,
    ) -> PyResult<()> {
        let py = key.py();
        let mut sought = Sought::new(key)?;
        let (mut state, first) = locate(py, &self.state, &mut sought)?;
        if check && first.is_some() {
            return Err(PyValueError::new_err("The given key already exists"));
        }
        self.insert_values(&mut state, row)?;
        state.keys.push(&sought, first);
        Ok(())
    }

    /// Inserts a row, without its key.
    fn insert_values(&self, state: &mut KeyedIndex, row: SketchRow) -> PyResult<()> {
        let (values, layout) = match row {
            SketchRow::Slots(values, layout) => (values, layout),
            SketchRow::Hashed(names) => {
                let numbers = names.into_iter().map(|name| state.names.number(name));
                (Values::U64(numbers.collect()), SlotLayout::NAMES)
            }
        };
        let contents = match &mut state.contents {
            Some(contents) => contents,
            empty => {
                let banding = self.banding(layout, state.hashfunc.is_some())?;
                empty.insert(LshContents {
                    values_per_slot: layout.values_per_slot,
                    index: LshIndex::new(banding, layout.width),
                })
            }
        };
        check_layout(contents.layout(), layout)?;
        contents.index.insert(values.view()).map_err(refusal)?;
        Ok(())
    }

    /// The bands, and the values of each.
    pub(super) fn banding(&self, layout: SlotLayout, is_hashed: bool) -> PyResult<Banding> {
        let values_per_band = if is_hashed {
            1
        } else {
            self.r().saturating_mul(layout.values_per_slot)
        };
        let values = self.b().saturating_mul(values_per_band);
        Banding::new(self.b(), values_per_band, values).map_err(refusal)
    }

    pub(super) fn found<'py>(
        &self,
        py: Python<'py>,
        row: &SketchRow,
        bands: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let state = lock(py, &self.state);
        let found = state.candidates(row, bands);
        let keys = found.map(|numbers| state.objects(py, &numbers));
        drop(state);
        self.list(py, keys?)
    }

    /// A list of keys as the caller gave them.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        if !self.prepickle() {
            return PyList::new(py, keys);
        }
        let loads = py
            .import(intern!(py, "pickle"))?
            .getattr(intern!(py, "loads"))?;
        let keys = keys.into_iter().map(|key| loads.call1((key,)));
        PyList::new(py, keys.collect::<PyResult<Vec<_>>>()?)
    }

    /// The number of a key as it is stored.
    pub(super) fn number_of(&self, key: Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let py = key.py();
        Ok(locate(py, &self.state, &mut Sought::new(key)?)?.1)
    }

    pub(super) fn stored_keys(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        let state = lock(py, &self.state);
        let firsts: Vec<u32> = state.keys.firsts().collect();
        state.objects(py, &firsts)
    }

    /// All keys as they are stored, with their rows.
    pub(super) fn entries(&self, py: Python<'_>) -> Vec<(Py<PyAny>, SketchRow)> {
        let state = lock(py, &self.state);
        let Some(contents) = &state.contents else {
            return Vec::new();
        };
        let entry = |number| {
            let key = state.keys.get(py, number)?;
            if state.hashfunc.is_some() {
                let bands = (0..self.b()).map(|band| state.bytes_of_band(number, band));
                return Some((key, SketchRow::Hashed(bands.collect())));
            }
            let values = contents.index.signature(number)?;
            Some((key, SketchRow::Slots(values, contents.layout())))
        };
        contents.index.numbers().filter_map(entry).collect()
    }

    /// The bytes of each bucket of a band, and the number of its keys, in the order of their first keys.
    pub(super) fn counts(&self, py: Python<'_>, band: usize) -> Vec<(Vec<u8>, usize)> {
        let state = lock(py, &self.state);
        let contents = state.contents.as_ref();
        let buckets = contents.map(|contents| contents.index.buckets(band));
        let count = |bucket: Vec<u32>| {
            let bytes = state.bytes_of_band(bucket[0], band);
            (bytes, state.keys.firsts_of(bucket).len())
        };
        buckets.into_iter().flatten().map(count).collect()
    }

    /// Takes on the contents of a pickle. The index must be empty.
    pub(super) fn restore(&self, py: Python<'_>, state: Pickled<'_>) -> PyResult<()> {
        let (scheme, keys, names, layout, widths, words) = state;
        let refused =
            || PyValueError::new_err("the pickle of the index is damaged; write it again");
        let is_hashed = lock(py, &self.state).hashfunc.is_some();
        let layout = SlotLayout::from_pair(layout.0, layout.1).ok_or_else(refused)?;
        let banding = self.banding(layout, is_hashed)?;
        let rows = RowBytes { widths, words };
        let index = LshIndex::from_bytes(banding, layout.width, &rows).map_err(|_| refused())?;
        if index.len() != keys.len() {
            return Err(refused());
        }
        let mut sought: Vec<_> = keys.iter().map(Sought::new).collect::<PyResult<_>>()?;
        for sought in &mut sought {
            let (mut state, first) = locate(py, &self.state, sought)?;
            state.keys.push(sought, first);
        }
        let mut state = lock(py, &self.state);
        state.scheme = scheme;
        for name in names {
            state.names.number(name);
        }
        state.contents = (!index.is_empty()).then_some(LshContents {
            values_per_slot: layout.values_per_slot,
            index,
        });
        Ok(())
    }
}
