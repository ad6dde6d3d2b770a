//! *Where* signatures are computed. Every backend implements [`Signer`] and computes the same bits.
//!
//! A further backend is one more folder here, one more variant of [`Backend`] and one more arm of
//! [`Backend::signer`]; nothing outside this module names one.

#[cfg(feature = "gpu")]
pub mod gpu;

mod rows;
mod scalar;
mod simd;

use std::fmt;
use std::str::FromStr;

use crate::error::{Conflict, Error, Result};
use crate::pipeline::Signer;
use crate::scheme::{Family, Scheme};
use crate::simd::Isa;

/// A way to compute signatures, as it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The fastest that this machine has: lanes of the CPU, or a GPU if it is measured to be faster. A
    /// program that plays a GPU on the CPU is not considered.
    #[default]
    Auto,
    /// The definition, one value at a time.
    Scalar,
    /// SIMD lanes of the CPU.
    Simd,
    /// A GPU; what it fails to do, lanes of the CPU.
    Gpu,
    /// A GPU and the CPU, from one queue.
    Hybrid,
}

const NAMES: [(&str, Backend); 5] = [
    ("auto", Backend::Auto),
    ("scalar", Backend::Scalar),
    ("simd", Backend::Simd),
    ("gpu", Backend::Gpu),
    ("hybrid", Backend::Hybrid),
];

/// What of this machine is used, where there is a choice. No result depends on it.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// Vector instructions of the CPU.
    pub isa: Isa,
    /// The device, with [`Backend::Gpu`] and [`Backend::Hybrid`].
    #[cfg(feature = "gpu")]
    pub gpu: gpu::GpuOptions,
}

impl Default for Hardware {
    /// The fastest instructions, the first device.
    fn default() -> Self {
        Hardware {
            isa: Isa::best(),
            #[cfg(feature = "gpu")]
            gpu: gpu::GpuOptions::default(),
        }
    }
}

impl Backend {
    /// Every name that [`Backend::from_str`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }

    /// Opens the backend for a scheme; do it once, then sign many batches.
    ///
    /// # Errors
    /// When a backend that was named cannot run here. Only `auto` chooses.
    pub fn signer(self, scheme: &Scheme) -> Result<Box<dyn Signer>> {
        self.signer_on(scheme, Isa::best())
    }

    /// The same, with certain instructions in place of the fastest. Texts are shingled with those of
    /// [`Shingler::with_isa`](crate::pipeline::Shingler::with_isa). No result depends on either.
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::documents::TextBatch;
    /// use simgpu::pipeline::{Shingler, Shingling, Signatures};
    /// use simgpu::scheme::Scheme;
    /// use simgpu::simd::Isa;
    ///
    /// let scheme = Scheme::default();
    /// let texts: TextBatch = ["a rose is a rose is a rose"].into_iter().collect();
    /// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
    /// let fastest = Signatures::of_texts(&*Backend::Auto.signer(&scheme)?, &texts, &shingler)?;
    /// for isa in Isa::available() {
    ///     let signer = Backend::Simd.signer_on(&scheme, *isa)?;
    ///     let shingler = shingler.clone().with_isa(*isa);
    ///     assert_eq!(Signatures::of_texts(&*signer, &texts, &shingler)?, fastest);
    /// }
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::signer`].
    pub fn signer_on(self, scheme: &Scheme, isa: Isa) -> Result<Box<dyn Signer>> {
        self.signer_with(
            scheme,
            &Hardware {
                isa,
                ..Hardware::default()
            },
        )
    }

    /// The same, with a choice of all hardware.
    ///
    /// # Errors
    /// As [`Backend::signer`].
    pub fn signer_with(self, scheme: &Scheme, hardware: &Hardware) -> Result<Box<dyn Signer>> {
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let simd =
            || -> Box<dyn Signer> { Box::new(simd::Simd::new(&permutations, empty, hardware.isa)) };
        Ok(match self {
            Backend::Scalar => Box::new(scalar::Scalar::new(&permutations, empty)),
            Backend::Simd => simd(),
            #[cfg(not(feature = "gpu"))]
            Backend::Auto => simd(),
            #[cfg(feature = "gpu")]
            Backend::Auto => gpu::auto::choose(&permutations, empty, &hardware.gpu, || simd()),
            #[cfg(feature = "gpu")]
            Backend::Gpu | Backend::Hybrid => Box::new(gpu::Gpu::new(
                &permutations,
                empty,
                &hardware.gpu,
                simd(),
                self == Backend::Hybrid,
            )?),
            #[cfg(not(feature = "gpu"))]
            Backend::Gpu | Backend::Hybrid => {
                return Err(Error::Unsupported(format!(
                    "this build has no backend {self}; build it with the feature gpu"
                )));
            }
        })
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

/// The error of a batch whose hashes or slots have the wrong width.
fn unfit(family: Family) -> Error {
    Conflict::SchemeWidths {
        hash_bits: 8 * family.hash_width().bytes(),
        slot_bits: 8 * family.slot_width().bytes(),
    }
    .into()
}
