//! Which instructions this CPU has.

use std::fmt;
use std::sync::OnceLock;

/// A set of instructions that this CPU has: to hold one is the proof of it, for only
/// [`Isa::available`] makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Isa(Kind);

/// The sets for which kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What the crate was compiled for, by the lanes of the `wide` crate.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// All that this CPU has, the slowest first. It is asked once.
    pub(super) fn available() -> &'static [Isa] {
        static AVAILABLE: OnceLock<Vec<Isa>> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            #[allow(unused_mut, reason = "other architectures have no more")]
            let mut available = vec![Isa(Kind::Portable)];
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") {
                    available.push(Isa(Kind::Avx2));
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                {
                    available.push(Isa(Kind::Avx512));
                }
            }
            available
        })
    }

    /// The fastest.
    pub(super) fn best() -> Isa {
        let best = Isa::available().last();
        best.copied().unwrap_or(Isa(Kind::Portable))
    }

    /// Which set it is.
    pub(super) fn kind(self) -> Kind {
        self.0
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        })
    }
}
