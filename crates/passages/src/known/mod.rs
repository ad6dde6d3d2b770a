//! The windows that were new so far, by the key of the anchor that they share.
//!
//! A key of 32 bits finds one run of windows, or a group of them side by side, or says that its windows are a level below,
//! in cells. Slots lie in the order of the keys' highest bits, so that a table of twice the size is written in order.
//!
//! **All threads share one table.** What is entered stays where it is, a slot is written behind what it leads to, and the
//! length of a group behind its windows. So what is read is complete, and no reader waits. One exchange of a slot, or of the
//! length of a group, makes sure that nothing was entered that was not compared. A group that moves stays locked. A table is
//! made larger only when no thread reads it: each looks, item by item, whether it must wait for that.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers are packed into words, with their limits checked where they are made"
)]

mod windows;

mod entry;

mod table;

#[cfg(test)]
mod tests;

pub(crate) use {
    entry::SlotEntry,
    table::{FirstRun, KeySlot, KnownWindows, MOST_RUNS, Rooms, RunInContext},
    windows::{AnchoredWindows, MOST_SYMBOLS},
};
