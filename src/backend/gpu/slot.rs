//! The buffers that a load travels through.
//!
//! Several slots are in flight at a time, so that threads fill one while the device works on others. Each thread writes
//! into memory of its own that the device copies from ([`Written`]).

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::device::{Attempt, Device, Failure};
use super::load::{Load, LoadShape, PartLayout};

/// The buffers of one load.
pub(super) struct Slot {
    /// Input, parts, items and documents.
    input: wgpu::Buffer,
    /// Rows that the shader writes.
    rows: wgpu::Buffer,
    /// A copy of rows or keys for the host to read.
    readback: wgpu::Buffer,
    group: wgpu::BindGroup,
    offsets: Offsets,
    keys: Option<KeyBuffers>,
    pub(super) shape: LoadShape,
}

/// Where the band keys of a load are written.
struct KeyBuffers {
    /// The shader of the banding they are for.
    pipeline: Arc<wgpu::ComputePipeline>,
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// The pass that makes band keys of rows.
#[derive(Clone)]
pub(super) struct KeyPass {
    pub(super) pipeline: Arc<wgpu::ComputePipeline>,
    pub(super) bands: usize,
}

/// Byte offset of each region in the buffer that the host writes. The input begins at 0.
#[derive(Clone, Copy)]
struct Offsets {
    parts: usize,
    items: usize,
    documents: usize,
    end: usize,
}

/// Alignment of a binding that suits every adapter.
const ALIGNMENT: usize = 256;

/// Alignment of what threads write at a time.
pub(super) const WRITE_ALIGNMENT: usize = 8;

/// Bytes after the input that a shader may read but never uses: four windows of 64 bytes behind the last shingle.
const SLACK: usize = 80;

impl Offsets {
    fn of(shape: &LoadShape) -> Self {
        let parts = (shape.bounds.input_bytes + SLACK).next_multiple_of(ALIGNMENT);
        let items = (parts + shape.parts() * size_of::<PartLayout>()).next_multiple_of(ALIGNMENT);
        let documents = (items + shape.items() * 4).next_multiple_of(ALIGNMENT);
        Offsets {
            parts,
            items,
            documents,
            end: (documents + (shape.parts() + 1) * 4).next_multiple_of(ALIGNMENT),
        }
    }
}

/// Resources in the order of their bindings.
fn entries<const N: usize>(
    resources: [wgpu::BindingResource<'_>; N],
) -> Vec<wgpu::BindGroupEntry<'_>> {
    let numbered = (0..).zip(resources);
    let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
    numbered.map(entry).collect()
}

/// What is dispatched for a load.
#[derive(Clone)]
pub(super) struct Dispatch {
    pub(super) pipeline: Arc<wgpu::ComputePipeline>,
    /// Makes band keys instead of rows.
    pub(super) key_pass: Option<KeyPass>,
}

impl Dispatch {
    /// Whether loads of both may be one.
    pub(super) fn is_same(&self, other: &Dispatch) -> bool {
        let same_keys = match (&self.key_pass, &other.key_pass) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.pipeline, &other.pipeline),
            (None, None) => true,
            _ => false,
        };
        same_keys && Arc::ptr_eq(&self.pipeline, &other.pipeline)
    }

    /// Number of rows of a load that come back: one per document if these are band keys.
    pub(super) fn rows(&self, load: &Load) -> usize {
        match self.key_pass {
            Some(_) => load.documents(),
            None => load.parts.len(),
        }
    }

    /// Bytes of each row that comes back.
    pub(super) fn row_bytes(&self, shape: &LoadShape) -> usize {
        let key_pass = self.key_pass.as_ref();
        key_pass.map_or(shape.row_bytes(), |pass| pass.bands * size_of::<u64>())
    }
}

/// Whether a buffer was mapped.
struct Mapping {
    receiver: Receiver<Result<(), wgpu::BufferAsyncError>>,
    result: Option<bool>,
}

impl Mapping {
    /// Maps a buffer for reading once the commands of the encoder were executed.
    fn after(encoder: &wgpu::CommandEncoder, buffer: &wgpu::Buffer, bytes: u64) -> Self {
        let (sender, receiver) = channel();
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, 0..bytes, move |result| {
            // A receiver that is gone has given the load up.
            let _ = sender.send(result);
        });
        Mapping {
            receiver,
            result: None,
        }
    }

    /// Whether it was; `None` while that is open.
    fn poll(&mut self) -> Option<bool> {
        if self.result.is_none() {
            self.result = match self.receiver.try_recv() {
                Ok(result) => Some(result.is_ok()),
                Err(TryRecvError::Empty) => None,
                // The callback was dropped and will never run.
                Err(TryRecvError::Disconnected) => Some(false),
            };
        }
        self.result
    }
}

/// A load in flight.
pub(super) struct SentSlot {
    slot: Slot,
    rows: Mapping,
    /// Bytes of all rows that come back.
    bytes: usize,
}

impl Slot {
    pub(super) fn new(
        device: &Device,
        shape: LoadShape,
        coefficients: &wgpu::Buffer,
    ) -> Attempt<Self> {
        let offsets = Offsets::of(&shape);
        device.attempt(|| {
            let buffer = |label, bytes: usize, usage| {
                device.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: bytes as u64,
                    usage,
                    mapped_at_creation: false,
                })
            };
            use wgpu::BufferUsages as Usage;
            let rows_bytes = shape.parts() * shape.row_bytes();
            let input = buffer("input", offsets.end, Usage::STORAGE | Usage::COPY_DST);
            let rows = buffer("rows", rows_bytes, Usage::STORAGE | Usage::COPY_SRC);
            let readback = buffer("readback", rows_bytes, Usage::MAP_READ | Usage::COPY_DST);
            let binding = |range: Range<usize>| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &input,
                    offset: range.start as u64,
                    size: wgpu::BufferSize::new(range.len() as u64),
                })
            };
            let resources = [
                binding(offsets.items..offsets.documents),
                binding(offsets.parts..offsets.items),
                coefficients.as_entire_binding(),
                rows.as_entire_binding(),
                binding(0..offsets.parts),
            ];
            let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sign"),
                layout: &device.layout,
                entries: &entries(resources),
            });
            Ok(Slot {
                input,
                rows,
                readback,
                group,
                offsets,
                keys: None,
                shape,
            })
        })
    }

    /// Where threads write the input.
    pub(super) fn input(&self) -> Input {
        Input(self.input.clone())
    }

    /// Runs a shader on the contents of the buffers, with workgroups in two dimensions.
    pub(super) fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        [columns, rows]: [u32; 2],
        pipeline: &wgpu::ComputePipeline,
    ) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, self.shape.workgroup.blocks);
    }

    /// Copies the rows on the device to the host and passes them to `read`.
    #[cfg(feature = "internals")]
    pub(super) fn read_rows(
        &self,
        device: &Device,
        row_bytes: usize,
        timeout: std::time::Duration,
        read: impl FnOnce(&[u8]),
    ) -> Attempt<()> {
        let mut rows = device.attempt(|| {
            let mut encoder = device.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&self.rows, 0, &self.readback, 0, row_bytes as u64);
            let rows = Mapping::after(&encoder, &self.readback, row_bytes as u64);
            device.submit(encoder.finish());
            Ok(rows)
        })?;
        device.wait(timeout, || rows.poll().is_some())?;
        if rows.poll() == Some(false) {
            return Err(device.failure_or_loss());
        }
        self.read_mapped(device, row_bytes as u64, read)
    }

    /// Passes the first `bytes` of the mapped buffer to `read`, and unmaps it.
    fn read_mapped(&self, device: &Device, bytes: u64, read: impl FnOnce(&[u8])) -> Attempt<()> {
        device.while_mapped(|| {
            let view = self.readback.get_mapped_range(0..bytes);
            let view = view.map_err(|error| Failure::Refused(error.to_string()))?;
            read(&view);
            Ok(())
        })?;
        self.readback.unmap();
        Ok(())
    }

    /// Makes the buffers for band keys, unless they are there.
    fn prepare_keys(&mut self, device: &Device, pass: &KeyPass) -> Attempt<()> {
        let is_ready = |keys: &KeyBuffers| Arc::ptr_eq(&keys.pipeline, &pass.pipeline);
        if self.keys.as_ref().is_some_and(is_ready) {
            return Ok(());
        }
        let keys = device.attempt(|| {
            let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("keys"),
                size: (self.shape.parts() * pass.bands * size_of::<u64>()) as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let documents = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.input,
                offset: self.offsets.documents as u64,
                size: None,
            });
            let resources = [
                documents,
                self.rows.as_entire_binding(),
                buffer.as_entire_binding(),
            ];
            let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("keys"),
                layout: &pass.pipeline.get_bind_group_layout(0),
                entries: &entries(resources),
            });
            Ok(KeyBuffers {
                pipeline: pass.pipeline.clone(),
                buffer,
                group,
            })
        })?;
        self.keys = Some(keys);
        Ok(())
    }

    /// Sends a load with its input to the device.
    pub(super) fn send(
        mut self,
        device: &Device,
        load: &Load,
        input: Vec<Written>,
        dispatch: &Dispatch,
    ) -> Attempt<SentSlot> {
        let (offsets, shape) = (self.offsets, self.shape);
        let (items, groups) = load.items(&shape);
        let mut starts = Vec::new();
        if let Some(pass) = &dispatch.key_pass {
            starts = load.document_starts(&shape, pass.bands);
            self.prepare_keys(device, pass)?;
        }
        let tables: [(usize, &[u8]); 3] = [
            (offsets.parts, bytemuck::cast_slice(&load.parts)),
            (offsets.items, bytemuck::cast_slice(&items)),
            (offsets.documents, bytemuck::cast_slice(&starts)),
        ];
        let bytes = dispatch.rows(load) * dispatch.row_bytes(&shape);
        let rows = device.attempt(|| {
            // Queues the copies, which the submission begins with.
            drop(input);
            for (at, table) in tables {
                device.queue.write_buffer(&self.input, at as u64, table);
            }
            let mut encoder = device.device.create_command_encoder(&Default::default());
            self.dispatch(&mut encoder, groups, &dispatch.pipeline);
            let made = match (&self.keys, &dispatch.key_pass) {
                (Some(keys), Some(pass)) => {
                    let groups = shape.groups_for(load.documents() * pass.bands);
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&keys.pipeline);
                    pass.set_bind_group(0, &keys.group, &[]);
                    pass.dispatch_workgroups(groups[0], groups[1], 1);
                    &keys.buffer
                }
                _ => &self.rows,
            };
            encoder.copy_buffer_to_buffer(made, 0, &self.readback, 0, bytes as u64);
            let rows = Mapping::after(&encoder, &self.readback, bytes as u64);
            device.submit(encoder.finish());
            Ok(rows)
        })?;
        Ok(SentSlot {
            slot: self,
            rows,
            bytes,
        })
    }
}

impl SentSlot {
    /// Whether the device is done with the load.
    pub(super) fn is_done(&mut self) -> bool {
        self.rows.poll().is_some()
    }

    /// Copies the rows of a finished load into `rows`, and returns the slot for the next one.
    pub(super) fn receive(mut self, device: &Device, rows: &mut Vec<u64>) -> Attempt<Slot> {
        if self.rows.poll() != Some(true) {
            return Err(device.failure_or_loss());
        }
        rows.resize(self.bytes.div_ceil(size_of::<u64>()), 0);
        let copy = &mut bytemuck::cast_slice_mut(rows)[..self.bytes];
        let bytes = self.bytes as u64;
        self.slot
            .read_mapped(device, bytes, |view| copy.copy_from_slice(view))?;
        Ok(self.slot)
    }
}

/// Where the input of a load is written.
pub(super) struct Input(wgpu::Buffer);

/// Input that was written, in memory that the device copies from. wgpu keeps this memory even if the device is lost, so
/// that no lock is needed to write it.
pub(crate) struct Written(
    #[allow(dead_code, reason = "dropping it queues the copy")] wgpu::QueueWriteBufferView,
);

impl Input {
    /// Writes strings of bytes, one after the other, from a multiple of [`WRITE_ALIGNMENT`] on, and up to three zeros
    /// behind them.
    pub(super) fn write<'b>(
        &self,
        device: &Device,
        at: usize,
        strings: impl IntoIterator<Item = &'b [u8], IntoIter: Clone>,
    ) -> Attempt<Written> {
        let strings = strings.into_iter();
        let len: usize = strings.clone().map(<[u8]>::len).sum();
        let padded = len.next_multiple_of(4);
        let size = wgpu::BufferSize::new(padded as u64);
        let size = size.ok_or_else(|| Failure::Refused("nothing to write".to_owned()))?;
        let view = device.attempt(|| {
            let view = device.queue.write_buffer_with(&self.0, at as u64, size);
            view.ok_or_else(|| device.failure_or_loss())
        });
        let mut view = view?;
        let mut end = 0;
        for bytes in strings {
            view.slice(end..end + bytes.len()).copy_from_slice(bytes);
            end += bytes.len();
        }
        view.slice(len..padded)
            .copy_from_slice(&[0; 4][..padded - len]);
        Ok(Written(view))
    }
}
