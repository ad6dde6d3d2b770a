//! Signs what Python gives: texts, lists of tokens, sets of hashes.

mod opened;

mod run;

mod batches;

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use numpy::PyArray2;
use pyo3::prelude::*;
use simgpu::backend::Backend;
use simgpu::documents::Documents;
use simgpu::error::Conflict;
use simgpu::pipeline::Unit;
use simgpu::scheme::{Scheme, SlotsMut};

use crate::arguments::{THREADS, optional_argument};
use crate::engines::{Engines, has_device};
use crate::errors::OrRaise;
use crate::hashes::HashSets;
use crate::pool;
use crate::progress::Display;
use crate::scheme::{NUM_PERM, PyScheme, PyShingling, SEED, banding_of_arguments, scheme_of};
use crate::signatures::{PySignatures, SlotBuffer};
use crate::texts::{Column, Sets, column_name, refuse_counts};

pub(crate) use opened::{builder, open};

use batches::{PER_ROW, sign_documents, sign_sets};
use run::{Run, Target, hashed, sets_of, written};

/// Computes MinHash signatures.
///
/// One signer serves any number of threads. It opens no thread and no device before its first batch, and is pickled as
/// its arguments.
///
/// Args:
///     scheme: A Scheme or its name.
///     num_perm: Number of permutations, instead of the scheme's.
///     seed: Seed of the permutations, instead of the scheme's.
///     shingling: A Shingling or the name of its unit. By default the scheme's: five words, or those of the preset.
///     backend: ``"auto"``, ``"scalar"``, ``"simd"``, ``"gpu"`` or ``"hybrid"``. Never changes a value.
///     threads: Number of threads for a batch; by default ``SIMGPU_NUM_THREADS``, or one per core that this process
///         may use. Batches of less than 64 KiB run on the calling thread.
///
/// Raises:
///     ParameterError: An argument is unknown or out of range, or the shingling does not fit the scheme.
#[pyclass(frozen, module = "simgpu", name = "Signer")]
pub(crate) struct PySigner {
    scheme: Scheme,
    shingling: Option<PyShingling>,
    backend: Backend,
    threads: Option<usize>,
    engines: Engines,
    /// The engines for lists of tokens, if the shingling leaves the unit open.
    for_tokens: OnceLock<Engines>,
}

#[pymethods]
impl PySigner {
    #[new]
    #[pyo3(signature = (scheme=None, *, num_perm=None, seed=None, shingling=None, backend=None, threads=None),
        text_signature = "(scheme=\"affine32\", *, num_perm=None, seed=None, shingling=None, backend=\"auto\", \
            threads=None)")]
    fn new(
        py: Python<'_>,
        scheme: Option<&Bound<'_, PyAny>>,
        num_perm: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        shingling: Option<&Bound<'_, PyAny>>,
        backend: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let default = "affine32".into_pyobject(py)?.into_any();
        let scheme = scheme_of(
            scheme.unwrap_or(&default),
            optional_argument(num_perm, "num_perm", NUM_PERM)?,
            optional_argument(seed, "seed", SEED)?,
        )?;
        let shingling = PyShingling::from_argument(shingling)?;
        let backend: Option<String> =
            optional_argument(backend, "backend", "the name of a backend, as a str")?;
        let backend = match backend {
            None => Backend::Auto,
            Some(name) => name.parse().or_raise(py)?,
        };
        let threads: Option<NonZeroUsize> = optional_argument(threads, "threads", THREADS)?;
        let threads = threads.map(NonZeroUsize::get);
        let engines = open(py, &scheme, shingling.as_ref(), backend)?;
        Ok(PySigner {
            scheme,
            shingling,
            backend,
            threads,
            engines,
            for_tokens: OnceLock::new(),
        })
    }

    /// The scheme.
    #[getter]
    fn scheme(&self) -> PyScheme {
        PyScheme(self.scheme.clone())
    }

    /// The shingling, with what the scheme decides filled in.
    #[getter]
    fn shingling(&self) -> PyShingling {
        let shingler = self.engines.on_cpu().shingler();
        let unit = shingler.shingling().unit.clone();
        let given = self.shingling.clone();
        let given = given.unwrap_or_else(|| PyShingling::from_unit(unit));
        given.completed(shingler.shingling(), shingler.hash())
    }

    /// The name of the backend.
    #[getter]
    fn backend(&self) -> String {
        self.backend.to_string()
    }

    /// The number of threads; ``None`` for the default.
    #[getter]
    fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// Signs texts.
    ///
    /// Args:
    ///     texts: A list or iterator of str, a numpy array, a Series, an Arrow array, or a table. Memory of Arrow
    ///         columns is read where it lies. None and nulls have no shingles.
    ///     column: The column of a table.
    ///     out: A C-contiguous array of shape (documents, num_perm) and of the scheme's dtype to write to.
    ///     progress: True draws a bar; a function gets (stage, done, total) and stops the work if it returns False.
    ///
    /// Returns:
    ///     The signatures, one row per text. With ``out``, they share its memory.
    ///
    /// Raises:
    ///     TypeError: The texts are no collection of str.
    ///     InputError: A text is not valid UTF-8; ``row`` says which.
    #[pyo3(signature = (texts, *, column=None, out=None, progress=None))]
    fn sign<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<PySignatures> {
        let py = texts.py();
        if self.engines.on_cpu().takes_tokens() {
            return Err(Conflict::TextsForTokens.into()).or_raise(py);
        }
        let column = column_name(texts, column)?;
        let column = Column::new(texts, column.as_deref())?;
        let texts = column.texts()?;
        let bytes = texts.iter().map(|text| PER_ROW + text.len()).sum();
        let target = Target::new(&self.scheme, texts.len(), out)?;
        self.run(py, &self.engines, bytes, target, progress, |run| {
            sign_documents(run, &texts)
        })
    }

    /// Signs documents given as lists of tokens.
    ///
    /// Args:
    ///     documents: A list of lists of str, of bytes or of integers; an Arrow column or Series of lists of these; an
    ///         array of integers of two dimensions; or a SciPy matrix, whose rows are the sets of the columns of their
    ///         nonzero values. An integer is the token of its decimal digits: 17 is ``"17"``.
    ///         A list of dicts from token to weight, if the shingling has a ``weight_scale``.
    ///         None and nulls have no shingles. Tokens are never normalised.
    ///     column: The column of a table.
    ///     out: As of :meth:`sign`.
    ///     progress: As of :meth:`sign`.
    ///
    /// Returns:
    ///     The signatures, one row per document.
    ///
    /// Raises:
    ///     TypeError: The documents are no collection of lists of tokens.
    ///     ParameterError: The signer was made for another unit than tokens.
    #[pyo3(signature = (documents, *, column=None, out=None, progress=None))]
    fn sign_tokens<'py>(
        &self,
        documents: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<PySignatures> {
        let py = documents.py();
        let engines = self.engines_for_tokens(py)?;
        refuse_counts(documents, engines.on_cpu().shingler().shingling())?;
        let column = column_name(documents, column)?;
        let column = Column::new(documents, column.as_deref())?;
        if let Column::Objects(rows) = &column {
            let batch = hashed(rows, engines)?;
            let sets = [sets_of(&batch.sets())];
            return self.sign_hashed(py, engines, &sets, out, progress);
        }
        let mut lists = Vec::new();
        let tokens = column.tokens(&mut lists)?;
        let bytes = (0..tokens.len())
            .map(|row| PER_ROW + tokens.bytes(row))
            .sum();
        let target = Target::new(&self.scheme, tokens.len(), out)?;
        self.run(py, engines, bytes, target, progress, |run| {
            sign_documents(run, &tokens)
        })
    }

    /// Signs sets of hashes.
    ///
    /// Schemes that do not mix hashes, such as ``mersenne61``, need hashes that behave like random numbers.
    ///
    /// Args:
    ///     values: An array of uint32 or uint64, as wide as the scheme's hashes, with ``offsets``: set i is
    ///         ``values[offsets[i]:offsets[i + 1]]``. Or, without ``offsets``: an array of two dimensions, whose rows
    ///         are the sets; an Arrow column of lists of uint32 or uint64; or a SciPy CSR matrix, whose rows are sets
    ///         of column numbers.
    ///     offsets: Ascending int32, int64 or uint64, one more than there are sets.
    ///     column: The column of a table.
    ///     out: As of :meth:`sign`.
    ///     progress: As of :meth:`sign`.
    ///
    /// Returns:
    ///     The signatures, one row per set.
    ///
    /// Raises:
    ///     TypeError: The values are signed, or not as wide as the scheme's hashes. They are never converted.
    ///     ParameterError: The offsets do not ascend, or exceed the values.
    #[pyo3(signature = (values, offsets=None, *, column=None, out=None, progress=None))]
    fn sign_hashes<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        offsets: Option<&Bound<'py, PyAny>>,
        column: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<PySignatures> {
        let py = values.py();
        let column = column_name(values, column)?;
        let held = HashSets::new(
            values,
            offsets,
            column.as_deref(),
            self.scheme.family().hash_width(),
        )?;
        let sets = held.sets(&self.scheme)?;
        self.sign_hashed(py, &self.engines, &sets, out, progress)
    }

    /// The band keys of texts, for a shuffle elsewhere: documents that share a key in one band are candidates.
    ///
    /// A text without shingles has the keys of the empty set; leave such texts out of a shuffle.
    ///
    /// Args:
    ///     texts: As of :meth:`sign`.
    ///     bands: Number of bands, with ``rows``; by default the best for the threshold, or the preset's.
    ///     rows: Slots per band, with ``bands``.
    ///     threshold: Similarity for which bands and rows are chosen.
    ///     column: The column of a table.
    ///     progress: As of :meth:`sign`.
    ///
    /// Returns:
    ///     An array of shape (documents, bands), of type uint64.
    #[pyo3(signature = (texts, bands=None, rows=None, threshold=None, *, column=None, progress=None),
        text_signature = "($self, texts, bands=None, rows=None, threshold=0.8, *, column=None, progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn band_keys<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        bands: Option<&Bound<'py, PyAny>>,
        rows: Option<&Bound<'py, PyAny>>,
        threshold: Option<&Bound<'py, PyAny>>,
        column: Option<&Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let py = texts.py();
        // Before the work, so that wrong arguments fail at once.
        let banding = banding_of_arguments(py, bands, rows, threshold, &self.scheme)?;
        let signatures = self.sign(texts, column, None, progress)?;
        signatures.keys_of(py, banding)
    }

    fn __repr__(&self) -> String {
        let mut shown = format!("Signer({}", PyScheme(self.scheme.clone()).__repr__());
        if let Some(shingling) = &self.shingling {
            shown += &format!(", shingling={}", shingling.__repr__());
        }
        if self.backend != Backend::Auto {
            shown += &format!(", backend={:?}", self.backend());
        }
        if let Some(threads) = self.threads {
            shown += &format!(", threads={threads}");
        }
        shown + ")"
    }

    #[allow(clippy::type_complexity, reason = "the arguments of the constructor")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (PyScheme, Option<PyShingling>, String, Option<usize>),
    )> {
        let make = py.import("simgpu._restore")?.getattr("signer")?;
        let scheme = PyScheme(self.scheme.clone());
        let arguments = (scheme, self.shingling.clone(), self.backend(), self.threads);
        Ok((make, arguments))
    }
}

impl PySigner {
    fn engines_for_tokens(&self, py: Python<'_>) -> PyResult<&Engines> {
        if self.shingling.is_some() {
            let engine = self.engines.on_cpu();
            if engine.takes_tokens() {
                return Ok(&self.engines);
            }
            let unit = engine.shingler().shingling().unit.to_string();
            return Err(Conflict::TokensForTexts { unit }.into()).or_raise(py);
        }
        if let Some(engines) = self.for_tokens.get() {
            return Ok(engines);
        }
        let shingling = PyShingling::from_unit(Unit::Tokens);
        let engines = open(py, &self.scheme, Some(&shingling), self.backend)?;
        Ok(self.for_tokens.get_or_init(|| engines))
    }

    fn sign_hashed<'py>(
        &self,
        py: Python<'py>,
        engines: &Engines,
        sets: &[Sets<'_>],
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<PySignatures> {
        let count = sets.iter().map(Sets::len).sum();
        let bytes = PER_ROW * count + 8 * sets.iter().map(Sets::hash_count).sum::<usize>();
        let target = Target::new(&self.scheme, count, out)?;
        self.run(py, engines, bytes, target, progress, |run| {
            sign_sets(run, sets)
        })
    }

    /// Signs a batch of about so many bytes into `target`.
    fn run<'py>(
        &self,
        py: Python<'py>,
        engines: &Engines,
        bytes: usize,
        target: Target<'py>,
        progress: Option<Bound<'py, PyAny>>,
        sign: impl FnOnce(Run<'_>) -> simgpu::Result<()> + Send,
    ) -> PyResult<PySignatures> {
        let mut display = Display::new(progress)?;
        let engine = engines.for_bytes(py, bytes as u64)?;
        let signed = |slots: SlotsMut<'_>| {
            if bytes < pool::INLINE_BYTES && !has_device(&engine) {
                let run = Run {
                    engine: &engine,
                    slots,
                    progress: None,
                };
                return sign(run).or_raise(py);
            }
            pool::run(py, self.threads, &mut display, |progress| {
                sign(Run {
                    engine: &engine,
                    slots,
                    progress: Some(progress),
                })
            })
        };
        let scheme = self.scheme.clone();
        let slots = match target {
            Target::New(mut signatures) => {
                signed(signatures.slots_mut())?;
                SlotBuffer::from_vec(signatures.into_slots())
            }
            Target::Narrow(array) => {
                signed(SlotsMut::U32(written(&array)?.as_slice_mut()?))?;
                SlotBuffer::from_narrow(&array)?
            }
            Target::Wide(array) => {
                signed(SlotsMut::U64(written(&array)?.as_slice_mut()?))?;
                SlotBuffer::from_wide(&array)?
            }
        };
        Ok(PySignatures::new(scheme, slots))
    }
}
