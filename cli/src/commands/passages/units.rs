//! Units of passages, and which repeated runs of units are passages.

use std::num::{NonZeroU32, NonZeroUsize};

use clap::{Args, ValueEnum};
use simgpu::pipeline::Normalise;
use simgpu_passages::{Occurrences, PassageUnit, PassageUnits, Snap};

use crate::arguments::whole_number;
use crate::options::Mode;

/// What passages are.
#[derive(Args, Debug)]
pub struct PassageArguments {
    /// What passages are made of
    #[arg(
        long,
        value_enum,
        value_name = "UNIT",
        default_value = "words",
        help_heading = "Passages"
    )]
    pub unit: PassageUnitArgument,

    /// Least length of a passage in units [default: 50 words, tokens or tokens of code, 200 characters or bytes, 20
    /// characters of a line or paragraph]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroUsize>,
        help_heading = "Passages"
    )]
    pub min_length: Option<NonZeroUsize>,

    /// Which occurrences of a passage are listed, and cut
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "later",
        help_heading = "Passages"
    )]
    pub occurrences: OccurrencesArgument,

    /// Only passages that occur at least N times, all occurrences counted
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroU32>,
        default_value = "2",
        help_heading = "Passages"
    )]
    pub min_count: NonZeroU32,

    /// What to do with passages that occur in one document alone
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "cut",
        help_heading = "Passages"
    )]
    pub same_document: SameDocumentArgument,

    /// Only passages all of whose bytes are equal: what stands between the units counts, too
    #[arg(long, help_heading = "Passages")]
    pub bytes_equal: bool,

    /// Units that differ in case alone are equal
    #[arg(long, help_heading = "Passages")]
    pub lowercase: bool,

    /// Ignore punctuation and symbols in lines and paragraphs, also + = < > ~ |: `a = b` and `a b` are equal
    #[arg(long, help_heading = "Passages")]
    pub strip_punctuation: bool,

    /// Lines or paragraphs are equal if they differ in how much white space is between two words alone
    #[arg(long, help_heading = "Passages")]
    pub merge_whitespace: bool,

    /// Units that differ in their digits alone, each counted as 0, are equal
    #[arg(long, help_heading = "Passages")]
    pub mask_digits: bool,
}

/// The value of `--unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PassageUnitArgument {
    /// Unicode words; punctuation, operators and white space between them do not count
    Words,
    /// Words, numbers and single other characters of program text; white space does not count
    Code,
    /// Characters (Unicode scalar values); nothing is left out
    Chars,
    /// UTF-8 bytes; nothing is left out
    Bytes,
    /// Tokens stored in the record; places are numbers of tokens, and lists are not cut
    Tokens,
    /// Whole lines; white space around them does not count
    Lines,
    /// Lines between blank lines; white space around them does not count
    Paragraphs,
}

/// The value of `--occurrences`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OccurrencesArgument {
    /// All but the first, which is their source
    Later,
    /// All; the source of the first is the second
    All,
}

/// The value of `--same-document`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SameDocumentArgument {
    /// They are passages like others
    Cut,
    /// They stay, and are not listed
    Keep,
}

/// The value of `--snap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SnapArgument {
    /// Whole words, and the white space on one side
    Words,
    /// Whole lines
    Lines,
    /// The exact passage, without partial characters
    None,
}

impl SnapArgument {
    /// The value for the library.
    pub fn snap(self) -> Snap {
        match self {
            SnapArgument::Words => Snap::Words,
            SnapArgument::Lines => Snap::Lines,
            SnapArgument::None => Snap::None,
        }
    }
}

impl PassageArguments {
    /// The units.
    pub fn units(&self) -> PassageUnits {
        let units = PassageUnits::of(match self.unit {
            PassageUnitArgument::Words => PassageUnit::Words,
            PassageUnitArgument::Code => PassageUnit::Code,
            PassageUnitArgument::Chars => PassageUnit::Chars,
            PassageUnitArgument::Bytes => PassageUnit::Bytes,
            PassageUnitArgument::Tokens => PassageUnit::Tokens,
            PassageUnitArgument::Lines => PassageUnit::Lines,
            PassageUnitArgument::Paragraphs => PassageUnit::Paragraphs,
        });
        PassageUnits {
            min_length: self.min_length.unwrap_or(units.min_length),
            bytes_equal: self.bytes_equal,
            normalise: Normalise {
                lowercase: self.lowercase,
                strip_punctuation: self.strip_punctuation,
                keep_whitespace: !self.merge_whitespace,
            },
            mask_digits: self.mask_digits,
            ..units
        }
    }

    /// Which occurrences are covered.
    pub fn occurrences(&self) -> Occurrences {
        match self.occurrences {
            OccurrencesArgument::Later => Occurrences::Later,
            OccurrencesArgument::All => Occurrences::All,
        }
    }

    /// Whether only passages of another document are covered.
    pub fn other_documents(&self) -> bool {
        self.same_document == SameDocumentArgument::Keep
    }

    /// The modes that the unit leads to.
    pub fn modes(&self) -> &'static [Mode] {
        match self.unit {
            PassageUnitArgument::Tokens => &[Mode::Tokens, Mode::NoTextField],
            PassageUnitArgument::Bytes => &[Mode::NotTokens, Mode::PassagesOfBytes],
            PassageUnitArgument::Lines | PassageUnitArgument::Paragraphs => {
                &[Mode::NotTokens, Mode::PassagesOfLines]
            }
            _ => &[Mode::NotTokens, Mode::PassagesOfWords],
        }
    }
}
