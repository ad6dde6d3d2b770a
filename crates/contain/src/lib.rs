//! What is inside what: documents that hold the items of benchmarks.
//!
//! An item is *in* a document if the document asks it. Most texts that share words with an item do not: the instruction,
//! definition, law, speech or code that it quotes, or the fact that answers it. So evidence counts, not overlap.
//!
//! 1. A part is a distinct question or a distinct passage. An exact table holds the n-grams of their words (`table.rs`).
//! 2. A document with enough of a part's n-grams close together is a candidate; n-grams of many parts, the template of a
//!    benchmark, open none.
//! 3. The question is aligned word by word with its place (`align.rs`).
//! 4. Whether it is asked there (`asked.rs`), or is a statement (`statement.rs`), decides the class (`scan.rs`).
//!
//! Tried and rejected: half of an item's n-grams, weighted by rarity or not. Definitions, licences, speeches and facts that
//! answer a question have as many and as rare n-grams as the question itself: of 1,859 texts that share words with an item
//! and do not ask it, 1,288 were flagged.

mod letters;

mod markup;

mod words;

mod word_hashes;

mod hash_numbers;

mod vocabulary;

mod sentences;

mod docstring;

mod align;

mod items;

mod part;

mod parts;

mod table;

mod document;

mod asked;

mod numbers;

mod signs;

mod opposites;

mod siblings;

mod statement;

mod lack;

mod class;

mod options;

mod findings;

mod scan;

mod decide;

mod overlap;

mod phrases;

mod read;

mod frequent;

mod action;

mod changed;

mod report;

mod shown;

mod hits_output;

mod found;

mod page;

mod write;

mod run;

pub use action::ContainAction;
pub use class::{Class, Hit, ItemPart, Rule, RuleOf};
pub use findings::Findings;
pub use frequent::{FrequentPhrase, read_ignored};
pub use hits_output::HitsFormat;
pub use items::{Item, ItemRecord};
pub use lack::Lack;
pub use phrases::{Phrases, PublicPhrase, Spread};
pub use read::ItemFields;
pub use report::{
    BenchmarkReport, ByClass, ContainCounts, ContainCuts, ContainParameters, ContainReport,
    LeakedItem, LeakingFile, MergedItem, NearMiss, Removable,
};
pub use run::{ContainOutcome, ContainRun};
pub use scan::{Contain, Scratch};

#[cfg(test)]
mod tests;
