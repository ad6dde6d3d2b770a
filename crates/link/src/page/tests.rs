use serde_json::json;

use super::*;
use crate::links::{LinkCounts, Nearby, ScoreBin};
use crate::points::{FieldPoints, LevelPoints};
use crate::report::{EntityRecord, EntitySizes, HistogramBin, LinkParameters};
use crate::threshold::Estimate;

/// The points of a field by its similarity.
fn levels() -> Vec<LevelPoints> {
    let level = |least, of_same, of_different, points| LevelPoints {
        least,
        of_same,
        of_different,
        points,
    };
    vec![
        level(Some(0.0), 0.05, 0.8, -4.0),
        level(Some(0.5), 0.2, 0.1, 1.0),
        level(Some(0.9), 0.75, 0.1, 2.91),
        level(None, 0.1, 0.1, 0.0),
    ]
}

/// The pairs of each half point.
fn histogram() -> Vec<HistogramBin> {
    let bins = (-40..=60).map(|score: i32| {
        let pairs = ScoreBin {
            accepted: u64::from(score.unsigned_abs()),
            runners_up: u64::from((60 - score).unsigned_abs().pow(2)),
        };
        HistogramBin::new(f64::from(score) / 2.0, pairs)
    });
    bins.collect()
}

/// A report whose score is points.
fn report() -> LinkReport {
    let names = ["name <b>", "year"].map(str::to_owned);
    LinkReport {
        simgpu_report: 1,
        command: "link",
        counts: LinkCounts {
            records_a: 1_234_567,
            records_b: 1000,
            links: 1,
            equal_records: 4,
            cut_records: 2,
            crowded_records: 3,
            ..LinkCounts::default()
        },
        parameters: LinkParameters {
            fields: names.to_vec(),
            fields_b: None,
            id_field: "id".to_owned(),
            id_field_b: None,
            matching: Some("one-to-one"),
            score: "points",
            threshold: None,
            share: Some(0.5),
            equivalents: 0,
        },
        score: "points",
        score_because: None,
        floor: Some(0.1),
        estimate: Estimate {
            share: Some(0.5),
            unknown_because: Some("runners-up score as high".to_owned()),
            ..Estimate::at_threshold(3.25)
        },
        warnings: vec!["2 records <were> searched".to_owned()],
        points: Some(Vec::from([Some(0), None].map(|field| FieldPoints {
            field,
            levels: levels(),
        }))),
        contest: None,
        evidence: None,
        bin_width: 0.5,
        histogram: histogram(),
        nearby: Vec::from([(2.925, 3, Some(0.875)), (3.575, 1, None)].map(
            |(threshold, links, expected_precision)| Nearby {
                threshold,
                links,
                entities: None,
                expected_precision,
            },
        )),
        entity_sizes: vec![],
        examples: vec![json!({
            "id_a": "1", "id_b": 2, "score": 3.5, "similarities": {"name <b>": 0.75, "year": null},
            "points": {"name <b>": 3.5, "year": 0.0}, "shared": [{"symbol": "bo_", "records": 2}],
            "runner_up": null, "accepted": true, "values": [["Bob", "1990"], ["Bob J.", ""]],
        })],
        files: ["a.csv", "b.csv"]
            .map(|name| FileReport {
                names: vec![name.to_owned()],
                records: 1000,
                repeated_ids: 0,
                empty_files: vec![],
                not_read: simgpu_io::NotRead::default(),
                other_delimiters: vec![],
                skipped: vec![],
            })
            .into(),
    }
}

#[test]
fn points_have_a_table() {
    let page = report().page();
    for expected in [
        "Points of each field",
        "<td>0.5 to below 0.9</td><td class=\"number\">20.00 %</td><td class=\"number\">10.00 %</td>",
        "<strong>+2.91</strong>",
        "<strong>-4.00</strong>",
        "missing in a record",
        "whole record",
        "name &lt;b&gt;",
        "per point",
        "each of which doubles the odds",
        "<td class=\"number\">+3.50</td>",
        "1,234,567",
        "50.0 %</strong><br>of the records of B have a partner, as given",
        "cannot tell",
        "runners-up score as high",
        "4 records equal to an earlier one",
        "<b>Warning: </b>2 records &lt;were&gt; searched.",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("<b>\""));
}

#[test]
fn other_thresholds_have_a_table() {
    let page = report().page();
    for expected in [
        "<th>10 % lower</th><td class=\"number\">2.925</td><td class=\"number\">3</td><td class=\"number\">2 more</td><td class=\"number\">87.5 %</td>",
        "<th>10 % higher</th><td class=\"number\">3.575</td><td class=\"number\">1</td><td class=\"number\">the same</td><td class=\"number\">cannot tell</td>",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn entities_have_an_example_of_each_size() {
    let record = |id: &str, values: [&str; 2]| EntityRecord {
        id: id.to_owned(),
        values: values.map(str::to_owned).into(),
    };
    let mut report = report();
    report.files.truncate(1);
    report.entity_sizes = vec![EntitySizes {
        least: 5,
        most: 9,
        entities: 1234,
        records: 8000,
        example_records: 7,
        example: vec![record("a<1>", ["Ann", "1990"]), record("7", ["Anne", ""])],
    }];
    let page = report.page();
    for expected in [
        "5 to 9 records: 1,234 entities, 8,000 records",
        "a&lt;1&gt;",
        "And 5 more records of this entity.",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}
