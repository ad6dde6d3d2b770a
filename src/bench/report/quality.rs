//! Charts of errors, and of what is found.

use maud::{Markup, html};

use super::chart::{Axis, Plot, Scale};
use super::heat::heat_map;
use super::mark::{Mark, Sample, legend_of_markers};
use super::speed::by_name;
use crate::bench::folder::Tables;
use crate::bench::summary::table::{digits, percent};
use crate::bench::summary::{swept, usual};
use crate::bench::{Candidates, ErrorCell};

/// Points of a curve that theory gives.
const STEPS: u32 = 100;

/// How far a scheme stands from the next, as a factor of the slots.
const BESIDE: f64 = 1.06;

/// A map for each scheme, of the number of slots that most cells have.
pub(super) fn heat_maps(tables: &Tables) -> Option<Markup> {
    let whole = || tables.errors.iter().filter(|cell| cell.is_whole());
    let num_perm = usual(whole().map(|cell| cell.num_perm))?;
    let is_shown = |cell: &&ErrorCell| cell.num_perm == num_perm && cell.error_ratio.is_some();
    let schemes = by_name(whole().filter(is_shown).map(|cell| (cell.name(), cell)));
    Some(html! { div.figures { @for (name, cells) in &schemes { (heat_map(name, cells)) } } })
}

/// Root mean square error by slots, beside what independent permutations come to: their ratio, and both.
pub(super) fn error_slots(tables: &Tables) -> Option<Markup> {
    let whole: Vec<&ErrorCell> = tables
        .errors
        .iter()
        .filter(|cell| cell.is_whole())
        .collect();
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
    let mut ideal: Vec<[f64; 2]> = alike
        .iter()
        .map(|cell| [f64::from(cell.num_perm), cell.ideal()])
        .collect();
    ideal.sort_by(|a, b| a[0].total_cmp(&b[0]));
    ideal.dedup();
    let ratios = Plot {
        title: "Ratio".to_owned(),
        description: "Root mean square error over that of independent permutations, by slots, with 95 % intervals"
            .to_owned(),
        x: x.clone(),
        y: Axis::new(
            "error / sqrt(J (1 - J) / K)",
            Scale::log(alike.iter().flat_map(interval)).wider(0.06),
        ),
        marks: theory(ideal.iter().map(|[at, _]| [*at, 1.0]).collect())
            .chain(slot_marks(&names, &alike, |_| 1.0))
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
            .chain(slot_marks(&names, &alike, ErrorCell::ideal))
            .collect(),
    };
    let beside = [(Sample::Theory, "independent permutations")];
    Some(html! {
        div.figures.pairs { (ratios.draw()) (errors.draw()) }
        (legend_of_markers(&names, &beside))
    })
}

/// The ratio of a cell to what independent permutations come to, and the ends of its interval.
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

/// Ratios in some unit, over slots. Schemes stand beside each other, so that none hides another.
fn slot_marks(
    names: &[String],
    cells: &[&ErrorCell],
    unit: impl Fn(&ErrorCell) -> f64,
) -> Vec<Mark> {
    let middle = (names.len() as f64 - 1.0) / 2.0;
    let mut marks = Vec::new();
    for cell in cells {
        let Some(look) = names.iter().position(|name| *name == cell.name()) else {
            continue;
        };
        let at = f64::from(cell.num_perm) * BESIDE.powf(look as f64 - middle);
        let [low, value, high] = interval(cell).map(|ratio| ratio * unit(cell));
        marks.push(Mark::Whisker {
            look,
            at: [at, low, high],
        });
        marks.push(Mark::Point {
            look,
            at: [at, value],
            says: format!(
                "{}, K = {}: {}",
                cell.name(),
                cell.num_perm,
                digits(value, 3)
            ),
        });
    }
    marks
}

/// The share of pairs that become candidates, banding by banding.
pub(super) fn curves(tables: &Tables) -> Option<Markup> {
    let names: Vec<String> = distinct(tables.candidates.iter().map(|row| row.scheme.clone()));
    let bandings = by_name(tables.candidates.iter().map(|row| {
        let Candidates {
            num_perm,
            bands,
            rows,
            ..
        } = row;
        (format!("{bands} bands of {rows}, K = {num_perm}"), row)
    }));
    let beside = [
        (Sample::Theory, "1 - (1 - s^rows)^bands"),
        (Sample::Band, "95 % of the binomial"),
    ];
    let is_some = !bandings.is_empty();
    is_some.then(|| {
        html! {
            div.figures.pairs { @for (title, rows) in &bandings { (curve(title, rows, &names)) } }
            (legend_of_markers(&names, &beside))
        }
    })
}

/// The candidates of one banding: what theory says is the same for all schemes.
fn curve(title: &str, rows: &[&Candidates], names: &[String]) -> Markup {
    let mut band: Vec<[f64; 3]> = rows
        .iter()
        .map(|row| [row.similarity, row.low_share, row.high_share])
        .collect();
    band.sort_by(|a, b| a[0].total_cmp(&b[0]));
    band.dedup_by(|a, b| a[0] == b[0]);
    let point = |row: &&Candidates| {
        let look = names.iter().position(|name| *name == row.scheme)?;
        Some(Mark::Point {
            look,
            at: [row.similarity, row.share()],
            says: format!(
                "{}, similarity {:.2}: {} of {} pairs",
                row.scheme,
                row.similarity,
                percent(row.share()),
                row.pairs
            ),
        })
    };
    let mut marks = vec![Mark::Band { points: band }];
    marks.extend(rows.first().map(|row| Mark::Theory {
        points: expected(row),
    }));
    marks.extend(rows.iter().filter_map(point));
    let plot = Plot {
        title: title.to_owned(),
        description:
            "Share of pairs that become candidates by similarity; dashed: 1 - (1 - s^rows)^bands; \
                      area: the range that has 95 % of the binomial"
                .to_owned(),
        x: Axis::new("Jaccard similarity", Scale::linear([1.0].into_iter())),
        y: Axis::new(
            "share of pairs that are candidates",
            Scale::linear([1.0].into_iter()),
        ),
        marks,
    };
    plot.draw()
}

/// Names in the order in which they come first.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let named = by_name(names.map(|name| (name, ())));
    named.into_iter().map(|(name, _)| name).collect()
}

fn expected(row: &Candidates) -> Vec<[f64; 2]> {
    let at = |step: u32| {
        let similarity = f64::from(step) / f64::from(STEPS);
        let in_band = similarity.powf(f64::from(row.rows));
        [similarity, 1.0 - (1.0 - in_band).powf(f64::from(row.bands))]
    };
    (0..=STEPS).map(at).collect()
}
