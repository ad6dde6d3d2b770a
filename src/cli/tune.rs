//! `simgpu tune`.

use clap::Args;
use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu::scheme::DEFAULT_NUM_PERM;

use super::usage;

/// Show what bands and rows do: missed pairs, false candidates, memory, the S-curve
///
/// A pair of similarity s becomes a candidate with probability 1 - (1 - s^rows)^bands. More bands find
/// more pairs, more rows keep more dissimilar pairs out.
#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// The least Jaccard similarity of near-duplicates, above 0 and up to 1
    #[arg(long, short, value_name = "S", default_value_t = 0.8)]
    threshold: f64,

    /// Number of permutations
    #[arg(long, value_name = "K", default_value_t = DEFAULT_NUM_PERM)]
    num_perm: u32,

    /// Show this number of bands, with --rows
    #[arg(long, value_name = "B", requires = "rows")]
    bands: Option<usize>,

    /// Slots of a band, with --bands
    #[arg(long, value_name = "R", requires = "bands")]
    rows: Option<usize>,
}

/// What a false negative weighs in the alternatives, a false positive weighing the rest.
const FALSE_NEGATIVE_WEIGHTS: [f64; 6] = [0.05, 0.5, 0.8, 0.9, 0.95, 0.99];

/// The weight of the command line's default.
const DEFAULT_WEIGHT: f64 = 0.95;

#[allow(clippy::print_stdout, reason = "the tables are what was asked for")]
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments {
        threshold,
        num_perm,
        ..
    } = *arguments;
    let slots = num_perm as usize;
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
    let default =
        Banding::for_threshold(threshold, slots, ErrorWeights::VERIFIED).map_err(usage)?;
    let shown = asked.unwrap_or(default);
    println!("threshold {threshold}, {num_perm} permutations\n");
    println!(
        "      bands   rows   weight of a   candidates of pairs with similarity        bytes a"
    );
    println!(
        "                       missed pair   t-0.2   t-0.1       t   t+0.1   t+0.2   document"
    );
    let mut alternatives = Vec::new();
    for weight in FALSE_NEGATIVE_WEIGHTS {
        alternatives.push((Some(weight), weighted(weight)?));
    }
    if let Some(asked) = asked {
        alternatives.push((None, asked));
    }
    for (weight, banding) in alternatives {
        let label = match weight {
            None => "asked",
            Some(DEFAULT_WEIGHT) => "default",
            Some(0.5) => "equal",
            Some(_) => "",
        };
        let weight = weight.map_or("-".to_owned(), |weight| weight.to_string());
        print!(
            "{label:>7} {:>3} {:>6} {weight:>13}  ",
            banding.bands(),
            banding.rows()
        );
        for offset in [-0.2, -0.1, 0.0, 0.1, 0.2] {
            print!("{}", percent_at(&banding, threshold + offset));
        }
        println!("{:>11}", 8 * banding.bands());
    }
    println!(
        "\nBytes are those of the band keys; a signature has {} or {}.",
        4 * slots,
        8 * slots
    );
    print_curve(&shown, threshold);
    Ok(())
}

fn percent_at(banding: &Banding, similarity: f64) -> String {
    // Offsets from a threshold are sums of decimals, so 1 may come out as a little more.
    if !(-1e-9..=1.0 + 1e-9).contains(&similarity) {
        return format!("{:>8}", "-");
    }
    let percent = 100.0 * banding.candidate_probability(similarity.clamp(0.0, 1.0));
    let digits = if (0.1..=99.9).contains(&percent) {
        1
    } else {
        3
    };
    format!("{:>7.digits$}%", percent)
}

/// Draws the S-curve, with a line at the threshold.
#[allow(clippy::print_stdout, reason = "the curve is what was asked for")]
fn print_curve(banding: &Banding, threshold: f64) {
    const HEIGHT: u32 = 12;
    const WIDTH: u32 = 60;
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (below, above) = banding.error_areas(threshold);
    println!(
        "\nP(candidate) = 1 - (1 - s^{})^{}",
        banding.rows(),
        banding.bands()
    );
    let similarity = |column: u32| (f64::from(column) + 0.5) / f64::from(WIDTH);
    let at_threshold = |column: u32| {
        let (left, right) = (f64::from(column), f64::from(column + 1));
        (left..right).contains(&(threshold * f64::from(WIDTH)))
    };
    for line in (0..HEIGHT).rev() {
        let label = match line {
            11 => "100%",
            5 => " 50%",
            _ => "    ",
        };
        let cells: String = (0..WIDTH)
            .map(|column| {
                let height = banding.candidate_probability(similarity(column)) * f64::from(HEIGHT);
                let eighths = (8.0 * (height - f64::from(line))).round().clamp(0.0, 8.0);
                let filled = (0..=8u8).rfind(|e| f64::from(*e) <= eighths).unwrap_or(0);
                match filled {
                    0 if at_threshold(column) => '¦',
                    filled => EIGHTHS[usize::from(filled)],
                }
            })
            .collect();
        println!("{label} │{}", cells.trim_end());
    }
    println!("     └{}", "─".repeat(WIDTH as usize));
    println!("      0{:>29}{:>30}", "0.5", "1");
    println!("{:>36}", "similarity");
    println!(
        "area of false candidates below {threshold}: {below:.4}; of missed pairs above: {above:.4}"
    );
}
