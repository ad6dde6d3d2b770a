//! A glob, which names files by a pattern.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::paths::with_slashes;
use crate::format::{is_hidden, is_marker};

/// Whether a folder or a glob leaves out a file or folder of this name.
pub(super) fn is_left_out(name: &OsStr, hidden: bool) -> bool {
    let name = name.to_string_lossy();
    is_marker(&name) || !hidden && is_hidden(&name)
}

/// A pattern of paths.
pub(super) struct Glob {
    /// The folder before the first part with a special character.
    pub(super) root: PathBuf,
    /// The parts below it.
    parts: Vec<Pattern>,
    /// All of them, with `/`.
    pub(super) below: Pattern,
}

impl Glob {
    pub(super) fn new(path: &Path) -> std::result::Result<Self, glob::PatternError> {
        let part_of = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
        let parts: Vec<String> = path.components().map(part_of).collect();
        let literal = parts.iter().take_while(|part| !is_special(part)).count();
        let (root, parts) = parts.split_at(literal);
        Ok(Glob {
            root: root.iter().collect(),
            below: Pattern::new(&parts.join("/"))?,
            parts: parts
                .iter()
                .map(|part| Pattern::new(part))
                .collect::<std::result::Result<_, _>>()?,
        })
    }

    /// The parts before `**`, which stands for any number of folders: one for each folder.
    fn leading(&self) -> &[Pattern] {
        let recursive = self.parts.iter().position(|part| part.as_str() == "**");
        &self.parts[..recursive.unwrap_or(self.parts.len())]
    }

    /// How deep a file may lie below the root.
    pub(super) fn depth(&self) -> usize {
        match self.leading().len() {
            all if all == self.parts.len() => all,
            _ => usize::MAX,
        }
    }

    /// Whether a file or folder of this name, so deep below the root, may be or hold one that matches.
    pub(super) fn enters(&self, depth: usize, name: &OsStr) -> bool {
        let part = self.leading().get(depth - 1);
        part.is_none_or(|part| part.matches(&name.to_string_lossy()))
    }

    /// Whether a part names hidden files or marks of this name.
    pub(super) fn spells_out(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else {
            return false;
        };
        let spells = |part: &&Pattern| is_left_out(OsStr::new(part.as_str()), false);
        self.parts
            .iter()
            .filter(spells)
            .any(|part| part.matches(name))
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::new()
        };
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        self.below.matches_with(&with_slashes(below), options)
    }
}

pub(super) fn is_special(text: &str) -> bool {
    text.contains(['*', '?', '['])
}
