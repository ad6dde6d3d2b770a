//! The extension module `simgpu._simgpu`. The Python package `simgpu` gives its parts their public names.

mod errors;

mod index;

mod pool;

mod progress;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _simgpu {
    #[pymodule_export]
    use super::version;

    #[pymodule_export]
    use super::index::{
        MinHashLsh, MinHashLshForest, optimal_bands, optimal_containment_bands, optimal_partitions,
    };
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
