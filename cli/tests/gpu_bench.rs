//! `simgpu bench` on a GPU: it stands beside the CPU in every section in which both do the same work. On a machine without
//! an adapter the test prints `skipped: no adapter`; with `SIMGPU_REQUIRE_GPU=1` it fails.

use std::collections::BTreeSet;

use crate::support::gpu::has_adapter;
use crate::support::{Place, text};

/// The sections in which a device and the CPU do the same work.
const COMPARING: [&str; 8] = [
    "Signing by backend",
    "Signing by length",
    "Signing by slots",
    "Threads",
    "Signing from text",
    "Growth with documents",
    "Deduplication",
    "Error by backend",
];

/// The header and rows of the table under a heading.
fn table_of<'a>(summary: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, section) = summary
        .split_once(&format!("## {heading}\n"))
        .unwrap_or_else(|| panic!("no {heading} in {summary}"));
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    lines.map(cells).collect()
}

#[test]
fn gpus_are_measured_beside_every_backend() {
    if !has_adapter() {
        return;
    }
    let place = Place::with_texts((0..60).map(|i| text(i % 50, 200)));
    let run = place
        .run(
            "bench --quick --parts throughput,error --backends scalar,simd,gpu,hybrid --input in.jsonl --schemes affine32,mersenne61 \
             --lengths 40,200 --num-perm 16,32 --threads 1,2 --results a",
        )
        .succeeded();
    let summary = String::from_utf8(place.read("a/summary.md")).unwrap();
    let page = String::from_utf8(place.read("a/report.html")).unwrap();
    for heading in COMPARING {
        let table = table_of(&summary, heading);
        let column = |name: &str| table[0].iter().position(|cell| *cell == name);
        let (computed_by, scheme) = (column("computed by").unwrap(), column("scheme").unwrap());
        let rows = || table[2..].iter();
        // Some stages have no scheme.
        let schemes: BTreeSet<&str> = rows().map(|row| row[scheme]).collect();
        let schemes = || schemes.iter().copied().filter(|name| !name.is_empty());
        assert!(schemes().any(|name| name == "affine32"), "{heading}");
        for scheme_name in schemes() {
            let of_scheme = || rows().filter(|row| row[scheme] == scheme_name);
            let backends: BTreeSet<&str> = of_scheme()
                .map(|row| row[computed_by].split(' ').next().unwrap())
                .collect();
            // How a device and the fastest instructions of the CPU depend on threads; each states it.
            let expected: &[&str] = match (heading, scheme_name) {
                ("Threads" | "Growth with documents", _)
                | ("Signing by length" | "Signing by slots", "mersenne61") => {
                    &["gpu", "hybrid", "simd"]
                }
                _ => &["gpu", "hybrid", "scalar", "simd"],
            };
            assert_eq!(
                backends.into_iter().collect::<Vec<_>>(),
                expected,
                "{heading}"
            );
            if let Some(threads) = column("threads") {
                let on = |backend: &str, on: &str| {
                    of_scheme()
                        .any(|row| row[computed_by].starts_with(backend) && row[threads] == on)
                };
                // Parts of the corpus run on all threads.
                let is_growth = heading.starts_with("Growth");
                assert!(is_growth || on("simd", "1"), "{heading}: {scheme_name}");
                assert!(on("simd", "2"), "{heading}: {scheme_name}");
                assert!(
                    on("gpu", "2") && on("hybrid", "2"),
                    "{heading}: {scheme_name}"
                );
            }
            if let Some(checksum) = column("checksum") {
                let input = column("input").unwrap_or(scheme);
                let documents = column("documents").unwrap_or(scheme);
                let computed: BTreeSet<_> = of_scheme()
                    .map(|row| (row[input], row[documents], row[checksum]))
                    .collect();
                let work: BTreeSet<_> = computed.iter().map(|(a, b, _)| (a, b)).collect();
                assert_eq!(work.len(), computed.len(), "{heading}: {computed:?}");
            }
            // No hole where the CPU has a number.
            let is_pivot =
                heading.starts_with("Signing by l") || heading.starts_with("Signing by s");
            let holes = of_scheme().filter(|row| is_pivot && row.contains(&""));
            assert_eq!(holes.count(), 0, "{heading}: {scheme_name}");
        }
        let anchor = heading.to_lowercase().replace(' ', "-");
        let (_, section) = page
            .split_once(&format!("<section id=\"{anchor}\">"))
            .unwrap();
        let section = section.split("</section>").next().unwrap();
        assert!(
            section.contains("gpu ") && section.contains("hybrid "),
            "{heading}"
        );
    }
    let screen = String::from_utf8(run.stdout).unwrap();
    let header: Vec<&str> = screen.lines().nth(1).unwrap().split_whitespace().collect();
    assert!(header.starts_with(&["scalar"]), "{screen}");
    assert!(header.ends_with(&["gpu", "hybrid"]), "{screen}");
    for scheme in ["affine32", "mersenne61"] {
        let row = screen.lines().find(|line| line.trim().starts_with(scheme));
        // A speed for each way, and the error.
        let cells = row.unwrap().split_whitespace().skip(1);
        let numbers = cells.filter(|cell| cell.replace(',', "").parse::<f64>().is_ok());
        assert_eq!(numbers.count(), header.len() + 1, "{screen}");
    }
    let compared = place.run("bench compare a a").succeeded();
    let compared = String::from_utf8(compared.stdout).unwrap();
    for backend in ["gpu", "hybrid"] {
        let of_backend = |line: &&str| line.contains("| sign affine32 ") && line.contains(backend);
        assert!(compared.lines().any(|line| of_backend(&line)), "{compared}");
    }
    if summary.contains("(software)") {
        let without = "bench --quick --parts throughput --input in.jsonl --schemes affine32 --lengths 40 --num-perm 16 --threads 1";
        let run = place.run(&format!("{without} --results b")).succeeded();
        let screen = String::from_utf8(run.stdout).unwrap();
        let line = screen
            .lines()
            .find(|line| line.starts_with("GPU left out: "));
        let line = line.unwrap_or_else(|| panic!("{screen}"));
        assert!(line.contains("--backends scalar,simd,gpu,hybrid"), "{line}");
    }
}
