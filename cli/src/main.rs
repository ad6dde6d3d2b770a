//! The `simgpu` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    silence_mesa();
    match simgpu_cli::run(simgpu_cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => simgpu_cli::fail(&error),
    }
}

/// Where there is no desktop, Mesa's layer that chooses among devices writes an error to stderr, of which nothing
/// follows, as soon as anybody asks which devices there are.
#[allow(unsafe_code, reason = "there is no other thread yet")]
fn silence_mesa() {
    let is_set = |name| std::env::var_os(name).is_some();
    let has_use = ["DISPLAY", "WAYLAND_DISPLAY", "MESA_VK_DEVICE_SELECT"];
    if cfg!(target_os = "linux") && !has_use.into_iter().any(is_set) {
        // SAFETY: the first line of main: nobody else reads the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") }
    }
}
