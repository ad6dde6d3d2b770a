//! The items of benchmarks: questions with their passages, options and answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::by_hash::ByHash;
use super::part::OWN;
use super::signs::{Signs, all_signs};
use super::word_hashes::WordHashes;
use super::words::{PlainText, Words};
use crate::clock::in_parallel;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// What errors call the items.
pub(super) const ITEMS: &str = "the items";

/// A record of a benchmark: a question, or a question with one of its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemRecord {
    /// The name of the benchmark; may be empty.
    pub benchmark: String,
    /// The id within the benchmark. Records with one id are one item. Empty for none.
    pub id: String,
    /// The question.
    pub question: String,
    /// A text that the question is about; empty for none.
    pub passage: String,
    /// The options to choose from.
    pub options: Vec<String>,
    /// The answer; empty for none.
    pub answer: String,
    /// Whether the answer is right, where records list all options of a question, one each.
    pub is_correct: Option<bool>,
}

/// Options and answers of a question. Records with equal questions may have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) options: Vec<String>,
    pub(super) answers: Vec<String>,
}

/// A question with its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The ids of its records, each once, in the order of the records.
    pub ids: Vec<String>,
    /// The question.
    pub question: Arc<str>,
    /// The text that the question is about; empty for none.
    pub passage: Arc<str>,
    /// The ids of those records whose text or options differ from those of the first, though their words do not.
    pub merged: Vec<String>,
    pub(super) variants: Vec<Variant>,
    /// Hashes of the distinct texts of question and passage, if it has several records.
    texts: BTreeSet<u64>,
}

impl Item {
    /// Notes a further record with the same words, whose text or options may differ.
    fn merge(&mut self, record: &ItemRecord, variant: &Variant) {
        if self.texts.is_empty() {
            self.texts.insert(text_hash(&self.question, &self.passage));
        }
        let text = text_hash(&record.question, &record.passage);
        let has_other_text = text != text_hash(&self.question, &self.passage);
        self.texts.insert(text);
        let has_other_options = self.variants.first() != Some(variant);
        if (has_other_text || has_other_options) && !record.id.is_empty() {
            self.merged.push(record.id.clone());
        }
    }

    /// Whether so many records have its words that these are only what many records share, such as an instruction before signs
    /// that are no words.
    pub(super) fn is_shared(&self) -> bool {
        self.texts.len() > OWN
    }

    /// The first of its ids.
    pub fn id(&self) -> &str {
        self.ids.first().map_or("", String::as_str)
    }
}

/// Items from records: those with one id are one item, and so are those with equal words in question and passage, within a
/// benchmark.
///
/// # Errors
/// [`Error::Parameter`] if records with one id have different questions or passages, or if there is no record.
pub(super) fn items_of(records: impl IntoIterator<Item = ItemRecord>) -> Result<Vec<Item>> {
    let mut groups: Vec<Vec<ItemRecord>> = Vec::new();
    let mut of_id = ByHash::default();
    for record in records {
        let hash = xxh3_64_with_seed(record.id.as_bytes(), xxh3_64(record.benchmark.as_bytes()));
        let is_same = |group: u32| {
            let first = &groups[group as usize][0];
            (&first.benchmark, &first.id) == (&record.benchmark, &record.id)
        };
        let known = match record.id.is_empty() {
            true => None,
            false => of_id.find(hash, is_same),
        };
        match known.map(|group| &mut groups[group as usize]) {
            Some(group) => {
                let first = &group[0];
                if first.question != record.question || first.passage != record.passage {
                    return Err(two_questions(&record));
                }
                group.push(record);
            }
            None => {
                if !record.id.is_empty() {
                    of_id.add(hash, number(groups.len())?);
                }
                groups.push(vec![record]);
            }
        }
    }
    if groups.is_empty() {
        return Err(Error::Parameter {
            name: ITEMS,
            value: "none".to_owned(),
            expected: "at least one record with a question".to_owned(),
        });
    }
    merged(groups)
}

fn two_questions(record: &ItemRecord) -> Error {
    let ItemRecord { benchmark, id, .. } = record;
    Error::Parameter {
        name: ITEMS,
        value: format!("records with the id {id:?} of {benchmark:?} and different questions"),
        expected: "one question per id; choose another field with `item_id_field`".to_owned(),
    }
}

/// The number of an item, or of a part of one.
pub(super) fn number(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::Parameter {
        name: ITEMS,
        value: "2^32 or more".to_owned(),
        expected: "fewer".to_owned(),
    })
}

/// Joins the groups whose questions and passages have equal words.
fn merged(groups: Vec<Vec<ItemRecord>>) -> Result<Vec<Item>> {
    let hash = |(plain, words): &mut (PlainText, WordHashes), group: &Vec<ItemRecord>| {
        let first = &group[0];
        let texts = [&first.question, &first.passage].map(|text| {
            words.read(Isa::best(), plain.read(text));
            xxh3_64(bytemuck::cast_slice(&words.hashes))
        });
        let benchmark = xxh3_64(first.benchmark.as_bytes());
        xxh3_64(bytemuck::cast_slice(&[benchmark, texts[0], texts[1]]))
    };
    let hashes = groups.par_iter().map_init(Default::default, hash);
    let hashes: Vec<u64> = in_parallel(|| hashes.collect());
    let words = |text: &str| Words::of(text).joined();
    let mut items: Vec<Item> = Vec::new();
    let mut of_words = ByHash::default();
    for (group, hash) in groups.into_iter().zip(hashes) {
        let variant = variant(&group);
        let mut records = group.into_iter();
        let Some(first) = records.next() else {
            continue;
        };
        let is_same = |item: u32| {
            let item = &items[item as usize];
            let is_same =
                |a: &str, b: &str| a == b || words(a) == words(b) && have_same_signs(a, b);
            item.benchmark == first.benchmark
                && is_same(&item.question, &first.question)
                && is_same(&item.passage, &first.passage)
        };
        let item = match of_words.find(hash, is_same) {
            Some(item) => {
                let item = &mut items[item as usize];
                item.merge(&first, &variant);
                item
            }
            None => {
                of_words.add(hash, number(items.len())?);
                items.push(Item {
                    benchmark: first.benchmark,
                    ids: Vec::new(),
                    question: first.question.into(),
                    passage: first.passage.into(),
                    merged: Vec::new(),
                    variants: Vec::new(),
                    texts: BTreeSet::new(),
                });
                let last = items.len() - 1;
                &mut items[last]
            }
        };
        if !first.id.is_empty() || item.ids.is_empty() {
            item.ids.push(first.id);
        }
        if !item.variants.contains(&variant) {
            item.variants.push(variant);
        }
    }
    Ok(items)
}

/// Whether no sign differs between two texts of the same words.
pub(super) fn have_same_signs(a: &str, b: &str) -> bool {
    let signs = |text: &str| {
        let mut escapes = PlainText::default();
        let plain = escapes.read(text);
        all_signs(plain, &Words::of_plain(plain))
    };
    let differ =
        |(a, b): (Option<Signs>, Option<Signs>)| a.is_some_and(|a| b.is_some_and(|b| a.differ(&b)));
    a == b || !signs(a).into_iter().zip(signs(b)).any(differ)
}

/// A hash of a question and its passage, but for white space and what ends or divides sentences.
fn text_hash(question: &str, passage: &str) -> u64 {
    let is_told = |c: &char| c.is_alphanumeric() || "()[]{}<>+*/=^~|&#@%_".contains(*c);
    let texts = question.chars().chain(['\n']).chain(passage.chars());
    let told = texts.nfkc().filter(is_told).flat_map(char::to_lowercase);
    let told: String = told.collect();
    xxh3_64(told.as_bytes())
}

/// The options and answers of the records of one id.
fn variant(group: &[ItemRecord]) -> Variant {
    let answers = || group.iter().filter(|record| !record.answer.is_empty());
    let texts =
        |records: Vec<&ItemRecord>| records.into_iter().map(|it| it.answer.clone()).collect();
    let mut options: Vec<String> = group
        .iter()
        .flat_map(|record| record.options.clone())
        .collect();
    let are_options = group.len() > 1 && group.iter().any(|record| record.is_correct.is_some());
    if options.is_empty() && are_options {
        options = texts(answers().collect());
    }
    let is_right = |record: &&ItemRecord| !are_options || record.is_correct == Some(true);
    Variant {
        options,
        answers: texts(answers().filter(is_right).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, question: &str, answer: &str, is_correct: Option<bool>) -> ItemRecord {
        ItemRecord {
            benchmark: "b".to_owned(),
            id: id.to_owned(),
            question: question.to_owned(),
            answer: answer.to_owned(),
            is_correct,
            ..ItemRecord::default()
        }
    }

    #[test]
    fn records_of_one_id_or_question_are_one_item() {
        let items = items_of([
            record("1", "Which one?", "red", Some(false)),
            record("1", "Which one?", "blue", Some(true)),
            record("2", "Why?", "so", None),
            record("3", "which  ONE", "green", None),
        ])
        .unwrap();
        let ids: Vec<_> = items.iter().map(|item| item.ids.join(" ")).collect();
        assert_eq!(ids, ["1 3", "2"]);
        let [first, second] = &items[0].variants[..] else {
            panic!("{items:?}");
        };
        assert_eq!(
            (&first.options[..], &first.answers[..]),
            (
                &["red".to_owned(), "blue".to_owned()][..],
                &["blue".to_owned()][..]
            )
        );
        assert_eq!((second.options.len(), &*second.answers[0]), (0, "green"));
    }

    #[test]
    fn one_id_has_one_question() {
        let failed = items_of([
            record("1", "Which?", "", None),
            record("1", "Why?", "", None),
        ]);
        assert!(failed.unwrap_err().to_string().contains("item_id_field"));
        assert!(items_of([]).is_err());
    }
}
