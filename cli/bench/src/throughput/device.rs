//! The steps of one load on a GPU: upload, kernel, readback.

use std::sync::Arc;

use super::checksum::checksum_of_slots;
use super::runner::Workload;
use simgpu::Result;
use simgpu::internals::DeviceLoad;

/// A step of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Upload,
    Kernel,
    Readback,
}

/// One step of a load that the workloads of all steps share.
pub(super) struct DeviceStep {
    pub(super) load: Arc<DeviceLoad>,
    pub(super) step: Step,
    pub(super) rows: Vec<u8>,
}

impl Workload for DeviceStep {
    fn pass(&mut self) -> Result<()> {
        self.passes(1)
    }

    fn passes(&mut self, passes: u32) -> Result<()> {
        match self.step {
            Step::Upload => (0..passes).try_for_each(|_| self.load.upload()),
            Step::Kernel => self.load.run_kernel(passes),
            Step::Readback => (0..passes).try_for_each(|_| self.load.read_back(&mut self.rows)),
        }
    }

    /// Checksum of the signatures on the device after the step.
    fn checksum(&mut self) -> Result<u64> {
        if self.step == Step::Upload {
            self.load.run_kernel(1)?;
        }
        if self.step != Step::Readback {
            self.load.read_back(&mut self.rows)?;
        }
        let signatures = self.load.signatures(&self.rows);
        Ok(checksum_of_slots(signatures.slots()))
    }

    fn ceiling_updates_per_s(&self) -> Option<f64> {
        match self.step {
            Step::Kernel => self.load.ceiling_updates_per_s(),
            Step::Upload | Step::Readback => None,
        }
    }
}
