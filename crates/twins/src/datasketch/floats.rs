//! Python's and numpy's arithmetic of floats.

/// What Python raises an exception for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatError {
    /// A division by zero.
    DivisionByZero,
    /// A power beyond the range of floats.
    OutOfRange,
}

/// `part / whole`.
///
/// # Errors
/// [`FloatError::DivisionByZero`] for an empty whole.
pub fn ratio(part: usize, whole: usize) -> Result<f64, FloatError> {
    match whole {
        0 => Err(FloatError::DivisionByZero),
        _ => Ok(part as f64 / whole as f64),
    }
}

/// The sum as numpy adds float64: in blocks of 128, eight sums per block, so that the rounding is the same.
pub(super) fn pairwise_sum(values: &[f64]) -> f64 {
    const BLOCK: usize = 128;
    if values.len() < 8 {
        return values.iter().sum();
    }
    if values.len() > BLOCK {
        // numpy halves long arrays at a multiple of its eight sums.
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
pub(super) fn power(base: f64, exponent: f64) -> Result<f64, FloatError> {
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() {
        Err(FloatError::OutOfRange)
    } else {
        Ok(power)
    }
}

/// Python's `/` of floats.
pub(super) fn divide(dividend: f64, divisor: f64) -> Result<f64, FloatError> {
    if divisor == 0.0 {
        Err(FloatError::DivisionByZero)
    } else {
        Ok(dividend / divisor)
    }
}
