//! Records with the names of their files.

use std::path::PathBuf;

use crate::run::Run;
use simgpu::documents::DocumentBatch;
use simgpu::error::{BadRecord, Error, Result};
use simgpu::progress::Progress;
use simgpu_index::DocumentId;
use simgpu_io::{Id, Misencoded, OnBadRecord, Record};

/// The records of a chunk, and the documents of the good ones.
pub(crate) type Parsed = (Vec<Record>, DocumentBatch);

/// Records with ids.
pub(crate) struct NamedRecords {
    /// What each record is, in order: a document, which has this id, or a bad record.
    pub(crate) records: Vec<std::result::Result<DocumentId, BadRecord>>,
    /// The places of the documents with an id among those that were parsed: one without an id was parsed, too.
    pub(crate) rows: Vec<usize>,
}

impl NamedRecords {
    pub(crate) fn ids(&self) -> impl Iterator<Item = &DocumentId> {
        self.records.iter().flatten()
    }
}

/// Names the records of files, in order.
pub(crate) struct Named {
    on_bad_record: OnBadRecord,
    /// What is wrong with a record without an id, if others have one.
    without_id: &'static str,
    /// The files: their names in errors and in ids.
    pub(super) files: Vec<(PathBuf, String)>,
    /// Whether records have ids of their own, as the first one does; `None` before it.
    pub(crate) have_ids: Option<bool>,
    /// The number of records of each file so far.
    pub(crate) rows: Vec<u64>,
    /// The records that were left out for their encoding.
    misencoded: Misencoded,
}

impl Named {
    pub(crate) fn new(run: &Run<'_>, files: Vec<(PathBuf, String)>) -> Self {
        Named {
            on_bad_record: run.on_bad_record,
            without_id: if run.fields.id_required {
                "it has no id, so that later runs cannot recognise it; give records with an `id_field`"
            } else {
                "it has no id, and the first record has one"
            },
            have_ids: run.fields.id_required.then_some(true),
            rows: vec![0; files.len()],
            files,
            misencoded: Misencoded::default(),
        }
    }

    /// Warns of the records that were left out for their encoding.
    pub(crate) fn warn(&self, progress: &dyn Progress) {
        if let Some(warning) = self.misencoded.warning() {
            progress.warn(&warning);
        }
    }

    /// The ids of the next records of a file; bad ones have none.
    pub(crate) fn name(&mut self, file: usize, records: Vec<Record>) -> Result<NamedRecords> {
        let (path, relative) = &self.files[file];
        let mut named = Vec::with_capacity(records.len());
        let (mut rows, mut parsed) = (Vec::new(), 0);
        for record in records {
            let row = self.rows[file];
            self.rows[file] += 1;
            let (line, problem) = match record {
                Record::Document(id) => {
                    parsed += 1;
                    let has_id = matches!(id, Id::Json(_));
                    let id = match (*self.have_ids.get_or_insert(has_id), id) {
                        (true, Id::Json(id)) => DocumentId::from_json(&id),
                        (true, Id::None | Id::Unusable(_)) => None,
                        (false, _) => Some(DocumentId::from(&*format!("{relative}:{row}"))),
                    };
                    if let Some(id) = id {
                        named.push(Ok(id));
                        rows.push(parsed - 1);
                        continue;
                    }
                    (None, self.without_id.to_owned())
                }
                Record::Bad { line, problem } => (line, problem),
            };
            let bad = BadRecord {
                file: path.clone(),
                row,
                line,
                problem,
            };
            if self.on_bad_record == OnBadRecord::Fail {
                return Err(Error::BadRecord(bad));
            }
            self.misencoded.note(&bad);
            named.push(Err(bad));
        }
        Ok(NamedRecords {
            records: named,
            rows,
        })
    }
}
