//! The extension module `simgpu._simgpu`. The Python package `simgpu` gives its parts their public names.

mod errors;

mod progress;

mod pool;

mod arrow;

mod texts;

mod hashes;

mod scheme;

mod engines;

mod signatures;

mod signer;

mod table;

mod memory;

mod sketch;

mod index;

mod datatrove;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _simgpu {
    #[pymodule_export]
    use super::datatrove::{DatatroveSigner, sort_records};
    #[pymodule_export]
    use super::index::{
        MinHashLsh, MinHashLshForest, optimal_bands, optimal_containment_bands, optimal_partitions,
    };
    #[pymodule_export]
    use super::memory::{dedup_in_memory, pairs_in_memory};
    #[pymodule_export]
    use super::scheme::{PyScheme, PyShingling};
    #[pymodule_export]
    use super::signatures::PySignatures;
    #[pymodule_export]
    use super::signer::PySigner;
    #[pymodule_export]
    use super::sketch::{
        PyBBitMinHash, PyLeanMinHash, PyMinHash, PySketches, restore_minhash, sha1_hash32,
        sha1_hash64,
    };
    #[pymodule_export]
    use super::table::{PyTable, table_of};
    #[pymodule_export]
    use super::version;
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
