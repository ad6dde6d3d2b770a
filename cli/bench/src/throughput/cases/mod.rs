//! The cases of a plan: what each one measures, and the result it must produce.
//!
//! ```text
//! builder       adds cases, checks what a target supports, computes expected checksums
//! hashes        signing from random hashes
//! texts         signing from texts, and shingling
//! device_steps  upload, kernel and readback of one load on a device
//! stages        the stages around signing, and whole runs
//! of_plan       all of them
//! ```

mod builder;

mod hashes;

mod texts;

#[cfg(feature = "gpu")]
mod device_steps;

#[cfg(not(feature = "gpu"))]
#[path = "no_device_steps.rs"]
mod device_steps;

mod stages;

mod of_plan;

#[cfg(test)]
pub(in crate::throughput) use self::builder::Builder;
pub(super) use self::of_plan::Cases;
