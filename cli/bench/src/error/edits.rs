//! Texts of a real corpus, and copies with words replaced.

use std::collections::{HashMap, HashSet};

use super::random::SplitMix64;
use super::shingles::{SHINGLE_WORDS, distinct_shingles};
use crate::BenchCorpus;
use simgpu::internals::for_each_word;
use simgpu::scheme::words_v1;

/// The words of a corpus, one document after the other.
#[derive(Clone, Debug)]
pub struct Edits {
    /// Word hashes, from which shingle hashes are computed.
    words: Vec<u64>,
}

/// The shingle set of a text, and those of its edits.
pub(super) struct Edited {
    /// Set A, then each set B.
    pub(super) sets: Vec<Vec<u64>>,
    /// Exact Jaccard similarity of A and each B.
    pub(super) similarities: Vec<f64>,
}

impl Edits {
    /// The words of all documents.
    pub(super) fn of(corpus: &BenchCorpus) -> Self {
        let mut words = Vec::new();
        for text in corpus.texts.iter() {
            for_each_word(text, true, |word| {
                words.push(words_v1::word(word.as_bytes()))
            });
        }
        Edits { words }
    }

    /// Takes a text of `set_size` shingles at a random position of the corpus and replaces its words one by one, in
    /// random order, by random words of the corpus. Returns for each requested similarity the edit with the closest
    /// exact one, or `None` if the corpus has fewer shingles.
    ///
    /// Every draw renames all words. Texts of one corpus share many shingles, so trials would otherwise depend on each
    /// other.
    pub(super) fn draw(
        &self,
        set_size: usize,
        requested: &[f64],
        random: &mut SplitMix64,
    ) -> Option<Edited> {
        let name = random.next_u64();
        let text = self.text(set_size, random)?;
        let text: Vec<u64> = text.iter().map(|word| word ^ name).collect();
        let replacements = self.replacements(&text, name, random);
        let mut pair = EditedText::of(&text);
        let mut nearest = vec![(0, 1.0); requested.len()];
        for (done, (place, word)) in (1..).zip(&replacements) {
            pair.replace(*place, *word);
            let similarity = pair.similarity();
            for (nearest, requested) in nearest.iter_mut().zip(requested) {
                if (similarity - requested).abs() < (nearest.1 - requested).abs() {
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

    /// The shortest text of `set_size` distinct shingles from a random word on. The corpus is circular.
    fn text(&self, set_size: usize, random: &mut SplitMix64) -> Option<Vec<u64>> {
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

    /// Every position of the text in random order, each with a different word.
    fn replacements(&self, text: &[u64], name: u64, random: &mut SplitMix64) -> Vec<(usize, u64)> {
        let mut places: Vec<usize> = (0..text.len()).collect();
        // Fisher-Yates shuffle from the end.
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

/// A text under edits, compared with the original one.
struct EditedText {
    words: Vec<u64>,
    /// Occurrences of each shingle in the text, and whether the original contains it.
    shingles: HashMap<u64, (u32, bool)>,
    first_len: usize,
    len: usize,
    shared: usize,
}

impl EditedText {
    fn of(text: &[u64]) -> Self {
        let mut shingles = HashMap::with_capacity(2 * text.len());
        words_v1::for_each_shingle(text, SHINGLE_WORDS, |shingle| {
            shingles.entry(shingle).or_insert((0, true)).0 += 1;
        });
        let len = shingles.len();
        EditedText {
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

    /// Incremental similarities equal those of the sets, also for repetitive texts.
    #[test]
    fn similarities_are_exact() {
        let mut random = SplitMix64::of(&[1]);
        let few_words = (0..40_000).map(|_| random.below(6) as u64).collect();
        let many_words = (0..40_000).map(|_| random.next_u64()).collect();
        for words in [few_words, many_words] {
            let edits = Edits { words };
            for set_size in [1, 2, 8, 300] {
                let requested = [0.0, 0.1, 0.5, 0.95, 1.0];
                let edited = edits.draw(set_size, &requested, &mut random).unwrap();
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
    fn too_small_corpus_has_no_text() {
        let mut random = SplitMix64::of(&[2]);
        for words in [vec![], vec![1, 2, 3], vec![5; 1000]] {
            let edits = Edits { words };
            assert!(edits.draw(2, &[0.5], &mut random).is_none());
        }
    }
}
