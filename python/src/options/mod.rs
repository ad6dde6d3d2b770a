//! Options of a call, by name, and the arguments of the command that they stand for.

mod values;

mod inputs;

mod signing;

mod runs;

pub(crate) use runs::process;
pub(crate) use values::{MIB, Options};
