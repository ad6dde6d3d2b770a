//! Where signatures are computed.

use clap::Args;
use simgpu::backend::{Backend, Hardware};
use simgpu::simd::Isa;

use crate::options::Mode;
use crate::usage;

/// Where signatures are computed.
#[derive(Debug, Args)]
pub struct BackendArguments {
    /// Where to compute signatures: scalar, simd, gpu, hybrid (simd and gpu), or auto (gpu if the inputs are
    /// large and it measures faster, else simd); never changes a result
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "Machine"
    )]
    pub backend: String,

    /// Instruction set of simd: portable, avx2, avx512, avx512vnni, neon; never changes a result [default: the fastest
    /// that this CPU supports]
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    pub isa: Option<String>,

    /// Device of gpu and hybrid, as numbered by `simgpu devices` [default: 0]
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "N", value_parser = super::numbers::whole_number_or_0::<usize>, help_heading = "Machine")]
    pub device: Option<usize>,

    /// Simulate the loss of the device after N loads
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "N", hide = true)]
    pub lose_device_after: Option<u32>,
}

impl BackendArguments {
    /// The backend, and the hardware that computes shingles and signatures. With scalar, shingles use
    /// portable instructions.
    ///
    /// # Errors
    /// A usage error for unknown names.
    pub fn resolve(&self) -> anyhow::Result<(Backend, Hardware)> {
        let backend: Backend = self.backend.parse().map_err(usage)?;
        let isa = match (&self.isa, backend) {
            (Some(name), _) => Isa::named(name).map_err(usage)?,
            (None, Backend::Scalar) => Isa::named("portable")?,
            (None, _) => Isa::best(),
        };
        let hardware = Hardware {
            isa,
            #[cfg(feature = "gpu")]
            gpu: self.gpu_options(),
        };
        Ok((backend, hardware))
    }

    /// The modes that the backend leads to.
    ///
    /// # Errors
    /// A usage error for an unknown backend.
    pub fn modes(&self) -> anyhow::Result<&'static [Mode]> {
        Ok(match self.backend.parse().map_err(usage)? {
            Backend::Scalar => &[Mode::Scalar, Mode::NoDevice],
            Backend::Gpu => &[Mode::Gpu],
            Backend::Hybrid => &[],
            Backend::Simd | Backend::Auto => &[Mode::NoDevice],
        })
    }

    #[cfg(feature = "gpu")]
    fn gpu_options(&self) -> simgpu::backend::gpu::GpuOptions {
        use simgpu::backend::gpu::{GpuOptions, Hooks};

        GpuOptions {
            device: self.device,
            hooks: Hooks {
                lose_after: self.lose_device_after,
                ..Hooks::default()
            },
            ..GpuOptions::default()
        }
    }

    /// Whether the backend is chosen by its speed.
    pub(super) fn is_auto(&self) -> bool {
        self.backend == Backend::Auto.to_string()
    }

    /// Whether --isa names an instruction set.
    pub fn names_isa(&self) -> bool {
        self.isa.is_some()
    }
}
