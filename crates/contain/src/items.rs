//! The items of benchmarks: questions with their passages, options and answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::hash_numbers::HashNumbers;
use crate::part::OWN;
use crate::signs::{Signs, all_signs};
use crate::words::{PlainText, Words};
use simgpu::error::{Error, Result};

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
    fn merge(&mut self, id: &str, [question, passage]: [&str; 2], variant: &Variant) {
        if self.texts.is_empty() {
            self.texts.insert(text_hash(&self.question, &self.passage));
        }
        let text = text_hash(question, passage);
        let has_other_text = text != text_hash(&self.question, &self.passage);
        self.texts.insert(text);
        let has_other_options = self.variants.first() != Some(variant);
        if (has_other_text || has_other_options) && !id.is_empty() {
            self.merged.push(id.to_owned());
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

/// Records by id: those with one id are one item.
///
/// # Errors
/// [`Error::Parameter`] if records with one id have different questions or passages, or if there is no record.
pub(super) fn groups(
    records: impl IntoIterator<Item = ItemRecord>,
) -> Result<Vec<Vec<ItemRecord>>> {
    let mut groups: Vec<Vec<ItemRecord>> = Vec::new();
    let mut variants_of_id = HashNumbers::default();
    for record in records {
        let hash = xxh3_64_with_seed(record.id.as_bytes(), xxh3_64(record.benchmark.as_bytes()));
        let is_same = |group: u32| {
            let first = &groups[group as usize][0];
            (&first.benchmark, &first.id) == (&record.benchmark, &record.id)
        };
        let known = if record.id.is_empty() {
            None
        } else {
            variants_of_id.find(hash, is_same)
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
                    variants_of_id.add(hash, number(groups.len())?);
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
    Ok(groups)
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

/// The items of groups of records: those with equal words in question and passage, within a benchmark, are one item.
#[derive(Default)]
pub(super) struct Items {
    pub(super) items: Vec<Item>,
    /// By the hash of their words.
    numbers: HashNumbers,
}

impl Items {
    /// Adds a group of records with this question and passage, whose words have this hash. Returns whether it is a new item.
    ///
    /// # Errors
    /// [`Error::Parameter`] for 2^32 items.
    pub(super) fn add(
        &mut self,
        mut records: Vec<ItemRecord>,
        [question, passage]: [Arc<str>; 2],
        hash: u64,
    ) -> Result<bool> {
        let names = records
            .first_mut()
            .map(|first| [&mut first.benchmark, &mut first.id].map(std::mem::take));
        let [benchmark, id] = names.unwrap_or_default();
        let variant = variant(records);
        let words = |text: &str| Words::read(text).joined();
        let is_equal = |a: &str, b: &str| a == b || words(a) == words(b) && have_same_signs(a, b);
        let is_same = |item: u32| {
            let item = &self.items[item as usize];
            item.benchmark == benchmark
                && is_equal(&item.question, &question)
                && is_equal(&item.passage, &passage)
        };
        if let Some(known) = self.numbers.find(hash, is_same) {
            let item = &mut self.items[known as usize];
            item.merge(&id, [&question, &passage], &variant);
            if !id.is_empty() {
                item.ids.push(id);
            }
            if !item.variants.contains(&variant) {
                item.variants.push(variant);
            }
            return Ok(false);
        }
        let number = number(self.items.len())?;
        self.numbers.add(hash, number);
        self.items.push(Item {
            benchmark,
            ids: vec![id],
            question,
            passage,
            merged: Vec::new(),
            variants: vec![variant],
            texts: BTreeSet::new(),
        });
        Ok(true)
    }
}

/// Whether no sign differs between two texts of the same words.
pub(super) fn have_same_signs(a: &str, b: &str) -> bool {
    let signs = |text: &str| {
        let mut escapes = PlainText::default();
        let plain = escapes.read(text);
        all_signs(plain, &Words::read_plain(plain))
    };
    let differ =
        |(a, b): (Option<Signs>, Option<Signs>)| a.is_some_and(|a| b.is_some_and(|b| a.differ(&b)));
    a == b || !signs(a).into_iter().zip(signs(b)).any(differ)
}

/// A hash of a question and its passage, but for white space and what ends or divides sentences.
fn text_hash(question: &str, passage: &str) -> u64 {
    let is_told = |c: &char| c.is_alphanumeric() || "()[]{}<>+*/=^~|&#@%_".contains(*c);
    let texts = question.chars().chain(['\n']).chain(passage.chars());
    let letters = texts.nfkc().filter(is_told).flat_map(char::to_lowercase);
    let letters: String = letters.collect();
    xxh3_64(letters.as_bytes())
}

/// The options and answers of the records of one id.
fn variant(records: Vec<ItemRecord>) -> Variant {
    let tells_right_ones = records.len() > 1 && records.iter().any(|it| it.is_correct.is_some());
    // Each record has one of the options as its answer.
    let has_options_as_answers = tells_right_ones && records.iter().all(|it| it.options.is_empty());
    let mut variant = Variant::default();
    for record in records {
        variant.options.extend(record.options);
        if record.answer.is_empty() {
            continue;
        }
        if has_options_as_answers {
            variant.options.push(record.answer.clone());
        }
        if !tells_right_ones || record.is_correct == Some(true) {
            variant.answers.push(record.answer);
        }
    }
    variant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Rule;
    use crate::scan::Contain;

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

    fn items<const N: usize>(records: [ItemRecord; N]) -> Result<Vec<Item>> {
        Ok(Contain::new(records, Rule::default())?.items)
    }

    #[test]
    fn records_of_one_id_or_question_are_one_item() {
        let items = items([
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
        let failed = items([
            record("1", "Which?", "", None),
            record("1", "Why?", "", None),
        ]);
        assert!(failed.unwrap_err().to_string().contains("item_id_field"));
        assert!(items([]).is_err());
    }
}
