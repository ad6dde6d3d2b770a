//! The keys of symbols: what a record has of words, windows and values, as numbers of 64 bits.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::words::{Equivalents, Words};

/// The bit that tells a window of characters from other symbols.
const WINDOW: u64 = 1 << 63;

/// The bit that tells a whole value from a word.
const VALUE: u64 = 1 << 62;

/// A symbol as 64 bits: the hash of a word or of a value, or the three characters of a window.
pub(crate) type SymbolKey = u64;

/// The key of a word.
fn word_key(word: &str) -> SymbolKey {
    xxh3_64(word.as_bytes()) >> 2
}

/// The key of the value of a field, by the place of the field: swapped fields differ.
fn value_key(value: &str, field: usize) -> SymbolKey {
    xxh3_64_with_seed(value.as_bytes(), field as u64) >> 2 | VALUE
}

/// Whether a symbol is the whole value of a field. A window has other bits in that place.
pub(super) fn is_value(key: SymbolKey) -> bool {
    key & WINDOW == 0 && key & VALUE != 0
}

/// Calls `each` for all words and windows of the words, repeats included, with their text.
pub(crate) fn for_each_symbol<'w>(
    words: &'w Words,
    mut each: impl FnMut(SymbolKey, SymbolText<'w>),
) {
    for word in words.iter() {
        each(word_key(word), SymbolText::Word(word));
        let mut window = [' '; 3];
        let mut seen = 1;
        for letter in word.chars().chain([' ']) {
            window = [window[1], window[2], letter];
            seen += 1;
            if seen >= 3 {
                let bits = window
                    .iter()
                    .fold(0, |bits, letter| bits << 21 | u64::from(u32::from(*letter)));
                each(bits | WINDOW, SymbolText::Window(window));
            }
        }
    }
}

/// The text of a symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SymbolText<'w> {
    /// A word.
    Word(&'w str),
    /// Three characters of a word; a blank is its beginning or its end.
    Window([char; 3]),
}

impl std::fmt::Display for SymbolText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SymbolText::Word(word) => f.write_str(word),
            SymbolText::Window(window) => window
                .iter()
                .map(|letter| if *letter == ' ' { '_' } else { *letter })
                .try_for_each(|letter| write!(f, "{letter}")),
        }
    }
}

/// Memory of a thread that reads records.
#[derive(Debug, Default)]
pub(crate) struct SymbolScratch {
    pub(crate) words: Words,
    keys: Vec<SymbolKey>,
}

impl SymbolScratch {
    /// The distinct symbols of some fields of a record, each with its place, in ascending order.
    pub(super) fn keys<'f>(
        &mut self,
        fields: impl Iterator<Item = (usize, &'f [u8])>,
        equivalents: &Equivalents,
    ) -> &[SymbolKey] {
        self.keys.clear();
        for (place, field) in fields {
            self.words
                .read(&String::from_utf8_lossy(field), equivalents);
            let keys = &mut self.keys;
            for_each_symbol(&self.words, |key, _| keys.push(key));
            if self.words.iter().len() > 0 {
                keys.push(value_key(self.words.value(), place));
            }
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        &self.keys
    }
}
