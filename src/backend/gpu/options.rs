//! What an embedder chooses about a device.

use super::bounds::Bounds;
use super::shader::{Integers, Products};

/// Which device signs, and how.
///
/// ```
/// use simgpu::backend::gpu::GpuOptions;
///
/// let second = GpuOptions {
///     device: Some(1),
///     ..GpuOptions::default()
/// };
/// # assert_eq!(second.integers, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// The number of an adapter in [`adapters`](super::adapters); `None` selects the first.
    pub device: Option<usize>,
    /// The integers that shaders use; `None` selects the widest that the adapter has.
    pub integers: Option<Integers>,
    /// Hooks of this project's own tests.
    #[cfg(any(test, feature = "internals"))]
    #[doc(hidden)]
    pub hooks: Hooks,
}

/// What only this project's own tests change.
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    not(feature = "internals"),
    allow(unreachable_pub, reason = "public with the feature `internals` only")
)]
pub struct Hooks {
    /// Limits of a load.
    pub bounds: Bounds,
    /// Loads after which the device is lost on purpose.
    pub lose_after: Option<u32>,
    /// How shaders multiply; `None` has it measured.
    pub products: Option<Products>,
}

impl GpuOptions {
    /// Limits of a load.
    pub(super) fn bounds(&self) -> Bounds {
        #[cfg(any(test, feature = "internals"))]
        return self.hooks.bounds;
        #[cfg(not(any(test, feature = "internals")))]
        Bounds::default()
    }

    /// How shaders multiply; `None` has it measured.
    pub(super) fn products(&self) -> Option<Products> {
        #[cfg(any(test, feature = "internals"))]
        return self.hooks.products;
        #[cfg(not(any(test, feature = "internals")))]
        None
    }

    /// Loads after which a test has the device lost.
    pub(super) fn lose_after(&self) -> Option<u32> {
        #[cfg(any(test, feature = "internals"))]
        return self.hooks.lose_after;
        #[cfg(not(any(test, feature = "internals")))]
        None
    }
}
