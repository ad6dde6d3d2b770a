//! Everything that affects the numbers, except the code: machine and build.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use simgpu::machine::{cpu_name, memory_bytes};
use simgpu::simd::Isa;

/// This machine and build: `date`, `cpu`, `cpu_version`, `isas`, `cores`, `memory_bytes`, `os`, `architecture`, `gpus`
/// (each with `name`, `kind`, `api` and `driver`), `simgpu`, `rustc`, `target`, `flags`, `target_features`,
/// `commit`, `uncommitted_changes`. Unknown values are null.
pub fn environment() -> Value {
    let isas: Vec<String> = Isa::available().iter().map(Isa::to_string).collect();
    json!({
        "date": date(),
        "cpu": cpu_name(),
        "cpu_version": cpu_version(),
        "isas": isas,
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory_bytes": memory_bytes(),
        "os": os(),
        "architecture": std::env::consts::ARCH,
        "gpus": gpus(),
        "simgpu": env!("CARGO_PKG_VERSION"),
        "rustc": known(env!("SIMGPU_RUSTC")),
        "target": env!("SIMGPU_TARGET"),
        "flags": env!("SIMGPU_FLAGS"),
        "target_features": env!("SIMGPU_TARGET_FEATURES"),
        "commit": known(env!("SIMGPU_COMMIT")),
        "uncommitted_changes": env!("SIMGPU_CHANGES").parse::<bool>().ok(),
    })
}

/// The name of a folder of results: `<date>-<cpu>-<cores>-cores`, in lower-case letters, digits and hyphens.
pub fn folder_name(environment: &Value) -> String {
    let model = environment["cpu"].as_str().unwrap_or("unknown cpu");
    let model = model.to_lowercase().replace("(r)", "").replace("(tm)", "");
    let words = model.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let date = environment["date"].as_str().unwrap_or("undated");
    let cores = environment["cores"].as_u64().unwrap_or(0);
    format!("{date}-{}-{cores}-cores", words.join("-"))
}

/// Family, model and stepping of the CPU, if the system tells. Model names may hide the generation.
fn cpu_version() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let number = |what: &str| {
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        let line = lines.find(|(name, _)| name.trim() == what);
        line.map(|(_, number)| number.trim())
    };
    let (family, model) = (number("cpu family")?, number("model")?);
    let stepping = number("stepping").unwrap_or("unknown");
    Some(format!(
        "family {family}, model {model}, stepping {stepping}"
    ))
}

/// Name of the system and version of its kernel.
fn os() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease");
    let release = release.ok().or_else(|| output_of("uname", &["-r"]));
    format!(
        "{} {}",
        std::env::consts::OS,
        release.unwrap_or_default().trim()
    )
    .trim_end()
    .to_owned()
}

#[cfg(feature = "gpu")]
fn gpus() -> Vec<Value> {
    let adapters = simgpu::backend::gpu::adapters();
    let gpu = adapters.iter().map(|adapter| {
        json!({
            "name": adapter.name,
            "kind": adapter.kind,
            "api": adapter.api,
            "driver": adapter.driver,
        })
    });
    gpu.collect()
}

#[cfg(not(feature = "gpu"))]
fn gpus() -> Vec<Value> {
    Vec::new()
}

/// A note of the build; `None` if it is empty.
fn known(note: &'static str) -> Option<&'static str> {
    (!note.is_empty()).then_some(note)
}

/// Standard output of a program, if it runs successfully.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Today's date (UTC).
fn date() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let (year, month, day) = civil(now.map_or(0, |now| now.as_secs() / 86_400));
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days after 1970-01-01 (Hinnant, "chrono-compatible low-level date
/// algorithms": years begin in March, so that the leap day comes last).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (400 * era + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }

    #[test]
    fn folder_names_suit_any_file_system() {
        let environment = json!({
            "date": "2026-11-22", "cpu": "Intel(R) Xeon(R) @ 2.50GHz", "cores": 2,
        });
        assert_eq!(
            folder_name(&environment),
            "2026-11-22-intel-xeon-2-50ghz-2-cores"
        );
        assert_eq!(folder_name(&Value::Null), "undated-unknown-cpu-0-cores");
    }

    #[test]
    fn environment_has_instructions_cores_and_compiler() {
        let environment = environment();
        assert_eq!(environment["isas"][0], "portable");
        assert!(environment["cores"].as_u64() > Some(0));
        assert!(environment["rustc"].as_str().is_some());
        assert!(folder_name(&environment).ends_with("-cores"));
    }
}
