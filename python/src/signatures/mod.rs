//! Signatures as Python objects.

mod slots;

mod arrays;

mod rows;

use std::path::PathBuf;

use numpy::{PyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple, PyType};
use rayon::prelude::*;
use simgpu::Error;
use simgpu::error::Conflict;
use simgpu::pipeline::{Cardinality, JaccardEstimate, SlotBits};
use simgpu::scheme::{Scheme, SlotVec, Slots, Values};

use crate::arguments::{argument, optional_argument, refused, type_of};
use crate::arrow::{export_array, import};
use crate::errors::{OrRaise, parameter_error};
use crate::pool;
use crate::progress::Display;
use crate::scheme::{PyScheme, SEED, banding_of_arguments, scheme_of};

pub(crate) use slots::SlotBuffer;

use arrays::{matrix_of_values, matrix_over, no_row, slots_of, slots_of_arrow};

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
        let estimate_row = |(i, estimates): (usize, &mut [f64])| {
            for (j, estimate) in estimates.iter_mut().enumerate() {
                *estimate = JaccardEstimate::between(this.at(i), other.at(j))?.jaccard();
            }
            Ok(())
        };
        if len * this.scheme.num_perm() < INLINE_SLOTS {
            let mut each = estimates.chunks_mut(columns.max(1)).enumerate();
            each.try_for_each(estimate_row).or_raise(py)?;
        } else {
            pool::run(py, None, &mut Display::default(), |progress| {
                for (block, rows) in estimates.chunks_mut(columns.max(1) * BLOCK).enumerate() {
                    let each = rows.par_chunks_mut(columns.max(1)).enumerate();
                    each.try_for_each(|(i, row)| estimate_row((block * BLOCK + i, row)))?;
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
        Ok(self.with(SlotBuffer::from_vec(merged)))
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
        Ok(first.with(SlotBuffer::from_vec(slots)))
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
