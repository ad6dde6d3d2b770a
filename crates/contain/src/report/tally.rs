//! Counts hits while documents are read, by item, benchmark and file.

use std::collections::BTreeMap;

use super::counts::{ContainCounts, ContainCuts, Removable};
use super::lines::{FoundAt, ItemLine};
use super::{BenchmarkReport, LeakedItem, LeakingFile, MergedItem, NearMiss};
use crate::action::ContainAction;
use crate::changed::Changed;
use crate::class::{Class, Hit, ItemPart};
use crate::lack::Lack;
use crate::scan::Contain;
use simgpu_io::Places;

/// Documents that a page lists.
const LEAKING: usize = 20;

/// A document that asks items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeakingDocument {
    pub(crate) row: u32,
    pub(crate) items: u64,
}

/// What all documents add up to.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(super) counts: ContainCounts,
    pub(super) benchmarks: Vec<BenchmarkReport>,
    pub(super) leaking_files: Vec<LeakingFile>,
    pub(super) near_misses: Vec<NearMiss>,
    pub(super) merged_items: Vec<MergedItem>,
}

/// What is found of an item in all documents.
#[derive(Clone, Debug, Default)]
struct ItemTally {
    is_decidable: bool,
    /// Documents by class.
    documents: BTreeMap<Class, u64>,
    parts: Vec<ItemPart>,
    /// The row of the first document with the first class.
    first: Option<(Class, u32)>,
}

/// A document after it was read.
pub(crate) struct ReadDocument<'a> {
    pub(crate) row: u32,
    /// The file that has it.
    pub(crate) file: &'a str,
    /// The bytes of its text.
    pub(crate) bytes: usize,
    /// What actions would remove of it.
    pub(crate) removable: Removable,
    pub(crate) hits: &'a [Hit],
}

/// What is found in all documents.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    contain: &'a Contain,
    pub(crate) counts: ContainCounts,
    items: Vec<ItemTally>,
    /// The number of each benchmark, and what is found of it.
    numbers: BTreeMap<&'a str, usize>,
    benchmarks: Vec<BenchmarkReport>,
    /// By name.
    files: BTreeMap<String, LeakingFile>,
    /// Those that ask most items, and some beyond them.
    leaking: Vec<LeakingDocument>,
    near_misses: BTreeMap<Lack, u64>,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(contain: &'a Contain, item_records: usize) -> Self {
        let mut tally = Tally {
            contain,
            counts: ContainCounts {
                item_records: item_records as u64,
                items: contain.items().len() as u64,
                ngrams: contain.ngrams() as u64,
                ..ContainCounts::default()
            },
            items: Vec::with_capacity(contain.items().len()),
            numbers: BTreeMap::new(),
            benchmarks: Vec::new(),
            files: BTreeMap::new(),
            leaking: Vec::new(),
            near_misses: BTreeMap::new(),
        };
        let names = contain.items().iter().map(|item| &*item.benchmark);
        tally.numbers = names.map(|name| (name, 0)).collect();
        for (number, (name, place)) in tally.numbers.iter_mut().enumerate() {
            *place = number;
            tally.benchmarks.push(BenchmarkReport {
                benchmark: (*name).to_owned(),
                ..BenchmarkReport::default()
            });
        }
        for (number, item) in contain.items().iter().enumerate() {
            let tally_of_item = ItemTally {
                is_decidable: contain.is_decidable(number),
                ..ItemTally::default()
            };
            let undecidable = u64::from(!tally_of_item.is_decidable);
            tally.items.push(tally_of_item);
            let benchmark = &mut tally.benchmarks[tally.numbers[&*item.benchmark]];
            benchmark.items += 1;
            benchmark.undecidable_items += undecidable;
            tally.counts.undecidable_items += undecidable;
            tally.counts.merged_items += u64::from(!item.merged.is_empty());
        }
        tally
    }

    pub(crate) fn contain(&self) -> &'a Contain {
        self.contain
    }

    /// Counts the text of a document and its hits.
    pub(crate) fn add(&mut self, document: &ReadDocument<'_>) {
        let hits = document.hits;
        self.counts.bytes += document.bytes as u64;
        self.counts.removable.add(document.removable);
        self.add_leaks(document.row, document.file, hits);
        let mut benchmarks: BTreeMap<usize, Class> = BTreeMap::new();
        for hit in hits {
            self.counts.hits.count(hit.class);
            self.counts.excused += u64::from(hit.lacks == [Lack::Phrase]);
            if let Some(lack) = hit.near_miss() {
                self.counts.near_misses += 1;
                *self.near_misses.entry(lack).or_default() += 1;
            }
            let item = &mut self.items[hit.item];
            *item.documents.entry(hit.class).or_default() += 1;
            item.parts.extend(&hit.parts);
            item.parts.sort_unstable();
            item.parts.dedup();
            if item.first.is_none_or(|(class, _)| hit.class < class) {
                item.first = Some((hit.class, document.row));
            }
            let benchmark = self.numbers[&*self.contain.items()[hit.item].benchmark];
            let first = benchmarks.entry(benchmark).or_insert(hit.class);
            *first = hit.class.min(*first);
        }
        if let Some(class) = hits.iter().map(|hit| hit.class).min() {
            self.counts.documents.count(class);
        }
        for (benchmark, class) in benchmarks {
            self.benchmarks[benchmark].documents.count(class);
        }
    }

    /// Counts the items that a document of a file asks.
    fn add_leaks(&mut self, row: u32, file: &str, hits: &[Hit]) {
        let asked = hits.iter().filter(|hit| hit.class == Class::Contaminated);
        let items = asked.count() as u64;
        if items == 0 {
            return;
        }
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), LeakingFile::default());
        }
        if let Some(leaking) = self.files.get_mut(file) {
            leaking.documents += 1;
            leaking.hits += items;
        }
        self.leaking.push(LeakingDocument { row, items });
        if self.leaking.len() > 64 * LEAKING {
            self.keep_most_leaking();
        }
    }

    fn keep_most_leaking(&mut self) {
        let order = |of: &LeakingDocument| (std::cmp::Reverse(of.items), of.row);
        self.leaking.sort_unstable_by_key(order);
        self.leaking.truncate(LEAKING);
    }

    /// The documents that ask most items, the first of equals; at most [`LEAKING`].
    pub(crate) fn leaking(&mut self) -> Vec<LeakingDocument> {
        self.keep_most_leaking();
        self.leaking.clone()
    }

    /// Counts what an action changes.
    pub(crate) fn count_changes(
        &mut self,
        action: &ContainAction,
        places: &Places,
        changed: &Changed,
    ) {
        if !action.writes_records() {
            return;
        }
        let removed = changed.removed.len() as u64;
        self.counts.kept = Some(places.records() - places.bad_records() - removed);
        self.counts.removed = Some(removed);
        if matches!(action, ContainAction::Mark(_)) {
            return;
        }
        let cuts = || changed.places.iter().flat_map(|(_, cuts)| cuts);
        let cut_bytes = cuts().map(|cut| cut.len() as u64).sum();
        self.counts.cut = Some(ContainCuts {
            cut_documents: changed.places.len() as u64,
            cuts: cuts().count() as u64,
            kept_bytes: self.counts.bytes - cut_bytes - changed.removed_bytes,
            cut_bytes,
            removed_bytes: changed.removed_bytes,
        });
    }

    /// The rows of the first documents of items.
    pub(crate) fn first_rows(&self) -> impl Iterator<Item = u32> {
        self.items.iter().filter_map(|item| Some(item.first?.1))
    }

    /// The lines of all items. `place` is the place of a document.
    pub(crate) fn lines(
        &self,
        place: impl Fn(u32) -> Option<FoundAt>,
    ) -> impl Iterator<Item = ItemLine<'_>> {
        let items = self.contain.items().iter().zip(&self.items);
        items.map(move |(item, found)| ItemLine {
            item: item.id(),
            benchmark: &item.benchmark,
            ids: &item.ids,
            merged: &item.merged,
            class: found.first.map(|(class, _)| class.name()),
            decidable: found.is_decidable,
            parts: found.parts.iter().map(|part| part.name()).collect(),
            documents: found
                .documents
                .iter()
                .map(|(class, count)| (class.name(), *count))
                .collect(),
            first: found.first.and_then(|(_, row)| place(row)),
        })
    }

    /// All counts.
    pub(crate) fn finish(mut self) -> Counted {
        /// The most leaked items of a benchmark.
        const LISTED: usize = 10;
        /// Files and merged items.
        const NAMED: usize = 100;
        let items = self.contain.items().iter().zip(&self.items);
        for (number, (item, found)) in items.enumerate() {
            let Some((class, _)) = found.first else {
                continue;
            };
            let benchmark = &mut self.benchmarks[self.numbers[&*item.benchmark]];
            benchmark.found_items.count(class);
            self.counts.found_items.count(class);
            if let Some(documents) = found.documents.get(&Class::Contaminated) {
                benchmark.most_leaked.push(LeakedItem {
                    number,
                    item: item.id().to_owned(),
                    documents: *documents,
                });
            }
        }
        for benchmark in &mut self.benchmarks {
            benchmark
                .most_leaked
                .sort_by_key(|item| std::cmp::Reverse(item.documents));
            benchmark.most_leaked.truncate(LISTED);
        }
        self.counts.leaking_files = self.files.len() as u64;
        let files = self.files.into_iter();
        let mut leaking_files: Vec<LeakingFile> =
            files.map(|(file, of)| LeakingFile { file, ..of }).collect();
        leaking_files.sort_by_key(|of| std::cmp::Reverse(of.documents));
        leaking_files.truncate(NAMED);
        let near_misses = self.near_misses.into_iter();
        let mut near_misses: Vec<NearMiss> = near_misses
            .map(|(lack, hits)| NearMiss {
                lack,
                lacks: lack.name(),
                hits,
            })
            .collect();
        near_misses.sort_by_key(|of| std::cmp::Reverse(of.hits));
        let merged = self
            .contain
            .items()
            .iter()
            .filter(|item| !item.merged.is_empty());
        let merged_items = merged.take(NAMED).map(|item| MergedItem {
            benchmark: item.benchmark.clone(),
            item: item.id().to_owned(),
            merged: item.merged.clone(),
        });
        Counted {
            merged_items: merged_items.collect(),
            counts: self.counts,
            benchmarks: self.benchmarks,
            leaking_files,
            near_misses,
        }
    }
}
