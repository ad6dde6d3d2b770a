//! What a run says on stderr: progress on a terminal, notes, and a last summary.

use std::fmt::Write;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use simgpu::engine::Engine;
use simgpu::internals::peak_memory_bytes;
use simgpu::jobs::{Outcome, Search, SignatureFile};
use simgpu::pipeline::{Shingling, Unit};
use simgpu::progress::{Counts, Progress};
use simgpu::scheme::{Preset, Scheme, Shingles};

use crate::parameters::with_flags;
use crate::stop;

/// Talks to the user.
#[derive(Debug)]
pub(crate) struct Terminal {
    quiet: bool,
    stage: Option<Mutex<Stage>>,
}

/// The stage that is running, drawn as a bar.
#[derive(Debug)]
struct Stage {
    bar: ProgressBar,
    start: Instant,
}

impl Terminal {
    pub(crate) fn new(quiet: bool) -> Self {
        let draws = !quiet && std::io::stderr().is_terminal();
        Terminal {
            quiet,
            stage: draws.then(|| {
                Mutex::new(Stage {
                    bar: ProgressBar::hidden(),
                    start: Instant::now(),
                })
            }),
        }
    }

    /// Says what is about to be done.
    pub(crate) fn announce(&self, engine: &Engine, search: Option<&Search>) {
        let scheme = engine.scheme();
        let shingle = shingle_name(engine.shingler().shingling());
        let mut line = format!(
            "shingles of {shingle} ({hash}), {scheme} with {k} permutations on {backend}",
            hash = engine.shingler().hash(),
            k = scheme.num_perm(),
            backend = engine.signer().describe()
        );
        if let Some(search) = search {
            line.push_str(&search_line(scheme, search));
        }
        self.say(&line);
        let takes_tokens = |preset: &&Preset| preset.shingles == Shingles::FiveWords;
        let preset = scheme.preset().filter(takes_tokens);
        if let Some(preset) = preset
            && engine.shingler().shingling().unit.is_made_of_words()
        {
            self.say(&format!(
                "values are those of {} for the same tokens only (--unit tokens)",
                preset.name
            ));
        }
    }

    /// The same of signatures that are read.
    pub(crate) fn announce_signatures(&self, signatures: &SignatureFile, search: &Search) {
        let scheme = signatures.scheme();
        self.say(&format!(
            "{signed} of shingles of {shingles}, {scheme} with {k} permutations and seed {seed}{search}",
            signed = counted(signatures.documents(), "signature"),
            shingles = signatures.shingles(),
            k = scheme.num_perm(),
            seed = scheme.seed(),
            search = search_line(scheme, search),
        ));
    }

    /// Prints a table of two columns.
    pub(crate) fn summary(&self, fill: impl FnOnce(&mut Lines)) {
        self.end_stage();
        let mut lines = Lines::default();
        fill(&mut lines);
        let width = lines
            .0
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0);
        for (name, value) in &lines.0 {
            self.say(&format!("{name:>width$}  {value}"));
        }
    }

    #[allow(clippy::print_stderr, reason = "stderr is for talk")]
    fn say(&self, line: &str) {
        if !self.quiet {
            eprintln!("{line}");
        }
    }

    fn end_stage(&self) {
        if let Some(stage) = &self.stage
            && let Ok(stage) = stage.lock()
        {
            stage.bar.finish_and_clear();
        }
    }
}

impl Progress for Terminal {
    fn begin(&self, name: &'static str, total: u64) {
        let Some(stage) = &self.stage else {
            return;
        };
        self.end_stage();
        let style =
            ProgressStyle::with_template("{prefix:>10} {bar:30} {percent:>3}%  {msg}{eta} left");
        let bar = ProgressBar::new(total).with_prefix(name);
        if let Ok(style) = style {
            bar.set_style(style);
        }
        if let Ok(mut stage) = stage.lock() {
            *stage = Stage {
                bar,
                start: Instant::now(),
            };
        }
    }

    fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
        if stop::signal().is_some() {
            return ControlFlow::Break(());
        }
        let Some(Ok(stage)) = self.stage.as_ref().map(Mutex::lock) else {
            return ControlFlow::Continue(());
        };
        stage.bar.set_position(done);
        if documents > 0 {
            let elapsed_s = stage.start.elapsed().as_secs_f64();
            stage.bar.set_message(format!(
                "{}, {:.0}/s, {:.1} MB/s, ",
                counted(documents, "document"),
                documents as f64 / elapsed_s,
                bytes as f64 / 1e6 / elapsed_s
            ));
        }
        ControlFlow::Continue(())
    }

    fn tell(&self, message: &str) {
        self.end_stage();
        self.say(&with_flags(message));
    }

    fn warn(&self, message: &str) {
        self.end_stage();
        self.say(&format!("warning: {}", with_flags(message)));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end_stage();
    }
}

fn search_line(scheme: &Scheme, search: &Search) -> String {
    let (bands, rows) = (search.banding.bands(), search.banding.rows());
    let slot = scheme.family().slot_width().bytes();
    let bytes = search.bytes_per_document(scheme.num_perm(), slot);
    format!(", {bands} bands of {rows}; {bytes} bytes a document and its id")
}

/// What a shingle is: `5 words`.
pub(crate) fn shingle_name(shingling: &Shingling) -> String {
    let unit = &shingling.unit;
    let is_unit = *unit == Unit::Tokens && shingling.size.get() == 1;
    if unit.takes_size() && !is_unit {
        format!("{} {unit}", shingling.size)
    } else {
        unit.to_string()
    }
}

/// Lines of a summary: a name and a value each.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<(&'static str, String)>);

impl Lines {
    pub(crate) fn row(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }
}

/// A count of things: `1 document`, `2 documents`.
fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", HumanCount(count))
}

/// A count, and which share of the whole it is.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{} ({percent:.1} %)", HumanCount(part))
}

/// How many documents there were, and how many were odd.
pub(crate) fn documents(lines: &mut Lines, counts: &Counts) {
    let megabytes = counts.bytes as f64 / 1e6;
    lines.row(
        "documents",
        format!("{} in {megabytes:.1} MB", HumanCount(counts.documents)),
    );
    if counts.without_shingles > 0 {
        let without = HumanCount(counts.without_shingles);
        lines.row("no shingle", format!("{without}, always kept"));
    }
    lines.row("skipped", HumanCount(counts.skipped).to_string());
}

/// What was compared, and what came of it.
pub(crate) fn comparisons(lines: &mut Lines, outcome: &Outcome) {
    let counts = &outcome.report.counts;
    lines.row("identical", HumanCount(counts.identical).to_string());
    lines.row(
        "pairs",
        format!(
            "{} similar of {} compared",
            HumanCount(counts.similar_pairs),
            HumanCount(counts.candidate_pairs)
        ),
    );
    if let Some(search) = &outcome.report.parameters.search {
        let recall = search.recall_at_threshold;
        let percent = 100.0 * recall;
        lines.row(
            "recall",
            format!("{percent:.1} % expected of pairs just at the threshold"),
        );
    }
}

/// How many clusters there are, and how large the largest is.
pub(crate) fn clusters(counts: &Counts) -> String {
    format!(
        "{}, the largest of {}",
        HumanCount(counts.clusters),
        counted(counts.largest_cluster, "document")
    )
}

/// Where the time went, and how much memory it took.
pub(crate) fn times(lines: &mut Lines, outcome: &Outcome, start: Instant) {
    for time in &outcome.timings.0 {
        if time.is_part {
            lines.row(
                "",
                format!("{:.2} s of it to {}", time.elapsed_s, time.stage),
            );
            continue;
        }
        let mut value = format!("{:.2} s", time.elapsed_s);
        if time.bytes > 0 {
            let rate = time.bytes as f64 / 1e6 / time.elapsed_s;
            let _ = write!(value, ", {rate:.0} MB/s");
        }
        lines.row(time.stage, value);
    }
    let elapsed_s = start.elapsed().as_secs_f64();
    let rate = outcome.report.counts.bytes as f64 / 1e6 / elapsed_s;
    lines.row("in all", format!("{elapsed_s:.2} s, {rate:.0} MB/s"));
    if let Some(peak) = peak_memory_bytes() {
        lines.row("memory", format!("{} at the peak", HumanBytes(peak)));
    }
}
