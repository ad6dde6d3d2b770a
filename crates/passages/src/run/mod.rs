//! A run that searches files for passages.

mod outcome;

mod options;

mod check;

mod inputs;

mod stages;

pub(super) use self::inputs::{IDS, InputFiles};
pub use self::{
    options::{PassageAction, PassagesRun},
    outcome::PassagesOutcome,
};
