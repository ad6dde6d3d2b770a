//! The class of a question at a place, and what is missing for a contaminated document.

use crate::asked::Place;
use crate::class::Class;
use crate::items::Variant;
use crate::lack::Lack;
use crate::options::FoundOptions;
use crate::scan::Contain;

/// What is known of an item at a place.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) variant: &'a Variant,
    /// Distinct n-grams that at most two parts have, of the question and of the passage that is here.
    pub(super) own: usize,
    pub(super) options: Option<FoundOptions>,
    /// Whether the document has the item's passage; `None` for an item without one.
    pub(super) has_passage: Option<bool>,
    /// Whether signs alone tell the item from many others.
    pub(super) is_shared: bool,
}

impl Contain {
    /// The first class that holds, and what is missing for a contaminated document.
    pub(super) fn class(&self, place: Place<'_>, around: Around<'_>) -> (Class, Vec<Lack>) {
        if around.is_shared {
            return (Class::Short, vec![Lack::Undecidable]);
        }
        if let Some(has_passage) = around.has_passage {
            return self.class_beside_passage(place, around, has_passage);
        }
        if place.part.needs_more() {
            return class_of_short(place, around);
        }
        let Around { variant, own, .. } = around;
        let mut lacks = place.lacks(self.rule.threshold);
        if own < self.rule.min_ngrams {
            lacks.push(Lack::Own);
        }
        let is_asked = lacks.is_empty();
        // The options are evidence of their own, and a docstring is no statement.
        let asks = place.detail.question.docstring.is_none();
        if around.options.is_none() && asks && place.is_statement(variant) {
            lacks.push(Lack::Statement);
        }
        if around.options.is_none() && !place.has_rest() {
            lacks.push(Lack::Phrase);
        }
        let class = match &lacks[..] {
            [] => Class::Contaminated,
            [Lack::Statement, ..] if is_asked => Class::Short,
            _ if place.content_share() >= 0.5 && own >= 4 => Class::Passage,
            _ => Class::Template,
        };
        (class, lacks)
    }

    /// The same of a question about a passage: such questions are short and alike, so that the passage or the options tell them.
    fn class_beside_passage(
        &self,
        place: Place<'_>,
        around: Around<'_>,
        has_passage: bool,
    ) -> (Class, Vec<Lack>) {
        let is_template = place.part.needs_more();
        let mut lacks = if is_template {
            place.lacks_of_template()
        } else {
            place.lacks_of_strict(self.rule.threshold)
        };
        let is_asked = lacks.is_empty();
        let has_options = around
            .options
            .is_some_and(|options| options.is_exhaustive || !is_template);
        if !has_options && !has_passage {
            lacks.push(Lack::Passage);
        } else if !has_options && around.own < self.rule.min_ngrams {
            lacks.push(Lack::Own);
        }
        let class = if lacks.is_empty() {
            Class::Contaminated
        } else if has_passage {
            Class::Passage
        } else if is_asked {
            Class::Short
        } else {
            Class::Template
        };
        (class, lacks)
    }
}

/// The class of a short question, or of one whose words stand in many items: its options tell it, or all its words in a row.
fn class_of_short(place: Place<'_>, around: Around<'_>) -> (Class, Vec<Lack>) {
    let is_short = place.part.is_short();
    let mut lacks = if is_short {
        place.lacks_of_short()
    } else {
        place.lacks_of_template()
    };
    let options = around.options;
    let has_options =
        options.is_some_and(|options| options.is_exhaustive || !place.part.is_template);
    let is_verbatim = || !is_short && place.part.is_told_verbatim() && place.is_verbatim();
    if !has_options && !is_verbatim() {
        lacks.push(Lack::Options);
    }
    let class = if lacks.is_empty() {
        Class::Contaminated
    } else {
        Class::Short
    };
    (class, lacks)
}
