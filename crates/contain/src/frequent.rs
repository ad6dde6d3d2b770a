//! Phrases of items that documents often have without asking the item, and files of phrases to ignore.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use serde::Serialize;

use crate::phrases::Spread;
use crate::scan::Contain;
use simgpu::error::{Error, Result};
use simgpu_io::read_text;

/// A phrase of items that many documents have without asking the item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FrequentPhrase {
    /// Its words.
    pub phrase: String,
    /// The documents that have each of its n-grams, at least.
    pub documents: u64,
    /// The questions and passages that have its rarest n-gram.
    pub in_parts: u64,
}

impl Contain {
    /// The phrases of items whose n-grams so many documents have outside of items that they ask, the most frequent first. N-grams
    /// in a row are one phrase while their numbers of documents are alike: at most twice the least.
    pub fn frequent(&self, spread: &Spread, least: u64) -> Vec<FrequentPhrase> {
        let documents = |gram: u32| spread.documents_by_gram.get(&gram).copied().unwrap_or(0);
        let frequent = spread
            .documents_by_gram
            .iter()
            .filter(|(_, count)| **count >= least);
        let parts = frequent.flat_map(|(gram, _)| self.table.parts(*gram));
        let parts: BTreeSet<u32> = parts.copied().collect();
        let mut phrases: BTreeMap<String, FrequentPhrase> = BTreeMap::new();
        for part in parts.into_iter().map(|part| &self.parts[part as usize]) {
            let mut at = 0;
            while at < part.grams.len() {
                let (start, mut range) = (at, [documents(part.grams[at]); 2]);
                while at < part.grams.len() {
                    let count = documents(part.grams[at]);
                    let next = [range[0].min(count), range[1].max(count)];
                    if next[0] < least || next[1] > 2 * next[0] {
                        break;
                    }
                    (range, at) = (next, at + 1);
                }
                if at == start {
                    at += 1;
                    continue;
                }
                let words = start..at + self.table.size() - 1;
                let phrase = self.vocabulary.joined(&part.numbers[words]);
                let grams = part.grams[start..at].iter();
                let in_parts = grams.map(|gram| self.table.parts(*gram).len()).min();
                phrases.entry(phrase.clone()).or_insert(FrequentPhrase {
                    phrase,
                    documents: range[0],
                    in_parts: in_parts.unwrap_or(0) as u64,
                });
            }
        }
        let mut phrases: Vec<FrequentPhrase> = phrases.into_values().collect();
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.documents));
        phrases
    }
}

/// The phrases of a file, one a line, for [`Contain::with_ignored`]. Lines that begin with `#` are notes.
///
/// # Errors
/// [`Error::Io`] if it cannot be read, [`Error::Input`] if it is not UTF-8.
pub fn read_ignored(path: &Path) -> Result<Vec<String>> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let text = read_text(file, path)?;
    let lines = text.lines().map(str::trim);
    let phrases = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(phrases.map(str::to_owned).collect())
}
