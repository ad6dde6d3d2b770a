//! The words of a field: normalised, and with equal names replaced by one of them.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use simgpu::error::{Error, Result};

/// Names that count as equal, such as `William` and `Bill` (MMDS 3.8.2). Each set is replaced by its first name.
///
/// ```
/// use simgpu_link::Equivalents;
///
/// let names = Equivalents::parse("William, Bill, Will\nRobert, Bob\n")?;
/// assert_eq!(names.len(), 3);
/// assert!(Equivalents::parse("William, Bill\nBilly, Bill").is_err());
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalents {
    /// The name that replaces each word, and the number of the replaced one.
    replaced_by: HashMap<String, (String, u32)>,
}

impl Equivalents {
    /// Reads one set of equal names per line, separated by commas. Blank lines and lines that begin with `#` are left
    /// out. Names are normalised as fields are: case and accents do not matter.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a name that is in two sets or is not one word, with its line.
    pub fn parse(text: &str) -> Result<Self> {
        let mut replaced_by = HashMap::new();
        let mut line_of: HashMap<String, usize> = HashMap::new();
        let mut words = Words::default();
        for (line, names) in (1..).zip(text.lines()) {
            if names.trim().is_empty() || names.starts_with('#') {
                continue;
            }
            let mut first: Option<String> = None;
            for name in names.split(',') {
                words.read(name, &Equivalents::default());
                let mut found = words.iter();
                let (Some(word), None) = (found.next(), found.next()) else {
                    return Err(refuse(line, name, "which is not one word"));
                };
                if let Some(other) = line_of.insert(word.to_owned(), line) {
                    let problem = if other == line {
                        "twice".to_owned()
                    } else {
                        format!("which line {other} has, too")
                    };
                    return Err(refuse(line, name, &problem));
                }
                match &first {
                    None => first = Some(word.to_owned()),
                    Some(first) => {
                        let number = replaced_by.len() + 1;
                        let number = u32::try_from(number)
                            .map_err(|_| refuse(line, name, "after too many others"))?;
                        replaced_by.insert(word.to_owned(), (first.clone(), number));
                    }
                }
            }
        }
        Ok(Equivalents { replaced_by })
    }

    /// The name that replaces a word, if one does.
    pub(crate) fn replaced(&self, word: &str) -> Option<&str> {
        self.replaced_by.get(word).map(|(name, _)| &**name)
    }

    /// The number of names that are replaced by another one.
    pub fn len(&self) -> usize {
        self.replaced_by.len()
    }

    /// Whether no name is replaced.
    pub fn is_empty(&self) -> bool {
        self.replaced_by.is_empty()
    }
}

fn refuse(line: usize, name: &str, problem: &str) -> Error {
    Error::Parameter {
        name: "`equivalents`",
        value: format!("a list whose line {line} has {:?}, {problem}", name.trim()),
        expected:
            "single words separated by commas, one set of equal names per line, and no name twice"
                .to_owned(),
    }
}

/// The normalised words of a text, in memory that is used again for the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    text: String,
    /// The words with what stands between them: order, signs and separators count here.
    value: String,
    /// Where each word ends.
    ends: Vec<usize>,
    /// For each word, the number of the equivalent that it replaces, or 0.
    replaced: Vec<u32>,
}

impl Words {
    /// Replaces the words by those of a text: compatibility forms and accents are taken off (NFKD), letters become lower
    /// case, and all but letters, digits and marks separates words.
    pub(crate) fn read(&mut self, text: &str, equivalents: &Equivalents) {
        self.text.clear();
        self.value.clear();
        self.ends.clear();
        self.replaced.clear();
        if text.is_ascii() {
            let letters = text.chars().map(|letter| letter.to_ascii_lowercase());
            self.read_letters(letters, equivalents);
        } else {
            self.read_letters(normalised(text), equivalents);
        }
    }

    fn read_letters(&mut self, letters: impl Iterator<Item = char>, equivalents: &Equivalents) {
        let mut start = 0;
        for letter in letters.chain([' ']) {
            if is_of_word(letter) {
                self.text.push(letter);
                continue;
            }
            if self.text.len() > start {
                let mut replaced = 0;
                if let Some((name, number)) = equivalents.replaced_by.get(&self.text[start..]) {
                    self.text.truncate(start);
                    self.text.push_str(name);
                    replaced = *number;
                }
                self.value.push_str(&self.text[start..]);
                self.replaced.push(replaced);
                start = self.text.len();
                self.ends.push(start);
            }
            if !letter.is_whitespace() {
                self.value.push(keyboard_letter(letter));
            } else if !self.value.is_empty() && !self.value.ends_with(' ') {
                self.value.push(' ');
            }
        }
        self.value.truncate(self.value.trim_end().len());
    }

    /// The normalised text: the words, and the characters between them. White space counts as one blank, and quotes and
    /// dashes of all kinds as the plain one.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// For each word, the number of the equivalent that it replaces, or 0.
    pub(crate) fn replaced(&self) -> &[u32] {
        &self.replaced
    }

    /// The words, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] };
            &self.text[start..self.ends[i]]
        })
    }

    /// The letters of all words, with a blank between two words. A word that replaces an equivalent ends with one symbol
    /// more, that of the replaced word: so a name and its equivalent are one symbol apart.
    pub(crate) fn letters(&self) -> impl Iterator<Item = u32> {
        const AFTER_ALL_LETTERS: u32 = char::MAX as u32;
        let words = self.iter().zip(&self.replaced).enumerate();
        words.flat_map(|(i, (word, replaced))| {
            let blank = (i > 0).then_some(u32::from(' '));
            let mark = (*replaced > 0).then(|| AFTER_ALL_LETTERS.saturating_add(*replaced));
            let letters = word.chars().map(u32::from);
            blank.into_iter().chain(letters).chain(mark)
        })
    }
}

/// The letters of a text without compatibility forms and accents (NFKD), in lower case.
pub(crate) fn normalised(text: &str) -> impl Iterator<Item = char> {
    let lower = text.nfkd().flat_map(char::to_lowercase);
    lower.nfkd().filter(|letter| !is_accent(*letter))
}

/// Whether a letter is part of a word, and no separator.
pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || !letter.is_ascii() && is_combining_mark(letter)
}

/// The quote or dash that a keyboard has, for a typographic one.
pub(crate) fn keyboard_letter(letter: char) -> char {
    match letter {
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}

/// The accents of European letters. The marks of other scripts change the word.
fn is_accent(letter: char) -> bool {
    ('\u{300}'..='\u{36F}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, equivalents: &str) -> Vec<String> {
        let mut words = Words::default();
        words.read(text, &Equivalents::parse(equivalents).unwrap());
        words.iter().map(str::to_owned).collect()
    }

    #[test]
    fn case_accents_and_punctuation_do_not_matter() {
        assert_eq!(
            words("O'Brien-Smith, 3rd", ""),
            ["o", "brien", "smith", "3rd"]
        );
        assert_eq!(words("Müller ﬁne ＡＢＣ", ""), ["muller", "fine", "abc"]);
        assert_eq!(words("İZMİR Ελλάδα", ""), ["izmir", "ελλαδα"]);
        assert_eq!(words("नमस्ते", ""), ["नमस्ते"]);
        assert!(words(" -- ,", "").is_empty());
    }

    #[test]
    fn values_keep_order_signs_and_separators() {
        let value = |text: &str| {
            let mut words = Words::default();
            words.read(text, &Equivalents::parse("William, Bill").unwrap());
            words.value().to_owned()
        };
        for (one, other) in [
            ("Kim Lee", "Lee Kim"),
            ("-5.25", "5.25"),
            ("12/5", "12.5"),
            ("10.0.0.1", "10.0.1.1"),
            ("C++", "C#"),
        ] {
            assert_ne!(value(one), value(other));
        }
        for (one, other) in [
            (" Kim\tLEE\n", "kim  lee"),
            ("O\u{2019}Brien\u{2013}Smith", "o'brien-smith"),
            ("\u{2212}5", "-5"),
            ("Bill's Émile", "william's emile"),
        ] {
            assert_eq!(value(one), value(other));
        }
        assert_eq!(value(" a ,  b. "), "a , b.");
    }

    #[test]
    fn equal_names_become_the_first() {
        let names = "William, Bill, Will\n\n# nicknames\nRené,Rene2";
        assert_eq!(words("BILL Smith", names), ["william", "smith"]);
        assert_eq!(words("rene2 Bills", names), ["rene", "bills"]);
    }

    #[test]
    fn names_in_two_sets_are_refused() {
        for (list, problem) in [
            ("a, b\nc, B", "line 2 has \"B\", which line 1 has, too"),
            ("a, a", "line 1 has \"a\", twice"),
            (
                "a, new york",
                "line 1 has \"new york\", which is not one word",
            ),
            ("a,,b", "line 1 has \"\", which is not one word"),
        ] {
            let error = Equivalents::parse(list).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
