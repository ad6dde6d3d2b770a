//! Two folders side by side, with their noise.
//!
//! The least time of each case is compared, because other programs on a shared machine only add to it. The noise of a
//! case is the excess of the third least time of six stretches of rounds over the least, and never below the usual
//! noise of its folder. A ratio may be off by twice the combined noise of both sides.
//!
//! Medians, with or without the reference loop, can move by a third from one short measurement to the next.
//!
//! ```text
//! noise        how certain a time is
//! comparison   how each case and cell changed
//! text         a comparison as text
//! ```

mod noise;

mod comparison;

mod text;

pub use self::comparison::{FolderComparison, Verdict, compare};
