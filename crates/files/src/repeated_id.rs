//! Finds the two records whose one id an index refuses.

use std::path::{Path, PathBuf};

use super::run::Run;
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::progress::{Timings, advance};
use simgpu_index::DocumentId;
use simgpu_io::{Chunk, Columns, Event, FilesReading, Id, Record};

impl Run<'_> {
    /// [`Run::with_places`], if the inputs can be read again.
    pub(super) fn with_places_in_files(&self, error: Error, temporary: &Path) -> Error {
        if self.inputs.names_stream() || !matches!(error, Error::RepeatedInIndex { .. }) {
            return error;
        }
        match FileSource::open(self, 0, temporary.to_owned(), &mut Timings::default()) {
            Ok(source) => self.with_places(error, &source),
            Err(_) => error,
        }
    }

    /// The error of an id that two records have, with their places: the inputs are read again up to the second one. Another error
    /// as it is.
    pub(super) fn with_places(&self, error: Error, source: &FileSource<'_>) -> Error {
        let Error::RepeatedInIndex { id, .. } = error else {
            return error;
        };
        let mut places = Vec::new();
        // Whatever goes wrong here, the id is the error.
        let _ = self.find_id(&id, source, &mut places);
        Error::RepeatedInIndex { id, places }
    }

    /// The first two records with an id.
    fn find_id(
        &self,
        id: &str,
        source: &FileSource<'_>,
        places: &mut Vec<(PathBuf, u64)>,
    ) -> Result<()> {
        let progress = self.options.progress;
        progress.begin("read again", source.stored_bytes());
        let files = FilesReading::new(&source.files, source.reading(Columns::Needed))?;
        let mut rows = vec![0; source.files.len()];
        let ids = |chunk: Chunk| Ok((chunk.file, self.parse(&chunk).0));
        files.map(ids, |event| {
            advance(progress, files.consumed(), 0, 0)?;
            let Some(Event::Chunk((file, records))) = event else {
                return Ok(());
            };
            for record in records {
                let own = match &record {
                    Record::Document(Id::Json(own)) => DocumentId::from_json(own),
                    Record::Document(_) | Record::Bad { .. } => None,
                };
                if own.is_some_and(|own| own.as_json() == id) {
                    places.push((PathBuf::clone(&source.files[file].named), rows[file]));
                }
                rows[file] += 1;
            }
            if places.len() > 1 {
                places.truncate(2);
                return Err(Error::Stopped);
            }
            Ok(())
        })
    }
}
