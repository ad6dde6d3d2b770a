//! What comes back of documents: their signatures, or band keys alone, which are fewer bytes.

use std::ops::Range;

use super::Slot;
use super::buffers::Banded;
use super::documents::Documents;
use crate::error::Result;
use crate::pipeline::{Banding, Signatures, SignaturesMut, Signer, keys_of_rows};

/// What is made of each document: a row of numbers.
pub(super) trait Output: Sync {
    type Number: Slot;

    /// Numbers of a row.
    fn row_len(&self) -> usize;

    /// The row of a document without shingles.
    fn empty(&self) -> &[Self::Number];

    /// How the device makes band keys, if it is to.
    fn banded(&self) -> Option<&Banded>;

    /// Has the CPU make the rows of some documents.
    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl Documents,
        range: Range<usize>,
        rows: &mut [Self::Number],
    ) -> Result<()>;
}

/// Signatures.
pub(super) struct SignatureRows<S> {
    pub(super) empty: Vec<S>,
}

impl<S: Slot> Output for SignatureRows<S> {
    type Number = S;

    fn row_len(&self) -> usize {
        self.empty.len()
    }

    fn empty(&self) -> &[S] {
        &self.empty
    }

    fn banded(&self) -> Option<&Banded> {
        None
    }

    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl Documents,
        range: Range<usize>,
        rows: &mut [S],
    ) -> Result<()> {
        let signatures = SignaturesMut::new(self.empty.len(), S::borrow(rows))?;
        documents.sign_on(cpu, range, signatures)
    }
}

/// Band keys.
pub(super) struct KeyRows {
    pub(super) banding: Banding,
    pub(super) empty: Vec<u64>,
    pub(super) banded: Banded,
}

impl Output for KeyRows {
    type Number = u64;

    fn row_len(&self) -> usize {
        self.banding.bands()
    }

    fn empty(&self) -> &[u64] {
        &self.empty
    }

    fn banded(&self) -> Option<&Banded> {
        Some(&self.banded)
    }

    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl Documents,
        range: Range<usize>,
        rows: &mut [u64],
    ) -> Result<()> {
        let mut signatures = Signatures::new(cpu.num_perm(), cpu.slot_width());
        let new = signatures.push_rows(range.len());
        documents.sign_on(cpu, range, new)?;
        keys_of_rows(&signatures, self.banding, rows);
        Ok(())
    }
}
