//! Passages that repeat in texts: parts of at least so many symbols that occur elsewhere, in the same document or another.
//!
//! Near-duplicate documents share most of their text; much of what repeats is a part: boilerplate, licences, quotes, a
//! file inside of another. [`PassageSearch`] finds every such part, exactly, in memory.
//!
//! A *window* is L symbols in a row within one document. It is *repeated* if an equal one begins earlier, in the order of
//! the documents. What is covered is the union of the repeated windows: every symbol that lies in a passage of at least L
//! symbols that also occurs earlier. A *span* is a run of covered symbols, and a *piece* is a part of it with one source.
//!
//! 1. Each window chooses an anchor, the place of its least k-gram (`simd/minima.rs`): equal windows choose equal places.
//! 2. A pass in order looks up the k-grams of anchors, compares, and enters what is new (`scan.rs`), on all threads at the
//!    same time (`pass.rs`), which share what they know (`known.rs`).
//! 3. Twins are followed back to first places, so that sources depend on the texts alone (`sources.rs`).
//!
//! Texts that memory does not hold are searched on disk (`disk/mod.rs`), with the same results.

mod hash;

mod lengths;

mod text;

mod words;

mod known;

mod items;

mod scan;

mod decide;

mod sources;

mod classes;

mod choice;

mod pass;

mod search;

#[cfg(feature = "io")]
mod units;

#[cfg(feature = "io")]
mod cuts;

#[cfg(feature = "io")]
mod lost;

#[cfg(feature = "io")]
mod report;

#[cfg(feature = "io")]
mod overview;

#[cfg(feature = "io")]
mod gather;

#[cfg(feature = "io")]
mod excerpts;

#[cfg(feature = "io")]
mod page;

#[cfg(feature = "io")]
mod read;

#[cfg(feature = "io")]
mod run;

#[cfg(feature = "io")]
mod in_memory;

#[cfg(feature = "io")]
mod find;

#[cfg(feature = "io")]
mod pieces_output;

#[cfg(feature = "io")]
mod rewrite;

#[cfg(feature = "io")]
mod write;

#[cfg(feature = "io")]
mod shown_texts;

#[cfg(feature = "io")]
mod show;

#[cfg(feature = "io")]
mod disk;

#[cfg(test)]
mod brute_force;

#[cfg(feature = "io")]
pub use self::{
    cuts::Snap,
    in_memory::{PassagesInMemory, PassagesOfTexts, TextPassage},
    overview::{
        CoveredDocument, CoveredSource, FrequentPassage, LengthBin, PassageExample,
        PassagesOverview,
    },
    report::{CutCounts, PassageCounts, PassageParameters, PassageReport, PassagesFormat},
    run::{PassageAction, PassagesOutcome, PassagesRun},
    show::{DocumentWithPassages, PieceRow, RemovedForPassages, ShownPassages, show_passages},
    units::{PassageUnit, PassageUnits},
};
#[cfg(feature = "io")]
pub(crate) use self::{
    cuts::{Cuts, Shrinking},
    rewrite::{CutsOfRows, Rewriting, check_cut_fields, check_marks, uncut},
};
#[cfg(feature = "internals")]
pub(crate) use lengths::grams;
pub use search::{PassageSearch, Passages, Piece, Symbols};
pub use sources::Occurrences;
