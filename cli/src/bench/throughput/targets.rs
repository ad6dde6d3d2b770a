//! Where signatures are computed: the backends of this machine with their hardware.

use crate::bench::{Absence, Plan};
use simgpu::backend::{Backend, Hardware};
use simgpu::error::Unsupported;
use simgpu::pipeline::Signer;
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// A backend on its hardware.
#[derive(Clone, Debug)]
pub(super) struct ComputeTarget {
    pub(super) backend: Backend,
    /// Instruction set or device, as in [`TimedRun::hardware`](crate::bench::TimedRun::hardware).
    pub(super) name: String,
    pub(super) hardware: Hardware,
    /// Whether the device is emulated by the CPU.
    pub(super) is_software: bool,
}

impl ComputeTarget {
    fn of_cpu(backend: Backend, isa: Isa) -> Self {
        ComputeTarget {
            backend,
            name: match backend {
                Backend::Simd => isa.to_string(),
                _ => String::new(),
            },
            hardware: Hardware {
                isa,
                ..Hardware::default()
            },
            is_software: false,
        }
    }

    pub(super) fn signer(&self, scheme: &Scheme) -> Result<Box<dyn Signer>> {
        self.backend.signer_with(scheme, &self.hardware)
    }

    pub(super) fn has_device(&self) -> bool {
        matches!(self.backend, Backend::Gpu | Backend::Hybrid)
    }

    /// The instruction set of `simd`; `None` for other backends.
    pub(super) fn isa(&self) -> Option<Isa> {
        (self.backend == Backend::Simd).then_some(self.hardware.isa)
    }

    /// Checks that it supports a scheme.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the reason, if not.
    pub(super) fn check(&self, scheme: &Scheme) -> Result<()> {
        match self.has_device() {
            true => self.signer(scheme).map(|_| ()),
            false => Ok(()),
        }
    }
}

/// The targets of a plan, those of the CPU first, from slow to fast; and those that are missing.
///
/// # Errors
/// [`Error::Parameter`] for `auto`, which chooses among the others; [`Error::Unsupported`] for a named device or backend
/// that is missing.
pub(super) fn targets(plan: &Plan, isas: &[Isa]) -> Result<(Vec<ComputeTarget>, Vec<Absence>)> {
    if plan.backends.contains(&Backend::Auto) {
        return Err(Error::Parameter {
            name: "backends",
            value: "auto".to_owned(),
            expected: "scalar, simd, gpu or hybrid, of which auto is a choice".to_owned(),
        });
    }
    let is_wanted = |backend| match plan.backends.as_slice() {
        [] => matches!(backend, Backend::Scalar | Backend::Simd),
        named => named.contains(&backend),
    };
    let mut targets = Vec::new();
    if is_wanted(Backend::Scalar) {
        targets.push(ComputeTarget::of_cpu(Backend::Scalar, Isa::best()));
    }
    if is_wanted(Backend::Simd) {
        targets.extend(
            isas.iter()
                .map(|isa| ComputeTarget::of_cpu(Backend::Simd, *isa)),
        );
    }
    let mut absences = Vec::new();
    match (device(plan), plan.backends.is_empty()) {
        (Ok(device), true) if device.is_software => absences.push(Absence {
            what: "gpu".to_owned(),
            why: format!(
                "{} is emulated by the CPU; name the backend to measure it anyway",
                device.name
            ),
        }),
        (Ok(device), true) => targets.push(device),
        (Err(error), true) if plan.device.is_some() => return Err(error),
        (Err(error), true) => absences.push(Absence {
            what: "gpu".to_owned(),
            why: error.to_string(),
        }),
        (device, false) => {
            let wanted = [Backend::Gpu, Backend::Hybrid].into_iter();
            let wanted: Vec<Backend> = wanted.filter(|backend| is_wanted(*backend)).collect();
            if !wanted.is_empty() {
                let device = device?;
                targets.extend(wanted.into_iter().map(|backend| ComputeTarget {
                    backend,
                    ..device.clone()
                }));
            }
        }
    }
    Ok((targets, absences))
}

/// The device of a plan, or the first device.
#[cfg(feature = "gpu")]
fn device(plan: &Plan) -> Result<ComputeTarget> {
    use simgpu::backend::gpu::{GpuOptions, adapters};

    let number = plan.device.unwrap_or(0);
    let adapters = adapters();
    let count = adapters.len();
    let adapter = adapters.into_iter().nth(number).ok_or({
        Error::Unsupported(match plan.device {
            Some(device) => Unsupported::NoSuchDevice {
                device,
                adapters: count,
            },
            None => Unsupported::NoAdapter,
        })
    })?;
    Ok(ComputeTarget {
        backend: Backend::Gpu,
        name: adapter.name,
        hardware: Hardware {
            gpu: GpuOptions {
                device: Some(number),
                ..GpuOptions::default()
            },
            ..Hardware::default()
        },
        is_software: adapter.is_software,
    })
}

#[cfg(not(feature = "gpu"))]
fn device(_: &Plan) -> Result<ComputeTarget> {
    Err(Error::Unsupported(Unsupported::NotInBuild {
        backend: Backend::Gpu.to_string(),
    }))
}
