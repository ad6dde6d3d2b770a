//! Documents that an index knows, as a reference of a search.
//!
//! **Only similar documents of an index take part.** An index may hold a hundred times the documents of a run. So the run asks
//! it first, and its reference has the documents that are similar to one of the inputs. Nothing changes: no other document of
//! the index decides anything.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::known::KnownDocument;
use super::parameters::Search;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::Result;
use crate::store::spill::RunIdentity;

/// A run that adds what it keeps to an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct AddingRun {
    /// The folder of its results.
    #[doc(hidden)]
    pub output: String,
    /// What decides its results; `None` if no later run can be told to have the same, since an input is a stream.
    #[doc(hidden)]
    pub identity: Option<RunIdentity>,
}

impl AddingRun {
    /// Whether a run has the results that an interrupted one had.
    #[doc(hidden)]
    pub fn repeats(&self, interrupted: &AddingRun) -> bool {
        self.identity.is_some() && self == interrupted
    }
}

/// A run that was interrupted while it added to an index.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct InterruptedRun {
    #[doc(hidden)]
    pub run: AddingRun,
    /// The digest of its report.
    #[doc(hidden)]
    pub report: String,
    /// Whether documents were added to the index since it began to add, by it or by others.
    #[doc(hidden)]
    pub has_added: bool,
    /// The file that says so.
    #[doc(hidden)]
    pub note: PathBuf,
}

/// An index, at one moment, and those of its documents that are similar to some that were looked up.
#[doc(hidden)]
pub trait KnownIndex: Send + Sync {
    /// The folder, as it was named.
    fn folder(&self) -> &Path;

    /// The number of its documents.
    fn documents(&self) -> u64;

    /// What tells it from what it was before, and from another one in the same folder.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if its header cannot be looked at.
    fn identity(&self) -> Result<String>;

    /// Refuses an engine or a search of other values than those of the index.
    fn check_fits(&self, engine: &Engine, search: &Search) -> Result<()>;

    /// Refuses an index that may only be read.
    fn check_writable(&self) -> Result<()>;

    /// Looks documents up, and notes those of the index that are similar to any.
    fn find(&self, documents: &dyn Documents) -> Result<()>;

    /// The numbers of the documents that were noted, ascending: in the order in which they were added to the index.
    fn found(&self) -> Vec<u32>;

    /// The id of a document that was noted, as JSON.
    fn id(&self, number: u32) -> Result<String>;

    /// What compares a document that was noted: the words of its signature if signatures verify, otherwise its set of shingles.
    fn compared(&self, number: u32) -> Result<Vec<u64>>;

    /// What the index knows of a document that was noted.
    fn document(&self, number: u32) -> Result<KnownDocument>;

    /// Whether the index has a document of this id, as JSON.
    fn has(&self, id: &str) -> Result<bool>;

    /// Adds documents with these ids, as JSON, to the index as it is by then: all of them or none. After
    /// [`KnownIndex::go_back`], those that it does not have.
    fn add(&self, documents: &dyn Documents, ids: &[String]) -> Result<()>;

    /// The run with this output that began to add documents and was interrupted; `None` if there is none.
    fn interrupted(&self, output: &str) -> Result<Option<InterruptedRun>>;

    /// Asks the index without what was added since the interrupted run with this output began to add to it.
    fn go_back(&mut self, output: &str) -> Result<()>;

    /// Notes that a run begins to add what it keeps, and is done when this is on disk. `report` is the digest of its report.
    fn begin_adding(&self, run: &AddingRun, report: String) -> Result<()>;

    /// Removes the note of the run with this output. If the run `is_cancelled`, the note of an earlier interruption stays.
    fn end_adding(&self, output: &str, is_cancelled: bool) -> Result<()>;

    /// Waits until everything that was added is on disk.
    fn sync(&self) -> Result<()>;
}
