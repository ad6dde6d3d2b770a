//! The id of a document, and the number of repeated ids.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use simgpu::clock::in_parallel;
use simgpu::error::{Result, row_number};
use simgpu::store::Texts;

/// What a record has as its id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Id {
    /// An id, as JSON.
    Json(String),
    /// None: the field is missing, null or empty.
    None,
    /// A value that identifies nothing, and what it is.
    Unusable(String),
}

impl Id {
    /// An id that must be one if `is_required`. Messages call the field `field`.
    #[doc(hidden)]
    pub fn checked(self, is_required: bool, field: &str) -> std::result::Result<Self, String> {
        match self {
            Id::Unusable(what) if is_required => Err(format!(
                "{field} is {what}, which cannot be an id; give a string or a number"
            )),
            Id::None if is_required => Err(format!("{field} is missing, null or empty")),
            id => Ok(id),
        }
    }
}

/// The documents that repeat an earlier id.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Repeated {
    /// The number of these documents.
    pub(crate) documents: u64,
    /// The first of them, after the document that it repeats.
    pub(crate) first: Option<(u32, u32)>,
}

impl Repeated {
    /// Adds the documents that have one id, by ascending row.
    pub(super) fn add(&mut self, mut same: impl ExactSizeIterator<Item = u32>) {
        self.documents += same.len().saturating_sub(1) as u64;
        if let (Some(first), Some(second)) = (same.next(), same.next())
            && self.first.is_none_or(|(_, earliest)| second < earliest)
        {
            self.first = Some((first, second));
        }
    }

    /// Both together.
    pub(super) fn and(self, other: Repeated) -> Repeated {
        let firsts = [self.first, other.first].into_iter().flatten();
        Repeated {
            documents: self.documents + other.documents,
            first: firsts.min_by_key(|(_, second)| *second),
        }
    }
}

/// Counts the ids that repeat an earlier one.
pub(super) fn repeated_in(ids: &Texts, first: u32) -> Result<Repeated> {
    let rows = row_number(ids.len())?;
    let hashed = (first..rows)
        .into_par_iter()
        .map(|row| (xxh3_64(ids.get(row as usize).as_bytes()), row));
    let hashed = in_parallel(|| {
        let mut hashed: Vec<(u64, u32)> = hashed.collect();
        hashed.par_sort_unstable();
        hashed
    });
    let mut repeated = Repeated::default();
    let equal_hashes = hashed.chunk_by(|a, b| a.0 == b.0);
    for run in equal_hashes.filter(|run| run.len() > 1) {
        let mut rows: Vec<u32> = run.iter().map(|(_, row)| *row).collect();
        rows.sort_by_key(|row| (ids.get(*row as usize), *row));
        for same in rows.chunk_by(|a, b| ids.get(*a as usize) == ids.get(*b as usize)) {
            repeated.add(same.iter().copied());
        }
    }
    Ok(repeated)
}

pub(super) fn is_integer(id: &str) -> bool {
    id.parse::<i64>().is_ok()
}
