//! Reads what files of Rust name: every `use`, and every path that begins with `crate` or `super`, outside of unit
//! tests.

use std::collections::BTreeMap;

use super::house::{House, Sources, files_of, is_in, join};

/// The package whose sources are in a folder of the repository; `None` where a package lacks it.
pub(super) fn house(sources: &str) -> Option<House> {
    let files = files_of(sources, "rs", "mod");
    (!files.is_empty()).then(|| House::of(&read(files)))
}

/// Reads files, as modules and texts.
pub(super) fn read(files: BTreeMap<String, String>) -> Sources {
    let files = files
        .into_iter()
        .map(|(module, text)| (module, without_tests_and_comments(&text)));
    let files: BTreeMap<String, String> = files.collect();
    let mut sources = Sources {
        modules: files.keys().cloned().collect(),
        ..Sources::default()
    };
    for (module, text) in &files {
        let (uses, code) = uses(text);
        for found in uses {
            let Some(path) = absolute(module, &found.path, &files) else {
                continue;
            };
            // What a module hands on of its own, it does not need.
            if !found.is_public || !is_in(&path, module) {
                sources.named.push((module.clone(), path.clone()));
            }
            if found.is_public {
                sources.handed_on.insert(join(module, &found.name), path);
            }
        }
        let paths = inline_paths(&code);
        let paths = paths.filter_map(|path| absolute(module, path, &files));
        let named = paths.map(|path| (module.clone(), path));
        sources.named.extend(named);
    }
    sources
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
    path: String,
    name: String,
    is_public: bool,
}

/// What `use` names, and the text without it.
fn uses(text: &str) -> (Vec<Use>, String) {
    let (mut found, mut code) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line_start = rest[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let before = rest[line_start..at].trim();
        let is_statement = before.is_empty() || before.starts_with("pub");
        code.push_str(&rest[..at]);
        rest = &rest[at + 4..];
        if !is_statement {
            continue;
        }
        let Some(end) = rest.find(';') else {
            break;
        };
        let tree = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
        found.extend(expand(&tree).into_iter().map(|path| {
            let (path, name) = match path.split_once(" as ") {
                Some((path, name)) => (path.to_owned(), name.to_owned()),
                None => {
                    let name = path.rsplit("::").next().unwrap_or_default().to_owned();
                    (path, name)
                }
            };
            Use {
                path,
                name,
                is_public: before.starts_with("pub"),
            }
        }));
        rest = &rest[end..];
    }
    code.push_str(rest);
    (found, code)
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
fn inline_paths(code: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(move |letter: char| !is_part(letter));
    words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"))
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
