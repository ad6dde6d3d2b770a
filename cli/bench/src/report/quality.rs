//! Charts of errors and of candidate pairs.

use maud::{Markup, html};

use super::bars::Bar;
use super::chart::{Axis, Plot};
use super::heat::heat_map;
use super::mark::{LegendSample, Mark, legend_of_markers};
use super::scale::Scale;
use super::speed::{group_by_name, look_of, panels};
use crate::record::once;
use crate::summary::table::{digits, percent};
use crate::summary::{compared, distinct, swept, usual};
use crate::tables::Tables;
use crate::{CandidateCount, ErrorCell};

/// Points per theoretical curve.
const STEPS: u32 = 100;

/// Distance between neighbouring schemes, as a factor of the slots.
const SPACING: f64 = 1.06;

/// One map per scheme, at the most frequent number of slots.
pub(super) fn heat_maps(tables: &Tables) -> Option<Markup> {
    let once = once(&tables.errors);
    let whole = || once.iter().copied().filter(|cell| cell.is_whole());
    let num_perm = usual(whole().map(|cell| cell.num_perm))?;
    let is_shown = |cell: &&ErrorCell| cell.num_perm == num_perm && cell.error_ratio.is_some();
    let schemes = group_by_name(whole().filter(is_shown).map(|cell| (cell.name(), cell)));
    let maps: Vec<Markup> = schemes
        .iter()
        .filter_map(|(name, cells)| heat_map(name, cells))
        .collect();
    (!maps.is_empty()).then(|| html! { div.figures { @for map in &maps { (map) } } })
}

/// The error of each backend over that of independent permutations, by scheme: the mean over similarities.
pub(super) fn error_backends(tables: &Tables) -> Option<Markup> {
    let cells = compared(&tables.errors).into_iter();
    let backends = group_by_name(cells.map(|cell| {
        let name = (cell.name(), cell.computer(), cell.backend.clone());
        (format!("{} {}", cell.name(), cell.computer()), (name, cell))
    }));
    let bars = backends.iter().filter_map(|(_, cells)| {
        let ((scheme, computer, backend), _) = cells.first()?;
        let squares = cells
            .iter()
            .filter_map(|(_, cell)| Some(interval(cell)).filter(|_| cell.error_ratio.is_some()));
        let [low, ratio, high] = squares.fold([0.0; 3], |sum, ends| {
            [0, 1, 2].map(|end| sum[end] + ends[end] / cells.len() as f64)
        });
        let bar = Bar {
            name: computer.clone(),
            value: ratio,
            deviation: (high - low) / (2.0 * ratio),
            shown: digits(ratio, 3),
            look: look_of(backend),
        };
        Some((scheme.clone(), bar))
    });
    let groups = group_by_name(bars);
    let description = "Root mean square error by backend, over that of independent permutations";
    (!groups.is_empty()).then(|| panels(&groups, description))
}

/// Root mean square error by slots: its ratio to that of independent permutations, and both.
pub(super) fn error_slots(tables: &Tables) -> Option<Markup> {
    let once = once(&tables.errors).into_iter();
    let whole: Vec<&ErrorCell> = once.filter(|cell| cell.is_whole()).collect();
    let kind = swept(&whole)?;
    let alike: Vec<&ErrorCell> = whole
        .into_iter()
        .filter(|cell| kind.is_pair_of(cell))
        .collect();
    let names: Vec<String> = distinct(alike.iter().map(|cell| cell.name()));
    let slots = || alike.iter().map(|cell| f64::from(cell.num_perm));
    let x = Axis::new(
        "slots (K)",
        Scale::log(slots()).wider(0.08).with_ticks(slots()),
    );
    let ideal = ideal_errors(&alike);
    // Extend the line to both edges, because schemes stand next to their number of slots.
    let ends = [ideal.first(), ideal.last()].into_iter().flatten();
    let level = ends
        .zip([0.5, 2.0])
        .map(|([at, _], reach)| [at * reach, 1.0])
        .collect();
    let ratios = Plot {
        title: "Ratio".to_owned(),
        description: "Root mean square error over that of independent permutations, by slots, with 95 % intervals"
            .to_owned(),
        x: x.clone(),
        y: Axis::new(
            "error / sqrt(J (1 - J) / K)",
            Scale::log(alike.iter().flat_map(interval))
                .wider(0.06)
                .with_ticks((1..=40_u8).map(|tenths| f64::from(tenths) / 10.0)),
        ),
        marks: theory(level)
            .chain(slot_marks(&names, &alike, SPACING, |_| 1.0))
            .collect(),
    };
    let ends = |cell: &&ErrorCell| interval(cell).map(|ratio| ratio * cell.ideal());
    let errors = Plot {
        title: "Error".to_owned(),
        description:
            "Root mean square error by slots, with 95 % intervals; dashed: sqrt(J (1 - J) / K)"
                .to_owned(),
        x,
        y: Axis::new(
            "root mean square error",
            Scale::log(alike.iter().flat_map(ends)).wider(0.06),
        ),
        marks: theory(ideal)
            .chain(slot_marks(&names, &alike, 1.0, ErrorCell::ideal))
            .collect(),
    };
    let symbols = [(LegendSample::Theory, "independent permutations")];
    Some(html! {
        div.figures.pairs { (ratios.draw()) (errors.draw()) }
        (legend_of_markers(&names, &symbols))
    })
}

/// The error of independent permutations at each number of slots, ascending.
fn ideal_errors(cells: &[&ErrorCell]) -> Vec<[f64; 2]> {
    let mut ideal: Vec<[f64; 2]> = cells
        .iter()
        .map(|cell| [f64::from(cell.num_perm), cell.ideal()])
        .collect();
    ideal.sort_by(|a, b| a[0].total_cmp(&b[0]));
    ideal.dedup();
    ideal
}

/// Lower end, error ratio and upper end of a cell.
fn interval(cell: &&ErrorCell) -> [f64; 3] {
    [
        cell.error_ratio_low,
        cell.error_ratio,
        cell.error_ratio_high,
    ]
    .map(|ratio| ratio.unwrap_or(1.0))
}

fn theory(points: Vec<[f64; 2]>) -> impl Iterator<Item = Mark> {
    std::iter::once(Mark::Theory { points })
}

/// Marks of error ratios in some unit, by slots. `spacing` is the factor between neighbouring schemes, so that none hides
/// another; it must be 1 next to a sloped line, where a shift would look like an error.
fn slot_marks(
    names: &[String],
    cells: &[&ErrorCell],
    spacing: f64,
    unit: impl Fn(&ErrorCell) -> f64,
) -> Vec<Mark> {
    let middle = (names.len() as f64 - 1.0) / 2.0;
    let mut marks = Vec::new();
    for cell in cells {
        let Some(look) = names.iter().position(|name| *name == cell.name()) else {
            continue;
        };
        let at = f64::from(cell.num_perm) * spacing.powf(look as f64 - middle);
        let [low, value, high] = interval(cell).map(|ratio| ratio * unit(cell));
        marks.push(Mark::Whisker {
            look,
            at: [at, low, high],
        });
        marks.push(Mark::Point {
            look,
            at: [at, value],
            tooltip: format!(
                "{}, K = {}: {}",
                cell.name(),
                cell.num_perm,
                digits(value, 3)
            ),
        });
    }
    marks
}

/// Share of pairs that become candidates, by banding.
pub(super) fn curves(tables: &Tables) -> Option<Markup> {
    let names: Vec<String> = distinct(tables.candidates.iter().map(|row| row.scheme.clone()));
    let bandings = group_by_name(tables.candidates.iter().map(|row| {
        let CandidateCount {
            num_perm,
            bands,
            rows,
            ..
        } = row;
        (format!("{bands} bands of {rows}, K = {num_perm}"), row)
    }));
    let symbols = [
        (LegendSample::Theory, "1 - (1 - s^rows)^bands"),
        (LegendSample::Band, "95 % of the binomial"),
    ];
    let is_some = !bandings.is_empty();
    is_some.then(|| {
        html! {
            div.figures.pairs { @for (title, rows) in &bandings { (curve(title, rows, &names)) } }
            (legend_of_markers(&names, &symbols))
        }
    })
}

/// The candidates of one banding. All schemes share the theoretical curve.
fn curve(title: &str, rows: &[&CandidateCount], names: &[String]) -> Markup {
    let point = |row: &&CandidateCount| {
        let look = names.iter().position(|name| *name == row.scheme)?;
        Some(Mark::Point {
            look,
            at: [row.similarity, row.share()],
            tooltip: format!(
                "{}, similarity {:.2}: {} of {} pairs",
                row.scheme,
                row.similarity,
                percent(row.share()),
                row.pairs
            ),
        })
    };
    let curve = rows.first().map(|row| expected(row)).unwrap_or_default();
    let mut marks = vec![Mark::Band {
        points: around(&curve, rows),
    }];
    marks.push(Mark::Theory { points: curve });
    marks.extend(rows.iter().filter_map(point));
    let plot = Plot {
        title: title.to_owned(),
        description:
            "Share of pairs that become candidates by similarity; dashed: 1 - (1 - s^rows)^bands; \
                      area: range that contains 95 % of the binomial"
                .to_owned(),
        x: Axis::new("Jaccard similarity", Scale::linear([1.0].into_iter())),
        y: Axis::new("share of candidate pairs", Scale::linear([1.0].into_iter())),
        marks,
    };
    plot.draw()
}

/// The range of the binomial along the whole curve: its distance from the curve is interpolated linearly between
/// measured similarities.
fn around(curve: &[[f64; 2]], rows: &[&CandidateCount]) -> Vec<[f64; 3]> {
    let mut reaches: Vec<[f64; 3]> = rows
        .iter()
        .map(|row| {
            let expected = row.expected_share;
            [
                row.similarity,
                expected - row.low_share,
                row.high_share - expected,
            ]
        })
        .collect();
    reaches.sort_by(|a, b| a[0].total_cmp(&b[0]));
    reaches.dedup_by(|a, b| a[0] == b[0]);
    let reach = |at: f64| {
        let after = reaches.partition_point(|reach| reach[0] < at);
        let [before, after] = [after.saturating_sub(1), after].map(|i| {
            reaches
                .get(i)
                .or(reaches.last())
                .copied()
                .unwrap_or_default()
        });
        let share = (at - before[0]) / (after[0] - before[0]);
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        [1, 2].map(|side| before[side] + share * (after[side] - before[side]))
    };
    let point = |[at, expected]: &[f64; 2]| {
        let [below, above] = reach(*at);
        [
            *at,
            (expected - below).max(0.0),
            (expected + above).min(1.0),
        ]
    };
    curve.iter().map(point).collect()
}

fn expected(row: &CandidateCount) -> Vec<[f64; 2]> {
    let at = |step: u32| {
        let similarity = f64::from(step) / f64::from(STEPS);
        let in_band = similarity.powf(f64::from(row.rows));
        [similarity, 1.0 - (1.0 - in_band).powf(f64::from(row.bands))]
    };
    (0..=STEPS).map(at).collect()
}
