//! Parts of texts that a page shows: passages, and what stands around them.

use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use super::overview::Part;
use super::run::PassagesRun;
use super::units::UnitTexts;
use super::write::CutsOfRows;
use crate::error::Result;
use crate::files::{FileEvent, Placed, Rereading};
use crate::io::{Columns, InputFile, OutputFolder, Places, Position};

/// Bytes that are shown around a passage, on each side.
const AROUND: usize = 300;

/// Bytes of a passage that is shown whole. Of a longer one, the beginning and the end are shown.
const WHOLE: usize = 1_200;

/// Bytes of the beginning and of the end of a long passage.
const BEGINNING: usize = 800;
const END: usize = 200;

/// A passage in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The passage, in bytes of the text.
    pub(super) part: Range<usize>,
    /// Where the shown parts begin in the text, and the parts.
    pub(super) parts: Vec<(usize, String)>,
    /// What is cut out of the text.
    pub(super) cuts: Vec<Range<usize>>,
    /// Whether the document is removed.
    pub(super) is_removed: bool,
    /// Bytes of the whole text.
    pub(super) bytes: usize,
}

/// The excerpts of a list of parts.
#[derive(Debug, Default)]
pub(super) struct Excerpts {
    /// The parts by ascending row, each with its number in the list.
    wanted: Vec<(Part, usize)>,
    /// By number in the list.
    taken: Vec<Option<Excerpt>>,
}

impl Excerpts {
    /// None yet of these parts.
    pub(super) fn new(parts: Vec<Part>) -> Self {
        let taken = vec![None; parts.len()];
        let mut wanted: Vec<(Part, usize)> = parts.into_iter().zip(0..).collect();
        wanted.sort_by_key(|((row, _), number)| (*row, *number));
        Excerpts { wanted, taken }
    }

    /// The excerpt of a part, by its number in the list.
    pub(super) fn get(&self, number: usize) -> Option<&Excerpt> {
        self.taken.get(number)?.as_ref()
    }

    /// The parts that are wanted of these rows.
    fn wanted_of(&self, rows: Range<u32>) -> &[(Part, usize)] {
        let before = |end: u32| self.wanted.partition_point(|((row, _), _)| *row < end);
        &self.wanted[before(rows.start)..before(rows.end)]
    }

    /// Takes what is wanted of all texts, whose cuts are these.
    pub(super) fn take_all(&mut self, texts: &UnitTexts, cuts: &Cuts) {
        for ((row, part), number) in &self.wanted {
            let document = *row as usize;
            let excerpt = Excerpt::of(texts.text(document), part, (cuts, document));
            self.taken[*number] = Some(excerpt);
        }
    }
}

impl Excerpt {
    fn of(text: &str, part: &Range<usize>, (cuts, document): (&Cuts, usize)) -> Self {
        let shown =
            [part.start.saturating_sub(AROUND), part.end + AROUND].map(|at| at.min(text.len()));
        let [from, to] = [floor(text, shown[0]), floor(text, shown[1])];
        let ranges = match part.len() <= WHOLE {
            true => [Some(from..to), None],
            false => [
                Some(from..floor(text, part.start + BEGINNING)),
                Some(floor(text, part.end - END)..to),
            ],
        };
        let cuts_of = match cuts.len() {
            0 => &[],
            _ => cuts.of(document),
        };
        Excerpt {
            part: part.clone(),
            parts: ranges
                .into_iter()
                .flatten()
                .map(|range| (range.start, text[range].to_owned()))
                .collect(),
            cuts: cuts_of
                .iter()
                .map(|[start, end]| *start as usize..*end as usize)
                .filter(|cut| cut.start < to && cut.end > from)
                .collect(),
            is_removed: cuts.len() > 0 && cuts.is_removed(document),
            bytes: text.len(),
        }
    }
}

/// The nearest beginning of a character at or before a place.
fn floor(text: &str, at: usize) -> usize {
    let mut places = (0..=at.min(text.len())).rev();
    places.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl PassagesRun<'_> {
    /// The excerpts that a page shows: none without one, or if texts are not shown.
    pub(super) fn excerpts(&self, output: Option<&OutputFolder>, parts: Vec<Part>) -> Excerpts {
        match output.is_some() && self.samples {
            true => Excerpts::new(parts),
            false => Excerpts::default(),
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
        let map = |placed: Placed| self.excerpts_of_chunk(wanted, &placed, cuts);
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
        Placed { chunk, rows }: &Placed,
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
        let (_, texts) = self.parse(chunk, |record| {
            let record = usize::try_from(record).ok();
            let row = record.and_then(|record| rows.get(record).copied().flatten());
            row.is_some_and(is_wanted)
        });
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
