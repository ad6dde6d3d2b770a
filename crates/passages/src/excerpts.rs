//! Parts of texts that a page shows: passages, and what stands around them.

use std::ops::Range;

use super::cuts::Cuts;
use super::gather::ShownPart;
use super::units::UnitTexts;

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

/// A part of which an excerpt is wanted.
#[derive(Debug)]
pub(super) struct WantedPart {
    /// The number of its document among all.
    pub(super) row: u32,
    /// Bytes of the text.
    pub(super) bytes: Range<usize>,
    /// The number in the list of parts.
    pub(super) number: usize,
}

/// The excerpts of a list of parts.
#[derive(Debug, Default)]
pub(super) struct Excerpts {
    /// The parts by ascending row.
    pub(super) wanted: Vec<WantedPart>,
    /// By number in the list.
    pub(super) taken: Vec<Option<Excerpt>>,
}

impl Excerpts {
    /// None yet of these parts.
    pub(super) fn new(parts: Vec<ShownPart>) -> Self {
        let taken = vec![None; parts.len()];
        let parts = parts.into_iter().zip(0..);
        let mut wanted: Vec<WantedPart> = parts
            .map(|(ShownPart { row, bytes }, number)| WantedPart { row, bytes, number })
            .collect();
        wanted.sort_by_key(|part| (part.row, part.number));
        Excerpts { wanted, taken }
    }

    /// The excerpt of a part, by its number in the list.
    pub(super) fn get(&self, number: usize) -> Option<&Excerpt> {
        self.taken.get(number)?.as_ref()
    }

    /// The parts that are wanted of these rows.
    pub(super) fn wanted_of(&self, rows: Range<u32>) -> &[WantedPart] {
        let before = |end: u32| self.wanted.partition_point(|part| part.row < end);
        &self.wanted[before(rows.start)..before(rows.end)]
    }

    /// Takes what is wanted of all texts, whose cuts are these.
    pub(super) fn take_all(&mut self, texts: &UnitTexts, cuts: &Cuts) {
        for part in &self.wanted {
            let document = part.row as usize;
            let excerpt = Excerpt::new(texts.text(document), &part.bytes, cuts, document);
            self.taken[part.number] = Some(excerpt);
        }
    }
}

impl Excerpt {
    /// The excerpt of a part of a text, whose document has this number among those of the cuts.
    pub(super) fn new(text: &str, part: &Range<usize>, cuts: &Cuts, document: usize) -> Self {
        let shown =
            [part.start.saturating_sub(AROUND), part.end + AROUND].map(|at| at.min(text.len()));
        let [from, to] = [floor(text, shown[0]), floor(text, shown[1])];
        let ranges = if part.len() <= WHOLE {
            [Some(from..to), None]
        } else {
            [
                Some(from..floor(text, part.start + BEGINNING)),
                Some(floor(text, part.end - END)..to),
            ]
        };
        // Without an action that cuts, there may be no cuts at all.
        let cut_out = match cuts.len() {
            0 => &[],
            _ => cuts.cut_out(document),
        };
        Excerpt {
            part: part.clone(),
            parts: ranges
                .into_iter()
                .flatten()
                .map(|range| (range.start, text[range].to_owned()))
                .collect(),
            cuts: cut_out
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
