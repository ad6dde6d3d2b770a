//! `simgpu tune`.

use std::fmt::Write as _;
use std::num::NonZeroU64;

use clap::Args;
use simgpu::pipeline::{Banding, BandingEffect, Tuning, tune};
use simgpu::search::{Search, Verification};

use super::plan::{PlanArguments, PlannedRun};
use super::sample::SampleArguments;
use crate::arguments::{num_perm_range, number, requested_banding, scheme_of};
use crate::options::{Given, Mode};
use crate::streams::print;
use crate::terminal::Terminal;
use crate::{Usage, stop, usage};

/// Show the effect of bands and rows: missed pairs, false candidates, memory, S-curve
///
/// A pair of similarity s becomes a candidate with probability 1 - (1 - s^rows)^bands. More bands find
/// more pairs; more rows exclude more dissimilar pairs.
///
/// With --sample, also shows what shingles of 1 to 12 units do in documents like those to search, and which size to take:
/// the least at which 99 of 100 random pairs of documents have a similarity of at most 0.05, or else the least at which
/// their mean is at most 0.05. It tells how many pairs become candidates, beside the number of all pairs.
///
/// With --documents and --bytes, plans a deduplication: memory, disk space, time and candidate pairs, from a small run
/// that writes at most 64 MB and removes it.
#[derive(Args, Debug)]
pub(crate) struct TuneArguments {
    /// Minimum Jaccard similarity of near-duplicates, above 0 and up to 1
    #[arg(long, short, value_name = "S", value_parser = number, default_value_t = 0.8)]
    threshold: f64,

    /// Signature scheme or preset, as for `simgpu dedup`
    #[arg(long, value_name = "NAME", default_value = "affine32")]
    scheme: String,

    /// Number of permutations, one per slot of a signature [default: 128, or the scheme's]
    #[arg(long, value_name = "K", value_parser = num_perm_range())]
    num_perm: Option<u32>,

    /// Number of bands to show beside the suggested ones; needs --rows
    #[arg(long, value_name = "B", requires = "rows")]
    bands: Option<usize>,

    /// Slots per band to show; needs --bands
    #[arg(long, value_name = "R", requires = "bands")]
    rows: Option<usize>,

    #[command(flatten)]
    sample: SampleArguments,

    #[command(flatten)]
    plan: PlanArguments,
}

pub(crate) fn run(arguments: &TuneArguments, given: &Given) -> anyhow::Result<()> {
    let scheme = scheme_of(&arguments.scheme, arguments.num_perm, None)?;
    given.check(arguments.sample.modes(&scheme)?)?;
    if arguments.plan.bytes.is_none() {
        given.check(&[Mode::NoPlan])?;
    }
    let requested = requested_banding(arguments.bands, arguments.rows, &scheme)?;
    let tuning = tune(arguments.threshold, &scheme, requested).map_err(usage)?;
    let mut page = page(&tuning)?;
    let documents = arguments.sample.documents;
    if documents.is_some() && arguments.sample.sample.is_empty() && arguments.plan.bytes.is_none() {
        return Err(Usage::error(
            "`documents` needs `sample` or `bytes`; add one of them, or omit `documents`",
        ));
    }
    let plan = &arguments.plan;
    plan.check(documents)?;
    let banding = shown(&tuning).banding;
    let survey = arguments.sample.survey(&scheme)?;
    if let Some(survey) = &survey {
        survey.write(&mut page, banding)?;
    }
    let search = Search {
        banding,
        ..Search::new(arguments.threshold, &scheme)?
    };
    // The small run of a plan writes files, which a signal must not leave behind.
    stop::listen()?;
    let terminal = Terminal::new(false);
    let documents = documents.and_then(NonZeroU64::new);
    let sampled = survey.and_then(|survey| survey.candidates(banding));
    let planned = PlannedRun {
        documents,
        search,
        scheme: &scheme,
        sampled,
    };
    if let Some(plan) = plan.plan(planned, &terminal)? {
        plan.write(&mut page)?;
    }
    drop(terminal);
    Ok(print(&page)?)
}

/// A table of the bandings, and the S-curve.
///
/// # Errors
/// None that can occur.
pub fn page(tuning: &Tuning) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    write_page(&mut page, tuning)?;
    Ok(page)
}

/// The share of pairs at the threshold that a run with this banding finds.
pub fn recall_at_threshold(tuning: &Tuning, banding: Banding, verification: Verification) -> f64 {
    let search = Search::through_lsh(tuning.threshold, banding, verification);
    let detection = search.detection(tuning.num_perm);
    detection.probability(tuning.threshold)
}

fn write_page(page: &mut String, tuning: &Tuning) -> std::fmt::Result {
    let (threshold, num_perm) = (tuning.threshold, tuning.num_perm);
    writeln!(page, "threshold {threshold}, {num_perm} permutations")?;
    writeln!(page)?;
    writeln!(
        page,
        "                     weight of a   candidates of pairs of similarity         bytes per"
    )?;
    write!(page, "         bands x rows  missed pair ")?;
    for similarity in tuning.similarities {
        let similarity = similarity.map_or(String::new(), |s| format!("{s:.2}"));
        write!(page, "{similarity:>9}")?;
    }
    writeln!(page, "  document")?;
    let default_weight = tuning.default.false_negative_weight;
    // Neighbouring weights may choose the same banding, most of all with few permutations.
    let bandings = tuning.by_weight.chunk_by(|a, b| a.banding == b.banding);
    for effects in bandings {
        let has = |weight| {
            let mut effects = effects.iter();
            effects.any(|effect| effect.false_negative_weight == weight)
        };
        let label = if has(default_weight) {
            "default"
        } else if has(Some(0.5)) {
            "equal"
        } else {
            ""
        };
        write_row(page, label, effects)?;
    }
    if default_weight.is_none() {
        write_row(page, "default", std::slice::from_ref(&tuning.default))?;
    }
    if let Some(requested) = &tuning.requested {
        write_row(page, "asked", std::slice::from_ref(requested))?;
    }
    writeln!(page)?;
    writeln!(
        page,
        "Bytes are those of the band keys; --verify signature adds {num_perm}.",
    )?;
    let shown = shown(tuning);
    let found = |verification| percent(recall_at_threshold(tuning, shown.banding, verification));
    writeln!(
        page,
        "Of pairs at {threshold}, {} x {} finds {} with --verify exact, and {} with --verify signature.",
        shown.banding.bands(),
        shown.banding.rows(),
        found(Verification::Exact),
        found(Verification::Signature)
    )?;
    write_curve(page, &shown.banding, threshold)?;
    writeln!(
        page,
        "area under the curve below {threshold}: {:.4}; over it above: {:.4}",
        shown.false_positive_area, shown.false_negative_area
    )
}

/// The banding of the curve, and of the candidates in a sample: the requested one, or the default.
pub fn shown(tuning: &Tuning) -> &BandingEffect {
    tuning.requested.as_ref().unwrap_or(&tuning.default)
}

/// Writes the row of one banding, which all of these weights choose.
fn write_row(page: &mut String, label: &str, effects: &[BandingEffect]) -> std::fmt::Result {
    let (Some(effect), Some(last)) = (effects.first(), effects.last()) else {
        return Ok(());
    };
    let weight = match (effect.false_negative_weight, last.false_negative_weight) {
        (Some(least), Some(greatest)) if least < greatest => format!("{least} to {greatest}"),
        (weight, _) => weight.map_or(String::new(), |weight| weight.to_string()),
    };
    write!(
        page,
        "{label:>7} {:>6} x {:<4} {weight:>12} ",
        effect.banding.bands(),
        effect.banding.rows()
    )?;
    for candidates in effect.candidates {
        write!(page, "{:>9}", candidates.map_or(String::new(), percent))?;
    }
    writeln!(page, "{:>10}", effect.key_bytes)
}

fn percent(probability: f64) -> String {
    let percent = 100.0 * probability;
    if percent > 99.9995 {
        "100%".to_owned()
    } else if (0.1..=99.9).contains(&percent) {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.3}%")
    }
}

/// Draws the S-curve over an axis that marks the threshold.
fn write_curve(page: &mut String, banding: &Banding, threshold: f64) -> std::fmt::Result {
    const HEIGHT: u32 = 12;
    const WIDTH: u32 = 60;
    /// Marks a threshold between two cells at the left one.
    const ROUNDING: f64 = 1e-9;
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    writeln!(page)?;
    let (bands, rows) = (banding.bands(), banding.rows());
    // Mining of Massive Datasets, 3.4.2.
    let steepest = (1.0 / bands as f64).powf(1.0 / rows as f64);
    writeln!(
        page,
        "P(candidate) = 1 - (1 - s^{rows})^{bands}, which rises most steeply about (1/{bands})^(1/{rows}) = {steepest:.3}"
    )?;
    let curve: Vec<f64> = banding.s_curve(WIDTH).collect();
    let cell = |probability: f64, line: u32| {
        let height = probability * f64::from(HEIGHT);
        let eighths = 8.0 * (height - f64::from(line)) + 0.5;
        let filled = (1..=8u8).rfind(|filled| f64::from(*filled) <= eighths);
        EIGHTHS[usize::from(filled.unwrap_or(0))]
    };
    for line in (0..HEIGHT).rev() {
        let label = match line {
            11 => "100%",
            5 => " 50%",
            _ => "    ",
        };
        let cells: String = curve.iter().map(|p| cell(*p, line)).collect();
        writeln!(page, "{label} │{}", cells.trim_end())?;
    }
    let is_at_threshold = |column: &u32| {
        let cells = f64::from(*column)..f64::from(column + 1);
        cells.contains(&(threshold * f64::from(WIDTH) - ROUNDING))
    };
    let axis = (0..WIDTH).map(|column| {
        if is_at_threshold(&column) {
            '┴'
        } else {
            '─'
        }
    });
    writeln!(page, "     └{}", axis.collect::<String>())?;
    let at = (0..WIDTH)
        .position(|column| is_at_threshold(&column))
        .unwrap_or(0);
    writeln!(page, "     {:>at$}", threshold, at = at + 2)
}
