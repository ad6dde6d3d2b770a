//! On what a run ran, for run.json.

use std::time::Instant;

use crate::bench::environment::{cpu_name, memory_bytes, peak_memory_bytes};
use serde_json::{Value, json};
use simgpu::progress::{StageTime, Timings};

use crate::arguments::Run;

/// What differs from run to run: versions, machine, times and memory.
pub(crate) fn of_run(run: &Run, timings: &Timings, start: Instant) -> Value {
    let stage = |time: &StageTime| {
        let StageTime {
            stage,
            elapsed_s,
            bytes,
            is_part,
        } = time;
        json!({"stage": stage, "elapsed_s": elapsed_s, "bytes": bytes, "is_part": is_part})
    };
    let stages: Vec<Value> = timings.0.iter().map(stage).collect();
    json!({
        "simgpu": env!("CARGO_PKG_VERSION"),
        "backend": run.signing.signer.describe(),
        "threads": run.threads,
        "command": command(),
        "machine": {
            "cpu": cpu_name(),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "memory_bytes": memory_bytes(),
            "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
        },
        "elapsed_s": start.elapsed().as_secs_f64(),
        "peak_memory_bytes": peak_memory_bytes(),
        "stages": stages,
    })
}

/// The command line, as far as it is text.
pub(crate) fn command() -> Vec<String> {
    let arguments = std::env::args_os();
    let text = arguments.map(|argument| argument.to_string_lossy().into_owned());
    text.collect()
}
