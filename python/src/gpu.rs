//! The GPU after a fork: drivers do not survive it, and a child that went on using one would hang.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::errors::unsupported_error;

/// Whether this process was forked from one that had searched for devices.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Has Python call [`after_fork`] in each child.
pub(crate) fn watch_forks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let os = module.py().import("os")?;
    // Absent where there is no fork.
    let Ok(register) = os.getattr("register_at_fork") else {
        return Ok(());
    };
    let options = pyo3::types::PyDict::new(module.py());
    let hook = wrap_pyfunction!(after_fork, module)?;
    options.set_item("after_in_child", hook)?;
    register.call((), Some(&options))?;
    Ok(())
}

#[pyfunction]
fn after_fork() {
    #[cfg(feature = "gpu")]
    IS_LOST.fetch_or(simgpu::internals::has_searched(), Ordering::Relaxed);
}

/// Refuses the GPU if it was lost by a fork.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    if !IS_LOST.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(unsupported_error(
        py,
        "unsupported: this process was forked from one that had used the GPU; start processes by spawn or forkserver, or give backend=\"simd\"",
    ))
}

/// The backend to use for this name: without a GPU, `auto` is `simd`.
///
/// # Errors
/// `UnsupportedError` if the backend needs the GPU, and it was lost by a fork.
pub(crate) fn backend(py: Python<'_>, name: String) -> PyResult<String> {
    match &*name {
        "auto" if IS_LOST.load(Ordering::Relaxed) => Ok("simd".to_owned()),
        "gpu" | "hybrid" => check(py).map(|()| name),
        _ => Ok(name),
    }
}
