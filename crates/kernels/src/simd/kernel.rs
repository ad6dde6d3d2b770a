//! What a computation over lanes implements.

use super::lanes::Lanes;

/// A computation that is written once over [`Lanes`] and compiled for each instruction set.
///
/// Everything that `run` calls must be inlined into it; what is not is compiled for the baseline only.
#[doc(hidden)]
pub trait Kernel {
    type Output;

    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}
