//! Signs a collection in batches: several threads send documents and fold the rows that come back.

use std::collections::VecDeque;
use std::ops::Range;

use super::channel::Sent;
use super::device::Attempt;
use super::documents::DeviceWork;
use super::preparation::PreparedDevice;
use super::rows::RowKind;
use super::slot::Dispatch;
use crate::error::Result;
use crate::pipeline::NormalisedTexts;
use crate::scheme::Word;
use crate::scheme::lower;
use crate::threads::map_each_mut;

/// The bytes of documents that are sent together, at least.
const BATCH_BYTES: usize = 1 << 20;

/// Batches of a thread whose rows are not folded yet, at most. Loads of other threads may lie between them.
const BATCHES: usize = 64;

/// Makes the rows of all documents, on the threads of the current rayon pool.
pub(super) fn make<D: DeviceWork, K: RowKind>(
    gpu: &PreparedDevice,
    documents: &D,
    kind: &K,
    rows: &mut [K::Number],
    dispatch: &Attempt<Dispatch>,
) -> Result<()> {
    let mut shares = share_out(documents, rows, kind.row_len());
    let made = map_each_mut(&mut shares, |_, (first, rows)| {
        let share = Share {
            gpu,
            documents,
            kind,
            first: *first,
            rows,
        };
        share.make(dispatch)
    });
    made.into_iter().collect()
}

/// Cuts the documents into shares of about the same size, one per thread: the number of the first document, and the
/// rows of `row_len`.
fn share_out<'a, D: DeviceWork, S>(
    documents: &D,
    mut rows: &'a mut [S],
    row_len: usize,
) -> Vec<(usize, &'a mut [S])> {
    let count = documents.len();
    let all: usize = (0..count).map(|i| documents.bytes(i)).sum();
    let shares = (all / BATCH_BYTES).clamp(1, rayon::current_num_threads());
    let mut shared = Vec::with_capacity(shares);
    let (mut first, mut next, mut bytes) = (0, 0, 0);
    for share in 1..=shares {
        let end = all / shares * share;
        while next < count && (share == shares || bytes < end) {
            bytes += documents.bytes(next);
            next += 1;
        }
        let (taken, rest) = rows.split_at_mut((next - first) * row_len);
        rows = rest;
        if next > first {
            shared.push((first, taken));
        }
        first = next;
    }
    shared
}

/// One thread's share of the documents.
struct Share<'a, D, K: RowKind> {
    gpu: &'a PreparedDevice,
    documents: &'a D,
    kind: &'a K,
    /// The number of the document of the first row.
    first: usize,
    rows: &'a mut [K::Number],
}

impl<D: DeviceWork, K: RowKind> Share<'_, D, K> {
    fn make(mut self, dispatch: &Attempt<Dispatch>) -> Result<()> {
        let count = self.rows.len() / self.kind.row_len();
        let mut texts = NormalisedTexts::default();
        let mut sent: VecDeque<(usize, Sent)> = VecDeque::new();
        let mut row = 0;
        while row < count {
            let end = self.end_of_batch(row, count);
            let documents = self.first + row..self.first + end;
            let documents = self.documents.lay_out(documents, &mut texts);
            let row_len = self.kind.row_len();
            let rows = self.rows[row * row_len..].chunks_exact_mut(row_len);
            for (document, row) in documents.iter().zip(rows) {
                if document.is_some_and(|document| document.count == 0) {
                    row.copy_from_slice(self.kind.empty());
                }
            }
            let mut batch = self.gpu.send(&documents, dispatch);
            let left = std::mem::take(&mut batch.left);
            self.sign_on_cpu(row, &left)?;
            sent.push_back((row, batch));
            while let Some((row, first)) = sent.pop_front() {
                if !first.is_ready() && sent.len() < BATCHES {
                    sent.push_front((row, first));
                    break;
                }
                self.receive(row, first)?;
            }
            row = end;
        }
        sent.into_iter()
            .try_for_each(|(row, sent)| self.receive(row, sent))
    }

    /// The end of the rows that are sent in one batch from `row` on.
    fn end_of_batch(&self, row: usize, count: usize) -> usize {
        let mut bytes = 0;
        let mut end = row;
        while end < count && bytes < BATCH_BYTES {
            bytes += self.documents.bytes(self.first + end);
            end += 1;
        }
        end
    }

    /// Folds the rows of a batch whose first document has row `first`.
    fn receive(&mut self, first: usize, mut sent: Sent) -> Result<()> {
        let row_len = self.kind.row_len();
        let rows = &mut self.rows[first * row_len..];
        let gpu = self.gpu;
        fold(gpu, &mut sent, rows, row_len);
        self.sign_on_cpu(first, &sent.left)
    }

    /// Signs documents, counted from `first` on and in order, on the CPU.
    fn sign_on_cpu(&mut self, first: usize, documents: &[usize]) -> Result<()> {
        let row_len = self.kind.row_len();
        runs(documents).try_for_each(|run| {
            let rows = first + run.start..first + run.end;
            let documents = self.first + rows.start..self.first + rows.end;
            let rows = &mut self.rows[rows.start * row_len..rows.end * row_len];
            self.kind
                .make_on(&*self.gpu.cpu, self.documents, documents, rows)
        })
    }
}

/// Makes the row of each document whose parts came back: the least of them.
pub(super) fn fold<S: Word>(gpu: &PreparedDevice, sent: &mut Sent, rows: &mut [S], row_len: usize) {
    let mut last = None;
    sent.collect(|document, part| {
        let row = &mut rows[document * row_len..(document + 1) * row_len];
        if last.replace(document) != Some(document) {
            row.fill(S::GREATEST);
        }
        // The last slots of a part's row may be padding, which `lower` ignores.
        lower(row, bytemuck::cast_slice(part));
    });
    if let Some(failure) = &sent.failure {
        gpu.note(failure);
    }
}

/// Runs of consecutive numbers among ascending ones.
pub(super) fn runs(numbers: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    runs.map(|run| run[0]..run[0] + run.len())
}
