//! The vector instructions of this CPU.

use std::fmt;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
use super::kernel::Kernel;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon::Neon;
use super::portable::Portable;
use crate::error::{Conflict, Error, Result};

/// A set of vector instructions that this CPU has. A value is the proof: only [`Isa::available`] makes one.
///
/// ```
/// # use simgpu_kernels as simgpu;
/// use simgpu::simd::Isa;
///
/// assert_eq!(Isa::available()[0].to_string(), "portable");
/// assert_eq!(Isa::named("portable")?, Isa::available()[0]);
/// # Ok::<(), simgpu_base::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(pub(super) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512<false>),
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(Avx512<true>),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(Neon),
}

/// A number for each instruction set.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "each architecture has some of them")]
pub(crate) struct ByIsa {
    pub(super) portable: usize,
    pub(super) avx2: usize,
    pub(super) avx512: usize,
    pub(super) avx512vnni: usize,
    pub(super) neon: usize,
}

/// The names of all instruction sets, on any CPU.
const NAMES: [&str; 5] = ["portable", "avx2", "avx512", "avx512vnni", "neon"];

impl Isa {
    /// The instruction sets of this CPU, the slowest first. Detects them once per process.
    pub fn available() -> &'static [Isa] {
        static AVAILABLE: OnceLock<Vec<Isa>> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            let kinds = [
                Some(Kind::Portable(Portable)),
                #[cfg(target_arch = "x86_64")]
                Avx2::detect().map(Kind::Avx2),
                #[cfg(target_arch = "x86_64")]
                Avx512::detect().map(Kind::Avx512),
                #[cfg(target_arch = "x86_64")]
                Avx512::detect().map(Kind::Avx512Vnni),
                #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
                Neon::detect().map(Kind::Neon),
            ];
            kinds.into_iter().flatten().map(Isa).collect()
        })
    }

    /// The fastest instruction set of this CPU.
    pub fn best() -> Isa {
        let best = Isa::available().last();
        best.copied().unwrap_or(Isa(Kind::Portable(Portable)))
    }

    /// The instruction set of a name: `portable`, `avx2`, `avx512`, `avx512vnni` or `neon`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another name, [`Error::Conflict`] when this CPU lacks it.
    pub fn named(name: &str) -> Result<Isa> {
        let available = || Isa::available().iter();
        if let Some(isa) = available().find(|isa| isa.name() == name) {
            return Ok(*isa);
        }
        if NAMES.contains(&name) {
            let has: Vec<&str> = available().map(|isa| isa.name()).collect();
            let has = has.join(", ");
            return Err(Conflict::MissingInstructions {
                name: name.to_owned(),
                available: has,
            }
            .into());
        }
        Err(Error::UnknownName {
            what: "instruction set",
            name: name.to_owned(),
            known: NAMES.join(", "),
        })
    }

    /// The names that [`Isa::named`] accepts on some CPU.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni(_) => "avx512vnni",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Kind::Neon(_) => "neon",
        }
    }

    pub(super) fn choose(self, of: ByIsa) -> usize {
        match self.0 {
            Kind::Portable(_) => of.portable,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => of.avx2,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => of.avx512,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni(_) => of.avx512vnni,
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Kind::Neon(_) => of.neon,
        }
    }

    /// Runs a kernel that is compiled for these instructions.
    #[inline]
    #[doc(hidden)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Kind::Portable(lanes) => kernel.run(lanes),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(lanes) => lanes.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(lanes) => lanes.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni(lanes) => lanes.run(kernel),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Kind::Neon(lanes) => lanes.run(kernel),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
