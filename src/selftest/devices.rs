//! The devices to check.

use super::check::Selftest;
use super::machine::Machine;
use crate::backend::gpu::{Integers, adapters};
use crate::backend::{Backend, Hardware};
use crate::error::Result;
use crate::simd::Isa;

impl Selftest {
    /// Adds all devices to check, each with both forms of its kernels.
    pub(super) fn add_devices(&self, machines: &mut Vec<Machine>) -> Result<()> {
        let backend = match self.backend {
            Backend::Hybrid => Backend::Hybrid,
            _ => Backend::Gpu,
        };
        for device in self.devices() {
            for integers in [Integers::U64, Integers::U32] {
                let mut hardware = Hardware {
                    isa: self.isa.unwrap_or_else(Isa::best),
                    gpu: self.gpu.clone(),
                };
                hardware.gpu.device = device;
                hardware.gpu.integers = Some(integers);
                let machine = Machine::new(backend, hardware)?;
                // An adapter without 64-bit integers has a single form, listed once.
                if !machines.iter().any(|listed| listed.name == machine.name) {
                    machines.push(machine);
                }
            }
        }
        Ok(())
    }

    /// The number of each device; `None` for the first.
    fn devices(&self) -> Vec<Option<usize>> {
        match self.backend {
            Backend::Gpu | Backend::Hybrid => vec![self.gpu.device],
            Backend::Auto => {
                let adapters = adapters();
                let hardware = adapters.iter().filter(|adapter| !adapter.is_software);
                hardware.map(|adapter| Some(adapter.number)).collect()
            }
            _ => Vec::new(),
        }
    }
}
