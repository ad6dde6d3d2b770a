//! The conditions of a question that is asked.

/// A condition of a contaminated document that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lack {
    /// Too few words of the asking sentence are in place.
    Sentence,
    /// The first or the last words of the asking sentence are not in place.
    Edges,
    /// Its asking word is not in place, nor a word that makes no statement of it.
    AskingWord,
    /// A question mark or a blank line stands within it.
    OneSentence,
    /// A negation stands on one side alone, or an opposite in the place of a word; or, in the asking sentence, another operation
    /// or modal.
    Opposite,
    /// Too few words of the question outside the template are in place.
    Content,
    /// Too many of them are missing in a row.
    Gap,
    /// Other figures stand in the place of the item's.
    Figures,
    /// Other signs stand between or before the figures and letters of the item, or none.
    Signs,
    /// Other names stand in the place of the item's.
    Names,
    /// Too few n-grams that at most two questions or passages have.
    Own,
    /// It is a statement here.
    Statement,
    /// A public phrase is here, without the rest of the question.
    Phrase,
    /// A question about a passage stands here without its passage and its options.
    Passage,
    /// A question too short to be told by itself stands here without its options.
    Options,
    /// A question that differs by a few words fits the place better.
    Better,
    /// The question is not found: the passage is.
    Question,
    /// The item cannot be told from others, however much of it is here.
    Undecidable,
}

impl Lack {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Lack::Sentence => "sentence",
            Lack::Edges => "edges",
            Lack::AskingWord => "asking_word",
            Lack::OneSentence => "one_sentence",
            Lack::Opposite => "opposite",
            Lack::Content => "content",
            Lack::Gap => "gap",
            Lack::Figures => "figures",
            Lack::Signs => "signs",
            Lack::Names => "names",
            Lack::Own => "own",
            Lack::Statement => "statement",
            Lack::Phrase => "phrase",
            Lack::Passage => "passage",
            Lack::Options => "options",
            Lack::Better => "better",
            Lack::Question => "question",
            Lack::Undecidable => "undecidable",
        }
    }
}

/// The conditions that do not hold, of pairs of a condition and whether it holds.
pub(super) fn lacking(conditions: &[(Lack, bool)]) -> Vec<Lack> {
    let lacks = conditions.iter().filter(|(_, holds)| !holds);
    lacks.map(|(lack, _)| *lack).collect()
}
