//! What is done to a text before it is cut into units.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Which differences between texts do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Normalise {
    /// Letters are lowercased as Unicode says.
    pub lowercase: bool,
    /// Punctuation is deleted: general category P, and all ASCII punctuation.
    pub strip_punctuation: bool,
    /// A run of white space stays as it is; otherwise it becomes one blank.
    pub keep_whitespace: bool,
}

impl Normalise {
    /// Whether it changes more than white space.
    pub(super) fn changes_letters(self) -> bool {
        self.lowercase || self.strip_punctuation
    }

    /// Writes the normalised text into `out`: lowercased, then stripped, then blanks merged.
    pub fn apply(self, text: &str, out: &mut String) {
        out.clear();
        out.reserve(text.len());
        if self.lowercase {
            self.strip_and_merge(&text.to_lowercase(), out);
        } else {
            self.strip_and_merge(text, out);
        }
    }

    fn strip_and_merge(self, text: &str, out: &mut String) {
        let mut after_blank = false;
        for c in text.chars() {
            if self.strip_punctuation && is_punctuation(c) {
                continue;
            }
            if !self.keep_whitespace && c.is_whitespace() {
                if !after_blank {
                    out.push(' ');
                }
                after_blank = true;
            } else {
                out.push(c);
                after_blank = false;
            }
        }
    }
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        c.general_category_group() == GeneralCategoryGroup::Punctuation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(normalise: Normalise, text: &str) -> String {
        let mut out = String::new();
        normalise.apply(text, &mut out);
        out
    }

    #[test]
    fn runs_of_white_space_become_one_blank() {
        let merge = Normalise::default();
        assert_eq!(normalised(merge, " a\t\r\n b\u{3000}\u{a0}c "), " a b c ");
        let keep = Normalise {
            keep_whitespace: true,
            ..merge
        };
        assert_eq!(normalised(keep, "a \n b"), "a \n b");
    }

    #[test]
    fn letters_and_punctuation() {
        let both = Normalise {
            lowercase: true,
            strip_punctuation: true,
            ..Normalise::default()
        };
        assert_eq!(normalised(both, "Don't — “STOP” – ΟΔΟΣ!"), "dont stop οδος");
    }
}
