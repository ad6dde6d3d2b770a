//! Makes sketches like others: of many sets, and from pickles.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyType};

use crate::sketch::minhash::PyMinHash;

/// Makes a pickled `MinHash`.
#[pyfunction]
#[pyo3(signature = (state, hashfunc=None, permutations=None, cls=None))]
pub(crate) fn restore_minhash<'py>(
    py: Python<'py>,
    state: &[u8],
    hashfunc: Option<&Bound<'py, PyAny>>,
    permutations: Option<&Bound<'py, PyAny>>,
    cls: Option<&Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyAny>> {
    let sketch = PyMinHash::from_state(py, state, hashfunc, permutations)?;
    match cls {
        Some(cls) => create(cls, sketch),
        None => Ok(Bound::new(py, sketch)?.into_any()),
    }
}

/// Iterates over the sketches of sets: what ``MinHash.generator`` returns.
#[pyclass(module = "simgpu.datasketch", name = "_Sketches")]
pub(crate) struct PySketches {
    pub(super) template: Py<PyAny>,
    pub(super) sets: Py<PyIterator>,
}

#[pymethods]
impl PySketches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (template, mut sets) = {
            let this = slf.try_borrow()?;
            (
                this.template.bind(slf.py()).clone(),
                this.sets.bind(slf.py()).clone(),
            )
        };
        let tokens = sets.next().transpose()?;
        tokens
            .map(|tokens| sketch_like(&template, &tokens))
            .transpose()
    }
}

/// A copy of `template`, updated with tokens. A subclass may have its own methods for both.
pub(super) fn sketch_like<'py>(
    template: &Bound<'py, PyAny>,
    tokens: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = template.py();
    let Ok(template) = template.cast_exact::<PyMinHash>() else {
        let sketch = template.call_method0(intern!(py, "copy"))?;
        sketch.call_method1(intern!(py, "update_batch"), (tokens,))?;
        return Ok(sketch);
    };
    let mut sketch = PyMinHash::read(template)?.copied(py)?;
    let hashes = {
        let hashfunc = sketch.writer("hashfunc")?.hashfunc.clone_ref(py);
        hashfunc.hash_all(sketch.kind, tokens)?
    };
    sketch.lower_batch(py, &hashes)?;
    Ok(Bound::new(py, sketch)?.into_any())
}

/// An object of a class, `MinHash` or one derived from it, with the contents of a sketch.
pub(super) fn create<'py>(
    cls: &Bound<'py, PyType>,
    sketch: PyMinHash,
) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    if cls.is(PyType::new::<PyMinHash>(py)) {
        return Ok(Bound::new(py, sketch)?.into_any());
    }
    let object = cls.call_method1(intern!(py, "__new__"), (cls,))?;
    *object.cast::<PyMinHash>()?.try_borrow_mut()? = sketch;
    Ok(object)
}
