//! Which option acts in which mode of which command: one table, which the command line and the Python package read.
//!
//! To add an option, add its name to the row of [`TABLE`] for its commands whose effect and modes it shares, or add a
//! row; then give it a value in `cli/tests/options.rs`. That test fails for an option without a row. It runs each option
//! in each mode: the option must change what its row says, or be refused.
//!
//! To add a mode, add a variant to [`Mode`], tell in `Mode::refusal` why options are idle in it, and have the arguments
//! that lead to it name it in their `modes`.
//!
//! An option is refused because it is given, whatever its value; Python passes the arguments that are not at their
//! defaults. What the library refuses itself is not repeated here, such as a `size` of stop words, a `delimiter` without CSV
//! or a `compression_level` without a compressed output. `dry_run` is no mode: it leaves out the writing alone, so that the
//! same command runs with it and without it.

mod mode;

mod table;

mod given;

pub use given::{Given, parameter};
pub use mode::Mode;
pub use table::{Effect, Row, TABLE, commands, row_of};
