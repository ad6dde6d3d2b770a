//! Hands the programs of the GPU backend to scripts/gpu-isa.sh.
//!
//!   gpu_programs FOLDER     writes each as SPIR-V and as Metal, and programs.json, which lists them
//!   gpu_programs --drivers  makes each on every adapter of this machine, and fails where a driver refuses one

#![allow(clippy::print_stdout, reason = "the output is for a script")]

use std::path::Path;
use std::process::ExitCode;

use naga::back::{PipelineConstants, msl, pipeline_constants::process_overrides, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ShaderStage};
use serde_json::{Value, json};
use simgpu::backend::gpu::adapters;
use simgpu::internals::{GpuProgram, gpu_programs};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [option] if option == "--drivers" => check_drivers(),
        [folder] => write(Path::new(folder)),
        _ => panic!("gpu_programs FOLDER, or gpu_programs --drivers"),
    }
}

/// Makes all programs on each adapter.
fn check_drivers() -> ExitCode {
    let (mut tried, mut refused) = (0, 0);
    for adapter in adapters() {
        let made = match gpu_programs(Some(adapter.number)) {
            Ok(made) => made,
            Err(error) => {
                println!("{}, {}: {error}", adapter.name, adapter.driver);
                refused += 1;
                continue;
            }
        };
        let failures = made.iter().filter_map(|(name, program)| {
            let reason = program.as_ref().err()?;
            Some(format!("{name}: {reason}"))
        });
        let failures: Vec<String> = failures.collect();
        let taken = made.len() - failures.len();
        println!(
            "{}, {}: {taken} of {} programs taken",
            adapter.name,
            adapter.driver,
            made.len()
        );
        failures
            .iter()
            .for_each(|failure| println!("  refused {failure}"));
        tried += made.len();
        refused += failures.len();
    }
    if tried == 0 {
        println!("no adapter took a program");
    }
    if tried > 0 && refused == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Writes all programs, and the list of them.
fn write(folder: &Path) -> ExitCode {
    std::fs::create_dir_all(folder).expect("a folder");
    let mut list = Vec::new();
    for (name, program) in gpu_programs(None).expect("a device that does nothing") {
        let program = program.unwrap_or_else(|reason| panic!("{name}: {reason}"));
        list.push(write_program(folder, &name, &program));
    }
    let list = serde_json::to_string_pretty(&list).expect("JSON");
    std::fs::write(folder.join("programs.json"), list).expect("a file");
    ExitCode::SUCCESS
}

/// Writes one program as SPIR-V and Metal, and returns its entry of the list.
fn write_program(folder: &Path, name: &str, program: &GpuProgram) -> Value {
    let wgsl = &program.wgsl;
    let module = naga::front::wgsl::parse_str(wgsl)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(wgsl)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(wgsl)));
    let mut values = PipelineConstants::default();
    for (constant, value) in &program.constants {
        values.insert((*constant).to_owned(), f64::from(*value));
    }
    let entry_point = program.entry_point;
    let entry = Some((ShaderStage::Compute, entry_point));
    let (module, info) = process_overrides(&module, &info, entry, &values)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    std::fs::write(
        folder.join(format!("{name}.spv")),
        spirv(&module, &info, entry_point),
    )
    .expect("a file");
    std::fs::write(
        folder.join(format!("{name}.metal")),
        metal(&module, &info, entry_point),
    )
    .expect("a file");

    let workgroup_size = module.entry_points[0].workgroup_size;
    let bindings = module.global_variables.iter();
    let bindings = bindings.filter_map(|(_, variable)| variable.binding.as_ref());
    json!({
        "name": name,
        "entry_point": entry_point,
        "constants": program.constants.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
        "threads": workgroup_size[0],
        "thread_permutations": program.thread_permutations,
        "slot_words": program.slot_words,
        "bindings": bindings.map(|binding| binding.binding + 1).max().unwrap_or(0),
    })
}

/// Without checks, as the backend has wgpu compile its shaders.
const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// What wgpu hands to a Vulkan driver.
fn spirv(module: &Module, info: &ModuleInfo, entry_point: &str) -> Vec<u8> {
    let options = spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        fake_missing_bindings: true,
        bounds_check_policies: UNCHECKED,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions {
        entry_point: entry_point.to_owned(),
        shader_stage: ShaderStage::Compute,
    };
    let words = spv::write_vec(module, info, &options, Some(&pipeline)).expect("SPIR-V");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// What wgpu hands to Metal's compiler.
fn metal(module: &Module, info: &ModuleInfo, entry_point: &str) -> String {
    let options = msl::Options {
        lang_version: (2, 3),
        fake_missing_bindings: true,
        bounds_check_policies: UNCHECKED,
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..msl::Options::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((ShaderStage::Compute, entry_point.to_owned())),
        ..msl::PipelineOptions::default()
    };
    let (text, _) = msl::write_string(module, info, &options, &pipeline).expect("Metal");
    text
}
