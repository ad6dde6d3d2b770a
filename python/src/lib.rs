//! The extension module `simgpu._simgpu`. The Python package `simgpu` gives its parts their public names.
//!
//! The modules below stand in order: each before those that name it. `arrow`, `objects`, `tokens`, `texts` and `hashes` take in
//! what Python gives; `options` reads the keywords of a call, and `columns` columns of tables by name. `files`, `tools` and
//! `command` are the commands as functions: they fill the same structs of arguments as the command line, so that names,
//! defaults and checks exist once. `divided` has the stages of a search that an engine divides.
//!
//! The limited API of Python makes an `update_batch` with SHA-1 a tenth slower, but lets one wheel serve all versions
//! from 3.11 on.

mod errors;

mod arguments;
mod json;

mod progress;

mod pool;

mod arrow;

mod objects;

mod tokens;

mod texts;

mod hashes;

mod lists;

mod scheme;

mod gpu;

mod engines;

mod signatures;

mod signer;

mod table;

mod options;

mod columns;

mod beside;

mod memory;

mod divided;

mod sketch;

mod index;

mod seen;

mod datatrove;

mod ratings;

mod links;

mod passages;

mod contain;

mod files;

mod tools;

mod command;

use pyo3::prelude::*;

// Never tested on a free-threaded Python, which therefore keeps the lock while this module is loaded.
#[pymodule(gil_used = true)]
mod _simgpu {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::contain::{PyItemTable, ignored_phrases, items_of_files};
    #[pymodule_export]
    use super::datatrove::{DatatroveSigner, sort_records};
    #[pymodule_export]
    use super::divided::{DividedComponents, DividedEdges, DividedSearch};
    #[pymodule_export]
    use super::index::{
        MinHashLsh, MinHashLshForest, optimal_bands, optimal_containment_bands, optimal_partitions,
    };
    #[pymodule_export]
    use super::links::link_records;
    #[pymodule_export]
    use super::memory::{PyFound, dedup_in_memory, pairs_in_memory};
    #[pymodule_export]
    use super::passages::passages_in_memory;
    #[pymodule_export]
    use super::ratings::{hold_out_of_ratings, neighbours_of_ratings, recommend_by_ratings};
    #[pymodule_export]
    use super::scheme::{PyScheme, PyShingling};
    #[pymodule_export]
    use super::seen::PyIndex;
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

    #[pymodule_export]
    use super::command::command;

    #[pymodule_export]
    use super::files::{
        contain_files, dedup_files, evaluate, link_files, pairs_files, pairs_signatures,
        passages_files, sign_files,
    };

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
