//! `simgpu bench`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use simgpu::backend::Backend;
use simgpu::progress::Progress as _;
use simgpu::simd::Isa;
use simgpu_bench::{BenchPart, Effort, Measurement, Plan, ResultsFolder, compare, environment};

use crate::arguments::{check_threads, cores, whole_number};
use crate::options::{Given, Mode};
use crate::streams::print;
use crate::terminal::Terminal;
use crate::{Usage, usage};

/// Measure throughput and estimation error of every backend and scheme on this machine
///
/// Takes about two minutes, prints what is fastest and which errors were found, and writes a folder with summary.md,
/// report.html and tables of all measurements. Lists are separated by commas.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    command: Option<BenchCommand>,

    #[command(flatten)]
    measure: MeasureArguments,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Compare two folders of results, considering their noise
    ///
    /// Shows for each case in both folders whether B is faster or slower than A by more than the noise. Exits
    /// with code 1 if the two computed different values.
    Compare {
        /// Folder of the baseline
        #[arg(value_name = "A")]
        before: PathBuf,
        /// Folder to compare with the baseline
        #[arg(value_name = "B")]
        after: PathBuf,
    },
    /// Rewrite summary.md and report.html of a folder from its tables, and print the answers
    Render {
        /// Folder of results
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Args, Debug)]
struct MeasureArguments {
    /// Take less than 20 seconds: few lengths and sizes
    #[arg(long, conflicts_with = "full", help_heading = "Effort")]
    quick: bool,

    /// Measure all schemes at all lengths and numbers of slots, with more trials; takes far longer
    #[arg(long, help_heading = "Effort")]
    full: bool,

    /// Parts to measure: throughput, error, lsh [default: all]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    parts: Vec<String>,

    /// Backends: scalar, simd, gpu, hybrid. A device that is emulated by the CPU is measured only if gpu or hybrid is
    /// named [default: all, without gpu and hybrid if there is no other device]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    backends: Vec<String>,

    /// Instruction sets of simd: portable, avx2, avx512, avx512vnni, neon [default: all that this CPU supports]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    isas: Vec<String>,

    /// Schemes or presets [default: affine32, affine32-even, mersenne31, mersenne61, affine64,
    /// mersenne61-wide, fast, rensa]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    schemes: Vec<String>,

    /// Slots per signature; measurements that vary another axis use the first [default: 64 to 1024 for throughput,
    /// 16 to 1024 for error, 128 for lsh]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_parser = whole_number::<NonZeroU32>,
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    num_perm: Vec<NonZeroU32>,

    /// Shingles per document for throughput, and elements per set for error [default: 30 to
    /// 50,000, and 1 to 10,000]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_parser = whole_number::<NonZeroU32>,
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    lengths: Vec<NonZeroU32>,

    /// Numbers of threads [default: 1, 2, 4, ... and one per core]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_parser = whole_number::<NonZeroU32>,
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    threads: Vec<NonZeroU32>,

    /// Corpus with texts in the field `text`: a file or folder of any format that is read [default: the example
    /// of the README, which Python's `simgpu` does not have]
    #[arg(long, value_name = "CORPUS", help_heading = "Selection")]
    input: Option<PathBuf>,

    /// Device of gpu and hybrid, as numbered by `simgpu devices` [default: 0]
    #[arg(long, value_name = "N", help_heading = "Selection")]
    device: Option<usize>,

    /// Folder for the results; must not hold results yet [default: results/<date>-<machine>]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    results: Option<PathBuf>,

    /// Print only warnings and errors
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(
    arguments: &BenchArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    match &arguments.command {
        None => measure(&arguments.measure, given, command),
        Some(BenchCommand::Compare { before, after }) => show_comparison(before, after),
        Some(BenchCommand::Render { folder }) => {
            let folder = ResultsFolder::read(folder)?;
            folder.render()?;
            Ok(print(folder.screen())?)
        }
    }
}

impl MeasureArguments {
    fn plan(&self) -> anyhow::Result<Plan> {
        let effort = match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Usual,
        };
        let backends = named::<Backend>(&self.backends)?;
        if backends.contains(&Backend::Auto) {
            return Err(conflict(
                "auto chooses one of the other backends; name the backends to compare",
            ));
        }
        if !self.isas.is_empty() && !backends.is_empty() && !backends.contains(&Backend::Simd) {
            return Err(conflict(
                "--isas applies to the backend simd; add simd to --backends, or omit --isas",
            ));
        }
        let isas = self.isas.iter().map(|name| Isa::named(name));
        let isas = isas.collect::<simgpu::Result<_>>().map_err(usage)?;
        let needs_device = |backend: &Backend| matches!(backend, Backend::Gpu | Backend::Hybrid);
        if self.device.is_some() && !backends.is_empty() && !backends.iter().any(needs_device) {
            return Err(conflict(
                "--device applies to the backends gpu and hybrid; add one to --backends, or omit --device",
            ));
        }
        for threads in &self.threads {
            check_threads(threads.get() as usize, cores())?;
        }
        if self.input.is_none() && cfg!(not(feature = "example-corpus")) {
            return Err(conflict(
                "this build has no corpus of its own; name one with --input, such as simgpu's examples/driver-docs.jsonl.zst",
            ));
        }
        let plan = Plan {
            effort,
            parts: named::<BenchPart>(&self.parts)?,
            backends,
            isas,
            schemes: self.schemes.clone(),
            num_perms: self.num_perm.iter().map(|number| number.get()).collect(),
            lengths: self
                .lengths
                .iter()
                .map(|number| number.get().into())
                .collect(),
            threads: self.threads.iter().map(|number| number.get()).collect(),
            input: self.input.clone(),
            device: self.device,
        };
        plan.check().map_err(usage)?;
        Ok(plan)
    }
}

fn named<T: std::str::FromStr<Err = simgpu::Error>>(names: &[String]) -> anyhow::Result<Vec<T>> {
    let parsed = names.iter().map(|name| name.parse());
    parsed.collect::<simgpu::Result<_>>().map_err(usage)
}

fn conflict(message: &str) -> anyhow::Error {
    Usage::error(message)
}

fn measure(arguments: &MeasureArguments, given: &Given, command: &[String]) -> anyhow::Result<()> {
    let plan = arguments.plan()?;
    if !plan.has(BenchPart::Throughput) {
        given.check(&[Mode::NoThroughput])?;
        if !plan.has(BenchPart::Error) {
            given.check(&[Mode::LshOnly])?;
        }
    }
    let terminal = Terminal::new(arguments.quiet);
    let measurement = Measurement::prepare(plan)?;
    let mut environment = environment::environment();
    environment["command"] = command.join(" ").into();
    environment["profile"] = env!("SIMGPU_PROFILE").into();
    let path = match &arguments.results {
        Some(path) => path.clone(),
        None => unused(&Path::new("results").join(environment::folder_name(&environment))),
    };
    let mut folder = ResultsFolder::create(&path, environment)?;
    terminal.tell(&format!("writing results to {}", path.display()));
    measurement.run(&mut folder, &terminal)?;
    if !arguments.quiet {
        print(folder.screen())?;
    }
    terminal.tell(&format!("written to {}", path.display()));
    Ok(())
}

/// The path if it does not exist, else the path with the lowest unused number appended.
fn unused(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| PathBuf::from(format!("{}-{number}", path.display())));
    let mut names = std::iter::once(path.to_owned()).chain(numbered);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| path.to_owned())
}

fn show_comparison(before: &Path, after: &Path) -> anyhow::Result<()> {
    let comparison = compare::compare(&ResultsFolder::read(before)?, &ResultsFolder::read(after)?);
    print(comparison.to_string())?;
    if comparison
        .cases
        .iter()
        .any(|change| change.has_different_checksum)
    {
        bail!(
            "A and B computed different results, so at least one is wrong; run `simgpu selftest` on both machines"
        );
    }
    Ok(())
}
