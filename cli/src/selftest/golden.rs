//! The values as the tests read them: JSON.

use anyhow::Context;
use serde_json::Value;
use simgpu::scheme::Scheme;

/// The scheme of that name with the permutations and the seed of a case.
pub(crate) fn scheme_of(case: &Value, name: &str) -> anyhow::Result<Scheme> {
    let num_perm = u32::try_from(number(&case["num_perm"])?)?;
    let seed = u32::try_from(number(&case["seed"])?)?;
    Ok(Scheme::named(name)?
        .with_num_perm(num_perm)?
        .with_seed(seed))
}

pub(crate) fn list(value: &Value) -> anyhow::Result<&[Value]> {
    Ok(value.as_array().context("a list is missing")?)
}

pub(crate) fn string(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("a string is missing")
}

/// A number, or a string that holds one.
pub(crate) fn number(value: &Value) -> anyhow::Result<u64> {
    match value.as_u64() {
        Some(number) => Ok(number),
        None => Ok(string(value)?.parse()?),
    }
}

pub(crate) fn numbers(value: &Value) -> anyhow::Result<Vec<u64>> {
    list(value)?.iter().map(number).collect()
}
