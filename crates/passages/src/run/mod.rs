//! A run that searches files for passages.

mod options;

mod check;

mod inputs;

mod stages;

pub(super) use self::inputs::{IDS, InputFiles};
pub use self::{
    options::{PassageAction, PassagesRun},
    stages::PassagesOutcome,
};
