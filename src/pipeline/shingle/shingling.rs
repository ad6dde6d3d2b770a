//! Units and sizes of shingles.

use std::fmt;
use std::num::NonZeroUsize;

use super::normalise::Normalise;
use super::stop_words::StopWords;
use crate::error::{Conflict, Result};
use crate::scheme::{Grams, Scheme, Shingles, WeightScale};

/// The unit of shingles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the normalised UTF-8 text.
    Bytes,
    /// Unicode scalar values of the normalised text.
    Chars,
    /// UAX #29 words that contain an alphanumeric character.
    Words,
    /// A shingle is a stop word and the next two words (MMDS 3.2.4). Near the end of a text, stop words without
    /// two following words are ignored.
    StopWords(StopWords),
    /// The pieces of a text split at every character other than a letter, number or underscore, including empty
    /// pieces. A text of separators alone has no shingle.
    ///
    /// Lowercased and with white space kept, these are the tokens of text-dedup. Its preset needs at least five
    /// per text ([`Grams::FromFivePieces`],
    /// [`Grams::FromFiveFullPieces`]).
    Pieces,
    /// The tokens of program text: words, which are runs of letters, digits and underscores; numbers, with a decimal
    /// point and an exponent; and every other character alone. White space, line ends and indentation do not count.
    /// Strings and comments are read as code, so that no language needs to be known.
    ///
    /// A number begins with a digit of ASCII. Its point stands between two digits, and so does the sign of its
    /// exponent: `1.5e-3` is one number, `1..2` has four tokens and `v.1` three.
    Code,
    /// Tokens of documents given as lists of tokens ([`TokenBatch`](crate::documents::TokenBatch)), not of texts.
    /// With a size of 1, the set is that of the tokens. Different lists of several tokens are different shingles,
    /// even if tokens hold spaces; with a preset, they are joined as its tool joins them, most often by one space.
    Tokens,
}

impl Unit {
    /// The default number of units per shingle: 9 bytes or characters, 5 words, pieces or tokens of code,
    /// 3 words from a stop word on, 1 token.
    pub fn default_size(&self) -> NonZeroUsize {
        let size = match self {
            Unit::Bytes | Unit::Chars => 9,
            Unit::Words | Unit::Pieces | Unit::Code => 5,
            Unit::StopWords(_) => 3,
            Unit::Tokens => 1,
        };
        NonZeroUsize::MIN.saturating_add(size - 1)
    }

    /// Whether the size of a shingle is free. Stop-word shingles always have three words.
    pub fn takes_size(&self) -> bool {
        !matches!(self, Unit::StopWords(_))
    }

    /// Whether shingles consist of words: by Unicode's word boundaries, or those of code.
    pub fn is_made_of_words(&self) -> bool {
        matches!(self, Unit::Words | Unit::StopWords(_) | Unit::Code)
    }
}

impl Unit {
    /// The unit of this name; `None` for stop words, which need a list of them, and for other names.
    #[doc(hidden)]
    pub fn plain(name: &str) -> Option<Self> {
        let plain = [
            Unit::Bytes,
            Unit::Chars,
            Unit::Words,
            Unit::Pieces,
            Unit::Code,
            Unit::Tokens,
        ];
        plain.into_iter().find(|unit| unit.to_string() == name)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Bytes => "bytes",
            Unit::Chars => "chars",
            Unit::Words => "words",
            Unit::StopWords(_) => "stopwords",
            Unit::Pieces => "pieces",
            Unit::Code => "code",
            Unit::Tokens => "tokens",
        })
    }
}

/// How much an element of a set weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// All elements weigh the same, and repeats do not matter: sets.
    #[default]
    Equal,
    /// An element weighs as much as it occurs: bags (MMDS 3.1.3). The Jaccard similarity of two bags is the sum of the
    /// lesser counts divided by the sum of the greater ones.
    ///
    /// In a list of hashes, the first occurrence of a shingle is the hash of the shingle, and each further one is the
    /// next of its [`Copies`](crate::scheme::Copies), so that no repeat remains.
    Counts,
    /// Each shingle with its place in the document is an element: sets for the Hamming distance
    /// ([`Distance::Hamming`](crate::pipeline::Distance::Hamming)).
    ///
    /// In a list of hashes, the shingle at place i, from 0, is copy i of its hash ([`Copies`](crate::scheme::Copies)).
    Places,
    /// Each token of a document has a weight, and those of a token that occurs several times add up. The Jaccard similarity
    /// of two documents is the sum of the lesser weights divided by the sum of the greater ones; a token that a document
    /// lacks weighs 0 there. Needs [`Unit::Tokens`] with a size of 1, and documents with weights
    /// ([`WeightedBatch`](crate::documents::WeightedBatch)).
    ///
    /// In a list of hashes, a token becomes as many [`Copies`](crate::scheme::Copies) as its weight times the scale. A
    /// document with weights of less than one copy in all may have no shingle.
    Given(WeightScale),
    /// A shingle weighs log2(n / d), where n is the number of distinct documents that have shingles, and d the number
    /// of those that have this one. A shingle of all documents weighs 0, as if no document had it. The Jaccard
    /// similarity of two documents is the sum of the weights of the shingles in both, divided by the sum of those in
    /// either.
    ///
    /// [`dedup()`](crate::search::dedup()), [`pairs()`](crate::search::pairs()) and their runs over files read
    /// all documents once more than otherwise, to count. Nothing else takes this weighting: a signature of one run
    /// means nothing to another.
    ///
    /// In a list of hashes, a shingle becomes one of its [`Copies`](crate::scheme::Copies) per unit of weight.
    Rarity,
}

/// How to cut documents into shingles: unit, size and normalisation, and how much a shingle weighs.
///
/// ```
/// use simgpu::pipeline::{Shingling, Unit};
///
/// let shingling = Shingling::of(Unit::Chars).with_size(5.try_into()?)?;
/// assert_eq!(shingling.size.get(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// The unit of shingles.
    pub unit: Unit,
    /// Units per shingle. Keep the default unless [`Unit::takes_size`].
    pub size: NonZeroUsize,
    /// Normalisation of texts before cutting. Tokens are never normalised.
    pub normalise: Normalise,
    /// How much a shingle weighs; default [`Weighting::Equal`].
    pub weighting: Weighting,
}

impl Shingling {
    /// Shingles of `unit` with its default size and merged white space.
    pub fn of(unit: Unit) -> Self {
        Shingling {
            size: unit.default_size(),
            unit,
            normalise: Normalise::default(),
            weighting: Weighting::default(),
        }
    }

    /// The default shingles of a scheme: those of its preset, or else five words.
    pub fn of_scheme(scheme: &Scheme) -> Self {
        let keep_whitespace = Normalise {
            keep_whitespace: true,
            ..Normalise::default()
        };
        match scheme.preset().map(|preset| preset.shingles) {
            None | Some(Shingles::FiveWords) => Shingling::default(),
            Some(pieces @ (Shingles::FivePieces | Shingles::OnePiece)) => Shingling {
                unit: Unit::Pieces,
                size: match pieces {
                    Shingles::OnePiece => NonZeroUsize::MIN,
                    _ => Unit::Pieces.default_size(),
                },
                normalise: Normalise {
                    lowercase: true,
                    ..keep_whitespace
                },
                weighting: Weighting::default(),
            },
            Some(Shingles::Chars(size)) => Shingling {
                unit: Unit::Chars,
                size,
                normalise: keep_whitespace,
                weighting: Weighting::default(),
            },
        }
    }
}

impl Shingling {
    /// The default shingles of a scheme for `unit`; `None` is the scheme's own unit.
    ///
    /// Size and normalisation of a preset apply only to its own unit, with one exception: a preset that makes
    /// full shingles of words ([`Grams::FullOnly`]) uses the same size for tokens.
    pub fn for_scheme(scheme: &Scheme, unit: Option<Unit>) -> Self {
        let usual = Shingling::of_scheme(scheme);
        let joins_tokens = scheme.grams() == Grams::FullOnly;
        match unit {
            Some(Unit::Tokens) if joins_tokens => Shingling {
                size: usual.size,
                ..Shingling::of(Unit::Tokens)
            },
            Some(unit) if unit != usual.unit => Shingling::of(unit),
            _ => usual,
        }
    }

    /// Sets the number of units per shingle.
    ///
    /// # Errors
    /// [`Conflict::SizeOfUnit`] if the size of the unit is fixed ([`Unit::takes_size`]).
    pub fn with_size(self, size: NonZeroUsize) -> Result<Self> {
        if !self.unit.takes_size() {
            return Err(Conflict::SizeOfUnit {
                unit: self.unit.to_string(),
            }
            .into());
        }
        Ok(Shingling { size, ..self })
    }
}

impl Default for Shingling {
    /// Five words.
    fn default() -> Self {
        Shingling::of(Unit::Words)
    }
}
