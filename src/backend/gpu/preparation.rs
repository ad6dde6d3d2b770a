//! A device prepared for one scheme, and the CPU signer that stands in for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::channel::{Channel, Sent};
use super::device::{Attempt, Device, Failure, Program, lock};
use super::load::{Document, LoadShape};
use super::options::GpuOptions;
use super::shader::{self, Integers, Products, ShaderInput, SignShader};
use super::slot::{Dispatch, KeyPass};
use super::workgroup::{QUAD, Workgroup};
use crate::error::{Error, Result, Unsupported};
use crate::pipeline::Signer;
use crate::scheme::{Family, Permutations};

/// A device prepared for one scheme: what all threads of a call share.
pub(super) struct PreparedDevice {
    pub(super) device: Arc<Device>,
    pub(super) family: Family,
    /// How its shaders multiply.
    pub(super) products: Products,
    pub(super) num_perm: usize,
    /// Every slot of the empty set.
    pub(super) empty: u64,
    pub(super) shape: LoadShape,
    pub(super) channel: Channel,
    /// Signs what the device does not.
    pub(super) cpu: Box<dyn Signer>,
    /// Whether the CPU signs whenever no load can be sent.
    pub(super) is_hybrid: bool,
    /// Whether a notice already says that the device failed.
    has_warned: AtomicBool,
    notices: Mutex<Vec<String>>,
}

impl PreparedDevice {
    /// Opens a device for a scheme.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is no device, or it cannot compute the scheme.
    pub(super) fn new(
        permutations: &Permutations,
        empty: u64,
        options: &GpuOptions,
        cpu: Box<dyn Signer>,
        is_hybrid: bool,
    ) -> Result<Self> {
        // Before a device is opened for nothing.
        shader::check(permutations.family(), Integers::U64).map_err(Error::Unsupported)?;
        let device = Device::open(options)?;
        PreparedDevice::on(device, permutations, empty, options, cpu, is_hybrid)
    }

    /// Prepares an open device.
    pub(super) fn on(
        device: Arc<Device>,
        permutations: &Permutations,
        empty: u64,
        options: &GpuOptions,
        cpu: Box<dyn Signer>,
        is_hybrid: bool,
    ) -> Result<Self> {
        let family = permutations.family();
        shader::check(family, device.integers).map_err(Error::Unsupported)?;
        let num_perm = permutations.num_perm();
        let row_slots = num_perm.next_multiple_of(QUAD);
        let slot_bytes = family.slot_width().bytes();
        let shader = SignShader::new(family, device.integers, ShaderInput::Hashes);
        let most = device.limits.max_compute_invocations_per_workgroup;
        let most = most.min(device.limits.max_compute_workgroup_size_x);
        let workgroup = Workgroup::new(row_slots, most);
        let mut bounds = options.hooks.bounds;
        bounds.tile_bytes = bounds.tile_bytes.min(shader.most_tile_bytes());
        let shape = LoadShape {
            bounds: bounds.within(
                &device.limits,
                device.is_software,
                row_slots * slot_bytes,
                slot_bytes,
                workgroup,
            ),
            row_slots,
            slot_bytes,
            workgroup,
        };
        let words = shader.coefficients(permutations.a(), permutations.b());
        let refused = |failure: Failure| {
            Error::Unsupported(Unsupported::DeviceFailed {
                device: device.name.clone(),
                reason: failure.to_string(),
            })
        };
        let coefficients = device.storage(bytemuck::cast_slice(&words));
        let prepared = PreparedDevice {
            family,
            products: Products::Whole,
            num_perm,
            empty,
            shape,
            channel: Channel::new(
                device.clone(),
                coefficients.map_err(refused)?,
                shape,
                options.hooks.lose_after,
            ),
            cpu,
            is_hybrid,
            has_warned: AtomicBool::new(false),
            notices: Mutex::default(),
            device: device.clone(),
        };
        // A shader that does not compile is an error now, not a failure later.
        prepared.pipeline(ShaderInput::Hashes).map_err(refused)?;
        Ok(prepared)
    }

    /// The compiled shader for an input.
    pub(super) fn pipeline(&self, input: ShaderInput) -> Attempt<Arc<wgpu::ComputePipeline>> {
        self.device.pipeline(self.program(input))
    }

    /// What is compiled for an input.
    pub(super) fn program(&self, input: ShaderInput) -> Program {
        self.program_by(self.products, input)
    }

    /// What is compiled for an input, to multiply in one of two ways.
    pub(super) fn program_by(&self, products: Products, input: ShaderInput) -> Program {
        Program::Sign {
            shader: SignShader::new(self.family, self.device.integers, input).by(products),
            workgroup: self.shape.workgroup,
            tile_quads: self.shape.tile_quads(),
        }
    }

    /// What is dispatched for loads of an input, for band keys if a pass makes them.
    pub(super) fn dispatch(
        &self,
        input: ShaderInput,
        key_pass: Option<KeyPass>,
    ) -> Attempt<Dispatch> {
        Ok(Dispatch {
            pipeline: self.pipeline(input)?,
            key_pass,
        })
    }

    /// Sends documents. Notes a failure of the device, of which all documents are left to the CPU.
    pub(super) fn send(
        &self,
        documents: &[Option<Document<'_>>],
        dispatch: &Attempt<Dispatch>,
    ) -> Sent {
        let sent = match dispatch {
            Ok(dispatch) => self.channel.send(documents, dispatch, self.is_hybrid),
            Err(failure) => Sent::none(documents, failure),
        };
        if let Some(failure) = &sent.failure {
            self.note(failure);
        }
        sent
    }

    /// Gives the device up where a failure is final, and leaves a notice of the first failure.
    pub(super) fn note(&self, failure: &Failure) {
        let failure = self.device.give_up(failure);
        if self.has_warned.swap(true, Ordering::Relaxed) {
            return;
        }
        lock(&self.notices).push(format!(
            "the GPU ({}) failed: {failure}; the CPU signs the rest, with the same values",
            self.device.name
        ));
    }

    /// Hands out the notices, each once.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notices))
    }
}
