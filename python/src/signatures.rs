//! Signatures as Python objects.

use std::panic::RefUnwindSafe;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeListArray, UInt32Array, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{Element, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple, PyType};
use rayon::prelude::*;
use simgpu::Error;
use simgpu::error::Conflict;
use simgpu::pipeline::{Banding, Cardinality, JaccardEstimate, SlotBits, band_key};
use simgpu::scheme::{Scheme, SlotVec, Slots, SlotsMut, Values};
use simgpu::search::SignaturesInMemory;

use crate::arguments::{argument, optional_argument, refused, type_of};
use crate::arrow::{Chunks, export_array, import, of_arrow};
use crate::errors::{OrRaise, parameter_error};
use crate::pool;
use crate::progress::Display;
use crate::scheme::{PyScheme, SEED, banding_of_arguments, scheme_of};

/// Shared slots. Rows are cut out of them without a copy, and they go to numpy and Arrow as they are.
#[derive(Clone)]
pub(crate) struct SlotBuffer(Values<ScalarBuffer<u32>, ScalarBuffer<u64>>);

/// Memory of a numpy array, alive as long as this.
struct Held(#[allow(dead_code, reason = "kept for its drop")] Py<PyAny>);

impl RefUnwindSafe for Held {}

impl SlotBuffer {
    /// Takes over the memory of a vector.
    pub(crate) fn of_vec(slots: SlotVec) -> Self {
        SlotBuffer(match slots {
            Values::U32(slots) => Values::U32(slots.into()),
            Values::U64(slots) => Values::U64(slots.into()),
        })
    }

    /// Shares the memory of a C-contiguous array.
    pub(crate) fn of_narrow(array: &Bound<'_, PyArray2<u32>>) -> PyResult<Self> {
        Ok(SlotBuffer(Values::U32(shared(array)?)))
    }

    /// Shares the memory of a C-contiguous array.
    pub(crate) fn of_wide(array: &Bound<'_, PyArray2<u64>>) -> PyResult<Self> {
        Ok(SlotBuffer(Values::U64(shared(array)?)))
    }

    fn view(&self) -> Slots<'_> {
        self.0.view()
    }

    /// The slots `start..start + len`, without a copy.
    fn slice(&self, start: usize, len: usize) -> Self {
        SlotBuffer(match &self.0 {
            Values::U32(slots) => Values::U32(slots.slice(start, len)),
            Values::U64(slots) => Values::U64(slots.slice(start, len)),
        })
    }

    fn array(&self) -> ArrayRef {
        match &self.0 {
            Values::U32(slots) => Arc::new(UInt32Array::new(slots.clone(), None)),
            Values::U64(slots) => Arc::new(UInt64Array::new(slots.clone(), None)),
        }
    }
}

/// A buffer over the memory of a C-contiguous array, which it keeps alive.
fn shared<T: Element + arrow_buffer::ArrowNativeType>(
    array: &Bound<'_, PyArray2<T>>,
) -> PyResult<ScalarBuffer<T>> {
    let bytes = array.len() * size_of::<T>();
    let borrowed = array.try_readonly();
    let borrowed = borrowed.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    let first = NonNull::from(borrowed.as_slice()?).cast::<u8>();
    let owner = Arc::new(Held(array.clone().into_any().unbind()));
    // SAFETY: `as_slice` proves that the array is contiguous and aligned, so that `first` is valid for `bytes` bytes.
    // `owner` keeps the array, and numpy refuses to move memory to which another object refers. As everywhere in numpy,
    // whoever writes to an array while another thread reads it may make that thread read old or new values.
    #[allow(unsafe_code, reason = "the buffer shares the memory of the array")]
    let buffer = unsafe { Buffer::from_custom_allocation(first, bytes, owner) };
    Ok(buffer.into())
}

/// MinHash signatures: a matrix of shape (documents, num_perm).
///
/// Immutable. ``slots`` is the matrix; it is also what numpy and Arrow get of this object, without a copy. Indexing by
/// a number gives the slots of one signature; by a slice, an array of row numbers or a mask, the Signatures of those
/// rows.
#[pyclass(frozen, module = "simgpu", name = "Signatures")]
pub(crate) struct PySignatures {
    scheme: Scheme,
    slots: SlotBuffer,
}

#[pymethods]
impl PySignatures {
    /// The scheme.
    #[getter(scheme)]
    fn py_scheme(&self) -> PyScheme {
        PyScheme(self.scheme.clone())
    }

    /// Number of slots per signature.
    #[getter]
    fn num_perm(&self) -> usize {
        self.scheme.num_perm()
    }

    /// The pair (documents, num_perm).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.scheme.num_perm())
    }

    /// The slots: a read-only array of shape (documents, num_perm) over the memory of this object.
    #[getter]
    fn slots<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let owner = slf.clone().into_any();
        let shape = [this.rows(), this.scheme.num_perm()];
        match &this.slots.0 {
            Values::U32(slots) => matrix_over(shape, slots, owner),
            Values::U64(slots) => matrix_over(shape, slots, owner),
        }
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let slots = PySignatures::slots(slf)?;
        if dtype.is_none() && copy != Some(true) {
            return Ok(slots);
        }
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        let numpy = py.import("numpy")?;
        let Some(copy) = copy else {
            // NumPy before 2 takes no None for `copy`.
            return numpy.call_method("asarray", (slots,), Some(&options));
        };
        options.set_item("copy", copy)?;
        numpy.call_method("array", (slots,), Some(&options))
    }

    /// The signatures as an Arrow array of type fixed_size_list, without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A producer may ignore the request, and there is one type only.
        let _ = requested_schema;
        export_array(py, &self.list_array()?)
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let py = slf.py();
        if let Ok(slice) = index.cast::<PySlice>() {
            let rows = isize::try_from(this.rows())?;
            let bounds = slice.indices(rows)?;
            if bounds.step == 1 {
                let num_perm = this.scheme.num_perm();
                let start = usize::try_from(bounds.start)? * num_perm;
                let slots = this.slots.slice(start, bounds.slicelength * num_perm);
                return Ok(Bound::new(py, this.with(slots))?.into_any());
            }
        }
        let selected = PySignatures::slots(slf)?.get_item(index)?;
        let selected = selected
            .cast_into::<PyUntypedArray>()
            .map_err(|_| no_row())?;
        match selected.ndim() {
            1 => Ok(selected.into_any()),
            2 if selected.shape()[1] == this.scheme.num_perm() => {
                let slots = slots_of(&selected, true)?;
                Ok(Bound::new(py, this.with(slots))?.into_any())
            }
            _ => Err(no_row()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        PySignatures::slots(slf)?.try_iter()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let py = other.py();
        other.cast::<PySignatures>().is_ok_and(|other| {
            let other = other.get();
            self.scheme == other.scheme && py.detach(|| self.view() == other.view())
        })
    }

    fn __repr__(&self) -> String {
        let scheme = PyScheme(self.scheme.clone()).__repr__();
        format!("<Signatures of {} documents, {scheme}>", self.rows())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let page = slf.py().import("simgpu._repr")?;
        page.call_method1("signatures", (slf,))
    }

    #[allow(clippy::type_complexity, reason = "a function and its arguments")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>, PyScheme))> {
        let make = slf.get_type().getattr("from_array")?;
        Ok((make, (PySignatures::slots(slf)?, slf.get().py_scheme())))
    }

    /// Estimates the Jaccard similarity of documents ``i`` and ``j``: the share of slots in which they agree.
    ///
    /// The standard error is ``sqrt(J * (1 - J) / num_perm)``. Two documents without shingles agree in all slots.
    ///
    /// Args:
    ///     i: A row; negative ones count from the end.
    ///     j: A row.
    ///     interval: A confidence level, such as 0.95.
    ///
    /// Returns:
    ///     The estimate or, with ``interval``, the tuple (estimate, low, high): the confidence interval of Clopper and
    ///     Pearson.
    #[pyo3(signature = (i, j, *, interval=None))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        i: &Bound<'py, PyAny>,
        j: &Bound<'py, PyAny>,
        interval: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (left, right) = (self.row("i", i)?, self.row("j", j)?);
        let estimate = JaccardEstimate::between(left, right).or_raise(py)?;
        let interval = optional_argument(interval, "interval", "a confidence level, such as 0.95")?;
        let Some(confidence) = interval else {
            return Ok(estimate.jaccard().into_pyobject(py)?.into_any());
        };
        let is_level = confidence > 0.0 && confidence < 1.0;
        if !is_level {
            let message = format!(
                "interval is {confidence}; give a confidence level above 0 and below 1, such as 0.95"
            );
            return Err(parameter_error(py, message));
        }
        let (low, high) = estimate.interval(confidence).or_raise(py)?;
        let all = (estimate.jaccard(), low, high);
        Ok(all.into_pyobject(py)?.into_any())
    }

    /// Estimates all similarities of these documents with those of ``other``, or among themselves.
    ///
    /// Returns:
    ///     An array of shape (documents, documents of other), of type float64.
    ///
    /// Raises:
    ///     ParameterError: The schemes differ.
    #[pyo3(signature = (other=None))]
    fn matrix<'py>(
        slf: &Bound<'py, Self>,
        other: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let py = slf.py();
        let this = slf.get();
        let other = other
            .map(|other| signatures_of("other", other))
            .transpose()?;
        let other = other.map_or(this, |other| other.get());
        this.check_scheme(py, other)?;
        let (rows, columns) = (this.rows(), other.rows());
        let mut estimates = Vec::new();
        let len = rows.saturating_mul(columns);
        estimates.try_reserve_exact(len).map_err(|_| {
            pyo3::exceptions::PyMemoryError::new_err(format!(
                "a matrix of {rows} x {columns} estimates does not fit in memory; take slices"
            ))
        })?;
        estimates.resize(len, 0.0);
        let of_row = |(i, estimates): (usize, &mut [f64])| {
            for (j, estimate) in estimates.iter_mut().enumerate() {
                *estimate = JaccardEstimate::between(this.at(i), other.at(j))?.jaccard();
            }
            Ok(())
        };
        if len * this.scheme.num_perm() < INLINE_SLOTS {
            let mut each = estimates.chunks_mut(columns.max(1)).enumerate();
            each.try_for_each(of_row).or_raise(py)?;
        } else {
            pool::run(py, None, &mut Display::default(), |progress| {
                for (block, rows) in estimates.chunks_mut(columns.max(1) * BLOCK).enumerate() {
                    let each = rows.par_chunks_mut(columns.max(1)).enumerate();
                    each.try_for_each(|(i, row)| of_row((block * BLOCK + i, row)))?;
                    simgpu::progress::advance(progress, block as u64, 0, 0)?;
                }
                Ok(())
            })?;
        }
        matrix_of_values(py, [rows, columns], estimates)
    }

    /// The signatures of the unions: row i is that of the union of row i here and of row i of ``other``.
    ///
    /// Raises:
    ///     ParameterError: The schemes or the numbers of rows differ.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let other = signatures_of("other", other)?.get();
        self.check_scheme(py, other)?;
        if self.rows() != other.rows() {
            let (left, right) = (self.rows(), other.rows());
            return Err(Error::from(Conflict::RowCounts { left, right })).or_raise(py);
        }
        let merged = py.detach(|| self.merged(other)).or_raise(py)?;
        Ok(self.with(SlotBuffer::of_vec(merged)))
    }

    /// The signatures with fewer bits per slot (Li and König 2010), for less memory.
    ///
    /// A packed slot is the low ``bits`` bits of the mixed slot; slot k is bits ``k * bits`` and following of its row,
    /// from the least significant bit of the first word.
    ///
    /// Args:
    ///     bits: 1, 2, 4, 8 or 16.
    ///
    /// Returns:
    ///     An array of shape (documents, ceil(num_perm * bits / 64)), of type uint64.
    fn packed<'py>(
        &self,
        py: Python<'py>,
        bits: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let bits: u32 = argument(bits, "bits", "1, 2, 4, 8 or 16")?;
        let known = [
            SlotBits::One,
            SlotBits::Two,
            SlotBits::Four,
            SlotBits::Eight,
            SlotBits::Sixteen,
        ];
        let known = known.into_iter().find(|known| known.get() == bits);
        let known = known
            .ok_or_else(|| parameter_error(py, format!("bits is {bits}; give 1, 2, 4, 8 or 16")))?;
        let words = known.words(self.scheme.num_perm());
        let packed = py.detach(|| {
            let mut packed = vec![0; self.rows() * words];
            let rows = packed.chunks_mut(words).enumerate();
            for (row, words) in rows {
                known.pack(self.at(row), words)?;
            }
            Ok(packed)
        });
        matrix_of_values(py, [self.rows(), words], packed.or_raise(py)?)
    }

    /// The band keys, for a shuffle elsewhere: documents that share a key in one band are candidates.
    ///
    /// A document without shingles has the keys of the empty set; leave such documents out of a shuffle.
    ///
    /// Args:
    ///     bands: Number of bands, with ``rows``; by default the best for the threshold, or the preset's.
    ///     rows: Slots per band, with ``bands``.
    ///     threshold: Similarity for which bands and rows are chosen.
    ///
    /// Returns:
    ///     An array of shape (documents, bands), of type uint64.
    #[pyo3(signature = (bands=None, rows=None, threshold=None),
        text_signature = "($self, bands=None, rows=None, threshold=0.8)")]
    fn band_keys<'py>(
        &self,
        py: Python<'py>,
        bands: Option<&Bound<'py, PyAny>>,
        rows: Option<&Bound<'py, PyAny>>,
        threshold: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let banding = banding_of_arguments(py, bands, rows, threshold, &self.scheme)?;
        self.keys_of(py, banding)
    }

    /// Estimates the number of distinct shingles of document ``i``.
    ///
    /// Returns:
    ///     The estimate, and its standard error: ``estimate / sqrt(num_perm - 2)``.
    ///
    /// Raises:
    ///     ParameterError: The scheme is ``fast`` or ``rensa``, or has fewer than three slots.
    fn cardinality(&self, py: Python<'_>, i: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        let estimate = Cardinality::of(self.row("i", i)?, &self.scheme).or_raise(py)?;
        Ok((estimate.count(), estimate.standard_error()))
    }

    /// Signatures from their slots.
    ///
    /// Args:
    ///     slots: An array of shape (documents, num_perm), of the scheme's dtype. A read-only C-contiguous array, such
    ///         as a file opened by ``numpy.load(path, mmap_mode="r")``, is shared, any other is copied.
    ///     scheme: A Scheme or its name.
    ///     seed: Seed of the permutations, instead of the scheme's.
    ///
    /// Raises:
    ///     TypeError: The slots have another dtype or other dimensions.
    ///     ParameterError: The scheme has another number of permutations.
    #[classmethod]
    #[pyo3(signature = (slots, scheme, *, seed=None))]
    fn from_array(
        _cls: &Bound<'_, PyType>,
        slots: &Bound<'_, PyAny>,
        scheme: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = slots.py();
        let seed = optional_argument(seed, "seed", SEED)?;
        let slots = py.import("numpy")?.call_method1("asarray", (slots,))?;
        let slots = slots.cast_into::<PyUntypedArray>()?;
        let &[_, columns] = slots.shape() else {
            let message = format!("slots have {} dimensions; give two", slots.ndim());
            return Err(PyTypeError::new_err(message));
        };
        let scheme = scheme_for(scheme, columns, seed)?;
        let is_writeable: bool = slots.getattr("flags")?.getattr("writeable")?.extract()?;
        PySignatures::checked(scheme, slots_of(&slots, is_writeable)?)
    }

    /// Signatures from an Arrow column of type fixed_size_list of uint32 or uint64, without a copy of a column in one
    /// chunk.
    ///
    /// Args:
    ///     data: An Arrow array, a Series or a table.
    ///     scheme: A Scheme or its name.
    ///     column: The column of a table.
    ///     seed: Seed of the permutations, instead of the scheme's.
    ///
    /// Raises:
    ///     TypeError: The data have another type.
    ///     ParameterError: The scheme has another number of permutations, or a signature is null.
    #[classmethod]
    #[pyo3(signature = (data, scheme, *, column=None, seed=None))]
    fn from_arrow(
        _cls: &Bound<'_, PyType>,
        data: &Bound<'_, PyAny>,
        scheme: &Bound<'_, PyAny>,
        column: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let seed = optional_argument(seed, "seed", SEED)?;
        let column: Option<String> =
            optional_argument(column, "column", "the name of a column, as a str")?;
        let chunks = import(data, column.as_deref())?.ok_or_else(|| {
            PyTypeError::new_err(
                "data have no Arrow interface; give an Arrow array, a Series or a table",
            )
        })?;
        let (columns, slots) = slots_of_arrow(data.py(), &chunks)?;
        PySignatures::checked(scheme_for(scheme, columns, seed)?, slots)
    }

    /// The signatures of several objects, one after the other.
    ///
    /// Args:
    ///     parts: Signatures of one scheme, at least one.
    ///
    /// Raises:
    ///     ParameterError: The schemes differ, or there are no parts.
    #[classmethod]
    fn concat(cls: &Bound<'_, PyType>, parts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = cls.py();
        let refuse = |error| refused(parts, "parts", "a list of Signatures", error);
        if parts.is_instance_of::<PySignatures>() {
            return Err(refuse(PyTypeError::new_err("")));
        }
        let parts: Vec<Bound<'_, PyAny>> = parts
            .try_iter()
            .and_then(Iterator::collect)
            .map_err(refuse)?;
        let parts = parts.iter().map(|part| signatures_of("one of parts", part));
        let parts: Vec<&Bound<'_, Self>> = parts.collect::<PyResult<_>>()?;
        let Some((first, others)) = parts.split_first() else {
            let message = "parts is empty; give a list of Signatures, at least one";
            return Err(parameter_error(py, message));
        };
        let first = first.get();
        for other in others {
            first.check_scheme(py, other.get())?;
        }
        let mut slots = match first.view() {
            Slots::U32(_) => SlotVec::U32(Vec::new()),
            Slots::U64(_) => SlotVec::U64(Vec::new()),
        };
        for part in &parts {
            match (&mut slots, part.get().view()) {
                (SlotVec::U32(all), Slots::U32(slots)) => all.extend_from_slice(slots),
                (SlotVec::U64(all), Slots::U64(slots)) => all.extend_from_slice(slots),
                _ => return Err(Error::from(Conflict::SlotWidths)).or_raise(py),
            }
        }
        Ok(first.with(SlotBuffer::of_vec(slots)))
    }

    /// Writes the signatures to a file that :meth:`load`, ``simgpu pairs --signatures`` and ``pairs_signatures`` read.
    ///
    /// Args:
    ///     path: A path that ends in ``.npy``, for a matrix with its description in ``path + ".json"``; or in
    ///         ``.parquet``, for a table as ``simgpu sign`` writes it, whose ids are the row numbers: pyarrow must be
    ///         installed. An existing file is replaced once the new one is complete.
    ///
    /// Raises:
    ///     OutputError: The path ends otherwise.
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path: PathBuf = argument(path, "path", PATH)?;
        let files = slf.py().import("simgpu._signature_files")?;
        files.call_method1("save", (slf, path)).map(drop)
    }

    /// Reads the signatures that :meth:`save` or ``simgpu sign`` wrote.
    ///
    /// Args:
    ///     path: A ``.npy`` file with its ``.npy.json``, which is mapped into memory, or a ``.parquet`` file, for which
    ///         pyarrow must be installed.
    ///
    /// Raises:
    ///     InputError: The file lacks its description, or does not match it.
    #[classmethod]
    fn load<'py>(
        cls: &Bound<'py, PyType>,
        path: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path: PathBuf = argument(path, "path", PATH)?;
        let files = cls.py().import("simgpu._signature_files")?;
        files.call_method1("load", (cls, path))
    }
}

/// With fewer comparisons of slots than this, starting the pool would take longer than comparing.
const INLINE_SLOTS: usize = 1 << 18;

/// Rows of a matrix between two looks at whether to stop.
const BLOCK: usize = 256;

impl PySignatures {
    /// The band keys, of shape (documents, bands).
    pub(crate) fn keys_of<'py>(
        &self,
        py: Python<'py>,
        banding: Banding,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let (slots, num_perm) = (self.view(), self.scheme.num_perm());
        let of_row = |row: usize| {
            (0..).zip(0..banding.bands()).map(move |(band, first)| {
                let start = row * num_perm + first * banding.rows();
                band_key(band, slots.range(start..start + banding.rows()))
            })
        };
        let keys: Vec<u64> = py.detach(|| (0..self.rows()).flat_map(of_row).collect());
        matrix_of_values(py, [self.rows(), banding.bands()], keys)
    }

    /// Signatures of whole rows.
    pub(crate) fn new(scheme: Scheme, slots: SlotBuffer) -> Self {
        PySignatures { scheme, slots }
    }

    fn checked(scheme: Scheme, slots: SlotBuffer) -> PyResult<Self> {
        let width = scheme.family().slot_width();
        if slots.0.width() != width {
            let bits = 8 * width.bytes();
            return Err(PyTypeError::new_err(format!(
                "slots are not as wide as those of {scheme}; give an array of uint{bits}"
            )));
        }
        Ok(PySignatures { scheme, slots })
    }

    fn with(&self, slots: SlotBuffer) -> Self {
        PySignatures::new(self.scheme.clone(), slots)
    }

    pub(crate) fn rows(&self) -> usize {
        self.slots.0.len() / self.scheme.num_perm()
    }

    /// All slots, row by row.
    pub(crate) fn view(&self) -> Slots<'_> {
        self.slots.view()
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// What the library searches.
    pub(crate) fn in_memory(&self) -> SignaturesInMemory<'_> {
        SignaturesInMemory {
            slots: self.view(),
            scheme: &self.scheme,
        }
    }

    fn at(&self, row: usize) -> Slots<'_> {
        let num_perm = self.scheme.num_perm();
        self.view().range(row * num_perm..(row + 1) * num_perm)
    }

    /// The slots of a row; negative ones count from the end.
    fn row(&self, name: &str, row: &Bound<'_, PyAny>) -> PyResult<Slots<'_>> {
        let row: isize = argument(row, name, "a row number")?;
        let rows = self.rows();
        let index = match usize::try_from(row) {
            Ok(index) => Some(index),
            Err(_) => rows.checked_sub(row.unsigned_abs()),
        };
        let index = index.filter(|index| *index < rows);
        let index = index.ok_or_else(|| {
            PyIndexError::new_err(format!("row {row} is out of range; there are {rows} rows"))
        })?;
        Ok(self.at(index))
    }

    fn check_scheme(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if self.scheme == other.scheme {
            return Ok(());
        }
        let [left, right] = [self, other].map(|all| PyScheme(all.scheme.clone()).__repr__());
        let message = format!(
            "cannot combine signatures of {left} and of {right}; sign all documents with one scheme"
        );
        Err(parameter_error(py, message))
    }

    /// The least of both for each slot.
    fn merged(&self, other: &Self) -> simgpu::Result<SlotVec> {
        let mut merged = match self.view() {
            Slots::U32(slots) => SlotVec::U32(slots.to_vec()),
            Slots::U64(slots) => SlotVec::U64(slots.to_vec()),
        };
        let mut slots = match &mut merged {
            SlotVec::U32(slots) => SlotsMut::U32(slots),
            SlotVec::U64(slots) => SlotsMut::U64(slots),
        };
        let empty = self.scheme.empty_slot();
        if empty != 0 {
            slots.merge(other.view())?;
            return Ok(merged);
        }
        // The slots of the empty set are less than all others here, so that the minimum would be wrong.
        let num_perm = self.scheme.num_perm();
        for row in 0..self.rows() {
            let range = row * num_perm..(row + 1) * num_perm;
            let new = other.at(row);
            match (&mut merged, new) {
                (SlotVec::U32(slots), Slots::U32(new)) => {
                    lower_unless_empty(&mut slots[range], new)
                }
                (SlotVec::U64(slots), Slots::U64(new)) => {
                    lower_unless_empty(&mut slots[range], new)
                }
                _ => return Err(Conflict::SlotWidths.into()),
            }
        }
        Ok(merged)
    }

    fn list_array(&self) -> PyResult<FixedSizeListArray> {
        let values = self.slots.array();
        let item = Arc::new(Field::new("item", values.data_type().clone(), false));
        let num_perm = i32::try_from(self.scheme.num_perm())?;
        FixedSizeListArray::try_new(item, num_perm, values, None).map_err(of_arrow)
    }
}

/// Merges the signature of another set, where all slots of an empty set are 0.
fn lower_unless_empty<S: Copy + Ord + Default>(slots: &mut [S], other: &[S]) {
    let is_empty = |slots: &[S]| slots.iter().all(|slot| *slot == S::default());
    if is_empty(other) {
        return;
    }
    if is_empty(slots) {
        slots.copy_from_slice(other);
        return;
    }
    for (slot, other) in slots.iter_mut().zip(other) {
        *slot = (*slot).min(*other);
    }
}

/// The paths of files of signatures.
const PATH: &str = "the path of a .npy or .parquet file";

/// The signatures that an argument is.
fn signatures_of<'a, 'py>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PySignatures>> {
    value.cast::<PySignatures>().map_err(|_| {
        let kind = type_of(value);
        PyTypeError::new_err(format!("{name} is of type {kind}; give Signatures"))
    })
}

/// The scheme of an argument, with so many permutations: those of a name are replaced.
fn scheme_for(scheme: &Bound<'_, PyAny>, columns: usize, seed: Option<i64>) -> PyResult<Scheme> {
    if !scheme.is_instance_of::<PyScheme>() {
        return scheme_of(scheme, Some(i64::try_from(columns)?), seed);
    }
    let scheme = scheme_of(scheme, None, seed)?;
    if scheme.num_perm() != columns {
        let message = format!(
            "there are {columns} slots per signature, and {} in the scheme; give the scheme of the signatures",
            scheme.num_perm()
        );
        return Err(Python::attach(|py| parameter_error(py, message)));
    }
    Ok(scheme)
}

/// The slots of an array of two dimensions: a copy, or, if allowed and possible, its memory.
fn slots_of(array: &Bound<'_, PyUntypedArray>, copies: bool) -> PyResult<SlotBuffer> {
    let py = array.py();
    let shares = !copies && array.is_c_contiguous();
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    let owned = if shares {
        array.clone().into_any()
    } else {
        py.import("numpy")?
            .call_method("array", (array,), Some(&options))?
    };
    if let Ok(slots) = owned.cast::<PyArray2<u32>>() {
        return SlotBuffer::of_narrow(slots);
    }
    if let Ok(slots) = owned.cast::<PyArray2<u64>>() {
        return SlotBuffer::of_wide(slots);
    }
    let dtype = array.dtype();
    Err(PyTypeError::new_err(format!(
        "slots have type {dtype}; give an array of uint32 or uint64 with two dimensions"
    )))
}

/// The number of slots per signature, and all slots, of an Arrow column.
fn slots_of_arrow(py: Python<'_>, chunks: &Chunks) -> PyResult<(usize, SlotBuffer)> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "data have the Arrow type {}; give fixed_size_list of uint32 or uint64",
            chunks.data_type
        ))
    };
    let DataType::FixedSizeList(item, num_perm) = &chunks.data_type else {
        return Err(wrong());
    };
    let values = chunks.arrays.iter().map(|array| {
        let lists = array.as_any().downcast_ref::<FixedSizeListArray>();
        let lists = lists.ok_or_else(wrong)?;
        if lists.null_count() > 0 || lists.values().null_count() > 0 {
            let message = "a signature is null; leave it out";
            return Err(parameter_error(py, message));
        }
        Ok(lists.values().clone())
    });
    let values: Vec<ArrayRef> = values.collect::<PyResult<_>>()?;
    let values = match values.as_slice() {
        [] => arrow_array::new_empty_array(item.data_type()),
        [one] => one.clone(),
        many => {
            let many: Vec<&dyn Array> = many.iter().map(|values| &**values).collect();
            arrow_select::concat::concat(&many).map_err(of_arrow)?
        }
    };
    let slots = if let Some(values) = values.as_any().downcast_ref::<UInt32Array>() {
        Values::U32(values.values().clone())
    } else if let Some(values) = values.as_any().downcast_ref::<UInt64Array>() {
        Values::U64(values.values().clone())
    } else {
        return Err(wrong());
    };
    Ok((usize::try_from(*num_perm)?, SlotBuffer(slots)))
}

/// A read-only array over memory that `owner` keeps alive.
fn matrix_over<'py, T: Element>(
    shape: [usize; 2],
    slots: &[T],
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let view = ArrayView2::from_shape(shape, slots);
    let view = view.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    // SAFETY: `owner` is the frozen object that holds the slots. It neither moves nor frees them before it is dropped.
    #[allow(unsafe_code, reason = "numpy reads the memory of the object")]
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    // Not by a borrow of rust-numpy: another thread may read the same memory through one.
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array.into_any())
}

/// An array of two dimensions that takes over `values`.
fn matrix_of_values<T: Element>(
    py: Python<'_>,
    shape: [usize; 2],
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec(shape, values);
    let array = array.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

fn no_row() -> PyErr {
    PyTypeError::new_err(
        "the index selects no rows; give a number, a slice, an array of row numbers or a mask",
    )
}
