//! The contents of `run.json`: machine, times, memory and files of a run.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::RUN_RECORD;
use simgpu::clock::CpuTime;
use simgpu::machine::{cpu_name, memory_bytes, peak_memory_bytes};
use simgpu::pipeline::Signer;
use simgpu::progress::{StageTime, Timings};

/// What `run.json` says of a run beside its times.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Facts<'a> {
    /// The command line.
    #[doc(hidden)]
    pub command: &'a [String],
    /// What signed; `None` if nothing was signed.
    #[doc(hidden)]
    pub signer: Option<&'a dyn Signer>,
    /// The bound on memory, if there is one.
    #[doc(hidden)]
    pub memory_bytes: Option<u64>,
}

/// The values that differ between equal runs: version, machine, times and memory.
/// `resumed` says how often the run went on after it was stopped; times and memory are those since the last time. `files`
/// are the files of the run; `run.json` itself is added.
#[doc(hidden)]
pub fn run_record(
    run: &Facts<'_>,
    timings: &Timings,
    elapsed_s: f64,
    resumed: u64,
    mut files: BTreeSet<String>,
) -> Value {
    files.insert(RUN_RECORD.to_owned());
    let stage = |time: &StageTime| {
        let StageTime {
            stage,
            elapsed_s,
            cpu,
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
        if !is_part {
            add_cpu_time(&mut stage, *cpu);
        }
        if let Some(on_disk) = on_disk {
            stage["on_disk"] = json!(on_disk);
        }
        stage
    };
    let stages: Vec<Value> = timings.0.iter().map(stage).collect();
    let mut record = json!({
        "simgpu": env!("CARGO_PKG_VERSION"),
        "backend": run.signer.map(|signer| signer.describe()),
        "device": run.signer.and_then(|signer| signer.device_use()).map(|used| json!({
            "name": used.device,
            "loads": used.loads,
            "most_loads_in_flight": used.most_loads_in_flight,
            "text_bytes": used.text_bytes,
            "hash_bytes": used.hash_bytes,
            "failure": used.failure,
        })),
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
        "resumed": resumed,
        "memory_bytes": run.memory_bytes,
        "peak_memory_bytes": peak_memory_bytes(),
        "stages": stages,
        "files": files,
    });
    add_cpu_time(&mut record, timings.cpu_time());
    record
}

/// States processor time, or null.
fn add_cpu_time(of: &mut Value, cpu: Option<CpuTime>) {
    of["cpu_s"] = json!(cpu.map(|cpu| cpu.total_s));
    of["serial_cpu_s"] = json!(cpu.map(|cpu| cpu.serial_s));
}
