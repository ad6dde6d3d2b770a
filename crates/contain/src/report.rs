//! The report of a search for items in files, and the lines of its results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::action::{ContainAction, Fate};
use super::changed::Changed;
use super::class::{Class, Hit, ItemPart, RuleOf};
use super::frequent::FrequentPhrase;
use super::lack::Lack;
use super::phrases::PublicPhrase;
use super::scan::Contain;
use simgpu::error::BadRecord;
use simgpu_io::{
    InputFile, MissingIds, NotRead, Places, REPORT_VERSION, SkippedRecord, write_json,
};

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
    pub(super) fn new(text: &str, hits: &[Hit], rule: RuleOf) -> Self {
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

    fn add(&mut self, other: Removable) {
        self.dropped += other.dropped;
        self.dropped_bytes += other.dropped_bytes;
        self.cuts += other.cuts;
        self.cut_bytes += other.cut_bytes;
    }
}

/// A file with contaminated documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeakingFile {
    /// Its name.
    pub file: String,
    /// Its documents that ask an item.
    pub documents: u64,
    /// The items that they ask, each once per document.
    pub hits: u64,
}

/// An item of several records whose texts differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MergedItem {
    /// Its benchmark.
    pub benchmark: String,
    /// Its id, the first one.
    pub item: String,
    /// The ids of the records with another text.
    pub merged: Vec<String>,
}

/// Hits that lack the same single condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NearMiss {
    #[serde(skip)]
    pub(super) lack: Lack,
    /// The condition.
    pub lacks: &'static str,
    /// The number of hits.
    pub hits: u64,
}

/// A document that asks items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeakingDocument {
    pub(super) row: u32,
    pub(super) items: u64,
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

/// All parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContainParameters {
    /// Whose rule decides: `simgpu`, `gpt3`, `datatrove` or `s1`.
    pub rule: &'static str,
    /// Words of an n-gram.
    pub size: usize,
    /// The least share of a question's words outside the template; `None` by a rule of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The fewest n-grams of at most two questions; `None` by a rule of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ngrams: Option<usize>,
    /// The name of the file of phrases to ignore; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// What is done with documents: `report`, `drop`, `cut` or `mark`.
    pub action: &'static str,
    /// The classes of the hits that it is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<&'static str>,
    /// The field for marks; `None` unless records are marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_field: Option<String>,
    /// The fields of question, passage, options and answer; empty for one that is not read.
    pub item_fields: Vec<String>,
    /// The field of an item's id; `None` for the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id_field: Option<String>,
    /// The field of the benchmark; `None` for the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark_field: Option<String>,
    /// The field of the text, or the names of several.
    pub content_field: String,
    /// The field of the id.
    pub id_field: String,
    /// The most records read, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// What was found of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BenchmarkReport {
    /// The name.
    pub benchmark: String,
    /// Its items.
    pub items: u64,
    /// Those that cannot be found, even where a document holds all of them.
    pub undecidable_items: u64,
    /// Those found, each by the first class of its hits.
    pub found_items: ByClass,
    /// Documents with a hit, each by the first class of its hits.
    pub documents: ByClass,
    /// The items that most documents ask, and the number of these; at most ten, the first of equals.
    pub most_leaked: Vec<LeakedItem>,
}

/// An item that documents ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeakedItem {
    /// Its number.
    #[serde(skip)]
    pub(super) number: usize,
    /// Its id.
    pub item: String,
    /// The documents that ask it.
    pub documents: u64,
}

/// The report of a search for items, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ContainReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `contain`.
    pub command: &'static str,
    /// The counts.
    pub counts: ContainCounts,
    /// The parameters.
    pub parameters: ContainParameters,
    /// How public phrases are excused: `given`, by counts that were given, or `none`: each hit is judged by its document alone.
    pub phrases: &'static str,
    /// The public phrases that this reading found, those in the most documents first; at most 20.
    pub public_phrases: Vec<PublicPhrase>,
    /// The phrases that most documents have without the item, at most 20: what to ignore.
    pub frequent_phrases: Vec<FrequentPhrase>,
    /// What was found of each benchmark, in the order of their names.
    pub benchmarks: Vec<BenchmarkReport>,
    /// The files with contaminated documents, those with most first; at most 100.
    pub leaking_files: Vec<LeakingFile>,
    /// Hits that lack one condition of a contaminated document, by the condition, the most frequent first.
    pub near_misses: Vec<NearMiss>,
    /// Items of several records whose texts differ, in their order; at most 100. All are in `items.jsonl`.
    pub merged_items: Vec<MergedItem>,
    /// The documents without an id, if some have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_ids: Option<MissingIds>,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
    /// The bad records of the items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_items: Vec<SkippedRecord>,
}

impl ContainReport {
    pub(super) fn new(
        found: Counted,
        parameters: ContainParameters,
        phrases: FoundPhrases,
        places: &Places,
        skipped_items: Vec<SkippedRecord>,
    ) -> Self {
        let Counted {
            mut counts,
            benchmarks,
            leaking_files,
            near_misses,
            merged_items,
        } = found;
        counts.records = places.records();
        counts.skipped = places.bad_records();
        counts.repeated_ids = places.repeated_ids;
        counts.skipped_items = skipped_items.len() as u64;
        ContainReport {
            simgpu_report: REPORT_VERSION,
            command: "contain",
            missing_ids: places.missing_ids(counts.records - counts.skipped),
            empty_files: places.empty_files(),
            not_read: places.not_read.clone(),
            skipped: places.skipped_records(),
            skipped_items,
            phrases: if phrases.is_given { "given" } else { "none" },
            public_phrases: phrases.public,
            frequent_phrases: phrases.frequent,
            benchmarks,
            leaking_files,
            near_misses,
            merged_items,
            counts,
            parameters,
        }
    }

    /// Writes the report as JSON, the same bytes as in the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}

/// What all documents add up to.
#[derive(Debug)]
pub(super) struct Counted {
    counts: ContainCounts,
    benchmarks: Vec<BenchmarkReport>,
    leaking_files: Vec<LeakingFile>,
    near_misses: Vec<NearMiss>,
    merged_items: Vec<MergedItem>,
}

/// Phrases of a reading.
#[derive(Debug, Default)]
pub(super) struct FoundPhrases {
    /// Whether counts were given, by which phrases are excused.
    pub(super) is_given: bool,
    pub(super) public: Vec<PublicPhrase>,
    pub(super) frequent: Vec<FrequentPhrase>,
}

/// The bad records of items, for the report.
pub(super) fn skipped_items(
    files: &[InputFile],
    bad: Vec<(usize, BadRecord)>,
) -> Vec<SkippedRecord> {
    let skipped = bad.into_iter().map(|(file, record)| {
        let file = files[file].relative.clone();
        let BadRecord {
            row, line, problem, ..
        } = record;
        SkippedRecord {
            file,
            row,
            line,
            problem,
        }
    });
    skipped.collect()
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
pub(super) struct ReadDocument<'a> {
    pub(super) row: u32,
    /// The file that has it.
    pub(super) file: &'a str,
    /// The bytes of its text.
    pub(super) bytes: usize,
    /// What actions would remove of it.
    pub(super) removable: Removable,
    pub(super) hits: &'a [Hit],
}

/// What is found in all documents.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    contain: &'a Contain,
    pub(super) counts: ContainCounts,
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
    pub(super) fn new(contain: &'a Contain, item_records: usize) -> Self {
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

    pub(super) fn contain(&self) -> &'a Contain {
        self.contain
    }

    /// Counts the text of a document and its hits.
    pub(super) fn add(&mut self, document: &ReadDocument<'_>) {
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
    pub(super) fn leaking(&mut self) -> Vec<LeakingDocument> {
        self.keep_most_leaking();
        self.leaking.clone()
    }

    /// Counts what an action changes.
    pub(super) fn count_changes(
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
    pub(super) fn first_rows(&self) -> impl Iterator<Item = u32> {
        self.items.iter().filter_map(|item| Some(item.first?.1))
    }

    /// The lines of all items. `place` is the place of a document.
    pub(super) fn lines(
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
    pub(super) fn finish(mut self) -> Counted {
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

/// Documents that a page lists.
const LEAKING: usize = 20;

/// The place of a document.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FoundAt {
    pub(super) id: Box<RawValue>,
    pub(super) file: String,
    pub(super) row: u64,
}

/// A line of `items.jsonl`.
#[derive(Debug, Serialize)]
pub(super) struct ItemLine<'a> {
    item: &'a str,
    benchmark: &'a str,
    /// The ids of its records.
    ids: &'a [String],
    /// The first class of its hits; null without any.
    class: Option<&'static str>,
    /// Those with another text.
    merged: &'a [String],
    /// Whether it can be found where a document holds all of it.
    decidable: bool,
    /// The parts found, in any document.
    parts: Vec<&'static str>,
    /// Documents by class.
    documents: BTreeMap<&'static str, u64>,
    /// The first document with this class.
    first: Option<FoundAt>,
}

/// An n-gram of a hit.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RareGram {
    pub(super) ngram: String,
    /// The questions and passages that have it.
    pub(super) in_parts: usize,
}

/// The text of a hit and around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) before: String,
    pub(super) text: String,
    pub(super) after: String,
}

/// What a line of `hits.jsonl` says beside the place of the document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HitEvidence {
    pub(super) item: String,
    pub(super) benchmark: String,
    pub(super) class: String,
    pub(super) score: f64,
    pub(super) parts: Vec<String>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Further places.
    pub(super) also: Vec<[usize; 2]>,
    pub(super) item_start: usize,
    pub(super) item_end: usize,
    pub(super) found: usize,
    pub(super) ngrams: usize,
    pub(super) content: [usize; 2],
    pub(super) own: usize,
    pub(super) lacks: Vec<String>,
    pub(super) rarest: Vec<RareGram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sample: Option<Sample>,
}

impl HitEvidence {
    pub(super) fn new(hit: &Hit, contain: &Contain, text: Option<&str>) -> Self {
        const AROUND: usize = 60;
        const MOST: usize = 400;
        let item = &contain.items()[hit.item];
        let rarest = hit.rarest.iter().map(|(ngram, in_parts)| RareGram {
            ngram: ngram.clone(),
            in_parts: *in_parts,
        });
        HitEvidence {
            item: item.id().to_owned(),
            benchmark: item.benchmark.clone(),
            class: hit.class.name().to_owned(),
            // Logarithms differ in their last bit between machines.
            score: (hit.score * 1e6).round() / 1e6,
            parts: hit
                .parts
                .iter()
                .map(|part| part.name().to_owned())
                .collect(),
            start: hit.bytes.start,
            end: hit.bytes.end,
            also: hit.also.iter().map(|at| [at.start, at.end]).collect(),
            item_start: hit.item_bytes.start,
            item_end: hit.item_bytes.end,
            found: hit.found,
            ngrams: hit.ngrams,
            content: hit.content,
            own: hit.own,
            lacks: hit
                .lacks
                .iter()
                .map(|lack| lack.name().to_owned())
                .collect(),
            rarest: rarest.collect(),
            sample: text.map(|text| Sample::new(text, hit, AROUND, MOST)),
        }
    }
}

impl Sample {
    /// The first bytes of what was found, and some on both sides.
    pub(super) fn new(text: &str, hit: &Hit, around: usize, most: usize) -> Self {
        let boundary = |at: usize| {
            (0..=at.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at))
        };
        let [before, end, after] = [
            hit.bytes.start.saturating_sub(around),
            hit.bytes.end.min(hit.bytes.start + most),
            hit.bytes.end + around,
        ]
        .map(|at| boundary(at).unwrap_or(0));
        Sample {
            before: text[before..hit.bytes.start].to_owned(),
            text: text[hit.bytes.start..end].to_owned(),
            after: text[hit.bytes.end..after].to_owned(),
        }
    }
}

/// A line of `hits.jsonl`.
#[derive(Serialize)]
pub(super) struct HitLine<'a> {
    pub(super) id: Box<RawValue>,
    pub(super) file: &'a str,
    pub(super) row: u64,
    #[serde(flatten)]
    pub(super) evidence: &'a HitEvidence,
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
pub(super) struct RemovedLine<'a> {
    pub(super) id: Box<RawValue>,
    pub(super) file: &'a str,
    pub(super) row: u64,
    /// The first class of its hits.
    pub(super) class: &'a str,
}

/// A line of `cuts.jsonl`.
#[derive(Serialize)]
pub(super) struct CutLine<'a> {
    pub(super) id: Box<RawValue>,
    pub(super) file: &'a str,
    pub(super) row: u64,
    /// Bytes of the text.
    pub(super) cuts: Vec<[usize; 2]>,
}
