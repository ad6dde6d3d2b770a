//! The `simgpu` command.

#[cfg(unix)]
mod out_of_memory;

use std::process::ExitCode;

use simgpu_cli::environment::{mesa_variable, silence_reader};

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: out_of_memory::Reporting = out_of_memory::Reporting;

fn main() -> ExitCode {
    #[cfg(unix)]
    out_of_memory::report_aborts();
    silence_mesa();
    silence_reader();
    #[cfg(unix)]
    out_of_memory::report_panics();
    ExitCode::from(simgpu_cli::main(std::env::args_os()))
}

#[allow(unsafe_code, reason = "no other thread exists yet")]
fn silence_mesa() {
    if let Some((name, value)) = mesa_variable() {
        // SAFETY: main calls this first, so no other thread reads the environment.
        unsafe { std::env::set_var(name, value) }
    }
}
