//! Shrinks the passages of a text to what is cut out of it.

use std::ops::Range;

use super::borders::{
    outside_tags, unglued, whole_characters, whole_lines, whole_runs, with_blank_lines, with_blanks,
};
use crate::units::{PassageUnit, PassageUnits};
use simgpu::pipeline::UnitPlaces;
use simgpu::simd::Isa;

/// To what a cut is shrunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snap {
    /// Whole words, and white space at one of its sides.
    #[default]
    Words,
    /// Whole lines, with their ends.
    Lines,
    /// The exact passage, without partial characters.
    None,
}

impl Snap {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Snap::Words => "words",
            Snap::Lines => "lines",
            Snap::None => "none",
        }
    }
}

/// The most bytes of a character: a cut begins and ends nearer than this to its span before it is shrunk to words.
const CHARACTER: usize = 4;

/// Shrinks passages to cuts.
#[derive(Debug)]
#[doc(hidden)]
pub struct Shrinking {
    units: PassageUnits,
    snap: Snap,
    pub(super) finder: UnitPlaces,
    /// The words at the borders of the spans: all words of a long text would take several times its memory.
    pub(super) words: Vec<Range<usize>>,
}

impl Shrinking {
    #[doc(hidden)]
    pub fn new(units: PassageUnits, snap: Snap) -> Self {
        Shrinking {
            units,
            snap,
            finder: UnitPlaces::default(),
            words: Vec::new(),
        }
    }

    /// The cuts of a text, from spans that ascend and share nothing.
    #[doc(hidden)]
    pub fn cuts(&mut self, text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
        self.words.clear();
        let finds_words = matches!(self.units.unit, PassageUnit::Chars | PassageUnit::Bytes);
        if finds_words && self.snap == Snap::Words {
            self.find_words(text, spans);
        }
        let mut cuts: Vec<Range<usize>> = Vec::with_capacity(spans.len());
        for span in spans {
            let from = cuts.last().map_or(0, |last| last.end);
            let cut = self.cut(text, from, span);
            if cut.start < cut.end {
                cuts.push(cut);
            }
        }
        cuts
    }

    /// Finds the words at the borders of spans. Looks through the lines there alone: no word goes over the end of a line, or
    /// depends on what is behind it.
    fn find_words(&mut self, text: &str, spans: &[Range<usize>]) {
        let borders = spans.iter().flat_map(|span| [span.start, span.end]);
        let mut borders = borders.peekable();
        let mut end = 0;
        while let Some(border) = borders.peek() {
            let lines = lines_around(
                text,
                end,
                border.saturating_sub(CHARACTER)..border + CHARACTER,
            );
            end = lines.end;
            let words = &mut self.words;
            self.finder
                .for_each_word(Isa::best(), &text[lines.clone()], |word| {
                    let word = lines.start + word.start..lines.start + word.end;
                    let is_behind = |border: &usize| border + CHARACTER <= word.start;
                    while borders.next_if(is_behind).is_some() {}
                    if borders
                        .peek()
                        .is_some_and(|border| *border < word.end + CHARACTER)
                    {
                        words.push(word);
                    }
                });
            let is_done = |border: &usize| border + CHARACTER <= end || end == text.len();
            while borders.next_if(is_done).is_some() {}
        }
    }

    /// The cut of a span, behind the last cut, which ends at `from`.
    pub(super) fn cut(&self, text: &str, from: usize, span: &Range<usize>) -> Range<usize> {
        let whole = whole_characters(text, span.start.max(from)..span.end);
        match (self.units.unit, self.snap) {
            (PassageUnit::Lines | PassageUnit::Paragraphs, _) | (_, Snap::Lines) => {
                let lines = whole_lines(text, from, whole);
                match self.units.unit {
                    PassageUnit::Paragraphs => with_blank_lines(text, lines),
                    _ => lines,
                }
            }
            (_, Snap::None) => whole,
            (_, Snap::Words) => {
                let cut = whole_runs(text, outside_tags(text, self.whole_words(whole)));
                // A run, or the last word of a cut, may lie within a tag with attributes.
                with_blanks(text, from, outside_tags(text, unglued(text, cut)))
            }
        }
    }

    /// Whole words, where they are found.
    fn whole_words(&self, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
        let around = |at: usize| {
            let next = self.words.partition_point(|word| word.end <= at);
            self.words.get(next).filter(|word| word.start < at)
        };
        if let Some(word) = around(start) {
            start = word.end;
        }
        if let Some(word) = around(end) {
            end = word.start;
        }
        start..end.max(start)
    }
}

/// The lines with a part of a text, from a place on where a line begins.
fn lines_around(text: &str, from: usize, part: Range<usize>) -> Range<usize> {
    // The next beginning of a character: no line ends within one.
    let next = |at: usize| {
        let mut places = at.clamp(from, text.len())..text.len();
        places.find(|at| text.is_char_boundary(*at))
    };
    let [before, behind] = [part.start, part.end].map(|at| next(at).unwrap_or(text.len()));
    let start = text[from..before].rfind('\n');
    let end = text[behind..].find('\n');
    start.map_or(from, |at| from + at + 1)..end.map_or(text.len(), |at| behind + at + 1)
}
