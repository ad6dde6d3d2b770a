//! Pool: the buffers that one load travels through, again and again.
//!
//! Several slots are on their way at a time, each filled by a thread of its own or by one thread in turn,
//! so that the host fills one while the device works on another.

use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::device::{Attempt, Device, Failure, lock};
use super::load::{Load, Part, Shape};

/// Buffers for one load.
pub(super) struct Buffers {
    /// Input, parts, items and documents.
    input: wgpu::Buffer,
    /// Rows, as the kernel writes them.
    rows: wgpu::Buffer,
    /// The same for the host to read.
    readback: wgpu::Buffer,
    group: wgpu::BindGroup,
    places: Places,
    keys: Option<Keys>,
}

/// Band keys of a load, made of its rows.
struct Keys {
    /// Of which banding.
    pipeline: Arc<wgpu::ComputePipeline>,
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// How band keys are made.
pub(super) struct Banded {
    pub(super) pipeline: Arc<wgpu::ComputePipeline>,
    pub(super) bands: usize,
}

/// Where what lies in the buffers that are written by the host.
#[derive(Clone, Copy)]
struct Places {
    parts: usize,
    items: usize,
    documents: usize,
    end: usize,
}

/// What the beginning of a binding must be a multiple of, on any adapter.
const ALIGNMENT: usize = 256;

/// Bytes behind the input that a kernel may read, but does not use.
const SLACK: usize = 8;

impl Places {
    fn of(shape: &Shape) -> Self {
        let parts = (shape.bounds.input_bytes + SLACK).next_multiple_of(ALIGNMENT);
        let items = (parts + shape.parts() * size_of::<Part>()).next_multiple_of(ALIGNMENT);
        let documents = (items + shape.items() * 4).next_multiple_of(ALIGNMENT);
        Places {
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
pub(super) struct Work<'a> {
    pub(super) pipeline: &'a wgpu::ComputePipeline,
    /// Blocks of permutations.
    pub(super) blocks: u32,
    /// For band keys in the place of rows.
    pub(super) banded: Option<&'a Banded>,
}

/// Whether the rows can be read.
type Mapped = Result<(), wgpu::BufferAsyncError>;

/// What was said, if anything was.
fn answer(mapped: &Receiver<Mapped>) -> Option<Mapped> {
    match mapped.try_recv() {
        Ok(mapped) => Some(mapped),
        Err(TryRecvError::Empty) => None,
        // Nobody will ever say.
        Err(TryRecvError::Disconnected) => Some(Err(wgpu::BufferAsyncError)),
    }
}

/// A load on its way.
pub(super) struct Sent {
    slot: Buffers,
    mapped: Receiver<Mapped>,
    /// What has come of that.
    came: Option<Mapped>,
    /// Of each row that comes back.
    row_bytes: usize,
    /// The document of each row.
    pub(super) documents: Vec<usize>,
}

impl Buffers {
    pub(super) fn new(
        device: &Device,
        shape: &Shape,
        coefficients: &wgpu::Buffer,
    ) -> Attempt<Self> {
        let places = Places::of(shape);
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
            let input = buffer("input", places.end, Usage::STORAGE | Usage::COPY_DST);
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
                of_input(places.items..places.documents),
                of_input(places.parts..places.items),
                coefficients.as_entire_binding(),
                rows.as_entire_binding(),
                of_input(0..places.parts),
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
                places,
                keys: None,
            })
        })
    }

    /// Has a kernel work on what lies on the device, by so many workgroups in two dimensions.
    pub(super) fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        [columns, rows]: [u32; 2],
        work: &Work<'_>,
    ) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(work.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, work.blocks);
    }

    /// Has the input written by the next submission.
    #[cfg(feature = "internals")]
    pub(super) fn write_input(&self, device: &Device, input: &[u8]) {
        device.queue.write_buffer(&self.input, 0, input);
    }

    /// Brings back the rows that lie on the device, and gives them to `take`.
    #[cfg(feature = "internals")]
    pub(super) fn read_rows(
        &self,
        device: &Device,
        row_bytes: usize,
        timeout: Duration,
        take: impl FnOnce(&[u8]),
    ) -> Attempt<()> {
        let mapped = device.attempt(|| {
            let encoder = device.device.create_command_encoder(&Default::default());
            Ok(self.bring_back(device, encoder, &self.rows, row_bytes))
        })?;
        let mut came = None;
        device.wait(timeout, || {
            came = answer(&mapped);
            came.is_some()
        })?;
        if let Some(Err(_)) = came {
            return Err(device.failure_or_loss());
        }
        self.read_mapped(device, row_bytes as u64, take)
    }

    /// Gives the first bytes that can be read to `take`.
    fn read_mapped(&self, device: &Device, bytes: u64, take: impl FnOnce(&[u8])) -> Attempt<()> {
        device.read(|| {
            let view = self.readback.get_mapped_range(0..bytes);
            let view = view.map_err(|error| Failure::Refused(error.to_string()))?;
            take(&view);
            Ok(())
        })?;
        self.readback.unmap();
        Ok(())
    }

    /// Submits commands, after which the first bytes of what they made are brought back.
    fn bring_back(
        &self,
        device: &Device,
        mut encoder: wgpu::CommandEncoder,
        made: &wgpu::Buffer,
        bytes: usize,
    ) -> Receiver<Mapped> {
        let bytes = bytes as u64;
        let (say_mapped, mapped) = channel();
        encoder.copy_buffer_to_buffer(made, 0, &self.readback, 0, bytes);
        let mode = wgpu::MapMode::Read;
        encoder.map_buffer_on_submit(&self.readback, mode, 0..bytes, move |result| {
            // Whoever listened has given up.
            let _ = say_mapped.send(result);
        });
        device.submit(encoder.finish());
        mapped
    }

    /// Makes room for band keys, unless there is.
    fn prepare_keys(&mut self, device: &Device, shape: &Shape, banded: &Banded) -> Attempt<()> {
        let is_ready = |keys: &Keys| Arc::ptr_eq(&keys.pipeline, &banded.pipeline);
        if self.keys.as_ref().is_some_and(is_ready) {
            return Ok(());
        }
        let keys = device.attempt(|| {
            let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("keys"),
                size: (shape.parts() * banded.bands * size_of::<u64>()) as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let documents = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.input,
                offset: self.places.documents as u64,
                size: None,
            });
            let resources = [
                documents,
                self.rows.as_entire_binding(),
                buffer.as_entire_binding(),
            ];
            let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("keys"),
                layout: &banded.pipeline.get_bind_group_layout(0),
                entries: &entries(resources),
            });
            Ok(Keys {
                pipeline: banded.pipeline.clone(),
                buffer,
                group,
            })
        })?;
        self.keys = Some(keys);
        Ok(())
    }

    /// Sends a load, whose input is given, to the device.
    pub(super) fn send(
        mut self,
        device: &Device,
        shape: &Shape,
        input: &[u8],
        load: Load,
        work: &Work<'_>,
    ) -> Attempt<Sent> {
        let places = self.places;
        let (items, groups) = load.items(shape);
        let (documents, starts, row_bytes) = match work.banded {
            None => (load.documents, Vec::new(), shape.row_bytes()),
            Some(banded) => {
                let (documents, mut starts) = load.whole_documents();
                // The kernel makes no keys of empty documents behind the last one.
                let end = starts.last().copied().unwrap_or(0);
                starts.resize(shape.parts() + 1, end);
                self.prepare_keys(device, shape, banded)?;
                (documents, starts, banded.bands * size_of::<u64>())
            }
        };
        let writes: [(usize, &[u8]); 4] = [
            (0, input),
            (places.parts, bytemuck::cast_slice(&load.parts)),
            (places.items, bytemuck::cast_slice(&items)),
            (places.documents, bytemuck::cast_slice(&starts)),
        ];
        let mapped = device.attempt(|| {
            for (at, bytes) in writes {
                device.queue.write_buffer(&self.input, at as u64, bytes);
            }
            let mut encoder = device.device.create_command_encoder(&Default::default());
            self.dispatch(&mut encoder, groups, work);
            let made = match (&self.keys, work.banded) {
                (Some(keys), Some(banded)) => {
                    let groups = shape.groups_for(documents.len() * banded.bands);
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&keys.pipeline);
                    pass.set_bind_group(0, &keys.group, &[]);
                    pass.dispatch_workgroups(groups[0], groups[1], 1);
                    &keys.buffer
                }
                _ => &self.rows,
            };
            Ok(self.bring_back(device, encoder, made, documents.len() * row_bytes))
        })?;
        Ok(Sent {
            slot: self,
            mapped,
            came: None,
            row_bytes,
            documents,
        })
    }
}

impl Sent {
    /// Whether it need not be waited for.
    pub(super) fn is_done(&mut self) -> bool {
        self.came = self.came.take().or_else(|| answer(&self.mapped));
        self.came.is_some()
    }

    /// Waits for the rows, gives them to `take`, with whose they are and their size, and gives the slot
    /// back.
    pub(super) fn receive(
        mut self,
        device: &Device,
        timeout: Duration,
        take: impl FnOnce(&[usize], usize, &[u8]),
    ) -> Attempt<Buffers> {
        device.wait(timeout, || self.is_done())?;
        if let Some(Err(_)) = &self.came {
            return Err(device.failure_or_loss());
        }
        let bytes = (self.documents.len() * self.row_bytes) as u64;
        self.slot.read_mapped(device, bytes, |view| {
            take(&self.documents, self.row_bytes, view);
        })?;
        Ok(self.slot)
    }
}

/// The slots of a signer, made when they are needed.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    came_back: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Buffers>,
    made: usize,
}

impl Pool {
    /// A slot that is idle, or a new one as long as there are fewer than `most`.
    pub(super) fn try_take(
        &self,
        most: usize,
        make: impl FnOnce() -> Attempt<Buffers>,
    ) -> Attempt<Option<Buffers>> {
        let mut state = lock(&self.state);
        if let Some(slot) = state.idle.pop() {
            return Ok(Some(slot));
        }
        if state.made >= most {
            return Ok(None);
        }
        state.made += 1;
        drop(state);
        let made = make();
        if made.is_err() {
            self.drop_one();
        }
        match made {
            // Those that there are must do.
            Err(Failure::OutOfMemory) if lock(&self.state).made > 0 => Ok(None),
            made => made.map(Some),
        }
    }

    /// Waits a while for a slot of another thread to come back.
    pub(super) fn wait(&self) {
        let state = lock(&self.state);
        if state.idle.is_empty() && state.made > 0 {
            let _ = self
                .came_back
                .wait_timeout(state, Duration::from_millis(100));
        }
    }

    pub(super) fn give_back(&self, slot: Buffers) {
        lock(&self.state).idle.push(slot);
        self.came_back.notify_one();
    }

    /// Counts out a slot that does not come back.
    pub(super) fn drop_one(&self) {
        lock(&self.state).made -= 1;
        self.came_back.notify_all();
    }
}
