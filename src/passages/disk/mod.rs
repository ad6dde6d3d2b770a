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
//! 3. **Windows of mixed regions** (second reading). A window is a record of 24 bytes: 128 bits of a hash of its symbols, and
//!    its place. Sorted, equal ones lead to the first. Then a join leads the windows of other regions to where those of the
//!    first of their kind lead.
//! 4. **Pieces** (third reading, `map.rs`, `choose.rs`). Where windows lead is a sorted file. Documents are passed in order:
//!    what is a passage, what is cut, and what document is removed is decided by the rules of a search in memory. How often
//!    windows occur, and where the second time, is a second such file, if it matters (`others.rs`). A piece goes
//!    on as long as its windows and those of its source have the same first places, which says that they are equal.
//! 5. **Sources** (fourth reading, `sources.rs`). Pieces, sorted by the places of their sources, learn where these are in bytes,
//!    and whether all bytes are equal.
//! 6. **Cuts** (fifth reading). The records are written without what was cut. What is lost is counted by three sorts (`lost.rs`).
//!
//! *Why it is exact.* Equal windows have equal anchors, so a region that shares a window with another has its key. If all
//! regions of a key are equal, so are their windows, one by one, and no window of a region equals another of the same one, since
//! the anchor has another place in it. Else each window of each kind is compared with all of the key, and the first occurrence of a
//! window is in the first region of its kind. *Equal* means equal by 128 bits or more of hashes of the symbols, as for
//! identical documents: n different windows are taken for equal with a probability below n^2 / 2^129, 10^-13 for 10^13.
//!
//! **Checkpoints.** All records are in files of the spill store with names, so a run that was stopped goes on: at a chunk of the
//! first reading, or after the last stage that was complete. Stages after the first repeat their reading: what they
//! take in order, sorted, is gone as soon as it is taken.
//!
//! **Memory.** Records are sorted in parts that fit, by the spill store; records of one 32-bit word of a hash are one part, so
//! 24 bytes for each time that the most frequent region occurs are in memory. The file of first places is read at random
//! by blocks of 12 KiB, as many of which are kept as a quarter of the memory holds; its index takes 16 bytes a block. Beside the budget, a
//! run holds, by document, its id, its first place, where its cuts end (8 bytes each) and 2 bytes. The count of occurrences
//! holds 32 bytes for each of the most frequent window. For windows that
//! removed documents had first, the first place elsewhere is a tree in memory, and a run that needs more for it fails.
//!
//! **Disk.** 24 bytes a region, which is 0.3 bytes a byte of text for passages of 200 bytes and 1.8 bytes a word for those
//! of 50 words; of repeated ones 12 bytes more; 24 bytes a window of mixed regions; 24 bytes a run of windows that lead to
//! windows in a row, of which a run that can go on keeps 12 of before, and 20 more if occurrences are counted. 8 bytes a
//! document, and its id twice. 20 bytes a cut, 16 a part of one that stands elsewhere, and 52 a piece.
//!
//! Rejected: contexts of mixed regions, searched in memory, take a third of the space of their windows, but one anchor may have
//! more of them than memory holds, so that windows would be needed in any case. Left: a middle level, such as the cells of
//! the search in memory, which would spare most windows of mixed regions.

mod records;

mod regions;

mod map;

mod search;

mod others;

mod choose;

mod sources;

mod cut_file;

mod lost;

mod run;

#[cfg(test)]
mod tests;
