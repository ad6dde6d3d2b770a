//! `simgpu bench`.

use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bench::folder::Folder;
use crate::bench::{
    Corpus, Effort, Part, Plan, Record, compare, environment, error, lsh, throughput,
};
use anyhow::bail;
use clap::{Args, Subcommand};
use simgpu::backend::Backend;
use simgpu::progress::Progress as _;
use simgpu::simd::Isa;

use crate::environment::command;
use crate::terminal::Terminal;
use crate::{Usage, usage};

/// Measure throughput and estimation error of every backend and scheme on this machine
///
/// Takes about two minutes and writes a folder: summary.md and report.html to be read, and a table of every
/// run. Every axis can be narrowed down or widened; lists are separated by commas.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    measure: MeasureArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare two folders of results, with their noise taken into account
    ///
    /// Says for each case that both have measured whether B is faster or slower than A by more than the noise
    /// of both explains.
    Compare {
        /// The folder that is compared with
        #[arg(value_name = "A")]
        before: PathBuf,
        /// The folder whose changes are shown
        #[arg(value_name = "B")]
        after: PathBuf,
    },
    /// Make summary.md and report.html of a folder again from its tables
    Render {
        /// A folder of results
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Args, Debug)]
struct MeasureArguments {
    /// Less than 20 seconds: few lengths and sizes
    #[arg(long, conflicts_with = "full", help_heading = "Effort")]
    quick: bool,

    /// All schemes at all lengths and slots, with more trials: for as long as it takes
    #[arg(long, help_heading = "Effort")]
    full: bool,

    /// Only these parts: throughput, error, lsh
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    parts: Vec<String>,

    /// Backends: scalar, simd, gpu, hybrid [default: scalar, simd, and gpu if there is a device that is no
    /// software]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    backends: Vec<String>,

    /// Instructions of simd: portable, avx2, avx512, neon [default: all that this CPU has]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    isas: Vec<String>,

    /// Schemes, presets among them [default: affine32, affine32-even, mersenne31, mersenne61, affine64,
    /// mersenne61-wide, fast, rensa]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    schemes: Vec<String>,

    /// Slots of a signature, in all parts; where something else varies, the first [default: 64 to 1024 for
    /// throughput, 16 to 1024 for error, 128 for lsh]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    num_perm: Vec<NonZeroU32>,

    /// Shingles of a document, and elements of the sets whose error is measured [default: 30 to 50000, and 1 to
    /// 10000]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    lengths: Vec<NonZeroU32>,

    /// Numbers of threads [default: 1, 2, 4, ... and one a core]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        help_heading = "What is measured"
    )]
    threads: Vec<NonZeroU32>,

    /// Corpus with texts in the field `text`: a file or folder of JSON Lines, Parquet or text [default: the
    /// example of the README]
    #[arg(long, value_name = "CORPUS", help_heading = "What is measured")]
    input: Option<PathBuf>,

    /// Device of gpu and hybrid, by its number in `simgpu devices` [default: 0]
    #[arg(long, value_name = "N", help_heading = "What is measured")]
    device: Option<usize>,

    /// Folder for the results, which must not hold any [default: results/<date>-<machine>]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    results: Option<PathBuf>,

    /// Say nothing but errors
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        None => measure(&arguments.measure),
        Some(Command::Compare { before, after }) => show_comparison(before, after),
        Some(Command::Render { folder }) => {
            Folder::read(folder)?.render()?;
            Ok(())
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
                "auto chooses one of the backends; name those that are to be compared",
            ));
        }
        if !self.isas.is_empty() && !backends.is_empty() && !backends.contains(&Backend::Simd) {
            return Err(conflict(
                "--isas is for the backend simd; add it to --backends, or leave --isas out",
            ));
        }
        let isas = self.isas.iter().map(|name| Isa::named(name));
        let isas = isas.collect::<simgpu::Result<_>>().map_err(usage)?;
        let needs_device = |backend: &Backend| matches!(backend, Backend::Gpu | Backend::Hybrid);
        if self.device.is_some() && !backends.is_empty() && !backends.iter().any(needs_device) {
            return Err(conflict(
                "--device is for the backends gpu and hybrid; add one to --backends, or leave --device out",
            ));
        }
        let plan = Plan {
            effort,
            parts: named::<Part>(&self.parts)?,
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

/// How long summary and report may be behind the tables.
const BEHIND: Duration = Duration::from_secs(1);

fn measure(arguments: &MeasureArguments) -> anyhow::Result<()> {
    let plan = arguments.plan()?;
    let terminal = Terminal::new(arguments.quiet);
    let corpus = Corpus::read(plan.input.as_deref())?;
    let mut environment = environment::environment();
    environment["command"] = command().join(" ").into();
    let path = match &arguments.results {
        Some(path) => path.clone(),
        None => free(&Path::new("results").join(environment::folder_name(&environment))),
    };
    let mut folder = Folder::create(&path, environment)?;
    terminal.tell(&format!("results go to {}", path.display()));
    let mut rendered = Instant::now();
    let mut take = |record: Record| {
        folder.add(record)?;
        if rendered.elapsed() >= BEHIND {
            folder.render()?;
            rendered = Instant::now();
        }
        Ok(())
    };
    if plan.has(Part::Throughput) {
        throughput::measure(&plan, &corpus, &terminal, &mut take)?;
    }
    if plan.has(Part::Error) {
        error::measure(&plan, &corpus, &terminal, &mut take)?;
    }
    if plan.has(Part::Lsh) {
        lsh::measure(&plan, &corpus, &terminal, &mut take)?;
    }
    folder.render()?;
    if !arguments.quiet {
        std::io::stdout().write_all(folder.brief().as_bytes())?;
    }
    terminal.tell(&format!("written to {}", path.display()));
    Ok(())
}

/// The folder's name, or, where that is taken, the same with the least number behind it that is not.
fn free(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| PathBuf::from(format!("{}-{number}", path.display())));
    let mut names = std::iter::once(path.to_owned()).chain(numbered);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| path.to_owned())
}

fn show_comparison(before: &Path, after: &Path) -> anyhow::Result<()> {
    let comparison = compare::compare(&Folder::read(before)?, &Folder::read(after)?);
    std::io::stdout().write_all(comparison.to_string().as_bytes())?;
    if comparison
        .timed
        .iter()
        .any(|timed| timed.has_other_checksum)
    {
        bail!("signatures differ between the two; do not use what one of them computed");
    }
    Ok(())
}
