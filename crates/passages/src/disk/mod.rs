//! A search for passages on disk, of texts that memory does not hold. It finds the same as a search in memory.
//!
//! A *region* is a run of windows of one document that choose the same anchor, as in memory. Equal windows are in regions of
//! equal anchors. The search finds for each window its *first place*: the first window that is equal to it.
//!
//! 1. **Regions** (first reading, `regions.rs`). A region is a record of 24 bytes: 43 bits of a hash of its anchor's
//!    k-gram, 96 bits of a hash of all its symbols, its first window, and the number of windows. A region that equals the one
//!    right before it, as in text of a short period, is no record: its windows lead back to those before.
//! 2. **Equal regions** (`search.rs`). Sorted by both hashes, equal regions are neighbours. If all regions of an anchor are
//!    equal, the windows of each lead to those of the first. An anchor on its own leads nowhere. Else the regions are *mixed*,
//!    and the first of each kind is looked at window by window.
//! 3. **Cells of mixed regions** (second reading). The windows of a region are divided by the place of the anchor in them, into
//!    about as many cells as a cell has windows. All windows of a cell have most of their symbols in common: the core of the
//!    cell, whose hash is its key. So cells are compared as regions are, and few are mixed: those of which the core is equal,
//!    and a symbol beside it is not.
//! 4. **Windows of mixed cells** (third reading). A window is a record of 24 bytes: 128 bits of a hash of its symbols, and
//!    its place. Sorted, equal ones lead to the first. Then a join leads the windows of other regions to where those of the
//!    first of their kind lead.
//! 5. **Pieces** (fourth reading, `map.rs`, `choosing.rs`). Where windows lead is a sorted file. Documents are passed in order:
//!    what is a passage, what is cut, and what document is removed is decided as in memory (`passages/choice.rs`). How often
//!    windows occur, and where the second time, is a second such file, if it matters (`others.rs`). A piece goes
//!    on as long as its windows and those of its source have the same first places, which says that they are equal.
//! 6. **Sources** (fifth reading, `sources.rs`). Pieces, sorted by the places of their sources, learn where these are in bytes,
//!    and whether all bytes are equal.
//! 7. **Cuts** (sixth reading). The records are written without what was cut. What is lost is counted by three sorts (`lost.rs`).
//!
//! *Why it is exact.* Equal windows have equal anchors, so a region that shares a window with another has its key. If all
//! regions of a key are equal, so are their windows, one by one, and no window of a region equals another of the same one, since
//! the anchor has another place in it. Else each window of each kind is compared with all of the key, and the first occurrence of a
//! window is in the first region of its kind. The same holds of cells: equal windows of one anchor are in cells with equal cores. *Equal* means equal by 128 bits or more of hashes of the symbols, as for
//! identical documents: n different windows are taken for equal with a probability below n^2 / 2^129, 10^-13 for 10^13.
//!
//! **Checkpoints.** All records are in files of the spill store with names, so a run that was stopped goes on: at a chunk of the
//! first reading, within a comparison, or after the last stage that was complete. Stages after the first repeat their reading:
//! what they take in order, sorted, is gone as soon as it is taken. What a checkpoint names stays until the next one, so that
//! a comparison makes eight: else all regions would stand beside all that they lead to.
//!
//! **Memory.** Records are sorted in parts that fit, by the spill store; records of one 32-bit word of a hash are one part, so
//! 24 bytes for each time that the most frequent region occurs are in memory. The file of first places is read at random
//! by blocks of 12 KiB, as many of which are kept as a quarter of the memory holds; its index takes 16 bytes a block. Beside the budget, a
//! run holds, by document, its id, its first place, where its cuts end (8 bytes each) and 2 bytes. The count of occurrences
//! holds 32 bytes for each of the most frequent window. For windows that
//! removed documents had first, the first place elsewhere is a tree in memory, and a run that needs more for it fails.
//!
//! **Disk.** 24 bytes a region, which is 0.3 bytes a byte of text for passages of 200 bytes and 1.8 bytes a word for those
//! of 50 words; of repeated ones 12 bytes more; 24 bytes a cell of mixed regions, then a window of mixed cells; 24 bytes a run of windows that lead to
//! windows in a row, of which a run that can go on keeps 12 of before, and 20 more if occurrences are counted. 8 bytes a
//! document, and its id twice. 20 bytes a cut, 16 a part of one that stands elsewhere, and 52 a piece.
//!
//! Measured on 10 MB each, passages of 200 bytes: cells take .04 bytes a byte of abstracts, .44 of terms of service, .98 of API
//! pages, and windows .02, .42 and .56. Without cells, windows would take .49, 5.4 and 11.5. Of the whole corpora with 24 MiB of
//! memory, temporary files took at their peak .26, .54 and 1.06; for passages of 100 bytes .68, .72 and 1.61, and for those of
//! 50 words .26, .28 and .19.
//!
//! Rejected: contexts of mixed regions, searched in memory, take a third of the space of their windows, but one anchor may have
//! more of them than memory holds, so that windows would be needed in any case. Left: three levels of cells, of 57, 19 and 7
//! places, would take .28 bytes a byte of API pages, and read the inputs twice more.

mod records;

mod shared;

mod text_reader;

mod regions;

mod listed;

mod map;

mod copies;

mod search;

mod others;

mod first_places;

mod sources;

mod cut_file;

mod lost;

mod reread;

mod first_reading;

mod choosing;

mod run;

#[cfg(test)]
mod tests;

pub(super) use run::DiskRun;
