//! What the measurements on whole corpora share: which files they run on, where their results go, and
//! on what machine they ran.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, Value, json};

/// The corpora behind names: a file is one, and so is each file of JSON Lines that lies in a folder.
pub(crate) fn corpora(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut corpora = Vec::new();
    for path in named {
        if path.is_dir() {
            let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
            let mut files = entries.collect::<Result<Vec<_>, _>>()?;
            files.retain(|file| file.is_file() && is_json_lines(file));
            files.sort();
            corpora.extend(files);
        } else if path.is_file() {
            corpora.push(path.clone());
        } else {
            bail!("{} is neither a file nor a folder", path.display());
        }
    }
    Ok(corpora)
}

fn is_json_lines(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")
}

/// The name of a corpus: its file's, without endings.
pub(crate) fn corpus_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let end = name.find(".jsonl").unwrap_or(name.len());
    name[..end].to_owned()
}

/// What a measurement on this thread does with its results.
#[derive(Debug, Args)]
pub(crate) struct Keeping {
    /// Where the results go [default: results/<date>-<machine>]
    #[arg(long)]
    results: Option<PathBuf>,

    /// Show and keep nothing
    #[arg(long)]
    dry: bool,

    /// What cargo bench passes, and cargo test does not
    #[arg(long = "bench", hide = true)]
    pub(crate) is_bench: bool,
}

impl Keeping {
    /// The folder for these files, if they are kept.
    pub(crate) fn open(&self, files: &[&str]) -> anyhow::Result<Option<Results>> {
        let open = || Results::open(self.results.clone(), files);
        (!self.dry).then(open).transpose()
    }
}

/// Keeps this thread on the last core, if the system lets it, and says so, as the end of a title.
pub(crate) fn pin() -> &'static str {
    let cores = core_affinity::get_core_ids();
    let last = cores.and_then(|cores| cores.last().copied());
    match last.is_some_and(core_affinity::set_for_current) {
        true => ", pinned",
        false => "",
    }
}

/// A folder of results, of one machine and one state of the code.
#[derive(Debug)]
pub(crate) struct Results {
    folder: PathBuf,
}

impl Results {
    /// Prepares the folder that is named, or `results/<date>-<machine>`, and notes the environment in it.
    ///
    /// Results are only added to: a folder that has one of `files`, or results of another environment,
    /// is refused.
    pub(crate) fn open(named: Option<PathBuf>, files: &[&str]) -> anyhow::Result<Self> {
        Results::open_noting(Map::new(), named, files)
    }

    /// The same with more to note of the environment, or what is known better than it can be seen here.
    pub(crate) fn open_noting(
        known: Map<String, Value>,
        named: Option<PathBuf>,
        files: &[&str],
    ) -> anyhow::Result<Self> {
        let mut environment = environment();
        for (what, value) in known {
            environment[what] = value;
        }
        let folder = named.unwrap_or_else(|| {
            let machine = machine(&environment);
            let date = environment["date"].as_str().unwrap_or_default();
            root().join("results").join(format!("{date}-{machine}"))
        });
        let shown = folder.display();
        if let Some(present) = files.iter().find(|file| folder.join(file).exists()) {
            bail!("{shown} already holds {present}; name another folder with --results");
        }
        let noted = folder.join("environment.json");
        if let Ok(earlier) = fs::read_to_string(&noted) {
            let mut earlier: Value = serde_json::from_str(&earlier)?;
            earlier["date"] = environment["date"].clone();
            if earlier != environment {
                bail!(
                    "{shown} has results of another environment; name another folder with --results"
                );
            }
        } else {
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {shown}"))?;
            fs::write(noted, format!("{environment:#}\n"))?;
        }
        Ok(Results { folder })
    }

    /// Writes a file, in place of what this run wrote under that name before.
    pub(crate) fn write(&self, name: &str, contents: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, contents).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Rows as comma-separated values.
pub(crate) fn csv(rows: &[Vec<String>]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Rows, of which the first is the header, as a Markdown table that can be read as it is: names to the
/// left, numbers to the right.
pub(crate) fn markdown(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let starts_number =
        |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    let is_number = |column: usize| {
        rows.iter()
            .skip(1)
            .all(|row| row[column].is_empty() || starts_number(&row[column]))
    };
    let mut table = String::new();
    for (i, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if is_number(column) {
                write!(table, "| {cell:>width$} ")
            } else {
                write!(table, "| {cell:<width$} ")
            };
        }
        table.push_str("|\n");
        if i == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if is_number(column) { ':' } else { '-' };
                let _ = write!(table, "| {}{end} ", "-".repeat(width - 1));
            }
            table.push_str("|\n");
        }
    }
    table
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn environment() -> Value {
    json!({
        "date": date(),
        "cpu": cpu_model(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory_bytes": memory_bytes(),
        "os": said("uname", &["-sr"]).unwrap_or_else(|| std::env::consts::OS.to_owned()),
        "architecture": std::env::consts::ARCH,
        "rustc": said("rustc", &["--version"]),
        "commit": of_tree(&["rev-parse", "HEAD"]),
        "uncommitted_changes": of_tree(&["status", "--porcelain", "--", "src", "shaders", "benches", "Cargo.toml", "Cargo.lock"])
            .map(|changes| !changes.is_empty()),
    })
}

/// What git prints about the source tree that this was built from, if that is there.
fn of_tree(arguments: &[&str]) -> Option<String> {
    said("git", &[&["-C", root().to_str()?], arguments].concat())
}

/// What a program prints about this machine, if it is there.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn cpu_model() -> String {
    let of_line = |line: &str| {
        Some(
            line.strip_prefix("model name")?
                .split_once(':')?
                .1
                .trim()
                .to_owned(),
        )
    };
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(of_line);
    let model = model.or_else(|| said("sysctl", &["-n", "machdep.cpu.brand_string"]));
    model.unwrap_or_else(|| format!("unknown {} CPU", std::env::consts::ARCH))
}

fn memory_bytes() -> Option<u64> {
    let of_line = |line: &str| -> Option<u64> {
        let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
        Some(kilobytes.trim().parse::<u64>().ok()? * 1024)
    };
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = info.lines().find_map(of_line);
    memory.or_else(|| said("sysctl", &["-n", "hw.memsize"])?.parse().ok())
}

/// CPU model and cores as part of a folder's name.
fn machine(environment: &Value) -> String {
    let model = environment["cpu"].as_str().unwrap_or_default();
    let model = model.to_lowercase().replace("(r)", "").replace("(tm)", "");
    let is_kept = |c: char| c.is_ascii_alphanumeric();
    let words: Vec<&str> = model
        .split(|c| !is_kept(c))
        .filter(|word| !word.is_empty())
        .collect();
    format!("{}-{}-cores", words.join("-"), environment["cores"])
}

/// Today, in Greenwich.
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

/// The median of some numbers, which are put in order; NaN of none.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers {
        [] => f64::NAN,
        _ if numbers.len() % 2 == 1 => numbers[middle],
        _ => (numbers[middle - 1] + numbers[middle]) / 2.0,
    }
}
