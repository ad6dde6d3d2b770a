//! Every program of the GPU backend, for tools that look at what compilers and drivers make of them.
//!
//! `examples/gpu_programs.rs` writes them for `scripts/gpu-isa.sh`, so that no second list of shaders exists.

use std::sync::Arc;

use crate::backend::gpu::adapter::{found, noop};
use crate::backend::gpu::device::{Attempt, Device, Program};
use crate::backend::gpu::options::GpuOptions;
use crate::backend::gpu::preparation::PreparedDevice;
use crate::backend::gpu::shader::{Integers, Products, ShaderInput, SignShader, has_products};
use crate::backend::gpu::signer::Gpu;
use crate::backend::gpu::workgroup::QUAD;
use crate::backend::simd::Simd;
use crate::error::{Error, Result, Unsupported};
use crate::pipeline::Banding;
use crate::scheme::Scheme;
use crate::simd::Isa;

/// A program as a device gets it, for signatures of 128 slots.
#[derive(Clone, Debug)]
pub struct GpuProgram {
    /// The source of its module.
    pub wgsl: String,
    /// Where it begins.
    pub entry_point: &'static str,
    /// Values of the constants that the module leaves open.
    pub constants: Vec<(&'static str, u32)>,
    /// Permutations of a thread; 0 where it signs nothing.
    pub thread_permutations: usize,
    /// 32-bit words of a slot, and of a shingle in workgroup memory.
    pub slot_words: usize,
}

/// The name of a program, and the program or why the device refused it.
pub type MadeProgram = (String, std::result::Result<GpuProgram, String>);

/// Makes every program on an adapter, once per form of integers that it has. `None` is a device that accepts
/// everything and computes nothing; this build has one if wgpu's feature `noop` is on.
///
/// # Errors
/// [`Error::Unsupported`] where there is no such adapter, or it cannot be opened.
pub fn gpu_programs(adapter: Option<usize>) -> Result<Vec<MadeProgram>> {
    let adapter = match adapter {
        Some(number) => found().get(number).cloned(),
        None => noop(),
    };
    let adapter = adapter.ok_or(Error::Unsupported(Unsupported::NoAdapter))?;
    let mut made = Vec::new();
    for integers in [Integers::U32, Integers::U64] {
        if integers == Integers::U32 || adapter.features().contains(wgpu::Features::SHADER_INT64) {
            let device = Arc::new(Device::of(&adapter, integers)?);
            add_programs(&device, &mut made)?;
        }
    }
    Ok(made)
}

/// Makes the programs of all families that have a form of their own for the device's integers.
fn add_programs(device: &Arc<Device>, made: &mut Vec<MadeProgram>) -> Result<()> {
    let integers = match device.integers {
        Integers::U32 => "u32",
        Integers::U64 => "u64",
    };
    for name in Scheme::names() {
        let scheme = Scheme::named(name)?;
        let has_input = |input: &ShaderInput| {
            SignShader::new(scheme.family(), device.integers, *input).exists()
        };
        // A preset has the shaders of its family.
        if scheme.preset().is_some() || !ShaderInput::ALL.iter().any(has_input) {
            continue;
        }
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
        let options = GpuOptions::default();
        let prepared =
            PreparedDevice::on(device.clone(), &permutations, empty, &options, cpu, false);
        let gpu = match prepared {
            Ok(prepared) => Gpu(prepared),
            Err(error) => {
                made.push((format!("{name}.{integers}"), Err(error.to_string())));
                continue;
            }
        };
        let mut add = |what: &str, program: Program, thread_permutations: usize| {
            let program = make(&gpu, program, thread_permutations);
            let program = program.map_err(|failure| failure.to_string());
            made.push((format!("{name}.{integers}.{what}"), program));
        };
        for input in ShaderInput::ALL.into_iter().filter(has_input) {
            let program = gpu.0.program(input);
            let (_, entry_point, _) = Device::source(program);
            let input = entry_point.trim_start_matches("sign_");
            add(input, program, QUAD);
        }
        if has_products(scheme.family()) {
            let program = gpu.0.program_by(Products::Bytes, ShaderInput::Hashes);
            add("hashes-by-bytes", program, QUAD);
        }
        // One shape of bands: the shader is the same for all families.
        let banding = Banding::new(16, 8, scheme.num_perm())?;
        add("band_keys", gpu.band_keys_program(banding), 0);
    }
    Ok(())
}

/// Has a program made by the driver.
fn make(gpu: &Gpu, program: Program, thread_permutations: usize) -> Attempt<GpuProgram> {
    gpu.0.device.pipeline(program)?;
    let (wgsl, entry_point, constants) = Device::source(program);
    Ok(GpuProgram {
        wgsl,
        entry_point,
        constants,
        thread_permutations,
        slot_words: gpu.0.shape.slot_bytes / 4,
    })
}
