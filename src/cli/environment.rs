//! On what a run ran, for run.json.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};
use simgpu::pipeline::{StageTime, Timings};

use super::arguments::Run;

/// What differs from run to run: versions, machine, times and memory.
pub(super) fn of_run(run: &Run, timings: &Timings, start: Instant) -> Value {
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
        "command": std::env::args().collect::<Vec<_>>(),
        "machine": {
            "cpu": cpu_name(),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "memory_bytes": status_of("/proc/meminfo", "MemTotal:"),
            "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
        },
        "elapsed_s": start.elapsed().as_secs_f64(),
        "peak_memory_bytes": peak_memory_bytes(),
        "stages": stages,
    })
}

/// The most memory this process has had, where the system tells.
pub(super) fn peak_memory_bytes() -> Option<u64> {
    status_of("/proc/self/status", "VmHWM:")
}

/// A line of a file under /proc that gives kB, in bytes.
fn status_of(path: &str, name: &str) -> Option<u64> {
    let status = fs::read_to_string(path).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn cpu_name() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
