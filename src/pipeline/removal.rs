//! A removed document.

use std::borrow::Cow;
use std::convert::Infallible;

use super::measure::{Loss, Overlap};

/// A document to remove, and the one that is kept in its place.
///
/// `D` is how documents are named: by position, row or place, or by row and id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removal<D = u32> {
    /// The removed document.
    pub document: D,
    /// The document kept in its place.
    pub kept: D,
    /// Whether both have the same normalised text, or the same list of tokens, so that nothing was compared. Otherwise the
    /// search found the document: it shares a bucket with another, and the pair passed the verification.
    pub is_identical: bool,
    /// The similarity of the two; `None` if not computed.
    pub similarity: Option<f64>,
    /// What the shingles of the removed document, the first set, and of the kept one have in common; `None` unless the two
    /// were compared exactly, and if they are identical.
    pub overlap: Option<Overlap>,
    /// With [`Clustering::Connected`](super::Clustering::Connected): the next document on a chain of similar pairs that
    /// leads to the kept one, and the similarity of the removed document to that next document, if computed. `None` for
    /// other clusterings, and for identical documents.
    pub via: Option<(D, Option<f64>)>,
}

/// Why a document is removed without another one that is kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// It has no shingle.
    Empty,
    /// It has fewer shingles than a deduplication compares.
    Short,
}

impl Dropped {
    /// The name: `empty` or `short`.
    pub fn name(self) -> &'static str {
        match self {
            Dropped::Empty => "empty",
            Dropped::Short => "short",
        }
    }
}

/// A document that is removed: for another one, or for itself.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub enum Removed<D> {
    For(Removal<D>),
    Dropped(D, Dropped),
}

impl<D> Removed<D> {
    /// The removed document.
    #[doc(hidden)]
    pub fn document(&self) -> &D {
        match self {
            Removed::For(removal) => &removal.document,
            Removed::Dropped(document, _) => document,
        }
    }

    /// The other one, if there is one.
    #[doc(hidden)]
    pub fn removal(&self) -> Option<&Removal<D>> {
        match self {
            Removed::For(removal) => Some(removal),
            Removed::Dropped(..) => None,
        }
    }

    /// [`Removal::found_by`], or why the document is dropped. `is_in_index` knows the documents of an index.
    #[doc(hidden)]
    pub fn found_by(
        &self,
        names: VerificationNames,
        is_in_index: impl Fn(&D) -> bool,
    ) -> &'static str {
        match self {
            Removed::For(removal) => {
                removal.found_by(names.with_document(is_in_index(removal.next())))
            }
            Removed::Dropped(_, reason) => reason.name(),
        }
    }

    /// [`Removal::try_name`].
    ///
    /// # Errors
    /// Those of the arguments.
    #[doc(hidden)]
    pub fn try_name<E, F>(
        self,
        document: impl FnOnce(D) -> Result<E, F>,
        other: impl Fn(D) -> Result<E, F>,
    ) -> Result<Removed<E>, F> {
        Ok(match self {
            Removed::For(removal) => Removed::For(removal.try_name(document, other)?),
            Removed::Dropped(dropped, reason) => Removed::Dropped(document(dropped)?, reason),
        })
    }
}

/// The names of the verifications of a search.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct VerificationNames {
    /// That of pairs whose texts are read.
    #[doc(hidden)]
    pub texts: &'static str,
    /// That of pairs with a document of an index.
    #[doc(hidden)]
    pub index: &'static str,
}

impl VerificationNames {
    /// That of a pair with a document, which may be one of an index.
    #[doc(hidden)]
    pub fn with_document(self, is_in_index: bool) -> &'static str {
        if is_in_index { self.index } else { self.texts }
    }
}

/// A document's row, and its id as JSON.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct NamedRow<'a> {
    #[doc(hidden)]
    pub row: u32,
    #[doc(hidden)]
    pub id: Cow<'a, str>,
}

impl<D> Removal<D> {
    /// The name of the way in which it was found. `verification` is that of the search.
    pub fn found_by(&self, verification: &'static str) -> &'static str {
        if self.is_identical {
            "identical"
        } else {
            verification
        }
    }

    /// The document that decided: the next one on the chain, if there is a chain, otherwise the kept one.
    #[doc(hidden)]
    pub fn next(&self) -> &D {
        self.via.as_ref().map_or(&self.kept, |(next, _)| next)
    }

    /// What the removal loses: nothing if both documents are identical; `None` unless they were compared exactly.
    pub fn loss(&self) -> Option<Loss> {
        if self.is_identical {
            Some(Loss::default())
        } else {
            self.overlap.map(Overlap::loss_of_first)
        }
    }

    /// The share of the distinct shingles of the removed document that the kept one lacks; `None` as for
    /// [`Removal::loss`].
    pub fn lost(&self) -> Option<f64> {
        self.loss().map(Loss::share)
    }

    /// Names the removed document by `document`, and those that lead to the kept one by `other`.
    ///
    /// # Errors
    /// Those of the arguments.
    #[doc(hidden)]
    pub fn try_name<E, F>(
        self,
        document: impl FnOnce(D) -> Result<E, F>,
        other: impl Fn(D) -> Result<E, F>,
    ) -> Result<Removal<E>, F> {
        let via = self
            .via
            .map(|(via, similarity)| Ok((other(via)?, similarity)));
        Ok(Removal {
            document: document(self.document)?,
            kept: other(self.kept)?,
            is_identical: self.is_identical,
            similarity: self.similarity,
            overlap: self.overlap,
            via: via.transpose()?,
        })
    }

    /// [`Removal::try_name`] where each document has a name.
    #[doc(hidden)]
    pub fn name<E>(self, document: impl FnOnce(D) -> E, other: impl Fn(D) -> E) -> Removal<E> {
        let Ok(named) =
            self.try_name::<_, Infallible>(|named| Ok(document(named)), |named| Ok(other(named)));
        named
    }
}
