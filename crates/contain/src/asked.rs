//! Whether a question is asked at a place: the words that ask are in place, and so is enough of the question.

use crate::align::Alignment;
use crate::document::Document;
use crate::items::Item;
use crate::lack::{Lack, lacking};
use crate::part::{Detail, LEAST_CONTENT, Part};
use crate::sentences::{Asks, is_end, is_question_mark};
use crate::words::Words;

/// A question beside the place of a document where most of its n-grams lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) part: &'a Part,
    pub(super) detail: &'a Detail,
    /// All items.
    pub(super) items: &'a [Item],
    pub(super) document: Document<'a>,
    pub(super) aligned: &'a Alignment,
}

/// Words that begin a statement where an asking word was.
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "he", "she", "they", "his",
    "her", "their", "one",
];

impl Place<'_> {
    /// The share of the asking sentence that is in place.
    pub(super) fn asking_share(&self) -> f64 {
        self.aligned
            .share(self.detail.question.sentence.iter().copied())
    }

    /// The share of the words outside the template that are in place; 0 without any.
    pub(super) fn content_share(&self) -> f64 {
        if self.detail.content.is_empty() {
            0.0
        } else {
            self.aligned.share(self.detail.content.iter().copied())
        }
    }

    /// What is missing for the question to be asked: enough of the asking sentence, its edges, its asking words, in one
    /// sentence, and no sibling of it.
    fn lacks_asking(&self, least: f64) -> Vec<Lack> {
        let mut lacks = lacking(&[
            (Lack::Sentence, self.asking_share() >= least),
            (Lack::Edges, self.has_edges()),
            (Lack::AskingWord, self.has_asking_words()),
            (Lack::OneSentence, self.is_one_sentence()),
        ]);
        lacks.extend(self.lacks_of_sibling());
        lacks
    }

    /// What makes another question of it.
    fn lacks_of_sibling(&self) -> Vec<Lack> {
        lacking(&[
            (Lack::Opposite, !self.has_opposite()),
            (Lack::Figures, !self.has_other_figures()),
            (Lack::Signs, !self.has_other_signs()),
            (Lack::Names, !self.has_other_names()),
        ])
    }

    /// What is missing for the whole question, apart from its own n-grams: it is asked, and enough of it is here. A docstring is
    /// not asked: enough of it is here.
    pub(super) fn lacks(&self, least: f64) -> Vec<Lack> {
        let content = &self.detail.content;
        let enough = self.content_share() >= least && self.content_in_place() >= LEAST_CONTENT;
        let mut lacks = match self.detail.question.docstring {
            Some(_) => lacking(&[
                (Lack::Sentence, self.asking_share() >= least),
                (Lack::Signs, !self.has_other_signs()),
            ]),
            None => self.lacks_asking(self.least_of_sentence()),
        };
        lacks.extend(lacking(&[
            (Lack::Content, enough),
            (
                Lack::Gap,
                self.hole() <= (0.2 * content.len() as f64).max(4.0),
            ),
        ]));
        lacks
    }

    /// The same of a question that stands in many items, word for word in part: nothing of it has another text in its place.
    pub(super) fn lacks_of_template(&self) -> Vec<Lack> {
        let mut lacks = self.lacks_asking(0.9);
        let mut differing = self.differing().into_iter();
        let is_replaced = differing.any(|differing| differing.is_replaced());
        lacks.extend(lacking(&[
            (Lack::Content, self.whole_share() >= 0.9),
            (Lack::Gap, !is_replaced),
        ]));
        lacks
    }

    /// Whether every word is in place, and no other word between them.
    pub(super) fn is_verbatim(&self) -> bool {
        self.whole_share() == 1.0 && self.differing().is_empty()
    }

    /// The share of all words that are in place.
    fn whole_share(&self) -> f64 {
        self.aligned.share(0..self.part.len())
    }

    /// The same of a question about a passage. Such questions are short and alike.
    pub(super) fn lacks_of_strict(&self, least: f64) -> Vec<Lack> {
        let content = &self.detail.content;
        let mut lacks = self.lacks_asking(0.8);
        lacks.extend(lacking(&[
            (Lack::Content, self.content_share() >= least),
            (
                Lack::Gap,
                self.hole() <= (0.2 * content.len() as f64).max(2.0),
            ),
        ]));
        lacks
    }

    /// The same of a short question.
    pub(super) fn lacks_of_short(&self) -> Vec<Lack> {
        let mut lacks = self.lacks_asking(self.least_of_sentence());
        lacks.extend(lacking(&[(Lack::Content, self.whole_share() >= 0.9)]));
        lacks
    }

    /// The least share of the asking sentence.
    fn least_of_sentence(&self) -> f64 {
        match self.detail.question.asks {
            Asks::Open => 0.8,
            Asks::Words | Asks::Mark => 0.6,
        }
    }

    /// The most content words in a row that are missing.
    fn hole(&self) -> f64 {
        self.aligned.hole(&self.detail.content) as f64
    }

    /// The words outside the template that are in place.
    pub(super) fn content_in_place(&self) -> usize {
        let content = self.detail.content.iter();
        content.filter(|i| self.aligned.has(**i)).count()
    }

    /// Whether half of what public phrases lack is in place; true where none is known.
    pub(super) fn has_rest(&self) -> bool {
        let rest = &self.part.rest;
        self.aligned.share(rest.iter().copied()) >= 0.5
    }

    /// Two of the first and of the last three words of the asking sentence are in place, and close together; of an open one,
    /// the last word itself. A definition lacks "is called".
    fn has_edges(&self) -> bool {
        let sentence = &self.detail.question.sentence;
        let least = sentence.len().min(2);
        let stands = |words: &[usize]| {
            let at: Vec<usize> = words.iter().filter_map(|i| self.aligned.get(*i)).collect();
            // A number in words may stand between them.
            let mut close = at.windows(least.max(1));
            close.any(|at| at[at.len() - 1] - at[0] <= 3)
        };
        let last = sentence.last();
        stands(&sentence[..sentence.len().min(3)])
            && stands(&sentence[sentence.len().saturating_sub(3)..])
            && (self.detail.question.asks > Asks::Open
                || last.is_some_and(|last| self.aligned.has(*last)))
    }

    /// The first asking word is in place, and half of all; or in its place stands one word that makes no statement of it.
    fn has_asking_words(&self) -> bool {
        let question = &self.detail.question;
        let word = |i: usize| self.detail.words.word(i);
        let leads = |i: &&usize| !["when", "where"].contains(&word(**i));
        let Some(lead) = question
            .asking
            .iter()
            .find(leads)
            .or(question.asking.first())
            .copied()
        else {
            return true;
        };
        let share = self.asking_share();
        if self.aligned.has(lead) {
            let in_place = question
                .asking
                .iter()
                .filter(|i| self.aligned.has(**i))
                .count();
            return 2 * in_place >= question.asking.len() || share >= 0.75;
        }
        let before = lead.checked_sub(1).and_then(|i| self.aligned.get(i));
        let (Some(before), Some(after), true) = (before, self.aligned.get(lead + 1), share >= 0.75)
        else {
            return false;
        };
        if after == before + 1 {
            // Left out after the item's own first words: no statement begins so.
            return ["how", "what", "who", "why"].contains(&word(lead));
        }
        let new = self.document.word(before + 1);
        after == before + 2
            && !DETERMINERS.contains(&&*new)
            && !new.starts_with(char::is_numeric)
            && !self.begins_answer(&new)
    }

    /// Whether a word is among the first ones of an option or answer of the question.
    fn begins_answer(&self, word: &str) -> bool {
        const BEGINNING: usize = 12;
        let items = self
            .part
            .items
            .iter()
            .map(|item| &self.items[*item as usize]);
        let variants = items.flat_map(|item| &item.variants);
        let mut texts = variants.flat_map(|variant| variant.options.iter().chain(&variant.answers));
        texts.any(|text| {
            Words::read(text)
                .iter()
                .take(BEGINNING)
                .any(|other| other == word)
        })
    }

    /// No question and no paragraph ends within the asking sentence, unless the item's does there. A blank line ends a paragraph
    /// behind a complete sentence, or where the words around it differ from the item's: converters put blank lines between all
    /// lines.
    fn is_one_sentence(&self) -> bool {
        let sentence = self.detail.question.sentence.iter();
        let in_place = sentence.filter_map(|i| Some((*i, self.aligned.get(*i)?)));
        let in_place: Vec<(usize, usize)> = in_place.collect();
        in_place.windows(2).all(|pair| {
            let [(i, left), (j, right)] = [pair[0], pair[1]];
            let between = self.document.between(left, right);
            let item_gap = self.detail.words.span(i).end..self.detail.words.span(j).start;
            let ends_in_item = |c: char| is_question_mark(c) || c == '\n';
            let is_apart = j > i + 1 || right > left + 1;
            let ends = between.contains(is_question_mark)
                || before_blank_line(between)
                    .is_some_and(|before| is_apart || before.contains(is_end));
            !ends || self.detail.plain()[item_gap].contains(ends_in_item)
        })
    }
}

/// What stands before the first blank line, if there is one. Signs of quotation do not fill a line.
fn before_blank_line(text: &str) -> Option<&str> {
    let mut lines = text.match_indices('\n').map(|(at, _)| at);
    let mut last = lines.next()?;
    for at in lines {
        let line = &text[last + 1..at];
        if line.chars().all(|c| c.is_whitespace() || c == '>') {
            return Some(&text[..last]);
        }
        last = at;
    }
    None
}
