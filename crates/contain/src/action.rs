//! What is done with documents that hold items.

use std::ops::Range;

use crate::class::{Class, Hit, RuleOf};
use crate::overlap::gpt3_cuts;
use simgpu::error::{Error, Result};
use simgpu_passages::{PassageUnit, PassageUnits, Shrinking, Snap};

/// What to do with documents that hold items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContainAction {
    /// List them.
    #[default]
    Report,
    /// Write the records but for documents with a hit of one of these classes.
    Drop(Vec<Class>),
    /// Write the records without what hits of these classes found, from the first to the last word of each.
    Cut(Vec<Class>),
    /// Write all records, each with the places of hits of these classes in a field.
    Mark(Vec<Class>),
}

/// What becomes of a document.
pub(crate) enum Fate {
    /// It is left out, because of a hit of this class.
    Removed(Class),
    /// It stays but for these places, or with these marked; ascending.
    Kept(Vec<Range<usize>>),
}

impl ContainAction {
    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            ContainAction::Report => "report",
            ContainAction::Drop(_) => "drop",
            ContainAction::Cut(_) => "cut",
            ContainAction::Mark(_) => "mark",
        }
    }

    /// The classes of the hits.
    pub(super) fn classes(&self) -> &[Class] {
        match self {
            ContainAction::Report => &[],
            ContainAction::Drop(classes)
            | ContainAction::Cut(classes)
            | ContainAction::Mark(classes) => classes,
        }
    }

    /// Whether records are written.
    pub(super) fn writes_records(&self) -> bool {
        *self != ContainAction::Report
    }

    /// Refuses no class, and to remove what is too short to decide.
    pub(super) fn check(&self) -> Result<()> {
        let classes = self.classes();
        let is_empty = self.writes_records() && classes.is_empty();
        let removes = !matches!(self, ContainAction::Mark(_));
        if is_empty || removes && classes.contains(&Class::Short) {
            let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
            return Err(Error::Parameter {
                name: "`classes`",
                value: names.join(","),
                expected:
                    "some of contaminated, passage and template: what is too short to decide stays, and can be marked"
                        .to_owned(),
            });
        }
        Ok(())
    }

    /// The first class that the action is for, if a hit has one.
    pub(super) fn class_of(&self, hits: &[Hit]) -> Option<Class> {
        let classes = hits.iter().map(|hit| hit.class);
        classes.filter(|class| self.classes().contains(class)).min()
    }

    /// What becomes of a document.
    pub(super) fn fate(&self, text: &str, hits: &[Hit], of: RuleOf) -> Fate {
        match (self, self.class_of(hits)) {
            (ContainAction::Report, _) | (_, None) => Fate::Kept(Vec::new()),
            (ContainAction::Drop(_), Some(class)) => Fate::Removed(class),
            (ContainAction::Cut(_) | ContainAction::Mark(_), Some(class)) => {
                let places = self.places(text, hits, of);
                places.map_or(Fate::Removed(class), Fate::Kept)
            }
        }
    }

    /// The places in a text that are cut or marked; `None` if too little of it is left to cut them.
    fn places(&self, text: &str, hits: &[Hit], of: RuleOf) -> Option<Vec<Range<usize>>> {
        let chosen = hits
            .iter()
            .filter(|hit| self.classes().contains(&hit.class));
        let mut spans = merged(chosen.flat_map(Hit::places).cloned().collect());
        if !matches!(self, ContainAction::Cut(_)) {
            return Some(spans);
        }
        if of == RuleOf::Gpt3 {
            spans = gpt3_cuts(text, &spans)?;
        }
        let words = PassageUnits::of(PassageUnit::Words);
        Some(Shrinking::new(words, Snap::Words).cuts(text, &spans))
    }
}

/// Ranges that ascend and share nothing, instead of ranges in any order.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_are_one() {
        let ranges = [8..9, 0..3, 2..5, 5..6, 1..2].to_vec();
        assert_eq!(merged(ranges), [0..6, 8..9]);
    }
}
