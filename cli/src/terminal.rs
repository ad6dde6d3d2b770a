//! Messages of a run on stderr: progress bars on a terminal, notes, warnings, and the final summary.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use simgpu::engine::Engine;
use simgpu::error::with_flags;
use simgpu::machine::peak_memory_bytes;
use simgpu::pipeline::{Shingling, Unit, Weighting};
use simgpu::progress::{Counts, Progress, StageTime, Timings};
use simgpu::scheme::{Preset, Scheme, Shingles};
use simgpu::search::{CandidateMethod, Search};
use simgpu_files::{Outcome, PairsFile, SignatureFile};
use simgpu_io::{DedupParameters, Report, SourceReport};
use simgpu_ratings::RatingsOutcome;

use crate::stop;

/// Prints messages to stderr; with `--quiet`, warnings alone.
#[derive(Debug)]
pub(crate) struct Terminal {
    quiet: bool,
    stage: Option<Mutex<Stage>>,
}

/// The running stage, drawn as a progress bar.
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

    /// Prints a table of two columns: names and values.
    pub(crate) fn summary(&self, lines: &Lines) {
        self.end_stage();
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

    fn say(&self, line: &str) {
        if !self.quiet {
            print_error(line);
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
        // A stream has no known length, so neither a share nor an end to foretell.
        let (bar, template) = match total {
            0 => (ProgressBar::no_length(), "{prefix:>10}  {msg}"),
            _ => (
                ProgressBar::new(total),
                "{prefix:>10} {bar:30} {percent:>3}%  {msg}{eta} left",
            ),
        };
        let bar = bar.with_prefix(name);
        let style = ProgressStyle::with_template(template);
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
        if self.is_stopped() {
            return ControlFlow::Break(());
        }
        let Some(Ok(stage)) = self.stage.as_ref().map(Mutex::lock) else {
            return ControlFlow::Continue(());
        };
        stage.bar.set_position(done);
        if documents > 0 {
            let elapsed_s = stage.start.elapsed().as_secs_f64();
            stage.bar.set_message(format!(
                "{}, {}/s, {}, ",
                counted(documents, "document"),
                rounded(documents as f64 / elapsed_s.max(LEAST_S)),
                rate(bytes, elapsed_s)
            ));
        } else if stage.bar.length().is_none() {
            let elapsed_s = stage.start.elapsed().as_secs_f64();
            let (read, rate) = (size(bytes), rate(bytes, elapsed_s));
            stage.bar.set_message(format!("{read} read, {rate}"));
        }
        ControlFlow::Continue(())
    }

    fn is_stopped(&self) -> bool {
        stop::signal().is_some()
    }

    fn tell(&self, message: &str) {
        self.end_stage();
        self.say(&with_flags(message));
    }

    fn warn(&self, message: &str) {
        self.end_stage();
        // Also with `--quiet`: what a result lacks must not go unseen.
        print_error(&format!("warning: {}", with_flags(message)));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end_stage();
    }
}

/// Tells the parameters of a run over documents.
pub(crate) fn announce(progress: &dyn Progress, engine: &Engine, search: Option<&Search>) {
    let scheme = engine.scheme();
    let shingling = engine.shingler().shingling();
    let shingles = shingles_name(shingling);
    let method = search.and_then(|search| search.method(engine).ok());
    if let (Some(search), Some(CandidateMethod::Join)) = (search, method) {
        let within = search.within.map(|within| {
            let (distance, most) = (within.distance.name(), HumanCount(within.most));
            format!(" within {distance} distance {most}")
        });
        progress.tell(&format!(
            "{shingles}, exact join{}",
            within.unwrap_or_default()
        ));
        return;
    }
    let shingles = match method {
        // Which of both depends on the documents.
        Some(CandidateMethod::Auto) => {
            format!("{shingles}, exact join where it costs about as much as LSH, else LSH\nLSH:")
        }
        _ => shingles,
    };
    let mut message = format!(
        "{shingles} hashed by {hash}, {scheme} with {k} permutations on {backend}",
        hash = engine.shingler().hash(),
        k = HumanCount(scheme.num_perm() as u64),
        backend = engine.signer().describe()
    );
    if let Some(search) = search {
        message.push_str(&search_parameters(scheme, search));
    }
    progress.tell(&message);
    let splits_words = |preset: &&Preset| preset.shingles == Shingles::FiveWords;
    match scheme.preset() {
        Some(preset) if shingling.weighting != Weighting::Equal => progress.tell(&format!(
            "signatures differ from those of {}, whose shingles weigh the same",
            preset.name
        )),
        Some(preset) if splits_words(&preset) && shingling.unit.is_made_of_words() => {
            progress.tell(&format!(
                "signatures equal those of {} only for the same tokens; pass them with `unit=tokens`",
                preset.name
            ));
        }
        _ => {}
    }
}

/// Tells the parameters of a run over stored signatures.
pub(crate) fn announce_signatures(
    progress: &dyn Progress,
    signatures: &SignatureFile,
    search: &Search,
) {
    let scheme = signatures.scheme();
    progress.tell(&format!(
        "{signatures} of shingles of {shingles}, {scheme} with {k} permutations and seed {seed}{search}",
        signatures = counted(signatures.documents(), "signature"),
        shingles = signatures.shingles(),
        k = HumanCount(scheme.num_perm() as u64),
        seed = scheme.seed(),
        search = search_parameters(scheme, search),
    ));
}

/// Tells what a run by a file of pairs does.
pub(crate) fn announce_pairs(progress: &dyn Progress, pairs: &PairsFile) {
    progress.tell(&format!(
        "{} of similarity {} or more, found by an earlier run; no shingles and no signatures are computed",
        counted(pairs.pairs(), "pair"),
        pairs.search().threshold
    ));
}

/// The banding and the memory per document, to append to the parameters of signatures.
fn search_parameters(scheme: &Scheme, search: &Search) -> String {
    let bands = counted(search.banding.bands() as u64, "band");
    let rows = counted(search.banding.rows() as u64, "slot");
    let bytes = search.bytes_per_document(scheme.num_perm());
    format!(
        ", {bands} of {rows}\nheld in memory: {} bytes per document, plus its id",
        HumanCount(bytes as u64)
    )
}

/// What is signed: `shingles of 5 words`.
pub(crate) fn shingles_name(shingling: &Shingling) -> String {
    let unit = &shingling.unit;
    let is_unit = *unit == Unit::Tokens && shingling.size.get() == 1;
    let counted = match shingling.weighting {
        Weighting::Equal => "",
        Weighting::Counts => "counted ",
        Weighting::Places => return "tokens, each with its place".to_owned(),
        Weighting::Given(_) => "weighted ",
        Weighting::Rarity => "rarity-weighted ",
    };
    if unit.takes_size() && !is_unit {
        let size = HumanCount(shingling.size.get() as u64);
        let unit = match unit {
            Unit::Code => "tokens of code".to_owned(),
            unit => unit.to_string(),
        };
        let unit = match shingling.size.get() {
            1 if shingling.unit == Unit::Code => "token of code",
            1 => unit.strip_suffix('s').unwrap_or(&unit),
            _ => &unit,
        };
        format!("{counted}shingles of {size} {unit}")
    } else {
        format!("{counted}shingles of {unit}")
    }
}

/// Writes a line to stderr. Nobody can be told if that fails.
pub(crate) fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", harmless(line));
}

/// A text without characters that a terminal obeys, which names of files and ids may have: those of control, and those that
/// turn the direction of writing. Each becomes a mark such as `<U+001B>`.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => c.is_control(),
    };
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Lines of a summary, each with a name and a value.
#[derive(Clone, Debug, Default)]
pub struct Lines(pub Vec<(&'static str, String)>);

impl Lines {
    pub(crate) fn row(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }
}

/// A count of things: `1 document`, `2 documents`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", HumanCount(count))
}

/// A number with its digits in groups: `7,200`.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of bytes: `512 bytes`, `23.4 kB`, `1.23 GB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut size = bytes as f64 / 1e3;
    let mut unit = 0;
    // Values that round to 1,000 take the next unit.
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1e3;
        unit += 1;
    }
    let decimals = if size < 9.995 {
        2
    } else {
        usize::from(size < 99.95)
    };
    format!("{size:.decimals$} {}", UNITS[unit])
}

/// A number rounded to an integer, with its digits in groups.
fn rounded(number: f64) -> HumanCount {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "documents and megabytes per second are far below 2^64"
    )]
    HumanCount(number.round() as u64)
}

/// The name of the time that no other stage accounts for.
const OTHER: &str = "other";

/// Least time of a rate: the clock may not have moved yet, and no rate is infinite.
const LEAST_S: f64 = 1e-3;

/// Bytes per second: `7.3 MB/s`, `1,234 MB/s`.
fn rate(bytes: u64, elapsed_s: f64) -> String {
    let megabytes = bytes as f64 / 1e6 / elapsed_s.max(LEAST_S);
    if megabytes < 10.0 {
        format!("{megabytes:.1} MB/s")
    } else {
        format!("{} MB/s", rounded(megabytes))
    }
}

/// A time: `1.23 s`, `2 min 05 s`, `3 h 20 min`.
fn duration(elapsed_s: f64) -> String {
    if elapsed_s < 60.0 {
        return format!("{elapsed_s:.2} s");
    }
    let seconds = Duration::from_secs_f64(elapsed_s).as_secs();
    let minutes = seconds / 60;
    if minutes < 60 {
        format!("{minutes} min {:02} s", seconds % 60)
    } else {
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

/// A count, and its share of the whole in percent.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{} ({percent:.1} %)", HumanCount(part))
}

/// Adds lines with the numbers of documents: all, those without shingles, the skipped records, and those without
/// an id if that changes the ids of the others.
pub(crate) fn documents(lines: &mut Lines, report: &Report) {
    let counts = &report.counts;
    let documents = HumanCount(counts.documents);
    lines.row(
        "documents",
        format!("{documents} in {}", size(counts.bytes)),
    );
    let has_shortest = counts.short.is_some();
    if let Some(reference) = counts.reference {
        let reference = counted(reference, "document");
        lines.row(
            "reference",
            format!("{reference}, not compared with each other"),
        );
    }
    if counts.without_shingles > 0 {
        let fate = match report.command {
            "dedup" if has_shortest && counts.dropped.is_none() => ", kept",
            "dedup"
                if counts
                    .dropped
                    .is_some_and(|dropped| dropped >= counts.without_shingles) =>
            {
                ", removed"
            }
            "dedup" => ", kept unless identical to another",
            // Of signatures, nothing says which texts were equal.
            "pairs" if counts.few_shingles.is_none() => ", in no pair",
            "pairs" => ", in pairs only if identical",
            _ => "",
        };
        let without = HumanCount(counts.without_shingles);
        lines.row("no shingles", format!("{without}{fate}"));
    }
    if let (Some(short), Some(dedup)) = (counts.short, &report.dedup) {
        let fate = if dedup.drop_short { "removed" } else { "kept" };
        lines.row("short", format!("{}, {fate}", HumanCount(short)));
    }
    if let Some(few @ 1..) = counts.few_shingles {
        let percent = 100.0 * few as f64 / counts.documents.max(1) as f64;
        lines.row(
            "few shingles",
            format!("{} ({percent:.1} %) with at most one", HumanCount(few)),
        );
    }
    lines.row("skipped", HumanCount(counts.skipped).to_string());
    if let Some(missing) = &report.missing_ids {
        let (file, row) = (&missing.file, HumanCount(missing.row));
        let lack = if missing.documents == 1 {
            "lacks"
        } else {
            "lack"
        };
        lines.row(
            "ids",
            format!(
                "FILE:ROW for all, because {} {lack} an id, first {file}, row {row}",
                counted(missing.documents, "document")
            ),
        );
    }
}

/// Adds lines with the numbers of identical documents and of similar and compared pairs, with what the run is
/// expected to find, and with what it left out.
pub(crate) fn comparisons(lines: &mut Lines, outcome: &Outcome) {
    let counts = &outcome.report.counts;
    if let Some(weights) = &outcome.report.parameters.weights {
        lines.row("weights", weights.as_str());
    }
    lines.row("identical", identical(outcome));
    let similar = HumanCount(counts.similar_pairs);
    let compared = HumanCount(counts.candidate_pairs);
    // Identical documents are not compared, but are pairs.
    let pairs = match outcome.report.pairs {
        Some(_) if counts.identical > 0 => {
            format!("{similar} similar, those of identical documents included; {compared} compared")
        }
        _ => format!("{similar} similar of {compared} compared"),
    };
    lines.row("pairs", pairs);
    if let Some(search) = &outcome.report.parameters.search {
        if let (Some(distance), Some(within)) = (&search.distance, search.within) {
            lines.row(
                "distance",
                format!("{distance}, within {}", HumanCount(within)),
            );
        }
        let recall = search.recall_at_threshold;
        let percent = 100.0 * recall;
        let recall = match &*search.candidates {
            "join" => "100 %: an exact join misses no similar pair".to_owned(),
            _ if !search.recall_by_size_ratio.is_empty() => {
                let of_ratio = |(ratio, recall): (&u32, &f64)| {
                    format!("{:.1} % in one {ratio} times as large", 100.0 * recall)
                };
                let ratios = search.recall_by_size_ratio.iter().map(of_ratio);
                let ratios = ratios.collect::<Vec<_>>().join(", ");
                format!(
                    "expected for a document contained at the threshold: {ratios}; --candidates join misses none"
                )
            }
            _ => match search.input_recall_at_threshold {
                Some(among_inputs) => format!(
                    "{:.1} % expected for pairs at the threshold among the inputs, {percent:.1} % for those with the index",
                    100.0 * among_inputs
                ),
                None => format!("{percent:.1} % expected for pairs at the threshold"),
            },
        };
        lines.row("recall", recall);
        let precision = match outcome.report.expected_precision {
            Some(precision) if search.verify == "signature" => {
                format!("{:.1} % expected of the similar pairs", 100.0 * precision)
            }
            None if search.index_verify.is_some() => {
                "100 % among the inputs, where similarities are exact; with the index, signatures cannot tell"
                    .to_owned()
            }
            Some(_) if search.within.is_some() => "100 %: every distance is exact".to_owned(),
            Some(_) => "100 %: every similarity is exact".to_owned(),
            None if search.verify == "none" => "unknown: pairs were not verified".to_owned(),
            None if counts.index.is_some() => "cannot tell from signatures".to_owned(),
            None if counts.similar_pairs > 0 => {
                "cannot tell from signatures; --verify exact compares the documents".to_owned()
            }
            None => "no pair was found".to_owned(),
        };
        lines.row("precision", precision);
    }
    if counts.omitted_pairs > 0 {
        let omitted = counted(counts.omitted_pairs, "pair");
        lines.row("left out", format!("up to {omitted} not compared"));
    }
}

/// Number of documents with the text of an earlier one, and of those with its shingles alone.
fn identical(outcome: &Outcome) -> String {
    let counts = &outcome.report.counts;
    let identical = HumanCount(counts.identical);
    match (counts.equal_shingles, outcome.report.command) {
        (Some(equal @ 1..), "dedup") => format!(
            "{identical} with equal text; {} removed with equal shingles but different text",
            HumanCount(equal)
        ),
        (Some(equal @ 1..), _) => format!(
            "{identical} with equal text; {} with equal shingles but different text",
            counted(equal, "pair")
        ),
        _ => identical.to_string(),
    }
}

/// What the removals of a deduplication lose; `None` if nothing was removed but identical documents.
pub(crate) fn lost(report: &Report) -> Option<String> {
    let counts = &report.counts;
    let is_listed = |dedup: &DedupParameters| dedup.from_pairs.is_some();
    let remedy = if report.dedup.as_ref().is_some_and(is_listed) {
        "a list of pairs does not say, and a run that searches does"
    } else {
        "--verify exact compares them"
    };
    let unknown = counts.unknown_losses.unwrap_or(0);
    let of_unknown = match unknown {
        0 => String::new(),
        _ => format!(
            "; unknown for {} not compared exactly",
            counted(unknown, "document")
        ),
    };
    match (counts.lost_shingles, counts.removed_shingles) {
        (Some(lost), Some(shingles @ 1..)) => Some(format!(
            "{:.1} % of the shingles of removed documents that are not identical to a kept one{of_unknown}",
            100.0 * lost as f64 / shingles as f64
        )),
        _ if unknown > 0 => Some(format!(
            "cannot tell for {} not compared exactly; {remedy}",
            counted(unknown, "removed document")
        )),
        _ => None,
    }
}

/// The number of sources, and the one that loses most; `None` for one source.
pub(crate) fn sources(sources: &[SourceReport]) -> Option<String> {
    let named = sources.iter().filter(|source| source.others.is_none());
    // Of equal ones, the first.
    let most = named.rev().max_by_key(|source| source.removed)?;
    let others: u64 = sources.iter().filter_map(|source| source.others).sum();
    let listed = sources.len() as u64 - u64::from(others > 0);
    (sources.len() > 1).then(|| {
        format!(
            "{}, most removed from {}: {}",
            HumanCount(listed + others),
            most.source
                .as_deref()
                .unwrap_or("documents without a value"),
            share(most.removed, most.documents)
        )
    })
}

/// Number of clusters, and the size of the largest.
pub(crate) fn clusters(counts: &Counts) -> String {
    format!(
        "{}, the largest with {}",
        HumanCount(counts.clusters),
        counted(counts.largest_cluster, "document")
    )
}

/// Stages shorter than this would show as `0.00 s`.
const SHOWN_S: f64 = 0.005;

/// Adds the time of each stage, the total time, and the peak memory. Merges short stages into `other`.
pub(crate) fn times(lines: &mut Lines, outcome: &Outcome) {
    let elapsed_s = outcome.elapsed_s;
    let since = match outcome.resumed {
        0 => rate(outcome.report.counts.bytes, elapsed_s),
        _ => "since the run went on".to_owned(),
    };
    let total = format!("{}, {since}", duration(elapsed_s));
    times_and_total(lines, &outcome.timings, total);
}

/// The same for a run without a rate.
pub(crate) fn stage_times(lines: &mut Lines, timings: &Timings, elapsed_s: f64) {
    times_and_total(lines, timings, duration(elapsed_s));
}

fn times_and_total(lines: &mut Lines, timings: &Timings, total: String) {
    let is_other = |time: &StageTime| time.stage == OTHER || time.elapsed_s < SHOWN_S;
    let mut other_s = 0.0;
    let mut shows_parts = true;
    for time in &timings.0 {
        if time.is_part {
            if shows_parts && time.elapsed_s >= SHOWN_S {
                lines.row("", format!("  {} {}", time.stage, duration(time.elapsed_s)));
            }
            continue;
        }
        shows_parts = !is_other(time);
        if is_other(time) {
            other_s += time.elapsed_s;
            continue;
        }
        let mut value = duration(time.elapsed_s);
        if time.bytes > 0 {
            let _ = write!(value, ", {}", rate(time.bytes, time.elapsed_s));
        }
        lines.row(time.stage, value);
    }
    if other_s >= SHOWN_S {
        lines.row(OTHER, duration(other_s));
    }
    lines.row("total", total);
    let on_disk = timings.0.iter().filter_map(|time| time.on_disk);
    let written: u64 = on_disk.map(|used| used.written_bytes).sum();
    if written > 0 {
        lines.row(
            "on disk",
            format!("{} written to temporary files", size(written)),
        );
    }
    peak_memory(lines);
}

/// Adds the times of stages that read ratings and find neighbours.
pub(crate) fn times_of_ratings(lines: &mut Lines, outcome: &RatingsOutcome) {
    for time in &outcome.timings.0 {
        if time.stage != OTHER && time.elapsed_s >= SHOWN_S {
            lines.row(time.stage, duration(time.elapsed_s));
        }
    }
    lines.row("total", duration(outcome.elapsed_s));
    peak_memory(lines);
}

fn peak_memory(lines: &mut Lines) {
    if let Some(peak) = peak_memory_bytes() {
        lines.row("peak memory", size(peak));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_name() {
        for (text, shown) in [
            ("a\tb\nc é 漢", "a\tb\nc é 漢"),
            ("\u{1b}[2J\r\u{7f}", "<U+001B>[2J<U+000D><U+007F>"),
            ("x\u{202e}y\u{9b}1m", "x<U+202E>y<U+009B>1m"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn unknown_lengths_show_no_share() {
        let terminal = Terminal {
            quiet: false,
            stage: Some(Mutex::new(Stage {
                bar: ProgressBar::hidden(),
                start: Instant::now(),
            })),
        };
        terminal.begin("copy", 0);
        assert!(terminal.advance(3_000_000, 0, 3_000_000).is_continue());
        let stage = terminal.stage.as_ref().unwrap().lock().unwrap();
        assert_eq!(stage.bar.length(), None);
        assert!(stage.bar.message().starts_with("3.00 MB read, "));
    }

    #[test]
    fn units_follow_the_magnitude() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (999_700, "1.00 MB"),
            (23_400_000, "23.4 MB"),
            (123_400_000, "123 MB"),
            (1_234_000_000, "1.23 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        for (bytes, expected) in [(7_300_000, "7.3 MB/s"), (1_234_400_000, "1,234 MB/s")] {
            assert_eq!(rate(bytes, 1.0), expected);
        }
        assert_eq!(rate(7_300_000, 0.0), "7,300 MB/s");
        for (elapsed_s, expected) in [
            (1.234, "1.23 s"),
            (125.9, "2 min 05 s"),
            (12_059.0, "3 h 20 min"),
        ] {
            assert_eq!(duration(elapsed_s), expected);
        }
    }
}
