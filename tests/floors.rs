//! The floors of the house: a room names only rooms below it, and no files import each other in a circle.
//!
//! Read from the sources: every `use`, and every path that begins with `crate` or `super`, outside of unit
//! tests. A name that a `mod.rs` hands on counts as an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the library, from the ground up. Rooms of one line may not name each other.
const LIBRARY: &[&[&str]] = &[
    &["error"],
    &["documents", "threads", "progress"],
    &["scheme"],
    &["simd"],
    &["pipeline"],
    &["backend"],
    &["engine"],
    &["store"],
    &["index", "io"],
    &["search"],
    &["files", "divided"],
    &["link", "ratings"],
    &["selftest", "internals"],
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

/// The rooms of the command.
const COMMAND: &[&[&str]] = &[
    &["environment", "options", "parameters", "threads"],
    &["stop", "streams"],
    &["terminal"],
    &["arguments"],
    &["outputs"],
    &["commands"],
];

/// The sources of each package, relative to the root of the repository.
const PACKAGES: [(&str, &[&[&str]]); 3] = [
    ("src", LIBRARY),
    ("cli/bench/src", BENCHMARK),
    ("cli/src", COMMAND),
];

#[test]
fn rooms_name_only_rooms_below() {
    for (sources, floors) in PACKAGES {
        let Some(house) = House::read(sources) else {
            continue;
        };
        let wrong = house.arrows_upwards(floors);
        assert!(wrong.is_empty(), "{sources}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn files_never_import_in_a_circle() {
    for (sources, _) in PACKAGES {
        let Some(house) = House::read(sources) else {
            continue;
        };
        let circles = house.circles();
        assert!(circles.is_empty(), "{sources}:\n{}", circles.join("\n"));
    }
}

#[test]
fn an_arrow_upwards_or_a_circle_is_found() {
    let files = [
        ("lib", ""),
        ("pipeline", "pub use band::Banding;"),
        (
            "pipeline::band",
            "use super::keys::Keys;\nuse crate::search::dedup;",
        ),
        ("pipeline::keys", "fn of(banding: super::Banding) {}"),
        ("search", "use crate::{error, documents::TextBatch};"),
        ("documents", ""),
        (
            "error",
            "// use crate::search;\n#[cfg(test)]\nmod tests { use crate::search; }",
        ),
    ];
    let house = House::of(files.map(|(module, text)| (module.to_owned(), text.to_owned())));
    let upwards = house.arrows_upwards(LIBRARY);
    assert_eq!(
        upwards,
        ["pipeline::band names search, which is above pipeline"]
    );
    assert_eq!(house.circles(), ["pipeline::band, pipeline::keys"]);
}

/// The modules of a crate, each a file, and what they import.
struct House {
    /// For each module the modules whose definitions it names.
    imports: BTreeMap<String, BTreeSet<String>>,
}

impl House {
    /// Reads the sources in a folder of the repository; `None` where a package lacks it.
    fn read(sources: &str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(sources);
        let mut files = Vec::new();
        collect(&folder, &mut files);
        let module = |path: &PathBuf| {
            let path = path.strip_prefix(&folder).unwrap().with_extension("");
            let names: Vec<_> = path.iter().map(|name| name.to_str().unwrap()).collect();
            let names = names.strip_suffix(&["mod"]).unwrap_or(&names);
            names.join("::")
        };
        let files: Vec<_> = files
            .iter()
            .filter(|path| !path.ends_with("tests.rs"))
            .map(|path| (module(path), fs::read_to_string(path).unwrap()))
            .collect();
        (!files.is_empty()).then(|| House::of(files))
    }

    fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files: BTreeMap<String, String> = files
            .into_iter()
            .map(|(module, text)| (module, without_tests_and_comments(&text)))
            .collect();
        let mut handed_on: BTreeMap<String, String> = BTreeMap::new();
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (module, text) in &files {
            let paths = named.entry(module.clone()).or_default();
            for statement in uses(text) {
                for path in expand(&statement.tree) {
                    let (path, name) = match path.split_once(" as ") {
                        Some((path, name)) => (path.to_owned(), name.to_owned()),
                        None => {
                            let name = path.rsplit("::").next().unwrap_or_default().to_owned();
                            (path, name)
                        }
                    };
                    let Some(path) = absolute(module, &path, &files) else {
                        continue;
                    };
                    if statement.is_public {
                        handed_on.insert(join(module, &name), path);
                    } else {
                        paths.push(path);
                    }
                }
            }
            paths.extend(
                inline_paths(text)
                    .iter()
                    .filter_map(|path| absolute(module, path, &files)),
            );
        }
        let imports = named.into_iter().map(|(module, paths)| {
            let targets = paths
                .iter()
                .filter_map(|path| definer(path, &files, &handed_on));
            let targets = targets.filter(|target| *target != module && target != "lib");
            let targets: BTreeSet<String> = targets.collect();
            (module, targets)
        });
        House {
            imports: imports.collect(),
        }
    }

    /// Every import of a room that is not below the importing one.
    fn arrows_upwards(&self, floors: &[&[&str]]) -> Vec<String> {
        let room = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
        let floor = |room: &str| floors.iter().position(|rooms| rooms.contains(&room));
        let mut wrong = Vec::new();
        for (module, imports) in &self.imports {
            let from = room(module);
            if from == "lib" || from == "main" {
                continue;
            }
            if floor(&from).is_none() {
                wrong.push(format!("{module} is in no room that this test knows"));
            }
            for to in imports
                .iter()
                .map(|import| room(import))
                .filter(|to| *to != from)
            {
                if floor(&to) >= floor(&from) {
                    wrong.push(format!("{module} names {to}, which is above {from}"));
                }
            }
        }
        wrong
    }

    /// Every set of files of which each can be reached from each along imports.
    fn circles(&self) -> Vec<String> {
        let reachable = |from: &str| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
            while let Some(module) = open.pop() {
                for next in self.imports.get(&module).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reach: BTreeMap<&str, BTreeSet<String>> = self
            .imports
            .keys()
            .map(|module| (module.as_str(), reachable(module)))
            .collect();
        let mut circles = BTreeSet::new();
        for (module, from_here) in &reach {
            if from_here.contains(*module) {
                let back = |other: &&String| {
                    reach
                        .get(other.as_str())
                        .is_some_and(|r| r.contains(*module))
                };
                let members: Vec<&str> =
                    from_here.iter().filter(back).map(String::as_str).collect();
                circles.insert(members.join(", "));
            }
        }
        circles.into_iter().collect()
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Unit tests end a file, and lines of comments are whole lines.
fn without_tests_and_comments(text: &str) -> String {
    let lines = text.lines().collect::<Vec<_>>();
    let is_tests = |i: usize| {
        let line = lines[i].trim();
        let is_for_tests = line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test");
        is_for_tests
            && lines
                .get(i + 1)
                .is_some_and(|next| next.trim_start().starts_with("mod tests {"))
    };
    let end = (0..lines.len())
        .find(|i| is_tests(*i))
        .unwrap_or(lines.len());
    let code = lines[..end]
        .iter()
        .filter(|line| !line.trim_start().starts_with("//"));
    code.copied().collect::<Vec<_>>().join("\n")
}

struct Use {
    tree: String,
    is_public: bool,
}

fn uses(text: &str) -> Vec<Use> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line_start = rest[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let before = rest[line_start..at].trim();
        let is_statement = before.is_empty() || before.starts_with("pub");
        rest = &rest[at + 4..];
        if !is_statement {
            continue;
        }
        let Some(end) = rest.find(';') else {
            break;
        };
        let tree = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
        found.push(Use {
            tree,
            is_public: before.starts_with("pub"),
        });
        rest = &rest[end..];
    }
    found
}

/// The paths of a tree: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.strip_suffix("::self").unwrap_or(tree);
        return if path.is_empty() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        };
    };
    let prefix = &tree[..open];
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts
        .flat_map(|part| expand(&format!("{prefix}{}", part.trim())))
        .collect()
}

/// Paths in the code itself that begin with `crate` or `super`.
fn inline_paths(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = text.split(|letter: char| !is_part(letter));
    words
        .filter(|word| word.starts_with("crate::") || word.starts_with("super::"))
        .map(str::to_owned)
        .collect()
}

/// A path from the root of the crate; `None` for another crate's.
fn absolute(module: &str, path: &str, files: &BTreeMap<String, String>) -> Option<String> {
    let path = path.trim();
    if let Some(rest) = path.strip_prefix("crate::") {
        return Some(rest.to_owned());
    }
    if let Some(rest) = path.strip_prefix("self::") {
        return Some(join(module, rest));
    }
    let (mut base, mut rest, mut went_up) = (module.to_owned(), path, false);
    while let Some(above) = rest.strip_prefix("super::") {
        base = base
            .rsplit_once("::")
            .map_or(String::new(), |(parent, _)| parent.to_owned());
        rest = above;
        went_up = true;
    }
    if went_up {
        return Some(join(&base, rest));
    }
    let own = join(module, path);
    let child = join(module, path.split("::").next()?);
    files.contains_key(&child).then_some(own)
}

/// The module that defines what a path names, through those that hand it on.
fn definer(
    path: &str,
    files: &BTreeMap<String, String>,
    handed_on: &BTreeMap<String, String>,
) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..8 {
        let handed = prefixes(&path).find_map(|prefix| {
            let target = handed_on.get(prefix)?;
            Some(format!("{target}{}", &path[prefix.len()..]))
        });
        match handed {
            Some(next) if next != path => path = next,
            _ => break,
        }
    }
    prefixes(&path)
        .find(|prefix| files.contains_key(*prefix))
        .map(str::to_owned)
}

/// A path and what it begins with, the longest first.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once("::").map(|(parent, _)| parent)
    })
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() || module == "lib" {
        name.to_owned()
    } else {
        format!("{module}::{name}")
    }
}
