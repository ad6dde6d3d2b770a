//! Finds files by name, in folders and by globs.
//!
//! Folders and globs are walked by the same code. The crate glob follows links without end, forty folders deep: four
//! links to the folder itself made 4^40 paths. A link that leads nowhere is skipped and counted; a filter that leaves
//! it out comes first.
//!
//! **Beside files of records, `README.md`, `LICENSE` and their like are no documents**, by name and with a warning:
//! the folder of a repository is the usual input, and its text of a thousand words would be one document more.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use walkdir::{DirEntry, WalkDir};

use super::format::{Format, is_description, is_hidden, is_marker, is_note_of_dataset};
use super::globs::FileFilter;
use super::not_read::{NotRead, Several};
use simgpu::error::{Error, Result};
use simgpu::store::disk::is_folder;

/// The files found so far.
#[derive(Default)]
pub(super) struct FoundFiles {
    /// The given path of each file, and its absolute path without `..`.
    pub(super) files: Vec<(PathBuf, PathBuf)>,
    pub(super) parents: Vec<PathBuf>,
    pub(super) not_read: NotRead,
    /// Whether each file, by its real path, was given more than once.
    seen: HashMap<PathBuf, bool>,
    /// The format of all files, if it was given.
    format: Option<Format>,
    /// Whether folders and globs include hidden files.
    hidden: bool,
    /// Which of their files to take.
    filter: FileFilter,
}

/// What to look for below a folder.
struct Search<'a> {
    /// The folder; empty for the current one, which the paths of files then do not name.
    root: &'a Path,
    /// The folders that lie above a file at most, the root included.
    depth: usize,
    /// Whether to look at a file or folder of this name, so many folders deep.
    enters: &'a dyn Fn(usize, &OsStr) -> bool,
    /// Whether a path is one of a file that is searched for.
    fits: &'a dyn Fn(&Path) -> bool,
    /// The start of paths that the filter does not see.
    unseen: &'a Path,
}

/// What a search found.
#[derive(Default)]
struct Hits {
    files: Vec<PathBuf>,
    /// Whether the filter left out a file or a link.
    left_out: bool,
    /// Whether links were skipped.
    has_links: bool,
}

/// Whether a folder or a glob leaves out a file or folder of this name.
fn is_left_out(name: &OsStr, hidden: bool) -> bool {
    let name = name.to_string_lossy();
    is_marker(&name) || !hidden && is_hidden(&name)
}

impl FoundFiles {
    pub(super) fn new(format: Option<Format>, hidden: bool, filter: FileFilter) -> Self {
        FoundFiles {
            format,
            hidden,
            filter,
            ..FoundFiles::default()
        }
    }

    pub(super) fn file(&mut self, named: PathBuf, parent: PathBuf) -> Result<()> {
        let path = absolute(&named)?;
        let refuse = |problem: &str, remedy: &str| {
            Err(Error::Input {
                path: named.clone(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        if !named
            .metadata()
            .map_err(Error::io("open", &named))?
            .is_file()
        {
            return refuse(
                "not a regular file; simgpu reads inputs twice",
                "pipe it in and give -",
            );
        }
        if path.to_str().is_none() {
            return refuse("its name is not UTF-8", "rename the file");
        }
        // Reading a file twice, by another name or a link, would make each document a duplicate of itself.
        let identity = named.canonicalize().map_err(Error::io("open", &named))?;
        match self.seen.get_mut(&identity) {
            None => {
                self.seen.insert(identity, false);
                self.files.push((named, path));
                self.parents.push(parent);
            }
            Some(is_repeated) => {
                if !std::mem::replace(is_repeated, true) {
                    Several::add(&mut self.not_read.repeated_files, &named);
                }
            }
        }
        Ok(())
    }

    pub(super) fn folder(&mut self, folder: &Path) -> Result<()> {
        let hidden = self.hidden;
        let hits = self.search(&Search {
            root: folder,
            depth: usize::MAX,
            enters: &|_, name| !is_left_out(name, hidden),
            fits: &|_| true,
            unseen: folder,
        })?;
        if hits.files.is_empty() {
            if hits.left_out {
                return Err(all_left_out(folder));
            }
            return Err(Error::Input {
                path: folder.to_owned(),
                problem: if hits.has_links {
                    "the folder holds no file, only links that lead to none".to_owned()
                } else {
                    "the folder holds no file".to_owned()
                },
                remedy: if hidden {
                    "choose a folder with documents".to_owned()
                } else {
                    "choose a folder with documents, or pass `hidden` to include hidden files"
                        .to_owned()
                },
            });
        }
        let parent = absolute(folder)?;
        for file in self.without_descriptions(hits.files) {
            self.file(file, parent.clone())?;
        }
        Ok(())
    }

    pub(super) fn glob(&mut self, pattern: &Path) -> Result<()> {
        let missing = |problem: &str| Error::Input {
            path: pattern.to_owned(),
            problem: problem.to_owned(),
            remedy: "check the name".to_owned(),
        };
        let text = pattern.to_str().ok_or_else(|| missing("no such file"))?;
        if !is_special(text) {
            return Err(match BrokenLink::find(pattern) {
                Some(BrokenLink::Dangling) => missing("the link leads to no file"),
                Some(BrokenLink::Cyclic) => missing("the link leads in a circle"),
                None => missing("no such file or folder"),
            });
        }
        let glob =
            Glob::new(pattern).map_err(|error| missing(&format!("invalid glob: {error}")))?;
        if !text.ends_with('/') && (glob.root.as_os_str().is_empty() || is_folder(&glob.root)?) {
            let hidden = self.hidden;
            let hits = self.search(&Search {
                root: &glob.root,
                depth: glob.depth(),
                enters: &|depth, name| {
                    glob.enters(depth, name)
                        && (!is_left_out(name, hidden) || glob.spells_out(name))
                },
                fits: &|path| glob.matches(path),
                unseen: Path::new(""),
            })?;
            if !hits.files.is_empty() {
                for file in self.without_descriptions(hits.files) {
                    let parent = parent_of(&absolute(&file)?);
                    self.file(file, parent)?;
                }
                return Ok(());
            }
            if hits.left_out {
                return Err(all_left_out(pattern));
            }
        }
        Err(missing("no file matches"))
    }

    /// The files below a folder, sorted by name. Counts the links that lead nowhere, unless the filter leaves them out.
    fn search(&mut self, search: &Search<'_>) -> Result<Hits> {
        let mut hits = Hits::default();
        let is_here = search.root.as_os_str().is_empty();
        let root = if is_here { Path::new(".") } else { search.root };
        let enters = |depth: usize, name: &OsStr| depth == 0 || (search.enters)(depth, name);
        let mut walk = WalkDir::new(root)
            .max_depth(search.depth)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| enters(entry.depth(), entry.file_name()));
        let real_root = root.canonicalize().unwrap_or_default();
        // Folders that link to each other would be walked in every order: each is entered by one link.
        let mut entered = HashSet::new();
        while let Some(entry) = walk.next() {
            let (path, depth, broken) = match &entry {
                Ok(entry) if is_note_of_dataset(entry.path()) => continue,
                Ok(entry) if entry.file_type().is_file() => (entry.path(), entry.depth(), None),
                Ok(entry) => match target_of_link(entry) {
                    // The walk itself finds links to a folder between the root and themselves.
                    Some(target) if real_root.starts_with(&target) => {
                        walk.skip_current_dir();
                        (entry.path(), entry.depth(), Some(BrokenLink::Cyclic))
                    }
                    target => {
                        if target.is_some_and(|target| !entered.insert(target)) {
                            walk.skip_current_dir();
                        }
                        continue;
                    }
                },
                Err(error) => {
                    let path = error.path().unwrap_or(root);
                    (path, error.depth(), Some(broken_link(path, error)?))
                }
            };
            let path = match path.strip_prefix(root) {
                Ok(below) if is_here => below,
                _ => path,
            };
            // The walk reports errors of whatever name. What a cyclic link leads to is found elsewhere.
            let is_named = enters(depth, path.file_name().unwrap_or_default())
                && (broken == Some(BrokenLink::Cyclic) || (search.fits)(path));
            if !is_named {
                continue;
            }
            let seen = path.strip_prefix(search.unseen).unwrap_or(path);
            match (self.accepts(seen), broken) {
                (false, _) => hits.left_out = true,
                (true, Some(broken)) => {
                    hits.has_links = true;
                    self.count_link(path, broken);
                }
                (true, None) => hits.files.push(path.to_owned()),
            }
        }
        Ok(hits)
    }

    /// Counts a link that leads nowhere.
    fn count_link(&mut self, path: &Path, broken: BrokenLink) {
        let links = match broken {
            BrokenLink::Dangling => &mut self.not_read.dangling_links,
            BrokenLink::Cyclic => &mut self.not_read.cyclic_links,
        };
        Several::add(links, path);
    }

    /// Whether the filter takes a file of this name.
    fn accepts(&self, name: &Path) -> bool {
        let name = name.to_string_lossy();
        if cfg!(windows) {
            self.filter.accepts(&name.replace('\\', "/"))
        } else {
            self.filter.accepts(&name)
        }
    }

    /// The files of a folder or a glob that hold documents: beside files of records, a `README.md` describes them.
    fn without_descriptions(&mut self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let describes = |path: &PathBuf| path.file_name().is_some_and(is_description);
        let holds_records = |path: &PathBuf| {
            let format = self
                .format
                .or_else(|| Format::from_name(&path.to_string_lossy(), false));
            format.is_some_and(|format| format != Format::Text) && !describes(path)
        };
        if !files.iter().any(holds_records) {
            return files;
        }
        let (descriptions, documents): (Vec<_>, _) = files.into_iter().partition(describes);
        for path in descriptions {
            Several::add(&mut self.not_read.descriptions, &path);
        }
        documents
    }
}

/// What is wrong with a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BrokenLink {
    /// It leads to no file.
    Dangling,
    /// It leads back to a folder above it, or to links that lead back to it.
    Cyclic,
}

impl BrokenLink {
    /// What is wrong with this path; `None` if it is no link, or leads to a file or folder.
    pub(super) fn find(path: &Path) -> Option<Self> {
        /// The operating system's code for links in a circle, for which `ErrorKind` has no stable name.
        const LINKS_IN_CIRCLE: i32 = if cfg!(windows) {
            1921
        } else if cfg!(target_os = "linux") {
            40
        } else {
            62
        };
        if !path.is_symlink() {
            return None;
        }
        let error = path.metadata().err()?;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Some(BrokenLink::Dangling),
            _ => (error.raw_os_error() == Some(LINKS_IN_CIRCLE)).then_some(BrokenLink::Cyclic),
        }
    }
}

/// A pattern of paths.
struct Glob {
    /// The folder before the first part with a special character.
    root: PathBuf,
    /// The parts below it.
    parts: Vec<Pattern>,
    /// All of them, with `/`.
    below: Pattern,
}

impl Glob {
    fn new(path: &Path) -> std::result::Result<Self, glob::PatternError> {
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
    fn depth(&self) -> usize {
        match self.leading().len() {
            all if all == self.parts.len() => all,
            _ => usize::MAX,
        }
    }

    /// Whether a file or folder of this name, so deep below the root, may be or hold one that matches.
    fn enters(&self, depth: usize, name: &OsStr) -> bool {
        let part = self.leading().get(depth - 1);
        part.is_none_or(|part| part.matches(&name.to_string_lossy()))
    }

    /// Whether a part names hidden files or marks of this name.
    fn spells_out(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else {
            return false;
        };
        let spells = |part: &&Pattern| is_left_out(OsStr::new(part.as_str()), false);
        self.parts
            .iter()
            .filter(spells)
            .any(|part| part.matches(name))
    }

    fn matches(&self, path: &Path) -> bool {
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::new()
        };
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        self.below.matches_with(&with_slashes(below), options)
    }
}

fn is_special(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Where the link of a walk leads; `None` if it is none, or the root of the walk.
fn target_of_link(entry: &DirEntry) -> Option<PathBuf> {
    let is_link = entry.depth() > 0 && entry.path_is_symlink();
    is_link.then(|| entry.path().canonicalize().ok()).flatten()
}

/// What is wrong with the link on which a walk failed, or the error of something else.
fn broken_link(path: &Path, error: &walkdir::Error) -> Result<BrokenLink> {
    let broken = match error.loop_ancestor() {
        Some(_) => Some(BrokenLink::Cyclic),
        None => BrokenLink::find(path),
    };
    broken.ok_or_else(|| unreadable(path, error))
}

/// The error for a file or folder that cannot be looked at.
fn unreadable(path: &Path, error: &walkdir::Error) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: match error.io_error() {
            Some(io) => io.to_string(),
            None => error.to_string(),
        },
        remedy: "make it readable, or give its files one by one".to_owned(),
    }
}

/// The error for a folder or glob of which no file is read.
fn all_left_out(name: &Path) -> Error {
    Error::Input {
        path: name.to_owned(),
        problem: "`include` and `exclude` leave out all of its files".to_owned(),
        remedy: "change them, or leave out this input".to_owned(),
    }
}

pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    // `absolute` keeps `..`, which would break comparisons of prefixes.
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    Ok(plain)
}

pub(super) fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

pub(super) fn common_parent(a: &Path, b: &Path) -> PathBuf {
    let shared = a.components().zip(b.components());
    shared
        .take_while(|(a, b)| a == b)
        .map(|(component, _)| component)
        .collect()
}

pub(super) fn with_slashes(path: &Path) -> String {
    let components = path.components().map(|c| c.as_os_str().to_string_lossy());
    components.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_parents_end_between_components() {
        let common = common_parent(Path::new("/a/b/c"), Path::new("/a/bc"));
        assert_eq!(common, Path::new("/a"));
    }

    #[test]
    fn a_file_is_found_once() {
        let place = tempfile::tempdir().unwrap();
        for name in ["b.jsonl", "a.jsonl", "README.md", ".hidden"] {
            std::fs::write(place.path().join(name), "x").unwrap();
        }
        let mut found = FoundFiles::new(None, false, FileFilter::default());
        let file = place.path().join("b.jsonl");
        found.file(file.clone(), place.path().to_owned()).unwrap();
        found.folder(place.path()).unwrap();
        found.glob(&place.path().join("*.jsonl")).unwrap();
        let names = found
            .files
            .iter()
            .map(|(_, path)| path.file_name().unwrap());
        assert!(names.eq(["b.jsonl", "a.jsonl"]));
        let count = |several: &Option<Several>| several.as_ref().map(|several| several.count);
        // Two files are named more than once, however often, and one describes the others.
        assert_eq!(count(&found.not_read.repeated_files), Some(2));
        assert_eq!(count(&found.not_read.descriptions), Some(1));
        assert!(found.glob(&place.path().join("*.csv")).is_err());
    }
}
