//! The extension module `simgpu._simgpu`. The Python package `simgpu` gives its parts their public names.

mod datatrove;

mod errors;

mod pool;

mod progress;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _simgpu {
    #[pymodule_export]
    use super::datatrove::{DatatroveSigner, sort_records};
    #[pymodule_export]
    use super::version;
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
