//! Open devices: what is compiled for them, and how they fail.
//!
//! **Only wgpu's default limits are requested**, and no feature except 64-bit integers, so that every device runs the
//! kernels that the tests ran.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use pollster::block_on;

use super::adapter::found;
use super::options::GpuOptions;
use super::shader::{BAND_THREADS, Integers, Products, SignShader, band_keys_wgsl};
use super::workgroup::Workgroup;
use crate::error::{Error, Result, Unsupported};

/// Result of a request to a device.
pub(super) type Attempt<T> = std::result::Result<T, Failure>;

/// Why a device did not do what was requested.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// It is gone for good, with the driver's reason; empty where the driver gave none.
    Lost(String),
    /// It did not answer in time, and may never answer.
    Hung(Duration),
    /// It has no memory for the request.
    OutOfMemory,
    /// It refused, for this reason.
    Refused(String),
}

impl Failure {
    /// Whether a further request cannot succeed.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Failure::OutOfMemory)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Lost(reason) if reason.is_empty() => f.write_str("the device was lost"),
            Failure::Lost(reason) => write!(f, "the device was lost: {reason}"),
            Failure::Hung(waited) => write!(f, "no answer within {} s", waited.as_secs_f32()),
            Failure::OutOfMemory => f.write_str("its memory is full"),
            Failure::Refused(reason) => write!(f, "it refused: {}", reason.trim()),
        }
    }
}

/// An open device, and the shaders compiled for it.
pub(super) struct Device {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) integers: Integers,
    pub(super) name: String,
    pub(super) is_software: bool,
    /// The products by which it is faster, once they are measured.
    pub(super) products: OnceLock<Products>,
    pub(super) layout: wgpu::BindGroupLayout,
    pipelines: Mutex<HashMap<Program, Arc<wgpu::ComputePipeline>>>,
    failure: Arc<Mutex<Option<Failure>>>,
    /// Read-locked while mapped memory is copied, write-locked by calls that may free it.
    views: RwLock<()>,
}

/// What is compiled: a shader and its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Program {
    /// Signs, with this workgroup and quads of shingles per tile.
    Sign {
        shader: SignShader,
        workgroup: Workgroup,
        tile_quads: u32,
    },
    /// Makes band keys, with these bands, slots per band, words per slot and words per row.
    BandKeys {
        bands: u32,
        band_slots: u32,
        slot_words: u32,
        row_words: u32,
    },
}

/// Locks a mutex, poisoned or not: none here guards anything that a panic leaves half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// Opens the selected adapter, or the first. Later calls share the open device, unless a test wants it
    /// lost.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is none, or it cannot be opened.
    pub(super) fn open(options: &GpuOptions) -> Result<Arc<Device>> {
        static OPENED: Mutex<Vec<(usize, Arc<Device>)>> = Mutex::new(Vec::new());
        let found = found();
        let number = options.device.unwrap_or(0);
        let Some(adapter) = found.get(number) else {
            return Err(Error::Unsupported(match found.len() {
                0 => Unsupported::NoAdapter,
                adapters => Unsupported::NoSuchDevice {
                    device: number,
                    adapters,
                },
            }));
        };
        let has_u64 = adapter.features().contains(wgpu::Features::SHADER_INT64);
        let best = if has_u64 {
            Integers::U64
        } else {
            Integers::U32
        };
        let integers = options.integers.unwrap_or(best).min(best);
        if options.hooks.lose_after.is_some() {
            return Ok(Arc::new(Device::of(adapter, integers)?));
        }
        let mut opened = lock(&OPENED);
        // A device that failed is opened again. One that hangs is leaked: dropping it would wait for it.
        opened.retain(|(_, device)| {
            let failure = device.failure();
            if let Some(Failure::Hung(_)) = failure {
                std::mem::forget(device.clone());
            }
            failure.is_none()
        });
        let is_it =
            |(of, device): &&(usize, Arc<Device>)| *of == number && device.integers == integers;
        if let Some((_, device)) = opened.iter().find(is_it) {
            return Ok(device.clone());
        }
        let device = Arc::new(Device::of(adapter, integers)?);
        opened.push((number, device.clone()));
        Ok(device)
    }

    /// Opens an adapter with at most wgpu's default limits, and with 64-bit integers as its only feature.
    pub(super) fn of(adapter: &wgpu::Adapter, integers: Integers) -> Result<Device> {
        let info = adapter.get_info();
        let name = info.name;
        let limits = wgpu::Limits::defaults().or_worse_values_from(&adapter.limits());
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("simgpu"),
            required_features: match integers {
                Integers::U32 => wgpu::Features::empty(),
                Integers::U64 => wgpu::Features::SHADER_INT64,
            },
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        });
        let (device, queue) = block_on(request).map_err(|error| {
            Error::Unsupported(Unsupported::CannotOpen {
                device: name.clone(),
                reason: error.to_string(),
            })
        })?;
        let failure = Arc::new(Mutex::new(None));
        let lost = failure.clone();
        device.set_device_lost_callback(move |_, reason| {
            *lock(&lost) = Some(Failure::Lost(reason));
        });
        // Without a handler wgpu panics. Scopes catch the expected errors first.
        let refused = failure.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&refused).get_or_insert(Failure::Refused(error.to_string()));
        }));
        let entry = |binding: u32, read_only: bool| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("sign"),
            entries: &[
                entry(0, true),
                entry(1, true),
                entry(2, true),
                entry(3, false),
                entry(4, true),
            ],
        });
        Ok(Device {
            limits: device.limits(),
            device,
            queue,
            integers,
            name,
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            products: OnceLock::new(),
            layout,
            pipelines: Mutex::default(),
            failure,
            views: RwLock::default(),
        })
    }

    /// The failure that ended this device, if any.
    pub(super) fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }

    /// The failure that ended this device. Memory that could not be mapped means a loss if nothing else is
    /// known.
    pub(super) fn failure_or_loss(&self) -> Failure {
        self.failure().unwrap_or(Failure::Lost(String::new()))
    }

    /// Gives the device up if the failure is final, and returns the failure that came first.
    pub(super) fn give_up(&self, failure: &Failure) -> Failure {
        if let Failure::Refused(_) = failure {
            // A lost device refuses everything, and reports the loss when it is polled.
            self.settle();
        }
        if failure.is_final() {
            lock(&self.failure)
                .get_or_insert_with(|| failure.clone())
                .clone()
        } else {
            failure.clone()
        }
    }

    /// Loses the device, as a driver may at any time.
    pub(super) fn lose(&self) {
        let _alone = self.alone();
        self.device.destroy();
    }

    /// Runs a request, and returns the error that the device reports for it.
    pub(super) fn attempt<T>(&self, request: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let refused = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let full = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let result = request();
        let [full, internal, refused] =
            [full, internal, refused].map(|scope| block_on(scope.pop()));
        if full.is_some() {
            return Err(Failure::OutOfMemory);
        }
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        match internal.or(refused) {
            Some(error) => Err(Failure::Refused(error.to_string())),
            None => result,
        }
    }

    /// Submits commands.
    pub(super) fn submit(&self, commands: wgpu::CommandBuffer) {
        let _alone = self.alone();
        self.queue.submit([commands]);
    }

    /// Polls the device until `done` holds.
    pub(super) fn wait(&self, timeout: Duration, mut done: impl FnMut() -> bool) -> Attempt<()> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            self.poll();
            if done() {
                return Ok(());
            }
            if let Some(failure) = self.failure() {
                return Err(failure);
            }
            if start.elapsed() >= timeout {
                return Err(Failure::Hung(timeout));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_micros(500));
        }
    }

    /// Polls for up to a second, so that a loss is noticed.
    fn settle(&self) {
        let _ = self.wait(Duration::from_secs(1), || false);
    }

    /// Lets wgpu call the callbacks of finished work.
    pub(super) fn poll(&self) {
        let _alone = self.alone();
        // wgpu panics when the driver reports the device as gone.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            self.device.poll(wgpu::PollType::Poll).map(|_| ())
        }));
        if polled.is_err() {
            lock(&self.failure).get_or_insert(Failure::Lost(String::new()));
        }
    }

    /// Copies from mapped memory. Polling and submitting wait meanwhile: on a lost device they free its buffers,
    /// mapped or not.
    pub(super) fn while_mapped<T>(&self, copy: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        let _others = self.views.read().unwrap_or_else(PoisonError::into_inner);
        match self.failure() {
            Some(failure) => Err(failure),
            None => copy(),
        }
    }

    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.views.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a buffer of these bytes for a shader to read.
    pub(super) fn storage(&self, bytes: &[u8]) -> Attempt<wgpu::Buffer> {
        self.attempt(|| {
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("coefficients"),
                size: bytes.len() as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.queue.write_buffer(&buffer, 0, bytes);
            Ok(buffer)
        })
    }

    /// The compiled program.
    pub(super) fn pipeline(&self, program: Program) -> Attempt<Arc<wgpu::ComputePipeline>> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(pipeline) = pipelines.get(&program) {
            return Ok(pipeline.clone());
        }
        let pipeline = Arc::new(self.attempt(|| Ok(self.compile(program)))?);
        pipelines.insert(program, pipeline.clone());
        Ok(pipeline)
    }

    /// The module of a program, its entry point, and values for the constants that the module leaves open.
    pub(super) fn source(program: Program) -> (String, &'static str, Vec<(&'static str, u32)>) {
        match program {
            Program::Sign {
                shader,
                workgroup,
                tile_quads,
            } => {
                let constants = shader.constants(workgroup, tile_quads);
                (shader.wgsl(), shader.entry_point(), constants)
            }
            Program::BandKeys {
                bands,
                band_slots,
                slot_words,
                row_words,
            } => {
                let constants = vec![
                    ("THREADS", BAND_THREADS),
                    ("BANDS", bands),
                    ("BAND_SLOTS", band_slots),
                    ("SLOT_WORDS", slot_words),
                    ("ROW_WORDS", row_words),
                ];
                (band_keys_wgsl(), "band_keys", constants)
            }
        }
    }

    fn compile(&self, program: Program) -> wgpu::ComputePipeline {
        let (wgsl, entry_point, constants) = Device::source(program);
        let layout = match program {
            Program::Sign { .. } => Some(&self.layout),
            Program::BandKeys { .. } => None,
        };
        let layout = layout.map(|layout| {
            let layout = wgpu::PipelineLayoutDescriptor {
                label: Some("sign"),
                bind_group_layouts: &[Some(layout)],
                immediate_size: 0,
            };
            self.device.create_pipeline_layout(&layout)
        });
        let constants = constants.into_iter();
        let constants: Vec<_> = constants
            .map(|(name, value)| (name, value.into()))
            .collect();
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: layout.as_ref(),
                module: &self.module(wgsl),
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    // A shader writes every word of the tile before it reads it.
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            })
    }

    /// Compiles a module without wgpu's checks, which would double the operations of the loop.
    #[allow(unsafe_code, reason = "wgpu has no safe way to leave its checks out")]
    fn module(&self, wgsl: String) -> wgpu::ShaderModule {
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        };
        // SAFETY: the shaders are this crate's own. Their loops end: they count up to bounds that do not
        // change. They index buffers by parts and items, which `Load` fits to the buffers, and the tile by
        // sums of parts, which `Load` keeps within it. They divide by no variable but overrides, which are
        // not 0.
        unsafe {
            self.device
                .create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        }
    }
}
