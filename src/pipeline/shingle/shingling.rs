//! What documents are cut into, before anything is hashed.

use std::fmt;
use std::num::NonZeroUsize;

use super::normalise::Normalise;
use super::stop_words::StopWords;
use crate::error::{Conflict, Result};
use crate::scheme::{Grams, Scheme, Shingles};

/// What a document is cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the normalised UTF-8 text.
    Bytes,
    /// Unicode scalar values of the normalised text.
    Chars,
    /// UAX #29 words that hold an alphanumeric character.
    Words,
    /// A stop word and the next two words; an incomplete last one is left out (MMDS 3.2.4).
    StopWords(StopWords),
    /// What stands between characters that are no letter, number or underscore, be it nothing; a text of
    /// such characters alone has no shingle. With a lowercased text and white space as it is, text-dedup's
    /// tokens, of which its preset takes five or more ([`Grams::FromFivePieces`]).
    Pieces,
    /// Tokens that the documents bring along ([`TokenBatch`](crate::documents::TokenBatch)); with a size of 1, every
    /// token is an element of the set. It is no unit of texts: [`Shingler::check_texts`](super::Shingler::check_texts).
    Tokens,
}

impl Unit {
    /// The number of units in a shingle, unless it is asked for.
    pub fn default_size(&self) -> NonZeroUsize {
        let size = match self {
            Unit::Bytes | Unit::Chars => 9,
            Unit::Words | Unit::Pieces => 5,
            Unit::StopWords(_) => 3,
            Unit::Tokens => 1,
        };
        NonZeroUsize::MIN.saturating_add(size - 1)
    }

    /// Whether the size of a shingle may be chosen.
    pub fn takes_size(&self) -> bool {
        !matches!(self, Unit::StopWords(_))
    }

    /// Whether its shingles are made of words, whose boundaries Unicode decides.
    pub fn is_made_of_words(&self) -> bool {
        matches!(self, Unit::Words | Unit::StopWords(_))
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
            Unit::Tokens => "tokens",
        })
    }
}

/// How documents become sets: the part of a run's parameters that the shingles depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// What a document is cut into.
    pub unit: Unit,
    /// Units in one shingle; only where [`Unit::takes_size`].
    pub size: NonZeroUsize,
    /// What is done to the text first.
    pub normalise: Normalise,
}

impl Shingling {
    /// Shingles of `unit`, of its default size, white space merged.
    pub fn of(unit: Unit) -> Self {
        Shingling {
            size: unit.default_size(),
            unit,
            normalise: Normalise::default(),
        }
    }

    /// The shingles of a scheme, where no others are asked for: a preset's, or five words.
    pub fn of_scheme(scheme: &Scheme) -> Self {
        let keep_whitespace = Normalise {
            keep_whitespace: true,
            ..Normalise::default()
        };
        match scheme.preset().map(|preset| preset.shingles) {
            None | Some(Shingles::FiveWords) => Shingling::default(),
            Some(Shingles::FivePieces) => Shingling {
                normalise: Normalise {
                    lowercase: true,
                    ..keep_whitespace
                },
                ..Shingling::of(Unit::Pieces)
            },
            Some(Shingles::Chars(size)) => Shingling {
                unit: Unit::Chars,
                size,
                normalise: keep_whitespace,
            },
        }
    }
}

impl Shingling {
    /// The shingles of a scheme, cut into `unit` where one is asked for.
    ///
    /// What a preset says of size and letters belongs to its unit; but a tool that makes shingles of the words
    /// it is given makes them as large of tokens.
    pub fn for_scheme(scheme: &Scheme, unit: Option<Unit>) -> Self {
        let of_scheme = Shingling::of_scheme(scheme);
        let joins_tokens = scheme.grams() == Grams::FullOnly;
        match unit {
            Some(Unit::Tokens) if joins_tokens => Shingling {
                size: of_scheme.size,
                ..Shingling::of(Unit::Tokens)
            },
            Some(unit) if unit != of_scheme.unit => Shingling::of(unit),
            _ => of_scheme,
        }
    }

    /// The same with that many units in a shingle.
    ///
    /// # Errors
    /// [`Conflict::SizeOfUnit`] for a unit whose shingles have one size.
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
