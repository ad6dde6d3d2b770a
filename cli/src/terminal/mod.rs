//! Messages of a run on stderr: progress bars on a terminal, notes, warnings, and the final summary.

mod numbers;

mod announce;

mod summary;

mod times;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use simgpu::error::with_flags;
use simgpu::progress::Progress;

use crate::stop;

pub(crate) use announce::{announce, announce_pairs, announce_signatures, shingles_name};
pub(crate) use numbers::{counted, grouped, share};
pub use summary::Lines;
pub(crate) use summary::{clusters, comparisons, documents, lost, sources};
pub(crate) use times::{stage_times, times, times_of_ratings};

use numbers::{LEAST_S, rate, rounded, size};

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

#[cfg(test)]
mod tests {
    use super::numbers::duration;
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
