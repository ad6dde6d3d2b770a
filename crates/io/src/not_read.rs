//! What folders, globs and names lead to, and a run does not read.

use std::path::{Path, PathBuf};

use serde::Serialize;

use simgpu::progress::{Progress, counted, grouped};

/// What the given names lead to and a run does not read: `not_read` in `report.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotRead {
    /// Links in folders that lead to no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dangling_links: Option<Several>,
    /// Links in folders that lead back to a folder above them, or to each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclic_links: Option<Several>,
    /// Files that describe the data beside them, such as `README.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptions: Option<Several>,
    /// Files that several names lead to. They are read once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_files: Option<Several>,
}

/// A number of files or links, and the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Several {
    /// How many there are.
    pub count: u64,
    /// The first one, relative to the common parent of the inputs, with `/`.
    pub first: String,
    /// The path of the first one, for messages.
    #[serde(skip)]
    named: PathBuf,
}

impl Several {
    /// Counts one more.
    pub(super) fn add(several: &mut Option<Self>, named: &Path) {
        let several = several.get_or_insert_with(|| Several {
            count: 0,
            first: String::new(),
            named: named.to_owned(),
        });
        several.count += 1;
    }
}

impl NotRead {
    /// Whether everything is read.
    pub fn is_empty(&self) -> bool {
        *self == NotRead::default()
    }

    /// Sets the names in reports: `relative` makes them of paths.
    pub(super) fn with_names(mut self, relative: impl Fn(&Path) -> String) -> Self {
        let all = [
            &mut self.dangling_links,
            &mut self.cyclic_links,
            &mut self.descriptions,
            &mut self.repeated_files,
        ];
        for several in all.into_iter().flatten() {
            several.first = relative(&several.named);
        }
        self
    }

    /// What to tell the user: one warning for links, one for files that describe data, and one for repeated files.
    pub fn warnings(&self) -> Vec<String> {
        let links = [
            (&self.dangling_links, "to no file"),
            (&self.cyclic_links, "in a circle"),
        ];
        let links: Vec<String> = links
            .into_iter()
            .filter_map(|(several, where_to)| {
                let Several { count, named, .. } = several.as_ref()?;
                let lead = if *count == 1 { "leads" } else { "lead" };
                let first = named.display();
                let links = counted(*count, "link");
                Some(format!("{links} that {lead} {where_to}, first {first}"))
            })
            .collect();
        let links = (!links.is_empty()).then(|| {
            let links = links.join(", and ");
            format!("skipped {links}; correct or remove them, or leave them out with `exclude`")
        });
        let remedy = "name such a file as an input to read it as a document";
        let descriptions = self.descriptions.as_ref().map(|several| {
            let first = several.named.display();
            match several.count {
                1 => format!("skipped {first}, which describes the data beside it; {remedy}"),
                count => format!(
                    "skipped {} files that describe the data beside them, first {first}; {remedy}",
                    grouped(count)
                ),
            }
        });
        let repeated = self.repeated_files.as_ref().map(|several| {
            let first = several.named.display();
            match several.count {
                1 => format!("{first} was given more than once and is read only once"),
                count => format!(
                    "{} files were given more than once and are read only once, first {first}",
                    grouped(count)
                ),
            }
        });
        links
            .into_iter()
            .chain(descriptions)
            .chain(repeated)
            .collect()
    }

    /// Passes the warnings on.
    #[doc(hidden)]
    pub fn warn(&self, progress: &dyn Progress) {
        for warning in self.warnings() {
            progress.warn(&warning);
        }
    }
}
