//! What this machine offers to a run: its CPU, its memory, and the free space of its disks.
//!
//! No result depends on it. What the system does not tell is `None`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The model of the CPU, as the system names it; `None` if unknown.
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

/// The memory in bytes that a run over files takes unless it is told how much (`files::Run::memory`): 60 % of what this
/// process may use, which a control group of Linux may limit; `None` if unknown.
pub fn usable_memory_bytes() -> Option<u64> {
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

/// The peak memory of this process so far, in bytes: what was resident at the same time; `None` if unknown, as outside of
/// Linux.
pub fn peak_memory_bytes() -> Option<u64> {
    kilobytes_of("/proc/self/status", "VmHWM:")
}

/// The bytes that this process may still write to the file system of a folder; `None` if unknown, and on Windows.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let system = rustix::fs::statvfs(folder).ok()?;
        system.f_bavail.checked_mul(system.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// The value of a line in kB of a file under /proc, in bytes.
fn kilobytes_of(path: &str, name: &str) -> Option<u64> {
    let status = fs::read_to_string(path).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The value of a kernel parameter on macOS.
fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
