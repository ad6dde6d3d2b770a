//! The contents of `run.json`: machine, times, memory and files of a run.
#![allow(
    unreachable_pub,
    reason = "the hidden feature `internals` hands some of it on"
)]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::run::Run;
use crate::io::RUN_RECORD;
use crate::progress::{self, StageTime, Timings, kilobytes_of};

/// The values that differ between equal runs: version, machine, times and memory.
/// `files` are the files of the run; `run.json` itself is added.
pub(super) fn run_record(
    run: &Run<'_>,
    timings: &Timings,
    elapsed_s: f64,
    mut files: BTreeSet<String>,
) -> Value {
    files.insert(RUN_RECORD.to_owned());
    let stage = |time: &StageTime| {
        let StageTime {
            stage,
            elapsed_s,
            bytes,
            is_part,
            on_disk,
            peak_memory_bytes,
        } = time;
        let mut stage = json!({
            "stage": stage,
            "elapsed_s": elapsed_s,
            "bytes": bytes,
            "is_part": is_part,
            "peak_memory_bytes": peak_memory_bytes,
        });
        if let Some(on_disk) = on_disk {
            stage["on_disk"] = json!(on_disk);
        }
        stage
    };
    let stages: Vec<Value> = timings.0.iter().map(stage).collect();
    json!({
        "simgpu": env!("CARGO_PKG_VERSION"),
        "backend": run.engine.signer().describe(),
        "threads": rayon::current_num_threads(),
        "command": run.command,
        "machine": {
            "cpu": cpu_name(),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "memory_bytes": memory_bytes(),
            "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
        },
        "elapsed_s": elapsed_s,
        "memory_bytes": run.memory_bytes(),
        "peak_memory_bytes": peak_memory_bytes(),
        "stages": stages,
        "files": files,
    })
}

/// The model of the CPU; `None` if unknown.
pub fn cpu_name() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    model.or_else(|| sysctl("machdep.cpu.brand_string"))
}

/// The memory of the machine in bytes; `None` if unknown.
pub fn memory_bytes() -> Option<u64> {
    let memory = kilobytes_of("/proc/meminfo", "MemTotal:");
    memory.or_else(|| sysctl("hw.memsize")?.parse().ok())
}

/// The memory that a run takes by default: 60 % of what this process may use; `None` if unknown.
pub(super) fn usable_memory_bytes() -> Option<u64> {
    let limits = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let limits = limits
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    // Without a limit, the file holds a word or a huge number.
    let limits = limits.filter_map(|limit| limit.trim().parse::<u64>().ok());
    let least = limits.chain(memory_bytes()).min()?;
    Some(least / 10 * 6)
}

/// The peak memory of this process in bytes; `None` if unknown.
pub fn peak_memory_bytes() -> Option<u64> {
    progress::peak_memory_bytes()
}

/// The value of a kernel parameter on macOS.
fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
