//! A build without GPUs has no steps on a device.

use super::builder::Builder;
use super::hashes::SigningCase;
use crate::targets::ComputeTarget;
use simgpu::Result;
use simgpu::pipeline::Shingling;
use simgpu::scheme::Scheme;

impl Builder<'_> {
    pub(super) fn add_steps(&mut self, _: &ComputeTarget, _: SigningCase<'_>) -> Result<()> {
        Ok(())
    }

    pub(super) fn add_text_steps(
        &mut self,
        _: &ComputeTarget,
        _: &Scheme,
        _: &Shingling,
    ) -> Result<()> {
        Ok(())
    }
}
