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
//!    same time (`pass.rs`), which share what they know (`known/`).
//! 3. Twins are followed back to first places, so that sources depend on the texts alone (`sources.rs`).
//! 4. If some windows are no passages, or documents are removed, one pass over first places decides (`choice.rs`).
//!
//! Texts that memory does not hold are searched on disk (`disk/mod.rs`), with the same results.

mod hash;

mod lengths;

mod regions;

mod text;

mod words;

mod known;

mod items;

mod scan;

mod decide;

mod sources;

mod twins;

mod first_places;

mod twin_places;

mod choice;

mod pass;

mod search;

mod units;

mod cuts;

mod removal;

mod lost;

mod report;

mod lines;

mod overview;

mod frequent;

mod gather;

mod excerpts;

mod page;

mod read;

mod run;

mod in_memory;

mod find;

mod pieces_output;

mod rewrite;

mod write;

mod shown_texts;

mod show;

mod disk;

#[cfg(test)]
mod tests;

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
#[doc(hidden)]
pub use cuts::{Cuts, Shrinking};
#[doc(hidden)]
pub use regions::count_regions;
#[doc(hidden)]
pub use rewrite::{CutsOfRows, Rewriting, check_cut_fields, check_marks, uncut};
pub use search::{PassageSearch, Passages, Piece, Symbols};
pub use sources::Occurrences;
