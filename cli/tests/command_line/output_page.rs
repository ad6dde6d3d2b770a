//! docs/output.md documents exactly the fields that are written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::outputs::read_parquet;
use crate::support::{Place, edited, lines_of, parse_lines, text};

type Names = BTreeSet<String>;

/// The page, read as tables of fields.
struct Page(String);

impl Page {
    fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/output.md");
        Page(std::fs::read_to_string(path).unwrap())
    }

    /// The rows of the table under a heading; of several, of the one after the line `label`.
    #[track_caller]
    fn rows(&self, heading: &str, label: &str) -> Vec<&str> {
        let lines = self.0.lines().skip_while(|line| *line != heading).skip(1);
        let section = lines.take_while(|line| !line.starts_with('#'));
        let rows: Vec<&str> = section
            .skip_while(|line| !line.starts_with(label))
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .skip(2)
            .collect();
        assert!(!rows.is_empty(), "no table under {heading:?}, {label:?}");
        rows
    }

    /// The documented fields: the names in the first column.
    #[track_caller]
    fn fields(&self, heading: &str, label: &str) -> Names {
        let rows = self.rows(heading, label).into_iter();
        rows.flat_map(|row| names_in(row.split('|').nth(1).unwrap()))
            .collect()
    }

    /// The names in the whole row of a field, without the field.
    #[track_caller]
    fn inner(&self, heading: &str, field: &str) -> Names {
        let start = format!("| `{field}` |");
        let mut rows = self.rows(heading, "").into_iter();
        let row = rows.find(|row| row.starts_with(&start)).unwrap();
        names_in(&row[start.len()..]).collect()
    }
}

/// The names of fields in back quotes.
fn names_in(text: &str) -> impl Iterator<Item = String> {
    let is_name = |text: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !text.is_empty() && text.chars().all(is_letter)
    };
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(is_name).map(str::to_owned)
}

fn keys(value: &Value) -> Names {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The keys of all objects in an array.
fn keys_of_all(values: &[Value]) -> Names {
    values.iter().flat_map(keys).collect()
}

fn columns(place: &Place, name: &str) -> Names {
    let (table, _) = read_parquet(place, name);
    let schema = table.schema();
    schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

/// Inputs that make every field appear: duplicates, a chain, a bad record and an empty file.
fn corpus() -> Place {
    let place = Place::new();
    let one = text(1, 100);
    let near = edited(&one, 1, 1);
    let texts = [&one, &one, &near, &text(2, 100)];
    let mut records = texts.map(|text| json!({"text": text, "score": 1}));
    // The others lack an id.
    records[0]["id"] = json!("first");
    let bad = b"{}\n".to_vec();
    place.write("docs/a.jsonl", [lines_of(records), bad].concat());
    place.write("docs/b.jsonl", "");
    place.write("docs/README.md", "what the files hold");
    place
}

const OPTIONS: &str = "docs --on-bad-record skip --limit 100 --quiet";

const REPORT: &str = "### report.json";

const REMOVED: &str = "### removed.jsonl, removed.jsonl.zst or removed.parquet";

/// Parameters that are absent from reports on documents without weights, on searches by the Jaccard similarity, and without an
/// index.
const OF_WEIGHTS: [&str; 9] = [
    "measure",
    "recall_by_size_ratio",
    "index_verify",
    "input_recall_at_threshold",
    "weights",
    "weights_field",
    "weight_scale",
    "distance",
    "within",
];

/// Counts that only reports on deduplications have.
const OF_REMOVALS: [&str; 3] = ["lost_shingles", "removed_shingles", "unknown_losses"];

/// Fields of a deduplication that leaves out short documents, and its counts.
const OF_SHORT: [&str; 3] = ["min_shingles", "drop_short", "drop_empty"];
const OF_SHORT_COUNTS: [&str; 2] = ["short", "dropped"];

/// Fields of runs against a reference, and their counts.
const OF_REFERENCES: [&str; 5] = [
    "reference_skipped",
    "against_content_field",
    "against_id_field",
    "kept_in",
    "reference",
];
const OF_REFERENCES_COUNTS: [&str; 2] = ["reference", "removed_for_reference"];

/// Counts of runs against an index.
const OF_INDEXES_COUNTS: [&str; 2] = ["index", "removed_for_index"];

/// Everything that a report holds is documented, and the reverse for `expected`.
fn check_report(page: &Page, report: &Value, expected: &Names) {
    assert_eq!(&keys(report), expected);
    let mut counts = page.fields(REPORT, "`counts`:");
    if report["command"] != "dedup" {
        counts.retain(|name| !OF_REMOVALS.contains(&&**name));
    }
    counts.retain(|name| !OF_SHORT_COUNTS.contains(&&**name));
    counts.retain(|name| !OF_REFERENCES_COUNTS.contains(&&**name));
    counts.retain(|name| !OF_INDEXES_COUNTS.contains(&&**name));
    assert_eq!(keys(&report["counts"]), counts);
    let mut parameters = page.fields(REPORT, "`parameters`:");
    parameters.retain(|name| !OF_WEIGHTS.contains(&&**name));
    parameters.retain(|name| !OF_REFERENCES.contains(&&**name));
    let is_search = report["command"] != "sign";
    let written = keys(&report["parameters"]);
    if is_search {
        assert_eq!(written, parameters);
    } else {
        assert!(written.is_subset(&parameters), "{written:?}");
    }
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(keys_of_all(skipped), page.inner(REPORT, "skipped"));
}

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
