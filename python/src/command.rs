//! The `simgpu` command inside of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::gpu;

/// Runs the command with these arguments, of which the first is its name, and returns its exit code.
///
/// For a process that runs nothing else: the command prints, reads stdin, and listens for signals until the process
/// ends.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    gpu::silence(py)?;
    Ok(py.detach(|| simgpu_cli::main(arguments)))
}
