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
    #[doc(hidden)]
    pub hooks: Hooks,
}

/// What only this project's own tests change.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Hooks {
    /// Limits of a load.
    pub bounds: Bounds,
    /// Loads after which the device is lost on purpose.
    pub lose_after: Option<u32>,
    /// How shaders multiply; `None` has it measured.
    pub products: Option<Products>,
}
