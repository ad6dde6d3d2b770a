//! The names of backends, and the hardware that they may use.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::simd::Isa;

/// A way to compute signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The fastest of this machine: SIMD lanes of the CPU, or a GPU if it measures faster. Ignores
    /// adapters that are software on the CPU.
    #[default]
    Auto,
    /// The reference implementation, one value at a time.
    Scalar,
    /// SIMD lanes of the CPU.
    Simd,
    /// A GPU. What it fails to sign is signed by SIMD lanes of the CPU.
    Gpu,
    /// A GPU, and the CPU whenever all buffers of the device are busy.
    Hybrid,
}

const NAMES: [(&str, Backend); 5] = [
    ("auto", Backend::Auto),
    ("scalar", Backend::Scalar),
    ("simd", Backend::Simd),
    ("gpu", Backend::Gpu),
    ("hybrid", Backend::Hybrid),
];

/// Which hardware of this machine to use. No result depends on it.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// Vector instructions of the CPU.
    pub isa: Isa,
    /// The device of [`Backend::Gpu`] and [`Backend::Hybrid`].
    #[cfg(feature = "gpu")]
    pub gpu: super::gpu::GpuOptions,
}

impl Hardware {
    /// These vector instructions, the first device.
    pub(crate) fn with_isa(isa: Isa) -> Self {
        Hardware {
            isa,
            #[cfg(feature = "gpu")]
            gpu: super::gpu::GpuOptions::default(),
        }
    }
}

impl Default for Hardware {
    /// The fastest instructions, the first device.
    fn default() -> Self {
        Hardware::with_isa(Isa::best())
    }
}

impl Backend {
    /// The names that [`Backend::from_str`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.into_iter().find(|(_, backend)| backend == self);
        f.write_str(name.map_or("unnamed", |(name, _)| name))
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        NAMES
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, backend)| backend)
            .ok_or_else(|| Error::UnknownName {
                what: "backend",
                name: name.to_owned(),
                known: Backend::names().collect::<Vec<_>>().join(", "),
            })
    }
}
