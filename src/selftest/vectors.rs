//! Reads the published values that this crate includes as JSON.

use std::num::NonZeroUsize;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::scheme::Scheme;

/// Parses a file of values.
pub(super) fn parse(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))
}

/// The scheme `name` with the permutations and the seed of a case.
pub(super) fn scheme_of(case: &Value, name: &str) -> Result<Scheme> {
    Ok(Scheme::named(name)?
        .with_num_perm(number(&case["num_perm"])?)?
        .with_seed(number(&case["seed"])?))
}

pub(super) fn list(value: &Value) -> Result<&[Value]> {
    match value.as_array() {
        Some(list) => Ok(list),
        None => Err(unreadable("a list is missing")),
    }
}

pub(super) fn string(value: &Value) -> Result<&str> {
    value
        .as_str()
        .ok_or_else(|| unreadable("a string is missing"))
}

/// A number, either as a JSON number or as a string.
pub(super) fn number<T: TryFrom<u64>>(value: &Value) -> Result<T> {
    let number = match value.as_u64() {
        Some(number) => Some(number),
        None => string(value)?.parse().ok(),
    };
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| unreadable(&format!("{value} is not a number in range")))
}

pub(super) fn numbers<T: TryFrom<u64>>(value: &Value) -> Result<Vec<T>> {
    list(value)?.iter().map(number).collect()
}

/// A number of units per shingle.
pub(super) fn size(value: &Value) -> Result<NonZeroUsize> {
    NonZeroUsize::new(number(value)?).ok_or_else(|| unreadable("a size is 0"))
}

/// The error for values in an unexpected form.
pub(super) fn unreadable(problem: &str) -> Error {
    Error::Defect(format!("cannot read the published values: {problem}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unreadable_values_are_a_defect() {
        assert_eq!(number::<u32>(&json!("7")).unwrap(), 7);
        let errors = [
            parse("{").unwrap_err(),
            list(&json!(1)).unwrap_err(),
            number::<u64>(&json!("seven")).unwrap_err(),
            number::<u32>(&json!(1u64 << 32)).unwrap_err(),
            size(&json!(0)).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Defect(_)), "{error}");
            assert!(error.to_string().contains("please report"), "{error}");
        }
    }
}
