//! Finds files by name, in folders and by globs.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::format::{is_hidden, is_marker, is_note_of_dataset};
use super::globs::FileFilter;
use crate::error::{Error, Result};

/// The files found so far.
#[derive(Default)]
pub(super) struct Found {
    /// The given path of each file, and its absolute path without `..`.
    pub(super) files: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<PathBuf>,
    pub(super) parents: Vec<PathBuf>,
    pub(super) repeated: Vec<PathBuf>,
    /// Whether folders and globs include hidden files.
    hidden: bool,
    /// Which of their files to take.
    filter: FileFilter,
}

/// A part of a glob that names hidden files or marks: what it spells out is included.
struct Spelled(glob::Pattern);

impl Spelled {
    fn of(part: Component) -> Option<Self> {
        let part = part.as_os_str().to_str()?;
        let spells = is_left_out(OsStr::new(part), false);
        let pattern = glob::Pattern::new(part).ok()?;
        spells.then_some(Spelled(pattern))
    }

    fn includes(&self, name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| self.0.matches(name))
    }
}

/// Whether a folder or a glob leaves out a file or folder of this name.
fn is_left_out(name: &OsStr, hidden: bool) -> bool {
    let name = name.to_string_lossy();
    is_marker(&name) || !hidden && is_hidden(&name)
}

impl Found {
    pub(super) fn new(hidden: bool, filter: FileFilter) -> Self {
        Found {
            hidden,
            filter,
            ..Found::default()
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
        if self.seen.insert(identity) {
            self.files.push((named, path));
            self.parents.push(parent);
        } else {
            self.repeated.push(named);
        }
        Ok(())
    }

    /// Whether to take a file of a folder or glob. Sets `left_out` if not.
    fn takes(&self, name: &Path, left_out: &mut bool) -> bool {
        let name = name.to_string_lossy();
        let takes = if cfg!(windows) {
            self.filter.accepts(&name.replace('\\', "/"))
        } else {
            self.filter.accepts(&name)
        };
        *left_out |= !takes;
        takes
    }

    pub(super) fn folder(&mut self, folder: &Path) -> Result<()> {
        let absolute_folder = absolute(folder)?;
        let before = self.files.len() + self.repeated.len();
        let mut left_out = false;
        let walk = walkdir::WalkDir::new(folder)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter();
        let hidden = self.hidden;
        let walk = walk
            .filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry.file_name(), hidden));
        for entry in walk {
            let entry = entry.map_err(|error| Error::Input {
                path: error.path().unwrap_or(folder).to_owned(),
                problem: match error.io_error() {
                    Some(io) => io.to_string(),
                    None => "its links form a cycle".to_owned(),
                },
                remedy: "make it readable, or give its files one by one".to_owned(),
            })?;
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            if entry.file_type().is_file()
                && !is_note_of_dataset(entry.path())
                && self.takes(name, &mut left_out)
            {
                self.file(entry.into_path(), absolute_folder.clone())?;
            }
        }
        if self.files.len() + self.repeated.len() == before {
            if left_out {
                return Err(all_left_out(folder));
            }
            return Err(Error::Input {
                path: folder.to_owned(),
                problem: "the folder holds no file".to_owned(),
                remedy: if self.hidden {
                    "choose a folder with documents".to_owned()
                } else {
                    "choose a folder with documents, or pass `hidden` to include hidden files"
                        .to_owned()
                },
            });
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
        if !text.contains(['*', '?', '[']) {
            return Err(missing("no such file or folder"));
        }
        let paths = glob::glob(text).map_err(|error| missing(&format!("invalid glob: {error}")))?;
        let spelled: Vec<Spelled> = pattern.components().filter_map(Spelled::of).collect();
        let hidden = self.hidden;
        let is_left_out = |path: &Path| {
            path.components().any(|part| match part {
                Component::Normal(name) => {
                    is_left_out(name, hidden) && !spelled.iter().any(|s| s.includes(name))
                }
                _ => false,
            })
        };
        let mut any = false;
        let mut left_out = false;
        for path in paths {
            let path = path.map_err(|error| Error::Io {
                action: "read",
                path: error.path().to_owned(),
                cause: error.into(),
            })?;
            if path.is_file()
                && !is_left_out(&path)
                && !is_note_of_dataset(&path)
                && self.takes(&path, &mut left_out)
            {
                any = true;
                let parent = parent_of(&absolute(&path)?);
                self.file(path, parent)?;
            }
        }
        if any {
            Ok(())
        } else if left_out {
            Err(all_left_out(pattern))
        } else {
            Err(missing("no file matches"))
        }
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
}
