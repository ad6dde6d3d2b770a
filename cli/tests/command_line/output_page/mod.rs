//! docs/output.md documents exactly the fields that are written.

mod page;

mod other_commands;

use serde_json::{Value, json};

use crate::support::{Place, lines_of, parse_lines};

use page::{
    Names, OF_INDEXES_COUNTS, OF_REFERENCES_COUNTS, OF_SHORT, OPTIONS, Page, REMOVED, REPORT,
    check_report, columns, corpus, keys, keys_of_all,
};

#[test]
fn every_field_of_a_deduplication_is_documented() {
    let (page, place) = (Page::read(), corpus());
    let dedup = "--cluster connected --keep-by score --prefer-source a* --source-field score";
    for format in ["jsonl", "parquet"] {
        // So little memory that the run goes on on disk.
        let command =
            format!("dedup {OPTIONS} {dedup} -o {format} --removed-format {format} --memory 1KiB");
        place.run(&command).succeeded();
    }
    let mut removed = page.fields(REMOVED, "");
    assert!(removed.remove("kept_in"));
    assert_eq!(
        keys_of_all(&parse_lines(&place.read("jsonl/removed.jsonl"))),
        removed
    );
    assert_eq!(columns(&place, "parquet/removed.parquet"), removed);
    let mut clusters = page.fields("### clusters.parquet", "");
    assert!(clusters.remove("reference") && clusters.remove("index"));
    assert_eq!(columns(&place, "jsonl/clusters.parquet"), clusters);

    let report: Value = serde_json::from_slice(&place.read("jsonl/report.json")).unwrap();
    let mut expected = page.fields(REPORT, "");
    // A result of so few documents is never unusual.
    for absent in [
        "from_pairs",
        "inputs",
        "identical",
        "max_pairs",
        "complete",
        "warnings",
        "reference_skipped",
    ] {
        assert!(expected.remove(absent), "{absent}");
    }
    for of_short in OF_SHORT {
        assert!(expected.remove(of_short), "{of_short}");
    }
    check_report(&page, &report, &expected);
    let missing = keys(&report["missing_ids"]);
    assert_eq!(missing, page.inner(REPORT, "missing_ids"));
    let not_read = page.inner(REPORT, "not_read");
    assert!(keys(&report["not_read"]).is_subset(&not_read));
    assert_eq!(report["not_read"]["descriptions"]["count"], 1);
    let largest = keys_of_all(report["largest_clusters"].as_array().unwrap());
    let mut documented = page.inner(REPORT, "largest_clusters");
    assert!(documented.remove("kept_in"));
    assert_eq!(largest, documented);

    for field in ["histogram", "examples", "sources"] {
        let mut written = keys_of_all(report[field].as_array().unwrap());
        let documented = page.inner(REPORT, field);
        for inner in ["removed_for", "removed"] {
            if let Some(values) = report[field][0][inner].as_array() {
                written.extend(keys_of_all(values));
            }
        }
        assert!(written.is_subset(&documented), "{written:?}");
        assert!(!written.is_empty());
    }
    let samples = keys_of_all(&parse_lines(&place.read("jsonl/samples.jsonl")));
    let mut documented = page.fields("### report.html and samples.jsonl", "");
    assert!(documented.remove("reference"));
    assert_eq!(samples, documented);

    let run: Value = serde_json::from_slice(&place.read("jsonl/run.json")).unwrap();
    assert_eq!(keys(&run), page.fields("### run.json", ""));
    assert_eq!(keys(&run["machine"]), page.inner("### run.json", "machine"));
    let stages = keys_of_all(run["stages"].as_array().unwrap());
    assert_eq!(stages, page.inner("### run.json", "stages"));
}

#[test]
fn every_field_of_a_reference_is_documented() {
    let (page, place) = (Page::read(), corpus());
    place.write(
        "old.jsonl",
        [place.read("docs/a.jsonl"), b"{}\n".to_vec()].concat(),
    );
    place
        .run("dedup docs --against old.jsonl --cluster connected --on-bad-record skip --quiet -o out")
        .succeeded();
    let written = keys_of_all(&parse_lines(&place.read("out/removed.jsonl")));
    assert_eq!(written, page.fields(REMOVED, ""));
    let mut clusters = page.fields("### clusters.parquet", "");
    // Against an index, there is one column more.
    place
        .run("index build old.jsonl --index old --verify exact --on-bad-record skip --quiet")
        .succeeded();
    place
        .run("dedup docs --against old --on-bad-record skip --quiet -o of-index")
        .succeeded();
    assert_eq!(columns(&place, "of-index/clusters.parquet"), clusters);
    let of_index: Value = serde_json::from_slice(&place.read("of-index/report.json")).unwrap();
    let of_index = keys(&of_index["counts"]);
    assert!(
        OF_INDEXES_COUNTS
            .iter()
            .all(|name| of_index.contains(*name))
    );
    assert!(clusters.remove("index"));
    assert_eq!(columns(&place, "out/clusters.parquet"), clusters);
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    let (counts, parameters) = (keys(&report["counts"]), keys(&report["parameters"]));
    assert!(counts.is_subset(&page.fields(REPORT, "`counts`:")));
    assert!(
        OF_REFERENCES_COUNTS
            .iter()
            .all(|name| counts.contains(*name))
    );
    assert!(parameters.is_subset(&page.fields(REPORT, "`parameters`:")));
    assert!(
        parameters.contains("against_content_field") && parameters.contains("against_id_field")
    );
    let skipped = keys_of_all(report["reference_skipped"].as_array().unwrap());
    assert_eq!(skipped, page.inner(REPORT, "skipped"));
    let largest = keys_of_all(report["largest_clusters"].as_array().unwrap());
    assert_eq!(largest, page.inner(REPORT, "largest_clusters"));
}

#[test]
fn every_field_of_pairs_is_documented() {
    let (page, place) = (Page::read(), corpus());
    for name in ["p.jsonl", "p.csv", "p.parquet"] {
        place.run(&format!("pairs {OPTIONS} -o {name}")).succeeded();
    }
    let mut fields = page.fields("## pairs", "");
    assert!(fields.remove("distance"));
    assert_eq!(keys_of_all(&parse_lines(&place.read("p.jsonl"))), fields);
    assert_eq!(columns(&place, "p.parquet"), fields);
    let csv = String::from_utf8(place.read("p.csv")).unwrap();
    let header = csv.lines().next().unwrap().split(',').map(str::to_owned);
    assert_eq!(header.collect::<Names>(), fields);
    let report: Value = serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap();
    let mut expected = page.fields(REPORT, "");
    for of_dedup in [
        "keep",
        "keep_by",
        "prefer_source",
        "cluster",
        "max_bucket",
        "cluster_sizes",
        "largest_clusters",
        "source_field",
        "from_pairs",
        "histogram",
        "examples",
        "sources",
        "warnings",
        "reference_skipped",
    ]
    .into_iter()
    .chain(OF_SHORT)
    {
        assert!(expected.remove(of_dedup), "{of_dedup}");
    }
    expected.extend(page.fields("## pairs", "`FILE.report.json`"));
    check_report(&page, &report, &expected);
    let inputs = keys_of_all(report["inputs"].as_array().unwrap());
    assert!(!inputs.is_empty() && inputs.is_subset(&page.inner(REPORT, "inputs")));

    place.write("docs/c.jsonl", place.read("docs/a.jsonl"));
    place
        .run(&format!("pairs {OPTIONS} -o shown.jsonl --page"))
        .succeeded();
    let report: Value = serde_json::from_slice(&place.read("shown.jsonl.report.json")).unwrap();
    for field in ["histogram", "examples", "sources"] {
        let written = keys_of_all(report[field].as_array().unwrap());
        assert!(written.is_subset(&page.inner(REPORT, field)), "{written:?}");
        assert!(!written.is_empty());
    }
}

#[test]
fn every_field_of_pairs_by_distance_is_documented() {
    let (page, place) = (Page::read(), Place::new());
    place.write(
        "in.jsonl",
        lines_of([["a", "b"], ["a", "c"]].map(|tokens| json!({"tokens": tokens}))),
    );
    let options = "in.jsonl --unit tokens --distance hamming --within 1";
    for name in ["p.jsonl", "p.csv", "p.parquet"] {
        place.run(&format!("pairs {options} -o {name}")).succeeded();
    }
    let mut fields = page.fields("## pairs", "");
    assert!(fields.remove("similarity"));
    assert_eq!(keys_of_all(&parse_lines(&place.read("p.jsonl"))), fields);
    assert_eq!(columns(&place, "p.parquet"), fields);
    let csv = String::from_utf8(place.read("p.csv")).unwrap();
    assert_eq!(
        csv,
        "id_a,id_b,distance,file_a,row_a,file_b,row_b\nin.jsonl:0,in.jsonl:1,1,in.jsonl,0,in.jsonl,1\n"
    );
    let report: Value = serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap();
    let written = keys(&report["parameters"]);
    assert!(written.is_subset(&page.fields(REPORT, "`parameters`:")));
    assert!(written.contains("distance") && written.contains("within"));
    assert!(!written.contains("threshold"));
}

#[test]
fn every_field_of_weights_is_documented() {
    let (page, place) = (Page::read(), Place::new());
    let records = [["a", "b"], ["a", "c"]].map(|tokens| json!({"tokens": tokens, "w": [1, 2]}));
    place.write("in.jsonl", lines_of(records));
    for weights in [
        "--weights rarity",
        "--weights-field w",
        "--measure contained --candidates lsh",
    ] {
        let options = format!("pairs in.jsonl --unit tokens {weights} -o p.jsonl --overwrite");
        place.run(&options).succeeded();
        let report: Value = serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap();
        let written = keys(&report["parameters"]);
        assert!(written.is_subset(&page.fields(REPORT, "`parameters`:")));
        let name = weights.split([' ', '=']).next().unwrap();
        assert!(written.contains(&name[2..].replace('-', "_")), "{name}");
    }
}
