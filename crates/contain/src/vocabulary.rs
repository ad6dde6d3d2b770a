//! The distinct words of all items, by number.

use crate::hash_numbers::HashNumbers;
use crate::words::{is_word, push_word};

/// A word that no item has.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// A word of a document that was not compared with those of items.
pub(super) const UNREAD: u32 = u32::MAX - 1;

/// Numbers of words in the order in which they were added. Distinct words may have one hash.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// All words, one after another, and where each ends.
    letters: String,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    numbers: HashNumbers,
}

impl Vocabulary {
    /// Adds the word with this hash that begins at a byte of a text. Returns its number.
    pub(super) fn add(&mut self, hash: u64, text: &str, at: usize) -> u32 {
        let known = self.number(hash, text, at);
        if known != UNKNOWN {
            return known;
        }
        // Fewer words than bytes of items.
        let number = u32::try_from(self.ends.len()).unwrap_or(UNKNOWN);
        push_word(text, at, &mut self.letters);
        self.ends.push(self.letters.len());
        self.hashes.push(hash);
        self.numbers.add(hash, number);
        number
    }

    /// The number of the word with this hash that begins at a byte of a text.
    pub(super) fn number(&self, hash: u64, text: &str, at: usize) -> u32 {
        let is_word = |number: u32| is_word(text, at, self.word(number));
        self.numbers.find(hash, is_word).unwrap_or(UNKNOWN)
    }

    /// The word of a number.
    pub(super) fn word(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[number]]
    }

    /// The hash of the word of a number.
    pub(super) fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    /// Words, with a blank between two.
    pub(super) fn joined(&self, numbers: &[u32]) -> String {
        let words: Vec<&str> = numbers.iter().map(|number| self.word(*number)).collect();
        words.join(" ")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use simgpu::scheme::words_v1;

    /// Two words of letters and digits with one hash: the second chunk of a word makes up for the first.
    pub(crate) fn words_of_one_hash() -> [String; 2] {
        let signs = || (b'0'..=b'9').chain(b'a'..=b'z');
        let mut differing = [None; 256];
        for (a, b) in signs().flat_map(|a| signs().map(move |b| (a, b))) {
            differing[usize::from(a ^ b)] = Some([a, b]);
        }
        let firsts: Vec<String> = (0..1_000).map(|i| format!("{i:08}")).collect();
        let after_first = |first: &str| {
            let chunk = u64::from_le_bytes(first.as_bytes().try_into().unwrap());
            words_v1::fold(16 ^ words_v1::SEED ^ chunk)
        };
        let afters: Vec<u64> = firsts.iter().map(|first| after_first(first)).collect();
        for (i, j) in (0..firsts.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let bytes = (afters[i] ^ afters[j]).to_le_bytes();
            let pairs = bytes.map(|byte| differing[usize::from(byte)]);
            if pairs.iter().all(Option::is_some) {
                let second = |k: usize| pairs.iter().flatten().map(move |pair| char::from(pair[k]));
                return [(i, 0), (j, 1)]
                    .map(|(first, k)| firsts[first].chars().chain(second(k)).collect());
            }
        }
        panic!("no two words have one hash");
    }

    #[test]
    fn words_of_one_hash_are_told_apart() {
        let words = words_of_one_hash();
        let [a, b] = words.each_ref().map(|word| words_v1::word(word.as_bytes()));
        assert!(a == b && words[0] != words[1]);
        let mut vocabulary = Vocabulary::default();
        for _ in 0..2 {
            assert_eq!(
                words.each_ref().map(|word| vocabulary.add(a, word, 0)),
                [0, 1]
            );
        }
        assert_eq!(
            [0, 1].map(|number| vocabulary.word(number).to_owned()),
            words
        );
        assert_eq!(
            vocabulary.joined(&[1, 0]),
            format!("{} {}", words[1], words[0])
        );
        let numbers = ["x", &words[1], &words[0]].map(|word| vocabulary.number(a, word, 0));
        assert_eq!(numbers, [UNKNOWN, 1, 0]);
    }
}
