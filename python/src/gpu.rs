//! The GPU after a fork: drivers do not survive it, and a child that went on using one would hang.
//!
//! The child signs on the CPU, or raises an error if the caller named the GPU.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use simgpu_cli::environment::mesa_variable;

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
    IS_LOST.fetch_or(simgpu::backend::gpu::has_searched(), Ordering::Relaxed);
}

/// Whether this process cannot use a GPU, because it was forked from one that had searched for devices.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Lets Mesa print nothing about a missing desktop when devices are searched for. Call it before.
pub(crate) fn silence(py: Python<'_>) -> PyResult<()> {
    static IS_SILENT: AtomicBool = AtomicBool::new(false);
    if IS_SILENT.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    match mesa_variable() {
        // Through Python, which guards its environment against other threads.
        Some((name, value)) => py.import("os")?.getattr("environ")?.set_item(name, value),
        None => Ok(()),
    }
}

/// The error for a GPU that was lost by a fork.
pub(crate) fn lost(py: Python<'_>) -> PyErr {
    unsupported_error(
        py,
        "unsupported: this process was forked from one that had used the GPU; start processes by spawn or forkserver, or give backend=\"simd\"",
    )
}

/// Refuses the GPU if it was lost by a fork, and else prepares the search for it.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    if is_lost() {
        Err(lost(py))
    } else {
        silence(py)
    }
}

/// The backend to use for this name: without a GPU, `auto` is `simd`.
///
/// # Errors
/// `UnsupportedError` if the backend needs the GPU, and it was lost by a fork.
pub(crate) fn backend(py: Python<'_>, name: String) -> PyResult<String> {
    match &*name {
        "auto" if is_lost() => Ok("simd".to_owned()),
        "auto" => silence(py).map(|()| name),
        "gpu" | "hybrid" => check(py).map(|()| name),
        _ => Ok(name),
    }
}
