//! The items of benchmarks: questions with their passages, options and answers.

use std::collections::HashMap;

use super::words::Words;
use crate::error::{Error, Result};

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
    pub question: String,
    /// The text that the question is about; empty for none.
    pub passage: String,
    pub(super) variants: Vec<Variant>,
}

impl Item {
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
    let mut of_id: HashMap<(String, String), usize> = HashMap::new();
    for record in records {
        let key = (record.benchmark.clone(), record.id.clone());
        match of_id.get(&key).filter(|_| !record.id.is_empty()) {
            Some(group) => {
                let first = &groups[*group][0];
                if first.question != record.question || first.passage != record.passage {
                    return Err(two_questions(&record));
                }
                groups[*group].push(record);
            }
            None => {
                of_id.insert(key, groups.len());
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
    Ok(merged(groups))
}

fn two_questions(record: &ItemRecord) -> Error {
    let ItemRecord { benchmark, id, .. } = record;
    Error::Parameter {
        name: ITEMS,
        value: format!("records with the id {id:?} of {benchmark:?} and different questions"),
        expected: "one question per id; choose another field with `item_id_field`".to_owned(),
    }
}

/// Joins the groups whose questions and passages have equal words.
fn merged(groups: Vec<Vec<ItemRecord>>) -> Vec<Item> {
    let words = |text: &str| Words::of(text).joined();
    let mut items: Vec<Item> = Vec::new();
    let mut of_words: HashMap<[String; 3], usize> = HashMap::new();
    for group in groups {
        let variant = variant(&group);
        let mut records = group.into_iter();
        let Some(first) = records.next() else {
            continue;
        };
        let key = [
            first.benchmark.clone(),
            words(&first.question),
            words(&first.passage),
        ];
        let item = *of_words.entry(key).or_insert_with(|| {
            items.push(Item {
                benchmark: first.benchmark,
                ids: Vec::new(),
                question: first.question,
                passage: first.passage,
                variants: Vec::new(),
            });
            items.len() - 1
        });
        let item = &mut items[item];
        if !first.id.is_empty() || item.ids.is_empty() {
            item.ids.push(first.id);
        }
        if !item.variants.contains(&variant) {
            item.variants.push(variant);
        }
    }
    items
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
