//! The search for adapters.

use std::sync::OnceLock;

use pollster::block_on;

use super::shader::Integers;

/// A graphics adapter of this machine.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// The number that selects it: [`GpuOptions::device`](super::GpuOptions::device).
    pub number: usize,
    /// The device's name.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The driver and its version.
    pub driver: String,
    /// The interface it is used through: vulkan, metal or dx12.
    pub api: String,
    /// Whether it is software that runs on the CPU.
    pub is_software: bool,
    /// Whether shaders have 64-bit integers.
    pub has_u64: bool,
    /// Whether shaders have subgroup operations.
    pub has_subgroups: bool,
    /// The largest buffer in bytes.
    pub max_buffer_bytes: u64,
    /// The largest buffer that a shader can use, in bytes.
    pub max_binding_bytes: u64,
    /// Memory that the threads of a workgroup share, in bytes.
    pub workgroup_bytes: u32,
}

impl Adapter {
    fn of(number: usize, adapter: &wgpu::Adapter) -> Self {
        let (info, features, limits) = (adapter.get_info(), adapter.features(), adapter.limits());
        Adapter {
            number,
            kind: match info.device_type {
                wgpu::DeviceType::DiscreteGpu => "discrete",
                wgpu::DeviceType::IntegratedGpu => "integrated",
                wgpu::DeviceType::VirtualGpu => "virtual",
                wgpu::DeviceType::Cpu => "software",
                wgpu::DeviceType::Other => "other",
            },
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            name: info.name,
            api: info.backend.to_string(),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            has_u64: features.contains(wgpu::Features::SHADER_INT64),
            has_subgroups: features.contains(wgpu::Features::SUBGROUP),
            max_buffer_bytes: limits.max_buffer_size,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
        }
    }

    /// The widest integers that its shaders have.
    pub fn integers(&self) -> Integers {
        if self.has_u64 {
            Integers::U64
        } else {
            Integers::U32
        }
    }
}

/// The adapters of this machine, hardware before software: number 0 is the best choice.
pub fn adapters() -> Vec<Adapter> {
    let found = found().iter().enumerate();
    found
        .map(|(number, found)| Adapter::of(number, found))
        .collect()
}

static FOUND: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();

/// Whether this process has searched for adapters: by [`adapters`], or for a signer.
///
/// Drivers do not survive a fork. A child of a process that has searched must sign by
/// [`Backend::Simd`](crate::backend::Backend::Simd), or it may hang.
#[must_use]
pub fn has_searched() -> bool {
    FOUND.get().is_some()
}

/// The adapters, searched for once per process.
pub(super) fn found() -> &'static [wgpu::Adapter] {
    FOUND.get_or_init(|| {
        let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends,
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let mut adapters = block_on(instance.enumerate_adapters(backends));
        adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        });
        adapters
    })
}

/// The adapter of a device that accepts everything and computes nothing: rows stay zeros. `None` without wgpu's feature
/// `noop`.
#[cfg(any(test, feature = "internals"))]
pub(super) fn noop() -> Option<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::NOOP,
        backend_options: wgpu::BackendOptions {
            noop: wgpu::NoopBackendOptions::enabled(),
            ..Default::default()
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    block_on(instance.enumerate_adapters(wgpu::Backends::NOOP)).pop()
}
