//! Bands and rows that arguments name.

use pyo3::prelude::*;
use simgpu::pipeline::Banding;
use simgpu::scheme::Scheme;

use crate::arguments::optional_argument;
use crate::errors::{OrRaise, parameter_error};

/// The banding that arguments name, or the best for the threshold.
pub(crate) fn banding_of(
    py: Python<'_>,
    bands: Option<usize>,
    rows: Option<usize>,
    threshold: f64,
    scheme: &Scheme,
) -> PyResult<Banding> {
    let banding = match (bands, rows) {
        (Some(bands), Some(rows)) => Banding::new(bands, rows, scheme.num_perm()),
        (None, None) => Banding::for_scheme(threshold, scheme),
        _ => {
            let message = "bands and rows belong together; give both, or neither";
            return Err(parameter_error(py, message));
        }
    };
    banding.or_raise(py)
}

/// The banding that arguments of a method name, or the best for the threshold.
pub(crate) fn banding_of_arguments(
    py: Python<'_>,
    bands: Option<&Bound<'_, PyAny>>,
    rows: Option<&Bound<'_, PyAny>>,
    threshold: Option<&Bound<'_, PyAny>>,
    scheme: &Scheme,
) -> PyResult<Banding> {
    let threshold = optional_argument(threshold, "threshold", "a number above 0 and up to 1")?;
    banding_of(
        py,
        optional_argument(bands, "bands", "a number of bands")?,
        optional_argument(rows, "rows", "a number of slots per band")?,
        threshold.unwrap_or(DEFAULT_THRESHOLD),
        scheme,
    )
}

/// The threshold of methods that are called without one.
pub(crate) const DEFAULT_THRESHOLD: f64 = 0.8;
