//! What a sketch needs to be updated.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simgpu_twins::datasketch::state::GpuMode;

use super::hashfunc::HashFunc;
use super::permutations::SharedPermutations;

/// What is known of a sketch that can be updated.
pub(crate) struct Writer {
    pub(crate) permutations: Arc<SharedPermutations>,
    pub(crate) hashfunc: HashFunc,
    pub(crate) gpu_mode: GpuMode,
}

impl Writer {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Writer {
            permutations: self.permutations.clone(),
            hashfunc: self.hashfunc.clone_ref(py),
            gpu_mode: self.gpu_mode,
        }
    }
}

/// Reads the argument `gpu_mode`.
pub(crate) fn read_gpu_mode(name: &str) -> PyResult<GpuMode> {
    GpuMode::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "gpu_mode is {name:?}; give 'disable', 'detect' or 'always'"
        ))
    })
}
