//! GPUs, through wgpu: signatures of texts or shingle hashes on any adapter, with the bits of the CPU.
//!
//! [`adapters`] lists the devices of this machine, and [`GpuOptions`] selects one of them for
//! [`Backend::Gpu`](super::Backend::Gpu) and [`Backend::Hybrid`](super::Backend::Hybrid). The CPU signs
//! whatever a device fails to sign; [`Signer::notices`](crate::pipeline::Signer::notices) reports it. Not
//! every scheme suits a device: [`computes`] tells which do.

// Threads fill loads with documents together (`channel`), several of which are in flight, and fold the rows that come back:
// those of a whole call in shares (`batches`), or those of one piece of a run while others are under way (`texts`).

mod shader;

mod workgroup;

mod bounds;

mod options;

mod adapter;

mod device;

mod load;

mod slot;

#[cfg(test)]
mod trace;

mod channel;

mod documents;

mod rows;

mod preparation;

mod batches;

mod in_flight;

mod resident;

mod products;

mod signer;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

mod auto;

#[cfg(test)]
mod tests;

pub use self::adapter::{Adapter, adapters, has_searched};
pub(super) use self::auto::choose;
#[doc(hidden)]
pub use self::bounds::Bounds;
pub use self::options::GpuOptions;
#[doc(hidden)]
pub use self::options::Hooks;
#[doc(hidden)]
pub use self::shader::Products;
pub use self::shader::{Integers, computes};
pub(super) use self::signer::open;
