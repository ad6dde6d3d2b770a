//! One thread's share of a call: it fills loads, sends them, and folds the rows that come back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::buffers::{Buffers, Sent, Work};
use super::device::{Attempt, Failure};
use super::documents::Documents;
use super::load::{Document, Load};
use super::output::Output;
use super::{Gpu, Slot};
use crate::error::Result;
use crate::pipeline::Scratch;
use crate::pipeline::lower;

/// Documents that the CPU takes at a time in a hybrid run, in bytes.
const CPU_RUN: usize = 1 << 18;

/// Loads that one thread has on their way.
const IN_FLIGHT: usize = 3;

pub(super) struct Worker<'a, D, O: Output> {
    gpu: &'a Gpu,
    documents: &'a D,
    output: &'a O,
    pipeline: &'a Attempt<Arc<wgpu::ComputePipeline>>,
    /// The number of the document of the first row.
    first: usize,
    rows: &'a mut [O::Number],
    /// The input of the load that is being filled.
    input: Vec<u8>,
    open: Option<Open>,
    sent: VecDeque<Sent>,
    /// Rows that the device did not sign, or not whole.
    failed: Vec<Range<usize>>,
    /// Documents of which no row can be made on the device at once.
    apart: Vec<usize>,
}

/// A load that is being filled.
struct Open {
    buffers: Buffers,
    load: Load,
}

impl<'a, D: Documents, O: Output> Worker<'a, D, O> {
    pub(super) fn new(
        gpu: &'a Gpu,
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
            apart: Vec::new(),
        }
    }

    /// Makes all rows but those of documents that are too long for a load, where a row needs the whole
    /// document: gives their numbers.
    pub(super) fn run(mut self) -> Result<Vec<usize>> {
        let count = self.rows.len() / self.output.row_len();
        let mut scratch = Scratch::default();
        let mut row = 0;
        while row < count {
            if self.has_open_load() {
                let documents = self.documents;
                documents.give(self.first + row, &mut scratch, &mut |document| {
                    self.take(row, document);
                });
                row += 1;
            } else {
                // While the CPU signs, this thread may begin another share, which waits for slots.
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
        Ok(self.apart)
    }

    /// Where the CPU stops that begins at a row.
    fn end_of_run(&self, row: usize, count: usize) -> usize {
        let mut bytes = 0;
        let mut end = row;
        while end < count && bytes < CPU_RUN {
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

    /// Puts a document into loads, or leaves it to the CPU.
    fn take(&mut self, row: usize, document: &Document<'_>) {
        let (shape, row_len) = (&self.gpu.shape, self.output.row_len());
        let numbers = &mut self.rows[row * row_len..(row + 1) * row_len];
        if document.count == 0 {
            numbers.copy_from_slice(self.output.empty());
            return;
        }
        let is_whole = self.output.banded().is_some();
        if is_whole && Load::default().room(shape, document) < document.count {
            self.apart.push(self.first + row);
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
            match open.load.take(shape, row, document, from, is_whole) {
                Some(taken) => {
                    let to = taken.at..taken.at + taken.bytes.len();
                    // Kept from load to load, and never longer than the longest.
                    let room = to.end.next_multiple_of(4);
                    self.input.resize(self.input.len().max(room), 0);
                    self.input[to].copy_from_slice(&document.bytes[taken.bytes]);
                    from += taken.shingles;
                }
                None => self.send(),
            }
        }
    }

    /// Sees to it that a load can be filled, unless the CPU has to go on instead.
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
            let make = || Buffers::new(&gpu.device, &gpu.shape, &gpu.coefficients);
            let taken = match self.sent.len() {
                IN_FLIGHT.. => Ok(None),
                _ => gpu.slots.try_take(gpu.shape.bounds.loads, make),
            };
            match taken {
                Ok(Some(buffers)) => {
                    let load = Load::default();
                    self.open = Some(Open { buffers, load });
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
            // In a hybrid run nobody waits as long as there is something to do.
            let is_late = |sent: &mut Sent| gpu.is_hybrid && !sent.is_done();
            match self.sent.front_mut().map(is_late) {
                Some(false) => self.receive(),
                None if !gpu.is_hybrid => gpu.slots.wait(),
                _ => return false,
            }
        }
    }

    /// Sends the load that is being filled.
    fn send(&mut self) {
        let Some(Open { buffers, load }) = self.open.take() else {
            return;
        };
        let gpu = self.gpu;
        if load.is_empty() {
            gpu.slots.give_back(buffers);
            return;
        }
        let rows = rows_of(&load.documents);
        let sent = match self.pipeline {
            Ok(pipeline) => {
                let work = Work {
                    pipeline,
                    blocks: gpu.blocks(),
                    banded: self.output.banded(),
                };
                let input = &self.input[..load.input_bytes.next_multiple_of(4)];
                buffers.send(&gpu.device, &gpu.shape, input, load, &work)
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
                // Of a signature's slots the last ones may be padding.
                lower(row, bytemuck::cast_slice(part));
            }
        });
        match received {
            Ok(buffers) => gpu.slots.give_back(buffers),
            Err(failure) => self.fail(rows, &failure),
        }
    }

    /// Leaves rows to the CPU, since the buffers that they were in are gone.
    fn fail(&mut self, rows: Range<usize>, failure: &Failure) {
        self.gpu.note(failure);
        self.gpu.slots.drop_one();
        self.failed.push(rows);
    }
}

/// The rows that a load has parts of, which ascend.
fn rows_of(documents: &[usize]) -> Range<usize> {
    let ends = documents.first().zip(documents.last());
    ends.map_or(0..0, |(first, last)| *first..last + 1)
}
