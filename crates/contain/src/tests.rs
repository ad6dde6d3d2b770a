//! What `Contain` finds in texts.

mod phrases;

mod questions;

mod table;

mod templates;

use std::collections::BTreeSet;

use super::table::TableSearch;
use super::vocabulary::tests::words_of_one_hash;
use super::{
    Class, Contain, Hit, ItemPart, ItemRecord, Lack, Phrases, Rule, RuleOf, Scratch, Spread,
};

const ROBE: &str = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";

fn record(question: &str) -> ItemRecord {
    ItemRecord {
        question: question.to_owned(),
        ..ItemRecord::default()
    }
}

fn contain(records: impl IntoIterator<Item = ItemRecord>) -> Contain {
    Contain::new(records, Rule::default()).unwrap()
}

fn classes(contain: &Contain, text: &str) -> Vec<(usize, Class)> {
    contain
        .scan(text)
        .iter()
        .map(|hit| (hit.item, hit.class))
        .collect()
}

/// The windows of so many words, as texts without punctuation.
fn windows(text: &str, size: usize) -> Vec<(usize, String)> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words
        .windows(size)
        .map(|window| window.join(" "))
        .enumerate()
        .collect()
}

/// Texts of few words, so that n-grams repeat.
fn texts(mut state: u64, count: usize, most: u64) -> Vec<String> {
    let mut next = |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut text = |_| {
        let words = 1 + next(most);
        (0..words)
            .map(|_| format!("W{}", next(4)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    (0..count).map(&mut text).collect()
}

/// A text of so many words that no other number has.
fn filler(number: usize, words: usize) -> String {
    let words = (0..words).map(|i| format!("w{}", (number * 7919 + i * 104_729) % 9973));
    words.collect::<Vec<_>>().join(" ")
}

fn contaminated(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| hit.class == Class::Contaminated)
}
