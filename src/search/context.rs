//! What all stages of a search are told.

use super::parameters::Search;
use crate::pipeline::Pairing;
use crate::progress::{Progress, Timings};

/// A search under way.
pub(crate) struct Context<'a> {
    pub(crate) search: &'a Search,
    /// What it compares if the source has a reference.
    pub(crate) pairing: Pairing,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) timings: &'a mut Timings,
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
