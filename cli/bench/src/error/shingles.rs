//! Shingles of hashed words.

use std::collections::HashSet;

use simgpu::scheme::words_v1;

/// Words per shingle: the default of the library.
pub(super) const SHINGLE_WORDS: usize = 5;

/// Distinct shingle hashes of a text, in order, from its word hashes.
pub(super) fn distinct_shingles(words: &[u64]) -> Vec<u64> {
    let mut seen = HashSet::with_capacity(words.len());
    let mut shingles = Vec::with_capacity(words.len());
    words_v1::for_each_shingle(words, SHINGLE_WORDS, |shingle| {
        if seen.insert(shingle) {
            shingles.push(shingle);
        }
    });
    shingles
}
