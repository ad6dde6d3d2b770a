//! Where signatures are computed: the backends of this machine with their hardware.

#[cfg(feature = "gpu")]
use super::case::SOFTWARE;
use super::plan::Plan;
use super::record::Absence;
use simgpu::backend::{Backend, Hardware};
use simgpu::error::Unsupported;
use simgpu::pipeline::Signer;
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// A backend on its hardware.
#[derive(Clone, Debug)]
pub(crate) struct ComputeTarget {
    pub(crate) backend: Backend,
    /// Instruction set or device, as in [`TimedRun::hardware`](super::TimedRun::hardware).
    pub(crate) name: String,
    pub(crate) hardware: Hardware,
    /// Whether the device is emulated by the CPU.
    pub(crate) is_software: bool,
}

impl ComputeTarget {
    fn cpu(backend: Backend, isa: Isa) -> Self {
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

    /// The fastest instructions of this CPU.
    pub(crate) fn best_of_cpu() -> Self {
        ComputeTarget::cpu(Backend::Simd, Isa::best())
    }

    pub(crate) fn signer(&self, scheme: &Scheme) -> Result<Box<dyn Signer>> {
        self.backend.signer_with(scheme, &self.hardware)
    }

    pub(crate) fn has_device(&self) -> bool {
        matches!(self.backend, Backend::Gpu | Backend::Hybrid)
    }

    /// The instruction set of `simd`; `None` for other backends.
    pub(crate) fn isa(&self) -> Option<Isa> {
        (self.backend == Backend::Simd).then_some(self.hardware.isa)
    }

    /// Whether it computes as `other` does.
    pub(crate) fn is_same(&self, other: &ComputeTarget) -> bool {
        (self.backend, &self.name) == (other.backend, &other.name)
    }

    /// The absence of a scheme that it does not support; `None` if it does.
    pub(crate) fn absence_of(&self, scheme: &Scheme) -> Option<Absence> {
        let error = if self.has_device() {
            self.signer(scheme).err()
        } else {
            None
        };
        error.map(|error| Absence {
            what: format!("{scheme} by {}", self.backend),
            why: error.to_string(),
        })
    }
}

/// Fails if a signer fell back to another way of signing, which would have been measured instead.
pub(crate) fn check_notices(signer: &dyn Signer) -> Result<()> {
    match signer.notices().pop() {
        Some(notice) => Err(Error::Unsupported(Unsupported::DeviceFailed {
            device: signer.describe(),
            reason: format!("{notice}; leave the backend out of --backends"),
        })),
        None => Ok(()),
    }
}

/// The instruction sets of a plan that this CPU has, from slow to fast.
pub(crate) fn isas(plan: &Plan) -> Vec<Isa> {
    let is_wanted = |isa: &&Isa| plan.isas.is_empty() || plan.isas.contains(isa);
    Isa::available().iter().filter(is_wanted).copied().collect()
}

/// The targets of a plan, those of the CPU first, from slow to fast; and those that are missing.
///
/// # Errors
/// [`Error::Parameter`] for `auto`, which chooses among the others; [`Error::Unsupported`] for a named device or backend
/// that is missing.
pub(crate) fn targets(plan: &Plan) -> Result<(Vec<ComputeTarget>, Vec<Absence>)> {
    if plan.backends.contains(&Backend::Auto) {
        return Err(Error::Parameter {
            name: "backends",
            value: "auto".to_owned(),
            expected: "scalar, simd, gpu or hybrid, of which auto is a choice".to_owned(),
        });
    }
    let is_wanted = |backend| plan.backends.is_empty() || plan.backends.contains(&backend);
    let mut targets = Vec::new();
    if is_wanted(Backend::Scalar) {
        targets.push(ComputeTarget::cpu(Backend::Scalar, Isa::best()));
    }
    if is_wanted(Backend::Simd) {
        let isas = isas(plan).into_iter();
        targets.extend(isas.map(|isa| ComputeTarget::cpu(Backend::Simd, isa)));
    }
    let wanted = [Backend::Gpu, Backend::Hybrid].into_iter();
    let wanted: Vec<Backend> = wanted.filter(|backend| is_wanted(*backend)).collect();
    let mut absences = Vec::new();
    if !wanted.is_empty() {
        let is_named = !plan.backends.is_empty();
        match device(plan) {
            Ok(device) if is_named || !device.is_software => {
                targets.extend(wanted.into_iter().map(|backend| ComputeTarget {
                    backend,
                    ..device.clone()
                }));
            }
            Ok(device) => absences.push(Absence::software_device(&device.name)),
            Err(error) if is_named || plan.device.is_some() => return Err(error),
            Err(error) => absences.push(Absence {
                what: Absence::DEVICE.to_owned(),
                why: error.to_string(),
            }),
        }
    }
    Ok((targets, absences))
}

/// The device of a plan, or the first device, as the backend `gpu`.
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
        name: if adapter.is_software {
            // The rest of the name is the version, which environment.json has.
            let name = adapter.name.split(" (").next().unwrap_or_default();
            format!("{name}{SOFTWARE}")
        } else {
            adapter.name
        },
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
