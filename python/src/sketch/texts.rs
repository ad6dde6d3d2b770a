//! Texts as sets of shingles that a sketch's hash function hashes.

use pyo3::prelude::*;
use simgpu::pipeline::Shingling;
use simgpu_twins::datasketch::{NativeHash, Permutations, TextSigner};

use crate::errors::{OrRaise, parameter_error};
use crate::scheme::PyShingling;

/// Signs texts as a sketch would sign the bytes of their shingles.
pub(crate) fn text_signer<'a>(
    py: Python<'_>,
    hash: Option<NativeHash>,
    permutations: &'a Permutations,
    shingling: Option<&Bound<'_, PyAny>>,
) -> PyResult<TextSigner<'a>> {
    let Some(hash) = hash else {
        let message = "shingles are hashed without Python; give a hashfunc that is sha1_hash32, sha1_hash64, \
                       xxhash.xxh32_intdigest or xxhash.xxh64_intdigest";
        return Err(parameter_error(py, message));
    };
    let scheme = permutations.scheme().preset().or_raise(py)?;
    let shingling = match PyShingling::from_argument(shingling)? {
        Some(shingling) => shingling.resolve(&scheme).or_raise(py)?,
        None => Shingling::of_scheme(&scheme),
    };
    TextSigner::new(permutations, hash, shingling).or_raise(py)
}
