//! The modules of a package, each a file, and what they import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a reader finds in the sources of a package. Modules are paths with `::`, in Python, too.
#[derive(Default)]
pub(super) struct Sources {
    /// The modules, each a file.
    pub(super) modules: BTreeSet<String>,
    /// What each module names, as paths from the root.
    pub(super) named: Vec<(String, String)>,
    /// The paths of names that a module hands on.
    pub(super) handed_on: BTreeMap<String, String>,
}

/// A package.
pub(super) struct House {
    /// For each module the modules whose definitions it names.
    imports: BTreeMap<String, BTreeSet<String>>,
}

impl House {
    pub(super) fn of(sources: &Sources) -> Self {
        let modules = sources.modules.iter().cloned();
        let mut imports: BTreeMap<_, BTreeSet<_>> =
            modules.map(|module| (module, BTreeSet::new())).collect();
        for (module, path) in &sources.named {
            let target = sources.definer(path);
            let target = target.filter(|target| target != module && target != "lib");
            imports.entry(module.clone()).or_default().extend(target);
        }
        House { imports }
    }

    /// Every import of a room that is not below the importing one. The rooms are those of the module `of`, or of the
    /// package if it has no name. The list may name files of a room, which then stand on floors of their own.
    pub(super) fn arrows_upwards(&self, of: &str, floors: &[&[&str]]) -> Vec<String> {
        let hands_on = |file: &str| {
            let mut listed = floors.iter().copied().flatten();
            matches!(file, "lib" | "main") || listed.any(|room| is_in(room, file))
        };
        let mut wrong = BTreeSet::new();
        for (module, imports) in &self.imports {
            let Some(file) = within(module, of).filter(|file| !hands_on(file)) else {
                continue;
            };
            let Some((floor, from)) = place(file, floors) else {
                wrong.insert(format!("{module} is in no room that this test knows"));
                continue;
            };
            let named = imports.iter().filter_map(|import| within(import, of));
            let rooms = named.filter_map(|file| place(file, floors));
            for (_, to) in rooms.filter(|(above, to)| *to != from && *above >= floor) {
                wrong.insert(format!("{module} names {to}, which is not below {from}"));
            }
        }
        wrong.into_iter().collect()
    }

    /// The rooms of a list that are no module of `of`.
    pub(super) fn missing(&self, of: &str, floors: &[&[&str]]) -> Vec<String> {
        let listed = floors.iter().copied().flatten();
        let path = listed.map(|room| join(of, room));
        path.filter(|room| {
            !self
                .imports
                .keys()
                .any(|module| module == room || is_in(module, room))
        })
        .map(|room| format!("there is no {room}"))
        .collect()
    }

    /// Every set of files of which each can be reached from each along imports.
    pub(super) fn circles(&self) -> Vec<String> {
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

impl Sources {
    /// The module that defines what a path names, through those that hand it on.
    fn definer(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..8 {
            let handed = prefixes(&path).find_map(|prefix| {
                let target = self.handed_on.get(prefix)?;
                Some(format!("{target}{}", &path[prefix.len()..]))
            });
            match handed {
                Some(next) if next != path => path = next,
                _ => break,
            }
        }
        prefixes(&path)
            .find(|prefix| self.modules.contains(*prefix))
            .map(str::to_owned)
    }
}

/// The files of a folder of the repository with this ending, as modules and texts, without those called `root` and
/// files of unit tests: `root` is the file of a module that is a folder.
pub(super) fn files_of(sources: &str, ending: &str, root: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(sources);
    let mut files = Vec::new();
    collect(&folder, ending, &mut files);
    let module = |path: &PathBuf| {
        let path = path.strip_prefix(&folder).unwrap().with_extension("");
        let names: Vec<_> = path.iter().map(|name| name.to_str().unwrap()).collect();
        names.strip_suffix(&[root]).unwrap_or(&names).join("::")
    };
    files
        .iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| (module(path), fs::read_to_string(path).unwrap()))
        .collect()
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
}

/// The path of a module in another, or in the package, which has no name.
fn within<'a>(module: &'a str, of: &str) -> Option<&'a str> {
    match of {
        "" => Some(module),
        _ => module.strip_prefix(of)?.strip_prefix("::"),
    }
}

/// The floor and the room of a file: of rooms within each other the innermost.
fn place<'a>(file: &'a str, floors: &[&[&str]]) -> Option<(usize, &'a str)> {
    prefixes(file).find_map(|room| {
        let floor = floors.iter().position(|rooms| rooms.contains(&room))?;
        Some((floor, room))
    })
}

/// Whether a module lies in another.
pub(super) fn is_in(module: &str, outer: &str) -> bool {
    let inner = module.strip_prefix(outer);
    inner.is_some_and(|inner| inner.starts_with("::"))
}

/// A path and what it begins with, the longest first.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once("::").map(|(parent, _)| parent)
    })
}

/// The path of a name in a module. The root of a package has no name, or is `lib`.
pub(super) fn join(module: &str, name: &str) -> String {
    if module.is_empty() || module == "lib" {
        name.to_owned()
    } else {
        format!("{module}::{name}")
    }
}
