//! Fields of commands that remove nothing.

use serde_json::{Value, json};

use super::page::{
    Names, OPTIONS, Page, REPORT, check_report, columns, corpus, keys, keys_of_all, names_in,
};
use crate::support::{Place, lines_of, parse_lines};

#[test]
fn every_field_of_signatures_is_documented() {
    let (page, place) = (Page::read(), corpus());
    place.run(&format!("sign {OPTIONS} -o s.npy")).succeeded();
    let description: Value = serde_json::from_slice(&place.read("s.npy.json")).unwrap();
    let mut expected: Names = [
        "simgpu_report",
        "command",
        "counts",
        "parameters",
        "skipped",
    ]
    .map(str::to_owned)
    .into();
    expected.insert("empty_files".to_owned());
    assert!(expected.is_subset(&page.fields(REPORT, "")));
    expected.extend(page.fields("## sign", "The **description**"));
    check_report(&page, &description, &expected);
    let files = keys_of_all(description["files"].as_array().unwrap());
    assert_eq!(files, page.inner("## sign", "files"));
}

/// Two users who liked the same twelve items, one of whom liked another, and a bad record.
fn ratings() -> Place {
    let place = Place::new();
    let mut csv = "user,item,rating,timestamp\n".to_owned();
    for item in 0..12 {
        csv += &format!("1,{item},5,{item}\n2,{item},4,{item}\n");
    }
    place.write("r.csv", csv + "2,12,4,20\n,0,5,0\n");
    place.write("names.csv", "id,name\n0,zero\n");
    place
}

#[test]
fn every_field_of_ratings_is_documented() {
    const HEADING: &str = "## ratings";
    let (page, place) = (Page::read(), ratings());
    let label_of_report = "`FILE.report.json`";
    let documented = page.fields(HEADING, label_of_report);
    let counts = page.fields(HEADING, "Counts of ratings:");
    let parameters = page.fields(HEADING, "Parameters of ratings:");
    let (mut reported, mut of_counts, mut of_parameters) =
        (Names::new(), Names::new(), Names::new());
    for (options, label) in [
        ("", "Without"),
        ("--recommend all", "With `--recommend`"),
        ("--hold-out last", "With `--hold-out"),
    ] {
        for name in ["n.jsonl", "n.csv", "n.parquet"] {
            let options =
                format!("{options} --min-support 1 --names names.csv --on-bad-record skip -q");
            // Given twice, which the report says.
            let command = format!("ratings r.csv ./r.csv -o {name} --overwrite {options}");
            place.run(&command).succeeded();
        }
        let fields = page.fields(HEADING, label);
        let rows = parse_lines(&place.read("n.jsonl"));
        assert_eq!(keys_of_all(&rows), fields);
        assert_eq!(columns(&place, "n.parquet"), fields);
        let csv = String::from_utf8(place.read("n.csv")).unwrap();
        let header = csv.lines().next().unwrap().split(',').map(str::to_owned);
        assert_eq!(header.collect::<Names>(), fields);
        let report: Value = serde_json::from_slice(&place.read("n.jsonl.report.json")).unwrap();
        reported.extend(keys(&report));
        of_counts.extend(keys(&report["counts"]));
        of_parameters.extend(keys(&report["parameters"]));
        if let Some(rates) = report.get("hit_rates") {
            let rows = page.rows(HEADING, label_of_report).into_iter();
            let row = rows.filter(|row| row.starts_with("| `hit_rates` |"));
            let row: String = row.map(|row| &row["| `hit_rates` |".len()..]).collect();
            assert_eq!(keys(rates), names_in(&row).collect::<Names>());
        }
    }
    assert_eq!(
        (reported, of_counts, of_parameters),
        (documented, counts, parameters)
    );
}

#[test]
fn every_field_of_evaluations_is_documented() {
    const HEADING: &str = "## evaluate";
    let (page, place) = (Page::read(), Place::new());
    let found = [(1, 0), (2, 0), (3, 2)].map(|(id, entity)| json!({"id": id, "entity": entity}));
    place.write("entities.jsonl", lines_of(found));
    place.write("truth.csv", "id,who\n1,a\n2,b\n3,b\n");
    let command = "evaluate entities.jsonl --truth truth.csv --entity-field who --report json";
    let run = place.run(command).succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(keys(&report), page.fields(HEADING, "The report"));
    let counts = page.fields(HEADING, "Counts of evaluations:");
    assert_eq!(keys(&report["counts"]), counts);
    for field in ["result", "truth", "b_cubed"] {
        assert_eq!(keys(&report[field]), page.inner(HEADING, field), "{field}");
    }
    let mut of_pairs = keys(&report["pairs"]);
    of_pairs.extend(keys(&report["pairs"]["precision"]));
    assert_eq!(of_pairs, page.inner(HEADING, "pairs"));
    for examples in ["wrong", "missed"] {
        let pairs = report[examples].as_array().unwrap();
        assert_eq!(
            keys_of_all(pairs),
            ["id_a", "id_b"].map(str::to_owned).into()
        );
    }
}

#[test]
fn every_field_of_items_is_documented() {
    const HEADING: &str = "## contain";
    let (page, place) = (Page::read(), crate::contain_actions::spread());
    place.write("in/4.jsonl", b"{}\n");
    place.write("ignore.txt", "so often did the old hop open\n");
    let run = "contain in --against items.jsonl --on-bad-record skip -q --limit 1000 --ignore ignore.txt --item-id-field id --benchmark-field id";
    for (action, format) in [("cut", "jsonl"), ("drop", "parquet"), ("mark", "jsonl")] {
        let run = format!("{run} --action {action} --hits-format {format} -o {action}");
        place.run(&run).succeeded();
    }
    let hits = page.fields(HEADING, "`hits.jsonl` has");
    assert_eq!(
        keys_of_all(&parse_lines(&place.read("cut/hits.jsonl"))),
        hits
    );
    assert_eq!(columns(&place, "drop/hits.parquet"), hits);
    let items = keys_of_all(&parse_lines(&place.read("cut/items.jsonl")));
    assert_eq!(items, page.fields(HEADING, "`items.jsonl` has"));
    let phrases = page.fields(HEADING, "`phrases.parquet` has");
    assert_eq!(columns(&place, "cut/phrases.parquet"), phrases);
    for (name, file) in [("cuts", "cut/cuts.jsonl"), ("class", "drop/removed.jsonl")] {
        let expected = ["id", "file", "row", name].map(str::to_owned).into();
        assert_eq!(keys_of_all(&parse_lines(&place.read(file))), expected);
    }
    let of = |name: &str| -> Value {
        serde_json::from_slice(&place.read(&format!("{name}/report.json"))).unwrap()
    };
    let label = "`report.json`, the same";
    let mut expected = page.fields(HEADING, label);
    expected.retain(|name| {
        !["missing_ids", "empty_files", "not_read", "skipped_items"].contains(&&**name)
    });
    expected.remove("cut");
    let report = of("cut");
    assert_eq!(keys(&report), expected);
    let mut parameters = keys(&report["parameters"]);
    parameters.extend(keys(&of("mark")["parameters"]));
    let row = |name: &str| {
        let mut rows = page.rows(HEADING, label).into_iter();
        let start = format!("| `{name}` |");
        names_in(rows.find(|row| row.starts_with(&start)).unwrap()).collect::<Names>()
    };
    for name in parameters {
        assert!(row("parameters").contains(&name), "{name}");
    }
    for name in keys(&report["counts"]) {
        assert!(row("counts").contains(&name), "{name}");
    }
    for name in keys(&report["counts"]["cut"]) {
        assert!(row("counts.cut").contains(&name), "{name}");
    }
    for field in ["benchmarks", "public_phrases"] {
        for name in keys(&report[field][0]) {
            assert!(row(field).contains(&name), "{name}");
        }
    }
}
