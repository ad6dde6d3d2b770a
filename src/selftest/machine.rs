//! The signers to check: backends on their hardware.

use crate::backend::{Backend, Hardware};
use crate::error::{Error, Result};
use crate::pipeline::Signer;
use crate::scheme::Scheme;
use crate::simd::Isa;

/// Opens a signer for a scheme.
type Open = dyn Fn(&Scheme) -> Result<Box<dyn Signer>>;

/// A backend with its hardware. Opens a signer per scheme.
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) isa: Isa,
    pub(super) open: Box<Open>,
}

impl Machine {
    /// Opens the backend once to get its name.
    pub(super) fn new(backend: Backend, hardware: Hardware) -> Result<Self> {
        Ok(Machine {
            name: backend
                .signer_with(&Scheme::default(), &hardware)?
                .describe(),
            isa: hardware.isa,
            open: Box::new(move |scheme| backend.signer_with(scheme, &hardware)),
        })
    }

    /// Why the backend does not support a scheme; `None` if it does.
    pub(super) fn unsupported(&self, scheme: &Scheme) -> Option<String> {
        match (self.open)(scheme) {
            Err(error @ Error::Unsupported(_)) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Computes with a new signer. Fails if another signer took over, because the check would then test that signer.
    pub(super) fn compute<T>(
        &self,
        scheme: &Scheme,
        compute: impl FnOnce(&dyn Signer) -> Result<T>,
    ) -> std::result::Result<T, String> {
        let signer = (self.open)(scheme).map_err(|error| error.to_string())?;
        let computed = compute(&*signer).map_err(|error| error.to_string())?;
        match signer.notices().pop() {
            None => Ok(computed),
            Some(notice) => Err(notice),
        }
    }
}
