//! Opens engines.

use pyo3::prelude::*;
use simgpu::backend::Backend;
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::scheme::Scheme;

use crate::engines::Engines;
use crate::errors::OrRaise;
use crate::scheme::PyShingling;

/// Engines for a scheme; `None` means the shingling of the scheme.
pub(crate) fn open(
    py: Python<'_>,
    scheme: &Scheme,
    shingling: Option<&PyShingling>,
    backend: Backend,
) -> PyResult<Engines> {
    Engines::new(py, builder(py, scheme, shingling)?, backend)
}

/// A builder of engines for a scheme.
pub(crate) fn builder(
    py: Python<'_>,
    scheme: &Scheme,
    shingling: Option<&PyShingling>,
) -> PyResult<EngineBuilder> {
    let mut builder = Engine::builder().scheme(scheme.clone());
    if let Some(shingling) = shingling {
        builder = builder.shingling(shingling.resolve(scheme).or_raise(py)?);
        if let Some(hash) = shingling.base_hash() {
            builder = builder.hash(hash);
        }
    }
    Ok(builder)
}
