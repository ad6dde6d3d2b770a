//! `simgpu devices`.

use std::fmt::Write as _;

use clap::Args;
use simgpu::backend::gpu::{Adapter, Integers, adapters, computes};
use simgpu::scheme::Scheme;

use crate::streams::print;

/// List the devices that --backend gpu can use
///
/// Pass the number in front of a name to --device. All devices compute the same signatures. A software device
/// is a program on the CPU: useful for tests, and never selected by --backend auto.
#[derive(Args, Debug)]
pub(crate) struct DevicesArguments {}

pub(crate) fn run(_: &DevicesArguments) -> anyhow::Result<()> {
    let adapters = adapters();
    let mut page = String::new();
    for adapter in &adapters {
        page.push_str(&self::page(adapter)?);
    }
    if adapters.is_empty() {
        page.push_str("no device: found no driver for Vulkan, Metal or DX12; install the driver of the graphics card\n");
    }
    Ok(print(&page)?)
}

/// What an adapter can do, one fact per line.
///
/// # Errors
/// None that can occur.
pub fn page(adapter: &Adapter) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    write_adapter(&mut page, adapter)?;
    Ok(page)
}

fn write_adapter(page: &mut String, adapter: &Adapter) -> std::fmt::Result {
    let Adapter {
        number,
        name,
        kind,
        driver,
        api,
        has_u64,
        has_subgroups,
        max_buffer_bytes,
        max_binding_bytes,
        workgroup_bytes,
        ..
    } = adapter;
    let yes_no = |is: &bool| if *is { "yes" } else { "no" };
    writeln!(page, "{number}  {name} ({kind}, {api})")?;
    let lines = [
        ("driver", driver.clone()),
        ("largest buffer", format!("{} MiB", max_buffer_bytes >> 20)),
        (
            "largest binding",
            format!("{} MiB", max_binding_bytes >> 20),
        ),
        ("workgroup memory", format!("{} KiB", workgroup_bytes >> 10)),
        ("64-bit integers", yes_no(has_u64).to_owned()),
        ("subgroups", yes_no(has_subgroups).to_owned()),
        ("kernels", kernels(adapter)),
    ];
    for (what, value) in lines {
        writeln!(page, "   {what:16}  {value}")?;
    }
    Ok(())
}

/// The schemes that the adapter computes, and the integer width of its kernels.
fn kernels(adapter: &Adapter) -> String {
    let form = match adapter.integers() {
        Integers::U32 => "32-bit integers",
        Integers::U64 => "64-bit integers",
    };
    format!("{} with {form}", schemes(adapter).join(", "))
}

/// The schemes that the adapter computes.
pub fn schemes(adapter: &Adapter) -> Vec<String> {
    let families = Scheme::names().filter_map(|name| Scheme::named(name).ok());
    let families = families.filter(|scheme| scheme.preset().is_none());
    families
        .filter(|scheme| computes(scheme.family(), adapter.integers()))
        .map(|scheme| scheme.to_string())
        .collect()
}
