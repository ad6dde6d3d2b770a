//! How much memory there is, and how much of it a run takes.
#![allow(
    unreachable_pub,
    reason = "the hidden feature `internals` hands some of it on"
)]

use std::fs;
use std::process::Command;

use crate::progress::{self, kilobytes_of};

/// The memory of the machine in bytes; `None` if unknown.
pub fn memory_bytes() -> Option<u64> {
    let memory = kilobytes_of("/proc/meminfo", "MemTotal:");
    memory.or_else(|| sysctl("hw.memsize")?.parse().ok())
}

/// The peak memory of this process in bytes; `None` if unknown.
pub fn peak_memory_bytes() -> Option<u64> {
    progress::peak_memory_bytes()
}

/// The memory that a run takes by default: 60 % of what this process may use; `None` if unknown.
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

/// The value of a kernel parameter on macOS.
pub(crate) fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
