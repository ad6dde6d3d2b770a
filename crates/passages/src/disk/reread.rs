//! The texts of the inputs, read again.

use super::super::run::{InputFiles, PassagesRun};
use super::super::units::UnitTexts;
use super::text_reader::TextReader;
use simgpu::error::Result;
use simgpu_files::{FileEvent, Placed, Rereading};
use simgpu_io::{Columns, Places, Position, changed};

/// The inputs of a run, which were read before.
pub(super) struct RereadInputs<'a> {
    pub(super) run: &'a PassagesRun<'a>,
    pub(super) inputs: InputFiles<'a>,
    pub(super) places: &'a Places,
}

impl RereadInputs<'_> {
    /// The texts of a chunk.
    fn texts(&self, placed: Placed) -> Result<UnitTexts> {
        let Placed { chunk, rows } = placed;
        let is_good = |record: u64| {
            let record = usize::try_from(record).ok();
            record.is_some_and(|record| rows.get(record).is_some_and(Option::is_some))
        };
        let file = chunk.file;
        let (_, mut texts) = self.run.parse(chunk, self.inputs.files, is_good)?;
        let rows = rows.iter().flatten();
        if texts.len() != rows.clone().count() {
            // A record that was good is bad now.
            return Err(changed(&self.inputs.files[file]));
        }
        let first_input = self.places.first_input();
        texts.reference = rows.filter(|row| **row < first_input).count();
        Ok(texts)
    }
}

impl TextReader for RereadInputs<'_> {
    fn read<T: Send>(
        &self,
        stage: &'static str,
        map: &(impl Fn(&UnitTexts) -> T + Sync),
        each: &mut dyn FnMut(&UnitTexts, T) -> Result<()>,
    ) -> Result<()> {
        let rereading = Rereading {
            files: self.inputs.files,
            places: self.places,
            reading: self.run.reading(Columns::Needed, self.inputs.temporary),
            bytes: self.inputs.stored_bytes(),
            progress: self.run.options.progress,
        };
        let map = |placed: Placed| {
            let texts = self.texts(placed)?;
            let mapped = map(&texts);
            Ok((texts, mapped))
        };
        rereading.read(stage, &Position::default(), map, |part| match part {
            FileEvent::Chunk((texts, mapped)) => each(&texts, mapped),
            FileEvent::Table(_) | FileEvent::End => Ok(()),
        })
    }
}
