//! A run of a signer on the pool, and where it writes.

use numpy::{PyArray2, PyArrayMethods, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::pipeline::{Scratch, ShingleBatch, ShingleSets, Signatures};
use simgpu::progress::Progress;
use simgpu::scheme::{Scheme, SlotsMut, Width};

use crate::engines::Engines;
use crate::errors::OrRaise;
use crate::lists::{Lists, for_each_lists, pass_strings};
use crate::texts::Sets;

/// Where signatures are written.
pub(super) enum Target<'py> {
    /// To new memory.
    New(Signatures),
    /// To the caller's array.
    Narrow(Bound<'py, PyArray2<u32>>),
    /// To the caller's array.
    Wide(Bound<'py, PyArray2<u64>>),
}

impl<'py> Target<'py> {
    pub(super) fn new(
        scheme: &Scheme,
        rows: usize,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let width = scheme.family().slot_width();
        let num_perm = scheme.num_perm();
        let Some(out) = out else {
            let mut signatures = Signatures::new(num_perm, width);
            signatures.push_rows(rows);
            return Ok(Target::New(signatures));
        };
        let wrong = || {
            let bits = 8 * width.bytes();
            PyTypeError::new_err(format!(
                "out does not fit; give a C-contiguous array of shape ({rows}, {num_perm}) and type uint{bits}"
            ))
        };
        let fits = |array: &Bound<'py, numpy::PyUntypedArray>| {
            array.shape() == [rows, num_perm] && array.is_c_contiguous()
        };
        match width {
            Width::U32 => match out.cast::<PyArray2<u32>>() {
                Ok(array) if fits(array.as_untyped()) => Ok(Target::Narrow(array.clone())),
                _ => Err(wrong()),
            },
            Width::U64 => match out.cast::<PyArray2<u64>>() {
                Ok(array) if fits(array.as_untyped()) => Ok(Target::Wide(array.clone())),
                _ => Err(wrong()),
            },
        }
    }
}

/// Documents or sets that are being signed.
pub(super) struct Run<'a> {
    pub(super) engine: &'a Engine,
    pub(super) slots: SlotsMut<'a>,
    /// `None`: no thread but the calling one is used.
    pub(super) progress: Option<&'a dyn Progress>,
}

/// Borrows an array to write to.
pub(super) fn written<'py, T: numpy::Element>(
    array: &Bound<'py, PyArray2<T>>,
) -> PyResult<PyReadwriteArray2<'py, T>> {
    array.try_readwrite().map_err(|error| {
        PyTypeError::new_err(format!("cannot write to out: {error}; give another array"))
    })
}

/// The shingle sets of lists of tokens of Python.
pub(super) fn hashed(rows: &Bound<'_, PyTuple>, engines: &Engines) -> PyResult<ShingleBatch> {
    let py = rows.py();
    let engine = engines.on_cpu();
    let shingler = engine.shingler();
    let mut batch = ShingleBatch::new(engine.scheme().family().hash_width());
    let mut scratch = Scratch::default();
    for_each_lists(rows, shingler.takes_single_tokens(), |lists| match lists {
        Lists::Strings(list, row) => {
            shingler.shingle_single_tokens(&mut batch, |pass| pass_strings(list, row, pass))
        }
        Lists::Read(tokens) => {
            shingler.check_forms(tokens).or_raise(py)?;
            for row in 0..tokens.len() {
                shingler.shingle_onto(tokens.get(row), &mut scratch, &mut batch);
            }
            Ok(())
        }
    })?;
    Ok(batch)
}

pub(super) fn sets_of<'a>(sets: &ShingleSets<'a>) -> Sets<'a> {
    let ends = (0..sets.len()).map(|set| sets.range(set).end);
    Sets {
        hashes: sets.hashes(),
        offsets: std::iter::once(0).chain(ends).collect(),
    }
}
