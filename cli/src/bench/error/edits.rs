//! Texts of a real corpus, and the same with words replaced.

use std::collections::{HashMap, HashSet};

use super::input::{SHINGLE_WORDS, distinct_shingles};
use super::random::Random;
use crate::bench::Corpus;
use simgpu::internals::for_each_word;
use simgpu::scheme::words_v1;

/// The words of a corpus, one document after the other.
#[derive(Clone, Debug)]
pub struct Edits {
    /// Their hashes, of which those of shingles are made.
    words: Vec<u64>,
}

/// A text's set, and those of its edits.
pub(super) struct Edited {
    /// A first.
    pub(super) sets: Vec<Vec<u64>>,
    /// The exact Jaccard similarity of A and each other set.
    pub(super) similarities: Vec<f64>,
}

impl Edits {
    /// Those of all documents.
    pub fn of(corpus: &Corpus) -> Self {
        let mut words = Vec::new();
        for text in corpus.texts.iter() {
            for_each_word(text, true, |word| {
                words.push(words_v1::word(word.as_bytes()))
            });
        }
        Edits { words }
    }

    /// Takes a text of `set_size` shingles from anywhere in the corpus and replaces words of it, one by one at random
    /// places, by others of the corpus; for each similarity that is asked for, the edit is taken whose exact one is
    /// nearest. None if the corpus has fewer shingles.
    ///
    /// Words have another name in each draw. Texts of one corpus share many shingles, and what a permutation makes of
    /// those would be counted again and again as if it were new.
    pub(super) fn draw(
        &self,
        set_size: usize,
        asked: &[f64],
        random: &mut Random,
    ) -> Option<Edited> {
        let name = random.next_u64();
        let text = self.text(set_size, random)?;
        let text: Vec<u64> = text.iter().map(|word| word ^ name).collect();
        let replacements = self.replacements(&text, name, random);
        let mut pair = Pair::of(&text);
        let mut nearest = vec![(0, 1.0); asked.len()];
        for (done, (place, word)) in (1..).zip(&replacements) {
            pair.replace(*place, *word);
            let similarity = pair.similarity();
            for (nearest, asked) in nearest.iter_mut().zip(asked) {
                if (similarity - asked).abs() < (nearest.1 - asked).abs() {
                    *nearest = (done, similarity);
                }
            }
        }
        let edit = |(len, _): &(usize, f64)| {
            let mut text = text.clone();
            for (place, word) in replacements.iter().take(*len) {
                if let Some(old) = text.get_mut(*place) {
                    *old = *word;
                }
            }
            distinct_shingles(&text)
        };
        let mut sets = vec![distinct_shingles(&text)];
        sets.extend(nearest.iter().map(edit));
        Some(Edited {
            sets,
            similarities: nearest.iter().map(|(_, similarity)| *similarity).collect(),
        })
    }

    /// The shortest text of `set_size` distinct shingles that begins at a random word. The corpus is a circle.
    fn text(&self, set_size: usize, random: &mut Random) -> Option<Vec<u64>> {
        if self.words.is_empty() {
            return None;
        }
        let start = random.below(self.words.len());
        let (before, after) = self.words.split_at(start);
        let mut circle = after.iter().chain(before).copied();
        let mut text: Vec<u64> = circle.by_ref().take(SHINGLE_WORDS - 1).collect();
        let mut seen = HashSet::with_capacity(set_size);
        while seen.len() < set_size {
            text.push(circle.next()?);
            seen.insert(shingle_at(&text, text.len() - SHINGLE_WORDS));
        }
        Some(text)
    }

    /// Each place of the text once, in random order, with another word than is there.
    fn replacements(&self, text: &[u64], name: u64, random: &mut Random) -> Vec<(usize, u64)> {
        let mut places: Vec<usize> = (0..text.len()).collect();
        // Fisher and Yates, from the end.
        for end in (1..places.len()).rev() {
            places.swap(end, random.below(end + 1));
        }
        let replacement = |place: usize| {
            let old = text.get(place)?;
            let word = self.words.get(random.below(self.words.len()))? ^ name;
            // A corpus of a single word still has an edit.
            Some((place, if word == *old { !word } else { word }))
        };
        places.into_iter().filter_map(replacement).collect()
    }
}

/// The shingle whose first word is at `start`.
fn shingle_at(words: &[u64], start: usize) -> u64 {
    let words = words.iter().skip(start).take(SHINGLE_WORDS);
    words_v1::shingle(words.copied())
}

/// A text that changes, beside the set of what it was.
struct Pair {
    words: Vec<u64>,
    /// How often each shingle is in the text now, and whether it was in the first one.
    shingles: HashMap<u64, (u32, bool)>,
    first_len: usize,
    len: usize,
    shared: usize,
}

impl Pair {
    fn of(text: &[u64]) -> Self {
        let mut shingles = HashMap::with_capacity(2 * text.len());
        words_v1::for_each_shingle(text, SHINGLE_WORDS, |shingle| {
            shingles.entry(shingle).or_insert((0, true)).0 += 1;
        });
        let len = shingles.len();
        Pair {
            words: text.to_vec(),
            shingles,
            first_len: len,
            len,
            shared: len,
        }
    }

    fn replace(&mut self, place: usize, word: u64) {
        let last = self.words.len().saturating_sub(SHINGLE_WORDS);
        let starts = place.saturating_sub(SHINGLE_WORDS - 1)..=place.min(last);
        for start in starts.clone() {
            let (count, is_first) = self.entry(start);
            *count -= 1;
            let (is_gone, is_first) = (*count == 0, is_first);
            self.len -= usize::from(is_gone);
            self.shared -= usize::from(is_gone && is_first);
        }
        if let Some(old) = self.words.get_mut(place) {
            *old = word;
        }
        for start in starts {
            let (count, is_first) = self.entry(start);
            *count += 1;
            let (is_new, is_first) = (*count == 1, is_first);
            self.len += usize::from(is_new);
            self.shared += usize::from(is_new && is_first);
        }
    }

    fn entry(&mut self, start: usize) -> (&mut u32, bool) {
        let shingle = shingle_at(&self.words, start);
        let (count, is_first) = self.shingles.entry(shingle).or_insert((0, false));
        (count, *is_first)
    }

    fn similarity(&self) -> f64 {
        self.shared as f64 / (self.first_len + self.len - self.shared) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::pipeline::jaccard;

    /// What is counted while words are replaced is what sets say, in texts that repeat themselves, too.
    #[test]
    fn similarities_are_exact() {
        let mut random = Random::of(&[1]);
        let few_words = (0..40_000).map(|_| random.below(6) as u64).collect();
        let many_words = (0..40_000).map(|_| random.next_u64()).collect();
        for words in [few_words, many_words] {
            let edits = Edits { words };
            for set_size in [1, 2, 8, 300] {
                let asked = [0.0, 0.1, 0.5, 0.95, 1.0];
                let edited = edits.draw(set_size, &asked, &mut random).unwrap();
                let mut sets = edited.sets.clone();
                sets.iter_mut().for_each(|set| set.sort_unstable());
                assert_eq!(sets[0].len(), set_size);
                for (set, similarity) in sets[1..].iter().zip(&edited.similarities) {
                    assert_eq!(jaccard(&sets[0], set), *similarity);
                }
                assert_eq!(edited.similarities[4], 1.0);
            }
        }
    }

    #[test]
    fn a_corpus_that_is_too_small_has_no_text() {
        let mut random = Random::of(&[2]);
        for words in [vec![], vec![1, 2, 3], vec![5; 1000]] {
            let edits = Edits { words };
            assert!(edits.draw(2, &[0.5], &mut random).is_none());
        }
    }
}
