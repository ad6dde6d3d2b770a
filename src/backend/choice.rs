//! The choice of a backend, and how it is opened.
//!
//! To add a backend, add a file or folder here, a variant of [`Backend`] and an arm of
//! [`Backend::signer_with`]; code outside this module names no backend.

#[cfg(feature = "gpu")]
use super::gpu;
use super::hardware::{Backend, Hardware};
#[cfg(not(feature = "gpu"))]
use super::no_gpu as gpu;
use super::scalar::Scalar;
use super::simd::Simd;
use crate::error::Result;
use crate::pipeline::Signer;
use crate::scheme::{Permutations, Scheme};
use crate::simd::Isa;

impl Backend {
    /// Opens the backend for a scheme. Open it once, then sign many batches.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) when a named backend cannot run here. `auto` always runs.
    pub fn signer(self, scheme: &Scheme) -> Result<Box<dyn Signer>> {
        self.signer_on(scheme, Isa::best())
    }

    /// Opens the backend with chosen vector instructions instead of the fastest.
    /// [`Shingler::with_isa`](crate::pipeline::Shingler::with_isa) chooses those of shingling. No result
    /// depends on either.
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::pipeline::{Shingler, Shingling, Signatures};
    /// use simgpu::scheme::Scheme;
    /// use simgpu::simd::Isa;
    ///
    /// let scheme = Scheme::default();
    /// let texts = ["a rose is a rose is a rose"];
    /// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
    /// let fastest = Signatures::of_documents(&*Backend::Auto.signer(&scheme)?, &texts, &shingler)?;
    /// for isa in Isa::available() {
    ///     let signer = Backend::Simd.signer_on(&scheme, *isa)?;
    ///     let shingler = shingler.clone().with_isa(*isa);
    ///     assert_eq!(Signatures::of_documents(&*signer, &texts, &shingler)?, fastest);
    /// }
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::signer`].
    pub fn signer_on(self, scheme: &Scheme, isa: Isa) -> Result<Box<dyn Signer>> {
        self.signer_with(scheme, &Hardware::with_isa(isa))
    }

    /// Opens the backend on chosen hardware.
    ///
    /// # Errors
    /// As [`Backend::signer`].
    pub fn signer_with(self, scheme: &Scheme, hardware: &Hardware) -> Result<Box<dyn Signer>> {
        self.signer_for(scheme, hardware, None)
    }

    /// Opens the backend for given permutations, for example those of another tool's sketch
    /// ([`Permutations::from_coefficients`]). The slots of the empty set are [`Family::empty_slot`].
    ///
    /// ```
    /// use simgpu::backend::{Backend, Hardware};
    /// use simgpu::scheme::{Draws, Family, Hashes, Permutations, SlotsMut};
    ///
    /// // The first two permutations of another sketch.
    /// let all = Permutations::draw(Family::Mersenne61, Draws::Interleaved, 1, 128);
    /// let two = Permutations::from_coefficients(Family::Mersenne61, &all.a()[..2], &all.b()[..2])?;
    /// let signer = Backend::Simd.signer_of(&two, &Hardware::default())?;
    /// let mut slots = [0; 2];
    /// signer.sign_set(Hashes::U32(&[7]), SlotsMut::U32(&mut slots))?;
    /// assert_eq!(slots.map(u64::from), [all.value(0, 7), all.value(1, 7)]);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::signer`].
    ///
    /// [`Family::empty_slot`]: crate::scheme::Family::empty_slot
    pub fn signer_of(
        self,
        permutations: &Permutations,
        hardware: &Hardware,
    ) -> Result<Box<dyn Signer>> {
        self.open(
            permutations,
            permutations.family().empty_slot(),
            hardware,
            None,
        )
    }

    /// Opens the backend for a number of updates, if known. Only [`Backend::Auto`] depends on it. One update computes
    /// one slot for one shingle.
    pub(crate) fn signer_for(
        self,
        scheme: &Scheme,
        hardware: &Hardware,
        updates: Option<u64>,
    ) -> Result<Box<dyn Signer>> {
        self.open(
            &scheme.permutations(),
            scheme.empty_slot(),
            hardware,
            updates,
        )
    }

    fn open(
        self,
        permutations: &Permutations,
        empty: u64,
        hardware: &Hardware,
        updates: Option<u64>,
    ) -> Result<Box<dyn Signer>> {
        let cpu = || -> Box<dyn Signer> { Box::new(Simd::new(permutations, empty, hardware.isa)) };
        Ok(match self {
            Backend::Scalar => Box::new(Scalar::new(permutations, empty)),
            Backend::Simd => cpu(),
            Backend::Auto => gpu::choose(permutations, empty, hardware, updates, &cpu),
            Backend::Gpu | Backend::Hybrid => gpu::open(self, permutations, empty, hardware, &cpu)?,
        })
    }
}
