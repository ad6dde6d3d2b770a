//! Classes of hits, and the rule that decides them.

use std::ops::Range;

use crate::lack::Lack;
use simgpu::error::{Error, Result};

/// What a document holds of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The document asks the question.
    Contaminated,
    /// It holds text that the item quotes, or much of the question, and does not ask it.
    Passage,
    /// Too little to decide: the item is short, or an open sentence that is a statement here.
    Short,
    /// It shares what other items have, too.
    Template,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 4] = [
        Class::Contaminated,
        Class::Passage,
        Class::Short,
        Class::Template,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Contaminated => "contaminated",
            Class::Passage => "passage",
            Class::Short => "short",
            Class::Template => "template",
        }
    }
}

/// A part of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemPart {
    /// The question: half of its words outside the template.
    Question,
    /// The passage.
    Passage,
    /// The options.
    Options,
    /// An answer, right behind the question and its options.
    Answer,
}

impl ItemPart {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            ItemPart::Question => "question",
            ItemPart::Passage => "passage",
            ItemPart::Options => "options",
            ItemPart::Answer => "answer",
        }
    }
}

/// Whose rule decides. All but the first are rules of others, by which any n-gram in common makes a document contaminated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleOf {
    /// The question is asked.
    #[default]
    Simgpu,
    /// 13 words in a row of a question or passage; a cut takes 200 characters around them. Brown et al., *Language Models are
    /// Few-Shot Learners*, appendix C.
    Gpt3,
    /// 12 words in a row of an answer, or of the question and its answer behind it. `NGramsDecontFilter` of datatrove.
    Datatrove,
    /// 8 words in a row of a question. Muennighoff et al., *s1: Simple test-time scaling*.
    S1,
}

impl RuleOf {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            RuleOf::Simgpu => "simgpu",
            RuleOf::Gpt3 => "gpt3",
            RuleOf::Datatrove => "datatrove",
            RuleOf::S1 => "s1",
        }
    }

    /// Whether the question must be asked. By rules of others, any n-gram in common is enough.
    pub(super) fn weighs_evidence(self) -> bool {
        self == RuleOf::Simgpu
    }

    /// Words of an n-gram, unless said otherwise.
    pub fn default_size(self) -> usize {
        match self {
            RuleOf::Simgpu => 5,
            RuleOf::Gpt3 => 13,
            RuleOf::Datatrove => 12,
            RuleOf::S1 => 8,
        }
    }
}

/// What decides whether an item is in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Whose rule it is. Those of others take the size of n-grams alone.
    pub of: RuleOf,
    /// Words of an n-gram; default 5.
    pub size: usize,
    /// The least share of a question's words outside the template that a contaminated document has; default 0.7.
    pub threshold: f64,
    /// The fewest n-grams that at most two questions or passages have, which a contaminated document has; default 2.
    pub min_ngrams: usize,
}

impl Default for Rule {
    fn default() -> Self {
        Rule::of(RuleOf::Simgpu)
    }
}

impl Rule {
    /// A rule with its usual numbers.
    pub fn of(of: RuleOf) -> Self {
        Rule {
            of,
            size: of.default_size(),
            threshold: 0.7,
            min_ngrams: 2,
        }
    }

    pub(super) fn check(self) -> Result<()> {
        let refuse = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        if !(2..=32).contains(&self.size) {
            return refuse("`size`", self.size.to_string(), "from 2 to 32 words");
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return refuse(
                "`threshold`",
                self.threshold.to_string(),
                "a share above 0, up to 1",
            );
        }
        Ok(())
    }
}

/// An item at a place of a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The number of the item in [`Contain::items`](super::Contain::items).
    pub item: usize,
    /// What the document holds of it.
    pub class: Class,
    /// The share of the n-grams found, weighted by ln(parts / parts that have the n-gram), from 0 to 1; of the passage where
    /// the question is not found.
    pub score: f64,
    /// The parts found, in order, each once.
    pub parts: Vec<ItemPart>,
    /// Bytes of the document, from the first to the last word found.
    pub bytes: Range<usize>,
    /// Bytes of further places with the same class, ascending; they share nothing with each other or with `bytes`.
    pub also: Vec<Range<usize>>,
    /// Bytes of the question, or of the passage where the question is not found.
    pub item_bytes: Range<usize>,
    /// Distinct n-grams found.
    pub found: usize,
    /// Distinct n-grams of the question or passage.
    pub ngrams: usize,
    /// Words of the question outside the template that are in place, and all of them.
    pub content: [usize; 2],
    /// Distinct n-grams found that at most two questions or passages have.
    pub own: usize,
    /// The conditions of a contaminated document that do not hold, in their order; empty if it is one.
    pub lacks: Vec<Lack>,
    /// The rarest n-grams found, and how many questions and passages have each; at most three, the first of several.
    pub rarest: Vec<(String, usize)>,
}

impl Hit {
    /// The only condition of a contaminated document that it lacks, if there is one; what it cannot make up for is none.
    pub fn near_miss(&self) -> Option<Lack> {
        match self.lacks[..] {
            [Lack::Question | Lack::Better | Lack::Undecidable | Lack::Phrase] => None,
            [lack] => Some(lack),
            _ => None,
        }
    }

    /// Bytes of all places, the best one first.
    pub(super) fn places(&self) -> impl Iterator<Item = &Range<usize>> {
        std::iter::once(&self.bytes).chain(&self.also)
    }
}
