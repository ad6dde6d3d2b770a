//! What all stages of a search are told.

use super::parameters::Search;
use crate::pipeline::Pairing;
use crate::progress::{Progress, Timings};

/// A search under way.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Context<'a> {
    #[doc(hidden)]
    pub search: &'a Search,
    /// What it compares if the source has a reference.
    #[doc(hidden)]
    pub pairing: Pairing,
    #[doc(hidden)]
    pub progress: &'a dyn Progress,
    #[doc(hidden)]
    pub timings: &'a mut Timings,
}

impl Context<'_> {
    /// The same for a search of other parameters.
    pub(super) fn with<'a>(&'a mut self, search: &'a Search) -> Context<'a> {
        Context {
            search,
            pairing: self.pairing,
            progress: self.progress,
            timings: self.timings,
        }
    }
}
