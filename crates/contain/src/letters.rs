//! Which letters and digits are one word.
//!
//! Most scripts write spaces between words, and a run of their letters and digits is a word. Han, Kana, Thai, Lao, Khmer and
//! Burmese do not: their runs are divided as by UAX 29, so that each letter is a word of its own, but for runs of Katakana. A
//! word also ends where one of these scripts, or Hangul, meets another letter or a digit. Raised figures are words of their
//! own, since they are powers: `x²` is `x^2`.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What a letter or digit joins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// A run of such letters and digits is a word.
    Run,
    /// So is a run of Hangul.
    Hangul,
    /// So is a run of Katakana.
    Katakana,
    /// So is a run of raised figures.
    Raised,
    /// A word of its own.
    Alone,
    /// It belongs to the letter before it.
    Mark,
}

impl Joins {
    /// Whether a letter continues the word of the letter before it.
    pub(super) fn continues(self, before: Joins) -> bool {
        self == before && self != Joins::Alone
    }
}

/// A letter, digit or mark of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) joins: Joins,
    /// Bytes.
    pub(super) width: usize,
}

/// The letter, digit or mark that begins at a byte of a text, if there is one.
pub(super) fn letter_at(text: &str, at: usize) -> Option<Letter> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return byte.is_ascii_alphanumeric().then_some(Letter {
            joins: Joins::Run,
            width: 1,
        });
    }
    let c = text[at..].chars().next()?;
    joins(c).map(|joins| Letter {
        joins,
        width: c.len_utf8(),
    })
}

fn joins(c: char) -> Option<Joins> {
    match c {
        // Latin, Greek and Cyrillic letters, which are most.
        '\u{C0}'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{48A}'..='\u{52F}' => {
            c.is_alphanumeric().then_some(Joins::Run)
        }
        // Spaces, dashes and quotation marks, and letters of Han and Hangul, by range alone.
        '\u{A0}'..='\u{A9}' | '\u{2000}'..='\u{205E}' | '\u{3000}'..='\u{3002}' | '\u{FF0C}' => {
            None
        }
        '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' => Some(Joins::Alone),
        '\u{AC00}'..='\u{D7A3}' => Some(Joins::Hangul),
        _ if is_raised(c) => Some(Joins::Raised),
        _ if c.general_category_group() == GeneralCategoryGroup::Mark => Some(Joins::Mark),
        _ if !c.is_alphanumeric() => None,
        '\u{1100}'..='\u{11FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{FFA0}'..='\u{FFDC}' => Some(Joins::Hangul),
        '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}' => {
            Some(Joins::Katakana)
        }
        _ if is_divided(c) || is_enclosed(c) => Some(Joins::Alone),
        _ => Some(Joins::Run),
    }
}

/// Whether a letter is of a script without spaces between words, Katakana apart. The digits of such scripts are like others.
pub(super) fn is_divided(c: char) -> bool {
    #[rustfmt::skip] // A line has one or two scripts.
    let is_letter = matches!(c,
        // Thai, Lao, Burmese and Khmer.
        '\u{E01}'..='\u{E4E}' | '\u{E81}'..='\u{ECE}' | '\u{EDC}'..='\u{EDF}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109F}' | '\u{A9E0}'..='\u{A9EF}'
        | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AA7F}' | '\u{1780}'..='\u{17DD}'
        // Hiragana and Han.
        | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{2E80}'..='\u{2FD5}'
        | '\u{20000}'..='\u{323AF}');
    is_letter && c.is_alphanumeric()
}

/// Whether a figure is above the line: a power.
pub(super) fn is_raised(c: char) -> bool {
    matches!(c, '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{2070}'..='\u{2079}')
}

/// Whether a character is a fraction, or a figure in a circle or brackets. Lowered figures belong to a formula.
fn is_enclosed(c: char) -> bool {
    c.general_category() == GeneralCategory::OtherNumber && !matches!(c, '\u{2080}'..='\u{2089}')
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use crate::words::{word_end, word_start};

    fn words(text: &str) -> Vec<&str> {
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some(start) = word_start(text, at, text.len()) {
            at = word_end(text, start);
            words.push(&text[start..at]);
        }
        words
    }

    #[test]
    fn scripts_without_spaces_are_divided_as_by_uax_29() {
        for text in [
            "小明的农场里有山羊",
            "ファイル名を表示する",
            "コンピューター",
            "ภาษาไทยที่น่า",
            "ພາສາລາວ",
            "ភាសាខ្មែរ",
            "မြန်မာဘာသာ",
        ] {
            let expected: Vec<&str> = text.split_word_bounds().collect();
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn words_end_where_scripts_meet() {
        for (text, expected) in [
            ("metres.How many", "metres How many"),
            ("请看How many答", "请 看 How many 答"),
            ("17只CPU은 3마리", "17 只 CPU 은 3 마리"),
            ("x²+10⁵ H₂O 2½", "x ² 10 ⁵ H₂O 2 ½"),
            ("cafe\u{301} naïve", "cafe\u{301} naïve"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
