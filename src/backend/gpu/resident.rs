//! A load that stays on a device, so that the shader can be run on it alone.

use std::sync::mpsc::channel;

use super::device::{Attempt, Failure};
use super::documents::DeviceWork;
use super::load::Load;
use super::preparation::PreparedDevice;
use super::shader::ShaderInput;
use super::slot::Slot;
use crate::pipeline::NormalisedTexts;

/// A load on a device: as many of the first documents as one load holds.
#[cfg_attr(
    not(feature = "internals"),
    allow(dead_code, reason = "only benches and tests read the rows")
)]
pub(super) struct ResidentLoad {
    pub(super) slot: Slot,
    pub(super) input: Vec<u8>,
    /// The document of each row.
    pub(super) documents: Vec<usize>,
    pub(super) shingles: u64,
    groups: [u32; 2],
}

impl ResidentLoad {
    /// Sends the first documents to a device.
    pub(super) fn send<D: DeviceWork>(
        gpu: &PreparedDevice,
        documents: &D,
        input_kind: ShaderInput,
    ) -> Attempt<Self> {
        let device = &*gpu.device;
        let dispatch = gpu.dispatch(input_kind, None)?;
        let slot = gpu.channel.slot()?;
        let shape = slot.shape;
        let mut texts = NormalisedTexts::default();
        let mut input = Vec::new();
        let mut load = Load::default();
        let mut rows = Vec::new();
        let mut shingles = 0;
        for i in 0..documents.len() {
            let laid_out = documents.lay_out(i..i + 1, &mut texts);
            let document = laid_out[0].filter(|document| document.count > 0);
            let Some(document) = document else { continue };
            let Some(added) = load.add(&shape, &document, 0, true) else {
                break;
            };
            input.extend_from_slice(&document.bytes[added.bytes]);
            rows.resize(dispatch.rows(&load), i);
            shingles += added.shingles as u64;
            if added.shingles < document.count {
                break;
            }
        }
        if load.is_empty() {
            return Err(Failure::Refused("there is nothing to sign".to_owned()));
        }
        input.resize(input.len().next_multiple_of(4), 0);
        let (_, groups) = load.items(&shape);
        let written = slot.input().write(device, 0, [&input[..]])?;
        let mut sent = slot.send(device, &load, vec![written], &dispatch)?;
        device.wait(shape.bounds.timeout, || sent.is_done())?;
        let slot = sent.receive(device, &mut Vec::new())?;
        Ok(ResidentLoad {
            slot,
            input,
            documents: rows,
            shingles,
            groups,
        })
    }

    /// Runs the shader `times` times in one submission, and waits for the last run.
    pub(super) fn run(
        &self,
        gpu: &PreparedDevice,
        input_kind: ShaderInput,
        times: u32,
    ) -> Attempt<()> {
        let device = &*gpu.device;
        let pipeline = gpu.pipeline(input_kind)?;
        let (sender, done) = channel();
        device.attempt(|| {
            let mut encoder = device.device.create_command_encoder(&Default::default());
            for _ in 0..times {
                self.slot.dispatch(&mut encoder, self.groups, &pipeline);
            }
            encoder.on_submitted_work_done(move || {
                let _ = sender.send(());
            });
            device.submit(encoder.finish());
            Ok(())
        })?;
        device.wait(gpu.shape.bounds.timeout, || done.try_recv().is_ok())
    }
}
