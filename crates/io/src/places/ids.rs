//! The ids of documents.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::value::RawValue;

use super::Places;
use super::reports::rows_between;
use crate::fields::FieldPath;
use crate::ids::{DocumentIds, Repeated};
use crate::json::json_string;
use crate::report::MissingIds;
use crate::table::IdColumn;
use simgpu::error::{Error, Result};
use simgpu::store::Texts;

impl Places {
    /// Notes the next records of a file, which are all good and have these ids.
    #[doc(hidden)]
    pub fn note_ids(&mut self, file: usize, next: &Texts) -> Result<()> {
        self.files[file].records += next.len() as u64;
        self.ids.as_mut().map_or(Ok(()), |ids| ids.append(next))
    }

    /// The id of a document as JSON; `file:row` if any document has no id. Ids on disk are read from their beginning: if
    /// many are needed, take them [by row](Places::ids_by_row).
    #[doc(hidden)]
    pub fn id(&self, row: u32) -> Result<Cow<'_, str>> {
        match &self.ids {
            Some(ids) => ids.get(row),
            None => Ok(self.made_id(row).into()),
        }
    }

    /// An id that says where a document is. Those of an index have their own.
    fn made_id(&self, row: u32) -> String {
        if let Some((id, _)) = self.in_index(row) {
            return id.to_owned();
        }
        let (file, record) = self.place(row);
        json_string(&format!("{file}:{record}"))
    }

    /// The ids of documents as JSON, by row. Ids on disk are read once, from their beginning.
    #[doc(hidden)]
    pub fn ids_of(&self, rows: &BTreeSet<u32>) -> Result<BTreeMap<u32, Box<RawValue>>> {
        if !self.has_ids_on_disk() {
            let with_id = |row: &u32| Ok((*row, self.raw_id(*row)?));
            return rows.iter().map(with_id).collect();
        }
        let mut id_of = self.ids_by_row()?;
        let with_id = |row: &u32| Ok((*row, raw_json(id_of(*row)?)));
        rows.iter().map(with_id).collect()
    }

    /// The ids of documents whose rows ascend, each asked for once. Ids on disk are read once, from their beginning.
    #[doc(hidden)]
    pub fn ids_by_row<'a>(&'a self) -> Result<impl FnMut(u32) -> Result<Cow<'a, str>>> {
        let mut ids = self.ids.as_ref().map(DocumentIds::in_order).transpose()?;
        let mut next_row = 0;
        Ok(move |row| {
            let Some(ids) = &mut ids else {
                return Ok(self.made_id(row).into());
            };
            ids.skip(rows_between(next_row, row)?)?;
            next_row = row + 1;
            ids.next()
        })
    }

    /// The ids of ranges of documents that ascend, a line each; `None` if documents have none of their own.
    #[doc(hidden)]
    pub fn id_lines<'a>(
        &'a self,
    ) -> Result<Option<impl FnMut(Range<u32>) -> Result<String> + use<'a>>> {
        let Some(ids) = &self.ids else {
            return Ok(None);
        };
        let mut ids = ids.in_order()?;
        let mut next_row = 0;
        Ok(Some(move |rows: Range<u32>| {
            let mut lines = String::new();
            ids.skip(rows_between(next_row, rows.start)?)?;
            ids.append_lines(rows.len(), &mut lines)?;
            next_row = rows.end;
            Ok(lines)
        }))
    }

    /// Whether ids are on disk, where [`Places::id`] reads them from their beginning.
    pub(crate) fn has_ids_on_disk(&self) -> bool {
        matches!(self.ids, Some(DocumentIds::Spilled(_)))
    }

    /// The type of a column of the ids of all documents.
    #[doc(hidden)]
    pub fn id_column(&self) -> IdColumn {
        match &self.ids {
            Some(ids) if ids.all_integers() => IdColumn::Integers,
            // An id that says where a document is has a colon.
            _ => IdColumn::Strings,
        }
    }

    /// The id of a document as a JSON value.
    #[doc(hidden)]
    pub fn raw_id(&self, row: u32) -> Result<Box<RawValue>> {
        Ok(raw_json(self.id(row)?))
    }

    /// The documents without an id, if some among `documents` have one.
    #[doc(hidden)]
    pub fn missing_ids(&self, documents: u64) -> Option<MissingIds> {
        let without_id = self.without_id.as_ref()?;
        (without_id.documents < documents).then(|| {
            let (file, row) = self.place(without_id.row);
            MissingIds {
                documents: without_id.documents,
                file: file.to_owned(),
                row,
            }
        })
    }

    /// Says that ids are made up, and why, if a document has a value for its id that identifies nothing.
    pub(super) fn warning_of_ids(&self, field: &FieldPath) -> Option<String> {
        let (row, what) = self.without_id.as_ref()?.unusable.as_ref()?;
        let (file, row) = self.place(*row);
        Some(format!(
            "ids are FILE:ROW, because \"{field}\" is {what} in {file}, row {row}; choose another field with `id_field`, or write strings or numbers"
        ))
    }

    /// Finds the documents that repeat an earlier id, without those of a reference. Asked once.
    #[doc(hidden)]
    pub fn find_repeated_ids(&mut self) -> Result<Repeated> {
        let first = self.first_input();
        let ids = self.ids.as_mut();
        ids.map_or(Ok(Repeated::default()), |ids| ids.repeated(first))
    }

    /// Counts the documents that repeat an earlier id, or refuses them if ids must be unique.
    #[doc(hidden)]
    pub fn count_repeated_ids(&mut self, repeated: Repeated, unique_ids: bool) -> Result<()> {
        match repeated.first {
            Some((first, second)) if unique_ids => {
                let place = |row| {
                    let (file, record) = self.place(row);
                    format!("{file}, row {record}")
                };
                Err(Error::RepeatedId {
                    id: self.id(first)?.into_owned(),
                    first: place(first),
                    second: place(second),
                })
            }
            _ => {
                self.repeated_ids = repeated.documents;
                Ok(())
            }
        }
    }
}

/// An id as a JSON value.
#[doc(hidden)]
pub fn raw_json(id: Cow<'_, str>) -> Box<RawValue> {
    // Ids come from a JSON parser or serializer, so they are valid.
    RawValue::from_string(id.into_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
