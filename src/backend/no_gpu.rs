//! What stands for the GPUs in a build without them.

use super::hardware::{Backend, Hardware};
use crate::error::{Error, Result, Unsupported};
use crate::pipeline::Signer;
use crate::scheme::Permutations;

/// The CPU: there is nothing to choose from.
pub(super) fn choose(
    _permutations: &Permutations,
    _empty: u64,
    _hardware: &Hardware,
    _updates: Option<u64>,
    cpu: &dyn Fn() -> Box<dyn Signer>,
) -> Box<dyn Signer> {
    cpu()
}

/// Refuses a backend that needs a GPU.
pub(super) fn open(
    backend: Backend,
    _permutations: &Permutations,
    _empty: u64,
    _hardware: &Hardware,
    _cpu: &dyn Fn() -> Box<dyn Signer>,
) -> Result<Box<dyn Signer>> {
    Err(Error::Unsupported(Unsupported::NotInBuild {
        backend: backend.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;

    #[test]
    fn callers_match_on_a_missing_feature() {
        let scheme = Scheme::named("affine32").unwrap();
        let refused = Backend::Gpu.signer_with(&scheme, &Hardware::default());
        let Err(Error::Unsupported(Unsupported::NotInBuild { backend })) = refused else {
            panic!("a backend that is not in the build was opened");
        };
        assert_eq!(backend, "gpu");
    }
}
