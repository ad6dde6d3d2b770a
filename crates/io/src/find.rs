//! Finds files by name, in folders and by globs.
//!
//! Folders and globs are walked by the same code. The crate glob follows links without end, forty folders deep: four
//! links to the folder itself made 4^40 paths. A link that leads nowhere is skipped and counted; a filter that leaves
//! it out comes first.
//!
//! **Beside files of records, `README.md`, `LICENSE` and their like are no documents**, by name and with a warning:
//! the folder of a repository is the usual input, and its text of a thousand words would be one document more.

mod links;

mod glob;

mod paths;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::format::{Format, is_description, is_note_of_dataset};
use super::globs::FileFilter;
use super::not_read::{NotRead, Several};
use glob::{Glob, is_left_out, is_special};
use links::{broken_link, target_of_link};
use simgpu::error::{Error, Result};
use simgpu::store::disk::{is_absent, is_folder};

pub(super) use links::BrokenLink;
pub(super) use paths::{absolute, common_parent, parent_of, with_slashes};

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
        let real_root = match root.canonicalize() {
            // The walk says what is wrong with it.
            Err(error) if is_absent(&error) => PathBuf::new(),
            found => found.map_err(Error::io("open", root))?,
        };
        // Folders that link to each other would be walked in every order: each is entered by one link.
        let mut entered = HashSet::new();
        while let Some(entry) = walk.next() {
            let (path, depth, broken) = match &entry {
                Ok(entry) if is_note_of_dataset(entry.path())? => continue,
                Ok(entry) if entry.file_type().is_file() => (entry.path(), entry.depth(), None),
                Ok(entry) => match target_of_link(entry)? {
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

/// The error for a folder or glob of which no file is read.
fn all_left_out(name: &Path) -> Error {
    Error::Input {
        path: name.to_owned(),
        problem: "`include` and `exclude` leave out all of its files".to_owned(),
        remedy: "change them, or leave out this input".to_owned(),
    }
}

#[cfg(test)]
mod tests;
