//! The extension module `simgpu._simgpu`. The Python package `simgpu` gives its parts their public names.

mod errors;

mod progress;

mod pool;

mod gpu;

mod options;

mod files;

mod tools;

mod command;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _simgpu {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::version;

    #[pymodule_export]
    use super::command::command;

    #[pymodule_export]
    use super::files::{dedup_files, pairs_files, pairs_signatures, sign_files};

    #[pymodule_export]
    use super::tools::{compare, devices, selftest, tune};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        simgpu_cli::environment::silence_reader();
        super::gpu::watch_forks(module)
    }
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
