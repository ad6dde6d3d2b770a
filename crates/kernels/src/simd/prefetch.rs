//! Asks for memory before it is needed.
#![allow(unsafe_code, reason = "one intrinsic, which reads nothing")]

/// Asks the CPU to load the line of the cache with item `at`, if there is one. Changes no result.
#[inline(always)]
#[doc(hidden)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address has no effect but on the cache; this one is that of an item.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}
