//! Where signatures are computed: every backend and its hardware, as far as this machine has it.

use crate::bench::{Absence, Plan};
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::Signer;
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use simgpu::{Error, Result, Unsupported};

/// A backend on its hardware.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) backend: Backend,
    /// The vector instructions or the device, as of [`Run::hardware`](crate::bench::Run).
    pub(super) name: String,
    pub(super) hardware: Hardware,
    /// Whether it is a device that is played by the CPU.
    pub(super) is_software: bool,
}

impl Place {
    fn of_cpu(backend: Backend, isa: Isa) -> Self {
        Place {
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

    /// The instructions, where they alone compute.
    pub(super) fn isa(&self) -> Option<Isa> {
        (self.backend == Backend::Simd).then_some(self.hardware.isa)
    }

    /// Whether it can compute a scheme.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if not, with the reason.
    pub(super) fn check(&self, scheme: &Scheme) -> Result<()> {
        match self.has_device() {
            true => self.signer(scheme).map(|_| ()),
            false => Ok(()),
        }
    }
}

/// The places of a plan, the CPU's first, from slow to fast, and those that are missing.
///
/// # Errors
/// [`Error::Conflict`] for `auto`, which is a choice among the others; [`Error::Unsupported`] when a device is named
/// that is not there, or a backend that needs one.
pub(super) fn places(plan: &Plan, isas: &[Isa]) -> Result<(Vec<Place>, Vec<Absence>)> {
    if plan.backends.contains(&Backend::Auto) {
        return Err(Error::Conflict(
            "auto chooses among backends and is none to be measured; name scalar, simd, gpu or hybrid"
                .to_owned(),
        ));
    }
    let is_wanted = |backend| match plan.backends.as_slice() {
        [] => matches!(backend, Backend::Scalar | Backend::Simd),
        named => named.contains(&backend),
    };
    let mut places = Vec::new();
    if is_wanted(Backend::Scalar) {
        places.push(Place::of_cpu(Backend::Scalar, Isa::best()));
    }
    if is_wanted(Backend::Simd) {
        places.extend(isas.iter().map(|isa| Place::of_cpu(Backend::Simd, *isa)));
    }
    let mut absences = Vec::new();
    match (device(plan), plan.backends.is_empty()) {
        (Ok(device), true) if device.is_software => absences.push(Absence {
            what: "gpu".to_owned(),
            why: format!(
                "{} is a program on the CPU; name the backend to measure it all the same",
                device.name
            ),
        }),
        (Ok(device), true) => places.push(device),
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
                places.extend(wanted.into_iter().map(|backend| Place {
                    backend,
                    ..device.clone()
                }));
            }
        }
    }
    Ok((places, absences))
}

/// The device of a plan, or the first.
#[cfg(feature = "gpu")]
fn device(plan: &Plan) -> Result<Place> {
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
    Ok(Place {
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
fn device(_: &Plan) -> Result<Place> {
    Err(Error::Unsupported(Unsupported::NotInBuild {
        backend: Backend::Gpu.to_string(),
    }))
}
