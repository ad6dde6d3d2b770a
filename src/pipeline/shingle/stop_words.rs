//! Stop words, which begin stop-word shingles (MMDS 3.2.4).

use std::collections::HashSet;

/// A set of stop words. Matching ignores case. Collect your own from an iterator of `&str`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopWords {
    lowercase: HashSet<Vec<u8>>,
    longest: usize,
}

impl StopWords {
    /// The built-in English list: function words, about half of running text.
    pub fn english() -> Self {
        include_str!("stop_words_english.txt")
            .split_whitespace()
            .collect()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.lowercase.is_empty()
    }

    /// The words in lower case, sorted.
    #[doc(hidden)]
    pub fn sorted(&self) -> Vec<String> {
        let words = self.lowercase.iter();
        let mut words: Vec<String> = words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        words.sort_unstable();
        words
    }

    /// Whether `word`, in UTF-8 and any case, is a stop word.
    pub fn contains(&self, word: &[u8]) -> bool {
        if word.len() > self.longest {
            return false;
        }
        if word.is_ascii() {
            self.lowercase.contains(&*word.to_ascii_lowercase())
        } else {
            let word = String::from_utf8_lossy(word).to_lowercase();
            self.lowercase.contains(word.as_bytes())
        }
    }
}

impl<'a> FromIterator<&'a str> for StopWords {
    fn from_iter<I: IntoIterator<Item = &'a str>>(words: I) -> Self {
        let lowercase = |word: &str| word.to_lowercase().into_bytes();
        let lowercase: HashSet<_> = words.into_iter().map(lowercase).collect();
        // Lowercasing can change a word's length in bytes, by a factor of at most three.
        let longest = lowercase.iter().map(Vec::len).max().unwrap_or(0) * 3;
        StopWords { lowercase, longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_match_in_any_case() {
        let english = StopWords::english();
        assert!(
            ["the", "The", "THAT"]
                .iter()
                .all(|word| english.contains(word.as_bytes()))
        );
        assert!(!english.contains(b"Sudzo"));
        let german: StopWords = ["Über"].into_iter().collect();
        assert!(
            ["ÜBER", "über"]
                .iter()
                .all(|word| german.contains(word.as_bytes()))
        );
    }
}
