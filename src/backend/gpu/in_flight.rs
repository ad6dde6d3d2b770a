//! Signs the documents of one piece of a run while others are under way.
//!
//! Normalised texts stay in memory until their rows are back: after a loss, the CPU signs them. So a byte is written
//! twice, once into the cache, where its digest is taken and repeated documents are left out, and once into staging
//! memory.

use super::batches::{fold, runs};
use super::channel::Sent;
use super::device::Attempt;
use super::documents::DeviceWork;
use super::preparation::PreparedDevice;
use super::rows::RowKind;
use super::slot::Dispatch;
use crate::error::Result;
use crate::pipeline::{DeviceBatch, NormalisedTexts, SignedRows, UnfinishedRows};

/// Documents that were sent.
pub(crate) struct Unfinished<'a, D, K: RowKind> {
    gpu: &'a PreparedDevice,
    documents: D,
    kind: K,
    rows: Vec<K::Number>,
    sent: Sent,
}

impl<'a, D: DeviceWork, K: RowKind> Unfinished<'a, D, K> {
    pub(super) fn send(
        gpu: &'a PreparedDevice,
        documents: D,
        kind: K,
        dispatch: &Attempt<Dispatch>,
    ) -> Result<Self> {
        let rows = kind.empty().repeat(documents.len());
        let mut unused = NormalisedTexts::default();
        let mut sent = gpu.send(
            &documents.lay_out(0..documents.len(), &mut unused),
            dispatch,
        );
        let left = std::mem::take(&mut sent.left);
        let mut unfinished = Unfinished {
            gpu,
            documents,
            kind,
            rows,
            sent,
        };
        unfinished.sign_on_cpu(&left)?;
        Ok(unfinished)
    }

    /// Signs documents, in ascending order, on the CPU.
    fn sign_on_cpu(&mut self, documents: &[usize]) -> Result<()> {
        let row_len = self.kind.row_len();
        runs(documents).try_for_each(|run| {
            let rows = &mut self.rows[run.start * row_len..run.end * row_len];
            self.kind
                .make_on(&*self.gpu.cpu, &self.documents, run, rows)
        })
    }
}

impl<D, K> UnfinishedRows for Unfinished<'_, D, K>
where
    D: DeviceWork + Into<DeviceBatch> + Send,
    K: RowKind + Send,
{
    fn is_ready(&self) -> bool {
        self.sent.is_ready()
    }

    fn finish(mut self: Box<Self>) -> Result<(SignedRows, DeviceBatch)> {
        let row_len = self.kind.row_len();
        fold(self.gpu, &mut self.sent, &mut self.rows, row_len);
        let left = std::mem::take(&mut self.sent.left);
        self.sign_on_cpu(&left)?;
        let rows = self.kind.signed(self.rows)?;
        Ok((rows, self.documents.into()))
    }
}
