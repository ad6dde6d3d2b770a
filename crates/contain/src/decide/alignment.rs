//! Where in a document a question is looked for, and how its words are aligned there.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::align::Alignment;
use crate::document::Document;
use crate::items::{Item, Variant};
use crate::numbers::{Number, numbers};
use crate::part::{Detail, Part};
use crate::words::Words;

/// The words of a document among which a question lies that has a cluster of n-grams there.
pub(super) fn window(
    part: &Part,
    document: Document<'_>,
    cluster: &[(usize, u32)],
) -> Range<usize> {
    let words = part.len();
    let place = |(at, gram): (usize, u32)| {
        let in_part = part.grams.iter().position(|other| *other == gram);
        (at, in_part.unwrap_or(0))
    };
    let (first, first_in_part) = place(cluster[0]);
    let (last, last_in_part) = place(cluster[cluster.len() - 1]);
    let start = first.saturating_sub(first_in_part + slack(part));
    let end = (last + words - last_in_part + slack(part)).min(document.len());
    start..end
}

/// Aligns a question with words of a document. A number is one symbol, however it is written.
pub(super) fn align(
    part: &Part,
    detail: &Detail,
    document: Document<'_>,
    window: Range<usize>,
) -> Alignment {
    let first = window.start;
    let words = document.numbers(window.clone());
    if !detail.has_numbers {
        return Alignment::new(&part.numbers, &words, first);
    }
    let mut values = BTreeMap::new();
    let item = (0..part.len()).map(|i| detail.token(i));
    let (item, item_places) = with_numbers(&part.numbers, &numbers(item), &mut values);
    let tokens = window.map(|at| document.token(at));
    let (words, word_places) = with_numbers(&words, &numbers(tokens), &mut values);
    Alignment::new(&item, &words, 0).expand(&item_places, &word_places, first)
}

/// Words with a symbol for each number instead of its words, and the words of each. Equal values have one symbol.
fn with_numbers(
    words: &[u32],
    numbers: &[Number],
    values: &mut BTreeMap<String, u32>,
) -> (Vec<u32>, Vec<Range<usize>>) {
    /// The first symbol of a number: vocabularies are smaller.
    const FIRST: u32 = 1 << 31;
    let (mut symbols, mut ranges) = (Vec::new(), Vec::new());
    let mut push = |symbol: u32, words: Range<usize>| {
        symbols.push(symbol);
        ranges.push(words);
    };
    let mut at = 0;
    // A numeral of Rome stays a word: a text in small letters has it as one. Both numbers of a fraction have one word.
    let numbers: Vec<&Number> = numbers.iter().filter(|number| !number.is_roman).collect();
    for same in numbers.chunk_by(|a, b| a.words == b.words) {
        let range = same[0].words.clone();
        (at..range.start).for_each(|i| push(words[i], i..i + 1));
        let value = same.iter().map(|number| &*number.value);
        let value = value.collect::<Vec<_>>().join("/");
        let next = FIRST + u32::try_from(values.len()).unwrap_or(0);
        at = range.end;
        push(*values.entry(value).or_insert(next), range);
    }
    (at..words.len()).for_each(|i| push(words[i], i..i + 1));
    (symbols, ranges)
}

/// The words of the options of an item, in the variant that has most.
pub(super) fn most_words(item: &Item) -> usize {
    let words = |variant: &Variant| {
        let options = variant.options.iter();
        options.map(|option| Words::read(option).len()).sum()
    };
    item.variants.iter().map(words).max().unwrap_or(0)
}

/// Words on each side of a question's place that are also compared with it.
pub(super) fn slack(part: &Part) -> usize {
    10 + part.len() / 10
}
