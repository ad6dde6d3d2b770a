//! The buffers that a load travels through.
//!
//! Several sets of buffers are in flight at a time, filled by different threads or by one in turn, so that
//! the host fills one while the device works on another.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::device::{Attempt, Device, Failure};
use super::load::{Load, LoadShape, Part};

/// The buffers of one load.
pub(super) struct Buffers {
    /// Input, parts, items and documents.
    input: wgpu::Buffer,
    /// Rows that the shader writes.
    rows: wgpu::Buffer,
    /// A copy of rows or keys for the host to read.
    readback: wgpu::Buffer,
    group: wgpu::BindGroup,
    offsets: Offsets,
    keys: Option<KeyBuffers>,
}

/// Where the band keys of a load are written.
struct KeyBuffers {
    /// The shader of the banding they are for.
    pipeline: Arc<wgpu::ComputePipeline>,
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// The pass that makes band keys of rows.
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

/// Bytes after the input that a shader may read but never uses: four windows of 64 bytes behind the last shingle.
const SLACK: usize = 80;

impl Offsets {
    fn of(shape: &LoadShape) -> Self {
        let parts = (shape.bounds.input_bytes + SLACK).next_multiple_of(ALIGNMENT);
        let items = (parts + shape.parts() * size_of::<Part>()).next_multiple_of(ALIGNMENT);
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
pub(super) struct Dispatch<'a> {
    pub(super) pipeline: &'a wgpu::ComputePipeline,
    /// Blocks of permutations.
    pub(super) blocks: u32,
    /// Makes band keys instead of rows.
    pub(super) key_pass: Option<&'a KeyPass>,
}

/// Result of mapping a buffer for the host.
type MapResult = Result<(), wgpu::BufferAsyncError>;

/// Result of the map callback; `None` while pending.
fn map_result(receiver: &Receiver<MapResult>) -> Option<MapResult> {
    match receiver.try_recv() {
        Ok(result) => Some(result),
        Err(TryRecvError::Empty) => None,
        // The callback was dropped and will never run.
        Err(TryRecvError::Disconnected) => Some(Err(wgpu::BufferAsyncError)),
    }
}

/// A load in flight.
pub(super) struct Sent {
    buffers: Buffers,
    receiver: Receiver<MapResult>,
    map_result: Option<MapResult>,
    /// Bytes of each row that comes back.
    row_bytes: usize,
    /// The document of each row.
    pub(super) documents: Vec<usize>,
}

impl Buffers {
    pub(super) fn new(
        device: &Device,
        shape: &LoadShape,
        coefficients: &wgpu::Buffer,
    ) -> Attempt<Self> {
        let offsets = Offsets::of(shape);
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
            let of_input = |range: Range<usize>| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &input,
                    offset: range.start as u64,
                    size: wgpu::BufferSize::new(range.len() as u64),
                })
            };
            let resources = [
                of_input(offsets.items..offsets.documents),
                of_input(offsets.parts..offsets.items),
                coefficients.as_entire_binding(),
                rows.as_entire_binding(),
                of_input(0..offsets.parts),
            ];
            let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sign"),
                layout: &device.layout,
                entries: &entries(resources),
            });
            Ok(Buffers {
                input,
                rows,
                readback,
                group,
                offsets,
                keys: None,
            })
        })
    }

    /// Runs a shader on the contents of the buffers, with workgroups in two dimensions.
    pub(super) fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        [columns, rows]: [u32; 2],
        dispatch: &Dispatch<'_>,
    ) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(dispatch.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, dispatch.blocks);
    }

    /// Queues the input, which the next submission writes.
    #[cfg(feature = "internals")]
    pub(super) fn write_input(&self, device: &Device, input: &[u8]) {
        device.queue.write_buffer(&self.input, 0, input);
    }

    /// Copies the rows on the device to the host and passes them to `read`.
    #[cfg(feature = "internals")]
    pub(super) fn read_rows(
        &self,
        device: &Device,
        row_bytes: usize,
        timeout: Duration,
        read: impl FnOnce(&[u8]),
    ) -> Attempt<()> {
        let receiver = device.attempt(|| {
            let encoder = device.device.create_command_encoder(&Default::default());
            Ok(self.copy_back(device, encoder, &self.rows, row_bytes))
        })?;
        let mut result = None;
        device.wait(timeout, || {
            result = map_result(&receiver);
            result.is_some()
        })?;
        if let Some(Err(_)) = result {
            return Err(device.failure_or_loss());
        }
        self.read_mapped(device, row_bytes as u64, read)
    }

    /// Passes the first `bytes` of the mapped buffer to `read`, and unmaps it.
    fn read_mapped(&self, device: &Device, bytes: u64, read: impl FnOnce(&[u8])) -> Attempt<()> {
        device.read(|| {
            let view = self.readback.get_mapped_range(0..bytes);
            let view = view.map_err(|error| Failure::Refused(error.to_string()))?;
            read(&view);
            Ok(())
        })?;
        self.readback.unmap();
        Ok(())
    }

    /// Submits commands, then copies the first `bytes` of `made` to the host.
    fn copy_back(
        &self,
        device: &Device,
        mut encoder: wgpu::CommandEncoder,
        made: &wgpu::Buffer,
        bytes: usize,
    ) -> Receiver<MapResult> {
        let bytes = bytes as u64;
        let (sender, receiver) = channel();
        encoder.copy_buffer_to_buffer(made, 0, &self.readback, 0, bytes);
        let mode = wgpu::MapMode::Read;
        encoder.map_buffer_on_submit(&self.readback, mode, 0..bytes, move |result| {
            // A receiver that is gone has given the load up.
            let _ = sender.send(result);
        });
        device.submit(encoder.finish());
        receiver
    }

    /// Makes the buffers for band keys, unless they are there.
    fn prepare_keys(&mut self, device: &Device, shape: &LoadShape, pass: &KeyPass) -> Attempt<()> {
        let is_ready = |keys: &KeyBuffers| Arc::ptr_eq(&keys.pipeline, &pass.pipeline);
        if self.keys.as_ref().is_some_and(is_ready) {
            return Ok(());
        }
        let keys = device.attempt(|| {
            let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("keys"),
                size: (shape.parts() * pass.bands * size_of::<u64>()) as u64,
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

    /// Sends a load and its input to the device.
    pub(super) fn send(
        mut self,
        device: &Device,
        shape: &LoadShape,
        input: &[u8],
        load: Load,
        dispatch: &Dispatch<'_>,
    ) -> Attempt<Sent> {
        let offsets = self.offsets;
        let (items, groups) = load.items(shape);
        let (documents, starts, row_bytes) = match dispatch.key_pass {
            None => (load.documents, Vec::new(), shape.row_bytes()),
            Some(pass) => {
                let (documents, mut starts) = load.whole_documents();
                // Pads with empty documents, of which the shader makes no keys.
                let end = starts.last().copied().unwrap_or(0);
                starts.resize(shape.parts() + 1, end);
                self.prepare_keys(device, shape, pass)?;
                (documents, starts, pass.bands * size_of::<u64>())
            }
        };
        let writes: [(usize, &[u8]); 4] = [
            (0, input),
            (offsets.parts, bytemuck::cast_slice(&load.parts)),
            (offsets.items, bytemuck::cast_slice(&items)),
            (offsets.documents, bytemuck::cast_slice(&starts)),
        ];
        let receiver = device.attempt(|| {
            for (at, bytes) in writes {
                device.queue.write_buffer(&self.input, at as u64, bytes);
            }
            let mut encoder = device.device.create_command_encoder(&Default::default());
            self.dispatch(&mut encoder, groups, dispatch);
            let made = match (&self.keys, dispatch.key_pass) {
                (Some(keys), Some(pass)) => {
                    let groups = shape.groups_for(documents.len() * pass.bands);
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&keys.pipeline);
                    pass.set_bind_group(0, &keys.group, &[]);
                    pass.dispatch_workgroups(groups[0], groups[1], 1);
                    &keys.buffer
                }
                _ => &self.rows,
            };
            Ok(self.copy_back(device, encoder, made, documents.len() * row_bytes))
        })?;
        Ok(Sent {
            buffers: self,
            receiver,
            map_result: None,
            row_bytes,
            documents,
        })
    }
}

impl Sent {
    /// Whether the rows are back.
    pub(super) fn is_done(&mut self) -> bool {
        if self.map_result.is_none() {
            self.map_result = map_result(&self.receiver);
        }
        self.map_result.is_some()
    }

    /// Waits for the rows, passes them to `read` with their documents and the bytes of a row, and returns
    /// the buffers for the next load.
    pub(super) fn receive(
        mut self,
        device: &Device,
        timeout: Duration,
        read: impl FnOnce(&[usize], usize, &[u8]),
    ) -> Attempt<Buffers> {
        device.wait(timeout, || self.is_done())?;
        if let Some(Err(_)) = &self.map_result {
            return Err(device.failure_or_loss());
        }
        let bytes = (self.documents.len() * self.row_bytes) as u64;
        self.buffers.read_mapped(device, bytes, |view| {
            read(&self.documents, self.row_bytes, view);
        })?;
        Ok(self.buffers)
    }
}
