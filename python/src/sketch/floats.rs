//! Python's and numpy's arithmetic of floats.

use pyo3::exceptions::{PyOverflowError, PyZeroDivisionError};
use pyo3::prelude::*;

/// `part / whole`, with Python's exception for an empty whole.
pub(crate) fn ratio(part: usize, whole: usize) -> PyResult<f64> {
    match whole {
        0 => Err(PyZeroDivisionError::new_err("float division by zero")),
        _ => Ok(part as f64 / whole as f64),
    }
}

/// The sum as numpy adds float64: in blocks of 128, eight sums per block, so that the rounding is the same.
pub(crate) fn pairwise_sum(values: &[f64]) -> f64 {
    const BLOCK: usize = 128;
    if values.len() < 8 {
        return values.iter().sum();
    }
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % 8);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let (rows, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(sum, |sum, value| sum + value)
}

/// Python's `base ** exponent` of floats.
pub(crate) fn power(base: f64, exponent: f64) -> PyResult<f64> {
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() {
        Err(PyOverflowError::new_err((
            34,
            "Numerical result out of range",
        )))
    } else {
        Ok(power)
    }
}

/// Python's `/` of floats.
pub(crate) fn divide(dividend: f64, divisor: f64) -> PyResult<f64> {
    if divisor == 0.0 {
        Err(PyZeroDivisionError::new_err("float division by zero"))
    } else {
        Ok(dividend / divisor)
    }
}
