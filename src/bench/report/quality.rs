//! Charts of errors, and of what is found.

use maud::{Markup, html};

use super::chart::{Axis, Mark, Plot, Scale};
use super::heat::heat_map;
use super::speed::by_name;
use crate::bench::folder::Tables;
use crate::bench::summary::table::{digits, percent};
use crate::bench::summary::{swept, usual};
use crate::bench::{Candidates, ErrorCell};

/// Points of a curve that theory gives.
const STEPS: u32 = 100;

/// A map for each scheme, of the number of slots that most cells have.
pub(super) fn heat_maps(tables: &Tables) -> Option<Markup> {
    let whole = || tables.errors.iter().filter(|cell| cell.is_whole());
    let num_perm = usual(whole().map(|cell| cell.num_perm))?;
    let is_shown = |cell: &&ErrorCell| cell.num_perm == num_perm && cell.error_ratio.is_some();
    let schemes = by_name(whole().filter(is_shown).map(|cell| (cell.name(), cell)));
    Some(html! { div.figures { @for (name, cells) in &schemes { (heat_map(name, cells)) } } })
}

/// Root mean square error by slots, scheme by scheme, beside what independent permutations come to.
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
    let slots = || alike.iter().map(|cell| f64::from(cell.num_perm));
    let ends = |cell: &&ErrorCell| {
        [cell.error_ratio_low, cell.error_ratio_high]
            .map(|ratio| ratio.unwrap_or(1.0) * cell.ideal())
    };
    let x = Axis::new(
        "slots (K)",
        Scale::log(slots()).wider(0.04).with_ticks(slots()),
    );
    let y = Axis::new(
        "root mean square error",
        Scale::log(alike.iter().flat_map(ends)).wider(0.06),
    );
    let mut ideal: Vec<[f64; 2]> = alike
        .iter()
        .map(|cell| [f64::from(cell.num_perm), cell.ideal()])
        .collect();
    ideal.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let plot = |(name, cells): &(String, Vec<&ErrorCell>)| {
        let mut marks = vec![Mark::Theory {
            points: ideal.clone(),
        }];
        for cell in cells {
            let (at, error) = (f64::from(cell.num_perm), cell.root_mean_square_error);
            let [low, high] = ends(cell);
            let says = format!("K = {}: {}", cell.num_perm, digits(error, 3));
            marks.push(Mark::Whisker {
                look: 0,
                at: [at, low, high],
            });
            marks.push(Mark::Point {
                look: 0,
                at: [at, error],
                says,
            });
        }
        let plot = Plot {
            title: name.clone(),
            description:
                "Root mean square error by slots, with 95 % intervals; dashed: sqrt(J (1 - J) / K)"
                    .to_owned(),
            x: x.clone(),
            y: y.clone(),
            marks,
        };
        plot.draw()
    };
    let schemes = by_name(alike.iter().map(|cell| (cell.name(), *cell)));
    Some(html! { div.figures { @for scheme in &schemes { (plot(scheme)) } } })
}

/// The share of pairs that become candidates, banding by banding.
pub(super) fn curves(tables: &Tables) -> Option<Markup> {
    let bandings = by_name(tables.candidates.iter().map(|row| {
        let Candidates {
            scheme,
            num_perm,
            bands,
            rows,
            ..
        } = row;
        (
            format!("{scheme}, K = {num_perm}: {bands} bands of {rows}"),
            row,
        )
    }));
    let plot = |(title, rows): &(String, Vec<&Candidates>)| {
        let mut rows = rows.clone();
        rows.sort_by(|a, b| a.similarity.total_cmp(&b.similarity));
        let point = |row: &&Candidates| Mark::Point {
            look: 0,
            at: [row.similarity, row.share()],
            says: format!(
                "similarity {:.2}: {} of {} pairs",
                row.similarity,
                percent(row.share()),
                row.pairs
            ),
        };
        let band = rows
            .iter()
            .map(|row| [row.similarity, row.low_share, row.high_share]);
        let mut marks = vec![Mark::Band {
            points: band.collect(),
        }];
        marks.extend(rows.first().map(|row| Mark::Theory {
            points: expected(row),
        }));
        marks.extend(rows.iter().map(point));
        let plot = Plot {
            title: title.clone(),
            description: "Share of pairs that become candidates by similarity; dashed: 1 - (1 - s^rows)^bands; \
                          area: the range that has 95 % of the binomial"
                .to_owned(),
            x: Axis::new("Jaccard similarity", Scale::linear([1.0].into_iter())),
            y: Axis::new("share of pairs that are candidates", Scale::linear([1.0].into_iter())),
            marks,
        };
        plot.draw()
    };
    let is_some = !bandings.is_empty();
    is_some.then(|| html! { div.figures { @for banding in &bandings { (plot(banding)) } } })
}

fn expected(row: &Candidates) -> Vec<[f64; 2]> {
    let at = |step: u32| {
        let similarity = f64::from(step) / f64::from(STEPS);
        let in_band = similarity.powf(f64::from(row.rows));
        [similarity, 1.0 - (1.0 - in_band).powf(f64::from(row.bands))]
    };
    (0..=STEPS).map(at).collect()
}
