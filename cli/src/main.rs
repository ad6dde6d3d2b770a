//! The `simgpu` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    silence_mesa();
    silence_reader();
    match simgpu_cli::run(simgpu_cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => simgpu_cli::fail(&error),
    }
}

/// Turns off Mesa's device selection layer where it has no use. Without a desktop, it prints a harmless error to
/// stderr whenever a program lists the devices.
#[allow(unsafe_code, reason = "no other thread exists yet")]
fn silence_mesa() {
    let is_set = |name| std::env::var_os(name).is_some();
    let uses = ["DISPLAY", "WAYLAND_DISPLAY", "MESA_VK_DEVICE_SELECT"];
    if cfg!(target_os = "linux") && !uses.into_iter().any(is_set) {
        // SAFETY: main calls this first, so no other thread reads the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") }
    }
}

/// Prints no panic of the thread that reads files: the run reports it as an error about the file.
fn silence_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(simgpu::io::READER_THREAD) {
            print(panic);
        }
    }));
}
