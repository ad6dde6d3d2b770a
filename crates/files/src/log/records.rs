//! The records of a chunk, and how far a run has read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use simgpu::store::Texts;
use simgpu_io::{Chunk, FieldValues, Id, Position, Record, Unordered, WithoutId};

/// The records of a chunk.
#[doc(hidden)]
#[derive(Debug)]
pub struct ChunkRecords {
    #[doc(hidden)]
    pub file: usize,
    #[doc(hidden)]
    pub records: RecordIds,
    /// The values of the field of [`Run::keep_by`](crate::Run::keep_by), one per document.
    #[doc(hidden)]
    pub values: std::result::Result<FieldValues, Unordered>,
    /// The values of the field of [`Run::source_field`](crate::Run::source_field), one per document.
    #[doc(hidden)]
    pub sources: std::result::Result<FieldValues, Unordered>,
    /// Bytes of the chunk.
    #[doc(hidden)]
    pub bytes: usize,
    /// The chunk itself, if it may be held.
    #[doc(hidden)]
    pub chunk: Option<Arc<Chunk>>,
}

/// What the records of a chunk have as ids.
#[doc(hidden)]
#[derive(Debug)]
pub enum RecordIds {
    /// All are good, and have these. They are appended at once, since one thread notes the records of all.
    Ids(Texts),
    Records(Vec<Record>),
}

impl RecordIds {
    #[doc(hidden)]
    pub fn new(records: Vec<Record>) -> Self {
        let mut ids = Texts::default();
        for record in &records {
            match record {
                Record::Document(Id::Json(id)) => ids.push(id),
                _ => return RecordIds::Records(records),
            }
        }
        RecordIds::Ids(ids)
    }
}

impl ChunkRecords {
    /// Those of documents of an index, which stand for a file. They have no preference and no source.
    pub(crate) fn from_index(file: usize, ids: impl Iterator<Item = String>) -> Self {
        let mut all = Texts::default();
        ids.for_each(|id| all.push(&id));
        let none = || Ok(FieldValues::absent(all.len()));
        ChunkRecords {
            file,
            values: none(),
            sources: none(),
            records: RecordIds::Ids(all),
            bytes: 0,
            chunk: None,
        }
    }
}

/// What a checkpoint says of the records read so far, beside the log.
#[derive(Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct RecordsRead {
    #[doc(hidden)]
    pub position: Position,
    /// The first row and the number of records of the file that is being read.
    pub(super) current: (u32, u64),
    pub(super) without_id: Option<WithoutId>,
    /// Whether all ids are integers; `None` if a document has no id.
    pub(super) are_integers: Option<bool>,
}
