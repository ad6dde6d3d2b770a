//! `simgpu tune`.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::Args;
use simgpu::pipeline::{Banding, ErrorWeights};

use crate::arguments::{num_perm_range, scheme_of};
use crate::usage;

/// Show what bands and rows do: missed pairs, false candidates, memory, the S-curve
///
/// A pair of similarity s becomes a candidate with probability 1 - (1 - s^rows)^bands. More bands find
/// more pairs, more rows keep more dissimilar pairs out.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The least Jaccard similarity of near-duplicates, above 0 and up to 1
    #[arg(long, short, value_name = "S", default_value_t = 0.8)]
    threshold: f64,

    /// The signature scheme, whose bands and rows are shown
    #[arg(long, value_name = "NAME", default_value = "affine32")]
    scheme: String,

    /// Number of permutations [default: 128, or the scheme's]
    #[arg(long, value_name = "K", value_parser = num_perm_range())]
    num_perm: Option<u32>,

    /// Show this number of bands, with --rows
    #[arg(long, value_name = "B", requires = "rows")]
    bands: Option<usize>,

    /// Slots of a band, with --bands
    #[arg(long, value_name = "R", requires = "bands")]
    rows: Option<usize>,
}

/// What a false negative weighs in the alternatives, a false positive weighing the rest.
const FALSE_NEGATIVE_WEIGHTS: [f64; 6] = [0.05, 0.5, 0.8, 0.9, 0.95, 0.99];

/// The weight of the default, unless a preset has its own banding.
const DEFAULT_WEIGHT: f64 = 0.95;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut page = String::new();
    write_page(&mut page, arguments)?;
    std::io::stdout().write_all(page.as_bytes())?;
    Ok(())
}

fn write_page(page: &mut String, arguments: &Arguments) -> anyhow::Result<()> {
    let scheme = scheme_of(&arguments.scheme, arguments.num_perm, None)?;
    let (threshold, slots) = (arguments.threshold, scheme.num_perm());
    let weighted = |false_negative: f64| {
        let weights = ErrorWeights {
            false_positive: 1.0 - false_negative,
            false_negative,
        };
        Banding::for_threshold(threshold, slots, weights).map_err(usage)
    };
    let asked = match (arguments.bands, arguments.rows) {
        (Some(bands), Some(rows)) => Some(Banding::new(bands, rows, slots).map_err(usage)?),
        _ => None,
    };
    let default = Banding::for_scheme(threshold, &scheme).map_err(usage)?;
    writeln!(page, "threshold {threshold}, {slots} permutations")?;
    writeln!(page)?;
    writeln!(
        page,
        "                     weight of a   candidates of pairs of similarity           bytes a"
    )?;
    write!(page, "         bands x rows  missed pair ")?;
    for similarity in OFFSETS.map(|offset| threshold + offset) {
        let shown = (0.0..=1.0 + ROUNDING).contains(&similarity);
        let similarity = if shown {
            format!("{similarity:.2}")
        } else {
            String::new()
        };
        write!(page, "{similarity:>9}")?;
    }
    writeln!(page, "  document")?;
    for weight in FALSE_NEGATIVE_WEIGHTS {
        let label = match weight {
            DEFAULT_WEIGHT if scheme.preset().is_none() => "default",
            0.5 => "equal",
            _ => "",
        };
        write_row(
            page,
            label,
            &weight.to_string(),
            &weighted(weight)?,
            threshold,
        )?;
    }
    if scheme.preset().is_some() {
        write_row(page, "default", "", &default, threshold)?;
    }
    if let Some(asked) = &asked {
        write_row(page, "asked", "", asked, threshold)?;
    }
    writeln!(page)?;
    writeln!(
        page,
        "Bytes are those of the band keys; a signature has {}, or {} in 64-bit schemes.",
        4 * slots,
        8 * slots
    )?;
    write_curve(page, &asked.unwrap_or(default), threshold)?;
    Ok(())
}

/// The similarities around the threshold for which candidates are told.
const OFFSETS: [f64; 5] = [-0.2, -0.1, 0.0, 0.1, 0.2];

/// Sums of decimals, such as 0.8 + 0.2, may come out as a little more than they are.
const ROUNDING: f64 = 1e-9;

fn write_row(
    page: &mut String,
    label: &str,
    weight: &str,
    banding: &Banding,
    threshold: f64,
) -> std::fmt::Result {
    write!(
        page,
        "{label:>7} {:>6} x {:<4} {weight:>12} ",
        banding.bands(),
        banding.rows()
    )?;
    for similarity in OFFSETS.map(|offset| threshold + offset) {
        write!(page, "{:>9}", percent_at(banding, similarity))?;
    }
    writeln!(page, "{:>10}", 8 * banding.bands())
}

fn percent_at(banding: &Banding, similarity: f64) -> String {
    if !(0.0..=1.0 + ROUNDING).contains(&similarity) {
        return String::new();
    }
    let percent = 100.0 * banding.candidate_probability(similarity.min(1.0));
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
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    writeln!(page)?;
    writeln!(
        page,
        "P(candidate) = 1 - (1 - s^{})^{}",
        banding.rows(),
        banding.bands()
    )?;
    let cell = |column: u32, line: u32| {
        let similarity = (f64::from(column) + 0.5) / f64::from(WIDTH);
        let height = banding.candidate_probability(similarity) * f64::from(HEIGHT);
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
        let cells: String = (0..WIDTH).map(|column| cell(column, line)).collect();
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
    writeln!(page, "     {:>at$}", threshold, at = at + 2)?;
    let (below, above) = banding.error_areas(threshold);
    writeln!(
        page,
        "area under the curve below {threshold}: {below:.4}; over it above: {above:.4}"
    )
}
