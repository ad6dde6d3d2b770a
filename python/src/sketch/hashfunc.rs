//! Hash functions of sketches: SHA-1 and xxHash are computed here, any other callable is called once per token.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use simgpu::scheme::{Hashes, SlotVec, Values, sha1_32, sha1_64};
use simgpu_twins::datasketch::{NativeHash, PermutationScheme, WideHash, fit_width};

use super::arrays::{hash_out_of_range, read_hashes};

/// Tokens that are hashed at a time.
const BATCH: usize = 256;

/// The first 32 bits of SHA-1, as an integer.
///
/// Args:
///     data: Bytes, or any object with a buffer of bytes.
#[pyfunction]
pub(crate) fn sha1_hash32(data: &Bound<'_, PyAny>) -> PyResult<u32> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => Ok(sha1_32(bytes.as_bytes())),
        Err(_) => Ok(u32::from_le_bytes(first_bytes(data)?)),
    }
}

/// The first 64 bits of SHA-1, as an integer.
///
/// Args:
///     data: Bytes, or any object with a buffer of bytes.
#[pyfunction]
pub(crate) fn sha1_hash64(data: &Bound<'_, PyAny>) -> PyResult<u64> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => Ok(sha1_64(bytes.as_bytes())),
        Err(_) => Ok(u64::from_le_bytes(first_bytes(data)?)),
    }
}

/// The first bytes of the SHA-1 that `hashlib` computes. It accepts any buffer, and raises what datasketch raises.
fn first_bytes<const N: usize>(data: &Bound<'_, PyAny>) -> PyResult<[u8; N]> {
    let hashlib = data.py().import(intern!(data.py(), "hashlib"))?;
    let hash = hashlib.call_method1(intern!(data.py(), "sha1"), (data,))?;
    let digest = hash.call_method0(intern!(data.py(), "digest"))?;
    let digest = digest.cast::<PyBytes>()?;
    let first = digest.as_bytes().first_chunk::<N>();
    first
        .copied()
        .ok_or_else(|| PyValueError::new_err("hashlib.sha1 returned too few bytes"))
}

/// Modules and names that hold a function.
fn names_of(native: NativeHash) -> &'static [(&'static str, &'static str)] {
    match native {
        NativeHash::Sha1_32 => &[
            ("simgpu._simgpu", "sha1_hash32"),
            ("datasketch.hashfunc", "sha1_hash32"),
        ],
        NativeHash::Sha1_64 => &[
            ("simgpu._simgpu", "sha1_hash64"),
            ("datasketch.hashfunc", "sha1_hash64"),
        ],
        NativeHash::Xxh32 => &[("xxhash", "xxh32_intdigest")],
        NativeHash::Xxh64 => &[("xxhash", "xxh64_intdigest")],
    }
}

/// The native equal of a callable, known by its identity.
fn native_of(callable: &Bound<'_, PyAny>) -> PyResult<Option<NativeHash>> {
    let py = callable.py();
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        let modules = py.import("sys")?.getattr("modules")?;
        Ok::<_, PyErr>(modules.cast_into::<PyDict>()?.unbind())
    })?;
    for native in NativeHash::ALL {
        for (module, name) in names_of(native) {
            // A module that is not imported holds no function that could have been given.
            let Some(module) = modules.bind(py).get_item(module)? else {
                continue;
            };
            if module
                .getattr_opt(*name)?
                .is_some_and(|known| known.is(callable))
            {
                return Ok(Some(native));
            }
        }
    }
    Ok(None)
}

/// The bytes of tokens.
fn bytes_of<'a>(tokens: &'a [Borrowed<'_, '_, PyBytes>]) -> impl Iterator<Item = &'a [u8]> {
    tokens.iter().map(|token| token.as_bytes())
}

/// The hash function of a sketch.
pub(crate) struct HashFunc {
    /// How it is computed here; `None` if it must be called.
    native: Option<NativeHash>,
    /// What the caller gave; `None` for the scheme's default.
    given: Option<Py<PyAny>>,
}

impl HashFunc {
    /// The scheme's default.
    pub(crate) fn default_of(kind: PermutationScheme) -> Self {
        HashFunc {
            native: Some(NativeHash::default_of(kind)),
            given: None,
        }
    }

    /// Reads the argument `hashfunc`.
    pub(crate) fn read(
        kind: PermutationScheme,
        hashfunc: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let Some(hashfunc) = hashfunc else {
            return Ok(HashFunc::default_of(kind));
        };
        if !hashfunc.is_callable() {
            return Err(PyValueError::new_err("The hashfunc must be a callable."));
        }
        Ok(HashFunc {
            native: native_of(hashfunc)?,
            given: Some(hashfunc.clone().unbind()),
        })
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        HashFunc {
            native: self.native,
            given: self.given.as_ref().map(|given| given.clone_ref(py)),
        }
    }

    /// The default of the scheme in place of an equal function.
    pub(crate) fn or_default(self, kind: PermutationScheme) -> Self {
        if self.native == Some(NativeHash::default_of(kind)) {
            HashFunc::default_of(kind)
        } else {
            self
        }
    }

    /// How it is computed without Python, if it is.
    pub(crate) fn native(&self) -> Option<NativeHash> {
        self.native
    }

    /// What the caller gave, if anything.
    pub(crate) fn given(&self) -> Option<&Py<PyAny>> {
        self.given.as_ref()
    }

    /// The callable.
    pub(crate) fn callable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(given) = &self.given {
            return Ok(given.bind(py).clone());
        }
        let name = match self.native {
            Some(NativeHash::Sha1_64) => intern!(py, "sha1_hash64"),
            _ => intern!(py, "sha1_hash32"),
        };
        py.import(intern!(py, "simgpu._simgpu"))?.getattr(name)
    }

    /// The hashes of tokens, of a width that the scheme takes. Calls Python unless the function is native and each
    /// token is `bytes`.
    pub(crate) fn hash_all(
        &self,
        kind: PermutationScheme,
        tokens: &Bound<'_, PyAny>,
    ) -> PyResult<SlotVec> {
        let Some(native) = self.native else {
            return self.call_all(kind, tokens);
        };
        let hashes = if native.is_narrow() {
            let mut hashes = Vec::new();
            self.hash_each(tokens, &mut hashes, |batch, hashes| {
                native.append_narrow(bytes_of(batch), hashes)
            })?;
            Values::U32(hashes)
        } else {
            let mut hashes = Vec::new();
            self.hash_each(tokens, &mut hashes, |batch, hashes| {
                native.append_wide(bytes_of(batch), hashes)
            })?;
            Values::U64(hashes)
        };
        fitted(kind, hashes)
    }

    /// The hash of one token, computed without Python; `None` if that needs Python.
    pub(crate) fn hash_natively(&self, token: &Bound<'_, PyAny>) -> Option<TokenHash> {
        let native = self.native?;
        let token = token.cast::<PyBytes>().ok()?.as_bytes();
        Some(if native.is_narrow() {
            TokenHash::Narrow(native.hash_narrow(token))
        } else {
            TokenHash::Wide(native.hash_wide(token))
        })
    }

    /// Appends the hashes of tokens.
    fn hash_each<H: TryFrom<u64>>(
        &self,
        tokens: &Bound<'_, PyAny>,
        hashes: &mut Vec<H>,
        append: impl Fn(&[Borrowed<'_, '_, PyBytes>], &mut Vec<H>),
    ) -> PyResult<()> {
        // A tuple keeps its tokens alive, so that they can be borrowed, which saves two calls per token.
        let tuple = match tokens.cast_exact::<PyList>() {
            Ok(list) => Some(list.to_tuple()),
            Err(_) => tokens.cast_exact::<PyTuple>().ok().cloned(),
        };
        if let Some(tuple) = tuple {
            return self.hash_borrowed(tuple.iter_borrowed(), hashes, &append);
        }
        let mut tokens = tokens.try_iter()?;
        loop {
            let batch = tokens.by_ref().take(BATCH).collect::<PyResult<Vec<_>>>()?;
            if batch.is_empty() {
                return Ok(());
            }
            self.hash_borrowed(batch.iter().map(Bound::as_borrowed), hashes, &append)?;
        }
    }

    /// Appends the hashes of tokens, those of `bytes` in batches.
    fn hash_borrowed<'a, 'py: 'a, H: TryFrom<u64>>(
        &self,
        tokens: impl ExactSizeIterator<Item = Borrowed<'a, 'py, PyAny>>,
        hashes: &mut Vec<H>,
        append: &impl Fn(&[Borrowed<'_, '_, PyBytes>], &mut Vec<H>),
    ) -> PyResult<()> {
        hashes.reserve(tokens.len());
        let mut batch: Vec<Borrowed<'a, 'py, PyBytes>> =
            Vec::with_capacity(tokens.len().min(BATCH));
        for token in tokens {
            if let Ok(bytes) = token.cast::<PyBytes>() {
                batch.push(bytes);
                if batch.len() == BATCH {
                    append(&batch, hashes);
                    batch.clear();
                }
                continue;
            }
            append(&batch, hashes);
            batch.clear();
            let hash = H::try_from(self.hash_other(&token)?);
            hashes.push(
                hash.map_err(|_| {
                    PyValueError::new_err("a hash function of 32 bits returned more")
                })?,
            );
        }
        append(&batch, hashes);
        Ok(())
    }

    /// The native hash of a token that is not `bytes`: by the function itself, which knows what else it accepts.
    fn hash_other(&self, token: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.native {
            Some(NativeHash::Sha1_32) => Ok(sha1_hash32(token)?.into()),
            Some(NativeHash::Sha1_64) => sha1_hash64(token),
            _ => self.callable(token.py())?.call1((token,))?.extract(),
        }
    }

    /// Calls the function once per token, then converts what it returned.
    fn call_all(&self, kind: PermutationScheme, tokens: &Bound<'_, PyAny>) -> PyResult<SlotVec> {
        let py = tokens.py();
        let callable = self.callable(py)?;
        let returned = PyList::empty(py);
        for token in tokens.try_iter()? {
            returned.append(callable.call1((token?,))?)?;
        }
        let hashes = returned.iter().map(|hash| hash.extract::<u64>().ok());
        match hashes.collect::<Option<Vec<u64>>>() {
            Some(hashes) => fitted(kind, Values::U64(hashes)),
            None => read_hashes(kind, returned.as_any()),
        }
    }
}

/// The hash of one token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenHash {
    Narrow(u32),
    Wide(u64),
}

impl TokenHash {
    /// Calls `then` with this hash as a set that the scheme takes.
    pub(crate) fn as_set<T>(
        self,
        kind: PermutationScheme,
        then: impl FnOnce(Hashes<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        match (self, kind) {
            (TokenHash::Narrow(hash), PermutationScheme::Affine32 | PermutationScheme::Legacy) => {
                then(Values::U32(&[hash]))
            }
            (TokenHash::Narrow(hash), PermutationScheme::Affine64) => {
                then(Values::U64(&[hash.into()]))
            }
            (TokenHash::Wide(hash), _) => then(fitted(kind, Values::U64(vec![hash]))?.view()),
        }
    }
}

/// The hashes in a width that the scheme takes.
fn fitted(kind: PermutationScheme, hashes: SlotVec) -> PyResult<SlotVec> {
    fit_width(kind, hashes).map_err(|WideHash(hash)| {
        let problem = format!("Python integer {hash} out of bounds for uint32");
        PyValueError::new_err(hash_out_of_range(kind, &problem))
    })
}
