//! Patterns of file names, and which files to read by them.

use glob::Pattern;

use crate::error::{Error, Result};

/// Patterns of file names: `*` stands for any characters, `/` included, `?` for one, `[ab]` for one of several.
///
/// A pattern without `/` also matches the last part of a name alone.
///
/// ```
/// use simgpu::io::Globs;
///
/// let globs = Globs::new(&["wiki/*", "*.jsonl"])?;
/// assert_eq!(globs.first_match("web/a.jsonl"), Some(1));
/// assert_eq!(globs.first_match("a.parquet"), None);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Globs(Vec<Pattern>);

impl Globs {
    /// Parses patterns.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an invalid pattern.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self> {
        let parse = |pattern: &S| {
            let pattern = pattern.as_ref();
            Pattern::new(pattern).map_err(|error| Error::Parameter {
                name: "a glob",
                value: format!("{pattern:?}"),
                expected: format!("a valid pattern ({})", error.msg),
            })
        };
        Ok(Globs(patterns.iter().map(parse).collect::<Result<_>>()?))
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the first pattern that matches a name; `None` if none does.
    pub fn first_match(&self, name: &str) -> Option<usize> {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.0.iter().position(|pattern| {
            pattern.matches(name) || !pattern.as_str().contains('/') && pattern.matches(last)
        })
    }

    /// The patterns, as given.
    pub fn patterns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(Pattern::as_str)
    }
}

/// Which of the files that folders and globs name are read. Files that are named one by one are always read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFilter {
    /// Read only files that match one of these patterns; empty means all.
    pub include: Globs,
    /// Of these, leave out files that match one of these patterns.
    pub exclude: Globs,
}

impl FileFilter {
    /// Whether a file of this name is read. The name is relative to the folder given, or the path that the glob
    /// found.
    pub(crate) fn accepts(&self, name: &str) -> bool {
        let is_included = self.include.is_empty() || self.include.first_match(name).is_some();
        is_included && self.exclude.first_match(name).is_none()
    }
}
