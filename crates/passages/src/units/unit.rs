//! The units of passages, and what of a unit tells it apart from others.

use std::fmt;
use std::num::NonZeroUsize;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use simgpu::error::{Error, Result};
use simgpu::pipeline::Normalise;

/// What passages are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassageUnit {
    /// Words, as in [`Unit::Words`](simgpu::pipeline::Unit::Words). Punctuation and white space between them do not count.
    #[default]
    Words,
    /// Tokens of program text, as in [`Unit::Code`](simgpu::pipeline::Unit::Code). White space does not count.
    Code,
    /// Characters: Unicode scalar values.
    Chars,
    /// Bytes.
    Bytes,
    /// Tokens that are stored in the record, such as those of a model's vocabulary.
    Tokens,
    /// Lines, without white space around them. Each is a passage if it is long enough.
    Lines,
    /// Paragraphs: lines between blank ones. Each is a passage if it is long enough.
    Paragraphs,
}

impl PassageUnit {
    /// All units.
    pub const ALL: [PassageUnit; 7] = [
        PassageUnit::Words,
        PassageUnit::Code,
        PassageUnit::Chars,
        PassageUnit::Bytes,
        PassageUnit::Tokens,
        PassageUnit::Lines,
        PassageUnit::Paragraphs,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            PassageUnit::Words => "words",
            PassageUnit::Code => "code",
            PassageUnit::Chars => "chars",
            PassageUnit::Bytes => "bytes",
            PassageUnit::Tokens => "tokens",
            PassageUnit::Lines => "lines",
            PassageUnit::Paragraphs => "paragraphs",
        }
    }

    /// The default of the least length: 50 words or tokens, 200 characters or bytes, 20 characters of a line or paragraph.
    pub fn default_min_length(self) -> NonZeroUsize {
        let length = match self {
            PassageUnit::Words | PassageUnit::Code | PassageUnit::Tokens => 50,
            PassageUnit::Chars | PassageUnit::Bytes => 200,
            PassageUnit::Lines | PassageUnit::Paragraphs => 20,
        };
        NonZeroUsize::MIN.saturating_add(length - 1)
    }

    /// Whether each unit alone is a passage, if it has the least length in characters.
    fn is_passage(self) -> bool {
        matches!(self, PassageUnit::Lines | PassageUnit::Paragraphs)
    }
}

impl fmt::Display for PassageUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for PassageUnit {
    type Err = Error;

    /// The unit of a name.
    fn from_str(name: &str) -> Result<Self> {
        let known = PassageUnit::ALL.into_iter();
        let found = known.clone().find(|unit| unit.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "unit of passages",
            name: name.to_owned(),
            known: known.map(PassageUnit::name).collect::<Vec<_>>().join(", "),
        })
    }
}

/// How texts are cut into units, and the least length of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageUnits {
    /// The unit.
    pub unit: PassageUnit,
    /// The least length, in units; for lines and paragraphs, in characters of what [`PassageUnits::normalise`] leaves of one.
    pub min_length: NonZeroUsize,
    /// Whether what stands between the units of a passage must be equal, too; default false.
    pub bytes_equal: bool,
    /// What does not tell units apart; default nothing. Places are always those of the text as it is. Acts on words, tokens
    /// of code and characters by case alone, not on bytes and lists of tokens.
    pub normalise: Normalise,
    /// Whether each decimal digit of a unit counts as 0; default false. Not of bytes and lists of tokens.
    pub mask_digits: bool,
}

impl Default for PassageUnits {
    fn default() -> Self {
        PassageUnits::of(PassageUnit::default())
    }
}

impl PassageUnits {
    /// A unit with its default length.
    pub fn of(unit: PassageUnit) -> Self {
        PassageUnits {
            unit,
            min_length: unit.default_min_length(),
            bytes_equal: false,
            normalise: Normalise {
                keep_whitespace: true,
                ..Normalise::default()
            },
            mask_digits: false,
        }
    }

    /// Whether units can be equal that are written in another way.
    pub(crate) fn normalises(self) -> bool {
        let PassageUnits { normalise, .. } = PassageUnits::of(self.unit);
        self.normalise != normalise || self.mask_digits
    }

    /// Refuses equal bytes of what is normalised.
    pub(crate) fn check(self) -> Result<()> {
        if self.bytes_equal && self.normalises() {
            return Err(Error::Parameter {
                name: "`bytes_equal`",
                value: "true".to_owned(),
                expected: "units as they are written, without `lowercase`, `strip_punctuation`, `merge_whitespace` and `mask_digits`".to_owned(),
            });
        }
        Ok(())
    }

    /// What of a unit tells it apart from others.
    pub(super) fn form<'a>(self, unit: &'a str, form: &'a mut String) -> &'a str {
        if !self.normalises() {
            return unit;
        }
        if self.unit.is_passage() {
            self.normalise.apply(unit, form)
        } else {
            // Without white space and punctuation of their own, or made of one character.
            let Normalise { lowercase, .. } = self.normalise;
            let case = Normalise {
                lowercase,
                ..PassageUnits::of(self.unit).normalise
            };
            case.apply(unit, form);
        }
        if self.mask_digits {
            let masked = |letter: char| if is_digit(letter) { '0' } else { letter };
            *form = form.chars().map(masked).collect();
        }
        if self.unit.is_passage() {
            form.trim()
        } else {
            form
        }
    }

    /// Whether what is left of a unit is too short for a passage.
    pub(super) fn is_too_short(self, form: &str) -> bool {
        self.unit.is_passage() && form.chars().nth(self.min_length.get() - 1).is_none()
    }

    /// The least number of symbols of a passage.
    pub(crate) fn symbols(self) -> NonZeroUsize {
        let units = if self.unit.is_passage() {
            NonZeroUsize::MIN
        } else {
            self.min_length
        };
        units.saturating_add((units.get() - 1).saturating_mul(self.stride() - 1))
    }

    /// The symbols of a unit: a second one stands for what is between it and the next unit.
    pub(crate) fn stride(self) -> usize {
        let leaves_out = !matches!(
            self.unit,
            PassageUnit::Bytes | PassageUnit::Chars | PassageUnit::Tokens
        );
        if self.bytes_equal && leaves_out { 2 } else { 1 }
    }
}

/// Whether a character is a decimal digit of any script.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
        || letter.is_numeric() && letter.general_category() == GeneralCategory::DecimalNumber
}
