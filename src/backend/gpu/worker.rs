//! One thread's share of a call: it fills loads, sends them, and folds the rows that come back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::buffers::{Buffers, Dispatch, Sent};
use super::device::{Attempt, Failure};
use super::documents::DeviceWork;
use super::load::{Document, Load};
use super::output::RowOutput;
use super::prepared::PreparedDevice;
use crate::error::Result;
use crate::pipeline::{Scratch, lower};
use crate::scheme::Word;

/// Bytes of documents that the CPU signs at a time in a hybrid run.
const CPU_RUN_BYTES: usize = 1 << 18;

/// Most loads of one thread in flight.
const LOADS_IN_FLIGHT: usize = 3;

pub(super) struct Worker<'a, D, O: RowOutput> {
    gpu: &'a PreparedDevice,
    documents: &'a D,
    output: &'a O,
    pipeline: &'a Attempt<Arc<wgpu::ComputePipeline>>,
    /// The number of the document of the first row.
    first: usize,
    rows: &'a mut [O::Number],
    /// The input of the load that is being filled.
    input: Vec<u8>,
    open: Option<OpenLoad>,
    sent: VecDeque<Sent>,
    /// Rows that the device does not sign, did not sign, or signed in part.
    failed: Vec<Range<usize>>,
    /// DeviceWork too long for one load, where a row needs the whole document.
    oversized: Vec<usize>,
}

/// A load that is being filled.
struct OpenLoad {
    buffers: Buffers,
    load: Load,
}

impl<'a, D: DeviceWork, O: RowOutput> Worker<'a, D, O> {
    pub(super) fn new(
        gpu: &'a PreparedDevice,
        documents: &'a D,
        output: &'a O,
        pipeline: &'a Attempt<Arc<wgpu::ComputePipeline>>,
        (first, rows): (usize, &'a mut [O::Number]),
    ) -> Self {
        Worker {
            gpu,
            documents,
            output,
            pipeline,
            first,
            rows,
            input: Vec::new(),
            open: None,
            sent: VecDeque::new(),
            failed: Vec::new(),
            oversized: Vec::new(),
        }
    }

    /// Makes the rows, and returns the numbers of the documents it skipped: those too long for a load, where
    /// a row needs the whole document.
    pub(super) fn run(mut self) -> Result<Vec<usize>> {
        let count = self.rows.len() / self.output.row_len();
        let mut scratch = Scratch::default();
        let mut row = 0;
        while row < count {
            if self.has_open_load() {
                let documents = self.documents;
                documents.lay_out(
                    self.first + row,
                    &mut scratch,
                    &mut |document| match document {
                        Some(document) => self.fill(row, document),
                        None => self.failed.push(row..row + 1),
                    },
                );
                row += 1;
            } else {
                // While the CPU signs, this thread may begin another share, which waits for buffers.
                while !self.gpu.is_hybrid && !self.sent.is_empty() {
                    self.receive();
                }
                let end = self.end_of_run(row, count);
                self.sign_on_cpu(row..end)?;
                row = end;
            }
        }
        self.send();
        while !self.sent.is_empty() {
            self.receive();
        }
        for rows in std::mem::take(&mut self.failed) {
            self.sign_on_cpu(rows)?;
        }
        Ok(self.oversized)
    }

    /// The end of the rows that the CPU signs in one run from `row` on.
    fn end_of_run(&self, row: usize, count: usize) -> usize {
        let mut bytes = 0;
        let mut end = row;
        while end < count && bytes < CPU_RUN_BYTES {
            bytes += self.documents.bytes(self.first + end);
            end += 1;
        }
        end
    }

    fn sign_on_cpu(&mut self, rows: Range<usize>) -> Result<()> {
        let row_len = self.output.row_len();
        let documents = self.first + rows.start..self.first + rows.end;
        let rows = &mut self.rows[rows.start * row_len..rows.end * row_len];
        let cpu = &*self.gpu.cpu;
        self.output.make_on(cpu, self.documents, documents, rows)
    }

    /// Adds a document to loads, or leaves it to the CPU.
    fn fill(&mut self, row: usize, document: &Document<'_>) {
        let (shape, row_len) = (&self.gpu.shape, self.output.row_len());
        let numbers = &mut self.rows[row * row_len..(row + 1) * row_len];
        if document.count == 0 {
            numbers.copy_from_slice(self.output.empty());
            return;
        }
        let is_whole = self.output.key_pass().is_some();
        if is_whole && Load::default().room(shape, document) < document.count {
            self.oversized.push(self.first + row);
            return;
        }
        numbers.fill(O::Number::GREATEST);
        let mut from = 0;
        while from < document.count {
            if !self.has_open_load() {
                self.failed.push(row..row + 1);
                return;
            }
            let Some(open) = &mut self.open else { continue };
            match open.load.add(shape, row, document, from, is_whole) {
                Some(added) => {
                    let to = added.at..added.at + added.bytes.len();
                    // Reused by every load, and as long as the longest.
                    let room = to.end.next_multiple_of(4);
                    self.input.resize(self.input.len().max(room), 0);
                    self.input[to].copy_from_slice(&document.bytes[added.bytes]);
                    from += added.shingles;
                }
                None => self.send(),
            }
        }
    }

    /// Opens a load if none is open. Returns whether one is open; if not, the CPU must go on instead.
    fn has_open_load(&mut self) -> bool {
        if self.open.is_some() {
            return true;
        }
        let gpu = self.gpu;
        if let Err(failure) = self.pipeline {
            gpu.note(failure);
            return false;
        }
        loop {
            if let Some(failure) = gpu.device.failure() {
                gpu.note(&failure);
                return false;
            }
            let taken = match self.sent.len() {
                LOADS_IN_FLIGHT.. => Ok(None),
                _ => gpu.pool.try_take(gpu.shape.bounds.loads, || gpu.buffers()),
            };
            match taken {
                Ok(Some(buffers)) => {
                    let load = Load::default();
                    self.open = Some(OpenLoad { buffers, load });
                    return true;
                }
                Ok(None) => {}
                Err(failure) => {
                    gpu.note(&failure);
                    return false;
                }
            }
            if gpu.is_hybrid {
                gpu.device.poll();
            }
            // In a hybrid run the CPU signs instead of waiting.
            let is_late = |sent: &mut Sent| gpu.is_hybrid && !sent.is_done();
            match self.sent.front_mut().map(is_late) {
                Some(false) => self.receive(),
                None if !gpu.is_hybrid => gpu.pool.wait(),
                _ => return false,
            }
        }
    }

    /// Sends the open load.
    fn send(&mut self) {
        let Some(OpenLoad { buffers, load }) = self.open.take() else {
            return;
        };
        let gpu = self.gpu;
        if load.is_empty() {
            gpu.pool.give_back(buffers);
            return;
        }
        let rows = rows_of(&load.documents);
        let sent = match self.pipeline {
            Ok(pipeline) => {
                let dispatch = Dispatch {
                    pipeline,
                    blocks: gpu.blocks(),
                    key_pass: self.output.key_pass(),
                };
                let input = &self.input[..load.input_bytes.next_multiple_of(4)];
                buffers.send(&gpu.device, &gpu.shape, input, load, &dispatch)
            }
            Err(failure) => Err(failure.clone()),
        };
        match sent {
            Ok(sent) => {
                self.sent.push_back(sent);
                gpu.count_load();
            }
            Err(failure) => self.fail(rows, &failure),
        }
    }

    /// Waits for the load that was sent first, and folds its rows.
    fn receive(&mut self) {
        let Some(sent) = self.sent.pop_front() else {
            return;
        };
        let (gpu, rows) = (self.gpu, rows_of(&sent.documents));
        let row_len = self.output.row_len();
        let timeout = gpu.shape.bounds.timeout;
        let received = sent.receive(&gpu.device, timeout, |documents, row_bytes, bytes| {
            for (row, part) in documents.iter().zip(bytes.chunks_exact(row_bytes)) {
                let row = &mut self.rows[row * row_len..(row + 1) * row_len];
                // The last slots of a part's row may be padding, which `lower` ignores.
                lower(row, bytemuck::cast_slice(part));
            }
        });
        match received {
            Ok(buffers) => gpu.pool.give_back(buffers),
            Err(failure) => self.fail(rows, &failure),
        }
    }

    /// Leaves rows to the CPU. Their buffers are gone.
    fn fail(&mut self, rows: Range<usize>, failure: &Failure) {
        self.gpu.note(failure);
        self.gpu.pool.drop_one();
        self.failed.push(rows);
    }
}

/// The rows that a load has parts of. `documents` ascends.
fn rows_of(documents: &[usize]) -> Range<usize> {
    let ends = documents.first().zip(documents.last());
    ends.map_or(0..0, |(first, last)| *first..last + 1)
}
