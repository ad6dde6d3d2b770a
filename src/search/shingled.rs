//! What the first pass knows of the documents of a piece before they have rows.
//!
//! Threads find it out beside each other, list by list. So what one thread does afterwards, in the order of rows, reads a few
//! bytes of each document.

use super::digests::ByShard;
use super::short::ShortDocuments;
use crate::pipeline::Dropped;

/// What the first pass knows of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shingled {
    /// The bytes of text.
    pub(super) length: u32,
    /// The digest of its normalised text or of its tokens; `None` if it is blank.
    pub(super) digest: Option<u128>,
    /// The number of its shingles, repeats included; 2 stands for more.
    pub(super) shingles: usize,
    /// Whether it is too short to compare.
    pub(super) is_short: bool,
    /// Whether the document is signed. Those without shingles and repeated ones are not, unless all are.
    pub(super) is_signed: bool,
}

/// The part that a document takes in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is compared with others.
    Compared,
    /// It has no shingles: only its copies are found.
    Bare,
    /// None: it is blank or too short, or dropped.
    LeftOut,
}

/// The documents of a piece, by their number in it.
#[derive(Debug)]
pub(super) struct ShingledPiece {
    /// The bytes of text of each.
    pub(super) lengths: Vec<u32>,
    /// The digest of each; `None` of those that are left out.
    pub(super) digests: Vec<Option<u128>>,
    pub(super) roles: Vec<Role>,
    /// Which of them are signed.
    pub(super) signed: Vec<bool>,
    /// Those that are dropped, ascending.
    pub(super) dropped: Vec<(u32, Dropped)>,
    pub(super) sharded: ByShard,
    pub(super) counts: ShingleCounts,
}

/// How many documents have few shingles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShingleCounts {
    /// Those without shingles.
    pub(super) none: u64,
    /// Those with at most one, without blank ones.
    pub(super) few: u64,
    /// Those that are too short to compare.
    pub(super) short: u64,
}

impl ShingledPiece {
    /// Those of `documents`. `short` says which of them are left out.
    pub(super) fn of(
        documents: impl ExactSizeIterator<Item = Shingled>,
        sharded: ByShard,
        short: ShortDocuments,
    ) -> Self {
        let len = documents.len();
        let mut piece = ShingledPiece {
            lengths: Vec::with_capacity(len),
            digests: Vec::with_capacity(len),
            roles: Vec::with_capacity(len),
            signed: Vec::with_capacity(len),
            dropped: Vec::new(),
            sharded,
            counts: ShingleCounts::default(),
        };
        for (number, document) in (0..).zip(documents) {
            piece.add(number, document, short);
        }
        piece
    }

    fn add(&mut self, number: u32, document: Shingled, short: ShortDocuments) {
        let Shingled {
            length,
            digest,
            shingles,
            is_short,
            is_signed,
        } = document;
        self.counts.none += u64::from(shingles == 0);
        self.counts.few += u64::from(digest.is_some() && shingles <= 1);
        self.counts.short += u64::from(is_short);
        let fate = short.fate(shingles == 0, is_short);
        self.dropped.extend(fate.map(|reason| (number, reason)));
        let digest = digest.filter(|_| !is_short && fate.is_none());
        self.roles.push(match digest {
            None => Role::LeftOut,
            Some(_) if shingles == 0 => Role::Bare,
            Some(_) => Role::Compared,
        });
        self.lengths.push(length);
        self.digests.push(digest);
        self.signed.push(is_signed);
    }

    /// The number of documents.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The digest of a document that is compared with others.
    pub(super) fn compared_digest(&self, number: usize) -> Option<u128> {
        self.digests[number].filter(|_| self.roles[number] == Role::Compared)
    }
}
