//! Patterns of file names, and which files to read by them.

use glob::Pattern;

use simgpu::error::{Error, Result};

/// Patterns of file names: `*` stands for any characters, `/` included, `?` for one, `[ab]` for one of several.
///
/// A pattern without `/` also matches the last part of a name alone.
///
/// ```
/// use simgpu_io::Globs;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_with_a_slash_matches_whole_names() {
        let first = |patterns: &[&str], name| Globs::new(patterns).unwrap().first_match(name);
        assert_eq!(first(&["a.jsonl"], "b/a.jsonl"), Some(0));
        assert_eq!(first(&["b/a.jsonl"], "b/a.jsonl"), Some(0));
        assert_eq!(first(&["*/a*"], "a.jsonl"), None);
        assert_eq!(first(&["x", "?.jsonl", "*"], "b/a.jsonl"), Some(1));
        assert_eq!(first(&["b/*"], "b/c/a.jsonl"), Some(0));
        // A literal slash does not match in the last part alone.
        assert_eq!(first(&["[a/]"], "b/a"), None);
        assert!(Globs::new(&["["]).is_err());
    }

    #[test]
    fn a_filter_excludes_after_it_includes() {
        let globs = |patterns: &[&str]| Globs::new(patterns).unwrap();
        let filter = FileFilter {
            include: globs(&["*.jsonl"]),
            exclude: globs(&["test/*"]),
        };
        let accepted = ["a.jsonl", "b/a.jsonl"];
        assert!(accepted.iter().all(|name| filter.accepts(name)));
        assert!(!filter.accepts("a.csv") && !filter.accepts("test/a.jsonl"));
        assert!(FileFilter::default().accepts("anything"));
    }
}
