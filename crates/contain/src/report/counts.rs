//! Numbers of documents, items and bytes.

use serde::Serialize;

use crate::action::{ContainAction, Fate};
use crate::class::{Class, Hit, RuleOf};

/// A number per class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ByClass {
    /// Of [`Class::Contaminated`].
    pub contaminated: u64,
    /// Of [`Class::Passage`].
    pub passage: u64,
    /// Of [`Class::Short`].
    pub short: u64,
    /// Of [`Class::Template`].
    pub template: u64,
}

impl ByClass {
    /// Counts one of a class.
    pub fn count(&mut self, class: Class) {
        *match class {
            Class::Contaminated => &mut self.contaminated,
            Class::Passage => &mut self.passage,
            Class::Short => &mut self.short,
            Class::Template => &mut self.template,
        } += 1;
    }
}

/// The counts of a search for items. `records = skipped + kept + removed` where records are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ContainCounts {
    /// Records read, including bad ones.
    pub records: u64,
    /// Bad records skipped.
    pub skipped: u64,
    /// Documents that repeat an earlier id.
    pub repeated_ids: u64,
    /// Bytes of all texts.
    pub bytes: u64,
    /// Records of the items, without bad ones.
    pub item_records: u64,
    /// Bad records of the items skipped.
    pub skipped_items: u64,
    /// Items.
    pub items: u64,
    /// Items that cannot be found, even where a document holds all of them: too short, or all shared with others.
    pub undecidable_items: u64,
    /// Distinct n-grams of the items.
    pub ngrams: u64,
    /// Items in documents.
    pub hits: ByClass,
    /// Documents with a hit, each by the first class of its hits.
    pub documents: ByClass,
    /// Items found, each by the first class of its hits.
    pub found_items: ByClass,
    /// Hits that are not of [`Class::Contaminated`] because the document has a public phrase alone; 0 without phrases.
    pub excused: u64,
    /// Items of several records whose texts differ, though their words do not.
    pub merged_items: u64,
    /// Files with documents that ask an item.
    pub leaking_files: u64,
    /// Hits that lack one condition of a contaminated document.
    pub near_misses: u64,
    /// What [`ContainAction::Drop`] and [`ContainAction::Cut`] remove for [`Class::Contaminated`].
    pub removable: Removable,
    /// Documents written; `None` if none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// Documents left out; `None` if none are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// What was cut, and what is left; `None` if no text changes and no document is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<ContainCuts>,
}

/// What actions remove for [`Class::Contaminated`], whether they did or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removable {
    /// Documents that [`ContainAction::Drop`] removes.
    pub dropped: u64,
    /// Bytes of their texts.
    pub dropped_bytes: u64,
    /// Parts that [`ContainAction::Cut`] cuts out of them.
    pub cuts: u64,
    /// Bytes of these parts.
    pub cut_bytes: u64,
}

impl Removable {
    /// What is removed of a document with these hits.
    pub(crate) fn new(text: &str, hits: &[Hit], rule: RuleOf) -> Self {
        if hits.iter().all(|hit| hit.class != Class::Contaminated) {
            return Removable::default();
        }
        let cut = ContainAction::Cut(vec![Class::Contaminated]);
        let cuts = match cut.fate(text, hits, rule) {
            Fate::Kept(cuts) => cuts,
            // A rule of others leaves it out.
            Fate::Removed(_) => std::iter::once(0..text.len()).collect(),
        };
        Removable {
            dropped: 1,
            dropped_bytes: text.len() as u64,
            cuts: cuts.len() as u64,
            cut_bytes: cuts.iter().map(|cut| cut.len() as u64).sum(),
        }
    }

    pub(super) fn add(&mut self, other: Removable) {
        self.dropped += other.dropped;
        self.dropped_bytes += other.dropped_bytes;
        self.cuts += other.cuts;
        self.cut_bytes += other.cut_bytes;
    }
}

/// What was cut and left out. `bytes = kept_bytes + cut_bytes + removed_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ContainCuts {
    /// Documents of which something was cut.
    pub cut_documents: u64,
    /// Parts that were cut.
    pub cuts: u64,
    /// Bytes of the texts that are written.
    pub kept_bytes: u64,
    /// Bytes cut out of them.
    pub cut_bytes: u64,
    /// Bytes of the texts of documents that were left out.
    pub removed_bytes: u64,
}
