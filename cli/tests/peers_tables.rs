//! The rows of benches/peers have the columns of `simgpu bench`.

use std::fs;
use std::path::Path;

/// Fields of a Rust struct or a Python dataclass: lines of the form `prefix name: ...` between `head` and `end`.
fn fields<'a>(source: &'a str, head: &str, prefix: &str, end: &str) -> Vec<&'a str> {
    let after = source.split_once(head).unwrap().1;
    let body = after.split_once(end).unwrap().0;
    let field = |line: &'a str| Some(line.strip_prefix(prefix)?.split_once(": ")?.0);
    let is_name = |name: &&str| name.chars().all(|c| c == '_' || c.is_ascii_lowercase());
    body.lines().filter_map(field).filter(is_name).collect()
}

#[test]
fn peers_and_bench_have_the_same_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let records = fs::read_to_string(root.join("bench/src/record.rs")).unwrap();
    let tables = fs::read_to_string(root.join("../benches/peers/tables.py")).unwrap();
    for name in [
        "TimedRun",
        "ErrorCell",
        "CandidateCount",
        "PipelineResult",
        "Absence",
    ] {
        let ours = fields(
            &records,
            &format!("pub struct {name} {{"),
            "    pub ",
            "\n}",
        );
        let theirs = fields(&tables, &format!("class {name}:"), "    ", "\n\n\n");
        assert!(ours.len() > 1, "{name} has the columns {ours:?}");
        assert_eq!(ours, theirs, "columns of {name}");
    }
}
