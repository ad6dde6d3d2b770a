//! The floors of the house: a room names only rooms below it, and no files import each other in a circle.
//!
//! Read from the sources (`floors/rust.rs`, `floors/python.rs`): outside of unit tests every `use`, `import` and
//! path. A name that a `mod.rs` or an `__init__.py` hands on counts as an import of the file that defines it.

mod house;
mod python;
mod rust;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use house::House;

/// The crates, from the ground up. A crate depends on those below it alone.
#[rustfmt::skip] // A floor is a line.
const CRATES: &[&[&str]] = &[
    &["crates/base"],
    &["crates/kernels"],
    &["."],
    &["crates/io", "crates/page", "crates/twins"],
    &["crates/index"],
    &["crates/files"],
    &["crates/link", "crates/ratings", "crates/passages"],
    &["crates/contain"],
    &["cli/bench"],
    &["cli"],
    &["python"],
];

/// The rooms of the ground. Rooms of one line may not name each other.
const BASE: &[&[&str]] = &[
    &["encoding"],
    &["remote"],
    &["error", "machine", "clock", "bits"],
    &["documents", "threads", "progress"],
];

/// The rooms of the kernels.
const KERNELS: &[&[&str]] = &[&["scheme"], &["simd"]];

/// The rooms of the library.
const LIBRARY: &[&[&str]] = &[
    &["pipeline"],
    &["backend"],
    &["engine"],
    &["store"],
    &["search"],
    &["selftest", "internals"],
];

/// The files of a search. Those on disk stand between the others: what the first pass writes is on the ground, and
/// what distributes documents to parts needs all that a part in memory is.
#[rustfmt::skip] // A floor is a line.
const SEARCH: &[&[&str]] = &[
    // What is known of documents.
    &["short", "known", "digests"],
    &["verification", "observations", "removal", "disk::documents", "disk::edges"],
    &["corpus", "disk::rarities", "shingled"],
    &["copies", "few", "numbering"],
    // The first pass, its sources and its sinks.
    &["first_pass"],
    &["source", "keys"],
    // What is searched for.
    &["parameters"],
    &["context", "deduplication", "known_index", "signed_sets"],
    // A part in memory: its buckets, candidates and clusters.
    &["part"],
    &["blocks", "candidates", "clusters", "rarity"],
    // Parts on disk.
    &["disk::removals", "disk::join"],
    &["disk::components", "disk::parts"],
    &["disk::blocks", "disk::distribution", "disk::pairs"],
    // The runs.
    &["stages"],
    &["sign", "signature_rows"],
    &["pairs", "removals"],
    &["against", "listed"],
];

/// The files of a run over files.
const FILES: &[&[&str]] = &[
    // The options of every run, and what it says at its end.
    &["divided", "lowest", "outcome", "pairs_file", "sources"],
    &["log"],
    &["run"],
    // What is read, once and again.
    &["preference"],
    &["source"],
    &["repeated_id", "resume", "second_pass"],
    &["from_pairs", "indexes", "overview", "samples"],
    &["page", "pairs_overview"],
    // What is written, and the runs.
    &["dedup_output", "index", "sign"],
    &["dedup", "index_build", "pairs"],
    &["page_in_memory", "signatures"],
    &["index_signatures"],
    // What a result says of a document.
    &["shown_texts"],
    &["show"],
    &["tests::against"],
];

/// The rooms of a search for links.
#[rustfmt::skip] // A floor is a line.
const LINK: &[&[&str]] = &[
    // What is compared: normalised words, the records as they were read, and distinct ones.
    &["words", "records"],
    &["distinct"],
    &["tables"],
    &["symbols"],
    &["candidates"],
    // Scores, and what is made of them.
    &["agreement", "contest", "evidence", "matching", "points", "textbook", "threshold"],
    &["score"],
    &["links", "parameters"],
    &["decide"],
    &["task"],
    // What is read and written, and the runs.
    &["fields", "report", "rows", "sizes"],
    &["read", "table"],
    &["page", "write"],
    &["memory", "run"],
];

/// The rooms of the benchmark: what measures does not know how results are read.
const BENCHMARK: &[&[&str]] = &[
    &["stage", "statistics", "plan", "corpus", "environment"],
    &["case"],
    &["record"],
    &["tables", "cases", "targets"],
    &["throughput", "error"],
    &["lsh"],
    &["summary"],
    &["report"],
    &["folder"],
    &["compare", "measurement"],
];

/// The rooms of the twins of other packages, which do not know each other.
const TWINS: &[&[&str]] = &[&["datasketch", "datatrove"]];

/// The rooms of the command.
const COMMAND: &[&[&str]] = &[
    &["environment", "options", "out_of_memory", "threads"],
    &["stop", "streams"],
    &["terminal"],
    &["arguments"],
    &["outputs"],
    &["commands"],
];

/// The rooms of the extension module.
#[rustfmt::skip] // A floor is a line.
const EXTENSION: &[&[&str]] = &[
    &["errors"],
    &["arguments", "gpu", "json", "progress"],
    // What Python gives.
    &["objects", "options", "pool"],
    &["arrow"],
    &["tokens"],
    &["texts"],
    &["columns", "hashes", "lists"],
    // What it gets: schemes, signatures, signers, sketches, tables.
    &["engines", "scheme", "table"],
    &["beside", "signatures", "sketch"],
    &["index", "signer"],
    // The functions.
    &["memory"],
    &["command", "contain", "datatrove", "divided", "files", "links", "passages", "ratings", "seen", "tools"],
];

/// The rooms of the Python package: the package `simgpu` hands them on, and those of other tools stand on it.
#[rustfmt::skip] // A floor is a line.
const PACKAGE: &[&[&str]] = &[
    &["_caller", "_hosts", "_simgpu", "errors"],
    &["_options", "_progress", "_report", "_repr", "_restore", "_tables"],
    &["_signature_files"],
    &["_dedup", "_files"],
    &["_contain", "_index", "_links", "_passages", "_ratings", "_tools"],
    &["_datasketch", "_divided"],
    &["datasketch", "datatrove", "duckdb", "hf", "nemo", "polars", "ray", "sklearn", "spark"],
    &["__main__"],
];

/// How the sources in a folder are read.
type Reader = fn(&str) -> Option<House>;

/// The sources of each package, relative to the root of the repository.
const PACKAGES: [(Reader, &str); 16] = [
    (rust::house, "crates/base/src"),
    (rust::house, "crates/kernels/src"),
    (rust::house, "src"),
    (rust::house, "crates/io/src"),
    (rust::house, "crates/page/src"),
    (rust::house, "crates/twins/src"),
    (rust::house, "crates/index/src"),
    (rust::house, "crates/files/src"),
    (rust::house, "crates/link/src"),
    (rust::house, "crates/ratings/src"),
    (rust::house, "crates/passages/src"),
    (rust::house, "crates/contain/src"),
    (rust::house, "cli/bench/src"),
    (rust::house, "cli/src"),
    (rust::house, "python/src"),
    (python::house, "python/py"),
];

/// Modules of packages whose rooms, or files, stand on floors. A package as a whole has no name in Rust.
const FLOORS: [(&str, &str, &[&[&str]]); 11] = [
    ("crates/base/src", "", BASE),
    ("crates/kernels/src", "", KERNELS),
    ("src", "", LIBRARY),
    ("src", "search", SEARCH),
    ("crates/files/src", "", FILES),
    ("crates/link/src", "", LINK),
    ("crates/twins/src", "", TWINS),
    ("cli/bench/src", "", BENCHMARK),
    ("cli/src", "", COMMAND),
    ("python/src", "", EXTENSION),
    ("python/py", "simgpu", PACKAGE),
];

/// The crates of this repository that a manifest names as dependencies, as `CRATES` lists them.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let manifest = fs::read_to_string(manifest.join("Cargo.toml")).unwrap();
    let start = manifest.find("\n[dependencies]").unwrap();
    let names = manifest[start..].lines().filter_map(|line| {
        let (name, _) = line.split_once(" = ")?;
        match name.strip_prefix("simgpu")? {
            "" => Some(".".to_owned()),
            "-cli" => Some("cli".to_owned()),
            "-bench" => Some("cli/bench".to_owned()),
            name => Some(format!("crates/{}", name.strip_prefix('-')?)),
        }
    });
    names.collect()
}

#[test]
fn crates_name_only_crates_below() {
    let floor = |of: &str| CRATES.iter().position(|floor| floor.contains(&of));
    let mut wrong = Vec::new();
    for folder in CRATES.iter().copied().flatten().copied() {
        // Where the package of a crate is built, its neighbours may be missing.
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).exists() {
            continue;
        }
        for named in dependencies(folder) {
            if named != folder && floor(&named) >= floor(folder) {
                wrong.push(format!(
                    "{folder} depends on {named}, which is not below it"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"));
    for entry in listed.into_iter().flatten() {
        let name = format!("crates/{}", entry.unwrap().file_name().display());
        assert!(
            floor(&name).is_some(),
            "{name} stands on no floor that this test knows"
        );
    }
}

#[test]
fn rooms_name_only_rooms_below() {
    for (read, sources) in PACKAGES {
        let Some(house) = read(sources) else {
            continue;
        };
        for (_, of, floors) in FLOORS.iter().filter(|(of, ..)| *of == sources) {
            let mut wrong = house.missing(of, floors);
            wrong.extend(house.arrows_upwards(of, floors));
            assert!(wrong.is_empty(), "{sources}:\n{}", wrong.join("\n"));
        }
    }
}

#[test]
fn files_never_import_in_a_circle() {
    for (read, sources) in PACKAGES {
        let circles = read(sources).map_or(Vec::new(), |house| house.circles());
        assert!(circles.is_empty(), "{sources}:\n{}", circles.join("\n"));
    }
}

/// Files, as modules and texts.
fn files<const N: usize>(files: [(&str, &str); N]) -> BTreeMap<String, String> {
    let files = files.map(|(module, text)| (module.to_owned(), text.to_owned()));
    files.into()
}

#[test]
fn an_arrow_upwards_or_a_circle_is_found() {
    let house = House::of(&rust::read(files([
        ("lib", ""),
        ("pipeline", "pub use band::Banding;"),
        (
            "pipeline::band",
            "use super::keys::Keys;\nuse crate::search::dedup;",
        ),
        ("pipeline::keys", "fn of(banding: super::Banding) {}"),
        ("search", "use crate::{backend, engine::Engine};"),
        ("engine", ""),
        (
            "backend",
            "// use crate::search;\n#[cfg(test)]\nmod tests { use crate::search; }",
        ),
    ])));
    let upwards = house.arrows_upwards("", LIBRARY);
    assert_eq!(
        upwards,
        ["pipeline::band names search, which is not below pipeline"]
    );
    assert_eq!(house.circles(), ["pipeline::band, pipeline::keys"]);
}

#[test]
fn an_arrow_upwards_inside_a_room_is_found() {
    let house = House::of(&rust::read(files([
        (
            "search",
            "pub(crate) use disk::Parts;\npub use stages::run;",
        ),
        ("search::corpus", "use super::{disk::KeyWriter, Parts};"),
        (
            "search::disk",
            "pub(crate) use documents::KeyWriter;\npub(crate) use parts::Parts;",
        ),
        ("search::disk::documents", "use crate::pipeline::Banding;"),
        ("search::disk::parts", "use crate::search::corpus::Corpus;"),
        ("search::stages", "fn run(parts: super::disk::Parts) {}"),
        ("search::new", ""),
        ("pipeline", "pub struct Banding;"),
    ])));
    let floors: &[&[&str]] = &[
        &["disk::documents"],
        &["corpus"],
        &["disk::parts", "stages"],
        &["gone"],
    ];
    assert_eq!(
        house.arrows_upwards("search", floors),
        [
            "search::corpus names disk::parts, which is not below corpus",
            "search::new is in no room that this test knows",
            "search::stages names disk::parts, which is not below stages",
        ]
    );
    assert_eq!(
        house.missing("search", floors),
        ["there is no search::gone"]
    );
    assert_eq!(house.circles(), ["search::corpus, search::disk::parts"]);
}

#[test]
fn an_import_upwards_or_a_circle_of_python_is_found() {
    let house = House::of(&python::read(files([
        (
            "simgpu",
            "from ._dedup import (\n    dedup,  # (in memory)\n    pairs,\n)",
        ),
        (
            "simgpu::_dedup",
            "\"\"\"Example:\n\n    import simgpu.spark\n\"\"\"\nif TYPE_CHECKING:\n    from .spark import run\n\
             import pyarrow as pa\nfrom . import _simgpu\n",
        ),
        (
            "simgpu::errors",
            "def raised():\n    from simgpu import dedup as _dedup\n",
        ),
        (
            "simgpu::spark",
            "import simgpu.errors as e, json\nfrom ._stages import Stages",
        ),
        (
            "simgpu::spark::_stages",
            "from .. import pairs\nfrom ..spark import run",
        ),
    ])));
    let floors: &[&[&str]] = &[&["_simgpu", "errors"], &["_dedup"], &["spark"]];
    assert_eq!(
        house.arrows_upwards("simgpu", floors),
        ["simgpu::errors names _dedup, which is not below errors"]
    );
    let circles = house.circles();
    assert_eq!(circles, ["simgpu::spark, simgpu::spark::_stages"]);
}
