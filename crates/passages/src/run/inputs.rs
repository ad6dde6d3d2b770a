//! What a run reads: the files of the reference and of the inputs.

use std::num::NonZeroU64;
use std::path::Path;

use super::options::PassagesRun;
use simgpu::error::Result;
use simgpu::machine::usable_memory_bytes;
use simgpu::store::spill::Spill;
use simgpu_files::{UncheckedPlaces, ranks_of_files};
use simgpu_io::{Columns, InputFile, Inputs, LongestRecord, Places, Reading, Repeated, Wanted};

/// The files that a run reads, once and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputFiles<'a> {
    /// Those of the reference, then those of the inputs.
    pub(crate) files: &'a [InputFile],
    /// The folder for temporary files.
    pub(crate) temporary: &'a Path,
}

impl InputFiles<'_> {
    /// The bytes of all files, as they are stored.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.files.iter().map(InputFile::stored_bytes).sum()
    }
}

impl<'a> PassagesRun<'a> {
    /// The number of files of the reference.
    pub(crate) fn reference_files(&self) -> usize {
        self.against
            .as_ref()
            .map_or(0, |against| against.inputs.files.len())
    }

    /// All files: those of the reference, then the inputs, preferred ones first.
    pub(super) fn files(&self, temporary: &Path) -> Result<Vec<InputFile>> {
        let progress = self.options.progress;
        let mut files = Vec::new();
        if let Some(against) = &self.against {
            self.inputs.check_apart_from(against.inputs)?;
            files.clone_from(&against.inputs.files);
        }
        let inputs = self.inputs.with_copy_of_stream(temporary, progress)?;
        let names = inputs.iter().map(|file| Some(&*file.relative));
        let ranks = ranks_of_files(&self.prefer_source, names, &|warning| {
            progress.warn(warning)
        })?;
        let mut ranked: Vec<(u32, InputFile)> = ranks.into_iter().zip(inputs).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        files.extend(ranked.into_iter().map(|(_, file)| file));
        Ok(files)
    }

    /// The inputs, and the reference.
    pub(super) fn all_inputs(&self) -> impl Iterator<Item = &'a Inputs> {
        let against = self.against.as_ref().map(|against| against.inputs);
        std::iter::once(self.inputs).chain(against)
    }

    /// How records are read.
    pub(crate) fn reading<'r>(&'r self, columns: Columns, temporary: &'r Path) -> Reading<'r> {
        Reading {
            columns,
            batch_bytes: self.batch_bytes,
            temporary: Some(temporary),
            limit: self.limit.map(NonZeroU64::get),
            reference: self.against.as_ref().map(|against| {
                (
                    against.inputs.files.len(),
                    Wanted::Document(&against.fields),
                )
            }),
            // In memory twice, as a record and as a text, which may take three quarters.
            longest: LongestRecord::within(self.memory).with_share([3, 8]),
            ..Reading::new(Wanted::Document(&self.fields))
        }
    }

    /// Bytes of memory for texts and search; `None` if nothing tells how many there are.
    pub(crate) fn budget(&self) -> Option<u64> {
        self.memory.or_else(usable_memory_bytes)
    }

    /// Completes the places of so many documents, and warns of what is odd about them. Notes what it counts for the next
    /// checkpoint, or takes it from the last one.
    pub(crate) fn complete(
        &self,
        places: Places,
        documents: usize,
        spill: Option<&Spill>,
    ) -> Result<Places> {
        let unchecked = UncheckedPlaces {
            places,
            documents,
            id_field: &self.fields.id,
            unique_ids: self.unique_ids,
        };
        let repeated = |places: &mut Places| {
            let known = spill.and_then(|spill| spill.state::<Repeated>(IDS));
            let repeated = known.map_or_else(|| places.find_repeated_ids(), Ok)?;
            spill.map_or(Ok(()), |spill| spill.note(IDS, &repeated))?;
            Ok(repeated)
        };
        unchecked.complete(repeated, self.all_inputs(), self.options.progress)
    }
}

/// The name of the search for repeated ids, for checkpoints.
pub(crate) const IDS: &str = "ids";
