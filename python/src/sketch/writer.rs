//! What a sketch needs to be updated.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::hashfunc::HashFunc;
use super::permutations::Permutations;

/// What is known of a sketch that can be updated.
pub(crate) struct Writer {
    pub(crate) permutations: Arc<Permutations>,
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

/// datasketch's modes. Sketches are always computed on the CPU: one set is too little work for a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GpuMode {
    Disable,
    Detect,
    Always,
}

impl GpuMode {
    pub(crate) const ALL: [GpuMode; 3] = [GpuMode::Disable, GpuMode::Detect, GpuMode::Always];

    pub(crate) fn name(self) -> &'static str {
        match self {
            GpuMode::Disable => "disable",
            GpuMode::Detect => "detect",
            GpuMode::Always => "always",
        }
    }

    pub(crate) fn of_name(name: &str) -> PyResult<Self> {
        let known = GpuMode::ALL.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| {
            PyValueError::new_err(format!(
                "gpu_mode is {name:?}; give 'disable', 'detect' or 'always'"
            ))
        })
    }
}
