//! What comes back from a device: signatures, or only band keys, which are fewer bytes.
//!
//! **Longer documents have several rows, and the host takes their minimum.** `atomicMax` on the complement could merge
//! pieces on the device, but slots of 64 bits have no atomics without an optional device feature, and the rows would
//! have to be cleared first. For band keys, the device itself takes the minimum over the pieces.

use std::ops::Range;

use super::documents::DeviceWork;
use crate::error::Result;
use crate::pipeline::{Banding, Signatures, SignaturesMut, SignedRows, Signer, keys_of_rows};
use crate::scheme::{SlotVec, Word};

/// What a row of numbers says of its document.
pub(super) trait RowKind: Sync {
    type Number: Word;

    /// The row of a document without shingles.
    fn empty(&self) -> &[Self::Number];

    /// Numbers of a row.
    fn row_len(&self) -> usize {
        self.empty().len()
    }

    /// The rows of all documents in the form in which a run takes them.
    fn signed(&self, rows: Vec<Self::Number>) -> Result<SignedRows>;

    /// Makes the rows of a range of documents on the CPU.
    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl DeviceWork,
        range: Range<usize>,
        rows: &mut [Self::Number],
    ) -> Result<()>;
}

/// Signatures.
pub(super) struct SignatureRows<S> {
    pub(super) empty: Vec<S>,
}

impl<S: Word> RowKind for SignatureRows<S>
where
    SlotVec: From<Vec<S>>,
{
    type Number = S;

    fn empty(&self) -> &[S] {
        &self.empty
    }

    fn signed(&self, rows: Vec<S>) -> Result<SignedRows> {
        Signatures::from_slots(self.empty.len(), rows).map(SignedRows::Signatures)
    }

    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl DeviceWork,
        range: Range<usize>,
        rows: &mut [S],
    ) -> Result<()> {
        let signatures = SignaturesMut::new(self.empty.len(), S::view_mut(rows))?;
        documents.sign_on(cpu, range, signatures)
    }
}

/// Band keys.
pub(super) struct KeyRows {
    pub(super) banding: Banding,
    pub(super) empty: Vec<u64>,
}

impl RowKind for KeyRows {
    type Number = u64;

    fn empty(&self) -> &[u64] {
        &self.empty
    }

    fn signed(&self, keys: Vec<u64>) -> Result<SignedRows> {
        let banding = self.banding;
        Ok(SignedRows::Keys { banding, keys })
    }

    fn make_on(
        &self,
        cpu: &dyn Signer,
        documents: &impl DeviceWork,
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
