//! Takes the parts of texts that a page shows.

use super::excerpts::{Excerpt, Excerpts};
use super::gather::ShownPart;
use super::rewrite::CutsOfRows;
use super::run::{InputFiles, PassagesRun};
use simgpu::error::Result;
use simgpu_files::{FileEvent, Placed, Rereading};
use simgpu_io::{Columns, OutputFolder, Places, Position};

impl PassagesRun<'_> {
    /// The excerpts that a page shows: none without one, or if texts are not shown.
    pub(super) fn excerpts(
        &self,
        output: Option<&OutputFolder>,
        parts: Vec<ShownPart>,
    ) -> Excerpts {
        if output.is_some() && self.samples {
            Excerpts::new(parts)
        } else {
            Excerpts::default()
        }
    }

    /// Takes excerpts by a reading of their own, of documents whose cuts are these.
    pub(super) fn read_excerpts(
        &self,
        excerpts: &mut Excerpts,
        inputs: InputFiles<'_>,
        places: &Places,
        cuts: &impl CutsOfRows,
    ) -> Result<()> {
        if excerpts.wanted.is_empty() {
            return Ok(());
        }
        let rereading = Rereading {
            files: inputs.files,
            places,
            reading: self.reading(Columns::Needed, inputs.temporary),
            bytes: inputs.stored_bytes(),
            progress: self.options.progress,
        };
        let wanted = &*excerpts;
        let map = |placed: Placed| self.excerpts_of_chunk(wanted, placed, inputs, cuts);
        let mut taken = Vec::new();
        rereading.read("write", &Position::default(), map, |part| {
            if let FileEvent::Chunk(excerpts) = part {
                taken.extend(excerpts);
            }
            Ok(())
        })?;
        for (number, excerpt) in taken {
            excerpts.taken[number] = Some(excerpt);
        }
        Ok(())
    }

    /// The excerpts of the documents of a chunk, by their numbers in the list.
    fn excerpts_of_chunk(
        &self,
        excerpts: &Excerpts,
        placed: Placed,
        inputs: InputFiles<'_>,
        cuts: &impl CutsOfRows,
    ) -> Result<Vec<(usize, Excerpt)>> {
        let Placed { chunk, rows } = placed;
        let mut good = rows.iter().flatten();
        let Some(first) = good.next() else {
            return Ok(Vec::new());
        };
        let last = good.next_back().unwrap_or(first);
        let wanted = excerpts.wanted_of(*first..last + 1);
        let is_wanted = |row: u32| wanted.iter().any(|part| part.row == row);
        let shown: Vec<u32> = rows
            .iter()
            .flatten()
            .copied()
            .filter(|row| is_wanted(*row))
            .collect();
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let (_, texts) = self.parse(chunk, inputs.files, |record| {
            let record = usize::try_from(record).ok();
            let row = record.and_then(|record| rows.get(record).copied().flatten());
            row.is_some_and(is_wanted)
        })?;
        let mut taken = Vec::new();
        for (document, row) in shown.iter().enumerate().take(texts.len()) {
            let (cuts, first) = cuts.rows(*row as usize..*row as usize + 1)?;
            let (text, cut_document) = (texts.text(document), *row as usize - first);
            for part in wanted.iter().filter(|part| part.row == *row) {
                let excerpt = Excerpt::new(text, &part.bytes, &cuts, cut_document);
                taken.push((part.number, excerpt));
            }
        }
        Ok(taken)
    }
}
