//! Whether a question is asked at a place: the words that ask are in place, and so is enough of the question.

use super::align::Alignment;
use super::document::Document;
use super::items::Item;
use super::lack::{Lack, lacking};
use super::part::{Detail, Part};
use super::sentences::Asks;
use super::words::Words;

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
        match self.detail.content.is_empty() {
            true => 0.0,
            false => self.aligned.share(self.detail.content.iter().copied()),
        }
    }

    /// What is missing for the question to be asked: enough of the asking sentence, its edges, its asking words, in one
    /// sentence, and no opposite of it.
    fn lacks_asking(&self, least: f64) -> Vec<Lack> {
        lacking(&[
            (Lack::Sentence, self.asking_share() >= least),
            (Lack::Edges, self.has_edges()),
            (Lack::AskingWord, self.has_asking_words()),
            (Lack::OneSentence, self.is_one_sentence()),
            (Lack::Opposite, !self.has_opposite()),
        ])
    }

    /// What is missing for the whole question, beside its own n-grams: it is asked, enough of it is here, and no other question
    /// that differs by figures or names.
    pub(super) fn lacks(&self, least: f64) -> Vec<Lack> {
        let content = &self.detail.content;
        let enough = self.content_share() >= least && self.content_in_place() >= 5;
        let mut lacks = self.lacks_asking(self.least_of_sentence());
        lacks.extend(lacking(&[
            (Lack::Content, enough),
            (
                Lack::Gap,
                self.hole() <= (0.2 * content.len() as f64).max(4.0),
            ),
            (Lack::Figures, !self.has_other_figures()),
            (Lack::Names, !self.has_other_names()),
        ]));
        lacks
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
        let is_whole = self.aligned.share(0..self.part.len()) >= 0.9;
        let mut lacks = self.lacks_asking(self.least_of_sentence());
        lacks.extend(lacking(&[(Lack::Content, is_whole)]));
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
            match (at.first(), at.last()) {
                (Some(first), Some(last)) => at.len() >= least && last - first <= 3,
                _ => false,
            }
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
            Words::of(text)
                .iter()
                .take(BEGINNING)
                .any(|other| other == word)
        })
    }

    /// No question and no paragraph ends within the asking sentence, unless the item's does there.
    fn is_one_sentence(&self) -> bool {
        let sentence = self.detail.question.sentence.iter();
        let in_place = sentence.filter_map(|i| Some((*i, self.aligned.get(*i)?)));
        let in_place: Vec<(usize, usize)> = in_place.collect();
        in_place.windows(2).all(|pair| {
            let [(i, left), (j, right)] = [pair[0], pair[1]];
            let between = self.document.between(left, right);
            let of_item = self.detail.words.span(i).end..self.detail.words.span(j).start;
            !(between.contains('?') || between.contains("\n\n"))
                || self.part.text[of_item].contains(['?', '\n'])
        })
    }
}
