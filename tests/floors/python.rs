//! Reads what files of Python import.
//!
//! An import inside a function counts: to put it off hides a circle, and does not take it away. One under `if
//! TYPE_CHECKING:` does not: it is never executed, and a type checker reads all files at once.

use std::collections::BTreeMap;

use super::house::{House, Sources, files_of, is_in, join};

/// The name of the package.
const PACKAGE: &str = "simgpu";

/// The extension module, which has no file of Python.
const EXTENSION: &str = "simgpu::_simgpu";

/// The package whose sources are in a folder of the repository; `None` where a package lacks it.
pub(super) fn house(sources: &str) -> Option<House> {
    let files = files_of(sources, "py", "__init__");
    (!files.is_empty()).then(|| House::of(&read(files)))
}

/// Reads files, as modules and texts. The package of a module is a module, too: its `__init__.py`, which hands on all
/// that it imports.
pub(super) fn read(files: BTreeMap<String, String>) -> Sources {
    let mut sources = Sources {
        modules: files.keys().cloned().collect(),
        ..Sources::default()
    };
    sources.modules.insert(EXTENSION.to_owned());
    for (module, text) in &files {
        let is_package = files.keys().any(|other| is_in(other, module));
        let package = match module.rsplit_once("::") {
            Some((package, _)) if !is_package => package,
            _ => module,
        };
        for statement in imports(text) {
            for (path, name) in paths(&statement, package) {
                let handed_on = join(module, &name);
                if is_package && handed_on != path {
                    sources.handed_on.insert(handed_on, path.clone());
                }
                sources.named.push((module.clone(), path));
            }
        }
    }
    sources
}

/// The statements that import, each on one line, without those for type checkers.
fn imports(text: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut for_types = None;
    for line in without_docstrings(text) {
        let line = line.split('#').next().unwrap_or_default();
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        if code.is_empty() || for_types.is_some_and(|outer| indent > outer) {
            continue;
        }
        for_types = (code == "if TYPE_CHECKING:").then_some(indent);
        match statements.last_mut() {
            Some(open) if open.contains('(') && !open.contains(')') => open.push_str(code),
            _ if code.starts_with("import ") => statements.push(code.to_owned()),
            _ if code.starts_with("from ") && code.contains(" import ") => {
                statements.push(code.to_owned());
            }
            _ => {}
        }
    }
    statements
}

/// The lines that are in no string of several lines.
fn without_docstrings(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    text.lines().filter(move |line| {
        let quotes = line.matches("\"\"\"").count();
        let was_inside = is_inside;
        is_inside ^= quotes % 2 == 1;
        !was_inside && quotes == 0
    })
}

/// What a statement imports from this package: paths, and the names that they get.
fn paths(statement: &str, package: &str) -> Vec<(String, String)> {
    let named = |list: &str, prefix: &str| -> Vec<(String, String)> {
        let list = list.trim_matches(['(', ')', ' ']);
        let parts = list
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let parts = parts.map(|part| part.split_once(" as ").unwrap_or((part, part)));
        let paths = parts.map(|(name, given)| (join(prefix, &name.replace('.', "::")), given));
        let own = paths.filter(|(path, _)| path == PACKAGE || is_in(path, PACKAGE));
        own.map(|(path, given)| (path, given.to_owned())).collect()
    };
    if let Some(modules) = statement.strip_prefix("import ") {
        return named(modules, "");
    }
    let from = statement.strip_prefix("from ").unwrap_or(statement);
    let Some((from, names)) = from.split_once(" import ") else {
        return Vec::new();
    };
    let below = from.trim_start_matches('.');
    let mut base = String::new();
    if let Some(ups) = (from.len() - below.len()).checked_sub(1) {
        let mut outer = package.split("::").collect::<Vec<_>>();
        outer.truncate(outer.len().saturating_sub(ups));
        base = outer.join("::");
    }
    let base = match below {
        "" => base,
        _ => join(&base, &below.replace('.', "::")),
    };
    named(names, &base)
}
