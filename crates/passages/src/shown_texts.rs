//! Takes the parts of texts that a page shows.

use std::path::Path;

use super::excerpts::{Excerpt, Excerpts};
use super::gather::Part;
use super::rewrite::CutsOfRows;
use super::run::PassagesRun;

use simgpu::error::Result;
use simgpu_files::{FileEvent, Placed, Rereading};
use simgpu_io::{Columns, InputFile, OutputFolder, Places, Position};

impl PassagesRun<'_> {
    /// The excerpts that a page shows: none without one, or if texts are not shown.
    pub(super) fn excerpts(&self, output: Option<&OutputFolder>, parts: Vec<Part>) -> Excerpts {
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
        (files, temporary): (&[InputFile], &Path),
        places: &Places,
        cuts: &impl CutsOfRows,
    ) -> Result<()> {
        if excerpts.wanted.is_empty() {
            return Ok(());
        }
        let again = Rereading {
            files,
            places,
            reading: self.reading(Columns::Needed, temporary),
            bytes: files.iter().map(InputFile::stored_bytes).sum(),
            progress: self.options.progress,
        };
        let wanted = &*excerpts;
        let map = |placed: Placed| self.excerpts_of_chunk(wanted, (placed, files), cuts);
        let mut taken = Vec::new();
        again.read("write", &Position::default(), map, |part| {
            if let FileEvent::Chunk(of_chunk) = part {
                taken.extend(of_chunk);
            }
            Ok(())
        })?;
        for (number, excerpt) in taken {
            excerpts.taken[number] = Some(excerpt);
        }
        Ok(())
    }

    fn excerpts_of_chunk(
        &self,
        excerpts: &Excerpts,
        (Placed { chunk, rows }, files): (Placed, &[InputFile]),
        cuts: &impl CutsOfRows,
    ) -> Result<Vec<(usize, Excerpt)>> {
        let mut good = rows.iter().flatten();
        let Some(first) = good.next() else {
            return Ok(Vec::new());
        };
        let last = good.next_back().unwrap_or(first);
        let wanted = excerpts.wanted_of(*first..last + 1);
        let is_wanted = |row: u32| wanted.iter().any(|((of, _), _)| *of == row);
        let shown: Vec<u32> = rows
            .iter()
            .flatten()
            .copied()
            .filter(|row| is_wanted(*row))
            .collect();
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let (_, texts) = self.parse(chunk, files, |record| {
            let record = usize::try_from(record).ok();
            let row = record.and_then(|record| rows.get(record).copied().flatten());
            row.is_some_and(is_wanted)
        })?;
        let mut taken = Vec::new();
        for (document, row) in shown.iter().enumerate().take(texts.len()) {
            let (of_rows, first) = cuts.rows(*row as usize..*row as usize + 1)?;
            let of = (&*of_rows, *row as usize - first);
            for ((_, part), number) in wanted.iter().filter(|((of, _), _)| of == row) {
                taken.push((*number, Excerpt::of(texts.text(document), part, of)));
            }
        }
        Ok(taken)
    }
}
