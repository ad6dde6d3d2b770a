//! Opens the engines that sign: one for the CPU at once, one with a GPU when there is enough to sign.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use simgpu::backend::{Backend, Hardware};
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::simd::Isa;

use crate::errors::OrRaise;
use crate::gpu;

/// With less text than this, `auto` never looks for a GPU.
const DEVICE_FROM_BYTES: u64 = 16 << 20;

/// `auto` chooses anew for a batch that is larger than the one it chose for by this factor.
const CHOOSE_AGAIN: u64 = 4;

/// The engines of one scheme and shingling.
pub(crate) struct Engines {
    backend: Backend,
    builder: EngineBuilder,
    /// The engine for small batches, on the CPU; that of all batches unless the backend may be a GPU.
    small: Arc<Engine>,
    /// The engine for large batches, once chosen. Locked only while the interpreter is attached, and never for long, so
    /// that no fork happens meanwhile.
    large: Mutex<Option<Chosen>>,
}

#[derive(Clone)]
struct Chosen {
    bytes: u64,
    engine: Arc<Engine>,
}

impl Engines {
    /// Checks the settings. Opens no device.
    pub(crate) fn new(py: Python<'_>, builder: EngineBuilder, backend: Backend) -> PyResult<Self> {
        let builder = match backend {
            // The reference shingles without vector instructions, too.
            Backend::Scalar => builder.hardware(Hardware {
                isa: Isa::named("portable").or_raise(py)?,
                ..Hardware::default()
            }),
            _ => builder,
        };
        let on_cpu = match backend {
            Backend::Scalar => Backend::Scalar,
            _ => Backend::Simd,
        };
        let small = builder.clone().backend(on_cpu).build().or_raise(py)?;
        Ok(Engines {
            backend,
            builder: builder.backend(backend),
            small: Arc::new(small),
            large: Mutex::new(None),
        })
    }

    /// An engine on the CPU.
    pub(crate) fn on_cpu(&self) -> &Arc<Engine> {
        &self.small
    }

    /// The engine for a batch of so many bytes of text.
    pub(crate) fn for_bytes(&self, py: Python<'_>, bytes: u64) -> PyResult<Arc<Engine>> {
        let is_named = match self.backend {
            Backend::Gpu | Backend::Hybrid => true,
            Backend::Auto if bytes >= DEVICE_FROM_BYTES => false,
            _ => return Ok(self.small.clone()),
        };
        if gpu::is_lost() {
            return if is_named {
                Err(gpu::lost(py))
            } else {
                Ok(self.small.clone())
            };
        }
        let chosen = self.chosen().clone();
        if let Some(chosen) = chosen
            && (is_named || bytes / CHOOSE_AGAIN <= chosen.bytes || chosen.has_device())
        {
            return Ok(chosen.engine);
        }
        gpu::silence(py)?;
        let builder = self.builder.clone().work_bytes(bytes);
        let engine = Arc::new(py.detach(|| builder.build()).or_raise(py)?);
        *self.chosen() = Some(Chosen {
            bytes,
            engine: engine.clone(),
        });
        Ok(engine)
    }

    fn chosen(&self) -> std::sync::MutexGuard<'_, Option<Chosen>> {
        self.large.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chosen {
    fn has_device(&self) -> bool {
        has_device(&self.engine)
    }
}

/// Whether an engine signs on a device.
pub(crate) fn has_device(engine: &Engine) -> bool {
    let description = engine.signer().describe();
    !description.starts_with("simd") && !description.starts_with("scalar")
}
