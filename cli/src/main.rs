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
    {
        out_of_memory::report_aborts();
        ignore_file_size();
    }
    silence_mesa();
    silence_reader();
    #[cfg(unix)]
    out_of_memory::report_panics();
    ExitCode::from(simgpu_cli::main(std::env::args_os()))
}

/// Lets a write beyond the limit of file sizes fail, so that the run says so. The signal would end the process without a word.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library has no call for this")]
fn ignore_file_size() {
    // SAFETY: no handler is set, and no other thread exists yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[allow(unsafe_code, reason = "no other thread exists yet")]
fn silence_mesa() {
    if let Some((name, value)) = mesa_variable() {
        // SAFETY: main calls this first, so no other thread reads the environment.
        unsafe { std::env::set_var(name, value) }
    }
}
