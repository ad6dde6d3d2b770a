//! Questions that differ by a few words that matter: figures, signs, names, a negation, an opposite or an operation.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::asked::Place;
use crate::letters::is_divided;
use crate::numbers::{Token, is_number, values};
use crate::opposites::{ask_otherwise, is_opposite};
use crate::sentences::{IMPERATIVES, WH};
use crate::signs::signs;

/// Words that deny, those of Chinese a letter each; others are contractions that end so. The superlative of Chinese is one,
/// too: where it stands on one side alone, the other side asks something else.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "none", "neither", "nor", "without", "except", "cannot", "不", "没",
    "未", "非", "无", "無", "最",
];
const CONTRACTIONS: &[&str] = &[
    "isnt", "arent", "wasnt", "werent", "doesnt", "dont", "didnt", "cant", "couldnt", "wont",
    "wouldnt", "shouldnt", "hasnt", "havent", "hadnt",
];

/// Ends of Japanese words that deny.
const DENYING_ENDS: &[&str] = &["ない", "なく", "なかっ", "ません"];

/// Words that often begin a sentence, and are no names.
const BEGINNINGS: &[&str] = &[
    "the", "a", "an", "if", "in", "on", "at", "of", "for", "each", "every", "after", "before",
    "when", "while", "then", "his", "her", "he", "she", "it", "they", "their", "this", "that",
    "these", "there", "and", "but", "so", "as", "to", "by", "with", "from", "is", "are", "was",
    "were", "did", "does", "do", "one", "all", "some", "suppose", "assume", "let", "given",
    "during", "since",
];

/// Words between two words in place that differ, at most, to be one edit.
const BETWEEN: usize = 4;

/// Places that differ, at most, where an opposite counts beside the sentence that asks.
const FEW: usize = 2;

/// The most words of an edit that replaces a number.
const NUMBER: usize = 8;

fn denies(word: &str) -> bool {
    NEGATIONS.contains(&word) || CONTRACTIONS.contains(&word)
}

/// A place where an item and a document differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Differing {
    /// The words of the item that are not in place.
    items: Range<usize>,
    /// The words of the document that stand there.
    documents: Range<usize>,
}

impl Differing {
    /// Whether the document has other words there.
    pub(super) fn is_replaced(&self) -> bool {
        !self.items.is_empty() && !self.documents.is_empty()
    }

    /// Whether so few words differ that it is one edit.
    fn is_short(&self) -> bool {
        self.items.len() <= BETWEEN && self.documents.len() <= BETWEEN
    }
}

impl Place<'_> {
    /// A negation stands on one side alone, or an opposite in the place of a word: another question. In the sentence that asks,
    /// so does another operation or modal. Beside that sentence, an opposite counts where hardly anything else differs; else it
    /// is one of many edits.
    pub(super) fn has_opposite(&self) -> bool {
        let mut differing = self.differing();
        differing.extend(self.beyond());
        let is_few = differing.len() <= FEW;
        let mut short = differing.iter().filter(|differing| differing.is_short());
        short.any(|differing| {
            let asks = self.is_in_asking_sentence(&differing.items);
            (is_few || asks) && self.is_denied(differing)
                || self.pairs(differing).any(|(item_word, document_word)| {
                    (is_few || asks) && is_opposite(item_word, &document_word)
                        || asks && ask_otherwise(item_word, &document_word)
                })
        })
    }

    /// Whether one side alone denies.
    fn is_denied(&self, differing: &Differing) -> bool {
        let Differing { items, documents } = differing;
        let item_word = |i: usize| self.detail.words.word(i);
        let is_denied = items.clone().any(|i| denies(item_word(i)));
        let denied = documents.clone().any(|at| denies(&self.document.word(at)));
        let ends = |text: &str| DENYING_ENDS.iter().any(|end| text.contains(end));
        // The word behind belongs to the end of a Japanese one.
        let words = items.start..(items.end + 1).min(self.part.len());
        let item: String = words.map(item_word).collect();
        let words = documents.start..(documents.end + 1).min(self.document.len());
        let document = self.document.joined(words).replace(' ', "");
        is_denied != denied || ends(&item) != ends(&document)
    }

    /// Each word of the item with each of the document there.
    fn pairs(&self, differing: &Differing) -> impl Iterator<Item = (&str, String)> {
        let documents = differing.documents.clone();
        differing.items.clone().flat_map(move |i| {
            let item_word = self.detail.words.word(i);
            documents
                .clone()
                .map(move |at| (item_word, self.document.word(at)))
        })
    }

    /// Whether words of the item, or a place between two of them, lie in the sentence that asks.
    fn is_in_asking_sentence(&self, items: &Range<usize>) -> bool {
        let sentence = &self.detail.question.sentence;
        let begins = sentence.first().is_some_and(|first| *first <= items.start);
        begins && sentence.last().is_some_and(|last| items.end <= last + 1)
    }

    /// The words of the document behind the last word of the item, up to two, which its sentence ends with.
    fn beyond(&self) -> Option<Differing> {
        const MOST: usize = 2;
        let (last, end) = self.aligned.pairs().next_back()?;
        let document = self.document;
        let ends = |at: usize| {
            let next = document.plain[document.span(at).end..].chars().next();
            next.is_none_or(|c| ".?!\n".contains(c))
        };
        let is_last = last + 1 == self.part.len();
        if !is_last || ends(end) {
            return None;
        }
        let mut behind = (end + 1..document.len()).take(MOST);
        let stop = behind.find(|at| ends(*at))?;
        Some(Differing {
            items: last + 1..last + 1,
            documents: end + 1..stop + 1,
        })
    }

    /// The words of the item that are not in place, and those of the document that stand there.
    pub(super) fn differing(&self) -> Vec<Differing> {
        let pairs: Vec<(usize, usize)> = self.aligned.pairs().collect();
        let (Some((first, start)), Some((last, end))) = (pairs.first(), pairs.last()) else {
            return Vec::new();
        };
        let between = pairs.windows(2).map(|pair| {
            let [(i, x), (j, y)] = [pair[0], pair[1]];
            (i + 1..j, x + 1..y)
        });
        let words = self.part.len();
        let after = (end + words - last).min(self.document.len());
        let edges = [
            (0..*first, start.saturating_sub(*first)..*start),
            (last + 1..words, end + 1..after),
        ];
        let all = between.chain(edges);
        let all = all.map(|(items, documents)| Differing { items, documents });
        all.filter(|it| !it.items.is_empty() || !it.documents.is_empty())
            .collect()
    }

    /// A third of the item's figures have another number in their place, or nothing else differs: a sibling. A number among
    /// other edits is one of them. Numbers in words and of Rome are the same as figures.
    pub(super) fn has_other_figures(&self) -> bool {
        let differing = self.differing();
        let (mut others, mut has_only_numbers) = (0, true);
        for Differing { items, documents } in &differing {
            let item_tokens = || items.clone().map(|i| self.detail.token(i));
            let document_tokens = || documents.clone().map(|at| self.document.token(at));
            let (mine, theirs) = (values(item_tokens()), values(document_tokens()));
            has_only_numbers &= item_tokens()
                .chain(document_tokens())
                .all(|token| is_number(&token));
            let is_edit = items.len() <= NUMBER && documents.len() <= NUMBER;
            if is_edit && !theirs.is_empty() {
                others += mine.iter().filter(|value| !theirs.contains(value)).count();
            }
        }
        let all = values((0..self.part.len()).map(|i| self.detail.token(i)));
        others > 0 && (3 * others >= all.len() || has_only_numbers)
    }

    /// A third of the item's signs have another sign or none in their place, or nothing else differs: a sibling.
    pub(super) fn has_other_signs(&self) -> bool {
        let plain = self.detail.plain();
        let words = &self.detail.words;
        let pairs: Vec<(usize, usize)> = self.aligned.pairs().collect();
        let is_adjacent =
            |pair: &[(usize, usize)]| pair[1].0 == pair[0].0 + 1 && pair[1].1 == pair[0].1 + 1;
        let (mut all, mut others, mut left_out) = (0, 0, 0);
        let mut punctuation = [0; 2];
        for pair in pairs.windows(2).filter(|pair| is_adjacent(pair)) {
            let [(i, x), (j, y)] = [pair[0], pair[1]];
            let item_gap = &plain[words.span(i).end..words.span(j).start];
            if item_gap.contains([',', ';', ':']) {
                let document_gap = self.document.between(x, y);
                punctuation[usize::from(document_gap.contains([',', ';', ':']))] += 1;
            }
            let mine = signs(plain, words.span(i), words.span(j));
            let document = self.document;
            let theirs = || signs(document.plain, document.span(x), document.span(y));
            let Some((mine, theirs)) = mine.and_then(|mine| Some((mine, theirs()?))) else {
                continue;
            };
            all += usize::from(!mine.signs.is_empty());
            if mine.differ(&theirs) {
                others += 1;
                left_out += usize::from(theirs.signs.is_empty());
            }
        }
        if punctuation[0] > 0 && punctuation[1] == 0 {
            // The document writes no punctuation at all.
            others -= left_out;
        }
        others > 0 && (3 * others >= all || self.differing().is_empty())
    }

    /// A third of the item's names have another name in their place, or, in the sentence that asks, one of them has another
    /// one of them in its place: a sibling.
    pub(super) fn has_other_names(&self) -> bool {
        let is_item_name = |i: usize| is_name(self.detail.plain(), self.detail.words.span(i));
        let is_document_name = |i: usize| is_name(self.document.plain, self.document.span(i));
        let other = |items: Range<usize>, mut documents: Range<usize>| {
            let mine = items.filter(|i| is_item_name(*i)).count();
            if mine > 0 && documents.any(is_document_name) {
                mine
            } else {
                0
            }
        };
        let pairs: Vec<(usize, usize)> = self.aligned.pairs().collect();
        let mut others = 0;
        for pair in pairs.windows(2) {
            let [(i, x), (j, y)] = [pair[0], pair[1]];
            if (2..=4).contains(&(j - i)) && (2..=4).contains(&(y - x)) {
                others += other(i + 1..j, x + 1..y);
            }
        }
        if let Some((i, x)) = pairs.last() {
            // Up to the end of the sentence.
            let left = self.part.len() - 1 - i;
            let end = (x + 1 + left).min(self.document.len());
            let goes_on = |at: &usize| {
                !self
                    .document
                    .between(*x, *at)
                    .contains(['.', '?', '!', '\n'])
            };
            let after = (x + 1..end).take_while(goes_on).count();
            if left <= 3 && after > 0 {
                others += other(i + 1..i + 1 + left, x + 1..x + 1 + after);
            }
        }
        let names = (0..self.part.len()).filter(|i| is_item_name(*i)).count();
        others > 0 && 3 * others >= names || self.asks_of_another()
    }

    /// Whether, in the sentence that asks, a name of the item has another name of the item in its place.
    fn asks_of_another(&self) -> bool {
        let differing = self.differing();
        let mut edits = differing.iter().filter(|differing| {
            differing.is_short()
                && differing.is_replaced()
                && self.is_in_asking_sentence(&differing.items)
        });
        let mut names: Option<BTreeSet<String>> = None;
        edits.any(|Differing { items, documents }| {
            let names = names.get_or_insert_with(|| self.names());
            let mine: Vec<String> = items
                .clone()
                .map(|i| bare_name(self.detail.token(i)))
                .collect();
            let is_mine = mine.iter().any(|name| names.contains(name));
            let theirs = documents
                .clone()
                .map(|at| bare_name(self.document.token(at)));
            let mut theirs = theirs.filter(|name| names.contains(name));
            is_mine && theirs.any(|name| !mine.contains(&name))
        })
    }

    /// The words of the item that begin with a capital letter, but for those that often begin a sentence.
    fn names(&self) -> BTreeSet<String> {
        let is_capital = |token: &Token<'_>| {
            let mut letters = token.written.chars();
            letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
        };
        let tokens = (0..self.part.len()).map(|i| self.detail.token(i));
        let names = tokens.filter(is_capital).map(bare_name);
        let is_common = |name: &str| {
            [BEGINNINGS, WH, IMPERATIVES]
                .iter()
                .any(|words| words.contains(&name))
        };
        names.filter(|name| !is_common(name)).collect()
    }
}

/// A name without the ending of its genitive.
fn bare_name(token: Token<'_>) -> String {
    let ends = token.written.ends_with("'s") || token.written.ends_with("’s");
    let name = token.word.strip_suffix('s').filter(|_| ends);
    name.unwrap_or(&token.word).to_owned()
}

/// Whether a word is a name: it begins with a capital letter within a sentence, and has a small one.
fn is_name(text: &str, span: Range<usize>) -> bool {
    let mut letters = text[span.clone()].chars();
    if !letters.next().is_some_and(char::is_uppercase) || !letters.any(char::is_lowercase) {
        return false;
    }
    let mut before = text[..span.start].chars().rev().take(3);
    let before = before.find(|c| *c == '\n' || !c.is_whitespace());
    before.is_some_and(|c| !"\n.?!:\"\u{201C}(|".contains(c) && !is_divided(c))
}
